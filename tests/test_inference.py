"""Intervals, tests and adjusted p-values against independent oracles; macro rows and the joint run by hand."""

import json

import numpy as np
import pandas as pd
import pytest
from arch.bootstrap import IIDBootstrap
from conftest import PAIRS, annotations, random_scores, write, write_pairs, write_scores
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx
from scipy import stats
from statsmodels.stats.multitest import multipletests

from mtgender import data, inference, preference, study

SETTINGS = {"q": 0.05, "level": 0.95, "replicates": 400, "seed": 7}


class Indices(np.random.RandomState):
    """Hands out given resampling indices: all at once to scipy, one row a replicate to arch."""

    def __init__(self, indices):
        super().__init__(0)
        self.all, self.rows = indices, iter(indices)

    def randint(self, *_, size=None, **__):
        return self.all if isinstance(size, tuple) and len(size) == 2 else next(self.rows)


def occupation_table(runs):
    """(system, language) -> {isco: [d, …]} as the frame `infer` makes."""
    parts = []
    for (system, language), groups in runs.items():
        d, codes = zip(*((x, code) for code, values in groups.items() for x in values))
        parts.append(preference.occupation_means(d, codes).reset_index().assign(system=system, language=language))
    return pd.concat(parts)


def declared(runs, ranges=10.0, roles=None):
    return pd.DataFrame([{"system": s, "language": c, "role": (roles or {}).get(s, "metric"), "n": sum(map(len, g.values())), "note": "",
                          "range": ranges[s, c] if isinstance(ranges, dict) else ranges} for (s, c), g in runs.items()])


def score_tables(runs, ranges=10.0, roles=None, panel=("de", "ru"), range_scope="evaluator", **changes):
    return inference.score_tables(occupation_table(runs), declared(runs, ranges, roles), panel=panel, range_scope=range_scope,
                                  **{**SETTINGS, **changes})


def groups(seed, n=12, shift=0.0, size=3):
    return {f"{1000 + i}": list(x) for i, x in enumerate(np.random.default_rng(seed).normal(shift, 1, (n, size)))}


def row(table, **key):
    for column, value in key.items():
        table = table[table[column] == value]
    assert len(table) == 1
    return table.iloc[0]


# bootstrap

@pytest.mark.parametrize("level", [0.95, 0.9])
def test_intervals_equal_scipy_and_arch_for_the_same_resamples(level):
    rng = np.random.default_rng(3)
    values, indices = rng.normal(size=40), rng.integers(0, 40, (500, 40))
    ours = np.ravel(inference.percentile_interval(inference.bootstrap_means(values[:, None], inference.counts_of(indices, 40)), level))
    scipy = stats.bootstrap((values,), np.mean, n_resamples=500, confidence_level=level, method="percentile",
                            random_state=Indices(indices)).confidence_interval
    arch = IIDBootstrap(values, seed=Indices(indices)).conf_int(lambda x: x.mean(), reps=500, method="percentile", size=level)
    assert ours == approx(np.array(scipy), rel=1e-12)
    assert ours == approx(arch.ravel(), rel=1e-12)


def test_counts_of_indices_by_hand():
    assert inference.counts_of(np.array([[0, 0, 2], [1, 2, 1]]), 3).tolist() == [[2, 0, 1], [0, 2, 1]]
    counts = inference.resample_counts(12, 50, 3)
    assert counts.shape == (50, 12) and (counts.sum(axis=1) == 12).all() and (counts == inference.resample_counts(12, 50, 3)).all()


def test_ratio_means_are_means_over_the_drawn_pairs():
    pairs = {0: [1.0], 1: [2.0, 4.0, 6.0], 2: [-1.0, 1.0]}
    indices = np.array([[0, 0, 1], [2, 1, 2]])
    got = inference.ratio_means([[sum(x)] for x in pairs.values()], [[len(x)] for x in pairs.values()], inference.counts_of(indices, 3))
    assert got.ravel() == approx([np.mean(sum((pairs[i] for i in draw), [])) for draw in indices])


def test_missing_blocks_do_not_count():
    values = np.array([[1.0, 1.0], [3.0, np.nan], [8.0, 8.0]])
    got = inference.bootstrap_means(values, inference.counts_of(np.array([[0, 1, 2], [1, 1, 1], [1, 2, 2]]), 3))
    assert got[:, 0] == approx([4, 3, 19 / 3]) and got[:, 1] == approx([4.5, np.nan, 8], nan_ok=True)


