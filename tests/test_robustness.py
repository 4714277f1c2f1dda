"""Other analyses and the confound, against scipy, statsmodels, pandas and hand-worked cases."""

from types import SimpleNamespace

import conftest
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx
from scipy import stats
from statsmodels.stats.multitest import multipletests

from mtgender import figures, inference, tables
from mtgender import robustness as rb

STUDY = SimpleNamespace(range="evaluator", replicates=400, seed=7, q=0.05, level=0.95, languages=("de", "ru"))
CODES = [f"{major}{i:03}" for major in range(1, 6) for i in range(8)]


def fake(seed=1, shifts=(0.5, -0.4, 0.0), roles=("metric", "metric", "control"), runs=(("a", "de"), ("a", "ru"), ("b", "de"))):
    """Three runs on 40 occupations x 3 text types as `paired` gives them."""
    rng = np.random.default_rng(seed)
    parts = []
    for number, ((system, language), shift) in enumerate(zip(runs, shifts)):
        texts = [(code, kind) for code in CODES for kind in ("statement", "report", "conversation")]
        part = pd.DataFrame(texts, columns=["isco", "text_type"])
        n = len(part)
        part = part.assign(system=system, language=language, segment_id=part["isco"] + part["text_type"], run=number,
                           block=part["isco"].map(CODES.index), feminine=rng.normal(5, 1, n))
        part["masculine"] = part["feminine"] + rng.normal(shift, 1, n)
        parts.append(part.assign(length=rng.integers(-4, 2, n) * 1.0, frequency=rng.normal(0.1, 0.2, n), dense=rng.random(n) < 0.5,
                                 long=rng.random(n) < 0.5, flagged=rng.random(n) < 0.1,
                                 noun=pd.array(rng.random(n) < 0.6, dtype="boolean")))
    frame = pd.concat(parts, ignore_index=True)
    frame["d"] = frame["masculine"] - frame["feminine"]
    table = pd.DataFrame({"system": [s for s, _ in runs], "label": [s.upper() for s, _ in runs], "language": [c for _, c in runs],
                          "role": list(roles)})
    return frame, table.assign(range=10.0)


def by_pandas(frame, column="d"):
    """Mean of the occupation means of every run."""
    return frame.groupby(["run", "isco"])[column].mean().groupby("run").mean()


def found(frame, runs, study=STUDY):
    return {v.name + v.member: v for v in rb.variants(frame, runs, study, CODES)}


# building blocks

@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.floats(-5, 5), st.booleans()), min_size=1, max_size=40))
def test_block_means_equal_pandas(rows):
    block, run, values, keep = map(np.array, zip(*rows))
    ours = rb.block_means(values, block, run, (4, 3), keep)
    theirs = pd.DataFrame({"b": block, "r": run, "v": values})[keep].pivot_table(index="b", columns="r", values="v")
    assert ours == approx(theirs.reindex(index=range(4), columns=range(3)).to_numpy(float), nan_ok=True, abs=1e-12)


def test_signed_rank_by_hand():
    effect, p = rb.signed_rank(np.array([[1.0, 0.0], [-2.0, 0.0], [3.0, 0.0], [4.0, 0.0]]))
    assert effect == approx([60, 0]) and p == approx([6 / 16, 1])                    # W+ = 8, W- = 2; sums of 0, 1, 2: one subset each
    assert np.isnan(rb.signed_rank(np.array([[np.nan], [1.0]]))).all() and rb.signed_rank(np.empty((3, 0))).shape == (2, 0)


def test_signed_rank_of_many_is_the_normal_approximation_and_leaves_zeros_and_missing_out():
    x = np.random.default_rng(2).normal(0.2, 1, 80)
    n, plus = 80, stats.rankdata(np.abs(x))[x > 0].sum()
    z = (plus - n * (n + 1) / 4) / np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    effect, p = rb.signed_rank(np.concatenate([x, [0.0, np.nan]])[:, None])
    assert p[0] == approx(2 * stats.norm.sf(abs(z))) and effect[0] == approx(100 * (2 * plus / (n * (n + 1) / 2) - 1))


