"""Calibration: estimators against oracles, populations against their truth, and what the tables say."""

import json

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import proportion_confint

from mtgender import inference, representation, simulation
from mtgender.study import ROOT, InputError, load

SMALL = {"simulations": 60, "replicates": 99, "seed": 5, "level": 0.95}


def plan(**changed):
    rng = np.random.default_rng(0)
    d = rng.standard_normal((2, 24, 3))
    d = (d - d.mean(axis=(1, 2), keepdims=True)) / d.std(axis=(1, 2), keepdims=True)
    extremes = np.stack([4 + d.max(axis=2), -4 + d.min(axis=2)], axis=2)
    errors = 100 * rng.integers(-1, 2, (24, 2)) / 3.0
    return simulation.Design(**{"occupations": 24, "texts": 3, "icc": 0.3, "effect": 0.5, "base": 4.0, "sd_pct": 2.0, "correlation": 0.3,
                                "icc_systems": 0.6, "languages": (2,), "observed": d, "extremes": extremes, "errors": errors,
                                "error_names": ("a (DE)", "b (DE)"), **changed})


# --- variance components ---

@pytest.mark.parametrize("sizes", [[3] * 12, [2, 5, 1, 4, 3, 3]])
def test_variance_components_against_anova(sizes):
    rng = np.random.default_rng(1)
    group = np.repeat(np.arange(len(sizes)), sizes)
    x = rng.standard_normal(len(group)) + rng.standard_normal(len(sizes))[group]
    table = sm.stats.anova_lm(ols("x ~ C(g)", pd.DataFrame({"x": x, "g": group})).fit())
    among, within = table["mean_sq"]
    n0 = (len(x) - (np.array(sizes) ** 2).sum() / len(x)) / (len(sizes) - 1)
    found = simulation.variance_components(np.bincount(group, x), np.bincount(group, x**2), sizes)
    assert found["within"] == pytest.approx(within) and found["between"] == pytest.approx((among - within) / n0)
    assert found["icc"] == pytest.approx(found["between"] / (found["between"] + within))


def test_counts_are_sums_of_zeros_and_ones():
    m, n = np.array([3, 0, 2]), np.array([3, 4, 5])
    values = [np.repeat([1.0, 0.0], [a, b - a]) for a, b in zip(m, n)]
    assert simulation.variance_components(m, m, n) == simulation.variance_components(
        [v.sum() for v in values], [(v**2).sum() for v in values], n)


@pytest.mark.parametrize("sums, squares, sizes", [([1.0], [1.0], [1]), ([1.0, 2.0], [1.0, 4.0], [1, 1]), ([3.0], [5.0], [2]), ([], [], [])])
def test_components_that_cannot_be_estimated_are_missing(sums, squares, sizes):
    assert all(np.isnan(v) for v in simulation.variance_components(sums, squares, sizes).values())


def test_nothing_varies():
    found = simulation.variance_components([2.0, 2.0], [2.0, 2.0], [2, 2])
    assert found["between"] == found["within"] == 0 and np.isnan(found["icc"])


# --- populations ---

@pytest.mark.parametrize("df", [None, 3, 8])
def test_population_has_the_moments_it_is_said_to_have(df):
    d, u = simulation.two_level(np.random.default_rng(2), 400, 200, 3, 0.3, df)
    assert d.shape == (400, 200, 3) and u.shape == (400, 200)
    assert np.corrcoef(d[..., 0].ravel(), d[..., 2].ravel())[0, 1] == pytest.approx(0.3, abs=0.03)
    assert d.mean() == pytest.approx(0, abs=0.01)
    law = stats.norm() if df is None else stats.t(df, scale=np.sqrt((df - 2) / df))
    assert stats.kstest(d[:100, :, 0].ravel(), law.cdf).pvalue > 0.001
    if df != 3:                                                     # its sample variance has no variance
        assert d.var() == pytest.approx(1, abs=0.03) and u.var() == pytest.approx(0.3, abs=0.02)


