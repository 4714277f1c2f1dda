"""The shared tasks' files, from the download to the tables: look-alikes of GAMBIT+ as WMT25 returned it, and of WMT26."""

import functools
import hashlib
import http.server
import json
import random
import shutil
import threading
import time

import numpy as np
import pytest
from conftest import write
from pandas.testing import assert_frame_equal
from pytest import approx

from mtgender import cli, data, formats, inference, isco, study
from mtgender.study import ROOT, InputError

REAL = ROOT.parent / "shared" / "real" / "gambit_plus_wmt25" / "gambit-gender.en-el.meta.tsv"
TARGETS = {"cs": "cs_CZ", "ru": "ru_RU", "uk": "uk_UA"}


def metadata(n=8771):
    """(ISCO code without its leading zero, doc_id) of n texts, 4 to 105 an occupation; synthetic, in the shape of the real file."""
    codes = isco.unit_groups()
    sizes = np.full(len(codes), 4)
    rng = np.random.default_rng(1)
    while sizes.sum() < n:
        sizes[rng.integers(len(codes))] += min(1 + rng.integers(12), n - sizes.sum())
        sizes = np.minimum(sizes, 105)
    return [(code.lstrip("0"), 3 * i + 2) for i, code in enumerate(c for c, size in zip(codes, sizes) for _ in range(size))]


def look_alike(folder, meta, targets=TARGETS, systems=("alpha", "beta", "gamma")):
    """Write the submitted and the returned files; returns {(system, language): [(masculine, feminine)]}."""
    texts, returned, scores = folder / "texts", folder / "returned", {}
    texts.mkdir(parents=True), returned.mkdir()
    for code in targets:
        stem = texts / f"set.en-{code}"
        write(stem.with_name(stem.name + ".meta.tsv"), ("domain", "doc_id"), *((c, str(d)) for c, d in meta))
        for end, word in (("src", "The {} left ."), ("hyp-1", "Ten {} odešel ."), ("hyp-2", "Ta {} odešla .")):
            stem.with_name(f"{stem.name}.{end}.txt").write_text("".join(word.format(d) + "\n" for _, d in meta))
    for k, system in enumerate(systems):
        rng = random.Random(k)
        lines = ["\t".join(formats.WMT25_SCORES)]
        for code, target in targets.items():
            pairs = [(rng.random() + 0.05 * k, rng.random()) for _ in meta]
            scores[system, code] = pairs
            lines += [f"{d}\t{n}\ten\t{target}\tchallenge_set\t{h}\t{c}\tNaN\t{s!r}" for n, ((c, d), pair) in enumerate(zip(meta, pairs), 1)
                      for h, s in zip(("hyp-1", "hyp-2"), pair)]
        (returned / f"{system}.tsv").write_text("\n".join(lines) + "\n")
    return scores


def study_file(folder, text="", targets=TARGETS):
    path = folder / "look.yaml"
    systems = "".join(f"  {p.stem}: {{path: {p}, format: wmt25}}\n" for p in sorted((folder / "returned").glob("*.tsv")))
    path.write_text(f"name: {folder.name}\npairs: {folder / 'texts'}\npairs_format: gambit\nset: set\nlanguages: "
                    f"[{', '.join(targets)}]\nscores:\n{systems}replicates: 200\n{text}")
    return path


SMALL = [(c, d) for c, d in metadata() if c in ("110", "1111", "2221", "7126", "9629")]


@pytest.mark.skipif(not REAL.is_file(), reason=f"{REAL} with the shared task's own file is not there")
def test_the_look_alike_has_the_shape_of_the_real_file():
    real = data.read_tsv(REAL, ["domain", "doc_id"])
    assert len(real) == len(metadata()) == 8771 and real["domain"].nunique() == len({c for c, _ in metadata()}) == 436
    sizes = real["domain"].value_counts()
    assert (sizes.min(), sizes.max()) == (4, 105) and "110" in set(real["domain"])
    assert all(int(d) % 3 == 2 for d in real["doc_id"])