@pytest.mark.parametrize("shift", [0.0, 0.4, -0.7])
def test_sign_flips_equal_scipys_exact_permutation_test(shift):
    x = np.random.default_rng(5).normal(shift, 1, 12)
    exact = stats.permutation_test((x,), np.mean, permutation_type="samples", n_resamples=np.inf).pvalue
    assert rb.sign_flip(x[:, None], 40_000, 1)[0] == approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 40_000) + 1e-4)


def test_sign_flips_by_hand():
    values = np.array([[1.0, 0.0, 1e-300, np.nan], [1.0, 0.0, 1e-300, np.nan], [np.nan, 0.0, np.nan, 1.0]])
    p = rb.sign_flip(values, 4000, 3)
    assert p[0] == approx(0.5, abs=0.04) and p[1] == 1 and p[2] == p[0] and np.isnan(p[3])      # the same signs for all columns
    assert rb.sign_flip(np.ones((60, 1)), 99, 1)[0] == 0.01                                       # never 0
    assert (rb.sign_flip(values, 50, 3)[:3] == rb.sign_flip(values, 50, 3)[:3]).all()


# the regression

@settings(max_examples=30)
@given(st.integers(0, 10_000), st.booleans())
def test_clustered_fit_equals_statsmodels(seed, weighted):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 60))
    x = np.column_stack([np.ones(n), rng.normal(size=(n, 2))])
    groups, y = rng.integers(0, 8, n), rng.normal(size=n)
    w = rng.uniform(0.2, 2, n) if weighted else None
    ours = rb.clustered_fit(y, x, groups, w)
    theirs = sm.WLS(y, x, weights=1.0 if w is None else w).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    for a, b in zip(ours, (theirs.params, theirs.bse, theirs.pvalues, len(np.unique(groups)) - 1, theirs.rsquared)):
        assert a == approx(b, rel=1e-8, abs=1e-12)


def confounded(seed=4, intercept=0.3, length=-0.2, frequency=1.5, noise=0.5, n=60, centre=0.0):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n), 3)
    x, z = rng.integers(-5, 6, 3 * n) + centre, rng.normal(0.3, 0.4, 3 * n)
    d = intercept + length * x + frequency * z + rng.normal(0, noise, 3 * n) + np.repeat(rng.normal(0, noise, n), 3)
    return d, {"length": x.astype(float), "frequency": z}, groups


def test_equal_terms_is_the_intercept_and_s_is_the_t_test():
    d, x, groups = confounded()
    row = rb.equal_terms(d, x, groups)
    theirs = sm.OLS(d, sm.add_constant(np.column_stack(list(x.values())))).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    assert [row["intercept"], row["slope_length"], row["slope_frequency"]] == approx(theirs.params)
    assert [row["intercept_low"], row["intercept_high"]] == approx(theirs.conf_int()[0])
    assert row["intercept_p"] == approx(theirs.pvalues[0]) and row["r2"] == approx(theirs.rsquared)
    means = d.reshape(-1, 3).mean(axis=1)
    interval = stats.ttest_1samp(means, 0).confidence_interval()
    assert (row["signed"], row["signed_low"], row["signed_high"]) == approx((means.mean(), interval.low, interval.high))
    assert row["remains"] == approx(row["intercept"] / means.mean()) and row["note"] == "" and row["n"] == 180
    assert row["intercept"] == approx(0.3, abs=3 * (row["intercept_high"] - row["intercept"]) / 1.96)


def test_equal_terms_weighs_occupations_alike_and_knows_no_scale():
    d, x, groups = confounded(n=20)
    more = np.concatenate([np.arange(60), [0] * 40])                                  # one occupation with 43 texts
    row = rb.equal_terms(d[more], {k: v[more] for k, v in x.items()}, groups[more])
    assert row["signed"] == approx(pd.Series(d[more]).groupby(groups[more]).mean().mean())
    tiny = rb.equal_terms(d[more] * 1e-200, {k: v[more] * 1e6 for k, v in x.items()}, groups[more])
    assert tiny["intercept"] == approx(row["intercept"] * 1e-200, rel=1e-6) and tiny["intercept_p"] == approx(row["intercept_p"], rel=1e-6)


