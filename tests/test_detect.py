"""From a system's translations to counts: reading, labels, the detect command, a user's own system."""

import json
import shutil

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini import build

from mtgender import cli, data, inference, study
from mtgender.producers import detect
from mtgender.producers.detectors import DETECTORS
from mtgender.study import ROOT, InputError

SOURCE = pd.DataFrame({"segment_id": ["a", "b", "c"], "isco": ["2211", "2211", "7126"], "text_type": ["statement", "report", "statement"],
                       "term": ["doctor", "doctor", "plumber"], "source": ["The doctor left.", "The doctor slept.", "The plumber left."]})
TEXTS = pd.DataFrame({"segment_id": ["a", "b", "c"], "text": ["Die Ärztin ging.", "Der Arzt schlief.", "The plumber left."]})
LABELS = ["a\tÄrztin\t4\t10\t2211\tfeminine\tx", "b\tArzt\t4\t8\t\tmasculine\tx", "c\t\t0\t0\t\texcluded\tx"]


def write(path, lines, header="segment_id\tterm\tstart\tend\tisco\tgender\tdetector"):
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


def test_translations_as_table_or_as_lines(tmp_path):
    table = write(tmp_path / "de.tsv", ["b\tDer Arzt schlief.", "a\tDie Ärztin ging.", "c\t"], "segment_id\ttext")
    lines = tmp_path / "de.txt"
    lines.write_text("Die Ärztin ging.\nDer Arzt schlief.\n\n", encoding="utf-8")
    for path in (table, lines):
        frame = data.read_translations(path, SOURCE)
        assert frame["segment_id"].tolist() == ["a", "b", "c"] and frame["text"].tolist() == ["Die Ärztin ging.", "Der Arzt schlief.", ""]


@pytest.mark.parametrize(("name", "content", "said"), [
    ("de.txt", "eins\nzwei\n", "2 lines for 3 English texts"),
    ("de.txt", "eins\nzwei\ndrei\nvier\n", "line 4"),
    ("de.tsv", "segment_id\ttext\na\tx\na\ty\nb\tz\nc\tz\n", "occurs twice"),
    ("de.tsv", "segment_id\ttext\na\tx\nd\ty\n", "not in the study's English texts"),
    ("de.tsv", "segment_id\ttext\na\tx\n", "2 of 3 segments are missing: b, c"),
    ("de.tsv", "id\ttext\na\tx\n", "header"),
    ("de.tsv", "segment_id\ttext\na\tx\ty\n", "3 cells, expected 2"),
    ("fr.tsv", None, "no such file"),
])
def test_bad_translations_are_refused_with_their_place(tmp_path, name, content, said):
    path = tmp_path / name
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        data.read_translations(path, SOURCE)
    assert said in str(caught.value) and name in str(caught.value)


def test_labels_are_read_beside_their_texts(tmp_path):
    frame = data.read_genders(write(tmp_path / "de.tsv", LABELS), TEXTS)
    assert frame["gender"].tolist() == ["feminine", "masculine", "excluded"] and frame["found_isco"].tolist() == ["2211", "", ""]
    assert frame["start"].tolist() == [4, 4, 0]


@pytest.mark.parametrize(("line", "said"), [
    ("a\tÄrztin\t5\t11\t\tfeminine\tx", "'Ärztin' does not stand at 5–11"),
    ("a\tÄrztin\t4\t10\t\tf\tx", "gender 'f'"),
    ("a\tÄrztin\t4\t-1\t\tfeminine\tx", "expected whole numbers"),
    ("a\t\t0\t0\t\tfeminine\tx", "feminine without a term"),
])
def test_labels_of_other_texts_are_refused(tmp_path, line, said):
    with pytest.raises(InputError) as caught:
        data.read_genders(write(tmp_path / "de.tsv", [line, *LABELS[1:]]), TEXTS)
    assert said in str(caught.value) and "line 2, segment a" in str(caught.value) and "mtgender detect" in str(caught.value)