@pytest.mark.parametrize("icc, df", [(-0.1, None), (1.1, None), (0.3, 2)])
def test_impossible_populations_are_refused(icc, df):
    with pytest.raises(InputError, match="population"):
        simulation.two_level(np.random.default_rng(0), 1, 2, 2, icc, df)


@given(st.floats(-4, 4), st.floats(0.05, 3))
def test_folded_normal_against_scipy(mean, scale):
    assert simulation.folded_mean(mean, scale) == pytest.approx(stats.foldnorm.mean(abs(mean) / scale, scale=scale), rel=1e-9)


@pytest.mark.parametrize("df", [3, 5])
@pytest.mark.parametrize("mean", [0.0, 0.5, -1.2])
def test_folded_t_and_balance_against_integration(df, mean):
    law = stats.t(df, loc=mean, scale=np.sqrt((df - 2) / df))
    assert simulation.folded_mean(mean, 1.0, df) == pytest.approx(law.expect(abs), rel=1e-4)
    assert simulation.balance_of(mean, df) == pytest.approx(100 * (law.sf(0) - law.cdf(0)), abs=1e-9)
    assert simulation.folded_mean(mean, 0.0, df) == abs(mean)


def test_balance_of_a_normal():
    assert simulation.balance_of(0.5) == pytest.approx(100 * (2 * stats.norm.cdf(0.5) - 1))


def test_texts_of_a_unit_group_are_beta_binomial():
    m, own = simulation.share_counts(np.random.default_rng(3), 5000, 4, 3, 0.8, 0.6)
    law = stats.betabinom(3, 0.8 * 0.4 / 0.6, 0.2 * 0.4 / 0.6)
    assert stats.chisquare(np.bincount(m.astype(int).ravel(), minlength=4), 20000 * law.pmf(range(4))).pvalue > 0.001
    assert own.var() == pytest.approx(0.6 * 0.16, rel=0.05)
    m, own = simulation.share_counts(np.random.default_rng(3), 10, 4, 3, 0.8, 0.0)
    assert (own == 0.8).all() and set(m.ravel()) <= {0, 1, 2, 3}


# --- intervals ---

@pytest.mark.parametrize("statistic", [np.mean, lambda x, axis=-1: np.abs(np.mean(x, axis=axis))])
def test_bca_against_scipy(statistic):
    x = np.random.default_rng(4).exponential(size=(30, 2)) - 0.5
    low, high = [], []
    for column in x.T:
        result = stats.bootstrap((column,), statistic, n_resamples=2999, method="BCa", rng=np.random.default_rng(6))
        drawn = result.bootstrap_distribution[:, None]
        jackknife = np.array([[statistic(np.delete(column, i))] for i in range(len(column))])
        (a,), (b,) = inference.bca_interval(drawn, np.array([statistic(column)]), jackknife)
        assert (a, b) == pytest.approx(tuple(result.confidence_interval), rel=1e-9)
        low.append(a), high.append(b)
    assert (np.array(low) < np.array(high)).all()


def test_bca_falls_back_where_it_is_undefined():
    drawn = np.tile(np.arange(100.0)[:, None], (1, 3))
    drawn[:, 0] = 7.0                                                          # nothing varies; then all on one side of the estimate
    low, high = inference.bca_interval(drawn, np.array([7.0, -5.0, 200.0]), np.zeros((4, 3)))
    plain = inference.percentile_interval(drawn)
    assert np.array_equal(low, plain[0]) and np.array_equal(high, plain[1])


def test_bca_does_not_see_rounding():
    """A mean of values that are equal up to the order of a sum is a tie, whatever the machine adds first."""
    x = np.random.default_rng(1).integers(-1, 2, (40, 5)) / 3
    counts = inference.resample_counts(40, 499, 2)
    drawn = inference.bootstrap_means(x, counts)
    noise = drawn * (1 + np.random.default_rng(3).uniform(-4e-16, 4e-16, drawn.shape))
    one, other = (inference.bca_interval(d, x.mean(axis=0), inference.leave_one_out(x)) for d in (drawn, noise))
    np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