def test_reach_says_when_equality_lies_outside_the_data():
    near, far = (rb.equal_terms(*confounded(centre=c)) for c in (0.0, -12.0))
    x = np.column_stack(list(confounded()[1].values()))
    beyond = x @ np.linalg.solve(np.cov(x.T), x.mean(axis=0)) <= 0                    # on the other side of 0 than the mean, or there
    assert near["reach"] == approx(100 * beyond.mean()) and near["reach"] > 10 and near["note"] == ""
    assert far["reach"] == 0 and far["note"] == "extrapolated"
    d, groups = [1.0, 2, 1, 3, 2, 3, 1], [0, 0, 1, 1, 2, 2, 2]
    one = rb.equal_terms(d, {"length": [-1.0, 1, -1, 1, -2, 2, 0]}, groups)
    assert one["reach"] == 100                                                        # equality is the middle: nothing lies nearer
    shorter = rb.equal_terms(d, {"length": [-9.0, -5, -4, -3, -2, 0, 1]}, groups)     # two of seven: equal, or longer
    assert shorter["reach"] == approx(100 * 2 / 7)


def test_what_cannot_be_estimated_is_missing_and_says_why():
    d, x, groups = confounded()
    z, same = x["frequency"], np.zeros(len(d))

    def note(d=d, groups=groups, **regressors):
        row = rb.equal_terms(d, regressors, groups)
        assert np.isnan(row["intercept"]) and np.isnan(row["intercept_p"]) and np.isnan(row["remains"])
        return row["note"]
    assert note(same, **x) == "no difference"
    assert note(length=same, frequency=z) == note(length=same - 2, frequency=z) == "constant: length"
    assert note(length=3 * z - 1, frequency=z) == "collinear: length, frequency"
    assert note(z, **x) == note(1 + 2 * z, **x) == "the difference is a linear function of length and frequency"
    assert note(groups=np.zeros(len(d)), **x) == note(d[:3], groups[:3], **{k: v[:3] for k, v in x.items()}) == "too few occupations"
    assert note(length=np.full(len(d), np.nan)) == "nothing to hold equal; no length known"
    assert note(same, length=x["length"], frequency=same * np.nan) == "no difference; no frequency known"


def test_a_missing_regressor_is_left_out_and_a_pair_without_one_does_not_count():
    d, x, groups = confounded()
    alone = rb.equal_terms(d, {"length": x["length"]}, groups)
    gone = rb.equal_terms(d, {"length": x["length"], "frequency": np.full(len(d), np.nan)}, groups)
    assert gone["intercept"] == alone["intercept"] and gone["note"] == "no frequency known" and np.isnan(gone["slope_frequency"])
    holes = x["frequency"].copy()
    holes[:4] = np.nan
    part = rb.equal_terms(d, {"length": x["length"], "frequency": holes}, groups)
    whole = rb.equal_terms(d[4:], {k: v[4:] for k, v in x.items()}, groups[4:])
    assert part["intercept"] == approx(whole["intercept"]) and part["n"] == 176 and part["note"] == "4 pairs without a regressor left out"


def test_confound_of_a_study():
    frame, runs = fake()
    frame.loc[frame["run"] == 2, "d"] = 0.0
    table = rb.confound(frame, runs, STUDY)
    first = rb.equal_terms(frame.loc[frame["run"] == 0, "d"], {n: frame.loc[frame["run"] == 0, n] for n in rb.REGRESSORS},
                           frame.loc[frame["run"] == 0, "isco"])
    for name in ("intercept", "slope_length"):
        assert table.loc[0, f"{name}_pct"] == approx(10 * first[name])
    assert table["p_adjusted"].tolist() == approx([*multipletests(table["p"][:2], method="fdr_bh")[1], np.nan], nan_ok=True)
    assert table["signed_pct"].tolist() == approx((10 * by_pandas(frame)).tolist())
    assert table["note"][2] == "no difference" and pd.isna(table["significant"][2])
    assert table["signed_significant"].tolist()[:2] == [True, True]
    assert table.loc[0, "feminine_longer"] == approx(100 * (frame.loc[frame["run"] == 0, "length"] < 0).mean())
    assert table.loc[1, "feminine_rarer"] == approx(100 * (frame.loc[frame["run"] == 1, "frequency"] > 0).mean())
    runs.loc[0, "range"] = 0.0
    assert np.isnan(rb.confound(frame, runs, STUDY).loc[0, "intercept_pct"])          # a constant evaluator has no scale


