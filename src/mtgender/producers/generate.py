"""Benchmark and evaluation texts by a language model: text type × ISCO-08 unit group × gender × language, as in the systems paper.

`generate_language` asks any OpenAI-compatible endpoint (environment as for the judge) and writes into one folder

- `<language>.tsv`: segment_id, isco, text_type, gender, occupation, text; sorted, no quoting, only texts that were accepted;
  `gender` is what was asked for;
- `benchmark/en.tsv`: the non-specific English texts as a challenge set has them (segment_id, isco, text_type, occupation, text): a study
  whose `pairs` is this folder is enough for `python -m mtgender translate` (with statements, reports and conversations, the types of every
  challenge set);
- `refused.tsv`: the texts asked for of which no reply could be used; `card.yaml`: model, prompt, parameters, counts.

English texts that do not tell the gender are what systems translate (benchmark); texts of a stated gender in another language are what a
detector is tested on (evaluation). Replies are kept as they come, so a run that was stopped goes on, and one that was finished gives the
same files without asking anything.
"""
from __future__ import annotations

import json
import re
import shlex
import unicodedata
from collections.abc import Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from mtgender import isco
from mtgender.producers import judge
from mtgender.producers.run import EXTRAS, progress_bar, read_card, write_atomically
from mtgender.study import LANGUAGES, TEXT_TYPES, InputError

GENDERS = ("masculine", "feminine", "non-specific")
PROMPT_FILES = ("generation.txt", "generation_text_types.txt", "generation_genders.txt")
COLUMNS = ("segment_id", "isco", "text_type", "gender", "occupation", "text")
BENCHMARK = tuple(column for column in COLUMNS if column != "gender")         # the columns of a challenge set's en.tsv
REFUSED = ("language", "segment_id", "tries", "reason", "reply")
TRIES, BATCH, REPLY_TOKENS, TEMPERATURE = 3, 32, 1024, 1.0
SHORTEST, SHOWN = 5, 200             # words of a text, characters of a reply in refused.tsv
SCRIPTS = {"ar": "ARABIC", "el": "GREEK", "ru": "CYRILLIC", "uk": "CYRILLIC"}
CLUE = re.compile(r"(?<!\w)(he|him|his|himself|she|her|hers|herself|man|woman|gentleman|lady|mr|mrs|ms|sir|madam)(?!\w)", re.I)
NOT_A_TEXT = re.compile(r"(i[’']m|i am|we are|we[’']re) (very |so )?(sorry|afraid|unable)\b|sorry,? (but )?i\b|"
                        r"i (cannot|can[’']t|won[’']t)\b|i apologi[sz]e\b|as an? (ai|language model)\b|"
                        r"(sure|certainly|of course)[,!.:] (here|i)\b|here([’']s| is| are) (a|the|your)\b", re.I)


class Request(NamedTuple):
    """One text to be written."""

    segment_id: str
    isco: str
    text_type: str
    gender: str
    number: int


class Made(NamedTuple):
    """What a run did: the file of texts, how many it holds, how many could not be had, and where those are listed."""

    path: Path
    n: int
    refused: int
    listed: Path


class Endpoint(judge.Endpoint):
    """The judge's endpoint, with room for a text in the reply and a temperature at which texts vary."""

    def __init__(self) -> None:
        try:
            super().__init__({"temperature": TEMPERATURE, "max_tokens": REPLY_TOKENS})
        except ModuleNotFoundError as error:
            extra = EXTRAS["llm"]
            raise InputError(f"generate needs the package {error.name}, which is not installed here",
                             hint=f"Make its environment: ./run_all.sh --environment {extra}") from error
        self.packages = {"openai": version("openai")}


def default_genders(language: str) -> tuple[str, ...]:
    """Return what a language's texts are for: English ones to be translated, others to test a detector.

    Examples
    --------
    >>> default_genders("en"), default_genders("fr")
    (('non-specific',), ('masculine', 'feminine'))
    """
    return GENDERS[2:] if language == "en" else GENDERS[:2]


