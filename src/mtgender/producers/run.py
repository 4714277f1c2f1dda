"""Run a producer over the pairs of one language: batches, progress, interruption, and the files that are committed."""
from __future__ import annotations

import functools
import hashlib
import json
import re
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import yaml

from mtgender.data import replace
from mtgender.producers.annotators import ANNOTATORS
from mtgender.producers.evaluators import EVALUATORS
from mtgender.study import InputError

COLUMNS = ["segment_id", "source", "masculine", "feminine"]
VARIANTS = ("masculine", "feminine")
# card entries of the form {language: value}; `truncated` and `unparsed` count texts
PER_LANGUAGE = ("role", "input_sha256", "references_sha256", "truncated", "unparsed")
# card entries that results depend on, beside version and packages
SETTINGS = ("model", "prompt_sha256", "temperature", "max_tokens", "max_length", "class", "dtype", "drop", "fuzzy", "similarity",
            "references", "higher_is_better")


class Pair(NamedTuple):
    """One English text and its two translations."""

    segment_id: str
    source: str
    masculine: str
    feminine: str


class Triple(NamedTuple):
    """One English text and its three translations."""

    segment_id: str
    source: str
    masculine: str
    feminine: str
    neutral: str


class Run(NamedTuple):
    """What a run did: the finished file, its pairs, how many of them a part file already held, seconds for the others."""

    path: Path
    n: int
    resumed: int
    seconds: float


EXTRAS = {"comet": "neural", "metricx": "neural", "xcomet-spans": "neural", "m2m100": "neural", "nllb": "neural",
          "llm-judge": "llm-judge", "llm-spans": "llm-judge", "llm": "llm-judge"}


def create(registry: dict[str, Callable[..., Any]], name: str, language: str, options: dict[str, Any] | None = None) -> Any:
    """Construct the producer `name` for `language`; InputError if the name, an option or a package it needs is unknown."""
    if name not in registry:
        raise InputError(f"there is no producer called {name!r}", hint="choose one of " + ", ".join(sorted(registry)))
    try:
        producer = registry[name](language, **(options or {}))
        producer.card["invocation"] = " ".join([name, *(_flag(*option) for option in (options or {}).items())])
        return producer
    except ModuleNotFoundError as error:
        extra = EXTRAS.get(name, "producers")
        raise InputError(f"{name} needs the package {error.name}, which is not installed here",
                         hint=f"Make its environment: ./run_all.sh --environment {extra}") from error
    except TypeError as error:
        unknown = re.search(r"unexpected keyword argument '(\w+)'", str(error))
        if not unknown:
            raise
        raise InputError(f"{name} has no option {unknown.group(1)}") from None


def _flag(option: str, value: Any) -> str:
    """One option as the command line spells it."""
    flag = "--" + {"name": "as"}.get(option, option).replace("_", "-")
    return f"{flag} FOLDER" if option == "references" else flag if value is True else f"{flag} {shlex.quote(str(value))}"


def to_pairs(frame: pd.DataFrame, limit: int | None = None) -> list[Pair]:
    """Return the first `limit` pairs of a frame with the string columns of `COLUMNS`, sorted by segment id; triples if it has `neutral`.

    Raises
    ------
    InputError
        A column is missing, an id occurs twice or holds a TAB or line end, a cell is not a string or holds NUL.
    """
    missing = [column for column in COLUMNS if column not in frame]
    if missing:
        raise InputError(f"the pairs lack the column {missing[0]}")
    kind = Triple if "neutral" in frame else Pair
    pairs = [kind(*row) for row in frame[list(kind._fields)].itertuples(index=False, name=None)]
    seen: set[str] = set()
    for pair in pairs:
        if not all(isinstance(cell, str) and "\0" not in cell for cell in pair):
            raise InputError("a cell of this pair is missing, not text, or holds a NUL character", segment_id=str(pair.segment_id))
        if not pair.segment_id or any(mark in pair.segment_id for mark in "\t\n\r"):
            raise InputError("a segment id is empty or holds a TAB or line end", segment_id=repr(pair.segment_id))
        if pair.segment_id in seen:
            raise InputError("the segment id occurs twice", segment_id=pair.segment_id)
        seen.add(pair.segment_id)
    return sorted(pairs)[:limit]