# other analyses

def test_subsets_are_what_pandas_makes_of_the_rows():
    frame, runs = fake()
    variants = found(frame, runs)
    chosen = {"statements only": frame["text_type"] == "statement", "reports only": frame["text_type"] == "report",
              "conversations only": frame["text_type"] == "conversation", "few gendered words": ~frame["dense"],
              "many gendered words": frame["dense"], "short texts": ~frame["long"], "long texts": frame["long"],
              "unflagged rows": ~frame["flagged"], "a major group left out3": frame["isco"].str[0] != "3", "baseline": frame["d"].notna()}
    widths = frame.groupby("system")[["masculine", "feminine"]].agg(["min", "max"])
    scale = 100 / (widths.xs("max", axis=1, level=1).max(axis=1) - widths.xs("min", axis=1, level=1).min(axis=1))
    for name, keep in chosen.items():
        measured = rb.measure(variants[name], runs, STUDY)
        assert measured["value"].tolist() == approx((by_pandas(frame[keep]) * scale[runs["system"]].to_numpy()).tolist()), name
        means = frame[keep].groupby(["run", "isco"])["d"].mean()
        assert measured["p"].tolist() == approx([stats.ttest_1samp(means[k], 0).pvalue for k in range(3)]), name
        assert measured["unit_groups"].tolist() == [means[k].size for k in range(3)]
        assert measured["p_adjusted"].tolist() == approx([*multipletests(measured["p"][:2], method="fdr_bh")[1], np.nan], nan_ok=True)


def test_normalisations_by_hand():
    frame, runs = fake()
    own = [frame["system"] == s for s in runs["system"]]
    scores = [frame.loc[rows, ["masculine", "feminine"]].to_numpy() for rows in own]
    s = by_pandas(frame).to_numpy()
    values = {n: rb.measure(v, runs, STUDY)["value"].to_numpy() for n, v in found(frame, runs).items()}
    assert values["standard deviation"] == approx([100 * m / x.std() for m, x in zip(s, scores)])
    assert values["trimmed range"] == approx([100 * m / (np.quantile(x, 0.9995) - np.quantile(x, 0.0005)) for m, x in zip(s, scores)])
    for k, name in enumerate(runs["language"]):
        part = frame[(frame["run"] == k)]
        assert values["range per run"][k] == approx(100 * s[k] / np.ptp(part[["masculine", "feminine"]].to_numpy())), name
    long = frame.melt(id_vars=["run", "isco", "segment_id", "system"], value_vars=["masculine", "feminine"])
    long["rank"] = long.groupby("system")["value"].rank(pct=True)
    both = long.pivot(index=["run", "isco", "segment_id"], columns="variable", values="rank")
    assert values["ranks"] == approx(100 * by_pandas((both["masculine"] - both["feminine"]).rename("d").reset_index()).to_numpy())
    frame["win"] = (frame["d"] > 0) * 1.0 - (frame["d"] < 0)
    assert values["superiority"] == approx(100 * by_pandas(frame, "win").to_numpy())
    frame["low"] = frame["masculine"].round(2) - frame["feminine"].round(2)
    assert values["2 decimals"] == approx([100 * m / np.ptp(x.round(2)) for m, x in zip(by_pandas(frame, "low"), scores)])
    narrow = found(frame, runs, SimpleNamespace(**{**vars(STUDY), "range": "run"}))
    per_run = {n: rb.measure(narrow[n], runs, STUDY)["value"] for n in ("range per evaluator", "baseline")}
    assert per_run["range per evaluator"].tolist() == approx(values["baseline"].tolist())
    assert per_run["baseline"].tolist() == approx(values["range per run"].tolist())


