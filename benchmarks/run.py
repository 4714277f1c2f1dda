"""All benchmarks: one table, one page, one plot.

    .venv/bin/python benchmarks/run.py [--repeats 5] [PART …]        parts: default warm study inference files

Each part writes its own rows of benchmarks/results.csv; the page results.md and the plot growth.png are made of what is there. Ratios are
of one run on one machine, side by side; seconds are medians. Nothing else may run on the machine: its load is written down. The default
study must have been made (./run_all.sh). Needs the test extra (arch).
"""

import argparse
import datetime
import importlib.metadata
import os
import platform
import re
from pathlib import Path

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))       # as run_all.sh has it
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import gambit
import inference
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import workflow

from mtgender import figures

HERE = Path(__file__).parent
RESULTS, PAGE, GROWTH, PLOT = (HERE / name for name in ("results.csv", "results.md", "growth.csv", "growth.png"))
COLUMNS = ["part", "what", "measured", "unit", "target", "met", "repeats", "low", "high", "machine", "date"]
PACKAGES = ("numpy", "scipy", "pandas", "pyarrow", "matplotlib", "papermill", "snakemake", "arch")


REASONS = {  # why a target is missed, where it is
    "scipy.stats.bootstrap": "scipy draws and averages all replicates of a mean in one array operation; the bare product of all statistics "
                             "is faster than scipy only by the factor in the last row but one of this part",
    "against warm": "what is left of a warm notebook is mostly its own work: reading the results, and drawing three figures once each",
    "everything: wall": "148 notebooks of nearly two seconds of CPU each, half of it drawing; then two notebooks of the whole study, "
                        "and the pages",
    "nothing changed": "nearly all of it is the start of Snakemake and of the libraries that the Snakefile reads the study with",
    "one score file changed": "prepare and infer read the whole study, and seven notebooks of the whole study, which read all scores, are "
                              "made again",
    "from parquet": "what is left is checking, aligning and inference, not reading",
}


def machine():
    """Processor, cores and versions, and how busy it is."""
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").is_file() else ""
    model = re.search(r"model name\s*: (.*)", text)
    versions = ", ".join(f"{p} {importlib.metadata.version(p)}" for p in PACKAGES)
    return (f"{model[1] if model else platform.machine()}, {workflow.CORES} cores, Python {platform.python_version()}, {versions}; "
            f"load before {os.getloadavg()[0]:.1f}")


def row(what, values, unit, target=None, better=min):
    """One measured quantity: the median of its values, their range, and whether it meets the target."""
    value = float(np.median(values))
    met = "" if target is None else "yes" if (value <= target if better is min else value >= target) else "no"
    bound = "" if target is None else f"{'≤' if better is min else '≥'} {target:g} {unit}"
    return {"what": what, "measured": value, "unit": unit, "target": bound, "met": met, "repeats": len(values),
            "low": float(np.min(values)), "high": float(np.max(values))}


def ratios(over, under):
    return [a / b for a, b in zip(over, under)]


def warm(repeats):
    took, n = workflow.warm(repeats, every=4)
    sides = {(side, i): [t[i] for t in took[side]] for side in took for i in (0, 1)}
    name = f"{n} run notebooks of the default study, two at a time"
    yield row(f"{name}: papermill, wall", sides["papermill", 0], "s")
    yield row(f"{name}: warm, wall", sides["warm", 0], "s")
    yield row(f"{name}: papermill against warm, CPU", ratios(sides["papermill", 1], sides["warm", 1]), "×", 5, max)
    yield row(f"{name}: papermill against warm, wall", ratios(sides["papermill", 0], sides["warm", 0]), "×", 4, max)


def default(repeats):
    took = workflow.default(repeats)
    name = "the default study from nothing, after set-up, without the simulation"
    for i, (what, unit) in enumerate((("wall", "s"), ("CPU", "s"), ("memory in use", "GiB"))):
        yield row(f"{name}: {what}", [t[i] for t in took], unit)


def study(repeats):
    took = workflow.whole(repeats)
    name = f"a study of {workflow.RUNS} runs"
    yield row(f"{name} after set-up, everything: wall", [t[0] for t in took["made"]], "s", 120)
    yield row(f"{name} after set-up, everything: CPU", [t[1] for t in took["made"]], "s")
    yield row(f"{name} after set-up, everything: memory in use", [t[2] for t in took["made"]], "GiB")
    yield row(f"{name}, nothing changed: wall", [t[0] for t in took["nothing"]], "s", 3)
    yield row(f"{name}, one score file changed: wall", [t[0] for t in took["one file"]], "s", 10)