def test_blocks_are_resampled_not_pairs():
    effect = np.random.default_rng(5).normal(size=60)
    run = {f"{1000 + i}": [e, e, e] for i, e in enumerate(effect)}                  # the pairs of an occupation agree
    table, _ = score_tables({("a", "de"): run}, replicates=4000)
    block = table.loc[0, "signed_high"] - table.loc[0, "signed_low"]
    pair = stats.bootstrap((np.repeat(effect, 3),), np.mean, n_resamples=4000, method="percentile", rng=1).confidence_interval
    assert block / (pair.high - pair.low) == approx(np.sqrt(3), rel=0.08)
    assert block == approx(2 * 1.96 * effect.std() / np.sqrt(60), rel=0.08)


# tests

@pytest.mark.parametrize("seed", range(3))
def test_t_test_equals_scipy(seed):
    x = np.random.default_rng(seed).normal(0.2, 1, 30)
    theirs = stats.ttest_1samp(x, 0)
    assert inference.t_test(x) == (approx(theirs.statistic), approx(theirs.pvalue), "")


def test_no_scale_is_assumed():
    x = np.random.default_rng(0).normal(0.2, 1, 30)
    assert inference.t_test(1e-200 * x)[1] == approx(inference.t_test(x)[1])                # products of token probabilities


@pytest.mark.parametrize("means, p, note", [
    ([0.0] * 5, 1.0, "no difference"), ([0.3] * 5, 0.0, "all occupations equal"), ([-7.0] * 2, 0.0, "all occupations equal"),
    ([0.1 + 0.2, 0.3, 0.3], 0.0, "all occupations equal"), ([0.5], np.nan, "too few occupations"), ([], np.nan, "too few occupations")])
def test_degenerate_t_tests(means, p, note):
    t, got, said = inference.t_test(means)
    assert np.isnan(t) and got == approx(p, nan_ok=True) and said == note


def test_a_small_spread_is_not_called_equal():
    assert inference.t_test([1, 1 + 1e-9, 1 - 1e-9])[2] == ""


def test_all_columns_are_tested_as_one_by_one():
    rng = np.random.default_rng(5)
    values = rng.normal(0.1, 1, (30, 6))
    values[:, 1], values[:, 2], values[4:9, 3] = 0, 2.5, np.nan
    values[:, 4] *= 1e-200
    for found, column in zip(inference.t_tests(values), values.T):
        expected = inference.t_test(column[~np.isnan(column)])
        assert found[:2] == approx(expected[:2], nan_ok=True, rel=1e-12) and found[2] == expected[2]
    assert {note for _, _, note in inference.t_tests(values[:1])} == {"too few occupations"}


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_adjusted_p_equals_statsmodels(p):
    for method, name in (("bh", "fdr_bh"), ("by", "fdr_by")):
        assert inference.adjusted_p(p, method=method) == approx(multipletests(p, method=name)[1], abs=1e-12)


def test_adjusted_p_by_hand_and_its_family():
    assert inference.adjusted_p([0.01, 0.04, 0.03, 0.5]) == approx([0.04, 0.16 / 3, 0.16 / 3, 0.5])
    got = inference.adjusted_p([0.01, 0.02, np.nan, 0.04], [True, False, True, True])
    assert got == approx([0.02, np.nan, np.nan, 0.04], nan_ok=True)
    assert np.isnan(inference.adjusted_p([0.1, 0.2], [False, False])).all() and len(inference.adjusted_p([])) == 0
    for bad in ([1.2], [-0.1]):
        with pytest.raises(ValueError):
            inference.adjusted_p(bad)


def test_the_family_is_the_metric_runs_with_a_p():
    runs = {("a", "de"): groups(1, shift=1), ("b", "de"): groups(2), ("zero", "de"): {k: [0.0] for k in groups(1)},
            ("c", "de"): groups(3, shift=1), ("equal", "de"): {k: [0.25] for k in groups(1)}, ("one", "de"): {"1000": [1.0]}}
    table, _ = score_tables(runs, roles={"c": "control"})
    family = table[table["system"].isin(["a", "b", "zero", "equal"])]
    assert list(family["p_adjusted"]) == approx(multipletests(family["p"], method="fdr_bh")[1])
    for q in (0.05, 0.6 * row(table, system="b")["p_adjusted"], row(table, system="b")["p_adjusted"]):
        got = score_tables(runs, roles={"c": "control"}, q=q)[0].loc[family.index, "significant"]
        assert list(got) == list(family["p_adjusted"] <= q)
    outside = table[table["system"].isin(["c", "one"])]
    assert outside["p_adjusted"].isna().all() and outside["significant"].isna().all() and row(table, system="c")["p"] < 0.05
    assert row(table, system="zero")["p"] == row(table, system="zero")["p_adjusted"] == 1
    assert row(table, system="equal")["p"] == 0 and row(table, system="equal")["note"] == "all occupations equal"
    assert row(table, system="zero")["note"] == "no difference" and row(table, system="one")["note"] == "too few occupations"