@pytest.mark.parametrize("factor, shift", [(0.01, -50), (7.3, 12.5)])
def test_conclusions_know_no_scale_and_ranks_no_monotone_change(factor, shift):
    frame, runs = fake()
    other = frame.assign(masculine=factor * frame["masculine"] + shift, feminine=factor * frame["feminine"] + shift)
    bent = frame.assign(masculine=np.exp(frame["masculine"]), feminine=np.exp(frame["feminine"]))
    before, after, third = (found(f.assign(d=f["masculine"] - f["feminine"]), runs) for f in (frame, other, bent))
    for name in before:
        if "decimals" not in name:
            old, new = (rb.measure(x[name], runs, STUDY) for x in (before, after))
            assert new["value"].tolist() == approx(old["value"].tolist(), rel=1e-7, abs=1e-7), name
            assert new["p"].tolist() == approx(old["p"].tolist(), rel=1e-5), name
    for name in ("ranks", "superiority"):
        assert rb.measure(third[name], runs, STUDY)["value"].tolist() == approx(rb.measure(before[name], runs, STUDY)["value"].tolist())


def test_other_tests_and_adjustment():
    frame, runs = fake(shifts=(0.15, -0.05, 0.0), roles=("metric",) * 3)
    means = frame.groupby(["run", "isco"])["d"].mean().unstack("run")
    variants = found(frame, runs)
    ours = {n: rb.measure(variants[n], runs, STUDY) for n in ("baseline", "Wilcoxon", "sign flips", "Benjamini–Yekutieli")}
    assert ours["Wilcoxon"]["p"].tolist() == approx([stats.wilcoxon(means[k]).pvalue for k in range(3)])
    assert ours["sign flips"]["p"].tolist() == approx([stats.ttest_1samp(means[k], 0).pvalue for k in range(3)], abs=0.08)
    assert ours["sign flips"]["value"].tolist() == ours["baseline"]["value"].tolist() == ours["Benjamini–Yekutieli"]["value"].tolist()
    assert ours["Benjamini–Yekutieli"]["p_adjusted"].tolist() == approx(multipletests(ours["baseline"]["p"], method="fdr_by")[1].tolist())


def measured(values, significant, roles=None, systems="aabbc"):
    n = len(values)
    return pd.DataFrame({"system": list(systems[:n]), "language": ["de", "ru", "de", "ru", "de"][:n], "role": roles or ["metric"] * n,
                         "value": np.array(values, float), "significant": pd.array(significant, dtype="boolean")})


def test_compare_by_hand():
    base = measured([1, 2, 3, -1, 0], [True, True, False, True, False])
    other = measured([2, -1, -3, -5, 1], [True, True, True, False, False])
    got = rb.compare(base, other)
    assert [got[k] for k in ("n_runs", "masculine", "feminine", "sign_changes", "significance_changes", "reversals", "n_evaluators")] == [
        5, 1, 2, 3, 2, 1, 3]                                          # b DE became significant on the other side: no reversal
    assert got["changed"] == ["a RU", "b DE", "b RU", "c DE"]
    assert got["rho_runs"] == approx(stats.spearmanr(base["value"], other["value"]).statistic)
    assert got["rho_evaluators"] == approx(stats.spearmanr([1.5, 1, 0], [0.5, -4, 1]).statistic)


def test_compare_leaves_out_what_is_missing_and_what_is_no_metric():
    base = measured([1, np.nan, 3, -1], [True, None, True, None], ["metric", "metric", "metric", "control"])
    other = measured([-1, 1, np.nan, 1], [None, True, None, True], ["metric", "metric", "metric", "control"])
    got = rb.compare(base, other)
    assert (got["n_runs"], got["sign_changes"], got["significance_changes"], got["reversals"], got["n_evaluators"]) == (1, 1, 0, 0, 1)
    assert np.isnan(got["rho_runs"]) and np.isnan(got["rho_evaluators"])
    flat = rb.compare(measured([1, 1, 1], [True] * 3), measured([1, 2, 3], [True] * 3))
    assert np.isnan(flat["rho_runs"]) and np.isnan(rb.compare(base[:0], other[:0])["rho_runs"])


def test_the_worst_major_group_is_told():
    frame, runs = fake(shifts=(0, 0, 0), roles=("metric",) * 3)
    first = frame["run"] == 0
    frame.loc[first, "d"] = np.where(frame.loc[first, "isco"].str[0] == "2", 9.0, -0.5)                        # mean 1.4, else -0.5
    summary, long = rb.robustness(frame, runs, STUDY, CODES)
    row = summary[summary["variant"] == "a major group left out"].iloc[0]
    assert row["sign_changes"] >= 1 and "without 2: a DE" in row["note"]
    assert long[(long["variant"] == "a major group left out")]["member"].unique().tolist() == list("12345")
    base = summary.iloc[0]
    assert base[["variant", "n_runs", "sign_changes", "significance_changes", "rho_runs"]].tolist() == ["baseline", 3, 0, 0, 1]
    assert len(long) == 3 * len(rb.variants(frame, runs, STUDY, CODES))
    assert list(rb.robustness_printed(summary)["runs"])[0] == "3"


