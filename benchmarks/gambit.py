"""A shared task's files of the size of GAMBIT+ as WMT25 returned it, from the files to the result frames: first from TSV, then from copies.

    .venv/bin/python benchmarks/gambit.py [--repeats 5] [--sources en fi tr]

Synthetic: made-up sentences and random scores in the shape of the real files (11 systems, 33 language pairs, 8,771 texts, 2 hypotheses a
text: 6.4 M scores), in a temporary folder with results of its own. A study has one source language: the rows of the other two are read and
checked for form, then passed over; with `--sources` a study of each is made, one after the other. Every run is a process of its own.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from mtgender import data, formats, inference, isco, study

TARGETS = ("ar", "cs", "el", "es", "fr", "is", "it", "pt", "ru", "sr", "uk")
SOURCES, SYSTEMS, TEXTS = ("en", "fi", "tr"), 11, 8771
SENTENCES = {  # source, masculine, feminine; of the second kind, every fifth text, the two have unequal numbers of words
    False: ("The {} left home late in the evening , because there was work to do .",
            "Ten {} odešel domů až pozdě večer , protože na něj v dílně čekala práce .",
            "Ta {} odešla domů až pozdě večer , protože na ni v dílně čekala práce ."),
    True: ("The {} left late in the evening , with work still to be done .",
           "Le {} est parti tard le soir , car il avait encore du travail à finir .",
           "La jeune {} est partie tard le soir , car elle avait encore du travail à finir ."),
}


def write(folder):
    """The files of texts and scores, and a study for each source language."""
    texts, returned = folder / "texts", folder / "returned"
    texts.mkdir(parents=True), returned.mkdir()
    ids = [str(3 * i + 2) for i in range(TEXTS)]
    codes = [code.lstrip("0") for code in np.resize(isco.unit_groups(), TEXTS)]
    meta = "domain\tdoc_id\n" + "".join(f"{code}\t{i}\n" for code, i in zip(codes, ids))
    sides = ["".join(SENTENCES[n % 5 == 4][k].format(i) + "\n" for n, i in enumerate(ids)) for k in range(3)]
    for stem in (f"synthetic.{source}-{target}" for source in SOURCES for target in TARGETS):
        (texts / f"{stem}.meta.tsv").write_text(meta)
        for end, text in zip(("src", "hyp-1", "hyp-2"), sides):
            (texts / f"{stem}.{end}.txt").write_text(text)
    rows = [(i, n, hypothesis, code) for n, (i, code) in enumerate(zip(ids, codes), 1) for hypothesis in formats.HYPOTHESES]
    for k in range(SYSTEMS):
        rng = np.random.default_rng(k)
        with (returned / f"random{k:02d}.tsv").open("w") as file:
            file.write("\t".join(formats.WMT25_SCORES) + "\n")
            for source in SOURCES:
                for target in TARGETS:
                    file.writelines(f"{i}\t{n}\t{source}\t{target}\tchallenge_synthetic\t{hypothesis}\t{code}\tNaN\t{score!r}\n"
                                    for (i, n, hypothesis, code), score in zip(rows, rng.random(len(rows)).tolist()))
    systems = "".join(f"  {p.stem}: {{path: {p}, format: wmt25}}\n" for p in sorted(returned.iterdir()))
    for source in SOURCES:
        (folder / f"{source}.yaml").write_text(
            f"name: synthetic-{source}\ntitle: Synthetic scores in the shape of GAMBIT+\npairs: {texts}\npairs_format: gambit\n"
            f"set: synthetic\nsource: {source}\nlanguages: [{', '.join(TARGETS)}]\nscores:\n{systems}")


def work(folder, sources):
    """Prepare and infer the studies, with results in the folder; wall and CPU seconds, and the peak memory of this process."""
    study.ROOT = folder
    copied, wall, cpu = set(study.copies().glob("*")), time.perf_counter(), time.process_time()
    for source in sources:
        chosen = study.load(folder / f"{source}.yaml")
        runs = data.prepare(chosen)
        if set(runs["status"]) != {"ok"} or len(inference.infer(chosen)["score_runs"]) != SYSTEMS * len(TARGETS):
            raise SystemExit(f"a run was refused: {runs['problem'].max()}")
    spent = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu,
             "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
    made, expected = len(set(study.copies().glob("*")) - copied), SYSTEMS + len(sources) * len(TARGETS)
    if (len(copied), made) not in ((0, expected), (expected, 0)):
        raise SystemExit(f"{len(copied)} copies were there and {made} were made, expected {expected} in all")
    return spent


def measure(repeats=5, sources=SOURCES[:1]):
    """Wall and CPU seconds and peak memory from the files to the result frames, without the start of Python.

    Parameters
    ----------
    repeats : int
    sources : sequence of str
        Source languages: a study each.

    Returns
    -------
    dict
        scores (in the files), used (in the studies), megabytes (of the score files), and for `tsv` (nothing was read before; the copies
        are made) and `parquet` (again, from the copies) a list, a value a repeat, of wall, cpu, whole (wall of the process, with the start
        of Python and its packages; all in seconds) and peak_mib.
    """
    values = {kind: {key: [] for key in ("wall", "cpu", "peak_mib", "whole")} for kind in ("tsv", "parquet")}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder)
        time.sleep(formats.SETTLED / 1e9)                     # a file is copied when it has not changed for that long
        for _ in range(repeats):
            for file in study_copies(folder):
                file.unlink()
            for kind in values:
                start = time.perf_counter()
                done = subprocess.run([sys.executable, __file__, "--work", name, "--sources", *sources], capture_output=True, text=True)
                if done.returncode:
                    raise SystemExit(done.stderr)
                for key, value in {**json.loads(done.stdout), "whole": time.perf_counter() - start}.items():
                    values[kind][key].append(value)
        size = sum(p.stat().st_size for p in (folder / "returned").iterdir())
    each = SYSTEMS * len(TARGETS) * TEXTS * 2
    return {"scores": len(SOURCES) * each, "used": len(sources) * each, "megabytes": size / 1e6, **values}


def study_copies(folder):
    """The copies that runs in the folder have made."""
    return list((folder / study.copies().relative_to(study.ROOT)).glob("*"))


def main():
    """Measure and print: medians and every repeat."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--repeats", type=int, default=5)
    arguments.add_argument("--sources", nargs="+", choices=SOURCES, default=SOURCES[:1])
    arguments.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.work:
        print(json.dumps(work(given.work, given.sources)))
        return
    found = measure(given.repeats, given.sources)
    medians = {kind: {key: round(float(np.median(v)), 2) for key, v in found[kind].items()} for kind in ("tsv", "parquet")}
    print(json.dumps({"medians": medians, "cores": len(os.sched_getaffinity(0)), **found}, indent=1))


if __name__ == "__main__":
    main()