# runs and macro rows

def test_one_run_by_hand():
    run = {"0110": [1.0, 3.0], "7126": [-2.0], "9313": [0.0, 0.0, 0.0]}                # occupation means 2, -2, 0
    r = row(score_tables({("a", "de"): run}, ranges=8.0)[0], system="a")
    assert r[["n", "signed", "absolute", "signed_pct", "absolute_pct"]].tolist() == approx([6, 0, 4 / 3, 0, 100 / 6])
    assert r[["masculine_win", "feminine_win", "tie", "balance", "cancellation"]].tolist() == approx([1 / 3, 1 / 3, 1 / 3, 0, 1])
    counts = inference.resample_counts(3, 400, 7)
    assert r[["signed_low", "signed_high"]].tolist() == approx(np.quantile(counts @ [2, -2, 0] / 3, [0.025, 0.975]))
    assert r[["absolute_low", "absolute_high"]].tolist() == approx(np.quantile(counts @ [2, 2, 0] / 3, [0.025, 0.975]))
    assert r[["balance_low", "balance_high"]].tolist() == approx(np.quantile(100 * counts @ [1, -1, 0] / 3, [0.025, 0.975]))


def test_a_constant_evaluator_has_no_percentages():
    table, summaries = score_tables({("a", "de"): {k: [0.0] for k in groups(1)}, ("b", "de"): groups(2)},
                                    ranges={("a", "de"): 0.0, ("b", "de"): 5.0}, panel=["de"])
    a = row(table, system="a")
    assert a[["signed_pct", "absolute_pct", "cancellation"]].isna().all() and a["signed"] == 0 and a["p_adjusted"] == 1
    assert a["note"] == "no difference; constant evaluator"
    macro = row(summaries, system="a", summary="macro_available")
    assert macro[["signed_pct", "signed_pct_low", "absolute_pct", "cancellation"]].isna().all() and macro["signed"] == 0


def test_macro_rows_by_hand():
    runs = {("a", "de"): groups(1, shift=1), ("a", "ru"): groups(2), ("a", "fr"): groups(3), ("b", "de"): groups(4), ("b", "fr"): groups(5)}
    table, summaries = score_tables(runs, ranges=8.0)
    for summary, codes in (("macro_available", ["de", "ru", "fr"]), ("macro_panel", ["de", "ru"])):
        part, r = table[(table["system"] == "a") & table["language"].isin(codes)], row(summaries, system="a", summary=summary)
        for name in ("signed", "absolute", "signed_pct", "absolute_pct", "balance"):
            assert r[name] == approx(part[name].mean())
        assert r["n_languages"] == len(codes) and r["cancellation"] == approx(1 - abs(part["signed"].mean()) / part["absolute"].mean())
        means = np.mean([[np.mean(x) for x in runs["a", c].values()] for c in codes], axis=0)  # all languages of an occupation
        ends = np.quantile(inference.resample_counts(12, 400, 7) @ means / 12, [0.025, 0.975])
        assert [r["signed_low"], r["signed_high"]] == approx(ends)
        assert [r["signed_pct_low"], r["signed_pct_high"]] == approx(100 * ends / 8)
    incomplete = row(summaries, system="b", summary="macro_panel")                       # no ru: no panel mean over what exists
    assert incomplete.drop(["system", "summary", "n_languages"]).isna().all() and incomplete["n_languages"] == 0
    assert row(summaries, system="b", summary="macro_available")["n_languages"] == 2


def test_range_per_run_normalises_each_language_by_its_own():
    runs = {("a", "de"): groups(1, shift=1), ("a", "ru"): groups(2)}
    table, summaries = score_tables(runs, ranges={("a", "de"): 4.0, ("a", "ru"): 16.0}, range_scope="run")
    macro = row(summaries, system="a", summary="macro_panel")
    assert macro["signed_pct"] == approx(100 * (table.loc[0, "signed"] / 4 + table.loc[1, "signed"] / 16) / 2)
    assert macro["signed_pct_low"] <= macro["signed_pct"] <= macro["signed_pct_high"]


