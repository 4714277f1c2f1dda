"""The command line: exit statuses, one line for bad input, export, check, notebook parameters."""

import hashlib
import json
import shutil
import subprocess
import sys

import pytest
from conftest import random_scores, write, write_scores

from mtgender import cli, data, formats, producers, study
from mtgender.producers import evaluators
from mtgender.producers.card import evaluator_card
from mtgender.study import InputError


@pytest.fixture
def call(capsys):
    def run(*arguments):
        capsys.readouterr()
        status = cli.main([str(a) for a in arguments])
        shown = capsys.readouterr()
        assert "Traceback" not in shown.out + shown.err
        return status, shown.out, shown.err
    return run


def test_prepare_and_infer(call, mini_study):
    assert call("prepare", mini_study) == (0, "3 of 3 runs read\n", "")
    assert call("infer", mini_study)[0] == 0
    assert (study.load(mini_study).inference / "score_runs.parquet").is_file() and call("report", mini_study) == (0, "", "")


def test_a_refused_run_is_one_line_and_the_report_fails(call, mini_study, repository):
    write_scores(repository / "scores" / "noise" / "de.tsv", random_scores(1) | {"new": (1, 2)})
    status, out, err = call("prepare", mini_study)
    assert (status, out) == (0, "2 of 3 runs read\n") and err.count("\n") == 1
    assert err.startswith("refused: scores/noise/de.tsv, line 38, segment new: ")
    status, out, _ = call("report", mini_study)
    assert status == 1 and out.startswith("refused   scores/noise/de.tsv, line 38")


@pytest.mark.parametrize("arguments, problem", [
    (["prepare", "nowhere.yaml"], "nowhere.yaml: no such study file. Studies lie in studies/*.yaml"),
    (["export", "studies/mini.yaml", "--language", "ru"], "studies/mini.yaml: language 'ru' is not in the study. It has de"),
    (["score", "nothing", "--study", "studies/mini.yaml"], "unknown evaluator 'nothing'"),
    (["infer", "studies/bad.yaml"], "studies/bad.yaml, line 2: unknown key 'replicate'. Did you mean 'replicates'?")])
def test_bad_input_is_one_line_and_status_2(call, mini_study, repository, arguments, problem):
    write(repository / "studies" / "bad.yaml", "pairs: x", "replicate: 3")
    status, out, err = call(*arguments)
    assert status == 2 and out == "" and err.startswith(f"mtgender: {problem}") and err.count("\n") == 1


def test_bad_pairs_are_one_line_too(call, mini_study, repository):
    write(repository / "data" / "mini" / "en.tsv", "broken")
    for arguments in (["prepare", mini_study], ["export", mini_study]):
        status, _, err = call(*arguments)
        assert status == 2 and err.startswith("mtgender: data/mini/en.tsv, line 1: header is 'broken'")


def test_infer_before_prepare_is_one_line(call, mini_study):
    status, _, err = call("infer", mini_study)
    assert status and err.startswith("mtgender: ") and err.count("\n") == 1


def test_unknown_commands_exit_2(capsys):
    for arguments in (["prepair"], [], ["export", "--format", "wmt24"]):
        with pytest.raises(SystemExit) as caught:
            cli.main(arguments)
        assert caught.value.code == 2
    capsys.readouterr()


