"""What an evaluator is, measured: does a right translation beat a wrong one, and does word order matter?

On 100 texts (masculine variant), the same for every evaluator and language, each probe makes a worse translation of a text:

- `other_occupation`: the translation of another occupation's text of the same text type;
- `shuffled`: the words of the right translation in another order;
- `contradiction`: a number changed or a negation added (`mtgender.producers.contradiction`).

The rate at which the right translation gets the better score (ties count half) with its Wilson 95 % interval decides the role:
`metric` if the lower bound of `other_occupation` is above .5 and the evaluator reads the source; else `fluency` if the lower
bound of `shuffled` is above .5; else `control`. Draws come from SHA-256, so they depend on no library's random numbers.
"""
from __future__ import annotations

import csv
import hashlib
import io
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from mtgender.producers.contradiction import contradiction
from mtgender.producers.evaluators import EVALUATORS
from mtgender.producers.run import Pair, alone, check_card, checked_scores, create, progress_bar, to_pairs, update_card, write_atomically
from mtgender.study import InputError

COLUMNS = ["language", "probe", "n", "rate", "low", "high"]


def draw(*key: object) -> bytes:
    """Return a pseudo-random value that depends on `key` only; sorting by it shuffles, its minimum picks one."""
    return hashlib.sha256("\0".join(map(str, key)).encode()).digest()


def wilson(wins: float, n: int) -> tuple[float, float]:
    """Return the Wilson 95 % interval of the rate wins/n as (low, high); `wins` may hold halves, n ≥ 1."""
    z2 = 1.959963984540054 ** 2
    rate = wins / n
    centre, half = rate + z2 / (2 * n), math.sqrt(z2 * (rate * (1 - rate) / n + z2 / (4 * n * n)))
    return max(0.0, (centre - half) / (1 + z2 / n)), min(1.0, (centre + half) / (1 + z2 / n))


def _kind(pair: Pair) -> tuple[str, str]:
    """Return (occupation, text type) from an OccuPairs id."""
    isco, dash, text_type = pair.segment_id.partition("-")
    if not dash:
        raise InputError("the validity test needs OccuPairs ids, <isco>-<text_type>", segment_id=pair.segment_id)
    return isco, text_type


def other_occupation(pair: Pair, pairs: list[Pair], seed: int, language: str = "") -> str | None:
    """Return the translation of another occupation's text of the same type, or None if there is none."""
    isco, text_type = _kind(pair)
    others = [p for p in pairs if _kind(p)[1] == text_type and _kind(p)[0] != isco and p.masculine != pair.masculine]
    return min(others, key=lambda p: draw(seed, "other", pair.segment_id, p.segment_id)).masculine if others else None


def shuffled(pair: Pair, pairs: list[Pair], seed: int, language: str = "") -> str | None:
    """Return the words of the right translation in another order, or None if there is no other order."""
    words = pair.masculine.split()
    if len(set(words)) < 2:
        return None
    for attempt in range(100):
        order = sorted(range(len(words)), key=lambda i: draw(seed, "shuffle", attempt, pair.segment_id, i))
        if [words[i] for i in order] != words:
            return " ".join(words[i] for i in order)
    return None


def contradicted(pair: Pair, pairs: list[Pair], seed: int, language: str = "") -> str | None:
    """Return the right translation with a number changed or a negation added, or None where no rule applies."""
    return contradiction(pair.masculine, pair.feminine, language)


# probe → worse translation of a pair, or None where the probe cannot be applied (then the pair does not count)
PROBES: dict[str, Callable[[Pair, list[Pair], int, str], str | None]] = {
    "other_occupation": other_occupation, "shuffled": shuffled, "contradiction": contradicted}


def role(rows: list[dict[str, Any]], reads_source: bool) -> str:
    """Apply the rule of this module to the rows of one language."""
    low = {row["probe"]: row["low"] for row in rows}
    if reads_source and low["other_occupation"] > .5:
        return "metric"
    return "fluency" if low["shuffled"] > .5 else "control"


def validate_language(name: str, language: str, pairs: pd.DataFrame, out_dir: Path | str, n: int = 100, seed: int = 0,
                      progress: bool | None = None, options: dict[str, Any] | None = None,
                      references: dict[str, str] | None = None) -> tuple[str, list[dict[str, Any]]]:
    """Run the validity test: rows into `<out_dir>/<name>/validity.csv`, the role into `card.yaml`.

    Parameters
    ----------
    pairs : DataFrame
        All OccuPairs pairs of the language, columns as in `score_language`; `n` of them are drawn by `seed`.
    options, references
        As in `score_language`. A text without a score (`may_miss`) does not count.

    Returns
    -------
    role : {"metric", "fluency", "control"}
    rows : list of dict
        One per probe: language, probe, n, rate, low, high (fractions).

    Raises
    ------
    InputError
        As in `score_language`; ids that are not OccuPairs'; a probe that applies to no text.
    """
    evaluator = create(EVALUATORS, name, language, options)
    name = evaluator.card["name"]
    folder = Path(out_dir) / name
    check_card(folder / "card.yaml", evaluator.card, language)
    everything = to_pairs(pairs)
    sample = sorted(everything, key=lambda pair: draw(seed, "sample", pair.segment_id))[:n]
    sign = 1 if evaluator.card["higher_is_better"] else -1
    wins, counts = dict.fromkeys(PROBES, 0.0), dict.fromkeys(PROBES, 0)
    with progress_bar(f"{name} {language} validity", len(sample), 0, progress) as bar:
        for first in range(0, len(sample), evaluator.batch):
            batch = sample[first:first + evaluator.batch]
            texts = {(probe, i): text for probe, worse in PROBES.items() for i, pair in enumerate(batch)
                     if (text := worse(pair, everything, seed, language)) is not None}
            where = [*range(len(batch)), *(i for _, i in texts)]
            scores = sign * checked_scores(evaluator, [batch[i].source for i in where],
                                           [pair.masculine for pair in batch] + list(texts.values()),
                                           [batch[i].segment_id for i in where],
                                           [references[batch[i].segment_id] for i in where] if references is not None else None)
            for (probe, i), score in zip(texts, scores[len(batch):], strict=True):
                if math.isnan(scores[i]) or math.isnan(score):
                    continue
                wins[probe] += .5 if scores[i] == score else float(scores[i] > score)
                counts[probe] += 1
            if bar is not None:
                bar.update(len(batch))
    if not (counts["other_occupation"] and counts["shuffled"]):
        raise InputError(f"no text for the probe {min(counts, key=counts.get)} in {len(everything)} pairs")
    rows = []
    for probe, count in counts.items():
        if not count:
            continue
        low, high = wilson(wins[probe], count)
        rows.append({"language": language, "probe": probe, "n": count, "rate": wins[probe] / count, "low": low, "high": high})
    _write_rows(folder / "validity.csv", language, rows)
    decided = role(rows, evaluator.card["reads_source"])
    update_card(folder / "card.yaml", evaluator.card, language, role=decided)
    return decided, rows


@alone
def _write_rows(path: Path, language: str, rows: list[dict[str, Any]]) -> None:
    """Replace the rows of a language in `validity.csv`, languages in order."""
    old = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8")))) if path.exists() else []
    new = [{**row, **{key: f"{row[key]:.6f}" for key in ("rate", "low", "high")}} for row in rows]
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(sorted([row for row in old if row["language"] != language] + new, key=lambda row: row["language"]))
    write_atomically(path, file.getvalue())
