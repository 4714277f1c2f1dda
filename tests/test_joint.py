"""Evaluators, systems and labour market together: ranks and slopes against scipy and numpy, the rest by hand."""

import re
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx
from scipy import stats

from mtgender import figures, inference, isco, joint, preference, tables
from mtgender import representation as rp
from mtgender.study import ROOT

RNG = np.random.default_rng(5)
GIVEN = {"level": 0.95, "replicates": 200, "seed": 4}
values_of = st.integers(3, 14).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 4), min_size=n, max_size=n)] * 3))


# rank correlation and slope

@given(values_of)
def test_ranks_of_a_resample_are_those_of_the_written_out_multiset(case):
    x, _, drawn = map(np.array, case)
    found = np.repeat(joint.average_ranks(x, drawn[None].astype(float))[0], drawn)
    assert found == approx(stats.rankdata(np.repeat(x, drawn)) if drawn.sum() else [])


@given(values_of)
def test_spearman_of_a_resample_is_scipys(case):
    x, y, drawn = map(np.array, case)
    a, b = np.repeat(x, drawn), np.repeat(y, drawn)
    found = joint.spearman(x, y, drawn[None].astype(float))[0]
    if len(set(a)) < 2 or len(set(b)) < 2:
        assert np.isnan(found)
    else:
        assert found == approx(stats.spearmanr(a, b).statistic, abs=1e-12)


def test_spearman_of_many_resamples_of_real_size():
    x, y = RNG.integers(0, 40, 436) / 40, RNG.normal(size=436)
    counts = inference.resample_counts(436, 50, 1)
    expected = [stats.spearmanr(np.repeat(x, c.astype(int)), np.repeat(y, c.astype(int))).statistic for c in counts]
    assert joint.spearman(x, y, counts) == approx(expected, abs=1e-12)
    assert joint.spearman(x, y, np.ones((1, 436)))[0] == approx(stats.spearmanr(x, y).statistic, abs=1e-12)


def pooled_by_hand(x, y, strata):
    parts = [(stats.rankdata(x[strata == s]), stats.rankdata(y[strata == s])) for s in np.unique(strata)]
    a, b = (np.concatenate([(p[k] - p[k].mean()) / len(p[k]) for p in parts]) for k in (0, 1))
    return np.corrcoef(a, b)[0, 1]


def test_pooled_ranks_are_taken_within_languages():
    strata = np.repeat(["de", "el", "ru"], [30, 12, 20])
    x, y = RNG.normal(size=62), RNG.integers(0, 9, 62).astype(float)
    counts = RNG.integers(0, 3, (20, 62)).astype(float)
    counts[3, strata == "el"] = 0                                                 # a language that a resample does not hold
    expected = [pooled_by_hand(*(np.repeat(v, c.astype(int)) for v in (x, y, strata))) for c in counts]
    found = joint.spearman(x, y, counts, strata)
    assert found == approx(expected)
    shifted = x + np.select([strata == "el", strata == "ru"], [100, -7])            # levels of languages do not count
    assert joint.spearman(np.exp(shifted / 50), y, counts, strata) == approx(found)
    assert joint.spearman(-x, y, counts, strata) == approx(-found)
    assert joint.spearman(x, y, counts, np.full(62, "de")) == approx(joint.spearman(x, y, counts))


def test_slopes_are_least_squares_with_an_intercept_for_each_language():
    strata = np.repeat([0, 1, 2], [30, 12, 20])
    x = RNG.normal(size=62)
    y = 0.7 * x + 5 * strata + RNG.normal(size=62)
    counts = RNG.integers(0, 3, (15, 62)).astype(float)
    plain = [np.polyfit(np.repeat(x, c.astype(int)), np.repeat(y, c.astype(int)), 1)[0] for c in counts]
    assert joint.slopes(x, y, counts) == approx(plain) and joint.slopes(x + 1e6, y, counts) == approx(plain, rel=1e-6)
    design = np.column_stack([x, *(strata == s for s in range(3))])
    own = [np.linalg.lstsq(np.repeat(design, c.astype(int), axis=0), np.repeat(y, c.astype(int)), rcond=None)[0][0] for c in counts]
    assert joint.slopes(x, y, counts, strata) == approx(own)
    constant = np.full(62, 0.1)
    assert np.isnan(joint.slopes(constant, y, counts)).all() and joint.slopes(x, constant, counts) == approx(np.zeros(15), abs=1e-12)


