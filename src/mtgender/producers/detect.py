"""Runs a detector over the translations of a system and writes the genders that the analysis reads."""

from __future__ import annotations

import json
import time
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from mtgender.data import GENDER_LABELS, GENDERS
from mtgender.producers.detectors import DETECTORS
from mtgender.producers.run import Run, create, differing, produce, read_card, write_atomically
from mtgender.producers.translators import COMPARED, update_translator_card
from mtgender.study import InputError

OPTIONS = ("model", "fuzzy", "similarity")       # what a detector's constructor takes and its card says


class Translated(NamedTuple):
    """One English text, the occupation it names, and its translation."""

    segment_id: str
    isco: str
    term: str
    source: str
    text: str


def to_translated(frame: pd.DataFrame) -> list[Translated]:
    """Rows of a frame with the string columns segment_id, isco, term, source, text; sorted by id."""
    rows = frame[list(Translated._fields)].sort_values("segment_id").itertuples(index=False, name=None)
    return [Translated(*row) for row in rows]


def translated_sha256(texts: list[Translated]) -> str:
    """Hash what a detector reads: SHA-256 over one JSON array and LF per text, sorted by id."""
    return sha256("".join(json.dumps(list(text), ensure_ascii=False) + "\n" for text in texts).encode()).hexdigest()


def up_to_date(path: Path, frame: pd.DataFrame, name: str, options: dict[str, Any] | None = None) -> bool:
    """Whether a file of genders was made by this detector, with these options (`OPTIONS`), from these texts, as its card says."""
    card = read_card(path.parent / "card.yaml")
    digest = translated_sha256(to_translated(frame))
    return (path.is_file() and card.get("name") == name and card.get("input_sha256", {}).get(path.stem) == digest
            and not differing(card, options or {}, [key for key in OPTIONS if key in (options or {})]))


def detect_language(name: str, path: Path, frame: pd.DataFrame, progress: bool | None = None, options: dict[str, Any] | None = None) -> Run:
    """Find the gender that each translation gives to its occupation: `<path>` and its line in the folder's `card.yaml`.

    Parameters
    ----------
    name : str
        A name in `DETECTORS`.
    path : Path
        The file to write, `<folder>/<language>.tsv`.
    frame : DataFrame
        String columns segment_id, isco, term (the English occupation), source, text (its translation); one row a text.
    progress : bool, optional
        Whether to show a bar on stderr; default: on a terminal.
    options : dict, optional
        What the detector's constructor takes.

    Returns
    -------
    Run

    Raises
    ------
    InputError
        The detector has no such language or lacks a package; it gives a term that does not stand where it says, or an unknown gender.

    Notes
    -----
    A translation that is empty, that is its source unchanged, or in which the detector does not find the occupation is `excluded`.
    """
    detector, texts = create(DETECTORS, name, path.stem, options), to_translated(frame)
    card, digest = detector.card, translated_sha256(texts)
    card = {**card, "packages": _packages(path, card)}
    key = f"# {sha256(json.dumps([card, path.stem, digest], sort_keys=True).encode()).hexdigest()}\n"

    def made(batch: list[Translated]) -> list[str]:
        found = detector.detect([t.source for t in batch], [t.term for t in batch], [t.isco for t in batch], [t.text for t in batch])
        return ["\t".join(_label(text, label, card["name"])) + "\n" for text, label in zip(batch, found, strict=True)]

    start = time.perf_counter()
    part, kept, resumed = produce(path, key, texts, lambda text: [f"{text.segment_id}\t"], detector.batch, made, progress)
    write_atomically(path, "\t".join(GENDER_LABELS) + "\n" + "".join(kept))
    part.unlink()
    genders = [row.split("\t")[GENDER_LABELS.index("gender")] for row in kept]
    update_translator_card(path.parent / "card.yaml", card, path.stem, input_sha256=digest,
                           counts={gender: genders.count(gender) for gender in GENDERS})
    return Run(path, len(texts), resumed, time.perf_counter() - start)


def _packages(path: Path, card: dict[str, Any]) -> dict[str, str]:
    """Packages of all languages of a card (each uses its own); refused if one was used in another version by the same detector."""
    old = read_card(path.parent / "card.yaml")
    if differing(old, card, COMPARED) or set(old.get("input_sha256", {})) <= {path.stem}:
        return card["packages"]
    known = old.get("packages", {})
    differ = [f"{name} {known[name]}, here {version}" for name, version in card["packages"].items() if known.get(name, version) != version]
    if differ:
        raise InputError(f"the other languages were made with {', '.join(differ)}", path=path.parent / "card.yaml",
                         hint="Install the versions of the card, or make all languages again in an empty folder")
    return dict(sorted({**known, **card["packages"]}.items()))


def _label(text: Translated, label: dict[str, Any], detector: str) -> list[str]:
    """One row of the file of genders."""
    term, start, end, gender = (label[key] for key in ("term", "start", "end", "gender"))
    if text.text[start:end] != term or gender not in GENDERS or "\t" in term:
        raise InputError(f"{detector} says {gender!r} and {term!r} at {start}–{end}, which does not stand there",
                         segment_id=text.segment_id)
    if not term or text.text.strip() in ("", text.source.strip()):
        term, start, end, gender = "", 0, 0, "excluded"
    return [text.segment_id, term, str(start), str(end), label.get("isco", ""), gender, detector]