@given(st.floats(-50, 50), st.floats(1e-6, 1e6))
@settings(max_examples=30)
def test_bca_moves_and_stretches_with_the_data(shift, scale):
    x = np.random.default_rng(1).exponential(size=(20, 1))
    counts = inference.resample_counts(20, 199, 0)

    def interval(values):
        drawn = inference.bootstrap_means(values, counts)
        return np.array(inference.bca_interval(drawn, values.mean(axis=0), inference.leave_one_out(values)))

    np.testing.assert_allclose(interval(scale * (x + shift)), scale * (interval(x) + shift), rtol=1e-6, atol=1e-6 * scale)


def test_coverage_counts_bounds_and_has_the_wilson_interval():
    low, high = np.array([0, 1.0, 2, -1]), np.array([1, 2.0, 3, 0.5])
    rate, *limits = simulation.covered(low, high, 1.0)
    assert rate == 0.5 and limits == pytest.approx(proportion_confint(2, 4, method="wilson"))
    assert simulation.covered(low, high, np.array([2, 1, 2, 1.0]))[0] == 0.5


def test_one_text_a_block_is_jeffreys_on_one_text_less():
    """Blocks of one text: the variance between blocks is p (1 - p) / (n - 1), the t quantiles are the same."""
    m = np.array([[1.0], [0], [1], [1], [0], [1], [1], [1]])
    low, high = simulation.effective_interval(m, np.ones_like(m))
    assert (low[0], high[0]) == pytest.approx(tuple(stats.beta.ppf([0.025, 0.975], 0.75 * 7 + 0.5, 0.25 * 7 + 0.5)))


def test_blocks_that_agree_count_once():
    n = np.full((8, 1), 3.0)
    for p in (0.0, 1.0):
        low, high = simulation.effective_interval(p * n, n)
        assert (low[0], high[0]) == pytest.approx(tuple(map(float, representation.jeffreys(8 * p, 8))))
    low, high = simulation.effective_interval(n / 3, n)                        # every block one of three
    assert (low[0], high[0]) == pytest.approx(tuple(stats.beta.ppf([0.025, 0.975], 8 / 3 + 0.5, 16 / 3 + 0.5)))


def test_blocks_of_one_mind_are_wider_than_texts():
    m = np.array([[3.0], [3], [3], [0], [3], [3], [0], [3]])
    low, high = simulation.effective_interval(m, np.full((8, 1), 3.0))
    plain = representation.jeffreys(18, 24)
    assert low[0] < plain[0] and high[0] > plain[1]
    mixed = simulation.effective_interval(np.full((8, 1), 2.0) + [[0], [1], [0], [0], [0], [0], [0], [0]], np.full((8, 1), 3.0))
    assert mixed[0][0] == pytest.approx(stats.beta.ppf(0.025, 17.5, 7.5))    # never more texts than there are


def test_empty_blocks_do_not_count_and_one_block_is_refused():
    m, n = np.array([[2.0], [3], [0]]), np.array([[3.0], [3], [0]])
    np.testing.assert_allclose(simulation.effective_interval(m, n), simulation.effective_interval(m[:2], n[:2]))
    with pytest.raises(InputError, match="two blocks"):
        simulation.effective_interval(m[1:], n[1:])


def test_adjusted_interval_by_hand():
    """Two blocks, +1 and 0: with the halves sums 1, squares 2, n = 4."""
    low, high = simulation.adjusted_interval(np.array([[1.0], [0.0]]))
    reach = stats.t.ppf(0.975, 3) * np.sqrt((0.5 - 0.0625) / 4)
    assert (low[0], high[0]) == pytest.approx((0.25 - reach, min(1, 0.25 + reach)))
    low, high = simulation.adjusted_interval(np.zeros((50, 1)))
    assert low[0] == -high[0] < 0


