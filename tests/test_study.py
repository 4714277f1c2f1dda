"""Study files: what is read, what is refused, where things lie."""

import re
from pathlib import Path

import pytest
from conftest import write
from IPython.core.interactiveshell import InteractiveShell

from mtgender import study
from mtgender.study import InputError

BASE = ["pairs: data/mini", "languages: [de]"]


@pytest.fixture
def load(repository):
    def make(*lines, name="mine", folder="studies"):
        return study.load(write(repository / folder / f"{name}.yaml", *lines))
    return make


def test_defaults(load, repository):
    got = load(*BASE)
    assert (got.name, got.title, got.panel, got.q, got.level, got.replicates) == ("mine", "mine", ("de",), 0.05, 0.95, 5000)
    assert got.range == "evaluator" and not (got.count_instruction_fault or got.allow_partial or got.publish)
    assert got.pairs == repository / "data" / "mini" and got.tables == repository / "results" / "mine" / "tables"
    assert load(*BASE, "publish: true").tables == repository / "tables"


def test_yaml_never_guesses_types(load):                                             # CASES 5, 29
    got = load("pairs: 0110", "languages: [is]", "name: nan", "title: no", "q: 1e-2", "seed: 007", "allow_partial: true", "scores:",
               "  no: {path: x}", "  1e5: {path: x, label: 2026-08-01}", "  null: {path: x}", "  0110: {path: 1.0}", "  ~: {path: x}")
    assert (got.name, got.title, got.pairs.name, got.languages) == ("nan", "no", "0110", ("is",))
    assert (got.q, got.seed, got.allow_partial) == (0.01, 7, True)
    assert list(got.scores) == ["no", "1e5", "null", "0110", "~"] and got.scores["1e5"].label == "2026-08-01"
    assert got.scores["0110"].path.name == "1.0"


@pytest.mark.parametrize("lines, line, problem", [
    ([*BASE, "replicate: 10"], 3, "unknown key 'replicate'. Did you mean 'replicates'?"), ([*BASE, "zzz: 1"], 3, "Known keys: name, title"),
    ([*BASE, "scores:", "  a:", "    path: x", "    lable: y"], 6, "unknown key 'lable'. Did you mean 'label'?"),
    (["pairs: x", "languages: [de, no]"], 2, "unknown language 'no'"), (["pairs: x", "languages: de"], 2, "expected a list of texts"),
    (["pairs: x", "languages: [de, de]"], 2, "occurs twice"), ([*BASE, "panel: [xx]"], 3, "unknown language 'xx'"),
    ([*BASE, "q: often"], 3, "q: .*found 'often'"), ([*BASE, "q: 2"], 3, "expected a number from 0 to 1"), ([*BASE, "q: nan"], 3, "q: "),
    ([*BASE, "replicates: 5.5"], 3, "replicates: "), ([*BASE, "range: system"], 3, "expected one of evaluator, run, found 'system'"),
    ([*BASE, "publish: yes"], 3, "expected true or false, found 'yes'"), ([*BASE, "title: [a]"], 3, "expected a text"),
    ([*BASE, "scores: [a, b]"], 3, "expected a mapping"), ([*BASE, "scores:", "  a: x"], 4, "a: expected {path: …}, found 'x'"),
    ([*BASE, "scores:", "  a: {label: x}"], 4, "no path"),
    ([*BASE, "scores:", "  a: {path: x, role: judge}"], 4, "metric, fluency, control"),
    ([*BASE, "scores:", "  a: {path: x, role: {xx: metric}}"], 4, "unknown language 'xx'"),
    ([*BASE, "scores:", "  a: {path: x}", "  a: {path: y}"], 5, "'a' occurs twice"), ([*BASE, "pairs: y"], 3, "'pairs' occurs twice"),
    ([*BASE, "title: 'open"], None, "not valid YAML"), ([*BASE, "q:\t0.1", "  x: y"], None, "not valid YAML"),
    ([*BASE, "title: a\x07b"], None, "not valid YAML"), ([*BASE, "? [a, b]", ": c"], 3, ""),
    ([*BASE, "extends: [a]"], 3, "extends: expected a text"),
    (["- a"], 1, "expected key: value lines"), (["languages: [de]"], None, "no 'pairs'"), ([], None, "no 'pairs'")])
def test_bad_studies_are_refused_with_file_and_line(load, lines, line, problem):
    with pytest.raises(InputError) as caught:
        load(*lines)
    assert re.search(re.escape(problem).replace(r"\.\*", ".*"), str(caught.value)) and str(caught.value).startswith("studies/mine.yaml")
    assert line is None or (caught.value.line == line and f"line {line}" in str(caught.value))


