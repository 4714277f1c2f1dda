"""WMT25 and WMT26: what goes out, and score files as they come back."""

import json
import os
import random
import re
import subprocess
import sys
import time
from functools import partial

import pytest
from conftest import PAIRS, random_scores, write, write_pairs
from pyarrow import parquet
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
    ([*returned(), *({**r, "doc_id": "x"} for r in returned()[:2])], "1 segments are not in", 74),
    (change(3, overall="1e-99999999999999999999"), "cannot be compared", 5), (change(3, overall="-2e150"), "cannot be compared", 5),
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


@pytest.mark.parametrize("cell", ["1e999", "inf", " 1", "1 ", "١", "1_000", "0x1", "8,5", "1e", "+-1", "infinity"])
@pytest.mark.parametrize("position, side", [(2, "masculine"), (3, "feminine")])
def test_a_cell_that_is_no_finite_number_is_refused_by_name(tmp_path, pairs, cell, position, side):
    path = wmt25(tmp_path, change(position, overall=cell))
    with pytest.raises(InputError) as caught:
        read(path, pairs)
    segment = returned()[position]["doc_id"]
    assert str(caught.value) == (f"{path}, line {position + 2}, segment {segment}: {side} score {cell!r} is not a finite number. "
                                 "Scores are plain numbers like 0.8312")


def test_a_language_in_two_spellings_and_in_pieces(tmp_path, pairs):
    """`de` and `de_DE` are one language, `en` and `en_US` one source; the rows of others stand between them."""
    own = [r | {"target_lang": ("de", "de_DE")[k % 2], "source_lang": ("en", "en_US")[k % 3 == 0]} for k, r in enumerate(returned())]
    others = [r | {"overall": "x", "doc_id": "none", "domain_name": "news"} for r in returned(target="cs_CZ")]
    others += [r | {"source_lang": "fi", "overall": "NaN"} for r in returned()]
    rows = [r for both in zip(own, others[:72], others[72:]) for r in both]
    assert read(wmt25(tmp_path, rows), pairs).equals(read(wmt25(tmp_path / "plain", returned()), pairs))
    rows[-3] |= {"overall": "high"}
    with pytest.raises(InputError, match="'high' is not a finite number") as caught:
        read(wmt25(tmp_path, rows), pairs)
    assert caught.value.line == len(rows) - 1


@pytest.mark.parametrize("end", ["\n", ""])
def test_only_a_header(tmp_path, pairs, end):
    with pytest.raises(InputError, match="no row of set challenge_mini and target language de; it holds no row below the header"):
        read(wmt25(tmp_path, [], end=end), pairs)


@pytest.mark.parametrize("change, problem, line, hint", [
    (lambda t: t.replace(b"method", b"overall", 1), "column 'overall' occurs twice", 1, "name of its own"),
    (lambda t: t.replace(b"segment_id", b"method", 1), "column 'method' occurs twice", 1, "name of its own"),
    (lambda t: t.decode().encode("utf-16"), "not UTF-8 \\(byte 0xff\\)", 1, "Save the file as UTF-8"),
    (lambda t: t.decode().encode("utf-16-le"), "no column 'doc_id'", 1, "Save the file as UTF-8"),
    (lambda t: t.replace(b"\n", b"\r"), "no column 'overall'", 1, "CR"),
    (lambda t: t.replace(b"0110-report", b"0110-rep\xf6rt", 1), "not UTF-8 \\(byte 0xf6\\)", 4, "Save the file as UTF-8"),
    (lambda t: t[:-1], "the last line does not end", 73, "If the file is whole, end it with a line end"),
    (lambda t: b"", "empty file", None, "header")])
