"""Our own formats, read strictly: the inputs of CASES.md (numbers in brackets) as small files."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from conftest import PAIRS, annotations, random_scores, write, write_pairs, write_scores
from hypothesis import given
from hypothesis import strategies as st

from mtgender import data, isco, study
from mtgender.study import InputError

IDS = pd.Series(["a", "b", "c"])
HEADER = ("segment_id", "masculine", "feminine")
GOOD = [HEADER, ("a", 0.1, 0.2), ("b", 0.3, 0.4), ("c", 0.5, 0.6)]
TEXTS = pd.DataFrame({"segment_id": ["a", "b"], "masculine": ["Der Arzt kam.", "Er 𝔤ing."], "feminine": ["Die Ärztin kam.", "Sie 𝔤ing."]})


def refused(read, path, problem, line=None, segment=None, hint=True):
    """`read` raises one InputError, in one line, that names the file, the line, the segment and what to do."""
    with pytest.raises(InputError) as caught:
        read()
    error = caught.value
    assert re.search(problem, error.problem), error.problem
    assert error.path == path and study.display_path(path) in str(error)
    assert error.line == line and error.segment_id == segment
    assert bool(error.hint) >= hint and "\n" not in str(error)
    return str(error)


def scores(tmp_path, *rows, end="\n", **options):
    return data.read_scores(write(tmp_path / "s.tsv", *rows, end=end), IDS, **options)


def values(frame):
    return frame.set_index("segment_id")[["masculine", "feminine"]].T.to_dict("list")


# ISCO

def test_isco():
    assert dict(isco.table()["level"].value_counts()) == {1: 10, 2: 43, 3: 130, 4: 436}
    assert len(isco.unit_groups()) == 436 and isco.unit_groups()[:3] == ["0110", "0210", "0310"]
    assert [isco.pad(x) for x in ("110", "210", "310", "0110", "7126")] == ["0110", "0210", "0310", "0110", "7126"]      # [1]
    assert list(isco.parent(pd.Series(["7126", "0110"]), 2)) == ["71", "01"]
    for bad in ("9999", "71", "71260", "", "abc", "7126.0", "-110"):
        with pytest.raises(InputError, match="ISCO-08 unit group"):
            isco.pad(bad)


def test_an_isco_file_with_other_counts_is_refused(tmp_path):
    with pytest.raises(InputError, match="expected"):
        isco.table(write(tmp_path / "isco.csv", "code,level,title", "1,1,Managers"))


# lines

@pytest.mark.parametrize("content, lines", [
    (b"a\nb\n", ["a", "b"]), (b"a\nb", ["a", "b"]), (b"", []), (b"\n", [""]), (b"a\n\nb\n", ["a", "", "b"]),             # [13]
    (b"\xef\xbb\xbfa\n", ["a"]), (b"a\r\nb\r\n", ["a", "b"]), (b"a\r\nb", ["a", "b"]),                                   # [16] [10]
    (b"a\rx\nb\n", ["a\rx", "b"]), (b"a\r\nx\ry\r\n", ["a", "x\ry"]), (b"a\nb\r\n", ["a", "b\r"]),
    ("a\u2028b\x85c\x0bd\x1ce\x0cf\n".encode(), ["a\u2028b\x85c\x0bd\x1ce\x0cf"])])                                     # [11]
def test_text_is_split_on_lf_only(tmp_path, content, lines):
    path = tmp_path / "x"
    path.write_bytes(content)
    assert data.read_lines(path) == lines


def test_unreadable_files(tmp_path):
    (tmp_path / "latin").write_bytes("a\nä\n".encode("latin-1"))
    refused(lambda: data.read_lines(tmp_path / "latin"), tmp_path / "latin", "not UTF-8", line=2)
    refused(lambda: data.read_lines(tmp_path / "none"), tmp_path / "none", "no such file", hint=False)
    refused(lambda: data.read_lines(tmp_path), tmp_path, "folder", hint=False)


# score files

def test_a_score_file(tmp_path):
    got = scores(tmp_path, *GOOD)
    assert values(got) == {"a": [0.1, 0.2], "b": [0.3, 0.4], "c": [0.5, 0.6]} and set(got["decimals"]) == {1}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_ids_join_and_positions_never_do(tmp_path, end):
    rows = [("feminine", "segment_id", "masculine"), *((f, i, m) for i, m, f in reversed(GOOD[1:]))]                    # [18]
    assert values(scores(tmp_path, *rows, end=end)) == values(scores(tmp_path, *GOOD))
    assert values(scores(tmp_path, "\ufeff" + "\t".join(HEADER), *GOOD[1:])) == values(scores(tmp_path, *GOOD))          # [16]


def test_lower_is_better_is_negated(tmp_path):
    got = scores(tmp_path, HEADER, ("a", 0, 25), ("b", -3, 7), ("c", 100, 1e3), higher_is_better=False)                 # [21]
    assert values(got) == {"a": [0, -25], "b": [3, -7], "c": [-100, -1000]} and "-0" not in str(values(got)["a"])


@pytest.mark.parametrize("cells, decimals", [(("1", "2"), 0), (("0.25", "1.5"), 2), (("0.8312000", "1"), 7), (("1e-07", "2.5e-05"), 7)])
def test_decimals_as_printed(tmp_path, cells, decimals):                                                                # [26]
    assert set(data.read_scores(write_scores(tmp_path / "s.tsv", {"a": cells}), IDS[:1])["decimals"]) == {decimals}


@pytest.mark.parametrize("rows, problem, line, segment", [
    (GOOD[:3], "1 of 3 segments are missing: c", None, "c"), (GOOD[2:], "header is", 1, None),                          # [3] [12] [18]
    ([HEADER, *GOOD[2:]], "1 of 3 segments are missing: a", None, "a"), ([HEADER], "3 of 3 segments are missing", None, "a"),
    ([*GOOD, ("b", 1, 2)], r"occurs twice \(first on line 3\)", 5, "b"), ([*GOOD, ("d", 1, 2)], "not in", 5, "d"),        # [6]
    ([*GOOD, ""], "1 cells, expected 3", 5, None), ([], "empty file", None, None),
    ([HEADER, ("a", 0.1, 0.2, ""), *GOOD[2:]], "4 cells, expected 3", 2, "a"), ([HEADER, ("a", 1), *GOOD[2:]], "2 cells", 2, "a"),  # [17]
    ([(*HEADER, "masculine"), *GOOD[1:]], "header is", 1, None), ([("id", *HEADER[1:]), *GOOD[1:]], "header is", 1, None),
    *(([HEADER, GOOD[1], ("b", 0.3, bad), GOOD[3]], "feminine score .* is not a finite number", 3, "b")                   # [4] [20]
      for bad in ("None", "", "nan", "NaN", "NA", "-inf", "inf", "1e400", "8,5", "85/100", "0x1", "1_000", "True", "٣"))])
def test_bad_score_files_are_refused(tmp_path, rows, problem, line, segment):
    path = write(tmp_path / "s.tsv", *rows)
    refused(lambda: data.read_scores(path, IDS), path, problem, line, segment)


BEYOND = ("1e-400", "-1e-99999999999999999999", "0.1e-999999", "1.1e150", "-1.7976931348623157e308", "+1" + "0" * 200)
BAD_CELLS = ("1e999", "-1e400", "inf", "nan", "NaN", " 1", "1 ", "١", "1٣", "1_000", "0x1", "", "None", "1e", ".", "-", "+-1", "1.2.3",
             "１", "infinity", "1\r", "1e5.0", "e5")
GOOD_CELLS = ("1", "+1", "-0", "1.", ".5", "+.5e+05", "1E-3", "007", "4.9e-324", "0.1", "1e22", "123456789012345678901234567890",
              "-1e150", "0e99999999999999999999", "-0.00e-99999999999999999999", "2.2250738585072011e-308")


def comparable(text):
    """Whether a cell is a finite number that a float holds and whose differences are finite."""
    value = data.number(text)
    return value is not None and abs(value) <= data.LARGEST and (value != 0 or not set(text.lower().partition("e")[0]) & set("123456789"))


cells = st.one_of(st.sampled_from(GOOD_CELLS), st.floats(allow_nan=False, allow_infinity=False).map(repr),
                  st.from_regex(rf"\A{data.NUMBER.pattern}\Z"), st.floats(-1e9, 1e9).flatmap(
                      lambda x: st.sampled_from([f"{x:.0f}", f"{x:.7g}", f"{x:+.4f}", f"{x:e}", f"{x:G}"]))).filter(comparable)
anything = st.one_of(cells, st.sampled_from(BAD_CELLS + BEYOND), st.text("0123456789+-.eE _xinfNa١\n\r", max_size=8), st.text(max_size=4))


@given(st.lists(st.tuples(anything, anything), min_size=1, max_size=6), st.booleans())
def test_cells_at_once_are_what_each_is_alone(pairs, higher):
    """The vectorised reading against `number` and `decimals` of every cell, to the bit; the first bad cell is refused as ever."""
    ids = pd.Series([str(i) for i in range(len(pairs))])
    frame = pd.DataFrame({"segment_id": ids, "masculine": [m for m, _ in pairs], "feminine": [f for _, f in pairs],
                          "line": range(2, len(pairs) + 2)})
    alone = {side: [data.number(c) for c in frame[side].tolist()] for side in HEADER[1:]}
    bad = [(side, i) for side in HEADER[1:] for i, c in enumerate(frame[side].tolist()) if not comparable(c)]
    if bad:
        side, i = bad[0]
        cell = frame[side].tolist()[i]
        with pytest.raises(InputError) as caught:
            data.check_scores(frame, Path("s.tsv"), ids, higher)
        problem = "is not a finite number" if alone[side][i] is None else "cannot be compared: expected 0, or 1e-323 to 1e+150 in size"
        said = f"{side} score {data.shown(cell)} {problem}"
        assert (caught.value.problem, caught.value.line, caught.value.segment_id) == (said, i + 2, str(i))
        assert ("allow_partial" in caught.value.hint) == (cell in data.MISSING)
        return
    got = data.check_scores(frame, Path("s.tsv"), ids, higher)
    for side, expected in alone.items():
        assert [x.hex() for x in got[side].tolist()] == [(x * (1.0 if higher else -1.0) + 0.0).hex() for x in expected]
    both = frame["masculine"].tolist() + frame["feminine"].tolist()
    assert set(got["decimals"]) == {max(map(data.decimals, both))}


@given(st.lists(cells, min_size=1, max_size=5))
def test_every_accepted_spelling_at_once(texts):
    at_once = data.numbers(pd.Series(texts))
    assert at_once is None or [x.hex() for x in at_once.tolist()] == [data.number(t).hex() for t in texts]
    assert data.most_decimals(pd.Series(texts)) == max(map(data.decimals, texts))


@pytest.mark.parametrize("cell", BEYOND)
@pytest.mark.parametrize("partial", [False, True])
def test_scores_that_cannot_be_compared_are_refused(tmp_path, cell, partial):
    path = write(tmp_path / "s.tsv", *GOOD[:3], ("c", cell, 0))
    refused(lambda: data.read_scores(path, IDS, partial=partial), path, "cannot be compared", 4, "c")


@pytest.mark.parametrize("text", ["0e-999999", "0.0e-" + "9" * 5000, "1." + "1" * 2000])
def test_decimals_have_an_end(text):
    assert data.decimals(text) == data.most_decimals(pd.Series(["0.5", text])) == 999 and data.decimals("0.1e" + "9" * 5000) == 0


def test_plain_numbers_take_the_fast_way(tmp_path, monkeypatch):
    """A slow way that is always taken would pass every other test."""
    with monkeypatch.context() as m:
        m.setattr(data, "number", None)
        assert len(scores(tmp_path, *GOOD)) == 3
    assert data.numbers(pd.Series(["0.25", "-1e-05", "17", "1.", ".5"])).tolist() == [0.25, -1e-05, 17, 1, 0.5]
    assert all(data.numbers(pd.Series(["1", bad])) is None and data.number(bad) is None for bad in BAD_CELLS)


def test_the_first_of_several_missing_segments_is_named(tmp_path):
    path = write(tmp_path / "s.tsv", HEADER, ("b", 1, 2))
    assert "2 of 3 segments are missing: a, c" in refused(lambda: data.read_scores(path, IDS), path, "missing", None, "a")


def test_partial_runs_only_where_allowed(tmp_path):
    rows = [HEADER, ("a", 0.1, 0.2), ("b", "None", 0.4)]
    assert values(scores(tmp_path, *rows, partial=True)) == {"a": [0.1, 0.2]}             # left out, never filled
    path = tmp_path / "s.tsv"
    assert "allow_partial" in refused(lambda: data.read_scores(path, IDS), path, "missing", None, "c")
    for bad, problem in ((("b", 1, "-inf"), "not a finite number"), (("b", "1e400", 1), "not a finite number"),
                         (("a", 1, 2), "occurs twice"), (("d", 1, 2), "not in"), (("d", "None", 2), "not in")):
        write(path, *rows[:2], bad)
        refused(lambda: data.read_scores(path, IDS, partial=True), path, problem, 3, bad[0])
    write(path, HEADER, ("a", "None", "None"))
    refused(lambda: data.read_scores(path, IDS, partial=True), path, "no score at all", hint=False)


def test_ids_are_opaque_text(tmp_path):                                                                                 # [15] [14]
    ids = ["NA", "None", "n/a", "nan", "1e5", "007", "7", '"open', "a b", "é", "null", ""]
    path = write_scores(tmp_path / "s.tsv", {i: (n, 0) for n, i in enumerate(ids)})
    assert values(data.read_scores(path, pd.Series(ids))) == {i: [n, 0] for n, i in enumerate(ids)}


# pairs

def test_pairs(tmp_path):
    pairs = data.read_pairs(write_pairs(tmp_path / "set"), "de")
    assert list(pairs["segment_id"]) == sorted(PAIRS) and set(pairs["isco"]) == {i[:4] for i in PAIRS}
    one = pairs.set_index("segment_id").loc["7126-statement"]
    assert (one["masculine"], one["feminine"]) == ("Der Klempner kam am Montag.", "Die Klempnerin kam am Montag.")
    assert one["source"] == "The Klempner came." and one["term"] == "Klempner"


def test_odd_texts_survive(tmp_path):
    odd = '"Der\rHerr\u2028sagt: \x85{er|sie} \\n kommt'                                                                # [9] [10] [11] [14]
    pairs = {"NA": ("110", "report", '"x', odd), "007": ("7126", "report", "null", odd)}                                # [6] [15] [1]
    got = data.read_pairs(write_pairs(tmp_path / "set", pairs), "de")
    assert list(got["segment_id"]) == ["007", "NA"] and set(got["markup"]) == {odd} and set(got["isco"]) == {"0110", "7126"}
    assert set(got["feminine"]) == {odd.replace("{er|sie}", "sie")}


@pytest.mark.parametrize("text, problem", [("Er kam.", "are the same"), ("{er|er} kam.", "are the same"), ("", "are the same"),
                                           ("{er|sie kam.", "brace"), ("{er|sie} k|m", "brace"), ("{er|sie|es} kam", "brace")])
def test_bad_pairs_are_refused(tmp_path, text, problem):
    pairs = {"a": ("7126", "report", "x", "{er|sie}"), "b": ("7126", "report", "x", text)}
    write_pairs(tmp_path / "set", pairs)
    refused(lambda: data.read_pairs(tmp_path / "set", "de"), tmp_path / "set" / "de.tsv", problem, 3, "b", hint=False)


def test_bad_sources_and_unequal_files_are_refused(tmp_path):
    folder = tmp_path / "set"
    for code, kind, problem in (("9999", "report", "ISCO-08"), ("7126", "novel", "text type")):
        write_pairs(folder, {"a": ("7126", "report", "x", "{er|sie}"), "b": (code, kind, "x", "{er|sie}")})
        refused(lambda: data.read_pairs(folder, "de"), folder / "en.tsv", problem, 3, "b", hint=False)
    write_pairs(folder)
    for ids, problem, line, segment in ((list(PAIRS)[:-2], "2 of 36 segments are missing", None, "9313-report"),            # [12]
                                        ([*PAIRS, "x"], "not in", 38, "x"), ([*PAIRS, "7126-report"], "occurs twice", 38, "7126-report")):
        write(folder / "de.tsv", ("segment_id", "occupation", "text"), *((i, "x", "{er|sie}") for i in ids))
        refused(lambda: data.read_pairs(folder, "de"), folder / "de.tsv", problem, line, segment)
    write_pairs(folder, {})
    with pytest.raises(InputError):
        data.read_pairs(folder, "de")


pieces = st.text(st.characters(exclude_characters="{}|\n\t", exclude_categories=["Cs"]), max_size=5)


@given(st.lists(st.tuples(pieces, pieces, pieces), max_size=5), pieces)
def test_spans_point_at_the_gendered_parts(parts, end):
    markup = "".join(f"{shared}{{{m}|{f}}}" for shared, m, f in parts) + end
    for side, text in enumerate(data.variants(markup)):
        assert text == "".join(p[0] + p[side + 1] for p in parts) + end
        found = data.spans(markup)[side]
        assert [text[a:b] for a, b in found] == [p[side + 1] for p in parts]
        rest = "".join(text[a:b] for (_, a), (b, _) in zip([(0, 0), *found], [*found, (len(text), 0)]))
        assert rest == "".join(p[0] for p in parts) + end


def test_gender_density():
    assert data.gender_density("{Der gute|Die gute} kam {er|sie} an dem") == pytest.approx(3 / 6)
    assert data.gender_density("{Ein|Eine junge} kam") == pytest.approx((1 / 2 + 2 / 3) / 2)


# annotations

def record(segment="a", variant="masculine", **changes):
    return json.dumps({"segment_id": segment, "variant": variant, "errors": [], "omission": False, "instruction_fault": False} | changes)


def span(start, end):
    return {"errors": [{"start": start, "end": end, "severity": "minor", "category": "x"}]}


ALL = [record(i, v) for i in "ab" for v in ("masculine", "feminine")]


def test_annotations(tmp_path):
    lines = [record("b", "feminine", **span(4, 5), omission=True), *ALL[:3]]                # 𝔤 is one code point
    got = data.read_annotations(write(tmp_path / "a.jsonl", *lines), TEXTS).set_index(["segment_id", "variant"])
    assert len(got) == 4 and got.loc[("b", "feminine"), ["n_errors", "omission"]].tolist() == [1, True]
    assert got.loc[("b", "feminine"), "errors"] == [(4, 5, "minor", "x")] and TEXTS["feminine"][1][4:5] == "𝔤"
    whole = [record("b", "masculine", **span(0, 8)), *ALL[:2], ALL[3]]
    assert data.read_annotations(write(tmp_path / "a.jsonl", *whole, end="\r\n"), TEXTS)["n_errors"].sum() == 1


@pytest.mark.parametrize("last, problem, segment", [                                                                    # [19]
    (record("b", "feminine", **span(0, 10)), "does not lie", "b"), (record("b", "feminine", **span(5, 3)), "does not lie", "b"),
    (record("b", "feminine", **span(-1, 3)), "does not lie", "b"), (record("b", "feminine", **span(0.0, 3)), "whole numbers", "b"),
    (record("b", "feminine", **span("0", "3")), "whole numbers", "b"), (record("b", "feminine", **span(False, True)), "whole numbers", "b"),
    (record("b", "feminine", errors=[{"start": 1}]), "whole numbers", "b"), (record("b", "feminine", errors=None), "not a list", "b"),
    (record("b", "feminine", errors=["x"]), "whole numbers", "b"), (record("b", "feminine", omission=None), "true or false", "b"),
    (record("b", "neuter"), "variant", "b"), (record("x", "feminine"), "not in", "x"), (record(["b"], "feminine"), ".", None),
    (record("b", "masculine"), "occurs twice", "b"), ("", "not a JSON", None), ("{", "not a JSON", None), ("[]", "not a JSON", None),
    ('{"segment_id": "b", "variant": "feminine"}', "expected the keys", None), ("[" * 3000 + "]" * 3000, "nested too deeply", None),
    (record("b", "feminine", x=[]).replace("[]", "[" * 3000 + "]" * 3000), "nested too deeply", None),
    (record("b", "feminine", **span("9" * 5000, 3)).replace('"9', "9").replace('9"', "9"), "not a JSON", None),
    (record("b", "feminine", **span(0, int("9" * 3000))), "span 0-99*[.]{3}9* does not lie", "b"),
    (record("b", "feminine")[:-1] + ', "errors": []}', "key 'errors' occurs twice", None),
    (record("b", "feminine", **span(0, 3)).replace('"start": 0', '"start": 0, "start": 1'), "key 'start' occurs twice", None),
    *((record("b", "feminine", errors=[span(0, 3)["errors"][0] | {key: value}]), f"{key} .* is not a text", "b")
      for key in ("category", "severity") for value in ({"a": 1}, ["x"], 1, {})),
    *((record("b", "feminine", errors=[span(0, 3)["errors"][0] | {key: "\ud800"}]), "half a surrogate pair", None)
      for key in ("category", "severity", "\udfff")), (record("b\ud83d", "feminine"), "half a surrogate pair", None),
    *((record(f"b{c}", "feminine"), "holds a control character", None) for c in "\n\t\0\r\x1b\x85")])
def test_bad_annotations_are_refused(tmp_path, last, problem, segment):
    path = write(tmp_path / "a.jsonl", *ALL[:3], last)
    for partial in (False, True):
        try:
            assert list(data.read_annotations(path, TEXTS, partial)["segment_id"]) == ["a", "a"] and partial and segment == "b"
        except InputError as error:
            assert error.path == path and error.line == 4 and (segment is None or error.segment_id == segment)
            assert re.search(problem, error.problem) and error.hint and str(error).isprintable() and len(str(error)) < 600
            assert not partial or "allow_partial" not in error.hint


def test_json_escapes_of_whole_characters_are_read(tmp_path):
    texts = TEXTS.assign(segment_id=["a", "𝔤"])
    lines = [record(i, v, **(span(4, 5) if i == "𝔤" and v == "feminine" else {})) for i in texts["segment_id"] for v in texts.columns[1:]]
    assert r"\ud835\udd24" in lines[2] and data.read_annotations(write(tmp_path / "a.jsonl", *lines), texts)["n_errors"].sum() == 1


def test_incomplete_annotations(tmp_path):
    path = write(tmp_path / "a.jsonl", *ALL[:3])
    refused(lambda: data.read_annotations(path, TEXTS), path, "only the masculine variant", 3, "b", hint=False)
    assert list(data.read_annotations(path, TEXTS, partial=True)["segment_id"]) == ["a", "a"]
    malformed = write(tmp_path / "m.jsonl", *ALL[:3], record("b", "feminine", **span(0, 99)))
    assert list(data.read_annotations(malformed, TEXTS, partial=True)["segment_id"]) == ["a", "a"]      # invalid, never error-free
    half = write(tmp_path / "h.jsonl", *ALL[:2])
    assert "allow_partial" in refused(lambda: data.read_annotations(half, TEXTS), half, "1 of 2 segments are missing", None, "b")
    for partial in (False, True):
        with pytest.raises(InputError):
            data.read_annotations(write(tmp_path / "e.jsonl"), TEXTS, partial=partial)


# gender labels and counts

MADE = pd.DataFrame({"segment_id": ["a", "b"], "text": ["Der Arzt kam.", "Sie ging."]})
LABEL = {"segment_id": "a", "term": "Arzt", "start": "4", "end": "8", "isco": "2211", "gender": "masculine", "detector": "x"}
NONE = LABEL | {"segment_id": "b", "term": "", "start": "0", "end": "0", "isco": "", "gender": "excluded"}


def labels(path, *rows):
    return write(path, tuple(data.GENDER_LABELS), *(tuple(row.values()) for row in rows))


def test_gender_labels(tmp_path):
    got = data.read_genders(labels(tmp_path / "g.tsv", NONE, LABEL), MADE)
    assert got[["start", "end"]].to_numpy().tolist() == [[4, 8], [0, 0]] and list(got["found_isco"]) == ["2211", ""]


@pytest.mark.parametrize("change, problem", [
    *(({"end": bad}, "offsets") for bad in ("９", "9" * 10, "9" * 30, "9" * 5000, "-1", "", "8.0")), ({"start": "٤"}, "offsets"),
    *(({"isco": bad}, "is no ISCO-08 unit group") for bad in ("abc", "9999", "22", "110")), ({"gender": "f"}, "gender"),
    ({"start": "3"}, "does not stand"), ({"term": "kam.", "start": "9", "end": "99"}, "does not stand"), ({"term": ""}, "does not stand"),
    ({"term": "", "start": "99", "end": "99", "gender": "excluded"}, "does not stand"),
    ({"term": "", "start": "4", "end": "4"}, "without a term")])
def test_bad_gender_labels_are_refused(tmp_path, change, problem):
    path = labels(tmp_path / "g.tsv", NONE, LABEL | change)
    refused(lambda: data.read_genders(path, MADE), path, problem, 3, "a")


COUNT = {"source": "X", "system": "s", "language": "de", "subset": "", "occupation": "plumber", "isco": "7126", "masculine": "5",
         "feminine": "1", "not_clear": "0", "excluded": "0"}


def counts(path, *rows):
    return write(path, ",".join(data.GENDER_COUNTS), *(",".join(row.values()) for row in rows))


@pytest.mark.parametrize("change, problem", [
    *(({"language": bad}, "language .*, expected one of ar, ") for bad in ("xx", "a/b", "", "DE")), ({"source": ""}, "source is empty"),
    *(({"system": bad}, "system is empty") for bad in ("", " ")), ({"occupation": ""}, "occupation is empty"),
    *(({"feminine": bad}, "is not a count") for bad in ("1" * 16, "1" * 30, "1" * 5000, "٣", "", "-1"))])
def test_bad_rows_of_counts_are_refused(tmp_path, change, problem):
    path = counts(tmp_path / "c.csv", COUNT, COUNT | {"occupation": "baker", "isco": "", "feminine": "9" * 15})
    assert list(data.read_counts(path)["feminine"]) == [1, 10 ** 15 - 1]
    counts(path, COUNT, COUNT | {"occupation": "baker", "isco": "7512"} | change)
    assert len(refused(lambda: data.read_counts(path), path, problem, 3)) < 400


def test_counts_of_nothing_are_refused(tmp_path):
    path = counts(tmp_path / "c.csv")
    refused(lambda: data.read_counts(path), path, "no row below the header")


def test_counts_in_two_files_of_a_study_do_not_double(mini_study, repository):
    counts(repository / "one.csv", COUNT)
    counts(repository / "two.csv", COUNT | {"system": "t"}, COUNT)
    counts(repository / "three.csv", COUNT | {"subset": "other"})
    chosen = study.load(write(mini_study, mini_study.read_text() + "gender_counts: [one.csv, two.csv, three.csv]"))
    runs = data.prepare(chosen).set_index("system")
    assert runs.loc[["one", "two", "three"], "status"].tolist() == ["ok", "refused", "ok"]
    assert runs.loc["two", "problem"].startswith("two.csv, line 3: 'plumber' of 's' (de) is counted in one.csv too. ")
    assert pd.read_parquet(chosen.prepared / "gender_counts.parquet")["masculine"].sum() == 10
    assert data.counted_runs(chosen) == [("X", "s", "de")]                       # what is refused counts for nothing


def test_counts_of_what_the_study_counts_itself_do_not_double(tmp_path):
    path = counts(tmp_path / "c.csv", COUNT | {"source": "mini"}, COUNT | {"source": "mini", "subset": "mini"})
    own = SimpleNamespace(pairs=tmp_path / "mini", translations={"m": SimpleNamespace(label="s")}, runs=lambda kind: [("m", "de")],
                          gender_counts=[path])
    (_, error), = data._counts(own)
    assert "own translations" in error.problem and error.line == 3
    counts(path, COUNT | {"source": "mini"})
    assert [len(frame) for _, frame in data._counts(own)] == [1]


# hints

def test_partial_runs_are_named_only_where_they_are_a_way_out(tmp_path, mini_study, repository):
    """`allow_partial` changes nothing about pairs, references, labels and the texts with a neutral variant."""
    write(tmp_path / "r.tsv", ("segment_id", "text"), ("a", "x"))
    labels(tmp_path / "g.tsv", LABEL)
    write_pairs(tmp_path / "set")
    write(tmp_path / "set" / "de.tsv", *(tmp_path / "set" / "de.tsv").read_text().split("\n")[:-2])
    sides = ("masculine", "feminine", "neutral")
    frames = [pd.DataFrame({"segment_id": ["a"], **dict.fromkeys(sides, "1"), "line": [2]}),
              pd.DataFrame({"segment_id": ["a", "b"], **dict.fromkeys(sides, ["1", "None"]), "line": [2, 3]})]
    for read in (lambda: data.read_texts(tmp_path / "r.tsv", IDS), lambda: data.read_genders(tmp_path / "g.tsv", MADE),
                 lambda: data.read_pairs(tmp_path / "set", "de"), *(lambda frame=frame: data.check_scores(
                     frame, tmp_path / "n.tsv", IDS[:2], sides=sides) for frame in frames)):
        with pytest.raises(InputError, match="missing|'None'") as caught:
            read()
        assert caught.value.hint and "allow_partial" not in caught.value.hint and "None" not in caught.value.hint
    path = write(tmp_path / "a.jsonl", *ALL[:3])
    assert "allow_partial" in refused(lambda: data.read_annotations(path, TEXTS), path, "only the masculine", 3, "b")


# a study's files

def test_a_study_without_runs_is_prepared(mini_study):
    chosen = study.load(write(mini_study, "pairs: data/mini", "languages: [de]"))
    made, read = data.prepare(chosen), data.read_runs(chosen)
    assert len(made) == len(read) == 0 and list(made) == list(read) and "status" in made


def test_scores_printed_with_many_decimals_are_prepared(mini_study, repository):
    write_scores(repository / "scores" / "noise" / "de.tsv", random_scores(1) | {"7126-report": ("0e-99999999999999999999", 1)})
    chosen = study.load(mini_study)
    data.prepare(chosen)
    assert data.read_runs(chosen).set_index("system").loc["noise", ["status", "decimals"]].tolist() == ["ok", 999]


def test_prepare_refuses_a_bad_run_and_goes_on(mini_study, repository):
    write_scores(repository / "scores" / "noise" / "de.tsv", random_scores(1) | {"7126-report": ("nan", 1)})
    write(repository / "annotations" / "spell" / "de.jsonl", *annotations()[1:])
    runs = data.prepare(study.load(mini_study)).set_index("system")
    assert dict(runs["status"]) == {"noise": "refused", "length": "ok", "spell": "refused"}
    assert re.fullmatch(r"scores/noise/de\.tsv, line 30, segment 7126-report: .+", runs.loc["noise", "problem"])
    assert runs.loc["spell", "problem"].startswith("annotations/spell/de.jsonl, line") and runs.loc["length", "n"] == 36


def test_prepare_names_what_it_cannot_read_at_all(mini_study, repository):
    (repository / "scores" / "noise" / "de.tsv").unlink()
    runs = data.prepare(study.load(mini_study)).set_index("system")
    assert runs.loc["noise", "problem"].startswith("scores/noise/de.tsv: no such file")
    (repository / "data" / "mini" / "de.tsv").unlink()
    with pytest.raises(InputError, match=r"no language can be read: data/mini/de\.tsv: no such file"):
        data.prepare(study.load(mini_study))
    (repository / "data" / "mini" / "en.tsv").unlink()
    with pytest.raises(InputError, match=r"data/mini/en\.tsv: no such file"):
        data.prepare(study.load(mini_study))


def test_one_bad_language_does_not_stop_the_others(mini_study, repository):
    write(repository / "data" / "mini" / "ru.tsv", "broken")
    runs = data.prepare(study.load(write(mini_study, mini_study.read_text().replace("[de]", "[de, ru]"))))
    assert set(runs.loc[runs["language"] == "de", "status"]) == {"ok"} and set(runs.loc[runs["language"] == "ru", "status"]) == {"refused"}
    assert runs.loc[runs["language"] == "ru", "problem"].str.startswith("data/mini/ru.tsv, line 1: header").all()


def test_names_survive_the_prepared_frames(mini_study, repository):                                                      # [5]
    names = ["fluency2-gemini35-esa", "mr7.2.1", "Qwen 3.6", "NA", "null", "nan", "a/b", "007", "1e5"]
    text = mini_study.read_text().replace("scores:\n", "scores:\n" + "".join(f'  "{n}": {{path: scores/noise}}\n' for n in names))
    chosen = study.load(write(mini_study, text))
    data.prepare(chosen)
    assert list(data.read_runs(chosen).query("kind == 'scores'")["system"]) == [*names, "noise", "length"]
    assert list(pd.read_parquet(chosen.prepared / "scores.parquet")["system"].unique()) == [*names, "noise", "length"]


def test_one_score_file_does_not_stand_for_two_languages(mini_study, repository):
    write_pairs(repository / "data" / "mini", language="ru")
    text = mini_study.read_text().replace("[de]", "[de, ru]").replace("path: scores/noise,", "path: scores/noise/de.tsv,")
    runs = data.prepare(study.load(write(mini_study, text)))
    assert set(runs.loc[runs["system"] == "noise", "status"]) == {"refused"}