def test_largest_drawn_value():
    rng = np.random.default_rng(5)
    values, counts = rng.standard_normal((6, 60)), inference.resample_counts(60, 50, 1)
    brute = [[values[k][c > 0].max() for k in range(6)] for c in counts]
    np.testing.assert_array_equal(simulation._highest(values, counts), brute)


# --- false discoveries ---

def test_t_statistics_have_their_law():
    rng = np.random.default_rng(7)
    t = simulation.t_statistics(rng, 4000, [3, 2], 12, 0.5)
    assert t.shape == (4000, 5) and all(stats.kstest(c, stats.t(11).cdf).pvalue > 0.001 for c in t.T)
    shifted = simulation.t_statistics(rng, 4000, [1], 12, 0.0, 0.8)[:, 0]
    assert stats.kstest(shifted, stats.nct(11, 0.8 * np.sqrt(12)).cdf).pvalue > 0.001


def test_t_statistics_are_those_of_data():
    """Joint law of two correlated runs: products and extremes as from drawn data."""
    rng = np.random.default_rng(8)
    root = np.linalg.cholesky(np.array([[1, 0.7], [0.7, 1]]))
    data = rng.standard_normal((20000, 8, 2)) @ root.T
    drawn = data.mean(axis=1) / data.std(axis=1, ddof=1) * np.sqrt(8)
    t = simulation.t_statistics(rng, 20000, [2], 8, 0.7)
    for law in (lambda x: x[:, 0] * x[:, 1], lambda x: np.abs(x).max(axis=1), lambda x: x[:, 0] - x[:, 1]):
        assert stats.ks_2samp(law(drawn), law(t)).pvalue > 0.001
    other = simulation.t_statistics(rng, 20000, [1, 1], 8, 0.7)                # two evaluators: independent
    assert stats.ks_2samp(drawn[:, 0] - drawn[:, 1], other[:, 0] - other[:, 1]).pvalue < 1e-6


@given(st.integers(0, 10_000))
@settings(max_examples=25)
def test_discoveries_one_family_at_a_time(seed):
    rng = np.random.default_rng(seed)
    effects = rng.random((3, 9)) < 0.3
    t = rng.standard_normal((3, 9)) + 4 * effects
    proportion, found = simulation.discoveries(t, 30, effects, 0.1)
    for k in range(3):
        chosen = inference.adjusted_p(2 * stats.t.sf(np.abs(t[k]), 30)) <= 0.1
        assert proportion[k] == ((chosen & ~effects[k]).sum() / chosen.sum() if chosen.any() else 0)
        np.testing.assert_equal(found[k], (chosen & effects[k]).sum() / effects[k].sum() if effects[k].any() else np.nan)


def test_false_discoveries_stay_below_q_and_would_not_without_the_adjustment():
    found = simulation.fdr(plan(), 20, simulations=1500, seed=1, q=0.1)
    assert list(found["family"].unique()) == ["study", "paper"] and set(found["runs"]) == {2, 20}
    assert set(found.loc[found["family"] == "study", "dependence"]) == {"independent", "correlated", "observed"}
    parametric = found[found["dependence"] != "observed"]
    assert (parametric["fdr_low"] <= 0.1).all() and (found["bound"] <= 0.1).all()
    null = found[(found["with_effect"] == 0) & (found["runs"] == 20)]
    assert (null["fdr"] > 0.04).all() and null["found"].isna().all()
    t = simulation.t_statistics(np.random.default_rng(1), 1500, [2] * 10, 24)
    assert (2 * stats.t.sf(np.abs(t), 23) <= 0.1).any(axis=1).mean() > 0.5     # what the family would be told without


def test_a_study_without_families():
    found = simulation.fdr(plan(languages=(), correlation=float("nan"), observed=np.empty((0, 24, 3))), 5, simulations=50, seed=1, q=0.05)
    assert set(found["runs"]) == {5} and set(found["dependence"]) == {"independent"}


def test_number_of_runs_of_the_paper():
    assert simulation.paper_runs() == 148


# --- power ---

