"""A large language model as judge, behind any OpenAI-compatible endpoint: scores from 0 to 100, and error spans.

The endpoint comes from the environment: MTGENDER_LLM_BASE_URL, MTGENDER_LLM_MODEL, MTGENDER_LLM_API_KEY (the key is never written
anywhere). Replies are kept in a folder, keyed by model, settings and prompt, so that nothing is asked twice.
"""
from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from mtgender.data import replace
from mtgender.producers.card import annotator_card, evaluator_card
from mtgender.study import LANGUAGES, ROOT, InputError

PROMPTS = Path(__file__).with_name("prompts")
CACHE = ROOT / "results" / "llm-replies"
NUMBER = re.compile(r"[0-9]{1,3}(?:\.[0-9]+)?")
SEVERITIES = ("minor", "major", "critical")
RETRIES, CONCURRENT = 5, 4
SCORE_TOKENS, SPANS_TOKENS = 16, 1024
GOES_ON = "What was answered is kept; the same command goes on"


def parse_score(reply: str) -> float:
    """Return the number of a reply that is one number from 0 to 100 and nothing else; NaN for any other reply.

    Examples
    --------
    >>> parse_score(" 85\\n"), parse_score("85/100"), parse_score("8,5"), parse_score("150"), parse_score("Score: 85")
    (85.0, nan, nan, nan, nan)
    """
    text = reply.strip()
    value = float(text) if NUMBER.fullmatch(text) else math.nan
    return value if value <= 100 else math.nan


def parse_spans(reply: str, translation: str) -> dict[str, Any] | None:
    """Return the annotation of a reply that is the JSON object asked for and quotes the translation word for word; else None."""
    text = reply.strip().removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    try:
        answer = json.loads(text)
    except ValueError:
        return None
    if not isinstance(answer, dict) or not isinstance(answer.get("errors"), list) or not isinstance(answer.get("omission", False), bool):
        return None
    found, taken = [], 0
    for error in answer["errors"]:
        span = error.get("span") if isinstance(error, dict) else None
        if not isinstance(span, str) or not span.strip() or error.get("severity") not in SEVERITIES:
            return None
        span = span.strip()
        start = translation.find(span, taken)
        start = translation.find(span) if start < 0 else start
        if start < 0:
            return None
        taken = start + len(span)
        found.append({"start": start, "end": taken, "severity": error["severity"], "category": str(error.get("category", ""))})
    return {"errors": sorted(found, key=lambda e: e["start"]), "omission": answer.get("omission", False), "instruction_fault": False}


class Endpoint:
    """An OpenAI-compatible server and the replies it already gave.

    Parameters
    ----------
    settings : dict
        What each call says beside model and messages: temperature, max_tokens …
    model : str, optional
        In place of MTGENDER_LLM_MODEL.
    """

    def __init__(self, settings: dict[str, Any], model: str = "") -> None:
        import openai

        needed = ["MTGENDER_LLM_BASE_URL"] + ["MTGENDER_LLM_MODEL"] * (not model)
        missing = [name for name in needed if not os.environ.get(name)]
        if missing:
            raise InputError(f"the environment variable {missing[0]} is not set",
                             hint="MTGENDER_LLM_BASE_URL and MTGENDER_LLM_MODEL name server and model; MTGENDER_LLM_API_KEY is the key")
        self.openai, self.model = openai, model or os.environ["MTGENDER_LLM_MODEL"]
        self.client = openai.OpenAI(base_url=os.environ["MTGENDER_LLM_BASE_URL"], api_key=os.environ.get("MTGENDER_LLM_API_KEY", "none"),
                                    max_retries=RETRIES, timeout=120)
        self.settings, self.cache = settings, CACHE

    def ask(self, prompts: Sequence[str | list[dict[str, str]]]) -> list[str]:
        """Return the reply to each prompt, a text or the messages of a conversation.

        A few are asked at a time, refused calls are tried again with growing waits.
        """
        with ThreadPoolExecutor(CONCURRENT) as pool:
            return list(pool.map(self._one, prompts))

    def _one(self, prompt: str | list[dict[str, str]]) -> str:
        key = hashlib.sha256(json.dumps([self.model, self.settings, prompt]).encode()).hexdigest()
        path = self.cache / key[:2] / f"{key}.json"
        if path.is_file():
            return json.loads(path.read_text(encoding="utf-8"))["reply"]
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        try:
            answer = self.client.chat.completions.create(model=self.model, messages=messages, **self.settings)
        except self.openai.OpenAIError as error:
            raise InputError(f"the language model gives no answer ({type(error).__name__}: {str(error)[:200]})",
                             hint=GOES_ON) from None
        message = getattr((getattr(answer, "choices", None) or [None])[0], "message", None)
        if message is None:
            error = getattr(answer, "error", None) or "it says nothing more"
            raise InputError(f"the language model gives no answer (a reply without a message: {str(error)[:200]})", hint=GOES_ON)
        reply = (message.content or "").encode("utf-8", "replace").decode()    # half a surrogate cannot be written
        text = json.dumps({"model": self.model, "prompt": prompt, "reply": reply}, ensure_ascii=False)
        replace(path, lambda p: p.write_text(text, encoding="utf-8"))
        return reply


