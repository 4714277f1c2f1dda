"""Calibration: simulated evaluators and systems whose truth is known, on the study's own design.

Everything drawn here is simulated. The super-population is named: occupations and texts are both drawn anew. A pair's difference is
d = S + u + e in units of its standard deviation, u shared by the texts of an occupation, var(u) = icc, var(e) = 1 - icc:

- `normal`: u and e normal.
- `heavy tails`: the same times an occupation's own scale, so that d is Student t with `DF` degrees of freedom (variance 1).
- `observed`: whole occupations drawn with replacement from a real run, its d centred and divided by its standard deviation; the run's
  own distribution is the population, so the truth is exact. The runs take turns.

All functions are pure; what they draw follows from a seed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from scipy import optimize, stats

from mtgender import inference, preference, published, representation, tables
from mtgender.study import InputError
from mtgender.tables import ABSENT, fixed

POPULATIONS = ("normal", "heavy tails", "observed")
DF = 3                            # of `heavy tails`: the fewest whole ones with a variance
SHARE = 0.1                       # of a family's runs that have an effect (at least one), where effects are sparse
POWER = 0.8
SHARES = (0.5, 0.8, 0.95, 0.99)   # p of the simulated translation systems
UNIT_GROUPS = (2, 4, 8, 16, 43)   # sizes of a group; the whole design comes on top
PAPER_RUNS = "A028"               # the metrics paper's number of runs in data/published/metrics_paper.csv
SIZES = {"simulations": 1000, "replicates": 999, "families": 20_000}     # of the committed tables
MANY_TEXTS = 20                   # about the mean of GAMBIT+ (8,771 texts of 436 unit groups; `python -m mtgender fetch`)


# --- the design, estimated ---

def variance_components(sums, squares, sizes):
    """One-way random-effects analysis of variance by the method of moments (Searle, Casella & McCulloch 1992, section 3.6).

    Parameters
    ----------
    sums, squares, sizes : array_like, shape (n_blocks,)
        Sum, sum of squares and number of the values of each block. For counts of yes and no, `squares` is `sums`.

    Returns
    -------
    dict
        between, within (variances; between may come out below 0), icc = between / (between + within). Missing where no block has two
        values, where there are fewer than two blocks, or (icc) where nothing varies.

    Examples
    --------
    >>> variance_components([2.0, 6.0], [4.0, 20.0], [2, 2])
    {'between': 1.0, 'within': 2.0, 'icc': 0.3333333333333333}
    """
    sums, squares, sizes = (np.asarray(x, float) for x in (sums, squares, sizes))
    blocks, total = len(sizes), sizes.sum()
    if blocks < 2 or total <= blocks:
        return dict.fromkeys(("between", "within", "icc"), float("nan"))
    means, grand = sums / sizes, sums.sum() / total
    within = float((squares - sums * means).sum() / (total - blocks))
    among = float((sizes * (means - grand) ** 2).sum() / (blocks - 1))
    between = (among - within) / float((total - (sizes**2).sum() / total) / (blocks - 1))
    whole = between + within
    return {"between": between, "within": within, "icc": between / whole if whole > 0 else float("nan")}


def components(results):
    """How each run's values vary between and within occupations.

    Parameters
    ----------
    results : Results

    Returns
    -------
    DataFrame
        kind (scores: d; annotations: difference of error-free, -1, 0 or 1; gender_counts: masculine or not), system, language, role,
        occupations, texts, mean, between, within, icc, sd (root of between + within), effect (mean / sd), sd_pct (sd in percent of the
        range; scores only).
    """
    codes = results.pairs[["language", "segment_id", "isco"]]
    rows = []
    for kind, runs, values in (("scores", results.score_runs, _differences(results.scores)),
                               ("annotations", results.error_runs, _error_free_differences(results))):
        values = values.merge(codes, on=["language", "segment_id"])
        groups = dict(list(values.groupby(["system", "language"])))
        for run in runs.itertuples():
            own = groups[run.system, run.language]
            mean = own["d"].mean()
            blocks, squares = ((own["d"] - mean) ** power for power in (1, 2))
            blocks = blocks.groupby(own["isco"])
            found = variance_components(blocks.sum(), squares.groupby(own["isco"]).sum(), blocks.size())
            rows.append({"kind": kind, "system": run.system, "language": run.language, "role": getattr(run, "role", "metric"),
                         "occupations": blocks.ngroups, "texts": len(own), "mean": mean, **found})
    counts = results.gender_counts
    counts = counts[~counts["subset"].isin(representation.STEERED) & (counts["masculine"] + counts["feminine"] > 0)] if len(counts) else []
    for (source, system, language), own in counts.groupby(["source", "system", "language"], sort=False) if len(counts) else ():
        m, n = own["masculine"], own["masculine"] + own["feminine"]
        rows.append({"kind": "gender_counts", "system": f"{system} ({source})", "language": language, "role": "system",
                     "occupations": len(own), "texts": int(n.sum()), "mean": m.sum() / n.sum(), **variance_components(m, m, n)})
    frame = pd.DataFrame(rows, columns=["kind", "system", "language", "role", "occupations", "texts", "mean", "between", "within", "icc"])
    frame["sd"] = np.sqrt((frame["between"] + frame["within"]).clip(lower=0))
    frame["effect"] = (frame["mean"] / frame["sd"]).where((frame["sd"] > 0) & (frame["kind"] != "gender_counts"))
    frame = frame.merge(results.ranges, on=["system", "language"], how="left")
    frame["sd_pct"] = preference.percent_of_range(frame["sd"], frame.pop("range")) if len(frame) else np.nan
    frame.loc[frame["kind"] != "scores", "sd_pct"] = np.nan
    return frame


def _differences(scores):
    return scores.assign(d=preference.paired_difference(scores["masculine"], scores["feminine"]))


def _error_free_differences(results):
    marks = results.annotations
    fault = marks["instruction_fault"].astype(bool) if results.study.count_instruction_fault else None
    free = preference.error_free(marks["n_errors"].astype(int), marks["omission"].astype(bool), fault).astype(float)
    wide = marks.assign(free=free).pivot(index=["system", "language", "segment_id"], columns="variant", values="free")
    wide = wide.reindex(columns=["masculine", "feminine"])
    return (wide["masculine"] - wide["feminine"]).rename("d").reset_index()


@dataclass(frozen=True)
class Design:
    """What is simulated: sizes and medians of a study's metric runs, and the runs themselves to draw from.

    Attributes
    ----------
    occupations, texts : int
        Unit groups, and texts of each (the smallest number where they differ: the simulated design is balanced).
    icc, effect, base, sd_pct : float
        Medians over the metric runs: intraclass correlation of d; |S| in sd of d; sd of a pair's mean score in sd of d; sd of d in
        percent of the range.
    correlation : float
        Mean correlation of the occupation means of two languages of one evaluator; missing if no evaluator has two.
    icc_systems : float
        Median intraclass correlation of masculine or feminine in the translations of an occupation.
    languages : tuple of int
        Metric runs of each evaluator.
    observed : ndarray, shape (runs, occupations, texts)
        d of the complete metric runs, centred and divided by its standard deviation.
    extremes : ndarray, shape (runs, occupations, 2)
        Highest and lowest score of each occupation, in the same unit.
    errors : ndarray, shape (occupations, runs)
        Error-free differences by occupation, points; `error_names` names the runs.
    """

    occupations: int
    texts: int
    icc: float = 0.0
    effect: float = 0.0
    base: float = 1.0
    sd_pct: float = float("nan")
    correlation: float = float("nan")
    icc_systems: float = 0.0
    languages: tuple = ()
    observed: np.ndarray = field(default_factory=lambda: np.empty((0, 0, 0)))
    extremes: np.ndarray = field(default_factory=lambda: np.empty((0, 0, 2)))
    errors: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    error_names: tuple = ()


def design(results, frame):
    """The design of a study.

    Parameters
    ----------
    results : Results
    frame : DataFrame
        From `components`.

    Returns
    -------
    Design
        Where a study has no run to estimate a correlation from, it is 0 (independent texts).
    """
    sizes = results.pairs.groupby(["language", "isco"]).size()
    n, texts = results.pairs["isco"].nunique(), int(sizes.min())
    runs = frame[(frame["kind"] == "scores") & (frame["role"] == "metric") & (frame["sd"] > 0)]
    scores = _differences(results.scores).merge(results.pairs[["language", "segment_id", "isco"]], on=["language", "segment_id"])
    pools, extremes, spread = [], [], []
    for run in runs.itertuples():
        own = scores[(scores["system"] == run.system) & (scores["language"] == run.language)].sort_values(["isco", "segment_id"])
        spread.append(((own["masculine"] + own["feminine"]) / 2).std() / run.sd)
        own = own.groupby("isco").head(texts)
        if len(own) == n * texts:
            d = own["d"].to_numpy().reshape(n, texts)
            both = own[["masculine", "feminine"]].to_numpy().reshape(n, 2 * texts) / d.std()
            pools.append((d - d.mean()) / d.std())
            extremes.append(np.stack([both.max(axis=1), both.min(axis=1)], axis=1))
    means = results.occupations.pivot(index="isco", columns=["system", "language"], values="signed")
    found = [means[[(s, code) for code in own["language"]]].corr().to_numpy()[np.triu_indices(len(own), 1)]
             for s, own in runs.groupby("system")]
    systems = frame.loc[frame["kind"] == "gender_counts", "icc"].dropna()
    errors = results.error_occupations.assign(d=lambda f: 100 * (f["masculine"] - f["feminine"]))
    errors = errors.pivot(index="isco", columns=["system", "language"], values="d").dropna(axis=1)

    def median(values, otherwise):
        values = values.dropna()
        return float(values.median()) if len(values) else otherwise

    correlations = np.concatenate(found) if found else np.empty(0)
    return Design(
        n, texts, icc=max(0.0, median(runs["icc"], 0.0)), effect=median(runs["effect"].abs(), 0.0), base=median(pd.Series(spread), 1.0),
        sd_pct=median(runs["sd_pct"], float("nan")), correlation=float(correlations.mean()) if len(correlations) else float("nan"),
        icc_systems=max(0.0, median(systems, 0.0)), languages=tuple(runs.groupby("system", sort=False).size()),
        observed=np.array(pools).reshape(-1, n, texts), extremes=np.array(extremes).reshape(-1, n, 2), errors=errors.to_numpy(),
        error_names=tuple(f"{s} ({code.upper()})" for s, code in errors.columns))


# --- populations and their truth ---

def two_level(rng, simulations, occupations, texts, icc, df=None):
    """Simulated differences without an effect: mean 0, variance 1, correlation `icc` between two texts of an occupation.

    Parameters
    ----------
    rng : Generator
    simulations, occupations, texts : int
    icc : float
        From 0 to 1.
    df : int, optional
        Degrees of freedom of the heavy-tailed population; default normal.

    Returns
    -------
    d : ndarray, shape (simulations, occupations, texts)
    u : ndarray, shape (simulations, occupations)
        The occupations' own share, var(u) = icc.
    """
    if not 0 <= icc <= 1 or (df is not None and df <= 2):
        raise InputError(f"an intraclass correlation of {icc} with {df} degrees of freedom has no population",
                         hint="icc lies between 0 and 1; below three degrees of freedom there is no variance")
    u = np.sqrt(icc) * rng.standard_normal((simulations, occupations))
    d = rng.standard_normal((simulations, occupations, texts))
    d *= np.sqrt(1 - icc)
    d += u[:, :, None]
    if df is not None:
        scale = np.sqrt((df - 2) / rng.chisquare(df, (simulations, occupations)))
        d, u = d * scale[:, :, None], u * scale
    return d, u


def folded_mean(mean, scale=1.0, df=None):
    """E|x| of a normal (or Student t, variance `scale`**2) x around `mean`.

    Examples
    --------
    >>> round(folded_mean(0.0), 6), round(folded_mean(3.0, 0.0), 6)
    (0.797885, 3.0)
    """
    if scale == 0:
        return abs(float(mean))
    unit, law = (scale, stats.norm) if df is None else (scale * np.sqrt((df - 2) / df), stats.t(df))
    c = -mean / unit
    tail = law.pdf(c) if df is None else law.pdf(c) * (df + c**2) / (df - 1)
    return float(mean * (1 - 2 * law.cdf(c)) + 2 * unit * tail)


def balance_of(mean, df=None):
    """100 (Pr(x > 0) - Pr(x < 0)) of x as in `folded_mean`, in points."""
    law, unit = (stats.norm, 1.0) if df is None else (stats.t(df), np.sqrt((df - 2) / df))
    return float(100 * (1 - 2 * law.cdf(-mean / unit)))


def share_counts(rng, simulations, groups, texts, p, icc):
    """Masculine texts of each unit group: beta-binomial, a unit group's own share drawn around p.

    Returns
    -------
    masculine : ndarray, shape (groups, simulations)
    own : ndarray, shape (groups, simulations)
        The unit groups' shares; mean p, variance icc p (1 - p).
    """
    shape = (groups, simulations)
    own = np.full(shape, float(p)) if icc == 0 else rng.beta(p * (1 - icc) / icc, (1 - p) * (1 - icc) / icc, shape)
    return rng.binomial(texts, own).astype(float), own


# --- coverage ---

def covered(low, high, truth):
    """Share of intervals that hold the truth, with its 95% Monte Carlo interval (Wilson).

    Examples
    --------
    >>> [round(x, 3) for x in covered(np.zeros(4), np.array([1, 1, 1, 0.2]), 0.5)]
    [0.75, 0.301, 0.954]
    """
    slack = 1e-9 * np.maximum(1, np.abs(truth))                      # a bound that is the truth but for rounding
    held = (low - slack <= truth) & (truth <= high + slack)
    limits = stats.binomtest(int(held.sum()), len(held)).proportion_ci(method="wilson")
    return float(held.mean()), float(limits.low), float(limits.high)


def effective_interval(masculine, both, level=0.95):
    """Interval of a share whose texts come in blocks: Jeffreys on the effective number of texts (after Korn & Graubard 1998).

    The effective number is p (1 - p) over the variance of the share between blocks (linearised ratio), times the squared ratio of t
    quantiles for texts - 1 and blocks - 1 degrees of freedom, never above the number of texts. Where all blocks agree it tells nothing of
    their variance, and the number of blocks stands in: the texts of a block are taken to say the same.

    Parameters
    ----------
    masculine, both : array_like, shape (n_blocks, columns)
        Masculine and all gendered texts of each block, at least two blocks with texts.
    level : float

    Returns
    -------
    (ndarray, ndarray)
        Low and high, shape (columns,); 0 or 1 where all texts agree.
    """
    m, n = np.asarray(masculine, float), np.asarray(both, float)
    blocks, texts = (n > 0).sum(axis=0), n.sum(axis=0)
    if (blocks < 2).any():
        raise InputError("an interval over blocks needs two blocks with texts", hint="A single unit group has a Jeffreys interval on texts")
    p = m.sum(axis=0) / texts
    variance = blocks / (blocks - 1) * ((m - p * n) ** 2).sum(axis=0) / texts**2
    tail = (1 - level) / 2
    quantiles = stats.t.ppf(tail, np.maximum(texts - 1, 1)) / stats.t.ppf(tail, blocks - 1)
    known = variance > 1e-15
    size = np.where(known, p * (1 - p) / np.where(known, variance, 1.0) * quantiles**2, blocks)
    size = np.minimum(size, texts)
    low, high = (stats.beta.ppf(t, p * size + 0.5, (1 - p) * size + 0.5) for t in (tail, 1 - tail))
    return np.where(p == 0, 0.0, low), np.where(p == 1, 1.0, high)


def adjusted_interval(values, level=0.95):
    """Interval of a mean difference of matched rates with few differing blocks (after Agresti & Min 2005).

    Two blocks are added in halves, one that differs fully each way and one that does not; then the usual t interval. It keeps a width where
    no block of the sample differs.

    Parameters
    ----------
    values : ndarray, shape (n_blocks, columns)
        Differences of two rates, from -1 to 1.
    level : float

    Returns
    -------
    (ndarray, ndarray)
        Low and high, shape (columns,), within -1 and 1.
    """
    n = len(values) + 2
    mean, square = values.sum(axis=0) / n, ((values**2).sum(axis=0) + 1) / n
    reach = stats.t.isf((1 - level) / 2, n - 1) * np.sqrt((square - mean**2) / n)
    return np.maximum(mean - reach, -1), np.minimum(mean + reach, 1)


COVERAGE = ["quantity", "design", "effect", "p", "groups", "interval", "truth", "nominal", "coverage", "coverage_low", "coverage_high",
            "width", "flat", "bias", "bias_error", "note"]
AS_STUDIED = ("percentile", "Jeffreys on texts")        # intervals that the study's own tables show; the others stand beside
NOT_STUDIED = "percentile, not the study’s"             # of quantities that the study gives without one, or otherwise


def _rows(quantity, where, truth, estimate, intervals, level, note="", **more):
    """One row an interval; `truth` is one value or one for each simulation."""
    error = estimate - truth
    shared = {"quantity": quantity, "design": where, "truth": float(np.mean(truth)), "nominal": level, "bias": float(error.mean()),
              "bias_error": float(1.96 * error.std(ddof=1) / np.sqrt(len(error))), "note": note, **more}
    for name, (low, high) in intervals.items():
        rate, *limits = covered(low, high, truth)
        yield {**shared, "interval": name, "coverage": rate, "coverage_low": limits[0], "coverage_high": limits[1],
               "width": float(np.mean(high - low)), "flat": float(np.mean(high - low < 1e-9))}


def mean_intervals(values, counts, level, transform=None, name="percentile"):
    """Estimate, percentile and BCa interval of means over blocks.

    Parameters
    ----------
    values : ndarray, shape (n_blocks, simulations)
    counts : ndarray, shape (replicates, n_blocks)
    level : float
    transform : callable, optional
        Of the mean, like `np.abs`.
    name : str
        Of the percentile interval.

    Returns
    -------
    estimate : ndarray, shape (simulations,)
    intervals : dict of (ndarray, ndarray)
    """
    change = transform or (lambda x: x)
    drawn, estimate = change(inference.bootstrap_means(values, counts)), change(values.mean(axis=0))
    bca = inference.bca_interval(drawn, estimate, change(inference.leave_one_out(values)), level)
    return estimate, {name: inference.percentile_interval(drawn, level), "BCa": bca}


def evaluator_coverage(plan, *, simulations, replicates, seed, level):
    """Coverage of the occupation-block bootstrap for S, A, balance, |S| and the mean absolute occupation mean, simulated.

    Parameters
    ----------
    plan : Design
    simulations, replicates, seed : int
    level : float

    Returns
    -------
    DataFrame
        `COVERAGE`, one row a quantity, population, effect (S in sd of d) and interval. Quantities are in sd of d, balance in points.
    """
    n = plan.occupations
    rng, counts = np.random.default_rng([seed, 1]), inference.resample_counts(n, replicates, seed)
    rows = []
    for population in POPULATIONS[: None if len(plan.observed) else -1]:
        df = DF if population == "heavy tails" else None
        if population == "observed":
            run = np.arange(simulations) % len(plan.observed)
            null, own = plan.observed[run[:, None], rng.integers(0, n, (simulations, n))], None
        else:
            null, own = two_level(rng, simulations, n, plan.texts, plan.icc, df)
        for effect in dict.fromkeys((0.0, plan.effect)):
            d, more = null + effect, {"effect": effect, "level": level}
            if own is None:
                pool = plan.observed + effect
                truth = {"A": np.abs(pool).mean(axis=(1, 2))[run], "balance": 100 * np.sign(pool).mean(axis=(1, 2))[run]}
            else:
                truth = {"A": folded_mean(effect, 1.0, df), "balance": balance_of(effect, df)}
            means = d.mean(axis=2).T
            for name, values, target in (("S", means, effect), ("A", np.abs(d).mean(axis=2).T, truth["A"]),
                                         ("balance", 100 * np.sign(d).mean(axis=2).T, truth["balance"])):
                estimate, found = mean_intervals(values, counts, level)
                rows += _rows(name, population, target, estimate, found, **more)
                if name == "S" and population == "normal":
                    rows += _rows("S, same occupations", population, effect + own.mean(axis=1), estimate, found, **more,
                                  note="target: the mean over the very occupations of the set, other texts")
            rows += _rows("|S|", population, abs(effect), *mean_intervals(means, counts, level, np.abs, NOT_STUDIED), **more)
            if own is not None:
                target = folded_mean(effect, np.sqrt(plan.icc), df)
                rows += _rows("mean |occupation mean|", population, target, *mean_intervals(np.abs(means), counts, level, name=NOT_STUDIED),
                              **more, note="target: the same with texts without end")
    return pd.DataFrame(rows, columns=COVERAGE)


def range_coverage(plan, *, simulations, replicates, seed, level):
    """Coverage for S% = 100 S / R, the range held fixed (as in the study) or found again in every replicate, simulated.

    R is that of the simulated run (`range: run`). Where a study takes it over all languages of an evaluator, it is another R, with another
    chance in it, that is not simulated.

    Parameters
    ----------
    plan, simulations, replicates, seed, level
        As in `evaluator_coverage`.

    Returns
    -------
    DataFrame
        `COVERAGE`. Targets: S in units of the range that the sample happened to have; S in units of the range expected of a sample of
        this size.
    """
    n, effect = plan.occupations, plan.effect
    rng, counts = np.random.default_rng([seed, 2]), inference.resample_counts(n, replicates, seed)
    rows = []
    for population in ("normal", "observed")[: 2 if len(plan.observed) else 1]:
        if population == "observed":
            run, drawn = np.arange(simulations) % len(plan.observed), rng.integers(0, n, (simulations, n))
            d = plan.observed[run[:, None], drawn].mean(axis=2) + effect
            top, bottom = np.moveaxis(plan.extremes[run[:, None], drawn], 2, 0)
        else:
            run = np.zeros(simulations, int)
            d = two_level(rng, simulations, n, plan.texts, plan.icc)[0] + effect
            middle = plan.base * rng.standard_normal(d.shape)
            top, bottom = (middle + np.abs(d) / 2).max(axis=2), (middle - np.abs(d) / 2).min(axis=2)
            d = d.mean(axis=2)
        width = top.max(axis=1) - bottom.min(axis=1)
        usual = (np.bincount(run, width) / np.bincount(run))[run]
        low, high = (100 * x / width for x in inference.percentile_interval(inference.bootstrap_means(d.T, counts), level))
        again = 100 * inference.bootstrap_means(d.T, counts) / (_highest(top, counts) + _highest(-bottom, counts))
        estimate = 100 * d.mean(axis=1) / width
        kept, again = {"percentile": (low, high)}, {NOT_STUDIED: inference.percentile_interval(again, level)}
        for name, target, found, note in (
                ("S%, R fixed", width, kept, "R of one run; target: S in units of the range the sample happened to have"),
                ("S%, R fixed, usual R", usual, kept, "R of one run; target: S in units of the range expected of such a sample"),
                ("S%, R found again", usual, again,
                 "R of one run, from every replicate; target: S in units of the range expected of such a sample")):
            rows += _rows(name, population, 100 * effect / target, estimate, found, level, note, effect=effect)
    return pd.DataFrame(rows, columns=COVERAGE)


def _highest(values, counts, first=40):
    """Largest value among the drawn blocks, shape (replicates, simulations); `values` is (simulations, n_blocks).

    The largest drawn is among the `first` largest of all, but for a chance of (1 - first / n)**n.
    """
    order = np.argsort(-values, axis=1, kind="stable")[:, :first]
    there = counts > 0
    result = np.empty((len(counts), len(values)))
    for k, own in enumerate(order):
        result[:, k] = values[k, own[there[:, own].argmax(axis=1)]]
    return result


def error_coverage(plan, *, simulations, replicates, seed, level):
    """Coverage for the error-free difference: occupations drawn from real annotation runs, simulated.

    Three runs: those with the fewest, the median and the most occupations whose two variants differ.

    Parameters
    ----------
    plan, simulations, replicates, seed, level
        As in `evaluator_coverage`.

    Returns
    -------
    DataFrame
        `COVERAGE`, in points.
    """
    rng, counts = np.random.default_rng([seed, 3]), inference.resample_counts(len(plan.errors), replicates, seed)
    differing = (plan.errors != 0).sum(axis=0)
    order = np.argsort(differing, kind="stable")
    rows = []
    for k in dict.fromkeys(order[[0, len(order) // 2, -1]]) if len(order) else ():
        values = plan.errors[rng.integers(0, len(plan.errors), (len(plan.errors), simulations)), k]
        estimate, found = mean_intervals(values, counts, level)
        found["Agresti–Min"] = [100 * x for x in adjusted_interval(values / 100, level)]
        rows += _rows("error-free difference", f"observed, {plan.error_names[k]}", plan.errors[:, k].mean(), estimate, found, level,
                      f"{differing[k]} of {len(plan.errors)} occupations differ")
    return pd.DataFrame(rows, columns=COVERAGE)


def system_coverage(plan, *, simulations, replicates, seed, level):
    """Coverage for nGPD of groups of unit groups, beta-binomial texts, simulated.

    Parameters
    ----------
    plan, simulations, replicates, seed, level
        As in `evaluator_coverage`.

    Returns
    -------
    DataFrame
        `COVERAGE`. From `representation.MANY` unit groups: percentile as the study has it, BCa, Jeffreys on effective texts. Below:
        Jeffreys on texts as the study has it, and on effective texts. Designs: unit groups redrawn; below `MANY` also the same unit
        groups, other texts.
    """
    rng, texts, rows = np.random.default_rng([seed, 4]), plan.texts, []
    for groups in sorted({1, *(g for g in UNIT_GROUPS if g < plan.occupations), plan.occupations}):
        both = np.full((groups, simulations), float(texts))
        counts = inference.resample_counts(groups, replicates, seed)
        n = groups * texts
        lookup = np.stack(representation.jeffreys(np.arange(n + 1), n, level)) if groups < representation.MANY else None
        for p in SHARES:
            m, own = share_counts(rng, simulations, groups, texts, p, plan.icc_systems)
            estimate = 2 * m.sum(axis=0) / both.sum(axis=0) - 1
            found = {}
            if lookup is None:
                drawn = inference.ratio_means(m, both, counts)
                bca = inference.bca_interval(drawn, m.sum(axis=0) / both.sum(axis=0),
                                             (m.sum(axis=0) - m) / (both.sum(axis=0) - both), level)
                found = {"percentile": inference.percentile_interval(drawn, level), "BCa": bca}
            else:
                found["Jeffreys on texts"] = lookup[:, m.sum(axis=0).astype(int)]
            if groups > 1:
                found["Jeffreys on effective texts"] = effective_interval(m, both, level)
            found = {name: (2 * low - 1, 2 * high - 1) for name, (low, high) in found.items()}
            more = {"p": p, "groups": groups, "level": level}
            if groups > 1:
                rows += _rows("nGPD", "unit groups redrawn", 2 * p - 1, estimate, found, **more)
            if lookup is not None:
                rows += _rows("nGPD", "same unit groups", 2 * own.mean(axis=0) - 1, estimate, found, **more)
    return pd.DataFrame(rows, columns=COVERAGE).sort_values(["design", "p", "groups"], ascending=[False, True, True], kind="stable",
                                                            ignore_index=True)


# --- false discoveries ---

def t_statistics(rng, simulations, languages, occupations, correlation=0.0, effects=0.0):
    """t-statistics of normal occupation means, exactly distributed, without drawing the means themselves.

    The mean vector of an evaluator's runs is normal and their covariance Wishart (Bartlett's decomposition); the runs of one evaluator are
    equally correlated, those of different evaluators independent.

    Parameters
    ----------
    rng : Generator
    simulations : int
    languages : sequence of int
        Runs of each evaluator.
    occupations : int
    correlation : float
        Between occupation means of two runs of one evaluator.
    effects : array_like, shape (simulations, runs) or scalar
        True mean in sd of an occupation mean.

    Returns
    -------
    ndarray, shape (simulations, runs)
    """
    df, parts = occupations - 1, []
    for size, times in zip(*np.unique(languages, return_counts=True)):
        root = np.linalg.cholesky(np.full((size, size), correlation) + (1 - correlation) * np.eye(size))
        lower = np.tril(rng.standard_normal((simulations, times, size, size)), -1)
        lower[..., range(size), range(size)] = np.sqrt(rng.chisquare(df - np.arange(size), (simulations, times, size)))
        variance = ((root @ lower) ** 2).sum(axis=3) / df
        parts.append(((rng.standard_normal((simulations, times, size)) @ root.T), variance))
    mean, variance = (np.concatenate([part[i].reshape(simulations, -1) for part in parts], axis=1) for i in (0, 1))
    return (mean + np.sqrt(occupations) * np.asarray(effects)) / np.sqrt(variance)


def discoveries(t, df, effects, q):
    """False discovery proportion and share of effects found by Benjamini-Hochberg, for each family.

    Parameters
    ----------
    t : ndarray, shape (families, runs)
    df : int
    effects : ndarray of bool, shape (families, runs)
    q : float

    Returns
    -------
    proportion, found : ndarray, shape (families,)
        False over all discoveries, 0 where there are none; share of the effects found, missing where there are none.
    """
    chosen = stats.false_discovery_control(2 * stats.t.sf(np.abs(t), df), axis=1) <= q
    false = (chosen & ~effects).sum(axis=1)
    many = effects.sum(axis=1)
    return false / np.maximum(chosen.sum(axis=1), 1), np.divide((chosen & effects).sum(axis=1), many, out=np.full(len(t), np.nan),
                                                               where=many > 0)


FDR = ["family", "runs", "dependence", "correlation", "with_effect", "effect", "q", "bound", "fdr", "fdr_low", "fdr_high", "found",
       "simulations"]


def fdr(plan, runs, *, simulations, seed, q):
    """False discovery rate of Benjamini-Hochberg, simulated, for the study's own family and one of `runs`.

    Parameters
    ----------
    plan : Design
    runs : int
        Size of the larger family (the metrics paper's); evaluators with as many runs as the largest of the study.
    simulations, seed : int
    q : float

    Returns
    -------
    DataFrame
        `FDR`. dependence: independent; correlated (languages of one evaluator); observed (occupations drawn for all complete runs
        together). with_effect: number of runs with a true S of `effect` sd of d (that which a large family finds with 80% power), drawn
        anew in every simulation. bound: q times the share without. fdr with its 95% Monte Carlo interval.
    """
    rng = np.random.default_rng([seed, 5])
    size = max(plan.languages, default=1)
    families = {"study": plan.languages, "paper": (size,) * (runs // size) + ((runs % size,) if runs % size else ())}
    effect = smallest_effect(plan.occupations, plan.texts, plan.icc, bh_alpha(q))
    unit = effect / np.sqrt(mean_variance(plan.texts, plan.icc))
    rows = []
    for family, languages in families.items():
        total = sum(languages)
        kinds = {"independent": 0.0, "correlated": plan.correlation, "observed": float("nan")}
        if not plan.correlation > 0:
            del kinds["correlated"]
        if family == "paper" or not len(plan.observed) == total:
            del kinds["observed"]
        for dependence, correlation in kinds.items() if total else ():
            for many in (0, max(1, round(SHARE * total))):
                effects = rng.permuted(np.broadcast_to(np.arange(total) < many, (simulations, total)), axis=1)
                if dependence == "observed":
                    counts = inference.counts_of(rng.integers(0, plan.occupations, (simulations, plan.occupations)), plan.occupations)
                    values = plan.observed.mean(axis=2).T
                    mean, square = counts @ values / plan.occupations, counts @ values**2 / plan.occupations
                    error = np.sqrt((square - mean**2) / (plan.occupations - 1))
                    t = (mean + effect * effects) / error
                else:
                    t = t_statistics(rng, simulations, languages, plan.occupations, correlation, unit * effects)
                proportion, found = discoveries(t, plan.occupations - 1, effects, q)
                error = 1.96 * proportion.std(ddof=1) / np.sqrt(simulations)
                rows.append({"family": family, "runs": total, "dependence": dependence, "correlation": correlation, "with_effect": many,
                             "effect": effect if many else 0.0, "q": q, "bound": q * (total - many) / total, "fdr": proportion.mean(),
                             "fdr_low": max(0.0, proportion.mean() - error), "fdr_high": proportion.mean() + error,
                             "found": found.mean() if many else np.nan, "simulations": simulations})
    return pd.DataFrame(rows, columns=FDR)


def paper_runs():
    """Number of runs of the metrics paper, from data/published/metrics_paper.csv."""
    return int(published.read().at[PAPER_RUNS, "value"])


# --- power ---

def mean_variance(texts, icc):
    """Variance of an occupation mean over `texts` texts, in units of var(d): icc + (1 - icc) / texts."""
    return icc + (1 - icc) / texts


def power(effect, occupations, texts, icc, alpha):
    """Power of the two-sided t-test on occupation means for a true S of `effect` sd of d (noncentral t).

    Examples
    --------
    >>> round(float(power(0.0, 436, 3, 0.3, 0.05)), 6)
    0.05
    """
    df, shift = occupations - 1, np.asarray(effect, float) * np.sqrt(occupations / mean_variance(texts, icc))
    bound, shift = stats.t.isf(alpha / 2, df), np.abs(shift)
    return stats.nct.sf(bound, df, shift) + np.nan_to_num(stats.nct.cdf(-bound, df, shift))     # scipy: NaN where it is below 1e-14


def smallest_effect(occupations, texts, icc, alpha, wanted=POWER):
    """Smallest |S|, in sd of d, that the t-test finds with probability `wanted`."""
    unit, top = np.sqrt(mean_variance(texts, icc) / occupations), 8.0
    while power(top * unit, occupations, texts, icc, alpha) < wanted:
        top *= 2
    return float(optimize.brentq(lambda x: power(x * unit, occupations, texts, icc, alpha) - wanted, 0, top, xtol=1e-12) * unit)


def bh_alpha(q, share=SHARE, wanted=POWER):
    """The p-value up to which Benjamini-Hochberg rejects in a large family where `share` of the runs have an effect that is found with
    probability `wanted`: the solution of a = q [(1 - share) a + share wanted] (Genovese & Wasserman 2002).

    Examples
    --------
    >>> round(bh_alpha(0.05), 6)
    0.004188
    """
    return q * share * wanted / (1 - q * (1 - share))


def power_table(plan, runs, *, simulations, seed, q):
    """Smallest S found with 80% probability, by formula, and how often simulated runs with that S are found.

    Parameters
    ----------
    plan : Design
    runs : int
        Family size for the strictest level, q / runs: a single effect in the family.
    simulations, seed : int
    q : float
        Also the unadjusted level.

    Returns
    -------
    table : DataFrame
        texts, level, alpha, smallest (sd of d), smallest_pct (percent of the median run's range), and for each population the simulated
        power with its 95% Monte Carlo interval (missing where a real run has not that many texts).
    curve : DataFrame
        texts, level, effect, formula, simulated (normal).
    """
    rng, n = np.random.default_rng([seed, 6]), plan.occupations
    levels = {"unadjusted": q, "BH, 10% with effect": bh_alpha(q), "BH, single effect": q / max(runs, 1)}
    rows, points = [], []
    for texts in sorted({1, plan.texts, MANY_TEXTS}):
        moments = {}
        for population in POPULATIONS:
            if population == "observed":
                if texts > plan.texts or not len(plan.observed):
                    continue
                run = np.arange(simulations) % len(plan.observed)
                d = plan.observed[run[:, None], rng.integers(0, n, (simulations, n))]
                d = rng.permuted(d, axis=2)[:, :, :texts] if texts < plan.texts else d
            else:
                d = two_level(rng, simulations, n, texts, plan.icc, DF if population == "heavy tails" else None)[0]
            means = d.mean(axis=2)
            moments[population] = means.mean(axis=1), means.std(axis=1, ddof=1) / np.sqrt(n)
        for level, alpha in levels.items():
            bound = stats.t.isf(alpha / 2, n - 1)
            smallest = smallest_effect(n, texts, plan.icc, alpha)
            row = {"texts": texts, "level": level, "alpha": alpha, "smallest": smallest, "smallest_pct": smallest * plan.sd_pct}
            for population in POPULATIONS:
                key = population.replace(" ", "_")
                found = [np.nan] * 3
                if population in moments:
                    mean, error = moments[population]
                    found = covered(np.zeros(simulations), np.where(np.abs(mean + smallest) > bound * error, 1.0, -1.0), 0.5)
                row |= dict(zip((key, f"{key}_low", f"{key}_high"), found))
            rows.append(row)
            mean, error = moments["normal"]
            for effect in np.linspace(0, 2, 41) * smallest_effect(n, 1, plan.icc, q):
                points.append({"texts": texts, "level": level, "effect": effect, "formula": float(power(effect, n, texts, plan.icc, alpha)),
                               "simulated": float((np.abs(mean + effect) > bound * error).mean())})
    return pd.DataFrame(rows), pd.DataFrame(points)


def calibrate(study, plan, frame, *, simulations, replicates, families):
    """All of the above for one study.

    Parameters
    ----------
    study : Study
        Gives q, level and seed.
    plan : Design
    frame : DataFrame
        From `components`.
    simulations, replicates, families : int
        As in `write`.

    Returns
    -------
    frames : dict of DataFrame
        components, calibration, fdr, power.
    curve : DataFrame
        As in `power_table`.
    """
    given = {"simulations": simulations, "replicates": replicates, "seed": study.seed, "level": study.level}
    parts = [part(plan, **given) for part in (evaluator_coverage, range_coverage, error_coverage, system_coverage)]
    runs = paper_runs()
    table, curve = power_table(plan, runs, simulations=simulations, seed=study.seed, q=study.q)
    return {"components": frame, "calibration": pd.concat([p for p in parts if len(p)], ignore_index=True),
            "fdr": fdr(plan, runs, simulations=families, seed=study.seed, q=study.q), "power": table}, curve


# --- tables and words ---

def components_printed(frame):
    """`components` as printed; runs with one text an occupation, or without any difference, have no correlation and are left out."""
    shown = frame[frame["icc"].notna()]
    names = {"scores": "d of scores", "annotations": "error-free, m − f", "gender_counts": "masculine or not"}
    return pd.DataFrame({
        "Run": [f"{s} ({code.upper()})" for s, code in zip(shown["system"], shown["language"])], "Values": shown["kind"].map(names),
        "Role": shown["role"], "occupations": shown["occupations"], "texts": shown["texts"],
        "mean": shown["mean"].map(tables.significant_digits), "sd": shown["sd"].map(tables.significant_digits),
        "intraclass correlation": shown["icc"].map(fixed), "mean / sd": shown["effect"].map(fixed),
        "sd, % of range": shown["sd_pct"].map(fixed)})


def coverage_printed(frame):
    """Coverage as printed: one row a quantity and design, the study's own interval first."""
    rows = []
    for key, own in frame.groupby(["quantity", "design", "effect", "p", "groups"], sort=False, dropna=False):
        first, texts = own.iloc[0], {}
        for row in own.itertuples():
            column = "as in the study" if row.interval in AS_STUDIED else row.interval
            texts[column] = f"{fixed(100 * row.coverage, 1)} [{fixed(100 * row.coverage_low, 1)}, {fixed(100 * row.coverage_high, 1)}]"
        other = own[~own["interval"].isin(AS_STUDIED)]
        rows.append({
            "Quantity": key[0], "Simulated population": key[1], "true S (sd of d)": fixed(key[2]), "p": fixed(key[3]),
            "unit groups": ABSENT if pd.isna(key[4]) else f"{key[4]:g}", "truth": fixed(first["truth"], 3),
            "bias": f"{fixed(first['bias'], 3)} ± {fixed(first['bias_error'], 3)}", "as in the study": texts.get("as in the study", ABSENT),
            NOT_STUDIED: texts.get(NOT_STUDIED, ABSENT), "BCa": texts.get("BCa", ABSENT), "Agresti–Min or effective texts":
            texts.get("Agresti–Min", texts.get("Jeffreys on effective texts", ABSENT)),
            "widths": " / ".join(fixed(w, 3) for w in [*own.loc[own["interval"].isin(AS_STUDIED), "width"], *other["width"]])})
    return pd.DataFrame(rows)


def fdr_printed(frame):
    """False discovery rates as printed."""
    return pd.DataFrame({
        "Simulated family": [f"{r} runs" + (" (this study)" if f == "study" else "") for f, r in zip(frame["family"], frame["runs"])],
        "runs of one evaluator": [d if pd.isna(c) or not c else f"{d}, r = {fixed(c)}"
                                  for d, c in zip(frame["dependence"], frame["correlation"])],
        "with effect": frame["with_effect"], "true S (sd of d)": frame["effect"].map(lambda x: fixed(x, 3)),
        "q × share without": frame["bound"].map(lambda x: fixed(x, 4)),
        "false discovery rate": [f"{fixed(v, 4)} [{fixed(lo, 4)}, {fixed(hi, 4)}]" for v, lo, hi in
                                 zip(frame["fdr"], frame["fdr_low"], frame["fdr_high"])],
        "effects found": frame["found"].map(lambda x: ABSENT if pd.isna(x) else f"{fixed(100 * x, 1)} %")})


def power_printed(frame):
    """Smallest effects as printed."""
    def cell(row, key):
        low, high = row[f"{key}_low"], row[f"{key}_high"]
        return ABSENT if pd.isna(row[key]) else f"{fixed(100 * row[key], 1)} [{fixed(100 * low, 1)}, {fixed(100 * high, 1)}]"
    keys = [p.replace(" ", "_") for p in POPULATIONS]
    return pd.DataFrame([{"texts an occupation": row["texts"], "Level": row["level"], "α": f"{row['alpha']:.2g}",
                          "smallest S (sd of d)": fixed(row["smallest"], 3), "as S%": fixed(row["smallest_pct"]),
                          **{f"found, simulated {p} (%)": cell(row, k) for p, k in zip(POPULATIONS, keys)}} for _, row in frame.iterrows()])


def write(study, plan, frames, *, simulations, replicates, families):
    """Write the tables of the calibration.

    Parameters
    ----------
    study : Study
    plan : Design
    frames : dict of DataFrame
        components, calibration, fdr, power.
    simulations, replicates, families : int
        As used: samples and bootstrap replicates of the coverage study, families of the false discovery study.

    Returns
    -------
    dict of str
        Markdown of each table, by its name.
    """
    seed, level = f"seed {study.seed}", f"{100 * study.level:g}%"
    other = " (range: run), not over all languages of an evaluator as in the study" if study.range == "evaluator" else ""
    captions = {
        "components": (components_printed, (
            "One-way random-effects analysis of variance of every run, by the method of moments. The metric runs' medians are what is "
            f"simulated: intraclass correlation {fixed(plan.icc)}, |S| {fixed(plan.effect)} sd of d; of the translations "
            f"{fixed(plan.icc_systems)}; correlation between the languages of one evaluator {fixed(plan.correlation)}.")),
        "calibration": (coverage_printed, (
            f"SIMULATED. Coverage (%, with 95% Monte Carlo interval) of {level} intervals for the value of a super-population from which "
            f"occupations and texts are drawn anew: {plan.occupations} occupations × {plan.texts} texts, {simulations} samples, "
            f"{replicates} bootstrap replicates, {seed}. As in the study: percentile over occupations; nGPD below {representation.MANY} "
            "unit groups: Jeffreys on texts. Not the study’s: intervals of |S| and of the mean |occupation mean|, R found again. S%: R of "
            f"a single run{other}. S, A in sd of d, balance and error-free difference in points. Widths: means, in the order of the "
            "columns.")),
        "fdr": (fdr_printed, (
            f"SIMULATED. False discovery rate (with 95% Monte Carlo interval) of Benjamini–Hochberg at q = {study.q:g}: "
            f"{families} families, t-tests on {plan.occupations} occupation means, {seed}. Observed: occupations of this study drawn "
            "for all its runs together.")),
        "power": (power_printed, (
            f"SIMULATED beside the formula. Smallest |S| that the t-test on {plan.occupations} occupation means finds with "
            f"{100 * POWER:g} % probability (noncentral t), at α = {study.q:g} and at the levels of Benjamini–Hochberg: a large family "
            f"with {100 * SHARE:g} % of runs with effect; a single effect among the metrics paper's runs. Intraclass correlation "
            f"{fixed(plan.icc)}. Found: share of {simulations} simulated runs with that S (with 95% Monte Carlo interval), {seed}."))}
    pages = {}
    for name, (printer, caption) in captions.items():
        printed = printer(frames[name])
        tables.write(study, f"joint_{name}", frames[name], printed, caption)
        pages[f"joint_{name}"] = tables.markdown(printed, caption)
    return pages


def beside(study, sizes):
    """The study, with its tables and figures under its results unless it is simulated in the sizes of the committed ones (`SIZES`)."""
    return replace(study, publish=study.publish and sizes == SIZES)


def findings(folder):
    """What the calibration found, in sentences built from the tables alone.

    Parameters
    ----------
    folder : Path
        Holds joint_calibration.csv, joint_fdr.csv, joint_power.csv.

    Returns
    -------
    str
        Markdown: a list of at most four entries. Everything in it is simulated, and says so.
    """
    text = ("quantity", "design", "interval", "note", "family", "dependence", "level")
    frames = [tables.read_csv(folder / f"joint_{name}.csv") for name in ("fdr", "calibration", "power")]
    rates, held, found = (f.assign(**{c: pd.to_numeric(f[c]) for c in f.columns if c not in text}) for f in frames)
    parts = (_fdr_sentence(rates), _coverage_sentence(held), _absolute_sentence(held), _power_sentence(found))
    return "\n".join(f"- {part}" for part in parts if part)


def _between(values, decimals, unit=""):
    low, high = (fixed(x, decimals) for x in (min(values), max(values)))
    return f"{low}{unit}" if low == high else f"{low} to {high}{unit}"


def _fdr_sentence(rates):
    if not len(rates):
        return ""
    q, wider = rates["q"].iloc[0], stats.norm.isf(0.025 / len(rates)) / stats.norm.isf(0.025)     # 95 % over all designs together
    above = rates["fdr"] - wider * (rates["fdr"] - rates["fdr_low"]) > rates["q"]
    kept = "stay at or below q within Monte Carlo error" if not above.any() else f"exceed q in {above.sum()} of {len(rates)} designs"
    shape = ", independent or correlated as the languages of one evaluator are" if (rates["dependence"] != "independent").any() else ""
    families = " and ".join(f"{n:g} runs (none or {own['with_effect'].max():g} with an effect)"
                            for n, own in rates.groupby("runs", sort=False))
    return (f"**False discoveries {kept}** (simulated): Benjamini–Hochberg at q = {q:g} gives rates of {_between(rates['fdr'], 3)} in "
            f"families of {families}{shape}.")


def _coverage_sentence(held):
    own = held[held["interval"].isin(AS_STUDIED)]
    means = own[own["quantity"].isin(["S", "A", "balance"])]
    text = (f"**The {100 * own['nominal'].iloc[0]:g}% intervals** hold the value of a simulated super-population of occupations and texts "
            f"in {_between(100 * means['coverage'], 1)} % of samples for S, A and balance")
    error = 100 * (means["coverage_high"] - means["coverage_low"]).max() / 2
    text += f" (Monte Carlo error up to ± {fixed(error, 1)})"
    errors = own[own["quantity"] == "error-free difference"]
    if len(errors):
        lowest = errors.sort_values("coverage", kind="stable").iloc[0]
        text += f", in {_between(100 * errors['coverage'], 1)} % for the error-free difference (lowest where {lowest['note']})"
    usual = own[own["quantity"] == "S%, R fixed, usual R"]
    text += (f", in {_between(100 * usual['coverage'], 1)} % for S% if the chance in R, which is held fixed, is to be covered too (R of a "
             "single run, as with `range: run`; R over all languages of an evaluator was not simulated)")
    systems = held[(held["quantity"] == "nGPD") & (held["design"] == "unit groups redrawn") & (held["groups"] >= representation.MANY)]
    percentile, better = (systems[systems["interval"] == name] for name in ("percentile", "Jeffreys on effective texts"))
    largest = percentile["groups"] == percentile["groups"].max()
    text += f". For nGPD of {percentile['groups'].max():g} unit groups it is {_between(100 * percentile.loc[largest, 'coverage'], 1)} %"
    if not largest.all():
        worst = percentile[~largest].sort_values("coverage", kind="stable").iloc[0]
        text += (f", for fewer down to {fixed(100 * worst['coverage'], 1)} % ({worst['groups']:g} unit groups, p = {worst['p']:g}: in "
                 f"{fixed(100 * worst['flat'], 1)} % of the samples all unit groups agree, and the percentile interval has no width); "
                 f"Jeffreys on the effective number of texts holds {_between(100 * better['coverage'], 1)} % over all these sizes")
    return text + "."


def _absolute_sentence(held):
    null = held[(held["design"] == "normal") & (held["effect"] == 0)].drop_duplicates("quantity").set_index("quantity")
    a, occupation, s = (null.loc[name] for name in ("A", "mean |occupation mean|", "|S|"))
    biased = "is unbiased" if abs(a["bias"]) <= 2 * a["bias_error"] else "is biased"
    return (f"**A {biased}, but it is not 0 where nothing is preferred** (simulated): it differs from the mean |d| of the "
            f"super-population by {fixed(a['bias'], 3)} ± {fixed(a['bias_error'], 3)} sd of d, and with S = 0 that mean is "
            f"{fixed(a['truth'])} sd. What is biased upward near zero are absolute values of means: |S| by {fixed(s['bias'], 3)} sd, the "
            f"mean |occupation mean| by {fixed(occupation['bias'], 3)} sd.")


def _power_sentence(found):
    levels, parts = list(dict.fromkeys(found["level"])), []
    for texts, own in found.groupby("texts"):
        low, high = own.set_index("level").loc[levels[:2], "smallest"]
        parts.append(f"{fixed(low, 3)} ({fixed(high, 3)}) with {texts:g} text{'s' * (texts != 1)} an occupation")
    simulated = found[[p.replace(" ", "_") for p in POPULATIONS]].to_numpy(float)
    return (f"**Power.** The smallest |S| found with {100 * POWER:g} % probability at α = {found['alpha'].iloc[0]:g} (in brackets at "
            f"the level of Benjamini–Hochberg where {100 * SHARE:g} % of the runs have an effect), in sd of d: {', '.join(parts)}. "
            f"Simulated runs with that S are found in {_between(100 * simulated[~np.isnan(simulated)], 1)} % of cases.")