def test_as_a_command():
    done = subprocess.run([sys.executable, "-m", "mtgender", "prepare", "nowhere.yaml"], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith("mtgender: nowhere.yaml: no such study file") and done.stderr.count("\n") == 1
    assert subprocess.run([sys.executable, "-m", "mtgender", "--help"], capture_output=True).returncode == 0


def test_export_writes_both_formats(call, mini_study, tmp_path):
    status, out, _ = call("export", mini_study, "--out", tmp_path / "out")
    assert status == 0 and "36 pairs" in out
    lines = data.read_lines(tmp_path / "out" / "mini.en-de.tsv")
    assert len(lines) == 73 and {line.count("\t") for line in lines} == {10} and lines[0].startswith("doc_id\tsegment_id")
    assert call("export", mini_study, "--format", "wmt26", "--language", "de", "--out", tmp_path / "out")[0] == 0
    records = [json.loads(x) for x in data.read_lines(tmp_path / "out" / "mini.en-de.jsonl")]
    assert len(records) == 36 and not list((tmp_path / "out").glob(".*"))


# check

def test_check_names_each_difference(call, mini_study, repository):
    made = study.load(mini_study).tables
    for name, old, new in (("same", "1,x", "1.00000000000001,x"), ("moved", "1,x", "1.1,x"), ("text", "1,x", "1,y")):
        write(repository / "tables" / f"{name}.csv", "a,b", old)
        write(made / f"{name}.csv", "a,b", new)
    assert call("check", mini_study)[:2] == (1, "differs   moved.csv: a, row 1 ('1' became '1.1')\nsame      same.csv\n"
                                                "differs   text.csv: b, row 1 ('x' became 'y')\n1 of 3 tables are the same\n")
    write(repository / "tables" / "gone.csv", "a")
    write(made / "new.csv", "a")
    out = call("check", mini_study)[1]
    assert "differs   gone.csv is not made any more\n" in out and "differs   new.csv is not committed\n" in out


def test_check_passes_only_on_tables_that_exist(call, mini_study, repository):
    assert call("check", mini_study)[0] == 1
    for folder in (repository / "tables", study.load(mini_study).tables):
        write(folder / "t.csv", "a,b", "1,x")
    assert call("check", mini_study) == (0, "same      t.csv\n1 of 1 tables are the same\n", "")


def test_check_refuses_to_compare_the_committed_tables_with_themselves(call, mini_study, repository):
    write(mini_study, mini_study.read_text(), "publish: true")
    write(repository / "tables" / "t.csv", "a,b", "1,x")
    assert call("check", mini_study)[0] == 2


# notebooks (CASES 27, 28)

def notebook(path, *cells):
    return write(path, json.dumps({"cells": [{"cell_type": kind, "metadata": {"tags": tags}, "source": source.splitlines(keepends=True)}
                                             for kind, tags, source in cells], "metadata": {}}))


CELL = ("code", ["parameters"], 'study = "studies/x.yaml"  # which\nlanguage: str = "de"\n')


def test_parameters_are_checked_against_the_notebook(tmp_path):
    path = notebook(tmp_path / "n.ipynb", ("markdown", [], "# Aim"), CELL, ("code", [], "other = 1"))
    assert cli.notebook_parameters(path) == ["study", "language"]
    cli.check_parameters(path, ["study", "language"])
    for bad in ("langauge", "other"):
        with pytest.raises(InputError, match=f"n.ipynb: no parameter '{bad}'. It has study, language"):
            cli.check_parameters(path, ["study", bad])


@pytest.mark.parametrize("cells", [[("code", [], "study = 1")], [CELL, CELL], [("markdown", ["parameters"], "study")], []])
def test_a_notebook_needs_one_parameters_cell(tmp_path, cells):
    path = notebook(tmp_path / "n.ipynb", *cells)
    with pytest.raises(InputError, match="cells tagged 'parameters', expected one"):
        cli.check_parameters(path, ["study"])


def test_every_notebook_takes_study_first():
    notebooks = list((study.ROOT / "notebooks").glob("**/*.ipynb"))
    assert len(notebooks) == 19
    for path in notebooks:
        assert cli.notebook_parameters(path)[0] == "study", path


@pytest.mark.parametrize("form, suffix", [("wmt25", "tsv"), ("wmt26", "jsonl")])
def test_an_export_is_read_back_under_the_set_name_of_the_study(call, mini_study, tmp_path, form, suffix):
    """Every text scored by its length, in the export's own format."""
    other = mini_study.with_name("other.yaml")
    system = f"  back: {{path: back.{suffix}, format: {form}}}"
    other.write_text(mini_study.read_text().replace("scores:\n", f"set: my-set\nscores:\n{system}\n", 1))
    assert call("export", other, "--format", form, "--out", tmp_path)[0] == 0
    lines = next(tmp_path.glob(f"*.{suffix}")).read_text().splitlines()
    if form == "wmt25":
        header, *rows = (line.split("\t") for line in lines)
        place = [header.index(c) for c in formats.WMT25_SCORES[:-1]]
        made = ["\t".join(formats.WMT25_SCORES)]
        made += ["\t".join([*(row[k] for k in place), str(len(row[header.index("hypothesis_segment")]))]) for row in rows]
    else:
        made = [json.dumps({"item_id": record["item_id"], "task2_pred": {h: len(text) for h, text in record["hyps"].items()}})
                for record in map(json.loads, lines)]
    write(mini_study.parents[1] / f"back.{suffix}", *made)
    assert call("prepare", other)[:2] == (0, "4 of 4 runs read\n")


@pytest.mark.parametrize("arguments", [
    ("score", "source-length", "--limit", "0"), ("score", "source-length", "--limit", "-1"), ("translate", "command", "--language", "zz"),
    ("score", "source-length", "--language", "../up"), ("score", "command", "--as", "../evil"), ("score", "e5-dropout", "--repeat", "0"),
    ("score", "comet", "--batch-size", "-1"), ("export", "--language", "xx"), ("annotate", "hunspell", "--as", " ")])
def test_numbers_languages_and_names_are_checked_on_the_command_line(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(list(arguments))
    assert end.value.code == 2 and "error: argument" in capsys.readouterr().err


def test_committed_files_are_not_replaced_by_their_first_rows(call):
    status, _, error = call("rescore", "--accept", "--limit", "5")
    assert status == 2 and error == "mtgender: --accept would replace whole files by their first rows. Leave --limit out\n"


def test_rescoring_compares_scores_and_validity_test_and_accepts_what_differs(call, mini_study, repository):
    committed, length = repository / "data" / "scores", "source-length"
    assert call("score", length, "--study", mini_study, "--out", committed)[0] == 0
    path = write(mini_study.with_name("again.yaml"), "pairs: data/mini", "languages: [de]", "scores:",
                 f"  {length}: {{path: data/scores/{length}}}", "  other: {path: scores/noise}")
    status, out, _ = call("rescore", path)
    assert status == 0 and out.splitlines()[1:] == [f"{length} (de): the same", "other (de): skipped: not made by this project",
                                                    "1 the same, 0 different, 1 skipped"]
    table = committed / length / "validity.csv"
    kept = table.read_text()
    table.write_text(kept.replace("shuffled,36,0.500000", "shuffled,36,0.750000"))
    status, out, _ = call("rescore", path)
    assert status == 1 and f"{length} (de): the validity test differs: shuffled 0.750000 before, 0.500000 now\n" in out
    scores = (committed / length / "de.tsv").read_text()
    for damaged, said in ((scores.replace("\t", "\t1"), "header is 'segment_id\\t1masculine"),
                          (scores.replace("\t2", "\t3"), "scores differ by more than 0.0001")):
        (committed / length / "de.tsv").write_text(damaged)
        status, out, _ = call("rescore", path, "--accept")
        assert status == 0 and said in out and f"{length} (de): committed file replaced" in out
        assert table.read_text() == kept and (committed / length / "de.tsv").read_text() == scores and call("rescore", path)[0] == 0


def test_rescoring_a_part_records_what_came_of_it(call, mini_study, repository):
    committed, record = repository / "data/scores", repository / "benchmarks/rescored.csv"
    shutil.copy(repository / "data/mini/de.tsv", repository / "data/mini/cs.tsv")
    path = write(mini_study.with_name("part.yaml"), "pairs: data/mini", "languages: [cs, de]", "scores:",
                 "  source-length: {path: data/scores/source-length}", "  other: {path: scores/noise, languages: [de]}")
    assert call("score", "source-length", "--study", path, "--out", committed)[0] == 0
    status, out, _ = call("rescore", path, "--producer", "source-length", "--language", "de", "--record", record)
    assert status == 0 and out.splitlines()[1:] == ["source-length (de): the same", "1 the same, 0 different, 0 skipped"]
    first, scores = record.read_text(), committed / "source-length/cs.tsv"
    kept = first.splitlines()[1]
    assert kept.startswith("data/scores/source-length/de.tsv,36,the same,0.0e+00,20") and first.splitlines()[0] == ",".join(data.RESCORED)
    assert kept.split(",")[5] == hashlib.sha256((committed / "source-length/de.tsv").read_bytes()).hexdigest()[:12]
    write(scores, *(scores.read_text().replace("\t2", "\t3").splitlines()))
    assert call("rescore", path, "--producer", "source-length", "--language", "cs", "--record", record)[0] == 1
    assert record.read_text().splitlines()[2] == kept
    changed = record.read_text().splitlines()[1]
    assert changed.startswith("data/scores/source-length/cs.tsv,36,6 scores differ by more than 0.0001 (largest 10),")
    for arguments, said in ((("--producer", "nobody"), "no such scores or annotations in the study. It has source-length, other"),
                            (("--record", record, "--limit", "5"), "--record is of whole files. Leave --limit out")):
        status, _, error = call("rescore", path, *arguments)
        assert status == 2 and said in error


def test_rescoring_goes_on_where_it_was_stopped(call, mini_study, repository, monkeypatch):
    write(mini_study.with_name("de.yaml"), "pairs: data/mini", "languages: [de]", "scores:", "  source-length: {path: s/source-length}",
          "  wordfreq-zipf: {path: s/wordfreq-zipf}", "annotations:", "  hunspell: {path: a/hunspell}")
    path, calls = mini_study.with_name("de.yaml"), []

    class Spell:
        batch, card = 10, {**evaluator_card("hunspell", "H", "1", [], "MIT", False, "", [], ""), "kind": "annotator"}

        def annotate(self, sources, translations, language):
            calls.append("hunspell")
            return [{"errors": [], "omission": False, "instruction_fault": False} for _ in translations]

    class Zipf(evaluators.SourceLength):
        def __init__(self, language):
            super().__init__(language)
            self.card = {**self.card, "name": "wordfreq-zipf"}

        def score(self, sources, translations, references=None):
            calls.append("wordfreq-zipf")
            return super().score(sources, translations)

    monkeypatch.setitem(producers.ANNOTATORS, "hunspell", lambda language: Spell())
    monkeypatch.setitem(producers.EVALUATORS, "wordfreq-zipf", Zipf)
    compare = cli._compare_produced
    monkeypatch.setattr(cli, "_compare_produced", lambda committed, made, kind: 1 / (kind == "scores") and compare(committed, made, kind))
    with pytest.raises(ZeroDivisionError):
        cli.main(["rescore", str(path)])
    assert calls.count("wordfreq-zipf") == 2 and calls.count("hunspell") == 4            # scores and validity test; batches
    monkeypatch.setattr(cli, "_compare_produced", compare)
    status, out, _ = call("rescore", path)
    assert status == 1 and "3 different" in out and len(calls) == 6                     # nothing made twice
    assert call("rescore", path)[0] == 1 and len(calls) == 12                            # that one was done: all again
    write(study.load(path).results / "rescore/.under-way", "of another program")
    assert call("rescore", path)[0] == 1 and len(calls) == 18
    assert call("rescore", path, "--limit", "5")[0] == 1 and not (study.load(path).results / "rescore/.under-way").exists()


def test_report_names_notebook_and_cell_that_failed(call, mini_study):
    call("prepare", mini_study)
    error = {"output_type": "error", "ename": "KeyError", "evalue": "'x'"}
    failed = {"cells": [{"cell_type": "code", "execution_count": 3, "outputs": [error]}],
              "metadata": {"papermill": {"exception": True, "input_path": "notebooks/00_overview.ipynb"}}}
    write(study.load(mini_study).notebooks / "00_overview.ipynb", json.dumps(failed))
    status, out, _ = call("report", mini_study)
    assert status == 1 and out.startswith("failed    notebooks/00_overview.ipynb, cell 3: KeyError: 'x'")
    assert "executed copy: results/mini/notebooks/00_overview.ipynb" in out