def test_gambit_pairs(tmp_path):
    look_alike(tmp_path, SMALL)
    pairs = formats.read_gambit(tmp_path / "texts", "set", "cs")
    assert len(pairs) == len(SMALL) and set(pairs["isco"]) == {"0110", "1111", "2221", "7126", "9629"}
    row = pairs.set_index("segment_id").loc[str(SMALL[0][1])]
    d = SMALL[0][1]
    assert (row["source"], row["markup"]) == (f"The {d} left .", f"{{Ten|Ta}} {d} {{odešel|odešla}} .")
    assert data.variants(row["markup"]) == (row["masculine"], row["feminine"])
    assert row["text_type"] == ("story", "news report", "statement", "conversation", "presentation")[d // 3 % 5]
    small = formats.read_gambit(tmp_path / "texts", "set", "cs", subset=3, seed=4)
    assert set(small.groupby("isco").size()) == {3}
    assert list(small["segment_id"]) == list(formats.read_gambit(tmp_path / "texts", "set", "uk", subset=3, seed=4)["segment_id"])
    assert list(small["segment_id"]) != list(formats.read_gambit(tmp_path / "texts", "set", "cs", subset=3, seed=5)["segment_id"])
    with pytest.raises(InputError, match=r"only \d+ texts, subset: 100"):
        formats.read_gambit(tmp_path / "texts", "set", "cs", subset=100)


def test_large_texts_are_aligned_once(tmp_path, monkeypatch):
    """From the copy comes the same frame, whatever is done with it; any of the four files that changes makes it again."""
    look_alike(tmp_path, SMALL)
    folder, seen, whole = tmp_path / "read", [], formats._read_gambit
    monkeypatch.setattr(formats, "copies", lambda: folder)
    monkeypatch.setattr(formats, "SETTLED", 0)
    monkeypatch.setattr(formats, "_read_gambit", lambda paths: seen.append(paths[0].name) or whole(paths))

    def read(code="cs", **options):
        return formats.read_gambit(tmp_path / "texts", "set", code, **options)

    expected = read()
    assert not folder.exists()                                               # small ones are not copied
    monkeypatch.setattr(formats, "TEXTS_COPIED_FROM", 0)
    time.sleep(0.02)
    assert_frame_equal(read(), expected)
    assert_frame_equal(read(), expected)
    assert seen == ["set.en-cs.src.txt"] * 2 and len(list(folder.iterdir())) == 1
    assert_frame_equal(read(subset=3, seed=4), expected[expected["segment_id"].isin(read(subset=3, seed=4)["segment_id"])]
                       .reset_index(drop=True))
    other = read("ru")
    for k, end in enumerate(("src.txt", "hyp-1.txt", "hyp-2.txt", "meta.tsv")):
        path = tmp_path / "texts" / f"set.en-cs.{end}"
        path.write_text(path.read_text().replace(f"{SMALL[3][1]}\n" if k == 3 else f" {SMALL[3][1]} ", "9\n" if k == 3 else " nine "))
        time.sleep(0.02)
        seen.clear()
        changed = read()
        assert not changed.equals(expected) and read().equals(changed) and seen == ["set.en-cs.src.txt"]
        assert read("ru").equals(other) and len(list(folder.iterdir())) == 2
        expected = changed
    path.unlink()
    with pytest.raises(InputError, match="no such file"):
        read()


@pytest.mark.parametrize("name, change, message", [
    ("set.en-cs.hyp-2.txt", lambda t: t.removesuffix("\n").rpartition("\n")[0] + "\n", "unequal numbers of lines: .*hyp-2.txt"),
    ("set.en-cs.meta.tsv", lambda t: t.replace("110\t", "111\t", 1), "'111' is no ISCO-08 unit group"),
    ("set.en-cs.meta.tsv", lambda t: t.replace(f"\t{SMALL[1][1]}\n", f"\t{SMALL[0][1]}\n"), "the doc_id occurs twice"),
    *(("set.en-cs.meta.tsv", lambda t, bad=bad: t.replace(f"\t{SMALL[1][1]}\n", f"\t{bad}\n"), "is not a number of at most 15 digits")
      for bad in ("x1", "٣", "9" * 5000)),
    ("set.en-cs.src.txt", None, "no such file")])
def test_gambit_files_that_do_not_fit_are_refused(tmp_path, name, change, message):
    look_alike(tmp_path, SMALL)
    path = tmp_path / "texts" / name
    path.unlink() if change is None else path.write_text(change(path.read_text()))
    with pytest.raises(InputError, match=message):
        formats.read_gambit(tmp_path / "texts", "set", "cs")


@pytest.mark.parametrize("masculine, feminine, markup", [
    ("a b c", "a b c", "a b c"), ("a b c", "x b y", "{a|x} b {c|y}"), ("a b", "a b c", "a b {|c}"),
    ("le b", "la nouvelle b", "{le|la nouvelle} b"),
    ("a {b} c", "a |d| c", "a {(b)|¦d¦} c"), ("", "x", "{|x}")])
def test_texts_are_aligned_word_by_word(masculine, feminine, markup):
    assert formats.align(masculine, feminine) == markup


def test_unequal_occupations_from_the_files_to_the_tables(tmp_path):
    """S and A by hand: means of occupation means, and the means over pairs beside them."""
    scores = look_alike(tmp_path / "unequal", SMALL)
    chosen = study.load(study_file(tmp_path / "unequal"))
    try:
        assert set(data.prepare(chosen)["status"]) == {"ok"}
        made = inference.infer(chosen)
        d = np.array([m - f for m, f in scores["gamma", "ru"]])
        codes = np.array([c for c, _ in SMALL])
        means = [d[codes == c].mean() for c in dict.fromkeys(codes)]
        row = made["score_runs"].set_index(["system", "language"]).loc[("gamma", "ru")]
        assert row["signed"] == approx(np.mean(means)) and row["n"] == len(SMALL)
        assert made["pair_means"].set_index(["system", "language"]).loc[("gamma", "ru"), "signed"] == approx(d.mean())
        both = study.load(study_file(tmp_path / "unequal", "subset: 3\n"))
        data.prepare(both)
        again = inference.infer(both)
        assert not len(again["pair_means"]) and set(again["score_runs"]["n"]) == {15}
    finally:
        shutil.rmtree(chosen.results, ignore_errors=True)


@pytest.mark.parametrize("change, message", [
    (lambda t: t.replace("\ten\t", "\ten\t\t", 1), "line 2: 10 cells, expected 9"), (lambda t: t[:-40], "does not end|cells, expected 9"),
    (lambda t: t.replace("\thyp-1\t", "\thyp-3\t", 1), "'hyp-3', expected hyp-1"),
    (lambda t: t.replace("\toverall", "\tscore", 1), "no column"),
    (lambda t: "\n".join(t.split("\n")[:2]) + "\n", "a score is missing"),
    (lambda t: t.replace(t.split("\n")[1], t.split("\n")[1].rpartition("\t")[0] + "\tNone"), "a score is missing"),
    (lambda t: t + t.split("\n")[1] + "\n", "occurs twice"), (lambda t: "", "empty file")])
def test_returned_files_that_do_not_fit_are_refused(tmp_path, change, message):
    look_alike(tmp_path, SMALL)
    path = tmp_path / "returned" / "alpha.tsv"
    path.write_text(change(path.read_text()))
    with pytest.raises(InputError, match=message):
        formats.read_wmt25_scores(path, formats.read_gambit(tmp_path / "texts", "set", "cs"), "cs", "set")


def test_a_quote_that_never_closes_and_other_sets_and_columns_in_another_order(tmp_path):
    look_alike(tmp_path, SMALL)
    path = tmp_path / "returned" / "alpha.tsv"
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    rows[1][7] = '"never closed'
    rows.append(["1", "1", "en", "cs_CZ", "challenge_other", "hyp-9", "news", "", "x"])
    path.write_text("\n".join("\t".join(reversed(r)) for r in rows) + "\n")
    pairs = formats.read_gambit(tmp_path / "texts", "set", "cs")
    assert len(formats.read_wmt25_scores(path, pairs, "cs", "set")) == len(SMALL)


def test_line_ends_marks_and_empty_lines_are_content(tmp_path):
    """CRLF and a BOM are accepted; a bare CR, U+2028 and an empty line are part of the texts and keep their place."""
    look_alike(tmp_path, SMALL)
    path = tmp_path / "returned" / "alpha.tsv"
    expected = formats.read_wmt25_scores(path, formats.read_gambit(tmp_path / "texts", "set", "cs"), "cs", "set")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    texts = tmp_path / "texts" / "set.en-cs.hyp-1.txt"
    lines = texts.read_text().split("\n")
    lines[0], lines[1], lines[2] = "a\rb", "c\u2028d \x85 e", ""
    texts.write_bytes("\n".join(lines).encode())
    source = tmp_path / "texts" / "set.en-cs.src.txt"
    source.write_bytes(b"\xef\xbb\xbf" + source.read_bytes().replace(b"\n", b"\r\n"))
    pairs = formats.read_gambit(tmp_path / "texts", "set", "cs").set_index("segment_id")
    assert [pairs.at[str(d), "masculine"] for _, d in SMALL[:3]] == ["a\rb", "c\u2028d \x85 e", ""]
    assert pairs.at[str(SMALL[0][1]), "source"] == f"The {SMALL[0][1]} left ."
    assert formats.read_wmt25_scores(path, pairs.reset_index(), "cs", "set").equals(expected)


def test_the_same_text_under_two_ids_is_allowed(tmp_path):
    look_alike(tmp_path, SMALL)
    for end in ("src", "hyp-1", "hyp-2"):
        path = tmp_path / "texts" / f"set.en-cs.{end}.txt"
        lines = path.read_text().split("\n")
        path.write_text("\n".join([lines[1], *lines[1:]]))
    assert len(formats.read_gambit(tmp_path / "texts", "set", "cs")) == len(SMALL)


# ---- spans

def spans_file(path, pairs, cells):
    rows = [(*(str(v) for v in (i, n, "en", "cs_CZ", "challenge_set", h, code)), "", *cells.get((i, h), ("-1", "-1", "no-error")))
            for n, (i, code) in enumerate(zip(pairs["segment_id"], pairs["isco"]), 1) for h in ("hyp-1", "hyp-2")]
    return write(path, (*formats.WMT25_SCORES[:-1], *formats.WMT25_SPANS), *rows)


def test_wmt25_spans(tmp_path):
    look_alike(tmp_path, SMALL)
    pairs = formats.read_gambit(tmp_path / "texts", "set", "cs")
    i, j = pairs["segment_id"][:2]
    path = spans_file(tmp_path / "spans.tsv", pairs, {(i, "hyp-1"): ("0 4", "3 6", "minor major"),
                                                      (j, "hyp-2"): ("missing 0", "missing 2", "major minor")})
    frame = formats.read_wmt25_spans(path, pairs, "cs", "set").set_index(["segment_id", "variant"])
    assert frame.loc[(i, "masculine"), "errors"] == [(0, 3, "minor", ""), (4, 6, "major", "")]
    assert frame.loc[(j, "feminine"), "n_errors"] == 1 and frame.loc[(j, "feminine"), "omission"]
    assert frame["n_errors"].sum() == 3 and frame["omission"].sum() == 1 and len(frame) == 2 * len(SMALL)


@pytest.mark.parametrize("cells, message", [
    (("0 4", "3", "minor"), "2 starts, 1 ends, 1 error types"), (("0", "999", "minor"), "span 0-999 does not lie"),
    (("", "", ""), "0 starts"),
    (("3", "0", "minor"), "does not lie"), (("-1", "3", "minor"), "not a span"), (("0", "3", "no-error"), "not a span"),
    (("missing", "missing", "no-error"), "'missing missing no-error': not a span"), (("missing", "x", "minor"), "not a span"),
    (("0", "9" * 5000, "minor"), "not a span"), (("٠", "3", "minor"), "not a span")])
def test_malformed_spans_are_invalid_never_error_free(tmp_path, cells, message):
    look_alike(tmp_path, SMALL)
    pairs = formats.read_gambit(tmp_path / "texts", "set", "cs")
    path = spans_file(tmp_path / "spans.tsv", pairs, {(pairs["segment_id"][0], "hyp-1"): cells})
    with pytest.raises(InputError, match=message):
        formats.read_wmt25_spans(path, pairs, "cs", "set")
    assert len(formats.read_wmt25_spans(path, pairs, "cs", "set", partial=True)) == 2 * len(SMALL) - 2


# ---- WMT26

def wmt26_file(path, pairs, answer):
    """One line a pair with what `answer(segment id, hypothesis)` gives: a dict of fields."""
    lines = []
    for i in pairs["segment_id"]:
        record = {"item_id": f"challenge_###_en_###_cs_CZ_###_set_###_{i}_###_0", "src": "x", "hyps": {}}
        for h in formats.HYPOTHESES:
            for field, value in answer(i, h).items():
                record.setdefault(field, {})[h] = value
        lines.append(json.dumps(record))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def pairs(tmp_path):
    look_alike(tmp_path, SMALL)
    return formats.read_gambit(tmp_path / "texts", "set", "cs")


def test_wmt26_scores_and_annotations(tmp_path, pairs):
    first = pairs["segment_id"][0]
    errors = [{"start": 0, "end": 3, "severity": "minor", "category": "gender"}]
    path = wmt26_file(tmp_path / "x.jsonl", pairs, lambda i, h: {
        "task2_pred": 7 if h == "hyp-1" else 6.25,
        "task1_pred": {"hyp": {}} and {"errors": errors if (i, h) == (first, "hyp-1") else [], "omission": "minor" if i == first else None,
                                       "instruction_fault": None}})
    scores = formats.read_wmt26_scores(path, pairs, "cs", "set")
    assert set(scores["masculine"]) == {7} and set(scores["feminine"]) == {6.25} and len(scores) == len(pairs)
    frame = formats.read_wmt26_annotations(path, pairs, "cs", "set").set_index(["segment_id", "variant"])
    assert frame.loc[(first, "masculine"), "errors"] == [(0, 3, "minor", "gender")]
    assert frame["omission"].sum() == 2 and frame["n_errors"].sum() == 1
    flags = wmt26_file(tmp_path / "y.jsonl", pairs, lambda i, h: {"task3_pred": int(i != first)})
    frame = formats.read_wmt26_annotations(flags, pairs, "cs", "set").set_index(["segment_id", "variant"])
    assert frame["n_errors"].sum() == 2 and frame.loc[(first, "feminine"), "n_errors"] == 1


@pytest.mark.parametrize("field, value, message", [
    ("task2_pred", None, "a score is missing"), ("task2_pred", "7", None), ("task2_pred", "high", "not a finite number"),
    ("task2_pred", True, "not a finite number"), ("task1_pred", "x", "not an annotation"), ("task3_pred", 2, "expected 0 or 1"),
    ("task1_pred", {"errors": [], "omission": "huge"}, "omission 'huge'"), ("task1_pred", {"errors": None}, "errors is not a list"),
    ("task1_pred", {"errors": [{"start": 0, "end": 99}]}, "does not lie in the text"), ("task2_pred", [[]], "not a finite number"),
    ("task2_pred", 10 ** 400, "not a finite number"), ("task2_pred", 1e151, "cannot be compared"),
    ("task1_pred", {"errors": [{"start": 0, "end": 3, "category": {"a": 1}}]}, "category {'a': 1} is not a text"),
    ("task1_pred", {"errors": [{"start": 0, "end": 3, "severity": 1}]}, "severity 1 is not a text")])
def test_wmt26_answers_that_do_not_fit(tmp_path, pairs, field, value, message):
    first = pairs["segment_id"][0]
    good = {"task2_pred": 1, "task1_pred": {"errors": [], "omission": None}, "task3_pred": 1}[field]
    path = wmt26_file(tmp_path / "x.jsonl", pairs, lambda i, h: {field: value if (i, h) == (first, "hyp-1") else good})
    read = formats.read_wmt26_scores if field == "task2_pred" else formats.read_wmt26_annotations
    if message is None:
        assert len(read(path, pairs, "cs", "set")) == len(pairs)
        return
    with pytest.raises(InputError, match=message) as caught:
        read(path, pairs, "cs", "set")
    assert caught.value.line and caught.value.segment_id == first


@pytest.mark.parametrize("field", ["task1_pred", "task2_pred"])
@pytest.mark.parametrize("old, new, message", [
    ('"src": "x"', f'"src": {"[" * 3000}{"]" * 3000}', "nested too deeply"), ('"src": "x"', '"src": "\\ud800"', "half a surrogate pair"),
    ('"src": "x"', '"src": "x", "src": "y"', "key 'src' occurs twice"), ('"hyp-2": ', '"hyp-1": ', "key 'hyp-1' occurs twice"),
    ("_###_cs_CZ_", r"_###_cs\ud800_CZ_", "half a surrogate pair"), ("_###_0", r"_###_\n0", "item_id .* holds a control character"),
    ("_###_0", "", "expected six parts"), ('"item_id"', '"item"', "no item_id"), ('{"item_id"', '["item_id"', "not a JSON object")])
def test_wmt26_lines_that_are_no_clean_json(tmp_path, pairs, field, old, new, message):
    path = wmt26_file(tmp_path / "x.jsonl", pairs, lambda i, h: {field: 1 if field == "task2_pred" else {"errors": []}})
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(InputError, match=message) as caught:
        (formats.read_wmt26_scores if field == "task2_pred" else formats.read_wmt26_annotations)(path, pairs, "cs", "set")
    assert caught.value.line == 1 and caught.value.hint and str(caught.value).isprintable()


@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("field", ["task1_pred", "task2_pred"])
def test_wmt26_ids_that_are_not_in_the_study(tmp_path, pairs, field, partial):
    """Refused whether or not the run may be partial, also of one hypothesis only; passed over where the study is a part of the set."""
    first, good = pairs["segment_id"][0], {"task1_pred": {"errors": []}, "task2_pred": 1}[field]
    path = wmt26_file(tmp_path / "x.jsonl", pairs, lambda i, h: {} if (i, h) == (first, "hyp-2") else {field: good})
    read = formats.read_wmt26_scores if field == "task2_pred" else formats.read_wmt26_annotations
    with pytest.raises(InputError, match="not in the study's pairs") as caught:
        read(path, pairs[1:], "cs", "set", partial=partial)
    assert (caught.value.line, caught.value.segment_id) == (1, first)
    assert read(path, pairs[1:], "cs", "set", partial=partial, subset=True)["segment_id"].nunique() == len(pairs) - 1


def test_a_study_of_wmt26_files_and_wmt25_spans(tmp_path):
    """Scores and annotations of all formats in one study, from the files to the result frames."""
    folder = tmp_path / "mixed"
    look_alike(folder, SMALL, targets={"cs": "cs_CZ"}, systems=("alpha",))
    pairs = formats.read_gambit(folder / "texts", "set", "cs")
    wmt26_file(folder / "beta.jsonl", pairs, lambda i, h: {
        "task2_pred": 2 if h == "hyp-2" else 1,
        "task1_pred": {"errors": [{"start": 0, "end": 2, "severity": "minor", "category": ""}] if h == "hyp-2" else [], "omission": None}})
    spans_file(folder / "spans.tsv", pairs, {(i, "hyp-1"): ("0", "2", "major") for i in pairs["segment_id"]})
    path = study_file(folder, f"add_scores:\n  beta: {{label: Beta, path: {folder / 'beta.jsonl'}, format: wmt26}}\nannotations:\n"
                              f"  beta: {{path: {folder / 'beta.jsonl'}, format: wmt26}}\n"
                              f"  gamma: {{path: {folder / 'spans.tsv'}, format: wmt25}}\n", targets={"cs": "cs_CZ"})
    chosen = study.load(path)
    try:
        runs = data.prepare(chosen)
        assert list(runs["status"]) == ["ok"] * 4, runs["problem"].tolist()
        made = inference.infer(chosen)
        row = made["score_runs"].set_index("system").loc["beta"]
        assert (row["signed"], row["feminine_win"], row["p"], row["note"]) == (-1, 1, 0, "all occupations equal")
        assert dict(made["error_runs"].set_index("system")["difference"]) == {"beta": 100, "gamma": -100}
    finally:
        shutil.rmtree(chosen.results, ignore_errors=True)


# ---- fetch

@pytest.fixture
def host(tmp_path, monkeypatch):
    """A local server of two files of a made-up repository, and the table that lists them."""
    folder = tmp_path / "host" / "some" / "repository" / "abc"
    folder.mkdir(parents=True)
    contents = {"a.txt": b"first\n", "deep er/b.tsv": b"second\tfile\n" * 1000}
    rows = []
    for name, content in contents.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
        rows.append(("mine", "some/repository", "abc", name, hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest(), "CC0"))
    monkeypatch.setattr(cli, "SOURCES", write(tmp_path / "sources.tsv", tuple(cli.SOURCE_COLUMNS), *rows))
    handler = functools.partial(type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *a: None}),
                                directory=str(tmp_path / "host"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("MTGENDER_FETCH_FROM", f"http://127.0.0.1:{server.server_port}/")
    yield folder, contents
    server.shutdown()


def test_fetch_verifies_resumes_and_refuses_damaged_files(host, tmp_path, capsys):
    folder, contents = host
    out = tmp_path / "out"
    whole = (folder / "deep er/b.tsv").read_bytes()
    for damaged in (whole[:-100], whole.replace(b"second", b"SECOND", 1)):
        (folder / "deep er/b.tsv").write_bytes(damaged)
        assert cli.main(["fetch", "mine", "--out", str(out)]) == 2
        assert "arrived damaged" in capsys.readouterr().err
        assert [p.name for p in out.rglob("*") if p.is_file()] == ["a.txt"]      # what is complete is kept, the rest is not there
    (folder / "deep er/b.tsv").write_bytes(whole)
    (folder / "a.txt").unlink()                                                   # not asked for again
    assert cli.main(["fetch", "mine", "--out", str(out)]) == 0
    assert "2 files are there (1 new)" in capsys.readouterr().out
    assert {str(p.relative_to(out / "mine")): p.read_bytes() for p in out.rglob("*") if p.is_file()} == contents
    (out / "mine" / "a.txt").write_bytes(b"changed")
    assert cli.main(["fetch", "mine", "--out", str(out)]) == 2                    # changed on disk, gone from the host
    message = capsys.readouterr().err
    assert "could not be downloaded" in message and "1 of 2 files are there" in message and "Call again" in message
    assert cli.main(["fetch", "yours", "--out", str(out)]) == 2 and "no data set 'yours'" in capsys.readouterr().err


def test_no_network_says_what_to_place_where(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MTGENDER_FETCH_FROM", "http://127.0.0.1:9")
    assert cli.main(["fetch", "wibemt", "--out", str(tmp_path)]) == 2
    message = capsys.readouterr().err
    assert "0 of 4 files are there" in message and "JDtroles/WiBeMT" in message and str(tmp_path / "wibemt") in message


def test_the_studies_of_the_shared_tasks_name_what_fetch_brings():
    listed = {f"data/external/{r.dataset}/{r.path}" for r in data.read_tsv(cli.SOURCES, cli.SOURCE_COLUMNS).itertuples()}
    chosen = study.load("gambit-plus-wmt25")
    assert len(chosen.scores) == 11
    assert {str(s.path.relative_to(ROOT)) for s in chosen.scores.values()} <= listed
    stems = [f"{chosen.pairs.relative_to(ROOT)}/{chosen.set_name}.en-{code}" for code in chosen.languages]
    assert {f"{s}.{end}" for s in stems for end in ("src.txt", "hyp-1.txt", "hyp-2.txt", "meta.tsv")} <= listed
