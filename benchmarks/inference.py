"""Our inference against scipy.stats.bootstrap and arch, on the same resamples, and the reading of a WMT25 score file.

    .venv/bin/python benchmarks/inference.py

Writes benchmarks/inference.md. Synthetic data in the shape of a 148-run study (436 occupations, 3 texts). scipy and arch do one statistic
at a time, as their interface has it; they are timed on a part of the statistics and the time is scaled up. Ratios are of one run on one
machine, side by side.
"""

import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from arch.bootstrap import IIDBootstrap
from scipy import stats

from mtgender import formats, inference, isco, preference

SYSTEMS, LANGUAGES, REPLICATES, SEED = 25, ("ar", "cs", "de", "is", "ru", "uk"), 5000, 20260801
RUNS, SAMPLED = 148, 6
TARGET = Path(__file__).with_suffix(".md")


class Indices(np.random.RandomState):
    """Hands out given resampling indices: all at once to scipy, a row a replicate to arch."""

    def __init__(self, indices):
        super().__init__(0)
        self.all, self.rows = indices, iter(indices)

    def randint(self, *_, size=None, **__):
        return self.all if isinstance(size, tuple) and len(size) == 2 else next(self.rows)


def study(rng):
    """Occupation means and runs of a synthetic study."""
    runs = [(f"s{i:02d}", code) for i in range(SYSTEMS) for code in LANGUAGES][:RUNS]
    parts = [preference.occupation_means(rng.normal(0.1, 1, 1308), np.repeat(isco.unit_groups(), 3)).reset_index()
             .assign(system=s, language=c) for s, c in runs]
    declared = pd.DataFrame({"system": [s for s, _ in runs], "language": [c for _, c in runs], "role": "metric", "n": 1308, "note": "",
                             "range": 8.0})
    return pd.concat(parts), declared


def seconds(function):
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def bootstraps():
    """(seconds of all our inference and of its intervals alone, number of statistics, seconds each of scipy and arch, difference)."""
    rng = np.random.default_rng(0)
    occupations, declared = study(rng)

    def whole():
        return inference.score_tables(occupations, declared, panel=LANGUAGES, range_scope="evaluator", q=0.05, level=0.95,
                                      replicates=REPLICATES, seed=SEED)

    def intervals(columns):
        counts = inference.resample_counts(436, REPLICATES, SEED)
        return inference.percentile_interval(inference.bootstrap_means(columns, counts))

    whole()                                                   # what is loaded at the first call is not inference
    ours, (table, summaries) = seconds(whole)
    statistics = 3 * len(table) + 5 * len(summaries)          # S, A and balance of runs; S, A, S%, A%, balance of macro rows
    indices = np.random.default_rng(SEED).integers(0, 436, (REPLICATES, 436))
    took, apart = {"scipy": [], "arch": []}, 0.0
    alone, _ = seconds(lambda: intervals(rng.normal(size=(436, statistics))))
    for row in table.head(SAMPLED).itertuples():
        values = occupations[(occupations["system"] == row.system) & (occupations["language"] == row.language)]["signed"].to_numpy()
        spent, result = seconds(lambda values=values: stats.bootstrap(
            (values,), np.mean, n_resamples=REPLICATES, method="percentile", random_state=Indices(indices)))
        took["scipy"].append(spent)
        apart = max(apart, abs(result.confidence_interval.low - row.signed_low), abs(result.confidence_interval.high - row.signed_high))
        spent, limits = seconds(lambda values=values: IIDBootstrap(values, seed=Indices(indices)).conf_int(
            np.mean, REPLICATES, method="percentile"))
        took["arch"].append(spent)
        apart = max(apart, abs(limits[0, 0] - row.signed_low), abs(limits[1, 0] - row.signed_high))
    return ours, alone, statistics, {k: float(np.median(v)) for k, v in took.items()}, apart


READ = """
import resource, sys, time
from pathlib import Path
import pandas as pd
from mtgender import formats
pairs = pd.read_csv(sys.argv[2], dtype=str)
start = time.perf_counter()
formats.read_wmt25_scores(Path(sys.argv[1]), pairs, "cs", "set")
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def reading():
    """(rows, seconds, megabytes) of reading one language of a 578,886-row WMT25 file in a process of its own."""
    rng = np.random.default_rng(1)
    codes = np.resize(isco.unit_groups(), 8771)
    ids = [str(3 * i + 2) for i in range(8771)]
    targets = ["ar", "cs", "el", "es", "fr", "is", "it", "pt", "ru", "sr", "uk"]
    with tempfile.TemporaryDirectory() as folder:
        path, pairs = Path(folder, "scores.tsv"), Path(folder, "pairs.csv")
        pd.DataFrame({"segment_id": ids, "isco": codes}).to_csv(pairs, index=False)
        with path.open("w") as file:
            file.write("\t".join(formats.WMT25_SCORES) + "\n")
            for source in ("en", "fi", "tr"):
                for target in targets:
                    for n, (i, code, scores) in enumerate(zip(ids, codes, rng.random((8771, 2)).tolist()), 1):
                        for h, score in zip(("hyp-1", "hyp-2"), scores):
                            file.write(f"{i}\t{n}\t{source}\t{target}\tchallenge_set\t{h}\t{code}\tNaN\t{score!r}\n")
        done = subprocess.run([sys.executable, "-c", READ, str(path), str(pairs)], capture_output=True, text=True, check=True)
    spent, memory = map(float, done.stdout.split())
    return 3 * 11 * 8771 * 2, spent, memory


def main():
    """Measure and write the page."""
    ours, alone, statistics, each, apart = bootstraps()
    rows, spent, memory = reading()
    cores = len(os.sched_getaffinity(0))
    lines = [
        "# Inference and reading, measured", "",
        f"Synthetic data in the shape of a study: {RUNS} runs, 436 occupations of 3 texts, {REPLICATES} replicates. {cores} cores, "
        f"{platform.machine()}, Python {platform.python_version()}. Made by `benchmarks/inference.py`.", "",
        "| what | seconds | against our intervals |", "| --- | ---: | ---: |",
        f"| ours, {statistics} intervals alone | {alone:.2f} | 1 |",
        f"| ours, whole: rates, intervals, tests, Benjamini–Hochberg, frames | {ours:.2f} | {ours / alone:.1f}× |",
        *(f"| {name}, one statistic at a time (median of {SAMPLED}, × {statistics}) | {each[key] * statistics:.1f} | "
          f"{each[key] * statistics / alone:.0f}× |" for name, key in (("scipy.stats.bootstrap", "scipy"), ("arch IIDBootstrap", "arch"))),
        "",
        f"Largest difference of the limits of S on the same resamples: {apart:.1e}.", "",
        f"One language of a WMT25 score file of {rows:,} rows, read and checked: {spent:.2f} s, {memory:.0f} MB for the whole process.", ""]
    TARGET.write_text("\n".join(lines), encoding="utf-8")
    print("\n".join(lines), f"peak of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