def requests(codes: Sequence[str], text_types: Sequence[str], genders: Sequence[str], count: int = 1,
             limit: int | None = None) -> list[Request]:
    """Return the texts to be written, sorted by segment id.

    Parameters
    ----------
    codes : sequence of str
        ISCO-08 unit groups; empty for all 436.
    text_types, genders : sequence of str
        Of `TEXT_TYPES` and `GENDERS`.
    count : int
        Texts of each kind. The ids of the first ones do not depend on it: `7126-statement`, `7126-statement-2`, …; a text of a
        stated gender has it in its id (`7126-statement-feminine`).
    limit : int or None
        Only the first ones in order of their ids.

    Raises
    ------
    InputError
        Unknown code, text type or gender; a number below 1.

    Examples
    --------
    >>> [r.segment_id for r in requests(["110"], ["news report"], ["non-specific", "feminine"], count=2)]
    ['0110-news_report', '0110-news_report-2', '0110-news_report-feminine', '0110-news_report-feminine-2']
    """
    for what, given, known in (("text type", text_types, TEXT_TYPES), ("gender", genders, GENDERS)):
        unknown = next((value for value in given if value not in known), None)
        if unknown is not None or not given:
            raise InputError(f"{what} {unknown!r}" if given else f"no {what}", hint=f"Known: {', '.join(known)}")
    if count < 1 or (limit is not None and limit < 1):
        raise InputError(f"{count if count < 1 else limit} texts are asked for", hint="Give a number from 1")
    chosen = dict.fromkeys(map(isco.pad, codes)) if codes else isco.unit_groups()
    found = [Request(_segment_id(code, kind, gender, number), code, kind, gender, number) for code in chosen
             for kind in dict.fromkeys(text_types) for gender in dict.fromkeys(genders) for number in range(1, count + 1)]
    return sorted(found)[:limit]


def _segment_id(code: str, text_type: str, gender: str, number: int) -> str:
    parts = [code, text_type.replace(" ", "_")] + [gender] * (gender != GENDERS[2]) + [str(number)] * (number > 1)
    return "-".join(parts)