def input_sha256(pairs: pd.DataFrame | Sequence[Pair]) -> str:
    """Hash the input texts: SHA-256 over one JSON array [id, source, masculine, feminine(, neutral)] and LF per pair, sorted by id."""
    pairs = to_pairs(pairs) if isinstance(pairs, pd.DataFrame) else pairs
    return hashlib.sha256("".join(json.dumps(list(pair), ensure_ascii=False) + "\n" for pair in pairs).encode()).hexdigest()


def checked_scores(evaluator: Any, sources: list[str], translations: list[str], segment_ids: list[str],
                   references: list[str] | None = None) -> np.ndarray:
    """Score one batch, to the 7 significant digits that files keep; InputError unless every translation gets a finite number.

    An evaluator whose attribute `may_miss` is true may give NaN: no score.
    """
    name = evaluator.card["name"]
    scores = np.asarray(evaluator.score(sources, translations, references), dtype=float)
    if scores.shape != (len(translations),):
        raise InputError(f"{name} gave scores of shape {scores.shape} for {len(translations)} texts", segment_id=segment_ids[0])
    for segment_id, translation, score in zip(segment_ids, translations, scores, strict=True):
        if not np.isfinite(score) and not (np.isnan(score) and getattr(evaluator, "may_miss", False)):
            raise InputError(f"{name} gives {score} for {translation[:60]!r}", segment_id=segment_id,
                             hint="look at the text: is it empty, or in another language? Nothing is filled in")
    return np.array([float(f"{score:.7g}") for score in scores]) + 0.0  # no negative zero


def checked_annotations(annotator: Any, sources: list[str], translations: list[str], language: str,
                        segment_ids: list[str]) -> list[dict[str, Any]]:
    """Annotate one batch; InputError unless there is one annotation per translation and each span lies inside its text."""
    name = annotator.card["name"]
    annotations = annotator.annotate(sources, translations, language)
    if len(annotations) != len(translations):
        raise InputError(f"{name} gave {len(annotations)} annotations for {len(translations)} texts", segment_id=segment_ids[0])
    for segment_id, translation, annotation in zip(segment_ids, translations, annotations, strict=True):
        if annotation["errors"] is None and getattr(annotator, "may_miss", False):
            continue
        for error in annotation["errors"]:
            if not 0 <= error["start"] < error["end"] <= len(translation):
                raise InputError(f"{name} marks {error['start']}–{error['end']} in a text of {len(translation)} characters",
                                 segment_id=segment_id)
    return annotations