@pytest.mark.parametrize("texts, icc", [(1, 0.3), (3, 0.3), (20, 0.0), (3, 1.0)])
@pytest.mark.parametrize("alpha", [0.05, 0.0003])
def test_power_against_statsmodels(texts, icc, alpha):
    sd = np.sqrt(icc + (1 - icc) / texts)
    smallest = simulation.smallest_effect(436, texts, icc, alpha)
    assert smallest / sd == pytest.approx(TTestPower().solve_power(nobs=436, alpha=alpha, power=0.8), rel=1e-4)
    assert simulation.power(smallest, 436, texts, icc, alpha) == pytest.approx(0.8)
    assert simulation.power(-smallest, 436, texts, icc, alpha) == pytest.approx(0.8)
    assert simulation.power(0.1 * sd, 436, texts, icc, alpha) == pytest.approx(TTestPower().power(0.1, 436, alpha), rel=1e-8)


@given(st.integers(3, 900), st.floats(1e-5, 0.2))
@settings(max_examples=60)
def test_power_rises_from_alpha_to_one(occupations, alpha):
    effects = np.linspace(0, 40, 60) / np.sqrt(occupations)
    found = simulation.power(effects, occupations, 3, 0.3, alpha)
    assert found[0] == pytest.approx(alpha, rel=1e-6) and np.isfinite(found).all() and (np.diff(found) > -1e-9).all()
    assert found.max() <= 1 + 1e-12


@given(st.floats(0.001, 0.3), st.floats(0.01, 1), st.floats(0.1, 1))
def test_level_of_a_large_family(q, share, wanted):
    a = simulation.bh_alpha(q, share, wanted)
    assert a == pytest.approx(q * ((1 - share) * a + share * wanted)) and 0 < a <= q


def test_simulated_power_meets_the_formula():
    table, curve = simulation.power_table(plan(), 20, simulations=3000, seed=2, q=0.05)
    assert list(table["texts"].unique()) == [1, 3, 20] and list(table["level"].unique()) == list(curve["level"].unique())
    assert ((table["normal_low"] < 0.81) & (table["normal_high"] > 0.79)).all()
    assert table.loc[table["texts"] == 20, "observed"].isna().all() and table.loc[table["texts"] < 20, "observed"].notna().all()
    assert np.abs(curve["formula"] - curve["simulated"]).max() < 0.04
    assert (table["smallest_pct"] == 2 * table["smallest"]).all()


# --- coverage ---

def test_evaluator_rows_hold_known_truths():
    found = simulation.evaluator_coverage(plan(occupations=24), **{**SMALL, "simulations": 400})
    assert list(found.columns) == simulation.COVERAGE and set(found["design"]) == set(simulation.POPULATIONS)
    normal = found[(found["design"] == "normal") & (found["interval"] != "BCa")].set_index(["quantity", "effect"])
    assert normal.loc[("A", 0.0), "truth"] == pytest.approx(np.sqrt(2 / np.pi))
    assert normal.loc[("mean |occupation mean|", 0.0), "truth"] == pytest.approx(np.sqrt(2 * 0.3 / np.pi))
    for quantity in ("S", "A", "balance"):
        for effect in (0.0, 0.5):
            row = normal.loc[(quantity, effect)]
            assert abs(row["bias"]) < 2 * row["bias_error"] and 0.88 < row["coverage"] < 0.99
    assert normal.loc[("|S|", 0.0), "bias"] == pytest.approx(np.sqrt(2 / np.pi * (0.3 + 0.7 / 3) / 24), rel=0.15)
    wanted = np.sqrt(2 / np.pi) * (np.sqrt(0.3 + 0.7 / 3) - np.sqrt(0.3))
    assert normal.loc[("mean |occupation mean|", 0.0), "bias"] == pytest.approx(wanted, rel=0.1)
    assert normal.loc[("S, same occupations", 0.0), "coverage"] > normal.loc[("S", 0.0), "coverage"]