def test_a_missing_study_and_one_that_is_not_utf8(repository):
    with pytest.raises(InputError, match="nowhere.yaml: no such study file"):
        study.load("nowhere.yaml")
    (repository / "latin.yaml").write_bytes("title: ä".encode("latin-1"))
    with pytest.raises(InputError, match="latin.yaml: not UTF-8"):
        study.load(repository / "latin.yaml")


# extends

def test_extends_by_bare_name_and_by_path(load, repository):
    load(*BASE, "name: first", "publish: true", "q: 0.1", "replicates: 200", "scores:", "  old: {path: scores/old}", name="first")
    for extends, folder in (("first", "studies"), ("first", "elsewhere"), ("first.yaml", "studies"), ("../studies/first.yaml", "elsewhere"),
                            (str(repository / "studies" / "first.yaml"), "elsewhere")):
        got = load(f"extends: {extends}", "replicates: 300", "add_scores:", "  new: {path: new}", folder=folder)
        assert list(got.scores) == ["old", "new"] and (got.q, got.replicates) == (0.1, 300)
        assert (got.name, got.publish) == ("mine", False)                              # never writes over the committed tables
        assert [p.name for p in got.source_files()] == ["mine.yaml", "first.yaml"]
    assert study.load("mine").name == "mine" and study.load("studies/mine.yaml").name == "mine"
    replaced = load("extends: first", "scores:", "  new: {path: new}")
    assert list(replaced.scores) == ["new"]


@pytest.mark.parametrize("lines, problem", [
    (["extends: first", "add_scores:", "  old: {path: x}"], "mine.yaml, line 3: 'old' is already in the study"),
    (["extends: mine"], "extends itself"), (["extends: loop"], "extends itself"),
    (["extends: frist"], "does not exist. Known: first, loop"),
    (["extends: first", "add_scores:", "  OLD: {path: x}"], "'old' and 'OLD' would share a file name"),
    (["extends: first", "add_score:", "  a: {path: x}"], "Did you mean 'add_scores'")])
def test_bad_extensions_are_refused(load, lines, problem):
    load(*BASE, "scores:", "  old: {path: scores/old}", name="first")
    write(study.ROOT / "studies" / "loop.yaml", "extends: mine")
    with pytest.raises(InputError, match=problem):
        load(*lines)


def test_inherited_paths_stay_those_of_the_file_that_names_them(load, repository):
    for place in ("scores/s", "set"):
        write(repository / "theirs" / place / "de.tsv")
    load("pairs: set", "languages: [de]", "scores:", "  s: {path: scores/s}", name="first", folder="theirs")
    got = load("extends: ../theirs/first.yaml", folder="ours")
    assert got.scores["s"].file("de").resolve() == repository / "theirs" / "scores" / "s" / "de.tsv"
    assert got.pairs.resolve() == repository / "theirs" / "set"


# paths

def test_paths_beside_the_study_come_before_those_of_the_repository(load, repository):
    for folder in ("data/x", "mine/data/x"):
        write(repository / folder / "de.tsv")
    for path in ("data/x", "data/x/{language}.tsv", "data/x/de.tsv"):
        got = load(*BASE, "scores:", f'  s: {{path: "{path}"}}', folder="mine")
        assert got.scores["s"].file("de") == repository / "mine" / "data" / "x" / "de.tsv"


@pytest.mark.parametrize("path, file", [("x", "x/de.tsv"), ("x/en-{language}.tsv", "x/en-de.tsv"), ("my-{language}.tsv", "my-de.tsv"),
                                        ("{language}/s.tsv", "de/s.tsv"), ("all.tsv", "all.tsv")])
def test_files_beside_the_study_are_found(load, repository, path, file):
    write(repository / "mine" / file)
    for kind in ("scores", "annotations"):
        got = getattr(load(*BASE, f"{kind}:", f'  s: {{path: "{path}"}}', folder="mine"), kind)["s"]
        expected = file.replace(".tsv", ".jsonl") if kind == "annotations" and path == "x" else file
        assert got.file("de") == repository / "mine" / expected


