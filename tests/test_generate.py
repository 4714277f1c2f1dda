"""Texts that a language model writes: what is asked for, which replies are accepted, the files, and that a study reads the benchmark.

A fake endpoint stands for the model; where openai is installed, a local server too.
"""
from __future__ import annotations

import json
import re
import sys

import chat_server
import pytest
import yaml
from conftest import write
from hypothesis import given
from hypothesis import strategies as st

from mtgender import cli, data, isco, study
from mtgender.producers import generate, judge
from mtgender.producers.generate import generate_language, parse_text, prompt, requests
from mtgender.study import LANGUAGES, TEXT_TYPES, InputError


def answer(text="The plumber came at noon, wet to the skin.", occupation="plumber"):
    return json.dumps({"text": text, "occupation": occupation}, ensure_ascii=False)


def written(asked):
    """A good reply to any prompt, different for each."""
    title, number = re.search(r"“(.+?)”", asked)[1], re.search(r"text number (\d+)", asked)[1]
    kind = re.search(r"Write one (.+?) \(", asked)[1]
    gender = next((g for g in ("man", "woman") if f"is a {g}:" in asked), "person")
    return answer(f"In this {kind} of\n {gender}s\tand {title} the worker left {number} hours early.", "Worker")


class Fake:
    """Answers with `replies` in turn, then with `default` of the prompt."""

    model, settings, packages = "fake", {"temperature": 1.0, "max_tokens": 9}, {}

    def __init__(self, *replies, default=written):
        self.replies, self.default, self.seen = list(replies), default, []

    def ask(self, prompts):
        self.seen += prompts
        return [self.replies.pop(0) if self.replies else self.default(p) for p in prompts]


def make(out, endpoint=None, language="en", **more):
    return generate_language(language, out, progress=False, endpoint=endpoint or Fake(), **{"codes": ["7126", "0110"], **more})