def prompt(name: str, **values: str) -> str:
    """Return a prompt template filled in."""
    return (PROMPTS / f"{name}.txt").read_text(encoding="utf-8").strip().format(**values)


class LLMJudge:
    """Direct assessment from 0 to 100. A reply that is not one number is no score.

    Parameters
    ----------
    language : str
    name : str, optional
        Name of the folder of scores; "llm-judge" if not given.
    references : bool
        Show a reference too.
    temperature : float
        Above 0 the judge is stochastic; then each `repeat` (1, 2, …) is a run of its own, with that number as the server's seed.
    repeat : int
    """

    batch = 16
    may_miss = True

    def __init__(self, language: str, name: str = "", references: bool = False, temperature: float = 0, repeat: int = 0) -> None:
        if (temperature > 0) != (repeat > 0):
            raise InputError("repeats go with a temperature above 0, and it with them", hint="Give both: --temperature 1 --repeat 1")
        settings = {"temperature": temperature or 0, "max_tokens": SCORE_TOKENS} | ({"seed": repeat} if repeat else {})
        self.endpoint, self.language, self.with_references = Endpoint(settings), LANGUAGES[language], references
        template = "direct_assessment_reference" if references else "direct_assessment"
        self.template, name = template, name or "llm-judge"
        self.card = evaluator_card(
            name, name, f"{self.endpoint.model}, prompt {template}", ["openai"], "the model's own", True, "0 to 100", "multilingual",
            f"Direct assessment by {self.endpoint.model} (prompt template {template}.txt, temperature {temperature:g}).",
            model=self.endpoint.model, prompt_sha256=hashlib.sha256((PROMPTS / f"{template}.txt").read_bytes()).hexdigest(),
            **self.endpoint.settings)
        self.card["references"] = references
        if repeat:
            self.card["repeat"] = repeat

    def score(self, sources: Sequence[str], translations: Sequence[str], references: Sequence[str] | None = None) -> np.ndarray:
        """Return the number for each translation, shape (n,); NaN where the reply was not one."""
        if self.with_references and references is None:
            raise InputError("this run compares with a reference", hint="Give one with --references")
        prompts = [prompt(self.template, language=self.language, source=s, translation=t, reference=r)
                   for s, t, r in zip(sources, translations, references or [""] * len(sources))]
        return np.array([parse_score(reply) for reply in self.endpoint.ask(prompts)])


class LLMSpans:
    """Error spans that a language model marks. A reply that is not the object asked for is no annotation, never an error-free text."""

    batch = 16
    may_miss = True

    def __init__(self, language: str, name: str = "") -> None:
        self.endpoint, self.language = Endpoint({"temperature": 0, "max_tokens": SPANS_TOKENS}), LANGUAGES[language]
        name = name or "llm-spans"
        self.card = annotator_card(
            name, name, f"{self.endpoint.model}, prompt error_spans", ["openai"], "the model's own", ["multilingual"],
            f"Error spans and omission by {self.endpoint.model} (prompt template error_spans.txt, temperature 0).",
            model=self.endpoint.model, prompt_sha256=hashlib.sha256((PROMPTS / "error_spans.txt").read_bytes()).hexdigest(),
            **self.endpoint.settings)
        self.card["reads_source"] = True

    def annotate(self, sources: Sequence[str], translations: Sequence[str], language: str) -> list[dict[str, Any]]:
        """Return one annotation per translation; `errors` is None where the reply could not be read."""
        replies = self.endpoint.ask([prompt("error_spans", language=self.language, source=s, translation=t)
                                     for s, t in zip(sources, translations)])
        return [parse_spans(reply, text) or {"errors": None, "omission": False, "instruction_fault": False}
                for reply, text in zip(replies, translations)]
