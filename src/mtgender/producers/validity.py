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
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from mtgender.data import replace
from mtgender.producers.contradiction import contradiction
from mtgender.producers.evaluators import EVALUATORS
from mtgender.producers.run import (
    PER_LANGUAGE,
    alone,
    check_card,
    checked_scores,
    create,
    progress_bar,
    read_card,
    refuse_mixture,
    to_pairs,
    update_card,
    write_atomically,
)
from mtgender.study import InputError

COLUMNS = ["language", "probe", "n", "rate", "low", "high"]


class Text(NamedTuple):
    """One English text, its two translations, the occupation that it names, its text type."""

    segment_id: str
    source: str
    masculine: str
    feminine: str
    isco: str
    text_type: str


def to_texts(frame: pd.DataFrame) -> list[Text]:
    """Return the pairs of a frame (`to_pairs`) with its columns isco and text_type; without these, with what OccuPairs ids say.

    Raises
    ------
    InputError
        As in `to_pairs`; or the frame lacks the columns, and an id is not `<isco>-<text_type>`.
    """
    pairs = to_pairs(frame)
    if {"isco", "text_type"} <= set(frame):
        kinds = dict(zip(frame["segment_id"], zip(frame["isco"], frame["text_type"])))
    else:
        kinds = {pair.segment_id: pair.segment_id.split("-", 1) for pair in pairs}
        odd = next((segment_id for segment_id, kind in kinds.items() if len(kind) < 2), None)
        if odd is not None:
            raise InputError("the validity test needs the columns isco and text_type, or OccuPairs ids", segment_id=odd,
                             hint="An id of OccuPairs is <isco>-<text_type>")
    return [Text(*pair[:4], *kinds[pair.segment_id]) for pair in pairs]


def draw(*key: object) -> bytes:
    """Return a pseudo-random value that depends on `key` only; sorting by it shuffles, its minimum picks one."""
    return hashlib.sha256("\0".join(map(str, key)).encode()).digest()


def wilson(wins: float, n: int) -> tuple[float, float]:
    """Return the Wilson 95 % interval of the rate wins/n as (low, high); `wins` may hold halves, n ≥ 1."""
    z2 = 1.959963984540054 ** 2
    rate = wins / n
    centre, half = rate + z2 / (2 * n), math.sqrt(z2 * (rate * (1 - rate) / n + z2 / (4 * n * n)))
    return max(0.0, (centre - half) / (1 + z2 / n)), min(1.0, (centre + half) / (1 + z2 / n))


def other_occupation(pair: Text, pairs: list[Text], seed: int, language: str = "") -> str | None:
    """Return the translation of another occupation's text of the same type, or None if there is none."""
    others = [p for p in pairs if p.text_type == pair.text_type and p.isco != pair.isco and p.masculine != pair.masculine]
    return min(others, key=lambda p: draw(seed, "other", pair.segment_id, p.segment_id)).masculine if others else None


def shuffled(pair: Text, pairs: list[Text], seed: int, language: str = "") -> str | None:
    """Return the words of the right translation in another order, or None if there is no other order."""
    words = pair.masculine.split()
    if len(set(words)) < 2:
        return None
    for attempt in range(100):
        order = sorted(range(len(words)), key=lambda i: draw(seed, "shuffle", attempt, pair.segment_id, i))
        if [words[i] for i in order] != words:
            return " ".join(words[i] for i in order)
    return None


def contradicted(pair: Text, pairs: list[Text], seed: int, language: str = "") -> str | None:
    """Return the right translation with a number changed or a negation added, or None where no rule applies."""
    return contradiction(pair.masculine, pair.feminine, language)


# probe → worse translation of a pair, or None where the probe cannot be applied (then the pair does not count)
PROBES: dict[str, Callable[[Text, list[Text], int, str], str | None]] = {
    "other_occupation": other_occupation, "shuffled": shuffled, "contradiction": contradicted}


def role(rows: list[dict[str, Any]], reads_source: bool) -> str:
    """Apply the rule of this module to the rows of one language."""
    low = {row["probe"]: row["low"] for row in rows}
    if reads_source and low["other_occupation"] > .5:
        return "metric"
    return "fluency" if low["shuffled"] > .5 else "control"