def test_macro_rows_leave_out_languages_where_the_system_is_no_metric():
    runs = {("a", "de"): groups(1), ("a", "ru"): groups(2)}
    frame = declared(runs).assign(role=["metric", "control"])
    _, summaries = inference.score_tables(occupation_table(runs), frame, panel=["de", "ru"], range_scope="evaluator", **SETTINGS)
    assert list(summaries["n_languages"]) == [1, 0]


def test_adding_a_run_changes_no_other_interval():
    runs = {("a", "de"): groups(1), ("b", "de"): groups(2)}
    ends = ["signed_low", "signed_high", "absolute_low", "absolute_high", "balance_low", "balance_high"]
    before, after = score_tables(runs)[0], score_tables({("new", "de"): groups(3), **runs})[0]
    assert (after.iloc[1:][ends].to_numpy() == before[ends].to_numpy()).all()
    assert (score_tables(runs, seed=8)[0][ends].to_numpy() != before[ends].to_numpy()).any()


def test_partial_runs_use_the_occupations_they_have():
    full = groups(1)
    part = {k: full[k] for k in list(full)[:9]}
    table, _ = score_tables({("a", "de"): full, ("p", "de"): part})
    p, means = row(table, system="p"), np.array([np.mean(x) for x in part.values()])
    assert p["signed"] == approx(means.mean()) and p["p"] == approx(stats.ttest_1samp(means, 0).pvalue)
    counts = inference.resample_counts(12, 400, 7)[:, :9]
    assert [p["signed_low"], p["signed_high"]] == approx(np.quantile(counts @ means / counts.sum(axis=1), [0.025, 0.975]))


def test_pair_means_weigh_occupations_by_their_pairs():
    """Unequal occupations: the mean over pairs is the plain one, its bootstrap (counts * sums) / (counts * sizes) by hand."""
    rng = np.random.default_rng(3)
    groups = {f"{code}": list(rng.normal(0.2, 1, n)) for code, n in zip(range(1000, 1008), (4, 9, 1, 30, 2, 5, 17, 3))}
    runs = {("m", "de"): groups, ("m", "cs"): {c: v[:1] for c, v in groups.items()}}
    frame = inference.pair_table(occupation_table(runs), declared(runs), **{k: v for k, v in SETTINGS.items() if k != "q"})
    d = np.concatenate(list(groups.values()))
    row = frame[frame["language"] == "de"].iloc[0]
    assert row["signed"] == approx(d.mean()) and row["absolute"] == approx(abs(d).mean()) and row["masculine_win"] == approx((d > 0).mean())
    counts = inference.resample_counts(8, SETTINGS["replicates"], SETTINGS["seed"])
    drawn = [np.concatenate([np.tile(v, int(n)) for v, n in zip(groups.values(), c)]).mean() for c in counts]
    assert [row["signed_low"], row["signed_high"]] == approx(list(np.quantile(drawn, [0.025, 0.975])))
    assert row["balance"] == approx(100 * ((d > 0).mean() - (d < 0).mean())) and row["balance_low"] < row["balance"] < row["balance_high"]
    one = frame[frame["language"] == "cs"].iloc[0]                      # one text each: pairs and occupations weigh the same
    table = inference.score_tables(occupation_table(runs), declared(runs), panel=["cs"], range_scope="run", **SETTINGS)[0]
    assert one["signed_low"] == approx(table.set_index("language").loc["cs", "signed_low"])


def test_language_means_by_hand():
    runs = {("a", "de"): groups(1, shift=1), ("a", "ru"): groups(2), ("b", "de"): groups(3), ("b", "ru"): groups(4),
            ("c", "de"): groups(5, shift=9)}
    ranges = declared(runs, {k: 5.0 if k[0] == "a" else 20.0 for k in runs})
    got = inference.language_means(occupation_table(runs), ranges, ["a", "b"], ["ru", "de"], level=0.95, replicates=400, seed=7)
    assert list(got["language"]) == ["ru", "de"] and list(got["n_systems"]) == [2, 2]
    for language in ("de", "ru"):
        means = np.mean([[100 * np.mean(x) / r for x in runs[s, language].values()] for s, r in (("a", 5), ("b", 20))], axis=0)
        sizes = np.mean([[100 * np.mean(np.abs(x)) / r for x in runs[s, language].values()] for s, r in (("a", 5), ("b", 20))], axis=0)
        r, counts = row(got, language=language), inference.resample_counts(12, 400, 7)
        assert r[["signed_pct", "absolute_pct"]].tolist() == approx([means.mean(), sizes.mean()])
        assert r[["signed_pct_low", "signed_pct_high"]].tolist() == approx(np.quantile(counts @ means / 12, [0.025, 0.975]))


