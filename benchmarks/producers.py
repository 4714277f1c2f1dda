"""Speed and size of the evaluators and annotators that run here: one row each in benchmarks/producers.csv.

    .venv-producers/bin/python benchmarks/producers.py [NAME …]

Pairs a second: both variants of 24 German pairs (Icelandic or Russian where an annotator reads only that), after one pair to warm up, on
an idle machine. Megabytes: the installed files of the packages that the producer's card names.
"""

import csv
import importlib.metadata
import os
import platform
import sys
import time
from pathlib import Path

from mtgender import data
from mtgender.producers import ANNOTATORS, EVALUATORS
from mtgender.study import ROOT, InputError

PAIRS, TARGET = 24, Path(__file__).with_suffix(".csv")
COLUMNS = ["name", "kind", "megabytes", "load_seconds", "pairs_per_second", "cores", "machine", "python"]


def megabytes(packages):
    """Size of the installed files of packages and of the packages of the same family that they are split into."""
    names = [d.metadata["Name"] for d in importlib.metadata.distributions()]
    chosen = {n for n in names for p in packages if n.lower().replace("_", "-").startswith(p.lower())}
    files = [f.locate() for n in chosen for f in importlib.metadata.files(n) or []]
    return sum(Path(f).stat().st_size for f in files if Path(f).is_file()) / 1e6


def measure(name, registry):
    """A row for one producer, or None where it does not run here."""
    for language in ("de", "is", "ru"):
        start = time.perf_counter()
        try:
            producer = registry[name](language)
        except ImportError:
            return None
        except InputError:
            continue
        loaded = time.perf_counter() - start
        pairs = data.read_pairs(ROOT / "data" / "occupairs", language).iloc[:PAIRS + 1]

        def run(part, producer=producer, language=language):
            sources, texts = list(part["source"]) * 2, [*part["masculine"], *part["feminine"]]
            return producer.score(sources, texts) if registry is EVALUATORS else producer.annotate(sources, texts, language)

        run(pairs.iloc[:1])
        start = time.perf_counter()
        run(pairs.iloc[1:])
        rate = PAIRS / (time.perf_counter() - start)
        return {"name": name, "kind": producer.card["kind"], "megabytes": f"{megabytes(producer.card['packages']):.0f}",
                "load_seconds": f"{loaded:.1f}", "pairs_per_second": f"{rate:.0f}" if rate >= 100 else f"{rate:.3g}",
                "cores": len(os.sched_getaffinity(0)), "machine": platform.machine(), "python": platform.python_version()}
    return None


def main(names):
    """Measure what is named, or everything, and keep the rows of the others."""
    old = {row["name"]: row for row in csv.DictReader(TARGET.open(encoding="utf-8"))} if TARGET.exists() else {}
    for registry in (EVALUATORS, ANNOTATORS):
        for name in registry:
            if (not names or name in names) and (row := measure(name, registry)):
                old[name] = row
                print(row)
    with TARGET.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(old.values(), key=lambda r: (r["kind"] != "evaluator", r["name"])))


if __name__ == "__main__":
    main(sys.argv[1:])