def described(name: str) -> dict[str, str]:
    """Return a prompt file of `key: words` lines."""
    lines = (judge.PROMPTS / name).read_text(encoding="utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines)


def prompts_sha256() -> str:
    """Hash the files that prompts are made of."""
    return sha256(b"\0".join((judge.PROMPTS / name).read_bytes() for name in PROMPT_FILES)).hexdigest()


def prompt(request: Request, language: str) -> str:
    """Return what the model is asked for one text."""
    types, genders = (described(name) for name in PROMPT_FILES[1:])
    return judge.prompt("generation", language=LANGUAGES[language], title=isco.title(request.isco), kind=types[request.text_type],
                        gender=genders[request.gender].format(language=LANGUAGES[language]), number=str(request.number))


def parse_text(reply: str, language: str, gender: str) -> tuple[str, str]:
    r"""Return text and occupation of a reply that is the JSON object asked for; white space is made single spaces.

    Parameters
    ----------
    reply, language, gender : str

    Raises
    ------
    ValueError
        The reply cannot be used; the message says why, in words that the model can be told.

    Examples
    --------
    >>> parse_text('{"text": "“Is the\n plumber in?” “Not yet.”", "occupation": "Plumber"}'.replace("\n", r"\n"), "en", "non-specific")
    ('“Is the plumber in?” “Not yet.”', 'plumber')
    """
    bare = reply.strip().removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    try:
        answer = json.loads(bare)
    except ValueError:
        raise ValueError("it is not one JSON object alone") from None
    if not isinstance(answer, dict) or set(answer) != {"text", "occupation"} or not all(isinstance(v, str) for v in answer.values()):
        raise ValueError('it is not a JSON object with the texts "text" and "occupation"')
    text, occupation = (" ".join(answer[key].split()) for key in ("text", "occupation"))
    if not text or not occupation:
        raise ValueError(f'"{"occupation" if text else "text"}" is empty')
    if len(text.split()) < SHORTEST:
        raise ValueError("the text is too short")
    if any(unicodedata.category(c) in ("Cc", "Cs") for c in text):
        raise ValueError("the text holds control characters")
    if NOT_A_TEXT.match(text):
        raise ValueError("it is an answer to the request, not the text asked for")
    found = re.search(rf"(?<!\w){re.escape(occupation)}(?!\w)", text, re.I)
    if not found:
        raise ValueError(f"the text does not hold the occupation {occupation!r} as whole words")
    script, letters = SCRIPTS.get(language), [c for c in text if c.isalpha()]
    if script and 2 * sum(unicodedata.name(c, "").startswith(script) for c in letters) < len(letters):
        raise ValueError(f"the text is not in {LANGUAGES[language]}")
    clue = CLUE.search(text[:found.start()] + " " + text[found.end():]) if (language, gender) == ("en", GENDERS[2]) else None
    if clue:
        raise ValueError(f"the text holds the gendered word {clue.group()!r}")
    return text, found.group()


def write_texts(endpoint: Any, language: str, wanted: Sequence[Request], tries: int = TRIES,
                progress: bool | None = None) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]], int]:
    """Ask for texts, again with the reason where a reply cannot be used or gives a text that is there already, up to `tries` times.

    Returns
    -------
    rows, refused, unusable
        Rows of `COLUMNS`, rows of `REFUSED` (the last reason and reply), and how many replies could not be used.
    """
    rows, refused, unusable, seen = [], [], 0, {}
    with progress_bar(f"texts {language}", len(wanted), 0, progress) as bar:
        for first in range(0, len(wanted), BATCH):
            batch = list(wanted[first:first + BATCH])
            asked = {request: prompt(request, language) for request in batch}
            pending = dict(asked)
            for turn in range(1, tries + 1):
                failed = {}
                for request, reply in zip(pending, endpoint.ask(list(pending.values())), strict=True):
                    try:
                        text, occupation = parse_text(reply, language, request.gender)
                        if seen.setdefault(text, request) != request:
                            raise ValueError("another text is the same")
                    except ValueError as error:
                        failed[request] = (str(error), reply)
                    else:
                        rows.append((*request[:4], occupation, text))
                unusable += len(failed)
                pending = {request: f"{asked[request]}\n\nReply {turn} could not be used: {reason}. Write another."
                           for request, (reason, _) in failed.items()}
                if not pending:
                    break
            refused += [(language, request.segment_id, str(tries), one_cell(reason), one_cell(reply))
                        for request, (reason, reply) in failed.items()]
            if bar is not None:
                bar.update(len(batch))
    return sorted(rows), sorted(refused), unusable


def one_cell(text: str) -> str:
    """Return the beginning of a text as a TSV cell."""
    return "".join(c for c in " ".join(text.split()) if unicodedata.category(c) not in ("Cc", "Cs"))[:SHOWN]


