"""Printed tables: numbers as text, escaping, comparison, files, captions, sentences."""

import re

import numpy as np
import pandas as pd
import pytest
from conftest import PAIRS, write, write_scores

from mtgender import data, figures, inference, study, tables


@pytest.mark.parametrize("value, options, text", [
    (2.344, {}, "2.34"), (2.346, {}, "2.35"), (-1.5, {}, "−1.50"), (-0.001, {}, "0.00"), (-0.0, {}, "0.00"), (0.0, {"sign": True}, "0.00"),
    (0.004, {"sign": True}, "0.00"), (0.5, {"sign": True}, "+0.50"), (-0.5, {"decimals": 0}, "0"), (1234.5678, {"decimals": 1}, "1234.6"),
    (np.nan, {}, "–"), (None, {}, "–"), (pd.NA, {}, "–")])
def test_fixed(value, options, text):
    assert tables.fixed(value, **options) == text


def test_p_values_intervals_and_significant_digits():
    assert [tables.p_value(p) for p in (0.2345, 0.0009, 0.001, 0.0, 1.0, np.nan)] == [".234", "< .001", ".001", "< .001", "1.000", "–"]
    assert tables.interval(-0.001, 0.5) == "[0.00, 0.50]" and tables.interval(np.nan, 1) == "–"
    assert [tables.significant_digits(x) for x in (0.00123456, -12.3456, 0.0, -0.0, 123456, np.nan)] == [
        "0.00123", "−12.3", "0", "0", "123456", "–"]


# LaTeX and Markdown (CASES 32)

ODD = pd.DataFrame({"System": ["Vertical_870257", "A & B", "a|b", r"x\y", "#1 {50%} $5 ~^"],
                    "S%": ["0.00", "−1.50", "–", "< .001", "[0, 1]"]})


def test_latex_is_escaped():
    text = tables.latex(ODD, "S% of R_k & more", "t1")
    for part in (r"Vertical\_870257 & 0.00 \\", r"A \& B & $-$1.50 \\", r"S\% \\", r"x\textbackslash{}y & $<$ .001",
                 r"\caption{S\% of R\_k \& more}", r"\#1 \{50\%\} \$5 \textasciitilde{}\textasciicircum{}", r"\label{tab:t1}",
                 r"\begin{tabular}{lr}", r"a|b & -- \\"):
        assert part in text
    assert [text.count(r) for r in (r"\toprule", r"\midrule", r"\bottomrule")] == [1, 1, 1] and "-0.00" not in text
    assert tables.latex(ODD, "", "t", rules=[2]).splitlines()[10] == r"\midrule"
    assert tables.latex(ODD, "", "t", rules=[0, 5]).count(r"\midrule") == 1


def test_a_latex_row_that_starts_with_a_bracket_is_no_argument_of_the_line_before():
    text = tables.latex(pd.DataFrame({"a": ["x", "[y]", "*z"]}), "", "t")
    assert not re.search(r"(\\\\|rule)\s*[\[*]", text)


def test_markdown_keeps_pipes_in_their_cells():
    text = tables.markdown(ODD, "A caption.")
    lines = text.splitlines()
    assert lines[:2] == ["A caption.", ""] and len(lines) == 2 + 2 + len(ODD)
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines[2:]} == {3} and r"a\|b" in text
    assert "0.00" in text and len(tables.markdown(pd.DataFrame({"x|y": ["a\nb"]}), "").splitlines()) == 5
    assert r"x\|y" in tables.markdown(pd.DataFrame({"x|y": ["a"]}), "")


# comparison

def differing(old, new):
    return tables.differences(pd.DataFrame({"x": old}, dtype=str), pd.DataFrame({"x": new}, dtype=str))


@pytest.mark.parametrize("old, new", [
    (["1", "100"], ["1.00000000005", "100"]), (["1", "2"], ["1.0", "2.00"]), (["", "3"], ["", "3"]), (["nan", "a"], ["nan", "a"]),
    (["0", "5"], ["1e-13", "5"]), (["1e-9", "2e-9"], ["1.0000000001e-9", "2e-9"])])
def test_what_lies_within_tolerance_is_the_same(old, new):
    assert differing(old, new) == differing(new, old) == []