def test_language_means_are_the_mean_of_the_systems_values_also_where_one_is_partial():
    full = groups(1)
    runs = {("a", "de"): full, ("b", "de"): {k: groups(2)[k] for k in list(full)[:9]}}
    got = inference.language_means(occupation_table(runs), declared(runs), ["a", "b"], ["de"], level=0.95, replicates=400, seed=7).iloc[0]
    assert got["signed_pct"] == approx(score_tables(runs)[0]["signed_pct"].mean())
    assert got["signed_pct_low"] < got["signed_pct"] < got["signed_pct_high"]


def test_panel_systems_are_metrics_with_every_language():
    rows = [("a", "de", "metric", "ok"), ("a", "ru", "metric", "ok"), ("b", "de", "metric", "ok"), ("b", "ru", "metric", "refused"),
            ("c", "de", "control", "ok"), ("c", "ru", "control", "ok")]
    frame = pd.DataFrame(rows, columns=["system", "language", "role", "status"]).assign(kind="scores")
    assert inference.panel_systems(frame, ["de", "ru"]) == ["a"]


def test_error_table_by_hand():
    frame = pd.DataFrame({"system": "x", "language": "de", "isco": ["1", "2", "3"], "masculine": [1, 1, 2 / 3], "feminine": [1, 0, 1 / 3]})
    same = frame.assign(system="same", feminine=frame["masculine"])
    runs = pd.DataFrame({"system": ["x", "same"], "language": "de", "n": 9, "role": "metric", "note": ["", "partial: 9 of 10 pairs"]})
    got = inference.error_table(pd.concat([frame, same]), runs, **SETTINGS)
    x, d = row(got, system="x"), np.array([0, 100, 100 / 3])
    assert x[["error_free_masculine", "error_free_feminine", "difference"]].tolist() == approx([8 / 9, 4 / 9, 400 / 9])
    assert [x["low"], x["high"]] == approx(np.quantile(inference.resample_counts(3, 400, 7) @ d / 3, [0.025, 0.975]))
    assert x["p"] == approx(stats.ttest_1samp(d, 0).pvalue) and x["p_adjusted"] == approx(min(1, 2 * x["p"]))        # a family of two
    assert row(got, system="same")["p"] == 1 and row(got, system="same")["note"] == "no difference; partial: 9 of 10 pairs"


# the joint run

def run(path):
    chosen = study.load(path)
    data.prepare(chosen)
    return inference.infer(chosen), inference.load(path)


def test_infer_on_a_small_study(mini_study, tmp_path):
    result, loaded = run(mini_study)
    assert loaded.study.results.is_relative_to(tmp_path)
    scores = random_scores(1)
    d = {i: float(m) - float(f) for i, (m, f) in scores.items()}
    noise = row(result["score_runs"], system="noise")
    values = [float(x) for pair in scores.values() for x in pair]
    assert noise["n"] == 36 and noise["signed"] == approx(np.mean(list(d.values())))
    assert noise["signed_pct"] == approx(100 * noise["signed"] / (max(values) - min(values)))
    means = [np.mean([d[i] for i in d if i.startswith(code)]) for code in sorted({i[:4] for i in d})]
    assert noise["p"] == approx(stats.ttest_1samp(means, 0).pvalue) == noise["p_adjusted"]
    length = row(result["score_runs"], system="length")                 # longest noun minus shortest is its range: d = 0 everywhere
    assert length["tie"] == 1 and length["p"] == 1 and np.isnan(length["p_adjusted"]) and length["signed_pct"] == 0
    errors = row(result["error_runs"], system="spell")
    assert errors[["error_free_masculine", "error_free_feminine", "difference"]].tolist() == approx([1, 2 / 3, 100 / 3])
    assert errors["p"] == 0 and errors["note"] == "all occupations equal"
    assert list(result["language_means"]["n_systems"]) == [1]
    for name in inference.FRAMES:
        pd.testing.assert_frame_equal(getattr(loaded, name), result[name], check_dtype=False)
    assert loaded.run("scores", "noise", "de")["status"] == "ok"
    with pytest.raises(study.InputError, match="no run of 'nois'"):
        loaded.run("scores", "nois", "de")


