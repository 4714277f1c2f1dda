"""What *makes* scores, error spans and translations: their runs, and the test of what an evaluator is.

Extras: the analysis never imports this package. Callers hand over frames of pairs; of the project's data only word lists of occupations
are read here (lexicon detector, calibration of the llm detector).
A producer is a class whose constructor takes the language; the registries `EVALUATORS`, `ANNOTATORS` and `TRANSLATORS` name them.
Packages that a producer needs are imported when it is constructed, so that importing this package is free.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from mtgender.producers.annotators import ANNOTATORS
from mtgender.producers.evaluators import EVALUATORS
from mtgender.producers.run import Run, annotate_language, input_sha256, score_language
from mtgender.producers.translators import TRANSLATORS, translate_language
from mtgender.producers.validity import accept, validate_language, wilson

__all__ = ["ANNOTATORS", "EVALUATORS", "TRANSLATORS", "Annotator", "Evaluator", "Run", "accept", "annotate_language", "input_sha256",
           "score_language", "translate_language", "validate_language", "wilson"]


class Evaluator(Protocol):
    """Scores translations; the score of a text does not depend on the texts beside it.

    All are deterministic but `llm-judge` (a server may answer otherwise, and above temperature 0 each repeat does) and `e5-dropout`, whose
    words are left out at random, the same ones in the same repeat.

    Attributes
    ----------
    card : dict
        What `card.yaml` says about the evaluator (keys: `card.evaluator_card`), the same for every language.
    batch : int
        Pairs handed over at a time, so the most that an interruption loses.
    """

    card: dict[str, Any]
    batch: int

    def score(self, sources: Sequence[str], translations: Sequence[str], references: Sequence[str] | None = None) -> np.ndarray:
        """Return one float per translation, shape (n,); the card's `higher_is_better` gives the direction."""
        ...


class Annotator(Protocol):
    """Marks error spans in translations; attributes as in `Evaluator`."""

    card: dict[str, Any]
    batch: int

    def annotate(self, sources: Sequence[str], translations: Sequence[str], language: str) -> list[dict[str, Any]]:
        """Return per translation {"errors": [{"start", "end", "severity", "category"}], "omission", "instruction_fault"}.

        Offsets count code points of the translation, half-open; the two flags are bool.
        """
        ...