@pytest.mark.parametrize("old, new", [
    (["1", "100"], ["1.00000001", "100"]), (["1", ""], ["1", "0"]), (["0", "1"], ["1e-9", "1"]), (["a", "b"], ["a", "B"]), (["a"], ["a "]),
    (["1e-13", "1e-12"], ["2e-13", "1e-12"]), (["1"], ["-1"]), (["–"], ["0"]), (["0110"], ["110"]), (["007"], ["7"]), (["True"], ["1"]),
    (["inf", "1"], ["inf", "2"])])
def test_what_lies_beyond_is_named(old, new):
    for a, b in ((old, new), (new, old)):
        found = differing(a, b)
        row = next(i for i, (x, y) in enumerate(zip(a, b)) if x != y)
        assert found == [f"x, row {row + 1} ({a[row]!r} became {b[row]!r})"]


def test_other_shapes_differ():
    assert differing(["1"], ["1", "2"]) == ["1 rows became 2"]
    assert tables.differences(pd.DataFrame({"a": ["1"]}), pd.DataFrame({"b": ["1"]})) == ["columns ['a'] became ['b']"]
    assert len(differing(["1"] * 9, ["2"] * 9)) == 6 and "9 rows in all" in differing(["1"] * 9, ["2"] * 9)[-1]


def test_csv_cells(tmp_path):
    frame = pd.DataFrame({"name": ["NA", "null", 'a"b,c', "0110"], "x": [1 / 3, -0.0, np.nan, 1e-20],
                          "n": pd.array([1, None, 3, 4], "Int64"), "yes": pd.array([True, False, None, True], "boolean")})
    assert tables.write_csv(frame, tmp_path / "t.csv")
    got = tables.read_csv(tmp_path / "t.csv")
    assert list(got["name"]) == ["NA", "null", 'a"b,c', "0110"] and list(got["x"]) == ["0.333333333333", "0", "", "1e-20"]
    assert list(got["n"]) == ["1", "", "3", "4"] and list(got["yes"]) == ["True", "False", "", "True"]


# files

def test_files_are_rewritten_only_beyond_tolerance(mini_study):
    chosen = study.load(mini_study)

    def put(x):
        frame = pd.DataFrame({"system": ["a"], "x": [x]})
        tables.write(chosen, "t", frame, frame.assign(x=[tables.fixed(x)]), "Caption.")
        return [(chosen.tables / f"t.{s}").read_bytes() for s in ("csv", "md", "tex")]
    first = put(0.3412)
    assert first[0] == b"system,x\na,0.3412\n" and b"0.34" in first[1] and b"0.34" in first[2]
    assert put(0.3412 * (1 + 1e-11)) == first
    changed = put(0.3412 * (1 + 1e-8))
    assert changed[0] != first[0] and changed[1:] == first[1:]
    assert b"0.35" in put(0.35)[1] and not list(chosen.tables.glob(".*"))


def test_a_new_caption_is_written_though_the_numbers_stay(mini_study):
    chosen, frame = study.load(mini_study), pd.DataFrame({"x": ["1"]})
    for caption in ("Old.", "New."):
        tables.write(chosen, "t", frame, frame, caption)
    assert "New." in (chosen.tables / "t.md").read_text() and "New." in (chosen.tables / "t.tex").read_text()


# captions and sentences

def test_captions_carry_the_settings(mini_study, repository):
    text = tables.settings(study.load(mini_study))
    for part in ("95%", "300 replicates", "seed 20260801", "range per evaluator", "weighting of occupations, not sampling"):
        assert part in text
    for level, shown in (("0.975", "97.5"), ("0.9", "90"), ("0.999", "99.9")):
        odd = write(repository / "studies" / "odd.yaml", "extends: mini", f"level: {level}", "range: run")
        assert re.search(rf"\b{shown} ?%", tables.settings(study.load(odd))) and "per run" in tables.settings(study.load(odd))


def test_significance_sentence_counts_the_family():
    frame = pd.DataFrame({"system": list("abcde"), "language": ["de", "ru", "de", "de", "cs"], "signed": [1.0, -1.0, 1.0, 2.0, -3.0],
                          "p_adjusted": [0.01, 0.02, 0.3, np.nan, 0.04],
                          "significant": pd.array([True, True, False, None, True], "boolean")})
    text = tables.significance_sentence(frame, 0.05)
    assert text.startswith("3 of 4 metric runs differ from zero at q = 0.05 (Benjamini–Hochberg over 4 runs)")
    assert "1 favour the masculine variant and 2 the feminine one: b (RU), e (CS)." in text
    assert tables.significance_sentence(frame.iloc[3:4], 0.05) == "No score run of a metric: nothing to test."