def test_an_empty_half_prints_a_dash():
    frame, runs = fake()
    summary, _ = rb.robustness(frame.assign(dense=False, flagged=False), runs, STUDY, CODES)
    printed = rb.robustness_printed(summary).set_index("Analysis")
    assert printed.loc["many gendered words", ["runs", "masculine*", "Spearman, runs"]].tolist() == ["0", "–", "–"]
    assert printed.loc["unflagged rows", "note"] == "no flags in this study"


def test_precision_counts_ties():
    frame, runs = fake()
    table = rb.precision(frame, runs, CODES).set_index(["system", "decimals"])
    rounded = frame[["masculine", "feminine"]].round(2)
    tie = 100 * (rounded["masculine"] == rounded["feminine"])
    assert table.loc[("a", 2.0), "tie"] == approx(tie[frame["system"] == "a"].mean()) and 0 < tie.mean() < 10
    assert table.loc["a", "languages"].tolist() == [2] * 4 and table.index.get_level_values(0).tolist() == ["a"] * 4 + ["b"] * 4
    win = 100 * np.sign(frame["d"])
    assert table.loc["b", "balance"].iloc[0] == approx(win[frame["run"] == 2].mean())
    assert rb.precision_printed(table.reset_index())["decimals"].tolist()[:2] == ["as given", "4"]


# by the noun or by agreement

def declared(runs):
    rows = [{"kind": "scores", "status": "ok", **dict(zip(("system", "language", "role"), r))} for r in
            runs[["system", "language", "role"]].itertuples(index=False)]
    return pd.DataFrame(rows)


def test_strategies_by_hand():
    frame, runs = fake()
    frame.loc[(frame["language"] == "ru") & (frame["block"] > 4), "noun"] = True                # five unit groups with the other sort
    results = SimpleNamespace(study=STUDY, runs=declared(runs))
    table = rb.strategies(results, frame, runs, CODES).set_index("language")
    own = frame[frame["run"] == 0].assign(noun=frame["noun"].astype(bool))
    sides = [own[own["noun"] == side].groupby("isco")["d"].mean() * 10 for side in (True, False)]
    row = table.loc["de"]
    assert (len(row["systems"].split(", ")), row["noun_pct"], row["agreement_pct"]) == (1, approx(sides[0].mean()), approx(sides[1].mean()))
    assert (row["noun_texts"], row["noun_groups"]) == (own["noun"].sum(), len(sides[0]))
    assert row["difference"] == approx(sides[0].mean() - sides[1].mean())
    counts = inference.resample_counts(len(CODES), STUDY.replicates, STUDY.seed)
    drawn = [[np.average(x, weights=c[x.index.map(CODES.index)]) for x in sides] for c in counts]
    gaps = np.subtract(*np.transpose(drawn))
    assert (row["difference_low"], row["difference_high"]) == approx(tuple(np.quantile(gaps, [0.025, 0.975])))
    few = table.loc["ru"]
    assert few["agreement_groups"] <= 5 and pd.isna([few["agreement_low"], few["difference_low"]]).all() and pd.notna(few["noun_low"])
    assert few["note"] == "fewer than 10 unit groups on one side" and pd.notna(few["difference"])
    assert rb.strategies_printed(table.reset_index())["difference"].str.contains("–").tolist() == [False, True]


def test_no_marks_no_strategies():
    frame, runs = fake()
    results = SimpleNamespace(study=STUDY, runs=declared(runs))
    for part in (frame.assign(noun=pd.array([pd.NA] * len(frame), dtype="boolean")), frame[:0]):
        table = rb.strategies(results, part, runs, CODES)
        assert not len(table) and list(table.columns) == rb.STRATEGIES and not len(rb.strategies_printed(table))


# what it says

