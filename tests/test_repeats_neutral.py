"""Repeated runs and a third, neutral variant: by hand, against statsmodels, on degenerate input."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from mini import CODES, build, cut_lines
from pytest import approx
from scipy import stats

from mtgender import data, inference, neutral, repeats, study
from mtgender.data import VARIANTS
from mtgender.study import ROOT, InputError


def test_components_by_hand():
    """Occupation means 2, 6; text means 1, 3 and 5, 7; repeats one apart on each side: mean squares 2, 4 and 32 (2 degrees 1 each)."""
    d = np.array([[[0, 2], [2, 4]], [[4, 6], [6, 8]]], float)
    found = repeats.variance_components(d)
    assert found["repeat"] == approx(8 / 4)                          # 8 deviations of 1, 4 degrees of freedom
    assert found["text"] == approx((2 * 4 / 2 - 2) / 2)              # mean square 2·4/2 = 4
    assert found["occupation"] == approx((4 * 8 / 1 - 4) / 4)        # mean square 4·8/1 = 32
    assert found["mean"] == 4 and found["se"] == approx(np.sqrt(8 / 2))


def test_mean_squares_are_those_of_the_nested_analysis_of_variance():
    import statsmodels.api as sm
    import statsmodels.formula.api as smf
    rng = np.random.default_rng(1)
    d = rng.normal(size=(5, 1, 1)) + rng.normal(size=(5, 3, 1)) + rng.normal(size=(5, 3, 4))
    o, t, r = np.indices(d.shape)
    frame = pd.DataFrame({"d": d.ravel(), "o": o.ravel(), "t": (o * 3 + t).ravel()})
    line = sm.stats.anova_lm(smf.ols("d ~ C(o)", frame).fit(), smf.ols("d ~ C(t)", frame).fit())
    text, error = line["ss_diff"].iloc[1] / line["df_diff"].iloc[1], line["ssr"].iloc[1] / line["df_resid"].iloc[1]
    between = sm.stats.anova_lm(smf.ols("d ~ C(o)", frame).fit())["mean_sq"].iloc[0]
    found = repeats.variance_components(d)
    expected = error, max(0, (text - error) / 4), max(0, (between - text) / 12)
    assert tuple(found[level] for level in ("repeat", "text", "occupation")) == approx(expected)


@settings(max_examples=30)
@given(arrays.arrays(float, st.tuples(*[st.integers(2, 4)] * 3), elements=st.floats(-5, 5, width=32)))
def test_components_do_not_depend_on_a_shift_and_scale_as_squares(d):
    base, moved = repeats.variance_components(d), repeats.variance_components(3 * d + 7)
    for level in repeats.LEVELS:
        assert base[level] >= 0 and moved[level] == approx(9 * base[level], abs=1e-6)


def test_what_a_design_does_not_tell_is_missing():
    assert np.isnan(repeats.variance_components(np.ones((3, 2, 1)))["repeat"])
    assert np.isnan(repeats.variance_components(np.ones((3, 1, 2)))["text"])
    assert np.isnan(repeats.variance_components(np.ones((1, 2, 2)))["occupation"])
    with pytest.raises(InputError, match="expected"):
        repeats.variance_components(np.ones((3, 2)))


def with_repeats(folder, noise=(0.0, 0.01, -0.01), **more):
    """The mini study with three repeats of one evaluator: its scores, and these moved by a little."""
    path = build(folder, "again", **more)
    lines = (folder / "e5-cosine" / "de.tsv").read_text(encoding="utf-8").splitlines()
    for k, shift in enumerate(noise, 1):
        rows = [line.split("\t") for line in lines[1:]]
        moved = [f"{i}\t{float(m) + shift:.7g}\t{f}" for i, m, f in rows]
        (folder / "e5-cosine" / f"de.r{k}.tsv").write_text("\n".join([lines[0], *moved]) + "\n", encoding="utf-8")
    return path, lines


def test_repeats_are_averaged_and_their_variance_is_told(tmp_path):
    path, lines = with_repeats(tmp_path)
    (tmp_path / "e5-cosine" / "de.tsv").unlink()
    chosen = study.load(path)
    try:
        runs = data.prepare(chosen).set_index("system")
        assert runs.loc["e5-cosine", "note"] == "mean of 3 repeats" and runs.loc["e5-cosine", "n"] == 36
        inference.infer(chosen)
        r = inference.Results(chosen)
        frame, printed = repeats.table(r)
        d = np.array([float(line.split("\t")[1]) - float(line.split("\t")[2]) for line in lines[1:]])
        assert frame["signed"].item() == approx(d.mean()) and frame["repeats"].item() == 3
        assert frame["variance_repeat"].item() == approx(1e-4) and frame["sd_between_repeats"].item() == approx(0.01)
        assert r.score_runs.set_index("system").loc["e5-cosine", "signed"] == approx(d.mean())
        assert "3 repeats" in repeats.sentence(frame) and len(printed) == 1
        assert len([f for f in chosen.files() if ".r" in f.name]) == 3
    finally:
        shutil.rmtree(chosen.results, ignore_errors=True)


def test_a_bad_repeat_refuses_its_run(tmp_path):
    path, _ = with_repeats(tmp_path)
    (tmp_path / "e5-cosine" / "de.tsv").unlink()
    bad = tmp_path / "e5-cosine" / "de.r2.tsv"
    bad.write_text(bad.read_text(encoding="utf-8").replace("\n0110-report", "\n0110-rapport"), encoding="utf-8")
    chosen = study.load(path)
    try:
        runs = data.prepare(chosen).set_index("system")
        assert runs.loc["e5-cosine", "status"] == "refused" and "de.r2.tsv" in runs.loc["e5-cosine", "problem"]
        assert runs.loc["source-length", "status"] == "ok"
    finally:
        shutil.rmtree(chosen.results, ignore_errors=True)


SCORES = pd.DataFrame({"isco": ["1", "1", "2", "3"], "masculine": [3.0, 1, 2, 5], "feminine": [1.0, 1, 2, 4], "neutral": [2.0, 3, 0, 4]})


def test_three_variants_by_hand():
    frame = neutral.compare(SCORES, 10.0, level=0.95, replicates=500, seed=1).set_index(["first", "second"])
    assert frame.loc[("masculine", "feminine"), "signed"] == approx((1 + 0 + 1) / 3)
    assert frame.loc[("masculine", "neutral"), "signed_pct"] == approx(10 * (-0.5 + 2 + 1) / 3)
    assert frame.loc[("feminine", "neutral"), ["first_win", "second_win", "tie"]].tolist() == approx([1 / 3, 1 / 3, 1 / 3])
    assert frame.loc[("feminine", "neutral"), "p"] == approx(stats.ttest_1samp([-1.5, 2, 0], 0).pvalue)
    assert frame["occupations"].eq(3).all() and frame["n"].eq(4).all()


def test_variants_that_score_the_same_differ_in_nothing():
    same = SCORES.assign(feminine=SCORES["masculine"], neutral=SCORES["masculine"])
    frame = neutral.compare(same, float("nan"), level=0.95, replicates=200, seed=1)
    assert frame["p"].eq(1).all() and frame["signed"].eq(0).all() and frame["signed_pct"].isna().all()


@given(st.permutations(VARIANTS))
def test_comparisons_change_sign_with_their_order(order):
    moved = SCORES.rename(columns=dict(zip(VARIANTS, order)))
    frame = neutral.compare(moved, 1.0, level=0.95, replicates=200, seed=1).set_index(["first", "second"])["signed"]
    base = neutral.compare(SCORES, 1.0, level=0.95, replicates=200, seed=1).set_index(["first", "second"])["signed"]
    for (first, second), value in base.items():
        a, b = dict(zip(VARIANTS, order))[first], dict(zip(VARIANTS, order))[second]
        assert value == approx(frame[(a, b)] if (a, b) in frame.index else -frame[(b, a)])


def neutral_study(folder, third="neutral"):
    """The mini study with a neutral variant of twelve texts: the masculine one with another beginning."""
    path = build(folder, f"third-{folder.name}", neutral={"path": str(folder / "neutral"), "languages": ["de"]})
    cut_lines(ROOT / "data/occupairs/de.tsv", folder / "neutral/de.tsv", lambda line: line[:4] in CODES and line[5:14] == "statement")
    file = folder / "neutral/de.tsv"
    lines = file.read_text(encoding="utf-8").splitlines()
    start = "" if third == "masculine" else "x"
    made = [data.ALTERNATION.sub(lambda m: f"{{{m[1]}|{m[2]}|{start}{m[1]}}}", row) for row in lines[1:]]
    file.write_text("\n".join([lines[0], *made]) + "\n", encoding="utf-8")
    (folder / "e5-cosine/neutral").mkdir()
    rows = ["segment_id\tmasculine\tfeminine\tneutral", *(f"{row.split(chr(9))[0]}\t0.9\t0.8\t0.85" for row in made)]
    (folder / "e5-cosine/neutral/de.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_a_neutral_variant_goes_from_file_to_table(tmp_path):
    chosen = study.load(neutral_study(tmp_path))
    try:
        runs = data.prepare(chosen)
        assert runs[runs["kind"] == "neutral"]["n"].tolist() == [12]
        inference.infer(chosen)
        frame, printed = neutral.table(inference.Results(chosen))
        assert frame["signed"].tolist() == approx([0.1, 0.05, -0.05]) and frame["p"].eq(0).all() and frame["significant"].all()
        assert printed["best % m / f / n"].tolist() == ["100 / 0 / 0"]
        said = neutral.sentence(frame)
        assert "above the neutral variant in 1" in said and "below it in 1 of 1 runs for the feminine" in said
        assert frame["neutral_longer"].eq(1).all() and "longer than the masculine one in 100 % of the German texts" in said
        text = neutral.caption(inference.Results(chosen), frame)
        assert "Benjamini–Hochberg over the 3 comparisons" in text and "q = 0.05" in text
    finally:
        shutil.rmtree(chosen.results, ignore_errors=True)


def test_a_neutral_text_that_is_a_masculine_one_is_refused(tmp_path):
    chosen = study.load(neutral_study(tmp_path, "masculine"))
    try:
        runs = data.prepare(chosen)
        refused = runs[runs["kind"] == "neutral"].iloc[0]
        assert refused["status"] == "refused" and "the masculine and the neutral text are the same" in refused["problem"]
    finally:
        shutil.rmtree(chosen.results, ignore_errors=True)


def test_no_neutral_texts_make_an_empty_table():
    class Empty:
        neutral, ranges = pd.DataFrame(columns=data.NEUTRAL), pd.DataFrame(columns=["system", "language", "range"])
        study = study.load("occupairs")

    assert not len(neutral.table(Empty)[0]) and neutral.sentence(neutral.table(Empty)[0]) == ""


@pytest.mark.parametrize("value", ["folder", {"path": "x"}, {"path": "x", "languages": ["xx"]}])
def test_bad_neutral_key(tmp_path, value):
    path = tmp_path / "s.yaml"
    path.write_text(json.dumps({"pairs": "p", "languages": ["de"], "neutral": value}), encoding="utf-8")
    with pytest.raises(InputError, match="neutral"):
        study.load(path)


def test_repeats_are_numbered_and_a_broken_card_refuses_its_runs_only(tmp_path):
    path = build(tmp_path, "numbered")
    chosen = study.load(path)
    try:
        scores = tmp_path / "e5-cosine/de.tsv"
        for name in ("de.r1.tsv", "de.r01.tsv"):
            (tmp_path / "e5-cosine" / name).write_text(scores.read_text())
        scores.unlink()
        (tmp_path / "wordfreq-zipf/card.yaml").write_text("higher_is_better: False\n")
        (tmp_path / "hunspell/card.yaml").write_bytes(b"\xff\xfe")
        chosen = study.load(path)
        runs = data.prepare(chosen).set_index("system")
        assert "de.r01.tsv: no number of a repeat" in runs.loc["e5-cosine", "problem"]
        assert "higher_is_better: expected true or false" in runs.loc["wordfreq-zipf", "problem"]
        assert "card.yaml: not UTF-8" in runs.loc["hunspell", "problem"] and runs.loc["source-length", "status"] == "ok"
    finally:
        shutil.rmtree(chosen.results, ignore_errors=True)