def generate_language(language: str, out_dir: Path | str, *, text_types: Sequence[str] = TEXT_TYPES[:3], genders: Sequence[str] = (),
                      codes: Sequence[str] = (), count: int = 1, limit: int | None = None, tries: int = TRIES,
                      progress: bool | None = None, endpoint: Any = None) -> Made:
    """Have texts of one language written: its files in `out_dir` (see the module) and its line in `card.yaml`.

    Parameters
    ----------
    language : str
    out_dir : Path or str
    text_types, genders, codes, count, limit
        As in `requests`; no genders means `default_genders`.
    tries : int
        Replies to each request before its text is given up: listed in `refused.tsv`, never filled in. More than last time goes on
        from there.
    progress : bool or None
        Show rate and time left on stderr; None means only on a terminal.
    endpoint : optional
        Has `model`, `settings`, `packages` and `ask(prompts)`; default `Endpoint()`.

    Returns
    -------
    Made

    Raises
    ------
    InputError
        Bad parameters; no endpoint, no answer; a card of other languages that another model or prompt wrote.
    """
    if language not in LANGUAGES:
        raise InputError(f"unknown language {language!r}", hint=f"known: {', '.join(LANGUAGES)}")
    if tries < 1:
        raise InputError(f"{tries} tries", hint="Give a number from 1")
    genders = tuple(genders) or default_genders(language)
    wanted = requests(codes, text_types, genders, count, limit)
    endpoint, out = endpoint or Endpoint(), Path(out_dir)
    card = generator_card(endpoint)
    check_card(out / "card.yaml", card, language)
    rows, refused, unusable = write_texts(endpoint, language, wanted, tries, progress)
    _write(out / f"{language}.tsv", COLUMNS, rows)
    if language == "en":
        kept = [tuple(cell for column, cell in zip(COLUMNS, row) if column != "gender") for row in rows if row[3] == GENDERS[2]]
        _write(out / "benchmark" / "en.tsv", BENCHMARK, kept, unless_empty=True)
    listed = out / "refused.tsv"
    _write(listed, REFUSED, sorted([*(row for row in _read_refused(listed) if row[0] != language), *refused]), unless_empty=True)
    parts = {"language": [language], "text-type": text_types, "gender": genders, "isco": codes}
    flags = [f"--{name} {' '.join(map(shlex.quote, values))}" for name, values in parts.items() if values]
    flags += [f"--{name} {value}" for name, value in (("count", count), ("tries", tries), ("limit", limit)) if value is not None]
    update_card(out / "card.yaml", card, language, {
        "command": f"python -m mtgender generate {' '.join(flags)}", "text_types": list(text_types), "genders": list(genders),
        "unit_groups": len({request.isco for request in wanted}), "count": count, "asked": len(wanted), "texts": len(rows),
        "refused_texts": len(refused), "unusable_replies": unusable})
    return Made(out / f"{language}.tsv", len(rows), len(refused), listed)


def _write(path: Path, header: Sequence[str], rows: Sequence[tuple[str, ...]], unless_empty: bool = False) -> None:
    """Write a TSV; without rows, and `unless_empty`, there is no file."""
    if unless_empty and not rows:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, "".join("\t".join(row) + "\n" for row in (header, *rows)))


def _read_refused(path: Path) -> list[tuple[str, ...]]:
    return [tuple(line.split("\t")) for line in path.read_text(encoding="utf-8").split("\n")[1:-1]] if path.is_file() else []


def generator_card(endpoint: Any) -> dict[str, Any]:
    """Return the part of `card.yaml` that is the same for every language."""
    return {"kind": "generator", "model": endpoint.model, "packages": endpoint.packages, "licence": "the model's own",
            "prompts": list(PROMPT_FILES), "prompt_sha256": prompts_sha256(), **endpoint.settings,
            "description": f"Texts written by {endpoint.model}, unread by people. `unusable_replies` counts replies that were not the text "
                           "asked for; `refused_texts` those texts that no reply gave (refused.tsv)."}


def check_card(path: Path, card: dict[str, Any], language: str) -> None:
    """Refuse to put texts beside those of other languages that another model, prompt or setting wrote."""
    old = read_card(path)
    others = [code for code in old.get("languages", {}) if code != language]
    changed = [key for key in card if key not in ("description", "packages") and old.get(key) != card[key]]
    if others and changed:
        raise InputError(f"{', '.join(others)} were written with another {changed[0]} ({old.get(changed[0])}, now {card[changed[0]]})",
                         path=path, hint="Give another folder with --out")


def update_card(path: Path, card: dict[str, Any], language: str, entry: dict[str, Any]) -> None:
    """Write `card.yaml` with what was asked for and came in one language, beside the others."""
    languages = dict(sorted({**read_card(path).get("languages", {}), language: entry}.items()))
    write_atomically(path, yaml.safe_dump({**card, "languages": languages}, sort_keys=False, allow_unicode=True, width=120))