def test_files_that_cannot_be_read_say_why(tmp_path, pairs, change, problem, line, hint):
    path = wmt25(tmp_path, returned())
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(InputError, match=problem) as caught:
        read(path, pairs)
    assert caught.value.line == line and hint in caught.value.hint and str(caught.value).isprintable()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_bare_cr_in_a_cell_is_content(tmp_path, pairs, end):                                                           # [10]
    texts = pairs.replace({"segment_id": {"0110-report": "0110\rreport"}})
    rows = [r | {"method": "a\rb", "doc_id": r["doc_id"].replace("0110-report", "0110\rreport")} for r in returned()]
    got = read(wmt25(tmp_path, rows, end=end), texts).rename({"0110\rreport": "0110-report"})
    assert got.equals(read(wmt25(tmp_path / "plain", returned()), pairs))
    rows[5] |= {"overall": "0.5\r"}
    with pytest.raises(InputError, match="not a finite number") as caught:
        read(wmt25(tmp_path, rows), texts)
    assert caught.value.line == 7 and str(caught.value).isprintable()


def test_a_line_of_more_than_a_block(tmp_path, pairs):
    assert read(wmt25(tmp_path, change(3, method="x" * 3_000_000)), pairs).equals(read(wmt25(tmp_path / "plain", returned()), pairs))


@pytest.mark.parametrize("partial", [False, True])
def test_ids_that_are_not_in_the_study(tmp_path, pairs, partial):
    """Refused before anything is called missing, also of one hypothesis only; passed over where the study is a part of the set."""
    rows = [*returned(), returned()[0] | {"doc_id": "zzz"}]
    with pytest.raises(InputError, match="1 segments are not in the study's pairs") as caught:
        read(wmt25(tmp_path, rows), pairs, partial=partial)
    assert (caught.value.line, caught.value.segment_id) == (74, "zzz") and "allow_partial" not in caught.value.hint
    assert len(read(wmt25(tmp_path, rows), pairs, partial=partial, subset=True)) == 36


# ---- copies of large files

@pytest.fixture
def copying(tmp_path, monkeypatch):
    """Every file counts as large and as settled; gives the folder of the copies and the list of the files read."""
    seen, whole = [], formats._read_wmt25
    monkeypatch.setattr(formats, "copies", lambda: tmp_path / "read")
    monkeypatch.setattr(formats, "COPIED_FROM", 0)
    monkeypatch.setattr(formats, "SETTLED", 0)
    monkeypatch.setattr(formats, "_read_wmt25", lambda path, columns: seen.append(path) or whole(path, columns))
    formats._wmt25.cache_clear()
    yield tmp_path / "read", seen
    formats._wmt25.cache_clear()


def again(path, pairs, **options):
    """Read as a new process does, a moment after the last change."""
    time.sleep(0.02)
    formats._wmt25.cache_clear()
    return read(path, pairs, **options)


@pytest.mark.parametrize("group", [None, 50])
def test_a_large_file_is_read_once(tmp_path, pairs, copying, monkeypatch, group):
    """… whatever the options, and from several row groups of a parquet file."""
    folder, seen = copying
    monkeypatch.setattr(parquet, "write_table", partial(parquet.write_table, row_group_size=group))
    path = wmt25(tmp_path, returned()[::-1] + returned(target="cs_CZ"))
    first = again(path, pairs)
    assert again(path, pairs).equals(first) and again(path, pairs, higher_is_better=False)["masculine"].equals(-first["masculine"])
    assert seen == [path] and len(list(folder.iterdir())) == 1
    bad = wmt25(tmp_path / "bad", change(3, overall="x"))
    messages = set()
    for _ in range(2):                                                       # the copy holds what the file does, good or bad
        with pytest.raises(InputError) as caught:
            again(bad, pairs)
        messages.add(str(caught.value))
    assert len(messages) == 1 and seen == [path, bad]


def test_a_changed_file_is_read_again_and_its_old_copy_removed(tmp_path, pairs, copying):
    """Also where size and modification time are the same."""
    folder, seen = copying
    path, other = wmt25(tmp_path, returned()), wmt25(tmp_path / "other", returned())
    before, kept = again(path, pairs), again(other, pairs)
    old, size, stamp = set(folder.iterdir()), path.stat().st_size, path.stat().st_mtime_ns
    wmt25(tmp_path, change(3, overall=returned()[2]["overall"]))
    os.utime(path, ns=(stamp, stamp))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (size, stamp)
    after = again(path, pairs)
    assert not after.equals(before) and after["feminine"].iloc[1] == float(returned()[2]["overall"])
    assert seen == [path, other, path] and len(old & set(folder.iterdir())) == 1 and len(list(folder.iterdir())) == 2
    assert again(other, pairs).equals(kept) and seen == [path, other, path]
    wmt25(tmp_path, returned()[:-1])
    with pytest.raises(InputError, match="a score is missing"):
        again(path, pairs)
    path.unlink()
    with pytest.raises(InputError, match="no such file"):
        again(path, pairs)