def test_the_observed_population_is_the_runs_own():
    one = plan(observed=plan().observed[:1])
    found = simulation.evaluator_coverage(one, **SMALL)
    row = found[(found["design"] == "observed") & (found["quantity"] == "A") & (found["effect"] == 0.5)].iloc[0]
    assert row["truth"] == pytest.approx(np.abs(one.observed[0] + 0.5).mean())


def test_the_same_seed_draws_the_same_and_another_does_not():
    one, same, other = (simulation.system_coverage(plan(), **{**SMALL, "seed": seed}) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(one, same)
    assert not one["bias"].equals(other["bias"])


def test_range_rows():
    found = simulation.range_coverage(plan(), **SMALL).set_index(["quantity", "design"])
    assert len(found) == 6 and found["truth"].between(2, 12).all() and found["note"].str.startswith("R of one run").all()
    assert len(simulation.range_coverage(plan(observed=np.empty((0, 24, 3))), **SMALL)) == 3


def test_only_what_the_study_does_is_called_as_in_the_study():
    """It has no interval of |S| or of |occupation mean|, and holds R fixed."""
    frame = pd.concat([part(plan(), **SMALL) for part in (
        simulation.evaluator_coverage, simulation.range_coverage, simulation.error_coverage, simulation.system_coverage)])
    studied = set(frame.loc[frame["interval"].isin(simulation.AS_STUDIED), "quantity"])
    assert studied == {"S", "S, same occupations", "A", "balance", "S%, R fixed", "S%, R fixed, usual R", "error-free difference", "nGPD"}
    other = ["|S|", "mean |occupation mean|", "S%, R found again"]
    assert set(frame.loc[frame["interval"] == simulation.NOT_STUDIED, "quantity"]) == set(other)
    printed = simulation.coverage_printed(frame).set_index("Quantity")
    assert (printed.loc[other, "as in the study"] == "–").all() and (printed.loc[sorted(studied), "as in the study"] != "–").all()
    assert printed.loc[other, simulation.NOT_STUDIED].str.contains(r"\[").all()
    assert set(printed.loc[sorted(studied), simulation.NOT_STUDIED]) == {"–"}
    assert printed.loc["|S|", "widths"].str.count(" / ").eq(1).all()                                # none is lost


def test_error_free_rows_are_the_real_runs():
    found = simulation.error_coverage(plan(), **SMALL)
    assert set(found["interval"]) == {"percentile", "BCa", "Agresti–Min"} and found["design"].str.startswith("observed").all()
    truths = plan().errors.mean(axis=0)
    assert set(np.round(found["truth"], 9)) <= set(np.round(truths, 9))
    assert not len(simulation.error_coverage(plan(errors=np.empty((24, 0)), error_names=()), **SMALL))


def test_system_rows_show_the_narrow_interval_and_the_better_one():
    found = simulation.system_coverage(plan(icc_systems=0.8), **{**SMALL, "simulations": 300})
    redrawn = found[(found["design"] == "unit groups redrawn") & (found["groups"] == 8) & (found["p"] == 0.95)].set_index("interval")
    assert redrawn.loc["percentile", "coverage"] < 0.6 and redrawn.loc["percentile", "flat"] > 0.4
    assert redrawn.loc["Jeffreys on effective texts", "coverage"] > 0.9
    assert set(found.loc[found["groups"] < representation.MANY, "interval"]) == {"Jeffreys on texts", "Jeffreys on effective texts"}
    assert found.loc[found["design"] == "same unit groups", "groups"].max() < representation.MANY and found["groups"].max() == 24


# --- studies ---

def calibrated(path):
    results = inference.load(path)
    frame = simulation.components(results)
    chosen = simulation.design(results, frame)
    frames, curve = simulation.calibrate(results.study, chosen, frame, simulations=40, replicates=99, families=50)
    return results, chosen, frames, curve, simulation.write(results.study, chosen, frames, simulations=40, replicates=99, families=50)


def test_a_study_is_calibrated(mini_study):
    results, chosen, frames, curve, pages = calibrated(mini_study)
    assert (chosen.occupations, chosen.texts, chosen.languages) == (12, 3, (1,)) and np.isnan(chosen.correlation)
    assert chosen.observed.shape == (1, 12, 3) and chosen.observed.std() == pytest.approx(1)
    run = frames["components"].set_index("system").loc["noise"]
    assert run["mean"] == pytest.approx(results.score_runs.set_index("system").loc["noise", "signed"])
    assert run["sd_pct"] == pytest.approx(100 * run["sd"] / results.ranges.set_index("system").loc["noise", "range"])
    assert pd.isna(frames["components"].set_index("system").loc["length", "icc"])
    spell = frames["components"].set_index("system").loc["spell"]
    assert 100 * spell["mean"] == pytest.approx(results.error_runs["difference"].iloc[0])
    assert set(pages) == {"joint_components", "joint_calibration", "joint_fdr", "joint_power"}
    assert all("SIMULATED" in pages[name] for name in ("joint_calibration", "joint_fdr", "joint_power"))
    words = simulation.findings(results.study.tables)
    assert len(words.splitlines()) == 4 and len(curve)
    assert "R of a single run" in words and "not over all languages of an evaluator" in pages["joint_calibration"]
    assert "1 runs (none or 1 with an effect) and 148 runs (none or 15 with an effect)" in words and "10 % of runs with one" not in words


def test_a_study_without_a_metric_is_calibrated_too(mini_study):
    """No run to estimate from: independent texts, no observed population."""
    text = mini_study.read_text().replace("label: Noise}", "label: Noise, role: control}")
    mini_study.write_text(text)
    results, chosen, frames, _, _ = calibrated(mini_study)
    assert chosen.icc == 0 and chosen.languages == () and not len(chosen.observed)
    assert "observed" not in set(frames["calibration"].loc[frames["calibration"]["quantity"] == "S", "design"])
    assert "148" in simulation.findings(results.study.tables)


def test_other_sizes_do_not_replace_the_committed_tables():
    cells = json.loads((ROOT / "notebooks/joint/3_calibration.ipynb").read_text())["cells"]
    code = {c["id"]: "".join(c["source"]) for c in cells}
    given_ = {}
    exec(code["parameters"], given_)
    assert {name: given_[name] for name in simulation.SIZES} == simulation.SIZES                     # what is committed is the default
    assert "r.study = simulation.beside(r.study, sizes)" in code["answer"]
    study = load("occupairs")
    assert simulation.beside(study, dict(simulation.SIZES)).tables == ROOT / "tables"
    small = simulation.beside(study, {**simulation.SIZES, "simulations": 50})
    assert small.tables == study.results / "tables" and small.figures == study.results / "figures" and small.results == study.results


def test_committed_findings_are_the_committed_numbers():
    folder = ROOT / "tables"
    words = simulation.findings(folder)
    held = pd.read_csv(folder / "joint_calibration.csv")
    percentile = held[(held["quantity"] == "nGPD") & (held["interval"] == "percentile")]
    assert f"down to {100 * percentile['coverage'].min():.1f} %" in words
    for smallest in pd.read_csv(folder / "joint_power.csv")["smallest"].iloc[[0, 1]]:
        assert f"{smallest:.3f}" in words
    assert 2 <= len(words.splitlines()) <= 4 and "simulated" in words


def test_findings_say_when_a_promise_is_broken(tmp_path):
    for name in ("fdr", "calibration", "power"):
        frame = pd.read_csv(ROOT / "tables" / f"joint_{name}.csv")
        if name == "fdr":
            frame.loc[0, ["fdr", "fdr_low", "fdr_high"]] = 0.2, 0.19, 0.21
        if name == "calibration":
            frame.loc[frame["quantity"] == "A", "bias"] = 0.1
        frame.to_csv(tmp_path / f"joint_{name}.csv", index=False)
    words = simulation.findings(tmp_path)
    assert "exceed q in 1 of" in words and "A is biased" in words