def test_a_card_speaks_for_its_folder_and_the_study_overrides_it(load, repository):
    write(repository / "s" / "card.yaml", "label: Card", "higher_is_better: false", "role: {de: control}", "input_sha256: {de: abc}",
          "licence: MIT")
    got = load("pairs: x", "languages: [de, ru]", "scores:", "  s: {path: s, label: Mine}", "  t: {path: t, role: fluency}")
    s = got.scores["s"]
    assert (s.label, s.higher_is_better, s.role("de"), s.languages, s.card["licence"]) == ("Mine", False, "control", ("de",), "MIT")
    assert got.scores["t"].role("ru") == "fluency" and got.runs("scores") == [("s", "de"), ("t", "de"), ("t", "ru")]
    write(repository / "s" / "card.yaml", "role: judge")
    broken = load(*BASE, "scores:", "  s: {path: s}", "  t: {path: t}").scores                 # its runs are refused, not the study
    assert str(broken["s"].problem).startswith("s/card.yaml, line 1: role: expected one of metric") and broken["t"].problem is None


@pytest.mark.parametrize("lines, message", [
    (["scores:", '  "": {path: x}'], "line 4: scores: '' is no name"), (["scores:", '  "a\\rb": {path: x}'], "is no name"),
    (["scores:", f"  {'a' * 101}: {{path: x}}"], "at most 100 bytes"), (["scores:", '  a: {path: x, label: " "}'], "expected a text"),
    (["scores:", "  a: {path: x, languages: [fr]}"], "line 4: a: fr not among the study's languages .de.. Add it"),
    (["scores:", "  a: {path: x, languages: []}"], "at least one language"), (["panel: [fr]"], "line 3: panel: fr not among"),
    (["subset: 3"], "subset goes with pairs_format: gambit"), (["scores: &s {a: *s}"], "more than 20 levels deep"),
    (["gender_counts: &a [*a]"], "more than 20 levels deep")])
def test_what_would_be_ignored_or_break_later_is_refused(load, lines, message):
    with pytest.raises(InputError, match=message):
        load(*BASE, *lines)


def test_a_card_of_languages_the_study_has_not_or_nobody_knows(load, repository):
    write(repository / "s" / "card.yaml", "input_sha256: {fr: abc}")
    with pytest.raises(InputError, match="s: by its card fr not among the study's languages"):
        load(*BASE, "scores:", "  s: {path: s}")
    for text in ("input_sha256: abc", "input_sha256: {xx: abc}"):
        write(repository / "s" / "card.yaml", text)
        assert "input_sha256" in str(load(*BASE, "scores:", "  s: {path: s}").scores["s"].problem)


def test_a_system_of_the_base_may_have_other_languages(load, repository):
    write(repository / "base.yaml", "pairs: x", "languages: [de, fr]", "panel: [de, fr]", "scores:", "  s: {path: s, languages: [fr]}")
    assert load("extends: base", "languages: [de]").runs("scores") == []


# names

NAMES = ["fluency2-gemini35-esa", "mr7.2.1", "Qwen 3.6", "NA", "null", "a/b", "..", "../up", "é", "x:y*?", "nan"]


def test_names_are_opaque_and_safe_as_file_names(load):                              # CASES 5
    got = load(*BASE, "scores:", *(f'  "{n}": {{path: x}}' for n in NAMES))
    files = [study.file_name(n) for n in got.scores]
    assert list(got.scores) == NAMES and len(set(files)) == len(NAMES)
    for name in files:
        assert not re.search(r'[/\\:*?"<>| ]', name) and Path("runs", name).resolve().parent == Path("runs").resolve()


def test_a_study_name_cannot_leave_results(load, repository):
    for name in ("..", ".", "../..", "a/b", "/tmp", "x/../.."):
        assert load(*BASE, f'name: "{name}"').results.resolve().parent == repository / "results"


def test_names_that_share_a_file_name_are_refused(load):
    for one, two in (("a/b", "a_b"), ("A", "a"), ("Qwen 3", "Qwen_3")):
        with pytest.raises(InputError, match=f"'{one}' and '{two}' would share a file name"):
            load(*BASE, "scores:", f'  "{one}": {{path: x}}', f'  "{two}": {{path: y}}')


# errors as people see them

def test_an_input_error_is_one_line_whatever_was_read():
    assert str(InputError("bad", segment_id="a\nb\x1b[31m\ud800 é ع")) == "segment a\\nb\\x1b[31m\\ud800 é ع: bad"


def test_an_input_error_shows_no_traceback_in_ipython(capsys):
    shell = InteractiveShell.instance()
    shell.run_cell("from mtgender.study import InputError\n"
                   "raise InputError('no score', path='x.tsv', line=3, segment_id='a', hint='Add it')")
    shown = capsys.readouterr()
    assert "InputError: x.tsv, line 3, segment a: no score. Add it" in shown.out + shown.err
    assert "Traceback" not in shown.out + shown.err and "run_cell" not in shown.out + shown.err
    InteractiveShell.clear_instance()