def test_infer_takes_the_range_over_all_languages_of_an_evaluator(mini_study, repository):
    write_pairs(repository / "data" / "mini", language="ru")
    write_scores(repository / "scores" / "noise" / "ru.tsv", dict.fromkeys(PAIRS, (10, 0)))
    base = mini_study.read_text().replace("[de]", "[de, ru]").replace("scores/length,", "scores/length, languages: [de],")
    for scope in ("evaluator", "run"):
        result, _ = run(write(repository / "studies" / f"{scope}.yaml", base, f"range: {scope}"))
        ranges = result["ranges"][result["ranges"]["system"] == "noise"].set_index("language")["range"]
        own = np.ptp([float(x) for pair in random_scores(1).values() for x in pair])
        assert dict(ranges) == approx({"de": 10 if scope == "evaluator" else own, "ru": 10})


def test_partial_studies(mini_study, repository):
    some = {i: s for i, s in random_scores(1).items() if i[:4] < "8000"}
    write_scores(repository / "scores" / "noise" / "de.tsv", some | {"0110-report": ("None", 1)})
    result, loaded = run(write(mini_study, mini_study.read_text(), "allow_partial: true"))
    noise = row(result["score_runs"], system="noise")
    assert noise["n"] == len(some) - 1 and "partial: 29 of 36 pairs" in noise["note"]
    d = pd.Series({i: float(m) - float(f) for i, (m, f) in some.items() if i != "0110-report"})
    assert noise["signed"] == approx(d.groupby(d.index.str[:4]).mean().mean())
    assert result["language_means"].iloc[0]["signed_pct"] == approx(noise["signed_pct"])


def test_a_complete_run_beside_partial_ones_changes_no_interval(mini_study, repository):
    write_scores(repository / "scores" / "noise" / "de.tsv", {i: s for i, s in random_scores(1).items() if i[:4] < "8000"})
    write_scores(repository / "scores" / "full" / "de.tsv", random_scores(2))
    text = mini_study.read_text().replace("length: {path: scores/length, role: control}", "half: {path: scores/noise}")
    ends = []
    for name, more in (("alone", []), ("beside", ["add_scores:", "  full: {path: scores/full}"])):
        result, _ = run(write(repository / "studies" / f"{name}.yaml", text, "allow_partial: true", *more))
        ends.append(row(result["score_runs"], system="noise")[["signed_low", "signed_high"]].tolist())
    assert ends[0] == ends[1]


def test_instruction_faults_count_only_if_asked(mini_study, repository):
    lines = [json.loads(x) | {"instruction_fault": True} for x in annotations(lambda *_: False)]
    write(repository / "annotations" / "spell" / "de.jsonl", *map(json.dumps, lines))
    for setting, rate in (("false", 1), ("true", 0)):
        strict = write(repository / "studies" / f"{setting}.yaml", mini_study.read_text(), f"count_instruction_fault: {setting}")
        assert run(strict)[0]["error_runs"].loc[0, "error_free_masculine"] == rate


def test_a_study_whose_score_files_are_all_refused_still_has_its_errors(mini_study, repository):
    for system in ("noise", "length"):
        write(repository / "scores" / system / "de.tsv", "nothing")
    result, loaded = run(mini_study)
    assert len(result["error_runs"]) == 1 and not len(result["score_runs"])
    with pytest.raises(study.InputError, match=r"noise/de\.tsv, line 1"):
        loaded.run("scores", "noise", "de")


def test_digests_change_with_what_a_notebook_reads_and_with_nothing_else(mini_study, repository):
    def made():
        return inference.digests(run(mini_study)[1].study)
    first = made()
    assert made() == first and {"study/scores", "study/annotations", "study/translations", "scores/noise.de", "languages/de"} <= set(first)
    write_scores(repository / "scores" / "noise" / "de.tsv", random_scores(2))
    scores = made()
    assert {k for k in first if scores[k] != first[k]} == {"study/scores", "scores/noise.de"}
    write(repository / "annotations" / "spell" / "de.jsonl", *annotations(lambda *_: False))
    errors = made()
    assert {k for k in first if errors[k] != scores[k]} == {"study/annotations", "annotations/spell.de"}
    write_pairs(repository / "data" / "mini", {i: (code, kind, noun, text + " ") for i, (code, kind, noun, text) in PAIRS.items()})
    pairs = made()
    assert not {k for k in first if pairs[k] == errors[k]}