def validate_language(name: str, language: str, pairs: pd.DataFrame, out_dir: Path | str, n: int = 100, seed: int = 0,
                      progress: bool | None = None, options: dict[str, Any] | None = None,
                      references: dict[str, str] | None = None) -> tuple[str | None, list[dict[str, Any]]]:
    """Run the validity test: rows into `<out_dir>/<name>/validity.csv`, the role into `card.yaml`.

    Where `other_occupation` or `shuffled` has no text (all are of one occupation, or none has a score) there is no role, and nothing is
    written.

    Parameters
    ----------
    pairs : DataFrame
        All pairs of the language, columns as in `score_language`, and isco and text_type (`to_texts`); `n` of them are drawn by `seed`.
    options, references
        As in `score_language`. A text without a score (`may_miss`) does not count.

    Returns
    -------
    role : {"metric", "fluency", "control"} or None
    rows : list of dict
        One per probe: language, probe, n, rate, low, high (fractions); none without a role.

    Raises
    ------
    InputError
        As in `score_language`; occupation and text type are unknown.
    """
    evaluator = create(EVALUATORS, name, language, options)
    name = evaluator.card["name"]
    folder = Path(out_dir) / name
    check_card(folder / "card.yaml", evaluator.card, language)
    everything = to_texts(pairs)
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
        return None, []
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


def accept(made: Path, committed: Path, language: str) -> None:
    """Put a file of scores or annotations that was made again in the place of the committed one, with what its card and test say.

    Parameters
    ----------
    made, committed : Path
        The two files, each in a folder with `card.yaml` and maybe `validity.csv`. The committed folder takes over the made card, this
        language's entries and rows; other languages that it has stay as they are. Of texts with a neutral variant, in a folder `neutral`,
        the rows and the role lie in the folder above.
    language : str

    Raises
    ------
    InputError
        There is no such file or no entry for the language in its card; or a language that stays, which the made card does not have, was
        made with other versions or settings.
    """
    if not made.is_file() or language not in read_card(made.parent / "card.yaml").get("input_sha256", {}):
        raise InputError(f"no such file, or no entry for {language} in its card.yaml", path=made)
    folders = [(made.parent, committed.parent, PER_LANGUAGE)]
    if committed.parent.name == "neutral" and read_rows(made.parents[1] / "validity.csv", language):
        folders.append((made.parents[1], committed.parents[1], ("role",)))
    for source, place, _ in folders:
        card, old = read_card(source / "card.yaml"), read_card(place / "card.yaml")
        staying = [code for code in old.get("input_sha256", {}) if code not in card.get("input_sha256", {})]
        refuse_mixture(place / "card.yaml", staying, old, card)
    replace(committed, lambda part: shutil.copyfile(made, part))
    for source, place, keys in folders:
        card = read_card(source / "card.yaml")
        entries = {key: card[key][language] for key in keys if language in card.get(key, {})}
        card = {key: value for key, value in card.items() if key not in PER_LANGUAGE}
        if said := re.search(" mtgender (?:score|annotate) (.*) --language ", card.pop("command")):
            card["invocation"] = said[1]
        update_card(place / "card.yaml", card, language, **entries)
        if rows := read_rows(source / "validity.csv", language):
            _write_rows(place / "validity.csv", language, rows)


def read_rows(path: Path, language: str | None = None) -> list[dict[str, str]]:
    """Return the rows of a `validity.csv`, of one language or of all; none if there is no file."""
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8")))) if path.exists() else []
    return [row for row in rows if language in (None, row["language"])]


@alone
def _write_rows(path: Path, language: str, rows: list[dict[str, Any]]) -> None:
    """Replace the rows of a language in `validity.csv`, languages in order."""
    new = [{**row, **{key: f"{float(row[key]):.6f}" for key in ("rate", "low", "high")}} for row in rows]
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(sorted([row for row in read_rows(path) if row["language"] != language] + new, key=lambda row: row["language"]))
    write_atomically(path, file.getvalue())