def test_partial_correlation_is_that_of_the_residuals_of_ranks():
    x, y, z = RNG.integers(0, 9, (3, 40)).astype(float)
    a, b, c = (stats.rankdata(v) for v in (x, y, z))
    left = [v - np.polyval(np.polyfit(c, v, 1), c) for v in (a, b)]
    one = np.ones((1, 40))
    found = joint.partial(joint.spearman(x, y, one), joint.spearman(x, z, one), joint.spearman(y, z, one))
    assert found[0] == approx(np.corrcoef(*left)[0, 1])
    assert np.isnan(joint.partial(0.3, 1.0, 0.3)) and np.isnan(joint.partial(np.nan, 0.1, 0.1))


# one association

def frame(n=20, languages=("de",), **columns):
    codes = isco.unit_groups()[::436 // max(n, 1)][:n]
    rows = pd.DataFrame([(code, i, i[:2]) for code in languages for i in codes], columns=["language", "isco", "group"])
    return rows.assign(**{"x": RNG.normal(size=len(rows)), "y": RNG.normal(size=len(rows)), **columns})


@pytest.mark.parametrize("block", ["isco", "group"])
def test_blocks_are_drawn_together_in_all_languages(block):
    data = frame(30, ("de", "el")).drop([4, 41])                                    # not every occupation in both languages
    found = joint.association(data, "x", "y", block, **GIVEN)
    names = sorted(set(data[block]))
    assert (found["n"], found["n_blocks"], found["n_languages"], found["note"]) == (58, len(names), 2, "")
    x, y, strata = (data[c].to_numpy() for c in ("x", "y", "language"))
    rows, rho, slope = [np.flatnonzero(data[block] == name) for name in names], [], []
    for drawn in np.random.default_rng(4).integers(0, len(names), (200, len(names))):
        own = np.concatenate([rows[k] for k in drawn])
        rho.append(pooled_by_hand(x[own], y[own], strata[own]))
        design = np.column_stack([x[own], strata[own] == "de", strata[own] == "el"])
        slope.append(np.linalg.lstsq(design, y[own], rcond=None)[0][0])
    assert [found["low"], found["high"]] == approx(list(np.quantile(rho, [0.025, 0.975])))
    assert [found["slope_low"], found["slope_high"]] == approx(list(np.quantile(slope, [0.025, 0.975])))
    assert found["rho"] == approx(pooled_by_hand(x, y, strata))


def test_only_complete_pairs_count():
    data = frame(20)
    more = pd.concat([data, frame(8).assign(x=np.nan), frame(8).assign(y=np.nan)])
    assert joint.association(more, "x", "y", "isco", **GIVEN) == joint.association(data, "x", "y", "isco", **GIVEN)


def test_given_a_third_figure():
    data = frame(40, z=RNG.normal(size=40))
    found = joint.association(data, "x", "y", "isco", given="z", **GIVEN)
    r = [stats.spearmanr(data[a], data[b]).statistic for a, b in ("xy", "xz", "yz")]
    assert found["rho"] == approx(joint.partial(*r)) and found["low"] < found["rho"] < found["high"] and np.isnan(found["slope"])


@pytest.mark.parametrize("data, note", [
    (frame(7), "fewer than 8 groups"), (frame(0), "fewer than 8 groups"), (frame(20, x=np.nan), "fewer than 8 groups"),
    (frame(20, group="11"), "fewer than 8 blocks"), (frame(20, x=0.5), "no variation"), (frame(20, y=0.1 + 0.2), "no variation"),
    (frame(20, x=0.3 + np.resize([0, 5e-17], 20)), "no variation")])
def test_what_cannot_be_said_is_missing_with_its_reason(data, note):
    found = joint.association(data, "x", "y", "group", **GIVEN)
    assert found["note"] == note and np.isnan([found[k] for k in ("rho", "low", "high", "slope", "slope_low", "slope_high")]).all()


@pytest.mark.parametrize("n_one, interval", [(3, True), (1, False)])
def test_resamples_without_variation_are_counted(n_one, interval):
    """A share p of n resamples draws none of k exceptions: (1 - k/n)^n, 3 % for three, 36 % for one."""
    data = frame(20, x=np.r_[np.zeros(n_one), np.ones(20 - n_one)])
    found = joint.association(data, "x", "y", "isco", **{**GIVEN, "replicates": 2000})
    lost = int(re.search(r"(\d+) of 2000", found["note"]).group(1))
    assert lost / 2000 == approx((1 - n_one / 20) ** 20, abs=0.03)
    assert np.isnan(found["low"]) != interval and np.isnan(found["slope_high"]) != interval and ("no interval" in found["note"]) != interval
    assert found["rho"] == approx(stats.spearmanr(data["x"], data["y"]).statistic)


# the figures by occupation

CODES = isco.unit_groups()[::12]
COUNT = ["source", "system", "language", "subset", "occupation", "isco", *rp.COUNTS]


def results(languages=("de", "el", "uk"), metrics=("a", "b"), counts=True):
    """A study of made-up scores and counts; metric b has no Greek."""
    rng = np.random.default_rng(8)
    runs = [(s, c) for s in metrics for c in languages if (s, c) != ("b", "el")] + [("c", code) for code in languages]
    runs = pd.DataFrame(runs, columns=["system", "language"]).assign(kind="scores", status="ok")
    runs["role"] = np.where(runs["system"] == "c", "control", "metric")
    rows = [(s, code, i, rng.normal(0.1)) for s, code in zip(runs["system"], runs["language"]) for i in CODES]
    counted = [("T", s, code, subset, f"job {i}", i, *rng.integers(0, 5, 4)) for s in ("X", "Y") for code in ("de", "es")
               for subset in ("base", "their") for i in (*CODES[:20], "")] if counts else []
    return SimpleNamespace(
        study=SimpleNamespace(languages=languages, level=0.95, replicates=100, seed=3), runs=runs,
        occupations=pd.DataFrame(rows, columns=["system", "language", "isco", "signed"]),
        ranges=runs[["system", "language"]].assign(range=runs["system"].map({"a": 2.0, "b": 4.0, "c": 1.0})),
        gender_counts=pd.DataFrame(counted, columns=COUNT).astype(dict.fromkeys(rp.COUNTS, int)))


@pytest.fixture(scope="module")
def study():
    made = results()
    return made, joint.cells(made)


def cell(cells, language, level, code, column):
    return tables.pick(cells, language=language, level=level, isco=code)[column]


def test_cells_hold_what_the_other_modules_measure(study):
    made, cells = study
    effects = tables.occupation_effects(made).set_index("isco")
    assert inference.panel_systems(made.runs, made.study.languages) == ["a"]
    own = tables.pick(made.occupations, system="b", language="uk", isco=CODES[3])
    assert cell(cells, "uk", 4, CODES[3], "S b") == approx(preference.percent_of_range(own["signed"], 4.0))
    counts = made.gender_counts[(made.gender_counts["subset"] == "base") & (made.gender_counts["isco"] != "")]
    shares = rp.labour_shares(rp.read_labour(), "DEU")["share"]
    for level in (1, 2, 3, 4):
        groups = rp.groups(counts[counts["language"] == "de"], level).set_index("group")
        for code in groups.index[:4]:
            members = [i for i in CODES if i.startswith(code)]
            assert cell(cells, "de", level, code, joint.PANEL) == approx(effects.loc[members, "de"].mean())
            assert cell(cells, "de", level, code, joint.POOLED) == approx(groups.loc[code, "p_masculine"], nan_ok=True)
            everyone = pd.Series([i for i in isco.unit_groups() if i.startswith(code)]).str[:2].map(shares)
            assert cell(cells, "de", level, code, "share") == approx(everyone.mean(), nan_ok=True)
    own = rp.groups(counts[(counts["language"] == "es") & (counts["system"] == "Y")], 4).set_index("group")
    assert cell(cells, "es", 4, CODES[2], "p Y (T)") == approx(own.loc[CODES[2], "p_masculine"], nan_ok=True)
    assert "S c" not in cells and "S a" not in cells                                # c is a control, a the panel
    assert cells.loc[cells["language"] == "el", "S b"].isna().all()
    assert cells.loc[cells["language"].isin(["uk", "es"]), "share"].isna().all()                             # no country, no figures
    assert set(cells.loc[cells["level"] == 1, "group"]) == {""} and (cells.loc[cells["level"] > 1, "group"].str.len() == 2).all()


def test_one_row_a_group(study):
    made, cells = study
    table = joint.occupations(made, cells)
    assert not table.duplicated(["level", "isco"]).any() and list(table["level"].unique()) == [4, 3, 2, 1]
    row = table.set_index("isco").loc[CODES[3]]
    assert row["title"] == isco.title(CODES[3]) and row["signed_pct_uk"] == cell(cells, "uk", 4, CODES[3], joint.PANEL)
    assert row["signed_pct_mean"] == approx(row[[f"signed_pct_{c}" for c in made.study.languages]].mean())
    assert row["ngpd_de"] == approx(2 * row["p_masculine_de"] - 1)
    assert row["p_masculine_de_X (T)"] == cell(cells, "de", 4, CODES[3], "p X (T)")
    assert {"labour_de", "labour_el", "signed_pct_uk_b", "texts_es"} <= set(table) and not {"labour_uk", "p_masculine_uk"} & set(table)


def test_languages_say_what_is_known(study):
    table = joint.languages(*study)[0].set_index("language")
    assert list(table.index) == ["de", "el", "uk", "es"] and list(table["country"]) == ["DEU", "GRC", "", ""]
    assert list(table["panel"]) == ["a", "a", "a", ""] and table.loc["uk", "metrics"] == "b" and table.loc["el", "runs"] == ""
    assert table.loc["es", ["n_evaluators", "n_labour", "n_all_three"]].tolist() == [0, 0, 0] and table.loc["es", "n_systems"] > 10


def test_every_question_is_asked_where_both_figures_exist(study):
    made, cells = study
    table, printed = joint.correlations(made, cells)
    assert list(table.columns) == joint.CORRELATIONS and len(printed) == len(table)
    asked = {q: list(own["language"]) for q, own in tables.select(table, groups="unit").groupby("question")}
    assert asked == {"evaluators_systems": ["de"] * 4, "given_labour": ["de"], "evaluators_labour": ["all", "de", "el", "de"],
                     "systems_labour": ["de"] * 3}
    units = cells[(cells["level"] == 4) & (cells["language"] == "de")].dropna(subset=[joint.PANEL, joint.POOLED])
    row = table.iloc[0]
    assert row["rho"] == approx(stats.spearmanr(units[joint.PANEL], units[joint.POOLED]).statistic)
    assert row["n"] == row["n_blocks"] == len(units)
    slope = stats.linregress(100 * units[joint.POOLED], units[joint.PANEL]).slope
    assert row["slope"] == approx(10 * slope)                                       # S% for 10 percentage points of p
    groups = cells[(cells["level"] == 2) & (cells["language"] == "de")].dropna(subset=["share", joint.POOLED])
    row = tables.pick(table, question="systems_labour", groups="two-digit", language="de")
    assert row["slope"] == approx(10 * stats.linregress(groups["share"], groups[joint.POOLED]).slope) and row["n"] == len(groups)
    labour = tables.select(table, question="evaluators_labour")
    assert (labour["blocks"] == "two-digit").all() and (labour["n_blocks"] <= 43).all()


# where evaluators and the labour market part

def hand_made(rows):
    """language, isco, S%, share."""
    made = pd.DataFrame(rows, columns=["language", "isco", joint.PANEL, "share"]).assign(level=4)
    return made.assign(group=made["isco"].str[:2], **{joint.POOLED: np.nan})


def test_contradictions_by_hand():
    cells = hand_made([("de", "1111", 3.0, 0.1), ("de", "2211", 1.0, 0.2), ("de", "7126", -1.0, 0.9), ("de", "9111", 2.0, np.nan),
                       ("el", "1111", 5.0, 0.6), ("el", "7126", 4.0, 0.7), ("el", "9111", np.nan, 0.2),
                       ("ru", "1111", 1.0, 0.4), ("ru", "7126", 2.0, 0.3)])
    table = joint.against_labour(cells).set_index("isco")
    # ranks: de S% 3 2 1 of 3, share 1 2 3; el S% 2 1, share 1 2; ru S% 1 2, share 2 1
    assert list(table.index) == ["1111", "7126"]                                    # 2211 stands in one of three languages only
    assert list(table["gap"]) == approx([(2 / 3 + 1 / 2 - 1 / 2) / 3, (-2 / 3 - 1 / 2 + 1 / 2) / 3])
    assert table.loc["1111", "rank_signed"] == approx((5 / 6 + 3 / 4 + 1 / 4) / 3)
    assert list(table["n_languages"]) == [3, 3] and list(table["n_same_sign"]) == [2, 2] and list(table["n_opposed"]) == [2, 2]
    assert table.loc["1111", "signed_pct"] == approx(3) and table.loc["7126", "share"] == approx(1.9 / 3)
    assert (table["rank_signed"] - table["rank_share"]).to_numpy() == approx(table["gap"].to_numpy())


def test_ties_left_out_are_counted():
    codes = isco.unit_groups()[:6]
    gaps = joint.against_labour(hand_made([("de", code, s, p) for code, s, p in zip(codes, [6, 5, 4, 3, 2, 1], [.1, .2, .3, .6, .7, .8])]))
    assert sorted(gaps["gap"].round(6)) == approx(sorted(np.array([5, 3, 1, -1, -3, -5]) / 6), abs=1e-6)
    same = gaps.assign(gap=[0.5, 0.2, 0.2, 0.2, -0.1, 0.0])
    table, printed = joint.contradictions(same, 2)
    assert list(table["side"]) == ["more", "more", "less"] and list(table["tied"]) == [2, 2, 0]
    assert list(printed["gap"]) == ["+50", "+20", "−10"]
    assert not len(joint.contradictions(gaps.iloc[:0])[0])


def test_quadrants_by_hand():
    cells = hand_made([("de", "1111", 3.0, 0.1), ("de", "2211", 1.0, 0.9), ("de", "7126", -1.0, 0.9), ("de", "9111", 2.0, 0.5),
                       ("de", "9112", -1.0, 0.3), ("de", "9121", 0.0, 0.3)])
    table = joint.quadrants(cells, joint.against_labour(cells))[0]
    expected = {"n": 6, "both_masculine": 1, "evaluators_masculine": 1, "evaluators_feminine": 1, "both_feminine": 1, "on_a_line": 2}
    assert list(table["language"]) == ["de", "mean"] and all(row[list(expected)].to_dict() == expected for _, row in table.iterrows())


# in words

def correlation_rows(*rows):
    base = dict.fromkeys(joint.CORRELATIONS, "") | {"groups": "unit", "evaluator": "panel", "n_languages": 2, "n": 30}
    return pd.DataFrame([{**base, **row} for row in rows])


ROW = {"question": "evaluators_systems", "language": "all", "system": "all", "rho": 0.4, "low": 0.2, "high": 0.6}
PANEL = pd.DataFrame({"panel": ["", "e5"], "language": ["de", "fr"], "runs": ["X (a), Y (a)", "Apertium (occupairs)"]})


@pytest.mark.parametrize("change, words", [
    ({}, "They tend to: "), ({"low": -0.1}, "This is not shown (the interval covers 0)"), ({"high": 0.0, "low": 0.0}, "not shown"),
    ({"rho": -0.4, "low": -0.6, "high": -0.2}, "They tend to prefer the other one"),
    ({"rho": np.nan, "low": np.nan, "high": np.nan, "note": "fewer than 8 groups"}, "This cannot be said (fewer than 8 groups)")])
def test_the_answer_follows_the_interval(change, words):
    text = joint.sentence(correlation_rows({**ROW, **change}), pd.DataFrame(), PANEL).splitlines()[0]
    assert words in text and "(e5)" in text
    assert ("0.40 [" in text) == (not np.isnan(change.get("rho", 0.4)))


def test_sides_of_languages_and_other_metrics_are_named():
    rows = [{"question": "evaluators_labour", "system": "", "language": code, "rho": 0.1, "low": low, "high": low + 0.3}
            for code, low in (("all", 0.01), ("de", 0.1), ("el", -0.1), ("ru", -0.4), ("is", np.nan))]
    other = {**rows[3], "evaluator": "use"}
    text = joint.sentence(correlation_rows(*rows, other), pd.DataFrame(), PANEL).splitlines()[1]
    assert "Evaluators tend to" in text and "over 2 languages" in text
    assert "above 0 in German; below 0 in Russian; not apart from 0 in Greek; without interval in Icelandic" in text
    assert "; single metrics: use below 0 in Russian. As for systems, this cannot be said (no language has both)." in text
    many = [{**rows[k], "evaluator": f"m{j}"} for j in range(5) for k in (0, 1, 3)]
    text = joint.sentence(correlation_rows(*rows, *many), pd.DataFrame(), PANEL).splitlines()[1]
    assert "; runs of single metrics: 5 of 10 above 0, 5 below." in text


def test_languages_that_disagree_are_not_called_a_tendency():
    """Two languages, one with an interval above 0, one around 0 from one system alone."""
    rows = [{"question": "systems_labour", "evaluator": "", "language": code, "rho": rho, "low": rho - 0.1, "high": rho + 0.1}
            for code, rho in (("all", 0.15), ("de", 0.5), ("fr", 0.0))]
    text = joint.sentence(correlation_rows(*({**row, "system": "all"} for row in rows)), pd.DataFrame(), PANEL).splitlines()[1]
    assert ("As for systems, that depends on the language: above 0 in German; not apart from 0 in French (Apertium only) (German 0.50 "
            "[0.40, 0.60], French 0.00 [−0.10, 0.10]; ρ over all 0.15 [0.05, 0.25]).") in text
    rows[2] |= {"low": 0.01, "rho": 0.1}
    text = joint.sentence(correlation_rows(*({**row, "system": "all"} for row in rows)), pd.DataFrame(), PANEL).splitlines()[1]
    assert "As for systems, they tend to: above 0 in German and French (Apertium only)" in text
    held = [{**ROW, "question": "given_labour", "language": code, "rho": 0.2, "low": low} for code, low in (("all", 0.1), ("de", -0.1))]
    text = joint.sentence(correlation_rows(ROW, *held), pd.DataFrame(), PANEL).splitlines()[0]
    assert "; with men at work held constant 0.20 [0.10, 0.60] (not apart from 0 in German)" in text


def test_findings_read_back_what_was_written(study, tmp_path):
    made, cells = study
    frames = joint.correlations(made, cells)[0], joint.contradictions(joint.against_labour(cells))[0], joint.languages(made, cells)[0]
    for name, table in zip(("correlations", "contradictions", "languages"), frames):
        tables.write_csv(table, tmp_path / f"joint_{name}.csv")
    assert joint.findings(tmp_path) == joint.sentence(*frames)


def test_every_number_of_the_committed_findings_stands_in_a_committed_table():
    found = [tables.read_csv(ROOT / "tables" / f"joint_{name}.csv") for name in ("correlations", "contradictions")]
    known = {tables.fixed(float(v)) for frame in found for c in ("rho", "low", "high", "signed_pct") if c in frame for v in frame[c] if v}
    known |= {tables.fixed(100 * float(v), 1) for v in found[1]["share"]} | {*found[0]["n"], *found[0]["n_languages"]}
    numbers = re.findall(r"(?<![\w-])−?\d+(?:\.\d+)?", joint.findings(ROOT / "tables").replace("the interval covers 0", "")
                         .replace("apart from 0", "").replace("above 0", "").replace("below 0", ""))
    assert len(numbers) > 15 and set(numbers) <= known


# what is missing

@pytest.mark.parametrize("change", [
    {"counts": False}, {"metrics": ()}, {"metrics": (), "counts": False}, {"languages": ("uk",), "counts": False},
    {"languages": ("uk",), "metrics": (), "counts": False}], ids=str)
@pytest.mark.filterwarnings("error")
def test_a_study_without_one_of_the_three_goes_on(change):
    made = results(**change)
    cells = joint.cells(made)
    table, printed = joint.correlations(made, cells)
    overall = joint.against_labour(cells)
    text = joint.sentence(table, joint.contradictions(overall)[0], joint.languages(made, cells)[0])
    assert "cannot be said" in text and len(printed) == len(table)
    joint.quadrants(cells, overall)
    points, language = joint.points(cells)
    assert not len(points) and language == ""
    majors = joint.majors(joint.occupations(made, cells), made.study.languages)
    for drawn in (figures.quadrants(points, (0.5, 0), joint.CORNERS["systems"], "", "", ""), figures.heat_map(majors, "", ""),
                  figures.quadrants(joint.labour_points(overall, overall.head(3)), (0.5, 0), joint.CORNERS["labour"], "", "", "")):
        drawn.canvas.draw()
        plt.close(drawn)


# figures

@given(st.lists(st.floats(-50, 50), max_size=12), st.floats(0.1, 5))
def test_labels_keep_order_and_distance(wanted, gap):
    places = figures.spread(wanted, gap)
    ordered = places[np.argsort(wanted, kind="stable")]
    assert (np.diff(ordered) >= gap - 1e-9).all()
    if len(wanted) and (np.diff(sorted(wanted)) >= gap).all():
        assert places == approx(np.array(wanted), abs=1e-9)
    assert places.sum() == approx(sum(wanted), abs=1e-6)


def test_points_name_the_outliers(study):
    points, language = joint.points(study[1], 5)
    assert language == "de" and points["named"].sum() == 5 and points["title"].iloc[0] == isco.title(points["isco"].iloc[0])
    far = (((points[["x", "y"]] - points[["x", "y"]].mean()) / points[["x", "y"]].std()) ** 2).sum(axis=1)
    assert far[points["named"]].min() >= far[~points["named"]].max()


def test_corners_are_counted():
    data = pd.DataFrame({"x": [0.1, 0.9, 0.9, 0.5, np.nan], "y": [1.0, 1.0, 2.0, 1.0, 1.0], "title": list("abcde"), "named": True})
    drawn = figures.quadrants(data, (0.5, 0), joint.CORNERS["systems"], "t", "x", "y")
    texts = {t.get_text() for t in drawn.axes[0].texts}
    assert {"both masculine (2)", "evaluators masculine, systems feminine (1)", "both feminine (0)", *"abcd"} <= texts and "e" not in texts
    plt.close(drawn)


def test_heat_map_is_centred_and_says_its_numbers():
    data = pd.DataFrame({"DE": [1.0, -4.0], "EL": [0.0, np.nan]}, index=["0 a", "1 b"])
    drawn = figures.heat_map(data, "t", "b")
    assert [t.get_text() for t in drawn.axes[0].texts] == ["1.0", "0.0", "−4.0", "–"] and drawn.axes[0].images[0].get_clim() == (-4.0, 4.0)
    plt.close(drawn)