def score_language(name: str, language: str, pairs: pd.DataFrame, out_dir: Path | str, progress: bool | None = None,
                   limit: int | None = None, options: dict[str, Any] | None = None, references: dict[str, str] | None = None,
                   keep: bool = False) -> Run:
    """Score all variants of the texts of a language: `<out_dir>/<name>/<language>.tsv` and its line in `card.yaml`.

    Texts with a neutral variant go into the folder `neutral` below; one repeat of a stochastic evaluator is `<language>.r<number>.tsv`.

    Parameters
    ----------
    name, language : str
        A name in `EVALUATORS`; the language code.
    pairs : DataFrame
        String columns `segment_id, source, masculine, feminine`, and `neutral` if there is one; any order, one row per pair.
    progress : bool or None
        Show rate and time left on stderr; None means only on a terminal.
    limit : int or None
        Only the first `limit` pairs in order of their ids. The file then holds these only.
    options : dict, optional
        What the evaluator's constructor takes beside the language (model, name, gpu, batch_size …); `name` names the folder.
    references : dict, optional
        {segment_id: reference}, for an evaluator that compares with one.
    keep : bool
        Leave a finished file as it is if its card says that it was made of the same texts.

    Returns
    -------
    Run

    Raises
    ------
    InputError
        Bad pairs, a score that is not finite, a missing package, a card that speaks of other versions or settings.
    """
    evaluator, chosen = create(EVALUATORS, name, language, options), to_pairs(pairs, limit)
    check_references(evaluator, chosen, references)

    def cell(score: float) -> str:
        return "None" if np.isnan(score) else f"{score:.7g}"

    def rows(batch: list[Pair]) -> list[str]:
        ids, n = [pair.segment_id for pair in batch], len(variants)
        given = [references[i] for i in ids] * n if references is not None else None
        scores = checked_scores(evaluator, [pair.source for pair in batch] * n,
                                [getattr(pair, variant) for variant in variants for pair in batch], ids * n, given)
        return ["\t".join([segment_id, *map(cell, row)]) + "\n" for segment_id, row in zip(ids, scores.reshape(n, -1).T, strict=True)]

    def prefixes(pair: Pair) -> list[str]:
        return [f"{pair.segment_id}\t"]

    variants, repeat = chosen[0]._fields[2:], evaluator.card.get("repeat")
    folder = Path(out_dir) / evaluator.card["name"]
    if "neutral" in variants:
        folder /= "neutral"
        evaluator.card["invocation"] += " --neutral"
    path = folder / f"{language}{f'.r{repeat}' if repeat else ''}.tsv"
    return _run(evaluator, language, chosen, path, "\t".join(["segment_id", *variants]) + "\n", rows, prefixes, progress,
                unparsed="\tNone", references=references, keep=keep)


def check_references(evaluator: Any, pairs: list[Pair], references: dict[str, str] | None) -> None:
    """Refuse references that are missing, incomplete, or given to an evaluator that uses none."""
    wanted, name = evaluator.card["references"], evaluator.card["name"]
    if wanted and references is None:
        raise InputError(f"{name} compares with a reference", hint="Give a folder with <language>.tsv (segment_id, text): --references")
    if not wanted and references is not None:
        raise InputError(f"{name} uses no reference", hint="Leave --references out")
    missing = next((pair.segment_id for pair in pairs if wanted and not (references or {}).get(pair.segment_id)), None)
    if missing:
        raise InputError("there is no reference", segment_id=missing)


def annotate_language(name: str, language: str, pairs: pd.DataFrame, out_dir: Path | str, progress: bool | None = None,
                      limit: int | None = None, options: dict[str, Any] | None = None, keep: bool = False) -> Run:
    """Annotate both variants of all pairs of a language: `<out_dir>/<name>/<language>.jsonl` and its line in `card.yaml`.

    Parameters, result and errors as in `score_language`; a span outside its text is an error too.
    """
    annotator = create(ANNOTATORS, name, language, options)

    def prefixes(pair: Pair) -> list[str]:
        return [json.dumps({"segment_id": pair.segment_id, "variant": v}, ensure_ascii=False)[:-1] + "," for v in VARIANTS]

    def rows(batch: list[Pair]) -> list[str]:
        keys = [(pair, variant) for pair in batch for variant in VARIANTS]
        ids = [pair.segment_id for pair, _ in keys]
        made = checked_annotations(annotator, [pair.source for pair, _ in keys], [getattr(*key) for key in keys], language, ids)
        return [json.dumps({"segment_id": pair.segment_id, "variant": variant, "errors": annotation["errors"],
                            "omission": annotation["omission"], "instruction_fault": annotation["instruction_fault"]},
                           ensure_ascii=False) + "\n" for (pair, variant), annotation in zip(keys, made, strict=True)]

    path = Path(out_dir) / annotator.card["name"] / f"{language}.jsonl"
    return _run(annotator, language, to_pairs(pairs, limit), path, "", rows, prefixes, progress, unparsed='"errors": null', keep=keep)