def intervals(repeats):
    m = inference.measure(repeats)
    name = f"inference for {inference.RUNS} runs ({m['statistics']} statistics, {inference.REPLICATES:,} replicates)"
    yield row(f"{name}: rates, intervals, tests, frames", m["ours"], "s")
    yield row(f"{name}: intervals alone", m["intervals"], "s")
    yield row(f"{name}: scipy.stats.bootstrap, one statistic at a time, against ours", ratios(m["scipy"], m["intervals"]), "×", 80, max)
    yield row(f"{name}: arch IIDBootstrap, one statistic at a time, against ours", ratios(m["arch"], m["intervals"]), "×", 200, max)
    yield row(f"{name}: our intervals against the bare product and partition", ratios(m["intervals"], m["bare"]), "×", 1.5)
    yield row(f"{name}: scipy.stats.bootstrap against the bare product and partition", ratios(m["scipy"], m["bare"]), "×")
    yield row(f"{name}: largest difference of the limits of S", [m["difference"]], "native units")
    inference.growth(min(repeats, 3)).to_csv(GROWTH, index=False, float_format="%.4g")


def files(repeats):
    m = gambit.measure(repeats)
    name = f"{m['scores'] / 1e6:.1f} M scores in WMT25 files: read, validate; align, measure, infer the third of one source language"
    for key, target in (("tsv", 40), ("parquet", 8)):
        kind = "from TSV" if key == "tsv" else "again, from parquet copies"
        yield row(f"{name}, {kind}: wall", m[key]["wall"], "s", target)
        yield row(f"{name}, {kind}: peak memory", [x / 1024 for x in m[key]["peak_mib"]], "GiB", 2)


def page(results):
    """The page of all rows."""
    lines = ["# Benchmarks, measured", "",
             "Made by `benchmarks/run.py`; medians, with the range of the repeats. Scores are synthetic where a study larger than the",
             "committed one is needed. CPU is that of the whole machine.", ""]
    for part, rows in results.groupby("part", sort=False):
        lines += [f"## {part}", "", f"{rows['date'].iloc[0]}: {rows['machine'].iloc[0]}.", "",
                  "| what | measured | range | repeats | target | met |", "| --- | ---: | ---: | ---: | ---: | --- |"]
        lines += [f"| {r.what} | {r.measured:.3g} {r.unit} | {r.low:.3g}–{r.high:.3g} | {r.repeats} | {r.target or '–'} | {r.met or '–'} |"
                  for r in rows.itertuples()]
        lines.append("")
    missed = results[results["met"] == "no"]["what"]
    lines += [f"- Missed: {what}. Reason: {reason}." for what in missed for key, reason in REASONS.items() if key in what]
    return "\n".join([*lines, "", f"How the cost of inference grows: ![growth]({PLOT.name})", ""])


def plot(growth):
    """Seconds by runs, replicates and pairs."""
    figures.style()
    figure, axes = plt.subplots(1, 3, figsize=(figures.WIDTH, 2.4), sharey=True)
    for axis, (what, rows) in zip(axes, growth.groupby("what", sort=False)):
        axis.plot(rows["n"], rows["seconds"], "o-", color=figures.INK, ms=4)
        axis.set(xlabel=what, xlim=(0, None), ylim=(0, None))
        axis.locator_params(axis="x", nbins=4)
    axes[0].set_ylabel("seconds of inference")
    figure.savefig(PLOT, metadata={"Software": None})


PARTS = {"default": default, "warm": warm, "study": study, "inference": intervals, "files": files}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("parts", nargs="*", metavar="PART", help=" ".join(PARTS))
    arguments.add_argument("--repeats", type=int, default=5)
    given = arguments.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        arguments.error(f"no part {' '.join(unknown)}; parts: {' '.join(PARTS)}")
    results = pd.read_csv(RESULTS, keep_default_na=False) if RESULTS.is_file() else pd.DataFrame(columns=COLUMNS)
    for part in given.parts or PARTS:
        described = {"part": part, "machine": machine(), "date": datetime.date.today().isoformat()}
        rows = pd.DataFrame([{**r, **described} for r in PARTS[part](given.repeats)])[COLUMNS]
        print(rows[["what", "measured", "unit", "target", "met"]].to_string(index=False), flush=True)
        results = pd.concat([results[results["part"] != part], rows])
        results = results.sort_values("part", key=lambda c: c.map(list(PARTS).index), kind="stable")
        results.to_csv(RESULTS, index=False, float_format="%.4g")
    PAGE.write_text(page(results), encoding="utf-8")
    if GROWTH.is_file():
        plot(pd.read_csv(GROWTH))


if __name__ == "__main__":
    main()
