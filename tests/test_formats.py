"""WMT25 and WMT26: what goes out, and score files as they come back."""

import json
import re

import pytest
from conftest import PAIRS, random_scores, write, write_pairs
from pytest import approx

from mtgender import data, formats
from mtgender.study import ROOT, InputError

REAL = ROOT.parent / "shared" / "real" / "wmt25_mteval" / "mslc-a"
SCORES = random_scores(4)


@pytest.fixture
def pairs(tmp_path):
    return data.read_pairs(write_pairs(tmp_path / "mini"), "de")


def returned(scores=SCORES, target="de_DE", set_id="challenge_mini", domain=lambda code: code.lstrip("0")):
    """Rows of a WMT25 score file, as dicts."""
    return [{"doc_id": i, "segment_id": n, "source_lang": "en", "target_lang": target, "set_id": set_id, "system_id": hypothesis,
             "domain_name": domain(i[:4]), "method": "", "overall": score}
            for n, (i, pair) in enumerate(scores.items(), 1) for hypothesis, score in zip(("hyp-1", "hyp-2"), pair)]


def wmt25(tmp_path, rows, columns=formats.WMT25_SCORES, end="\n"):
    return write(tmp_path / "scores.tsv", tuple(columns), *(tuple(r[c] for c in columns) for r in rows), end=end)


def read(path, pairs, **options):
    return formats.read_wmt25_scores(path, pairs, "de", "mini", **options).set_index("segment_id")


@pytest.mark.skipif(not REAL.is_dir(), reason=f"{REAL} with the shared task's own files is not there")
def test_columns_are_those_of_the_shared_task():
    files = sorted(REAL.rglob("*.tsv"))
    for path in files:
        assert data.read_lines(path)[0].split("\t") == formats.WMT25_SCORES, path
    assert files and {r["system_id"] for r in returned()} <= {line.split("\t")[5] for line in data.read_lines(files[0])}


def test_wmt25_export(pairs):
    frame = formats.wmt25_texts(pairs, "de", "mini")
    assert list(frame.columns) == formats.WMT25_TEXTS and len(frame) == 72
    assert [c for c in formats.WMT25_SCORES if c != "overall"] == [c for c in frame.columns if c in formats.WMT25_SCORES]
    two = frame[frame["doc_id"] == "0110-report"]
    assert list(two["system_id"]) == ["hyp-1", "hyp-2"] and two["segment_id"].nunique() == 1 and set(two["domain_name"]) == {"0110"}
    assert list(two["hypothesis_segment"]) == ["Gestern traf ein Offizier ein.", "Gestern traf eine Offizierin ein."]
    assert frame.groupby("segment_id")["doc_id"].nunique().eq(1).all() and frame["segment_id"].nunique() == 36
    assert set(frame["set_id"]) == {"challenge_mini"} and set(frame["source_segment"]) == {f"The {v[2]} came." for v in PAIRS.values()}


def test_wmt26_export(pairs):
    lines = [json.loads(x) for x in formats.wmt26_texts(pairs, "de", "mini")]
    assert len(lines) == 36 and set(lines[0]) == {"item_id", "src", "ref", "hyps"}
    assert lines[0]["item_id"] == "challenge_###_en_###_de_###_mini_###_0110-conversation_###_0" and lines[0]["ref"] is None
    assert lines[1]["hyps"] == {"hyp-1": "Gestern traf ein Offizier ein.", "hyp-2": "Gestern traf eine Offizierin ein."}


@pytest.mark.parametrize("options", [{}, {"end": "\r\n"}, {"columns": sorted(formats.WMT25_SCORES)}])
def test_a_score_file_comes_back(tmp_path, pairs, options):
    """Documents shuffled, region suffix, ISCO without its zero [CASES 1], other sets and languages beside ours."""
    rows = returned()[::-1] + returned(set_id="challenge_other") + returned(target="cs_CZ")
    rows = rows[::3] + rows[1::3] + rows[2::3]
    got = read(wmt25(tmp_path, rows, **options), pairs)
    assert {i: (r["masculine"], r["feminine"]) for i, r in got.iterrows()} == {i: tuple(map(float, s)) for i, s in SCORES.items()}
    assert set(got["decimals"]) == {6}
    lower = read(wmt25(tmp_path, rows, **options), pairs, higher_is_better=False)
    assert list(lower["masculine"]) == approx(list(-got["masculine"]))


def change(position, **cells):
    rows = returned()
    rows[position] = rows[position] | cells
    return rows


@pytest.mark.parametrize("rows, problem, line", [
    (returned()[:-1], "a score is missing", 72), (returned()[:-2], "1 of 36 segments are missing: 9313-statement", None),      # [3]
    (returned()[2:], "1 of 36 segments are missing: 0110-conversation", None),
    (change(3, overall="None"), "a score is missing", 5), (change(3, overall=""), "a score is missing", 5),                   # [4]
    (change(3, overall="-inf"), "not a finite number", 5), (change(2, overall="8,5"), "not a finite number", 4),              # [20]
    (change(3, system_id="hyp-3"), "system 'hyp-3'", 5), (change(3, system_id="hyp-1"), "hyp-1 occurs twice", 5),
    (change(3, domain_name="7126"), "occupation 7126, expected 0110", 5), (change(3, domain_name="999"), "ISCO-08", 5),
    ([*returned(), *({**r, "doc_id": "x"} for r in returned()[:2])], "not in", 74),
    (returned(set_id="challenge_other"), "no row of set challenge_mini and target language de; it holds challenge_other de_DE", None)])
def test_bad_score_files_are_refused(tmp_path, pairs, rows, problem, line):
    path = wmt25(tmp_path, rows)
    with pytest.raises(InputError, match=problem) as caught:
        read(path, pairs)
    assert caught.value.path == path
    assert caught.value.line == line
    assert line is None or caught.value.segment_id in (rows[line - 2]["doc_id"],)


def test_wrong_columns_are_refused(tmp_path, pairs):
    path = wmt25(tmp_path, returned(), columns=formats.WMT25_SCORES[:-1])
    with pytest.raises(InputError, match="header is"):
        read(path, pairs)
    with pytest.raises(InputError, match="header is"):
        read(write(tmp_path / "scores.tsv", *wmt25(tmp_path, returned()).read_text().splitlines()[1:]), pairs)


def test_partial_score_files_only_where_allowed(tmp_path, pairs):
    rows = [r | {"overall": "None"} if r["doc_id"] == "0110-report" and r["system_id"] == "hyp-2" else r for r in returned()][:-1]
    got = read(wmt25(tmp_path, rows), pairs, partial=True)
    assert set(got.index) == set(PAIRS) - {"0110-report", "9313-statement"}
    for nothing in ([r | {"overall": "None"} for r in rows], rows[::2]):                       # no score, or of one variant only
        with pytest.raises(InputError, match="no score at all"):
            read(wmt25(tmp_path, nothing), pairs, partial=True)


def test_export_and_return_agree(tmp_path, pairs):
    texts = formats.wmt25_texts(pairs, "de", "mini")
    scored = texts.assign(overall=[str(len(t)) for t in texts["hypothesis_segment"]])[formats.WMT25_SCORES]
    got = read(write(tmp_path / "x.tsv", tuple(scored), *scored.itertuples(index=False, name=None)), pairs)
    by_id = pairs.set_index("segment_id")
    assert (got["masculine"] == by_id["masculine"].str.len()).all() and (got["feminine"] == by_id["feminine"].str.len()).all()
    assert not any(re.search(r"[\t\n]", t) for t in texts["hypothesis_segment"])