@given(st.lists(st.tuples(st.sampled_from(["2211", "7126", "0110"]), st.sampled_from(data.GENDERS)), min_size=1, max_size=40))
def test_counts_hold_every_text_once(rows):
    genders = pd.DataFrame(rows, columns=["isco", "gender"]).assign(system="S", language="de")
    counts = data.count_genders(genders, "own")
    assert counts[data.GENDERS].to_numpy().sum() == len(rows) and counts["isco"].is_monotonic_increasing and counts["isco"].is_unique
    for code, gender in set(rows):
        assert counts.loc[counts["isco"] == code, gender].item() == rows.count((code, gender))


class Fixed:
    """A detector that says what it was told."""

    batch = 2
    card = {"name": "fixed", "label": "Fixed", "kind": "detector", "version": "1", "packages": {}, "licence": "MIT"}
    labels = {"Die Ärztin ging.": ("Ärztin", "feminine"),
              "Der Arzt schlief.": ("Arzt", "masculine"), "The plumber left.": ("plumber", "masculine")}

    def __init__(self, language, wrong=0, fuzzy=None, model="tiny"):
        self.language, self.wrong, self.card = language, wrong, {**self.card, "model": model, **({"fuzzy": fuzzy} if fuzzy else {})}

    def detect(self, sources, terms, isco, translations):
        found = [(text, *self.labels[text]) for text in translations]
        return [{"term": term, "start": text.index(term) + self.wrong, "end": text.index(term) + len(term) + self.wrong, "gender": gender}
                for text, term, gender in found]


def test_labels_are_written_and_read_again(tmp_path, monkeypatch):
    """What is the source unchanged is excluded; done work is known by the texts' hash and the detector's name."""
    monkeypatch.setitem(DETECTORS, "fixed", Fixed)
    frame, path = SOURCE.merge(TEXTS, on="segment_id"), tmp_path / "mt" / "de.tsv"
    assert not detect.up_to_date(path, frame, "fixed")
    assert detect.detect_language("fixed", path, frame).n == 3
    assert data.read_genders(path, TEXTS)["gender"].tolist() == ["feminine", "masculine", "excluded"]
    assert detect.up_to_date(path, frame, "fixed") and not detect.up_to_date(path, frame, "lexicon")
    assert not detect.up_to_date(path, frame.assign(text=frame["text"] + " "), "fixed")
    assert not list(tmp_path.rglob("*.part"))
    with pytest.raises(InputError, match="does not stand there"):
        detect.detect_language("fixed", tmp_path / "other" / "de.tsv", frame, options={"wrong": 1})
    assert not (tmp_path / "other" / "de.tsv").exists()


def test_labels_made_with_other_options_are_made_again(tmp_path, monkeypatch):
    """A new threshold makes every language of the folder out of date, not only the first that is made again."""
    monkeypatch.setitem(DETECTORS, "fixed", Fixed)
    frame, paths = SOURCE.merge(TEXTS, on="segment_id"), [tmp_path / "mt" / f"{code}.tsv" for code in ("cs", "de")]

    def up_to_date(**options):
        return [detect.up_to_date(path, frame, "fixed", options) for path in paths]

    for path in paths:
        detect.detect_language("fixed", path, frame, options={"fuzzy": 90.0})
    assert up_to_date() == up_to_date(fuzzy=90) == up_to_date(fuzzy=90.0, model="tiny", wrong=1) == [True, True]
    assert up_to_date(fuzzy=85) == up_to_date(model="other") == up_to_date(similarity=0.8) == [False, False]
    detect.detect_language("fixed", paths[0], frame, options={"fuzzy": 85.0})
    assert up_to_date(fuzzy=85) == [True, False] and up_to_date(fuzzy=90) == [False, False]
    detect.detect_language("fixed", paths[1], frame, options={"fuzzy": 85.0})
    assert up_to_date(fuzzy=85) == [True, True]
    monkeypatch.setitem(DETECTORS, "other", Fixed)
    monkeypatch.setitem(Fixed.card, "name", "other")
    detect.detect_language("other", paths[0], frame)
    assert [detect.up_to_date(path, frame, "other") for path in paths] == [True, False]


