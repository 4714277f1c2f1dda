"""Translations by a small base model that goes on from examples, and the check of whether they may be used (`quality`, of any system)."""
from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import pandas as pd

from mtgender.producers.judge import PROMPTS
from mtgender.producers.language_models import GemmaForward
from mtgender.producers.translators import translator_card
from mtgender.study import LANGUAGES, InputError

EXAMPLES = PROMPTS / "few_shot.txt"
AT_LEAST = {"in_language": 0.95, "length": 0.95, "no_loop": 0.95, "nearest": 0.90}     # set before any result was seen
RULE = ("A language passes if at least 95 % of the translations are in it (lingua, among the project's ten languages), 95 % have half to "
        "twice the characters of their source, 95 % hold no group of four words three times, and 90 % are nearest to their own source of "
        "about 100 (cosine of multilingual-e5-small). `occupation_found` (lexicon detector) is no part of the rule.")


def examples(language: str) -> str:
    """The examples of the prompt: English lines, each with its translation below it and an empty line behind."""
    blocks = [dict(line.split(": ", 1) for line in block.splitlines()) for block in EXAMPLES.read_text(encoding="utf-8").split("\n\n")]
    known = {code: name for code, name in LANGUAGES.items() if name in blocks[0] and code != "en"}
    if language not in known:
        raise InputError(f"there are no examples of translations into {language!r}", hint=f"It has {', '.join(known)}")
    return "".join(f"English: {block['English']}\n{known[language]}: {block[known[language]]}\n\n" for block in blocks)


def quality(language: str, frame: pd.DataFrame) -> dict[str, Any]:
    """Check translations against `RULE`.

    Parameters
    ----------
    language : str
    frame : DataFrame
        String columns source and text (its translation), one row per text; with isco and term, the lexicon detector is asked too.

    Returns
    -------
    dict
        Number of texts, the shares of `AT_LEAST` (and `occupation_found`), and `passed`. Of n texts, every (n // 100)-th makes one of the
        groups in which the nearest source is sought.
    """
    from mtgender.producers.detectors import DETECTORS
    from mtgender.producers.evaluators import LinguaConfidence
    from mtgender.producers.llm_detector import embedder
    sources, texts, lingua, step = list(frame["source"]), list(frame["text"]), LinguaConfidence(language), max(1, len(frame) // 100)
    english, translated, best = embedder()(sources), embedder()(texts), np.empty(len(texts))
    for k in range(step):
        best[k::step] = (translated[k::step] @ english[k::step].T).max(axis=1)
    four = [Counter(zip(*(text.lower().split()[k:] for k in range(4)))) for text in texts]
    made = {"in_language": [lingua.detector.detect_language_of(text) == lingua.language for text in texts],
            "length": [0.5 <= len(text) / len(source) <= 2 for source, text in zip(sources, texts, strict=True)],
            "no_loop": [max(groups.values(), default=0) < 3 for groups in four],
            "nearest": (english * translated).sum(axis=1) >= best - 1e-9}
    if {"isco", "term"} <= set(frame):
        found = DETECTORS["lexicon"](language).detect(sources, list(frame["term"]), list(frame["isco"]), texts)
        made["occupation_found"] = [bool(label["term"]) for label in found]
    shares = {name: float(np.mean(values)) for name, values in made.items()}
    passed = all(shares[name] >= least for name, least in AT_LEAST.items())
    return {"texts": len(texts), **{name: round(share, 4) for name, share in shares.items()}, "passed": passed}


class FewShot:
    """Gemma 3 270M (a base model) behind five examples, greedy; terms and weights as for `GemmaForward`."""

    batch, counted, quality = 20, ("unfinished",), staticmethod(quality)

    def __init__(self, language: str) -> None:
        self.beginning, self.language, self.counts, forward = examples(language), LANGUAGES[language], [], GemmaForward(language)
        self.model = forward.model
        self.card = translator_card(
            "gemma3-fewshot", "Gemma 3 270M, few-shot", forward.card["version"], forward.card["packages"], forward.card["licence"],
            ["de", "es", "fr"], "Greedy continuation, by Gemma 3 270M (base model), of five examples about things, not persons (prompt "
            "template few_shot.txt), up to the line end. `unfinished` counts texts cut off at their limit: half as many tokens as the "
            "source has characters.", prompt_sha256=sha256(EXAMPLES.read_bytes()).hexdigest(), quality_rule=RULE)

    def translate(self, sources: Sequence[str]) -> list[str]:
        """Return the line that the model writes for each source; `counts` tells which were cut off."""
        broken = next((source for source in sources if len(source.splitlines()) > 1), None)
        if broken is not None:
            raise InputError(f"a text holds a line end, which the examples do not know: {broken[:60]!r}")
        made = self.model.continuations(self.beginning, [(f"English: {source}\n{self.language}:", len(source) // 2) for source in sources])
        self.counts = [(int(not finished),) for _, finished in made]
        return [text for text, _ in made]