def rows(path):
    return [line.split("\t") for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def files(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


# ---- what is asked for

def test_the_default_is_a_text_of_each_type_and_unit_group():
    found = requests([], TEXT_TYPES[:3], generate.default_genders("en"))
    assert [r.segment_id for r in found] == sorted(f"{code}-{kind}" for code in isco.unit_groups() for kind in TEXT_TYPES[:3])
    source = data.read_source(study.ROOT / "data" / "occupairs")
    assert [r.segment_id for r in found] == list(source["segment_id"])            # as OccuPairs names them
    assert len(requests([], TEXT_TYPES[:3], generate.default_genders("fr"))) == 2 * 1308


@given(st.lists(st.sampled_from(isco.unit_groups()), min_size=1, max_size=4), st.lists(st.sampled_from(TEXT_TYPES), min_size=1, max_size=6),
       st.lists(st.sampled_from(generate.GENDERS), min_size=1, max_size=3), st.integers(1, 12))
def test_ids_are_unique_sorted_and_stay_when_more_texts_are_asked_for(codes, types, genders, count):
    found = [r.segment_id for r in requests(codes, types, genders, count)]
    assert found == sorted(set(found)) and len(found) == len(set(codes)) * len(set(types)) * len(set(genders)) * count
    assert set(found) < {r.segment_id for r in requests(codes, types, genders, count + 1)}
    assert [r.segment_id for r in requests(codes, types, genders, count, limit=3)] == found[:3]


@pytest.mark.parametrize("given_, message", [
    ({"codes": ["7127x"]}, "'7127x' is no ISCO-08 unit group"), ({"text_types": ["poem"]}, "text type 'poem'. Known: statement"),
    ({"genders": ["neutral"]}, "gender 'neutral'. Known: masculine"), ({"text_types": []}, "no text type"), ({"count": 0}, "0 texts"),
    ({"limit": 0}, "0 texts"), ({"tries": 0}, "0 tries"), ({"language": "xx"}, "unknown language 'xx'")])
def test_bad_parameters_are_refused_and_nothing_is_asked(tmp_path, given_, message):
    endpoint = Fake()
    with pytest.raises(InputError, match=re.escape(message)):
        make(tmp_path, endpoint, **given_)
    assert not files(tmp_path) and not endpoint.seen


@pytest.mark.parametrize("language", LANGUAGES)
def test_prompts_name_language_title_type_and_gender(language):
    seen = set()
    for request in requests(["7126"], TEXT_TYPES, generate.GENDERS, 2):
        text = prompt(request, language)
        assert LANGUAGES[language] in text and "“Plumbers and pipe fitters”" in text and f"text number {request.number} " in text
        assert f"Write one {generate.described('generation_text_types.txt')[request.text_type]} about one person" in text
        assert ("is a man:" in text, "is a woman:" in text, "must not tell" in text) == tuple(request.gender == g for g in generate.GENDERS)
        assert '{"text": "<the text>", "occupation": ' in text and "{language}" not in text
        seen.add(text)
    assert len(seen) == 36


def test_prompt_files_know_every_type_and_gender():
    assert tuple(generate.described("generation_text_types.txt")) == TEXT_TYPES
    assert tuple(generate.described("generation_genders.txt")) == generate.GENDERS


# ---- which replies are accepted

@pytest.mark.parametrize("reply, language, gender, expected", [
    (answer(), "en", "non-specific", ("The plumber came at noon, wet to the skin.", "plumber")),
    ("```json\n" + answer() + "\n```", "en", "non-specific", ("The plumber came at noon, wet to the skin.", "plumber")),
    (answer("  “Is the\tplumber\n\nin?”\u2028“Not yet.” ", " Plumber "), "en", "non-specific",
     ("“Is the plumber in?” “Not yet.”", "plumber")),
    (answer("He is the plumber we called."), "en", "masculine", ("He is the plumber we called.", "plumber")),
    (answer("L’infirmière est arrivée à huit heures.", "infirmière"), "fr", "feminine",
     ("L’infirmière est arrivée à huit heures.", "infirmière")),
    (answer("Η νοσοκόμα έφυγε χθες νωρίς.", "ΝΟΣΟΚΌΜΑ"), "el", "feminine", ("Η νοσοκόμα έφυγε χθες νωρίς.", "νοσοκόμα")),
    (answer("“Sorry, the plumber is not in today.” “Ask again.”"), "en", "non-specific",
     ("“Sorry, the plumber is not in today.” “Ask again.”", "plumber")),
    (answer("Here the plumber waited for an hour."), "en", "non-specific", ("Here the plumber waited for an hour.", "plumber")),
    (answer("The car mechanic (MOT) left at noon.", "car mechanic (MOT)"), "en", "non-specific",
     ("The car mechanic (MOT) left at noon.", "car mechanic (MOT)"))])
def test_a_reply_that_is_used(reply, language, gender, expected):
    assert parse_text(reply, language, gender) == expected
    assert expected[1] in expected[0]


@pytest.mark.parametrize("reply, language, gender, reason", [
    ("", "en", "non-specific", "not one JSON object"), ("Sure! " + answer(), "en", "non-specific", "not one JSON object"),
    (answer() + answer(), "en", "non-specific", "not one JSON object"), (answer()[:-3], "en", "non-specific", "not one JSON object"),
    ("The plumber came at noon.", "en", "non-specific", "not one JSON object"),
    ("[" + answer() + "]", "en", "non-specific", "texts \"text\""),
    ('{"text": "The plumber came at noon."}', "en", "non-specific", "texts \"text\""),
    ('{"text": ["The plumber came."], "occupation": "plumber"}', "en", "non-specific", "texts \"text\""),
    ('{"text": "The plumber came at noon.", "occupation": "plumber", "note": ""}', "en", "non-specific", "texts \"text\""),
    (answer(text=" \n "), "en", "non-specific", '"text" is empty'), (answer(occupation=" "), "en", "non-specific", '"occupation" is empty'),
    (answer("Plumber"), "en", "non-specific", "too short"), (answer("The plumber\0 came at noon, wet."), "en", "non-specific", "control"),
    ('{"text": "The plumber came at \\ud83d noon.", "occupation": "plumber"}', "en", "non-specific", "control"),
    (answer("I'm sorry, but I cannot write about a plumber."), "en", "non-specific", "an answer to the request"),
    (answer("As an AI language model I know no plumber."), "fr", "feminine", "an answer to the request"),
    (answer("Here is a text about a plumber: water."), "en", "non-specific", "an answer to the request"),
    (answer("Sure, here is the plumber you wanted."), "en", "non-specific", "an answer to the request"),
    (answer("The plumbers came at noon, wet."), "en", "non-specific", "hold the occupation 'plumber'"),
    (answer(occupation="electrician"), "en", "non-specific", "hold the occupation 'electrician'"),
    (answer(occupation=".*"), "en", "non-specific", "hold the occupation"),
    (answer("The plumber said that he was wet."), "en", "non-specific", "gendered word 'he'"),
    (answer("Ms Hill, the plumber, was wet again."), "en", "non-specific", "gendered word 'Ms'"),
    (answer("The plumber came at noon, wet."), "el", "masculine", "not in Greek"),
    (answer("The plumber came at noon, wet."), "uk", "masculine", "not in Ukrainian")])
def test_a_reply_that_is_not_used(reply, language, gender, reason):
    with pytest.raises(ValueError, match=re.escape(reason)):
        parse_text(reply, language, gender)


@given(st.text(max_size=80), st.text(max_size=80))
def test_what_is_accepted_is_one_line_that_holds_its_occupation(text, occupation):
    for reply in (text, json.dumps({"text": text, "occupation": occupation}),
                  json.dumps({"text": f"{text} and the {occupation} left early.", "occupation": occupation})):
        try:
            found, term = parse_text(reply, "en", "masculine")
        except ValueError as error:
            assert str(error)
        else:
            assert term and term in found and found == " ".join(found.split()) and not set("\t\n\r\0") & set(found)
            found.encode()


# ---- files

def test_a_run_writes_sorted_rows_a_benchmark_and_a_card(tmp_path):
    endpoint = Fake()
    made = make(tmp_path, endpoint, count=2)
    assert made == (tmp_path / "en.tsv", 12, 0, tmp_path / "refused.tsv") and len(endpoint.seen) == 12
    header, *body = rows(made.path)
    assert header == ["segment_id", "isco", "text_type", "gender", "occupation", "text"] and body == sorted(body)
    assert body[0] == ["0110-conversation", "0110", "conversation", "non-specific", "worker",
                       "In this short conversation of persons and Commissioned armed forces officers the worker left 1 hours early."]
    assert set(files(tmp_path)) == {"en.tsv", "benchmark/en.tsv", "card.yaml"}
    assert rows(tmp_path / "benchmark" / "en.tsv") == [[c for i, c in enumerate(row) if i != 3] for row in (header, *body)]
    card = yaml.safe_load((tmp_path / "card.yaml").read_text())
    assert (card["kind"], card["model"], card["temperature"]) == ("generator", "fake", 1.0)
    assert card["prompt_sha256"] == generate.prompts_sha256()
    assert card["languages"]["en"] == {
        "command": "python -m mtgender generate --language en --text-type statement report conversation --gender non-specific "
                   "--isco 7126 0110 --count 2 --tries 3",
        "text_types": ["statement", "report", "conversation"], "genders": ["non-specific"], "unit_groups": 2, "count": 2, "asked": 12,
        "texts": 12, "refused_texts": 0, "unusable_replies": 0}
    again = tmp_path / "again"
    make(again, count=2)
    assert files(again) == {name: content for name, content in files(tmp_path).items() if not name.startswith("again")}


def test_evaluation_texts_of_another_language_lie_beside_it(tmp_path):
    make(tmp_path)
    made = make(tmp_path, language="fr", text_types=["news report"])
    genders = ("feminine", "masculine")
    assert [row[0] for row in rows(made.path)[1:]] == [f"{code}-news_report-{g}" for code in ("0110", "7126") for g in genders]
    assert {row[3] for row in rows(made.path)} == {"gender", "masculine", "feminine"}
    card = yaml.safe_load((tmp_path / "card.yaml").read_text())
    assert list(card["languages"]) == ["en", "fr"]
    assert "--text-type 'news report' --gender masculine feminine" in card["languages"]["fr"]["command"]
    assert set(files(tmp_path)) == {"en.tsv", "fr.tsv", "benchmark/en.tsv", "card.yaml"}


def test_only_what_does_not_tell_the_gender_is_benchmark(tmp_path):
    make(tmp_path, genders=["feminine", "non-specific"], codes=["7126"], text_types=["report"])
    assert [row[0] for row in rows(tmp_path / "en.tsv")[1:]] == ["7126-report", "7126-report-feminine"]
    assert [row[0] for row in rows(tmp_path / "benchmark" / "en.tsv")[1:]] == ["7126-report"]
    make(tmp_path / "told", genders=["feminine"])
    assert not (tmp_path / "told" / "benchmark" / "en.tsv").exists()


def test_a_reply_that_cannot_be_used_is_asked_for_again_with_the_reason(tmp_path):
    endpoint = Fake("Sure!", answer())
    made = make(tmp_path, endpoint, codes=["7126"], text_types=["report"])
    assert (made.n, made.refused) == (1, 0) and rows(made.path)[1][5] == "The plumber came at noon, wet to the skin."
    assert endpoint.seen[1] == endpoint.seen[0] + "\n\nReply 1 could not be used: it is not one JSON object alone. Write another."
    assert yaml.safe_load((tmp_path / "card.yaml").read_text())["languages"]["en"]["unusable_replies"] == 1


def test_a_text_without_a_usable_reply_is_listed_and_never_filled_in(tmp_path):
    def stubborn(asked):
        return "I\tcannot\n" + "x" * 400 if "Plumbers" in asked and "short report" in asked else written(asked)

    endpoint = Fake(default=stubborn)
    made = make(tmp_path, endpoint, tries=4)
    assert (made.n, made.refused) == (5, 1) and len(endpoint.seen) == 9 and len(set(endpoint.seen)) == 9
    assert "7126-report" not in {row[0] for name in ("en.tsv", "benchmark/en.tsv") for row in rows(tmp_path / name)}
    assert rows(made.listed) == [["language", "segment_id", "tries", "reason", "reply"],
                                 ["en", "7126-report", "4", "it is not one JSON object alone", ("I cannot " + "x" * 400)[:200]]]
    entry = yaml.safe_load((tmp_path / "card.yaml").read_text())["languages"]["en"]
    assert (entry["asked"], entry["texts"], entry["refused_texts"], entry["unusable_replies"]) == (6, 5, 1, 4)
    make(tmp_path, Fake(default=lambda asked: ""), language="fr", codes=["7126"], text_types=["report"])
    assert [row[1] for row in rows(made.listed)[1:]] == ["7126-report", "7126-report-feminine", "7126-report-masculine"]
    assert rows(tmp_path / "fr.tsv") == [list(generate.COLUMNS)]
    make(tmp_path)
    assert [row[0] for row in rows(made.listed)[1:]] == ["fr", "fr"]
    make(tmp_path, language="fr")
    assert not made.listed.exists()


def test_the_same_text_twice_is_used_once(tmp_path):
    made = make(tmp_path, Fake(default=lambda asked: answer()), codes=["7126"], text_types=["report"], count=2, tries=2)
    assert [row[0] for row in rows(made.path)[1:]] == ["7126-report"]
    assert rows(made.listed)[1][1:4] == ["7126-report-2", "2", "another text is the same"]


def test_texts_of_two_models_or_prompts_do_not_mix(tmp_path, monkeypatch):
    make(tmp_path)
    other = Fake()
    other.model = "other"
    with pytest.raises(InputError, match="en were written with another model \\(fake, now other\\).*another folder"):
        make(tmp_path, other, language="fr")
    assert not other.seen
    make(tmp_path, other)                               # the only language may be written anew
    monkeypatch.setattr(generate, "prompts_sha256", lambda: "0")
    with pytest.raises(InputError, match="another prompt_sha256"):
        make(tmp_path, other, language="fr")


# ---- into a study

def test_the_benchmark_is_what_a_study_and_translate_read(tmp_path, repository, monkeypatch):
    from mtgender.producers import translators
    made = make(repository / "results" / "generated", count=2)
    source = data.read_source(made.path.parent / "benchmark")
    body = rows(made.path)[1:]
    assert list(source.columns) == ["segment_id", "isco", "text_type", "term", "source"]
    assert source.to_numpy().tolist() == [[row[i] for i in (0, 1, 2, 4, 5)] for row in body]
    path = write(repository / "studies" / "own.yaml", "pairs: results/generated/benchmark", "languages: [de]")

    class Upper:
        batch = 5

        def __init__(self, language):
            self.card = translators.translator_card("upper", "Upper", "1", {}, "MIT", "multilingual", "For tests.")

        def translate(self, sources):
            return [s.upper() for s in sources]

    monkeypatch.setitem(translators.TRANSLATORS, "upper", Upper)
    assert cli.main(["translate", "upper", "--study", str(path), "--language", "de", "--out", str(tmp_path / "out")]) == 0
    assert data.read_texts(tmp_path / "out" / "upper" / "de.tsv", source["segment_id"]) == {row[0]: row[5].upper() for row in body}


# ---- the command line

def test_command_line(tmp_path, repository, monkeypatch, capsys, mini_study):
    monkeypatch.setattr(generate, "Endpoint", Fake)
    command = ["generate", "--study", str(mini_study), "--isco", "110", "--text-type", "news report", "story", "--gender", "non-specific"]
    assert cli.main([*command, "--language", "en", "de"]) == 0
    folder = study.load(mini_study).results / "generated"
    assert capsys.readouterr().out == "results/mini/generated/en.tsv: 2 texts\nresults/mini/generated/de.tsv: 2 texts\n"
    assert [row[0] for row in rows(folder / "de.tsv")[1:]] == ["0110-news_report", "0110-story"]
    monkeypatch.setattr(generate, "Endpoint", lambda: Fake(default=lambda asked: "no"))
    assert cli.main([*command, "--limit", "1", "--out", str(tmp_path / "own")]) == 1
    assert "en.tsv: 0 texts; 1 refused: " in capsys.readouterr().out and (tmp_path / "own" / "refused.tsv").is_file()
    assert cli.main([*command, "--isco", "9999"]) == 2 and capsys.readouterr().err.startswith("mtgender: ")
    for wrong in (["--count", "0"], ["--tries", "0"], ["--limit", "0"], ["--language", "xx"]):
        with pytest.raises(SystemExit) as end:
            cli.main([*command, *wrong])
        assert end.value.code == 2 and "error: argument" in capsys.readouterr().err


# ---- a server

@pytest.fixture
def server(monkeypatch, tmp_path):
    with chat_server.running(monkeypatch, tmp_path, written) as handler:
        yield handler


@pytest.mark.slow
def test_a_server_is_asked_once_and_more_texts_go_on(server, tmp_path):
    server.replies[:] = [503, "Certainly! Here it is."]
    made = generate_language("en", tmp_path / "out", codes=["7126"], progress=False)
    assert (made.n, made.refused) == (3, 0) and len(server.seen) == 5
    assert server.seen[0]["temperature"] == generate.TEMPERATURE and server.seen[0]["max_tokens"] == generate.REPLY_TOKENS
    card = yaml.safe_load((tmp_path / "out" / "card.yaml").read_text())
    assert card["model"] == "tiny" and list(card["packages"]) == ["openai"] and card["languages"]["en"]["unusable_replies"] == 1
    before = files(tmp_path / "out")
    for path in (made.path, tmp_path / "out" / "card.yaml"):
        path.unlink()
    generate_language("en", tmp_path / "out", codes=["7126"], progress=False)
    assert len(server.seen) == 5 and files(tmp_path / "out") == before                 # all from the cache
    generate_language("en", tmp_path / "out", codes=["7126"], count=2, progress=False)
    assert len(server.seen) == 8
    assert not any(b"sk-secret" in content for content in files(tmp_path).values())


@pytest.mark.slow
def test_an_interrupted_run_goes_on_and_more_tries_go_on_too(server, tmp_path, monkeypatch):
    monkeypatch.setattr(judge, "RETRIES", 0)
    monkeypatch.setattr(generate, "BATCH", 2)
    server.replies[:] = [written(prompt(r, "en")) for r in requests(["7126"], TEXT_TYPES[:3], ["non-specific"])[:2]] + [500]
    with pytest.raises(InputError, match="gives no answer.*goes on"):
        generate_language("en", tmp_path / "out", codes=["7126"], progress=False)
    assert not (tmp_path / "out").exists() and len(server.seen) == 3
    server.replies[:] = ["no", "no"]
    assert generate_language("en", tmp_path / "out", codes=["7126"], tries=2, progress=False)[1:3] == (2, 1) and len(server.seen) == 5
    assert generate_language("en", tmp_path / "out", codes=["7126"], tries=2, progress=False)[1:3] == (2, 1) and len(server.seen) == 5
    assert generate_language("en", tmp_path / "out", codes=["7126"], tries=3, progress=False)[1:3] == (3, 0) and len(server.seen) == 6


@pytest.mark.slow
def test_a_server_that_is_not_named_or_stays_away(server, tmp_path, monkeypatch):
    monkeypatch.setattr(judge, "RETRIES", 0)
    monkeypatch.setenv("MTGENDER_LLM_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(InputError, match="gives no answer"):
        generate_language("en", tmp_path / "out", codes=["7126"], progress=False)
    monkeypatch.delenv("MTGENDER_LLM_MODEL")
    with pytest.raises(InputError, match="MTGENDER_LLM_MODEL is not set"):
        generate_language("en", tmp_path / "out", codes=["7126"], progress=False)


def test_without_the_package_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(InputError, match=r"needs the package openai.*./run_all.sh --environment llm-judge"):
        generate_language("en", tmp_path / "out", progress=False)