def test_a_damaged_copy_is_made_again(tmp_path, pairs, copying):
    """A bit anywhere, a part, another's content, nothing: never used, always whole afterwards."""
    folder, seen = copying
    path = wmt25(tmp_path, returned())
    expected = again(path, pairs)
    copy, = folder.iterdir()
    content, rng = copy.read_bytes(), random.Random(1)
    flips = [(rng.randrange(len(content)), 1 << rng.randrange(8)) for _ in range(30)]
    damaged = [content[:i] + bytes([content[i] ^ bit]) + content[i + 1:] for i, bit in flips]
    for k, bad in enumerate([*damaged, content[:100], content[:-1], b"", content + b"x"], 2):
        copy.write_bytes(bad)
        formats._wmt25.cache_clear()
        assert read(path, pairs).equals(expected) and len(seen) == k
        assert list(folder.iterdir()) == [copy] and copy.read_bytes() == content
    copy.unlink()
    copy.mkdir()                                                             # in the way: done without
    assert again(path, pairs).equals(expected)


def test_what_is_not_copied(tmp_path, pairs, copying, monkeypatch):
    folder, seen = copying
    path = wmt25(tmp_path, returned())
    monkeypatch.setattr(formats, "SETTLED", 3_600_000_000_000)               # just changed: its times might not tell the next change
    expected = again(path, pairs)
    monkeypatch.setattr(formats, "SETTLED", 0)
    monkeypatch.setattr(formats, "COPIED_FROM", path.stat().st_size + 1)     # a small file
    assert again(path, pairs).equals(expected)
    monkeypatch.setattr(formats, "COPIED_FROM", 0)
    bad = wmt25(tmp_path / "bad", returned()).with_name("bad.tsv")
    bad.write_text((tmp_path / "bad" / "scores.tsv").read_text()[:-5])
    with pytest.raises(InputError, match="does not end"):
        again(bad, pairs)
    assert not folder.exists() and seen == [path, path, bad]
    folder.write_text("a file is in the way")
    assert again(path, pairs).equals(expected)
    folder.unlink()
    states = iter([formats._state(path)] * 2 + [None])
    monkeypatch.setattr(formats, "_state", lambda file: next(states))        # the file changes while it is read
    assert again(path, pairs).equals(expected) and not folder.exists()


TWO = """
import sys, time
from pathlib import Path
from mtgender import data, formats
formats.copies, formats.COPIED_FROM, formats.SETTLED = lambda: Path(sys.argv[1]), 0, 0
pairs = data.read_pairs(Path(sys.argv[3]), "de")
print("ready", flush=True)
sys.stdin.readline()
for _ in range(20):
    formats._wmt25.cache_clear()
    table = formats.read_wmt25_scores(Path(sys.argv[2]), pairs, "de", "mini")
    for copy in Path(sys.argv[1]).glob("*.parquet"):
        copy.unlink(missing_ok=True)
print(table["masculine"].sum(), len(table))
"""


def test_two_processes_at_once(tmp_path, pairs, copying):
    """Both make, read and take away one copy."""
    folder, _ = copying
    path = wmt25(tmp_path, returned())
    expected = again(path, pairs)
    started = [subprocess.Popen([sys.executable, "-c", TWO, str(folder), str(path), str(tmp_path / "mini")], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [p.stdout.readline() for p in started] == ["ready\n"] * 2
    for process in started:
        process.stdin.write("\n")
        process.stdin.flush()
    said = [p.communicate()[0] for p in started]
    assert [p.returncode for p in started] == [0, 0]
    assert set(said) == {f"{formats.read_wmt25_scores(path, pairs, 'de', 'mini')['masculine'].sum()} {len(expected)}\n"}
    assert all(p.suffix == ".parquet" for p in folder.iterdir())


def test_copies_lie_under_results(repository):
    assert formats.copies() == repository / "results" / "read"


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
