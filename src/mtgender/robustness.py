"""Does a conclusion survive another analysis, and is it about gender or about longer and rarer words?

Every variant of the analysis is a matrix of occupation means (unit groups x runs), a scale for each run, a test and an adjustment; all
are compared with the study's own. The confound is a regression of the pair differences, whose intercept is the preference at equal
length and word frequency.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from mtgender import data, preference, tables
from mtgender.inference import adjust, bootstrap_means, panel_systems, resample_counts, t_tests

FREQUENCY = "wordfreq-zipf"   # the evaluator whose scores are the mean word frequency (Zipf: log10 per billion words)
DECIMALS = (4, 3, 2)
EXTREME = 0.001               # share of the scores, both ends together, that the trimmed range leaves out
FEW = 10                      # fewer unit groups than this carry no bootstrap interval
REACH = 5.0                   # % of pairs at equality or beyond it, below which an intercept is extrapolated
SAME = 11                     # decimals to which means of one size, whatever their sign, are equal: ties of ranks
EXACT = 1e-10                 # residuals below this share of the differences are none
SCALE_ONLY = "a change of scale: sign and significance cannot change"
REVIEW = ["segment_id", "language", "variant", "flag"]
RUN = ["system", "language"]


def paired(results):
    """Every scored pair with what the variants and the regression need of it.

    Parameters
    ----------
    results : inference.Results

    Returns
    -------
    frame : DataFrame
        One row a scored pair: masculine, feminine (scores), d, `block` and `run` (integer codes), isco, text_type, language, system;
        `length` (characters) and `frequency` (mean Zipf), both masculine minus feminine, missing where unknown; dense, long, flagged
        (boolean; above the language's median share of gendered tokens, or of characters of the source; flagged by a reviewer), and
        noun (the occupation noun itself differs; missing without `gender_marks.tsv`).
    runs : DataFrame
        One row a run in study order: system, label, language, role, range.
    """
    pairs = results.pairs.reset_index(drop=True)
    density, size = pd.Series([data.gender_density(m) for m in pairs["markup"]]), pairs["source"].str.len()
    dense, long = (x > x.groupby(pairs["language"]).transform("median") for x in (density, size))
    pairs = pairs.assign(
        length=(pairs["masculine"].str.len() - pairs["feminine"].str.len()).astype(float), dense=dense, long=long,
        noun=_noun_differs(pairs, results.study.pairs), flagged=_flagged(pairs, results.study.pairs))
    runs = results.runs[(results.runs["kind"] == "scores") & (results.runs["status"] == "ok")]
    runs = runs.merge(results.ranges, on=RUN, how="left")[["system", "label", "language", "role", "range"]]
    columns = ["language", "segment_id", "isco", "text_type", "length", "dense", "long", "noun", "flagged"]
    frame = results.scores.merge(pairs[columns], on=["language", "segment_id"])
    frame["d"] = preference.paired_difference(frame["masculine"], frame["feminine"])
    known = frame.loc[frame["system"] == FREQUENCY, ["language", "segment_id", "d"]].rename(columns={"d": "frequency"})
    frame = frame.merge(known, on=["language", "segment_id"], how="left")
    frame["run"] = pd.MultiIndex.from_frame(runs[RUN]).get_indexer(pd.MultiIndex.from_frame(frame[RUN]))
    frame["block"] = np.searchsorted(np.unique(pairs["isco"].astype(str)), frame["isco"].astype(str))
    return frame[frame["run"] >= 0].reset_index(drop=True), runs


def _noun_differs(pairs, folder):
    if not (folder / "gender_marks.tsv").is_file():
        return pd.Series(pd.NA, index=pairs.index, dtype="boolean")
    patterns = data.read_gender_marks(folder)
    return pd.Series(["noun" in data.gender_marks(m, o, patterns.get(code, [])) for m, o, code in
                      zip(pairs["markup"], pairs["occupation"], pairs["language"])], dtype="boolean")


def _flagged(pairs, folder):
    if not (folder / "review.tsv").is_file():
        return False
    flags = data.read_tsv(folder / "review.tsv", REVIEW)
    flagged = set(zip(flags["language"], flags["segment_id"]))
    return [key in flagged for key in zip(pairs["language"], pairs["segment_id"])]


def block_means(values, block, run, shape, keep=None):
    """Mean of the pairs of each occupation in each run.

    Parameters
    ----------
    values : ndarray, shape (n,)
    block, run : ndarray of int, shape (n,)
    shape : (int, int)
        Number of occupations and of runs.
    keep : ndarray of bool, shape (n,), optional
        Pairs that count.

    Returns
    -------
    ndarray, shape (occupations, runs)
        NaN where a run has no pair of the occupation; without rounding noise (`preference.without_noise`).
    """
    flat = np.asarray(block) * shape[1] + np.asarray(run)
    if keep is not None:
        flat, values = flat[keep], np.asarray(values)[keep]
    size = np.bincount(flat, minlength=shape[0] * shape[1])
    total, absolute = (np.bincount(flat, x, minlength=len(size)) for x in (values, np.abs(values)))
    means, sizes = (np.divide(x, size, out=np.full(len(size), np.nan), where=size > 0) for x in (total, absolute))
    return preference.without_noise(means, np.nan_to_num(sizes)).reshape(shape)


def signed_rank(values):
    """Wilcoxon signed-rank test of every column, zeros left out.

    Parameters
    ----------
    values : ndarray, shape (n, columns)
        Occupation means; NaN where a column lacks the occupation.

    Returns
    -------
    effect, p : ndarray, shape (columns,)
        Matched-pairs rank-biserial correlation in percent, 100 (W+ - W-) / (W+ + W-) (Kerby 2014), and the two-sided p (exact for up
        to 50 occupations without ties, else normal). All zero: 0 and 1. Fewer than two occupations: both missing.
    """
    found = []
    for column in np.asarray(values, float).T:
        x = column[~np.isnan(column)]
        if len(x) < 2:
            found.append((np.nan, np.nan))
        elif not x.any():
            found.append((0.0, 1.0))
        else:
            x = x[x != 0]
            rank = stats.rankdata(np.round(np.abs(x) / np.abs(x).max(), SAME))
            found.append((100 * (rank * np.sign(x)).sum() / rank.sum(), stats.wilcoxon(np.sign(x) * rank).pvalue))
    return np.array(found, float).reshape(-1, 2).T


def sign_flip(values, replicates, seed):
    """Two-sided permutation test of every column: signs of the occupation means are flipped at random, the same ones for all columns.

    Parameters
    ----------
    values : ndarray, shape (n, columns)
        NaN where a column lacks the occupation.
    replicates, seed : int

    Returns
    -------
    ndarray, shape (columns,)
        (1 + number of replicates at least as far from 0) / (1 + replicates), so never 0; 1 where all are zero; missing for fewer than
        two occupations.
    """
    values = np.asarray(values, float)
    x = np.nan_to_num(values)
    top = np.abs(x).max(axis=0, initial=0)
    x = np.divide(x, top, out=np.zeros_like(x), where=top > 0)
    signs = 2.0 * np.random.default_rng(seed).integers(0, 2, (replicates, len(x)), dtype=np.int8) - 1
    far = np.abs(signs @ x) >= np.abs(x.sum(axis=0)) * (1 - 1e-12)
    return np.where((~np.isnan(values)).sum(axis=0) < 2, np.nan, (1 + far.sum(axis=0)) / (1 + replicates))


@dataclass
class Variant:
    """One way to analyse all runs; `means` (occupations x runs) times `scale` (runs) is what S% is the mean of."""

    kind: str
    name: str
    change: str
    means: np.ndarray
    scale: np.ndarray
    member: str = ""
    test: str = "t"
    method: str = "bh"
    note: str = ""


def variants(frame, runs, study, blocks):
    """The study's own analysis, and after it every other one.

    Parameters
    ----------
    frame, runs : DataFrame
        From `paired`.
    study : Study
        range, replicates, seed.
    blocks : sequence of str
        The study's unit groups, sorted.

    Returns
    -------
    list of Variant
    """
    d, block, run = (frame[c].to_numpy() for c in ("d", "block", "run"))
    scores = frame[["masculine", "feminine"]].to_numpy(float)
    shape = len(blocks), len(runs)
    every = np.arange(len(runs))
    own = {"evaluator": runs["system"].factorize()[0], "run": every}         # whose scores are normalised together
    group = own[study.range]
    other = "run" if study.range == "evaluator" else "evaluator"

    def means(values=d, keep=None):
        return block_means(values, block, run, shape, keep)

    def percent(width, values=scores, group=group):                          # 100 / width of the scores of each group, for every run
        sizes = {g: width(values[group[run] == g]) for g in np.unique(group)}
        return preference.percent_of_range(np.ones(len(group)), [sizes[g] for g in group])

    base = means()
    scale = percent(np.ptp)
    found = [Variant("", "baseline", f"mean of d, % of the observed range per {study.range}; t-test, Benjamini–Hochberg", base, scale)]

    def add(kind, name, change, values=base, scale=scale, **more):
        found.append(Variant(kind, name, change, values, scale, **more))

    same = {"note": SCALE_ONLY}
    cut = f"% of the range between the {100 * EXTREME / 2:g} % and the {100 - 100 * EXTREME / 2:g} % quantile of the scores"
    add("normalisation", "trimmed range", cut, scale=percent(lambda x: np.ptp(np.quantile(x, [EXTREME / 2, 1 - EXTREME / 2]))), **same)
    add("normalisation", "standard deviation", "% of the standard deviation of the scores", scale=percent(np.std), **same)
    add("normalisation", f"range per {other}", f"% of the observed range per {other}", scale=percent(np.ptp, group=own[other]), **same)
    rank = np.zeros_like(scores)
    for g in np.unique(group[run]):
        rows = group[run] == g
        rank[rows] = stats.rankdata(scores[rows]).reshape(-1, 2) / (2 * rows.sum())
    add("normalisation", "ranks", f"each score replaced by its rank per {study.range}, % of the number of scores",
        means(preference.paired_difference(*rank.T)), np.full(len(runs), 100.0))
    add("normalisation", "superiority", "only who wins: 100 (2 Pr − 1), Pr = probability of superiority, a tie half (= balance)",
        means(np.sign(d)), np.full(len(runs), 100.0))
    for decimals in DECIMALS:
        rounded = scores.round(decimals)
        add("precision", f"{decimals} decimals", f"scores rounded to {decimals} decimals", means(preference.paired_difference(*rounded.T)),
            percent(np.ptp, rounded))
    for kind in (t for t in data.TEXT_TYPES if (frame["text_type"] == t).any()):
        add("texts", f"{kind}s only", f"texts of type {kind}", means(keep=(frame["text_type"] == kind).to_numpy()))
    for column, low, high, change in (
            ("dense", "few gendered words", "many gendered words", "share of gendered tokens {} the language's median"),
            ("long", "short texts", "long texts", "characters of the source {} the language's median")):
        chosen = frame[column].to_numpy(bool)
        add("texts", low, change.format("up to"), means(keep=~chosen))
        add("texts", high, change.format("above"), means(keep=chosen))
    flagged = frame["flagged"].to_numpy(bool)
    add("texts", "unflagged rows", "rows with a reviewer's flag left out", means(keep=~flagged),
        note=f"{100 * flagged.mean():.1f} % of the pairs left out" if flagged.any() else "no flags in this study")
    major = np.array([b[0] for b in blocks])
    for code in np.unique(major):
        left = np.where((major == code)[:, None], np.nan, base)
        add("occupations", "a major group left out", "the least favourable of all major groups", left, member=code)
    add("test", "Wilcoxon", "signed-rank test; 100 × rank-biserial correlation", test="wilcoxon")
    add("test", "sign flips", f"permutation test, {study.replicates} replicates, seed {study.seed}", test="flips")
    add("test", "Benjamini–Yekutieli", "in place of Benjamini–Hochberg: any dependence between runs", method="by")
    return found


def measure(variant, runs, study):
    """What one variant says of every run.

    Returns
    -------
    DataFrame
        kind, variant, member, system, language, role, unit_groups, value (S% or its analogue), p, p_adjusted and significant (metric
        runs only).
    """
    known = ~np.isnan(variant.means)
    size = known.sum(axis=0)
    value, absolute = (np.divide(np.nansum(x, axis=0), size, out=np.full(len(size), np.nan), where=size > 0)
                       for x in (variant.means, np.abs(variant.means)))
    value = preference.without_noise(value, np.nan_to_num(absolute)) * variant.scale
    if variant.test == "wilcoxon":
        value, p = signed_rank(variant.means)
    elif variant.test == "flips":
        p = sign_flip(variant.means, study.replicates, study.seed)
    else:
        p = np.array([p for _, p, _ in t_tests(variant.means)], float)
    table = runs[["system", "language", "role"]].reset_index(drop=True)
    for place, name in enumerate(("kind", "variant", "member")):
        table.insert(place, name, [variant.kind, variant.name, variant.member][place])
    return adjust(table.assign(unit_groups=size, value=value, p=p), table["role"] == "metric", study.q, method=variant.method)


def compare(base, other):
    """How the conclusions of one variant differ from the baseline's; both from `measure`, metric runs only.

    Returns
    -------
    dict
        n_runs (with a value in both), masculine, feminine (significant that way in the variant), sign_changes (a 0 counts as a sign),
        significance_changes, reversals (significant one way, then the other), rho_runs and rho_evaluators (Spearman, of S% and of the
        evaluators' mean over languages; missing for fewer than three), n_evaluators, changed (names of the runs that differ).
    """
    both = (base["role"] == "metric") & base["value"].notna() & other["value"].notna()
    old, new = base[both], other[both]
    significant = [x["significant"].fillna(False).to_numpy(bool) for x in (old, new)]
    tested = old["significant"].notna().to_numpy() & new["significant"].notna().to_numpy()
    a, b = old["value"].to_numpy(), new["value"].to_numpy()
    sign, significance = np.sign(a) != np.sign(b), tested & (significant[0] != significant[1])
    macro = [x.groupby("system", sort=True)["value"].mean().to_numpy() for x in (old, new)]
    names = [f"{s} {code.upper()}" for s, code in zip(old["system"], old["language"])]
    return {"n_runs": len(old), "masculine": int((significant[1] & (b > 0)).sum()), "feminine": int((significant[1] & (b < 0)).sum()),
            "sign_changes": int(sign.sum()), "significance_changes": int(significance.sum()),
            "reversals": int((sign & significant[0] & significant[1] & (a * b < 0)).sum()),
            "rho_evaluators": _spearman(*macro), "n_evaluators": len(macro[0]), "rho_runs": _spearman(a, b),
            "changed": [n for n, x in zip(names, sign | significance) if x]}


def _spearman(a, b):
    if len(a) < 3 or not np.ptp(a) > 0 or not np.ptp(b) > 0:
        return np.nan
    return float(stats.spearmanr(a, b).statistic)


def robustness(frame, runs, study, blocks):
    """All variants against the baseline.

    Parameters
    ----------
    frame, runs, study, blocks
        As in `variants`.

    Returns
    -------
    summary : DataFrame
        kind, variant, change, the counts of `compare` and a note; of the major groups left out the least favourable numbers.
    long : DataFrame
        `measure` of every variant.
    """
    found = variants(frame, runs, study, blocks)
    measured = [measure(v, runs, study) for v in found]
    rows = {}
    for variant, table in zip(found, measured):
        row = compare(measured[0], table) | {"groups": int(table["unit_groups"].min()) if len(table) else 0}
        rows.setdefault(variant.name, []).append((variant, row))
    summary = []
    worst = dict.fromkeys(("n_runs", "masculine", "rho_evaluators", "rho_runs", "n_evaluators"), np.nanmin) | dict.fromkeys(
        ("feminine", "sign_changes", "significance_changes", "reversals"), np.max)
    for members in rows.values():
        first = members[0][0]
        row = {"kind": first.kind, "variant": first.name, "change": first.change}
        row |= {name: pick([r[name] for _, r in members]) if not np.isnan([r[name] for _, r in members]).all() else np.nan
                for name, pick in worst.items()}
        groups = min(r["groups"] for _, r in members)
        notes = [first.note, f"{groups} of {len(blocks)} unit groups" if groups < len(blocks) and not first.member else ""]
        notes += [(f"without {v.member}: " if v.member else "changed: ") + ", ".join(r["changed"]) for v, r in members if r["changed"]]
        summary.append(row | {"note": "; ".join(filter(None, notes))})
    return pd.DataFrame(summary)[SUMMARY], pd.concat(measured, ignore_index=True)


SUMMARY = ["kind", "variant", "change", "n_runs", "masculine", "feminine", "sign_changes", "significance_changes", "reversals",
           "rho_runs", "rho_evaluators", "n_evaluators", "note"]


def robustness_printed(summary):
    """`robustness`'s summary as it is to be read."""
    def count(name):
        return [str(int(v)) if n else tables.ABSENT for v, n in zip(summary[name], summary["n_runs"])]
    return pd.DataFrame({
        "Analysis": summary["variant"], "What changes": summary["change"], "runs": [str(int(n)) for n in summary["n_runs"]],
        "masculine*": count("masculine"), "feminine*": count("feminine"), "sign changes": count("sign_changes"),
        "significance changes": count("significance_changes"), "reversals": count("reversals"),
        "Spearman, runs": [tables.fixed(v) for v in summary["rho_runs"]],
        "Spearman, evaluators": [tables.fixed(v) for v in summary["rho_evaluators"]],
        "note": summary["note"].replace("", tables.ABSENT)})


def precision(frame, runs, blocks):
    """Ties, balance and S% of every evaluator when its scores are rounded; means over its languages.

    Parameters
    ----------
    frame, runs, blocks
        As in `variants`.

    Returns
    -------
    DataFrame
        system, label, role, languages, decimals (missing: as given), tie (percent of pairs), balance (points), signed_pct (percent of
        the evaluator's range at that precision). Metric runs if the evaluator has any.
    """
    block, run, scores = frame["block"].to_numpy(), frame["run"].to_numpy(), frame[["masculine", "feminine"]].to_numpy(float)
    shape, rows = (len(blocks), len(runs)), []
    for decimals in (None, *DECIMALS):
        rounded = scores if decimals is None else scores.round(decimals)
        d = rounded[:, 0] - rounded[:, 1]
        ties, sign, mean = (np.nanmean(block_means(x, block, run, shape), axis=0) for x in (d == 0, np.sign(d), d))
        table = runs.assign(tie=100 * ties, balance=100 * sign, signed=mean)
        for system in tables.in_order(runs):
            role = tables.group_of(runs, system)
            own = table[(table["system"] == system) & (table["role"] == role)]
            scope = np.ptp(rounded[frame["system"].to_numpy() == system])
            rows.append((system, own["label"].iloc[0], role, len(own), np.nan if decimals is None else decimals, own["tie"].mean(),
                         own["balance"].mean(), preference.percent_of_range(own["signed"].mean(), scope)))
    table = pd.DataFrame(rows, columns=["system", "label", "role", "languages", "decimals", "tie", "balance", "signed_pct"])
    return table.assign(place=table["system"].map({s: i for i, s in enumerate(tables.in_order(runs))})).sort_values(
        "place", kind="stable", ignore_index=True).drop(columns="place")


def clustered_fit(y, x, groups, weights=None):
    """Weighted least squares with errors clustered by group (Liang & Zeger 1986; small-sample factor G/(G-1) * (n-1)/(n-k)).

    Parameters
    ----------
    y : ndarray, shape (n,)
    x : ndarray, shape (n, k)
        With its column of ones.
    groups : ndarray of int, shape (n,)
    weights : ndarray, shape (n,), optional

    Returns
    -------
    coefficients, errors, p : ndarray, shape (k,)
        p is two-sided from t with G - 1 degrees of freedom.
    df, r2 : float
    """
    n, k = x.shape
    w = np.ones(n) if weights is None else np.asarray(weights, float)
    bread = np.linalg.inv((x * w[:, None]).T @ x)
    beta = bread @ (x * w[:, None]).T @ y
    residual = y - x @ beta
    codes = np.unique(groups, return_inverse=True)[1]
    sums = np.stack([np.bincount(codes, column) for column in (x * (w * residual)[:, None]).T], axis=1)
    clusters = len(sums)
    covariance = bread @ (sums.T @ sums) @ bread * clusters / (clusters - 1) * (n - 1) / (n - k)
    errors = np.sqrt(np.diag(covariance))
    t = np.divide(beta, errors, out=np.full(k, np.nan), where=errors > 0)
    total = (w * (y - np.average(y, weights=w)) ** 2).sum()
    return beta, errors, 2 * stats.t.sf(np.abs(t), clusters - 1), clusters - 1, 1 - (w * residual**2).sum() / total if total > 0 else np.nan


def equal_terms(d, regressors, groups, level=0.95):
    """Preference of one run at equal length and word frequency: the intercept of a regression of d.

    Parameters
    ----------
    d : array_like, shape (n,)
        score(masculine) - score(feminine).
    regressors : dict of array_like, shape (n,)
        Differences masculine - feminine by name; pairs where one is missing do not count. One that is missing throughout is left out
        of the regression, which the note says.
    groups : array_like, shape (n,)
        Occupation of each pair; each occupation weighs the same.
    level : float
        Of the intervals.

    Returns
    -------
    dict
        n, signed (mean of occupation means of these pairs) with low and high (t interval, clustered), intercept with _low, _high, _p;
        remains (intercept / signed); slope_<name>, p_<name>; r2; reach (percent of the pairs that lie, seen from the middle of the
        regressors in units of their covariance, at equality or beyond it; with one regressor: whose difference is 0 or has the other
        sign than its mean) and note. What cannot be estimated is missing and the note says why: no
        difference at all, a constant regressor, collinear regressors, differences that are a linear function of the regressors (the
        evaluator is one of them), too few occupations.
    """
    names = list(regressors)
    columns = np.column_stack([np.asarray(regressors[n], float) for n in names]) if names else np.empty((len(d), 0))
    absent = np.isnan(columns).all(axis=0)
    notes = [f"no {n} known" for n, gone in zip(names, absent) if gone]
    used = [n for n, gone in zip(names, absent) if not gone]
    x = columns[:, ~absent]
    whole = ~np.isnan(x).any(axis=1)
    y, x, groups = np.asarray(d, float)[whole], x[whole], np.unique(np.asarray(groups)[whole], return_inverse=True)[1]
    size = np.bincount(groups)
    if not whole.all():
        notes.append(f"{int((~whole).sum())} pairs without a regressor left out")
    row = {"n": len(y), **dict.fromkeys(("signed", "signed_low", "signed_high", "intercept", "intercept_low", "intercept_high",
                                         "intercept_p", "remains"), np.nan)}
    row |= {f"{kind}_{n}": np.nan for n in names for kind in ("slope", "p")} | {"r2": np.nan, "reach": np.nan}

    def give(problem=""):
        return row | {"note": "; ".join(filter(None, [problem, *notes]))}

    if len(size) < 2 or len(y) <= x.shape[1] + 1:
        return give("too few occupations")
    weights = 1 / size[groups]
    unit = np.abs(y).max() or 1.0                                              # no scale is assumed of an evaluator
    (mean,), (error,), _, df, _ = clustered_fit(y / unit, np.ones((len(y), 1)), groups, weights)
    critical = stats.t.ppf((1 + level) / 2, df)
    row |= {"signed": mean * unit, "signed_low": (mean - critical * error) * unit, "signed_high": (mean + critical * error) * unit}
    if not y.any():
        return give("no difference")
    if not used:
        return give("nothing to hold equal")
    spread = x.std(axis=0)
    if (flat := spread <= 1e-12 * np.abs(x).max(axis=0, initial=0)).any():
        return give("constant: " + ", ".join(n for n, f in zip(used, flat) if f))
    standard = (x - x.mean(axis=0)) / spread
    if np.linalg.svd(standard, compute_uv=False)[-1] <= 1e-8 * np.sqrt(len(y)):
        return give("collinear: " + ", ".join(used))
    design = np.column_stack([np.ones(len(y)), x])
    beta, errors, p, df, r2 = clustered_fit(y / unit, design, groups, weights)
    if np.sqrt(np.mean((y / unit - design @ beta) ** 2)) <= EXACT:
        return give("the difference is a linear function of " + " and ".join(used))
    middle = (x / spread).mean(axis=0)
    beyond = (x / spread) @ np.linalg.solve(standard.T @ standard, middle) <= 0
    low, high = beta[0] + critical * errors[0] * np.array([-1, 1])
    row |= {"intercept": beta[0] * unit, "intercept_low": low * unit, "intercept_high": high * unit, "intercept_p": p[0],
            "remains": beta[0] / mean if mean else np.nan, "r2": r2, "reach": 100 * np.mean(beyond)}
    row |= {f"slope_{n}": b * unit for n, b in zip(used, beta[1:])} | {f"p_{n}": q for n, q in zip(used, p[1:])}
    return give("extrapolated" if row["reach"] < REACH else "")


REGRESSORS = ("length", "frequency")
PERCENT = ("signed", "signed_low", "signed_high", "intercept", "intercept_low", "intercept_high", *(f"slope_{n}" for n in REGRESSORS))


def confound(frame, runs, study):
    """`equal_terms` of every run, in percent of the range; the intercepts of the metric runs are one Benjamini-Hochberg family.

    Parameters
    ----------
    frame, runs : DataFrame
        From `paired`.
    study : Study
        level, q.

    Returns
    -------
    DataFrame
        system, label, language, role, n, feminine_longer, feminine_rarer (percent of pairs), `<name>_pct` of `PERCENT` (percent of
        range; slopes per character and per Zipf unit), remains, p_length, p_frequency, r2, reach, p, p_adjusted, significant, note,
        and p_signed, signed_significant of the unadjusted t-test. Metrics come first.
    """
    rows = []
    for number, run in enumerate(runs.itertuples()):
        own = frame[frame["run"] == number]
        row = equal_terms(own["d"], {n: own[n] for n in REGRESSORS}, own["block"], study.level)
        share = {name: 100 * (own[column] * side > 0).mean() if own[column].notna().any() else np.nan
                 for name, column, side in (("feminine_longer", "length", -1), ("feminine_rarer", "frequency", 1))}
        (_, p_signed, _), = t_tests(own.groupby("block")["d"].mean().to_numpy()[:, None])
        rows.append({"system": run.system, "label": run.label, "language": run.language, "role": run.role, **share, **row,
                     **{f"{n}_pct": preference.percent_of_range(row[n], run.range) for n in PERCENT}, "p_signed": p_signed})
    table = pd.DataFrame(rows, columns=CONFOUND + ["intercept_p"]) if not rows else pd.DataFrame(rows)
    table["p"] = table["intercept_p"]
    table = adjust(table, table["role"] == "metric", study.q)
    table = adjust(table, table["role"] == "metric", study.q, "p_signed", "signed_p_adjusted", "signed_significant")
    place = {s: i for i, s in enumerate(tables.in_order(runs))}
    return table.assign(place=table["system"].map(place)).sort_values("place", kind="stable", ignore_index=True)[CONFOUND]


CONFOUND = ["system", "label", "language", "role", "n", "feminine_longer", "feminine_rarer", *(f"{n}_pct" for n in PERCENT), "remains",
            *(f"p_{n}" for n in REGRESSORS), "r2", "reach", "p", "p_adjusted", "significant", "p_signed", "signed_significant", "note"]


def confound_printed(table):
    """`confound` as it is to be read."""
    def ranged(name, mark):
        return [tables.ABSENT if pd.isna(v) else f"{tables.fixed(v)}{'*' if pd.notna(m) and m else ''} {tables.interval(a, b)}"
                for v, a, b, m in zip(*(table[c] for c in (f"{name}_pct", f"{name}_low_pct", f"{name}_high_pct", mark)))]

    def slope(name):
        return [tables.ABSENT if pd.isna(b) else f"{tables.fixed(b)} ({tables.p_value(p)})"
                for b, p in zip(table[f"slope_{name}_pct"], table[f"p_{name}"])]
    return pd.DataFrame({
        "Evaluator": table["label"], "Language": table["language"].str.upper(), "Role": table["role"],
        "feminine longer %": [tables.fixed(v, 0) for v in table["feminine_longer"]],
        "feminine rarer %": [tables.fixed(v, 0) for v in table["feminine_rarer"]], "S%": ranged("signed", "signed_significant"),
        "at equal length and frequency": ranged("intercept", "significant"), "p": [tables.p_value(v) for v in table["p"]],
        "remains %": [tables.fixed(100 * v, 0) for v in table["remains"]], "per character": slope("length"),
        "per Zipf unit": slope("frequency"),
        "explained %": [tables.fixed(100 * v, 1) for v in table["r2"]], "reach %": [tables.fixed(v, 1) for v in table["reach"]],
        "note": table["note"].replace("", tables.ABSENT)})


def strategies(results, frame, runs, blocks):
    """S% where the occupation noun itself differs against where gender shows only by agreement, by language.

    Parameters
    ----------
    results : inference.Results
    frame, runs, blocks
        As in `variants`.

    Returns
    -------
    DataFrame
        language, systems (the metrics that cover every language), for noun and agreement: texts, unit groups, S% with _low and _high;
        difference (noun - agreement) with _low and _high; note. Means of occupation means; intervals: occupation-block bootstrap,
        missing for fewer than ten unit groups. Empty without `gender_marks.tsv` or such a metric.
    """
    study = results.study
    systems = panel_systems(results.runs, study.languages)
    chosen = frame["system"].isin(systems) & frame["noun"].notna()
    if not chosen.any():
        return pd.DataFrame(columns=STRATEGIES)
    own = frame[chosen].assign(effect=preference.percent_of_range(frame["d"], runs["range"].to_numpy()[frame["run"]])[chosen])
    own = own.groupby(["language", "segment_id", "block", "noun"], as_index=False)["effect"].mean()
    languages = [code for code in study.languages if code in set(own["language"])]
    column = own["language"].map({code: 2 * i for i, code in enumerate(languages)}) + (~own["noun"].astype(bool)).astype(int)
    values = block_means(own["effect"].to_numpy(), own["block"].to_numpy(), column.to_numpy(), (len(blocks), 2 * len(languages)))
    texts, groups = np.bincount(column, minlength=values.shape[1]), (~np.isnan(values)).sum(axis=0)
    means = np.divide(np.nansum(values, axis=0), groups, out=np.full(len(groups), np.nan), where=groups > 0)
    drawn = bootstrap_means(values, resample_counts(len(blocks), study.replicates, study.seed))
    drawn[:, groups < FEW] = 0
    tails = [(1 - study.level) / 2, (1 + study.level) / 2]
    low, high = np.where(groups < FEW, np.nan, np.nanquantile(drawn, tails, axis=0))
    gap_low, gap_high = np.nanquantile(drawn[:, ::2] - drawn[:, 1::2], tails, axis=0)
    table = pd.DataFrame({"language": languages, "systems": ", ".join(systems)})
    for side, name in enumerate(("noun", "agreement")):
        part = slice(side, None, 2)
        for key, value in (("texts", texts), ("groups", groups), ("pct", means), ("low", low), ("high", high)):
            table[f"{name}_{key}"] = value[part]
    few = (groups[::2] < FEW) | (groups[1::2] < FEW)
    table["difference"] = table["noun_pct"] - table["agreement_pct"]
    table["difference_low"], table["difference_high"] = np.where(few, np.nan, gap_low), np.where(few, np.nan, gap_high)
    table["note"] = np.where(few, f"fewer than {FEW} unit groups on one side", "")
    return table[STRATEGIES]


STRATEGIES = ["language", "systems",
              *(f"{name}_{key}" for name in ("noun", "agreement") for key in ("texts", "groups", "pct", "low", "high")),
              "difference", "difference_low", "difference_high", "note"]


def strategies_printed(table):
    """`strategies` as it is to be read."""
    def ranged(value, low, high):
        return [f"{tables.fixed(v)} {tables.interval(a, b)}" if pd.notna(v) else tables.ABSENT for v, a, b in zip(value, low, high)]
    sides = {}
    for name, head in (("noun", "noun differs"), ("agreement", "agreement only")):
        sides[f"{head}: texts (unit groups)"] = [f"{t} ({g})" for t, g in zip(table[f"{name}_texts"], table[f"{name}_groups"])]
        sides[f"{head}: S%"] = ranged(*(table[f"{name}_{k}"] for k in ("pct", "low", "high")))
    return pd.DataFrame({"Language": [tables.language_name(c) for c in table["language"]], **sides,
                         "difference": ranged(*(table[f"difference{k}"] for k in ("", "_low", "_high"))),
                         "note": table["note"].replace("", tables.ABSENT)})


def precision_printed(table):
    """`precision` as it is to be read."""
    return pd.DataFrame({
        "Evaluator": table["label"], "Role": table["role"], "languages": table["languages"].astype(str),
        "decimals": ["as given" if pd.isna(n) else str(int(n)) for n in table["decimals"]],
        "tie %": [tables.fixed(v, 1) for v in table["tie"]], "balance": [tables.fixed(v, 1) for v in table["balance"]],
        "S%": [tables.fixed(v) for v in table["signed_pct"]]})


def write(study, equal, summary, long, shown, rounded):
    """Write the tables of this analysis.

    Parameters
    ----------
    study : Study
    equal, summary, long, shown, rounded : DataFrame
        From `confound`, `robustness` (two), `strategies` and `precision`.

    Returns
    -------
    dict of str
        Table name -> Markdown with its caption.
    """
    level, metric = f"{100 * study.level:g}%", equal["role"] == "metric"
    captions = {
        "joint_confound": (equal, confound_printed(equal), (
            f"Preference at equal length and word frequency, % of the observed range per {study.range}: intercept of a least-squares "
            "regression of d on the difference in characters and in mean Zipf frequency (masculine − feminine; slopes per unit with p), "
            f"each occupation weighing the same. Intervals: {level}, t with errors clustered by occupation, for S too. *: significant at "
            f"q = {study.q:g}, Benjamini–Hochberg over the {int((metric & equal['p'].notna()).sum())} metric runs that have an intercept, "
            f"for S over {int(metric.sum())}. Remains: intercept/S. Explained: variance. Reach: % of the pairs that lie, seen "
            f"from the middle of both differences, at equality or beyond it; below {REACH:g} % the intercept is extrapolated.")),
        "joint_robustness": (summary, robustness_printed(summary), (
            f"Other analyses against the baseline, metric runs only. *: number of runs significant at q = {study.q:g}. A reversal is "
            "significant one way in the baseline and the other way here. Spearman: rank correlation with the baseline of S% (or its "
            "analogue) over runs, and over evaluators (mean of their languages); missing for fewer than three. Subsets of texts keep the "
            "baseline's range. The least favourable number of all major groups left out is shown.")),
        "joint_precision": (rounded, precision_printed(rounded), (
            "Rounded scores: ties, preference balance (points) and S% (of the evaluator's range at that precision), mean over the "
            "evaluator's languages.")),
        "joint_strategies": (shown, strategies_printed(shown), (
            f"S% by how gender shows, mean over {tables.panel_name(shown['systems'].iloc[0].split(', ') if len(shown) else [])}. "
            f"{tables.settings(study)} Missing for fewer than {FEW} unit groups. The two sides hold different occupations."))}
    rules = {"joint_confound": [int(metric.sum())], "joint_precision": [int((rounded["role"] == "metric").sum())]}
    tables.write_csv(long, study.tables / "joint_robustness_runs.csv")
    for name, (frame, printed, caption) in captions.items():
        tables.write(study, name, frame, printed, caption, rules.get(name, ()))
    return {name: tables.markdown(printed, caption) for name, (_, printed, caption) in captions.items()}


def findings(folder):
    """What this analysis found, in sentences built from the tables alone.

    Parameters
    ----------
    folder : Path
        Holds joint_confound.csv, joint_robustness.csv and joint_strategies.csv.

    Returns
    -------
    str
        Markdown: two to four sentences.
    """
    texts = {name: tables.read_csv(folder / f"joint_{name}.csv") for name in ("confound", "robustness", "strategies")}
    parts = [_confound_sentence(texts["confound"]), _robustness_sentence(texts["robustness"]), _strategy_sentence(texts["strategies"])]
    return "\n".join(f"- {p}" for p in parts if p)


def _numbers(table, *names):
    return table.assign(**{n: pd.to_numeric(table[n]) for n in names})


def _sides(mark, values):
    """How many of the marked values are positive, and how many negative."""
    return int((mark & (values > 0)).sum()), int((mark & (values < 0)).sum())


def _confound_sentence(table):
    table = _numbers(table[(table["role"] == "metric") & (table["p"] != "")], "signed_pct", "intercept_pct", "remains", "reach")
    if not len(table):
        return "**Equal length and word frequency.** There is no metric run to which the regression applies."
    before, after = table["signed_significant"] == "True", table["significant"] == "True"
    kept, n = int((before & after & (table["signed_pct"] * table["intercept_pct"] > 0)).sum()), int(before.sum())
    start = ("There is no significant preference that longer or rarer feminine forms could explain" if not n
             else "Longer or rarer feminine forms do not explain the preference" if kept == n
             else "Longer or rarer feminine forms can explain the preference" if not kept
             else "Longer or rarer feminine forms explain part of the preference, not all of it")
    (masculine, feminine), (was_masculine, was_feminine) = _sides(after, table["intercept_pct"]), _sides(before, table["signed_pct"])
    text = (f"**{start}**: at equal length and word frequency {masculine} of {len(table)} metric runs favour the masculine variant "
            f"significantly and {feminine} the feminine one (as observed {was_masculine} and {was_feminine})")
    share = table.loc[before, "remains"]
    text += (f"; of the {n} significant S, {((share >= 0) & (share < 1)).sum()} become smaller, {(share >= 1).sum()} larger, and "
             f"{(share < 0).sum()} change{'s' if (share < 0).sum() == 1 else ''} sign." if n else ".")
    near = table["reach"] >= REACH
    if not near.all():
        names = ", ".join(dict.fromkeys(code.upper() for code in table.loc[~near, "language"]))
        text += (f" For {int((~near).sum())} of these runs ({names}) fewer than {REACH:g} % of the pairs lie at equality or beyond: the "
                 "figure is extrapolated")
        masculine, feminine = _sides(after & near, table["intercept_pct"])
        names = ", ".join(dict.fromkeys(code.upper() for code in table.loc[near, "language"]))
        others = (f"; of the other {int(near.sum())} ({names}) the masculine variant is favoured significantly in {masculine}, the "
                  f"feminine in {feminine}")
        text += (others if near.any() else "") + "."
    return text


def _robustness_sentence(table):
    table = _numbers(table, *SUMMARY[3:9])
    base = table[table["variant"] == "baseline"]
    others = table[(table["variant"] != "baseline") & (table["n_runs"] > 0) & ~table["note"].str.startswith(SCALE_ONLY)]
    if not len(base) or not base["n_runs"].iloc[0] or not len(others):
        return ""
    base, total = base.iloc[0], others["sign_changes"] + others["significance_changes"]
    worst = others.assign(total=total)[total > 0].sort_values("total", ascending=False, kind="stable").head(3)
    named = ", ".join(f"{r.variant} (sign {int(r.sign_changes)}, significance {int(r.significance_changes)})" for r in worst.itertuples())
    ranges = [f"{low:g}" if low == high else f"{low:g} to {high:g}" for low, high in
              ((min(others[c].min(), base[c]), max(others[c].max(), base[c])) for c in ("masculine", "feminine"))]
    return (f"**{int((total == 0).sum())} of {len(others)} other analyses change neither the sign nor the significance of any of the "
            f"{base['n_runs']:g} metric runs**: {ranges[0]} are significantly masculine (baseline {base['masculine']:g}), {ranges[1]} "
            f"significantly feminine (baseline {base['feminine']:g})" + (f"; what changes most: {named}." if named else "."))


def _strategy_sentence(table):
    table = _numbers(table, "difference", "difference_low", "difference_high").dropna(subset="difference_low")
    if not len(table):
        return ""
    sides = [f"{len(rows)}" + (f" ({', '.join(code.upper() for code in rows['language'])})" if len(rows) else "")
             for rows in (table[table["difference_low"] > 0], table[table["difference_high"] < 0])]
    whose = tables.panel_name(table["systems"].iloc[0].split(", "))
    return (f"**Noun or agreement**: where the occupation noun itself differs, S% ({whose}) is larger than where gender shows only by "
            f"agreement in {sides[0]} of {len(table)} languages with enough of both, and smaller in {sides[1]}; the two sides hold "
            "different occupations.")