def _run(producer: Any, language: str, pairs: list[Pair], path: Path, header: str, rows: Callable[[list[Pair]], list[str]],
         prefixes: Callable[[Pair], list[str]], progress: bool | None, unparsed: str, references: dict[str, str] | None = None,
         keep: bool = False) -> Run:
    """Produce what a part file does not hold yet, batch by batch, then put the finished file in place and update the card."""
    check_card(path.parent / "card.yaml", producer.card, language)
    digest = input_sha256(pairs)
    entries: dict[str, Any] = {"input_sha256": digest}
    if references is not None:
        entries["references_sha256"] = hashlib.sha256(json.dumps([references[p.segment_id] for p in pairs]).encode()).hexdigest()
    key = f"# {hashlib.sha256(json.dumps([producer.card, language, entries], sort_keys=True).encode()).hexdigest()}\n"
    start = time.perf_counter()
    said = read_card(path.parent / "card.yaml")
    if keep and path.exists() and all(said.get(entry, {}).get(language) == value for entry, value in entries.items()):
        return Run(path, len(pairs), len(pairs), 0.0)
    part, kept, resumed = produce(path, key, pairs, prefixes, producer.batch, rows, progress)
    write_atomically(path, header + "".join(kept))
    part.unlink()
    if hasattr(producer, "truncated"):
        entries["truncated"] = producer.truncated([text for pair in pairs for text in pair[1:]])
    if getattr(producer, "may_miss", False):
        entries["unparsed"] = sum(row.count(unparsed) for row in kept)
    update_card(path.parent / "card.yaml", producer.card, language, **entries)
    return Run(path, len(pairs), resumed, time.perf_counter() - start)


def produce(path: Path, key: str, items: list[Any], prefixes: Callable[[Any], list[str]], size: int, rows: Callable[[list[Any]], list[str]],
            progress: bool | None) -> tuple[Path, list[str], int]:
    """Make the rows of a file batch by batch into its part file, going on where an earlier call stopped.

    Parameters
    ----------
    path : Path
        The finished file, which is not written here.
    key : str
        First line of the part file: what must be the same for its rows to be taken over.
    items : list
        What is worked through, `size` at a time.
    prefixes : callable
        How the rows of an item begin.
    rows : callable
        The rows of a batch.
    progress : bool or None
        As in `score_language`.

    Returns
    -------
    part, rows, resumed
        The part file (the caller removes it), all rows, how many items it held already.
    """
    part = path.with_name(path.name + ".part")
    path.parent.mkdir(parents=True, exist_ok=True)
    kept, resumed = resume(part, key, items, prefixes, size)
    with part.open("wb") as file, progress_bar(f"{path.parent.name} {path.stem}", len(items), resumed, progress) as bar:
        file.write((key + "".join(kept)).encode())
        file.flush()
        for first in range(resumed, len(items), size):
            batch = items[first:first + size]
            made = rows(batch)
            kept += made
            file.write("".join(made).encode())
            file.flush()
            if bar is not None:
                bar.update(len(batch))
    return part, kept, resumed


def resume(part: Path, key: str, pairs: list[Pair], prefixes: Callable[[Pair], list[str]], batch: int) -> tuple[list[str], int]:
    """Return the rows of an interrupted run that began with `key`, whole batches only, and their number of pairs."""
    if not part.exists():
        return [], 0
    first, *lines = part.read_bytes().decode(errors="replace").split("\n")
    if first + "\n" != key:
        return [], 0
    lines = lines[:-1]  # what follows the last LF was cut off while it was being written
    whole = taken = resumed = 0
    for done, pair in enumerate(pairs, 1):
        expected = prefixes(pair)
        found = lines[taken:taken + len(expected)]
        if len(found) < len(expected) or not all(map(str.startswith, found, expected)):
            break
        taken += len(expected)
        if done % batch == 0 or done == len(pairs):
            whole, resumed = taken, done
    return [line + "\n" for line in lines[:whole]], resumed