def written(folder, confound=(), robustness=(), strategies=()):
    """Three tables with the columns that the sentences read."""
    columns = {
        "confound": ["role", "language", "p", "signed_pct", "intercept_pct", "signed_significant", "significant", "remains", "reach"],
        "robustness": ["variant", *rb.SUMMARY[3:9], "note"],
        "strategies": ["language", "difference", "difference_low", "difference_high", "systems"]}
    for name, rows in (("confound", confound), ("robustness", robustness), ("strategies", strategies)):
        tables.write_csv(pd.DataFrame(rows, columns=columns[name]), folder / f"joint_{name}.csv")
    return rb.findings(folder)


RUNS = [("metric", "de", 0.001, 2.0, 1.5, True, True, 0.75, 1.0), ("metric", "ru", 0.9, 1.0, 0.2, True, False, 0.2, 30.0),
        ("metric", "is", 0.001, -0.5, 0.5, True, True, -1.0, 40.0), ("control", "de", 0.001, 9.0, 9.0, None, None, 1.0, 1.0)]
ANALYSES = [("baseline", 3, 2, 1, 0, 0, 0, ""), ("trimmed range", 3, 2, 1, 0, 0, 0, rb.SCALE_ONLY), ("ranks", 3, 2, 0, 0, 1, 0, ""),
            ("Wilcoxon", 3, 2, 1, 0, 0, 0, ""), ("long texts", 0, 0, 0, 0, 0, 0, "")]


def test_findings_are_made_of_the_numbers(tmp_path):
    marks = [("cs", 1.2, 0.8, 1.6), ("is", -0.5, -0.8, -0.1), ("el", 0.1, -0.2, 0.4), ("de", 3.0, None, None)]
    marks = [(*row, "e5, use") for row in marks]
    assert written(tmp_path, RUNS, ANALYSES, marks).splitlines() == [
        "- **Longer or rarer feminine forms explain part of the preference, not all of it**: at equal length and word frequency 2 of 3 "
        "metric runs favour the masculine variant significantly and 0 the feminine one (as observed 2 and 1); of the 3 significant S, 2 "
        "become smaller, 0 larger, and 1 changes sign. For 1 of these runs (DE) fewer than 5 % of the pairs lie at equality or beyond: the "
        "figure is extrapolated; of the other 2 (RU, IS) the masculine variant is favoured significantly in 1, the feminine in 0.",
        "- **1 of 2 other analyses change neither the sign nor the significance of any of the 3 metric runs**: 2 are significantly "
        "masculine (baseline 2), 0 to 1 significantly feminine (baseline 1); what changes most: ranks (sign 0, significance 1).",
        "- **Noun or agreement**: where the occupation noun itself differs, S% (e5 and use) is larger than where gender shows only by "
        "agreement in 1 (CS) of 3 languages with enough of both, and smaller in 1 (IS); the two sides hold different occupations."]


@pytest.mark.parametrize("rows, start", [
    (RUNS[:1], "**Longer or rarer feminine forms do not explain the preference**"),
    ([RUNS[0], ("metric", "el", 0.001, 0.1, 1.0, False, True, 10.0, 50.0)], "**Longer or rarer feminine forms do not explain"),
    (RUNS[1:3], "**Longer or rarer feminine forms can explain the preference**"),
    ([("metric", "de", 0.5, 0.1, 0.1, False, False, 1.0, 50.0)], "**There is no significant preference that longer"),
    (RUNS[3:], "**Equal length and word frequency.** There is no metric run")])
def test_the_answer_follows_the_runs(tmp_path, rows, start):
    text = written(tmp_path, rows)
    assert text.startswith("- " + start) and len(text.splitlines()) == 1 and "nan" not in text and "–" not in text


# on studies

def everything(path):
    results = inference.load(str(path))
    frame, runs = rb.paired(results)
    blocks = sorted(results.pairs["isco"].unique())
    made = (rb.confound(frame, runs, results.study), *rb.robustness(frame, runs, results.study, blocks),
            rb.strategies(results, frame, runs, blocks), rb.precision(frame, runs, blocks))
    pages = rb.write(results.study, *made)
    figures.equal_terms(made[0], results.study.languages)
    figures.analyses(made[2])
    return results, frame, runs, made, pages