def own_study(folder, name="mine"):
    """The mini study with 'translations' made of OccuPairs' own variants: every text in the masculine but the nursing professionals."""
    pairs = data.read_pairs(ROOT / "data" / "occupairs", "de", data.read_source(ROOT / "data" / "occupairs"))
    path = build(folder, name, add_translations={"my-mt": {"path": "my-mt", "languages": ["de"], "label": "My MT"}})
    texts = data.read_source(folder / "occupairs").merge(pairs[["segment_id", "masculine", "feminine"]], on="segment_id")
    lines = texts["feminine"].where(texts["isco"] == "2221", texts["masculine"])
    (folder / "my-mt").mkdir()
    (folder / "my-mt" / "de.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_own_system_from_lines_to_its_row_in_table_3(tmp_path, capsys):
    path = own_study(tmp_path)
    chosen = study.load(path)
    assert chosen.runs("translations") == [("my-mt", "de")] and ("occupairs", "My MT", "de") in data.counted_runs(chosen)
    try:
        assert cli.main(["detect", "--study", str(path), "--pending"]) == 0 and "my-mt (de)" in capsys.readouterr().out
        assert cli.main(["detect", "--study", str(path)]) == 0
        assert cli.main(["detect", "--study", str(path), "--pending"]) == 0 and not capsys.readouterr().out.replace(
            "results/mine/genders/my-mt/de.tsv: 36 texts\n", "")
        data.prepare(chosen)
        result = inference.infer(chosen)["system_runs"].set_index("system").loc["My MT"]
        assert result[["n_masculine", "n_feminine"]].sum() + result["n_not_clear"] + result["n_excluded"] == 36
        assert result["n_masculine"] >= 30 and result["n_feminine"] >= 2 and result["source"] == "occupairs"
    finally:
        shutil.rmtree(chosen.results, ignore_errors=True)


def test_bad_translations_refuse_their_run_only(tmp_path, capsys):
    path = own_study(tmp_path, "mine-too")
    lines = (tmp_path / "my-mt" / "de.txt").read_text(encoding="utf-8").splitlines()
    (tmp_path / "my-mt" / "de.txt").write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")
    chosen = study.load(path)
    try:
        assert cli.main(["detect", "--study", str(path)]) == 2 and "35 lines for 36 English texts" in capsys.readouterr().err
        runs = data.prepare(chosen).set_index("system")
        assert runs.loc["my-mt", "status"] == "refused" and "35 lines" in runs.loc["my-mt", "problem"]
        assert runs.loc["e5-cosine", "status"] == "ok"
        assert "My MT" not in set(inference.infer(chosen)["system_runs"]["system"])
    finally:
        shutil.rmtree(chosen.results, ignore_errors=True)


def test_committed_genders_are_the_detectors(tmp_path):
    """The labels of the default study come out again (Spanish: the detector needs no package)."""
    chosen = study.load("occupairs")
    committed = chosen.genders("apertium", "es")
    source = data.read_source(chosen.pairs)
    frame = source.merge(data.read_translations(chosen.translations["apertium"].file("es"), source), on="segment_id")
    made = detect.detect_language("lexicon", tmp_path / "es.tsv", frame).path
    assert made.read_text(encoding="utf-8") == committed.read_text(encoding="utf-8")


@pytest.mark.parametrize(("text", "said"), [
    ({"translations": {"a": {"path": "x", "label": "L"}, "b": {"path": "y", "label": "L"}}}, "two translation systems have one label"),
    ({"detector": {"fuzzy": 90}}, "expected the name of a detector"),
    ({"detector": {"name": "llm", "fuzy": 90}}, "unknown key 'fuzy'"),
    ({"pairs_format": "gambit", "translations": {"a": {"path": "x"}}}, "own format"),
])
def test_bad_study_keys(tmp_path, text, said):
    path = tmp_path / "s.yaml"
    path.write_text(json.dumps({"pairs": "p", "languages": ["de"], **text}), encoding="utf-8")
    with pytest.raises(InputError, match=said):
        study.load(path)