def progress_bar(title: str, total: int, done: int, progress: bool | None) -> Any:
    """Return a context manager that gives a tqdm bar on stderr, or None where no bar is wanted."""
    if progress is False or (progress is None and not sys.stderr.isatty()):
        return nullcontext()
    from tqdm import tqdm
    return tqdm(total=total, initial=done, desc=title, unit="pair", file=sys.stderr, dynamic_ncols=True)


def write_atomically(path: Path, text: str) -> None:
    """Write `text` as UTF-8 so that a reader finds the old file or the whole new one."""
    replace(path, lambda part: part.write_bytes(text.encode()))


def read_card(path: Path) -> dict[str, Any]:
    """Return what a `card.yaml` says; nothing if there is none."""
    return (yaml.safe_load(path.read_text(encoding="utf-8")) or {}) if path.exists() else {}


def differing(old: dict[str, Any], card: dict[str, Any], keys: Sequence[str] = ("version", "packages", *SETTINGS)) -> list[str]:
    """Return those of `keys` that two cards have otherwise, or that one of them lacks."""
    return [key for key in keys if old.get(key) != card.get(key)]


def check_card(path: Path, card: dict[str, Any], language: str) -> None:
    """Refuse to add a language, or a repeat, to a card whose others were made with other versions or settings."""
    old, own = read_card(path), f"{language}.r{card['repeat']}" if card.get("repeat") else language
    others = [code for code in old.get("input_sha256", {}) if code != language]
    others += [file.stem for file in sorted(path.parent.glob(f"{language}.*tsv")) if file.stem != own]
    refuse_mixture(path, others, old, card)


def refuse_mixture(path: Path, others: Sequence[str], old: dict[str, Any], card: dict[str, Any]) -> None:
    """InputError if there are `others` (languages, repeats), made as `old` says, and `card` says something else that results depend on."""
    differ = differing(old, card) if others and old else []
    if differ:
        was, now = (", ".join(f"{key} {made[key]}" if key in made else f"no {key}" for key in differ) for made in (old, card))
        raise InputError(f"{', '.join(others)} were made with {was}; here: {now}", path=path,
                         hint="Use what the card says, or make all languages again in an empty folder")


def alone(write: Callable[..., None]) -> Callable[..., None]:
    """One process at a time reads and writes a file that several languages share; the first argument is its path."""
    @functools.wraps(write)
    def locked(path: Path, *args: Any, **kwargs: Any) -> None:
        try:
            import fcntl
        except ModuleNotFoundError:
            return write(path, *args, **kwargs)
        path.parent.mkdir(parents=True, exist_ok=True)
        with (path.parent / f".{path.name}.lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            return write(path, *args, **kwargs)
    return locked


@alone
def update_card(path: Path, card: dict[str, Any], language: str, **entries: Any) -> None:
    """Write `card.yaml` with `entries` ({key: value for this language}); a role that other texts, versions or settings gave is dropped."""
    old = read_card(path)
    kept = {key: dict(old.get(key, {})) for key in PER_LANGUAGE}
    changed = "input_sha256" in entries and kept["input_sha256"].get(language) not in (None, entries["input_sha256"])
    if changed or differing(old, card):
        kept["role"].pop(language, None)
    for key, value in entries.items():
        kept[key][language] = value
    kept = {key: dict(sorted(value.items())) for key, value in kept.items()}
    verb = "annotate" if card["kind"] == "annotator" else "score"
    languages = " ".join(sorted(kept["input_sha256"] or {language}))
    card = dict(card)
    invocation = card.pop("invocation", card["name"])
    new = {**card, **({"role": kept["role"]} if kept["role"] else {}),
           "command": f"python -m mtgender {verb} {invocation} --language {languages}",
           **{key: kept[key] for key in PER_LANGUAGE[1:] if kept[key] or key == "input_sha256"}}
    write_atomically(path, yaml.safe_dump(new, sort_keys=False, allow_unicode=True, width=120))