def test_a_study_without_frequencies_flags_and_marks(mini_study):
    results, frame, _, (equal, summary, long, shown, _), pages = everything(mini_study)
    base = long[long["variant"] == "baseline"].reset_index(drop=True)
    for ours, theirs in (("value", "signed_pct"), ("p", "p"), ("p_adjusted", "p_adjusted")):
        assert base[ours].tolist() == approx(results.score_runs[theirs].tolist(), nan_ok=True), ours
    assert base["significant"].equals(results.score_runs["significant"])
    assert equal.loc[0, "note"].endswith("no frequency known") and pd.notna(equal.loc[0, "intercept_pct"])
    assert equal.loc[1, "note"] == "no difference; no frequency known" and not len(shown)
    assert (frame["length"] == [conftest_length(i) for i in frame["segment_id"]]).all()
    assert "no flags in this study" in set(summary["note"])
    assert all((results.study.tables / f"{name}.csv").is_file() and len(page) > 100 for name, page in pages.items())
    text = rb.findings(results.study.tables)
    assert len(text.splitlines()) == 2 and "nan" not in text


def conftest_length(segment_id):
    """The feminine text has two more characters a noun, one or two in `der/die`, `ein/eine`, one in `er/sie`."""
    return {"statement": -2, "report": -3, "conversation": -3}[segment_id.split("-")[1]]


def test_flags_frequencies_and_marks_are_read(mini_study, repository):
    folder = repository / "data" / "mini"
    ids = list(conftest.PAIRS)
    conftest.write(folder / "review.tsv", tuple(rb.REVIEW), (ids[0], "de", "feminine", "rare"), (ids[0], "de", "masculine", "rare"),
                   (ids[1], "ru", "feminine", "other language"))
    conftest.write(folder / "gender_marks.tsv", ("language", "mark", "pattern"), ("de", "article", r"(der|ein)\|(die|eine)"))
    conftest.write_scores(repository / "scores" / rb.FREQUENCY / "de.tsv", conftest.random_scores(9, 0.2))
    with mini_study.open("a") as file:
        file.write("add_scores:\n  wordfreq-zipf: {path: scores/wordfreq-zipf, role: control}\n")
    _, frame, _, (equal, *_), _ = everything(mini_study)
    noise = frame[frame["system"] == "noise"].set_index("segment_id")
    assert noise["flagged"].sum() == 1 and noise.loc[ids[0], "flagged"] and noise["noun"].all()
    zipf = frame[frame["system"] == rb.FREQUENCY].set_index("segment_id")["d"]
    assert (noise["frequency"] == zipf).all() and equal.loc[0, "note"] in ("", "extrapolated")
    assert equal.set_index("system").loc[rb.FREQUENCY, "note"] == "the difference is a linear function of length and frequency"


def test_partial_runs_and_gaps_in_languages(mini_study, repository):
    conftest.write_scores(repository / "scores" / "part" / "de.tsv", dict(list(conftest.random_scores(3).items())[5:]))
    with mini_study.open("a") as file:
        file.write("allow_partial: true\nadd_scores:\n  part: {path: scores/part}\n  gone: {path: scores/gone}\n")
    _, _, runs, (equal, summary, _, _, _), _ = everything(mini_study)
    assert runs["system"].tolist() == ["noise", "length", "part"]
    assert equal.set_index("system").loc["part", "n"] == len(conftest.PAIRS) - 5
    assert summary["n_runs"].iloc[0] == 2


def test_a_study_without_scores(mini_study):
    text = mini_study.read_text()
    mini_study.write_text(text[: text.index("scores:")] + text[text.index("annotations:"):])
    results, frame, runs, made, _ = everything(mini_study)
    assert not len(frame) and not len(runs) and not len(made[0])
    assert rb.findings(results.study.tables).endswith("There is no metric run to which the regression applies.")


def test_ranks_of_one_size_are_ties_whatever_the_noise():
    """0.3 - 0.2 and 0.1 are one size, not two."""
    noisy, exact = (np.array([step] * 200 + [-0.1] * 100)[:, None] for step in (0.3 - 0.2, 0.1))
    for got, expected in zip(rb.signed_rank(noisy), rb.signed_rank(exact)):
        assert got == approx(expected)