def test_groups_and_order():
    roles = {"c": ["control"], "f": ["fluency"], "m": ["control", "metric"], "b": ["metric"]}
    runs = pd.DataFrame([{"system": s, "role": r, "label": s.upper(), "references": s == "m", "baseline": s == "f"}
                         for s in roles for r in roles[s]])
    assert tables.in_order(runs) == ["m", "b", "f", "c"]
    assert tables.system_label(runs, "m") == "M (RB)" and tables.system_label(runs, "f") == "F† (RF)"


@pytest.fixture
def results(mini_study):
    def make(*more):
        chosen = study.load(write(mini_study, mini_study.read_text(), *more))
        data.prepare(chosen)
        inference.infer(chosen)
        return inference.Results(chosen)
    return make


def test_the_tables_of_a_small_study(results):
    got = results("publish: false")
    frame, printed, rule = tables.score_prediction(got)
    assert list(frame["system"]) == ["noise", "length"] and rule == 1 and printed.loc[0, "Evaluator"] == "Noise (RF)"
    assert printed.loc[1, "DE"] == "0.00 / 0.00" and "Macro-1" in printed
    errors, printed = tables.error_annotation(got)
    assert printed.loc[0, "difference"] == "+33.3" and printed.loc[0, "p"] == "< .001"
    assert set(tables.coverage(got)[0]["status"]) == {"ok"} and "0 of 1 metric runs" in tables.headline(got)
    effects = tables.occupation_effects(got)
    assert len(effects) == 12 and list(effects["macro"]) == sorted(effects["macro"])
    assert effects["macro"].mean() == pytest.approx(got.score_runs.loc[0, "signed_pct"])
    assert set(tables.reliability(got)) == {"de"}


def test_a_missing_run_prints_a_dash(results, repository):
    write(repository / "scores" / "length" / "de.tsv", "broken")
    got = results()
    frame, printed, _ = tables.score_prediction(got)
    assert printed.loc[1, "DE"] == "–" and np.isnan(frame.loc[1, "signed_pct_de"])
    _, coverage = tables.coverage(got)
    assert list(coverage["Status"]) == ["ok", "refused", "ok"] and coverage.loc[1, "Note"].startswith("scores/length/de.tsv, line 1")


@pytest.mark.parametrize("kind", ["scores", "annotations"])
def test_tables_of_a_study_where_every_run_of_a_kind_is_refused(results, repository, kind):
    for path in (repository / kind).rglob("de.*"):
        write(path, "broken")
    got = results()
    assert tables.headline(got) and len(tables.coverage(got)[1]) == 3
    if kind == "scores":
        _, printed, _ = tables.score_prediction(got)
        assert set(printed["DE"]) == {"–"} and len(tables.rates(got)[1]) == 0
        assert tables.reliability(got) == {} and not len(tables.language_table(got)[1])
    else:
        assert not len(tables.error_annotation(got)[1])


def test_constant_evaluators_print_dashes(results, repository):
    write_scores(repository / "scores" / "length" / "de.tsv", dict.fromkeys(PAIRS, (1, 1)))
    _, printed, _ = tables.score_prediction(results())
    assert printed.loc[1, "DE"] == printed.loc[1, "Macro (available)"] == "–"


@pytest.mark.parametrize("seed", range(20))
def test_labels_cover_neither_points_nor_each_other(seed):
    rng = np.random.default_rng(seed)
    points, lengths = rng.uniform(20, 280, (9, 2)), rng.uniform(30, 90, 9)
    boxes = []
    for (x, y), length, (dx, dy) in zip(points, lengths, figures.label_offsets(points, lengths, 300, 300)):
        left = x + dx if dx > 0 else x + dx - length
        boxes.append((left, y + dy - 5, left + length, y + dy + 5))
    dots = [(x - 5, y - 5, x + 5, y + 5) for x, y in points]
    for i, a in enumerate(boxes):
        assert 0 < a[0] and a[2] < 300 and 0 < a[1] and a[3] < 300
        assert not any(a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3] for b in [*boxes[:i], *dots])
