"""Evaluator measures: by hand, at the edges, and as properties."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx

from mtgender import inference, preference, robustness

FIVE = [0.2, -0.1, 0.0, 0.3, 0.1]
scores = st.integers(-1000, 1000).map(lambda x: x / 8)                # exact in binary, with ties


@st.composite
def runs(draw):
    """Scores of both variants and the occupation of each pair (unequal sizes)."""
    rows = draw(st.lists(st.tuples(scores, scores, st.sampled_from("abcd")), min_size=2, max_size=30))
    m, f, occupations = map(np.array, zip(*rows))
    return m, f, occupations


def test_five_pairs_by_hand():
    got = preference.summarise(preference.paired_difference([0.7, 0.4, 0.5, 0.9, 0.3], [0.5, 0.5, 0.5, 0.6, 0.2]))
    assert got == approx({"n": 5, "signed": 0.5 / 5, "absolute": 0.7 / 5, "masculine_win": 3 / 5, "feminine_win": 1 / 5, "tie": 1 / 5,
                          "balance": 40.0, "cancellation": 1 - 0.5 / 0.7})
    r = preference.score_range([0.7, 0.4, 0.5, 0.9, 0.3], [0.5, 0.5, 0.5, 0.6, 0.2])
    assert r == approx(0.9 - 0.2)
    assert preference.percent_of_range([got["signed"], got["absolute"]], r) == approx([100 / 7, 20])


def test_a_tie_is_exact_equality():
    tiny = np.nextafter(0.5, 1) - 0.5
    assert preference.pair_measures([tiny, 0, -tiny])[["masculine_win", "feminine_win", "tie"]].to_numpy().tolist() == [
        [1, 0, 0], [0, 0, 1], [0, 1, 0]]


def test_occupations_weigh_the_same_whatever_their_size():
    d, occupations = [0, 1, 5, -3], ["7126", "7126", "7126", "0110"]                    # means 2 and -3
    assert preference.summarise(d, occupations) == approx({"n": 4, "signed": -0.5, "absolute": 2.5, "masculine_win": 1 / 3,
                                                           "feminine_win": 1 / 2, "tie": 1 / 6, "balance": -100 / 6, "cancellation": 0.8})
    assert preference.summarise(d)["signed"] == 0.75
    means = preference.occupation_means(d, occupations)
    assert list(means.index) == ["0110", "7126"] and list(means["n_pairs"]) == [1, 3]


def test_degenerate_runs():
    zero = preference.summarise([0.0, 0.0])
    assert zero["tie"] == 1 and zero["balance"] == 0 and np.isnan(zero["cancellation"])
    assert np.isnan(preference.percent_of_range(0.0, 0.0)) and np.isnan(preference.percent_of_range([1.0, 2.0], [0.0, 1.0]))[0]
    for m, f in (([1, 2], [1]), ([np.nan], [1]), ([1], [np.inf])):
        with pytest.raises(ValueError):
            preference.paired_difference(m, f)


def test_error_free():
    n, omission, fault = [0, 1, 0, 0], [False, False, True, False], [False, False, False, True]
    assert preference.error_free(n, omission).tolist() == [True, False, False, True]
    assert preference.error_free(n, omission, fault).tolist() == [True, False, False, False]


def test_split_half_reliability_by_hand():
    effects = pd.DataFrame({"a": [1, 2, 3, 4], "b": [1, 2, 3, 4], "c": [2, 1, 4, 3]})      # r = 1, .6, .6
    r = (1 + 0.6 + 0.6) / 3
    assert preference.split_half_reliability(effects) == approx(3 * r / (1 + 2 * r))
    two = pd.DataFrame({"a": [1, 2, 3, 4], "b": [2, 1, 4, 3]})
    assert preference.split_half_reliability(two) == approx(2 * 0.6 / 1.6)
    with_gap = pd.concat([two, pd.DataFrame({"a": [9.0], "b": [np.nan]})])
    assert preference.split_half_reliability(with_gap) == approx(2 * 0.6 / 1.6)


@pytest.mark.parametrize("effects", [
    {"a": [1, 2, 3]}, {"a": [1, 2, 3], "b": [1, 1, 1]}, {"a": [], "b": []}, {"a": [1.0, np.nan], "b": [np.nan, 1.0]},
    {"a": [1, 2, 3], "b": [3, 2, 1]}, {"a": [0.1, 0.2, 0.4], "b": [0.1 - 7 * x for x in (0.1, 0.2, 0.4)]}])
def test_reliability_is_missing_where_undefined(effects):
    assert np.isnan(preference.split_half_reliability(pd.DataFrame(effects, dtype=float)))


@given(runs())
def test_rates_sum_to_one_and_s_is_bounded_by_a(run):
    m, f, occupations = run
    for groups in (None, occupations):
        got = preference.summarise(m - f, groups)
        assert got["masculine_win"] + got["feminine_win"] + got["tie"] == approx(1)
        assert abs(got["signed"]) <= got["absolute"] + 1e-12
        assert np.isnan(got["cancellation"]) == (got["absolute"] == 0)
        assert np.isnan(got["cancellation"]) or -1e-12 <= got["cancellation"] <= 1


@given(runs())
def test_swapping_the_variants_negates_s_and_keeps_a(run):
    m, f, occupations = run
    a, b = (preference.summarise(preference.paired_difference(*x), occupations) for x in ((m, f), (f, m)))
    assert (b["signed"], b["absolute"], b["balance"]) == approx((-a["signed"], a["absolute"], -a["balance"]))
    assert (b["masculine_win"], b["feminine_win"], b["tie"]) == approx((a["feminine_win"], a["masculine_win"], a["tie"]))
    assert b["cancellation"] == approx(a["cancellation"], nan_ok=True)


@given(runs(), st.sampled_from([0.25, 2.0, 1024.0]), st.integers(-100, 100))
def test_affine_rescaling_leaves_percentages_and_p(run, factor, shift):
    m, f, occupations = run

    def measured(m, f):
        means = preference.occupation_means(preference.paired_difference(m, f), occupations)
        percent = preference.percent_of_range(means[["signed", "absolute"]].mean().to_numpy(), preference.score_range(m, f))
        return [*percent, inference.t_test(means["signed"])[1]]
    assert measured(factor * m + shift, factor * f + shift) == approx(measured(m, f), nan_ok=True)


@given(runs(), st.randoms())
def test_row_order_changes_nothing(run, random):
    m, f, occupations = run
    order = list(range(len(m)))
    random.shuffle(order)
    assert preference.summarise((m - f)[order], occupations[order]) == approx(preference.summarise(m - f, occupations), nan_ok=True)


def coarse(offset=0.0, cancel=False):
    """Scores with one decimal from 0 to 100 in 436 occupations of three; differences that cancel in each, or one offset."""
    rng = np.random.default_rng(3)
    feminine = rng.integers(100, 900, (436, 3)) / 10
    step = rng.integers(-50, 50, (436, 2))
    d = np.column_stack([step, -step.sum(axis=1)]) / 10 if cancel else offset
    return np.round(feminine + d, 4).ravel(), feminine.ravel(), np.repeat([f"{i:04d}" for i in range(436)], 3)


def test_differences_that_cancel_out_leave_no_noise_to_test():
    m, f, occupations = coarse(cancel=True)
    raw = pd.Series(m - f).groupby(occupations).mean()
    assert raw.any() and raw.abs().max() < 1e-12                    # what binary fractions leave
    means = preference.occupation_means(preference.paired_difference(m, f), occupations)["signed"]
    assert not means.any() and inference.t_test(means)[1:] == (1.0, "no difference")
    values = robustness.block_means(preference.paired_difference(m, f), np.repeat(range(436), 3), np.zeros(1308, int), (436, 1))
    assert [x.item() for x in robustness.signed_rank(values)] == [0.0, 1.0] and robustness.sign_flip(values, 99, 1) == 1


def test_one_offset_between_scores_of_any_size_is_one_difference():
    m, f, occupations = coarse(offset=0.001)
    d = preference.paired_difference(m, f)
    assert len(set(m - f)) > 1 and set(d) == {0.001}
    assert inference.t_test(preference.occupation_means(d, occupations)["signed"])[1:] == (0.0, "all occupations equal")


def test_a_difference_is_zero_only_between_equal_scores():
    tiny = np.nextafter(1.0, 2.0)
    assert preference.paired_difference([tiny, 1.0, 1e-300], [1.0, 1.0, 0.0]).tolist() == [tiny - 1, 0.0, 1e-300]
