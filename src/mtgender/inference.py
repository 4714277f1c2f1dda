"""Uncertainty: occupation-block bootstrap, t-test on occupation means, Benjamini-Hochberg.

The bootstrap resamples occupations, all pairs and all languages of an occupation together, with the same resamples for every
run. Written as a matrix of counts (replicates x occupations) it is one product with the data of all runs. Its intervals tell the
sensitivity to how occupations are weighted; they do not speak of new texts. The normalising range is held fixed.
"""

from __future__ import annotations

import hashlib
from dataclasses import fields

import numpy as np
import pandas as pd
from scipy import special, stats

from mtgender import data, preference
from mtgender.study import InputError, file_name
from mtgender.study import load as load_study

EQUAL = 1e-12  # occupation means whose sd is below this share of the largest are one value


def resample_counts(n_blocks, replicates, seed):
    """How often each block is drawn in each replicate.

    Parameters
    ----------
    n_blocks, replicates, seed : int

    Returns
    -------
    ndarray, shape (replicates, n_blocks), float64
        Each row sums to `n_blocks`.
    """
    return counts_of(np.random.default_rng(seed).integers(0, n_blocks, (replicates, n_blocks)), n_blocks)


def counts_of(indices, n_blocks):
    """The count matrix of given resampling indices, shape (replicates, draws)."""
    replicates = len(indices)
    flat = indices + n_blocks * np.arange(replicates)[:, None]
    return np.bincount(flat.ravel(), minlength=replicates * n_blocks).reshape(replicates, n_blocks).astype(float)


def bootstrap_means(values, counts):
    """Mean over the drawn blocks, for every replicate and column.

    Parameters
    ----------
    values : ndarray, shape (n_blocks, columns)
        Block means; NaN where a column lacks the block (a partial run), which then does not count for that column.
    counts : ndarray, shape (replicates, n_blocks)

    Returns
    -------
    ndarray, shape (replicates, columns)
    """
    values = np.asarray(values, float)
    missing = np.isnan(values)
    if not missing.any():
        return counts @ values / counts.sum(axis=1, keepdims=True)
    return ratio_means(np.where(missing, 0, values), ~missing, counts)


def ratio_means(sums, sizes, counts):
    """(counts * sums) / (counts * sizes): means over pairs when blocks differ in size.

    Parameters
    ----------
    sums, sizes : array_like, shape (n_blocks, columns)
        Sum over the pairs of a block, and their number.
    counts : ndarray, shape (replicates, n_blocks)

    Returns
    -------
    ndarray, shape (replicates, columns)
    """
    total = counts @ np.asarray(sizes, float)
    return np.divide(counts @ np.asarray(sums, float), total, out=np.full(total.shape, np.nan), where=total > 0)


def percentile_interval(replicates, level=0.95):
    """Percentile interval of bootstrap replicates.

    Parameters
    ----------
    replicates : ndarray, shape (replicates, columns)
    level : float

    Returns
    -------
    (ndarray, ndarray)
        Low and high, shape (columns,); linear between order statistics, as numpy, scipy and arch have it.
    """
    return tuple(np.quantile(replicates, [(1 - level) / 2, (1 + level) / 2], axis=0))


def bca_interval(replicates, estimate, jackknife, level=0.95):
    """Bias-corrected and accelerated interval (Efron 1987) of bootstrap replicates, beside the percentile one.

    Parameters
    ----------
    replicates : ndarray, shape (replicates, columns)
    estimate : ndarray, shape (columns,)
        From the sample itself.
    jackknife : ndarray, shape (n_blocks, columns)
        The estimate with one block left out; for means see `leave_one_out`.
    level : float

    Returns
    -------
    (ndarray, ndarray)
        Low and high, shape (columns,), linear between order statistics. Where the correction is undefined (all replicates equal, or all
        on one side of the estimate) the percentile interval stands in its place.
    """
    drawn, ends = np.sort(replicates, axis=0), np.array([(1 - level) / 2, (1 + level) / 2])
    slack = EQUAL * np.abs(drawn).max(axis=0)                        # equal values that a sum has rounded apart
    below = ((drawn < estimate - slack).mean(axis=0) + (drawn <= estimate + slack).mean(axis=0)) / 2
    away = jackknife.mean(axis=0) - jackknife
    away = np.divide(away, np.abs(away).max(axis=0), out=np.zeros_like(away), where=away.any(axis=0))
    square = (away**2).sum(axis=0)
    acceleration = np.divide((away**3).sum(axis=0), 6 * square**1.5, out=np.zeros_like(square), where=square > 0)
    defined = (below > 0) & (below < 1)
    bias = special.ndtri(np.where(defined, below, 0.5))
    z = bias + special.ndtri(ends)[:, None]
    levels = np.where(defined, special.ndtr(bias + z / (1 - acceleration * z)), ends[:, None])
    place = levels * (len(drawn) - 1)
    lower = np.floor(place).astype(int)
    first = np.take_along_axis(drawn, lower, axis=0)
    return tuple(first + (place - lower) * (np.take_along_axis(drawn, np.minimum(lower + 1, len(drawn) - 1), axis=0) - first))


def leave_one_out(values):
    """Means with one block left out: what `bca_interval` needs of a mean.

    Parameters
    ----------
    values : ndarray, shape (n_blocks, columns)

    Returns
    -------
    ndarray, shape (n_blocks, columns)

    Examples
    --------
    >>> leave_one_out(np.array([[1.0], [2.0], [6.0]])).ravel().tolist()
    [4.0, 3.5, 1.5]
    """
    return (values.sum(axis=0) - values) / (len(values) - 1)


def t_test(means):
    """Two-sided one-sample t-test of occupation means against 0.

    Parameters
    ----------
    means : array_like, shape (n,)

    Returns
    -------
    (float, float, str)
        t, p and a note. All zero: t missing, p = 1, "no difference". All equal and not zero (sd <= 1e-12 of the largest):
        t missing, p = 0, "all occupations equal". Fewer than two occupations: both missing, "too few occupations".
    """
    x = np.asarray(means, float)
    if len(x) < 2:
        return float("nan"), float("nan"), "too few occupations"
    if not x.any():
        return float("nan"), 1.0, "no difference"
    x = x / np.abs(x).max()                          # no scale is assumed: squares of tiny differences would vanish
    if x.std() <= EQUAL:
        return float("nan"), 0.0, "all occupations equal"
    result = stats.ttest_1samp(x, 0.0)
    return float(result.statistic), float(result.pvalue), ""


def t_tests(values):
    """`t_test` of every column.

    Parameters
    ----------
    values : ndarray, shape (n, columns)
        Occupation means; NaN where a column lacks the occupation.

    Returns
    -------
    list of (float, float, str)
    """
    in_any = ~np.isnan(values).all(axis=1)
    values = values[in_any] if in_any.any() else values
    whole = len(values) > 1 and ~np.isnan(values).any(axis=0) & values.any(axis=0)
    scaled = np.divide(values, np.abs(values).max(axis=0, initial=0), out=np.zeros_like(values), where=whole)
    whole &= scaled.std(axis=0) > EQUAL
    found = stats.ttest_1samp(scaled[:, whole], 0.0) if np.any(whole) else None
    results = [None if ok else t_test(column[~np.isnan(column)]) for ok, column in zip(whole, values.T)]
    for k, column in enumerate(np.flatnonzero(whole)):
        results[column] = (float(found.statistic[k]), float(found.pvalue[k]), "")
    return results


def adjusted_p(p, family=None, method="bh"):
    """Adjusted p-values of one family; missing outside it and where p is missing.

    Parameters
    ----------
    p : array_like, shape (m,)
    family : array_like of bool, shape (m,), optional
        Default: all of them.
    method : {"bh", "by"}
        Benjamini-Hochberg, or Benjamini-Yekutieli, which holds under any dependence.

    Returns
    -------
    ndarray, shape (m,)

    Raises
    ------
    ValueError
        If a p-value of the family is outside [0, 1].
    """
    p = np.asarray(p, float)
    chosen = ~np.isnan(p) & (True if family is None else np.asarray(family, bool))
    result = np.full(len(p), np.nan)
    if chosen.any():
        result[chosen] = stats.false_discovery_control(p[chosen], method=method)
    return result


def adjust(table, family, q, p="p", adjusted="p_adjusted", significant="significant", method="bh"):
    """Add the columns `adjusted` and `significant` for the rows of a family with a `p`; the rest stay missing."""
    table[adjusted] = adjusted_p(table[p], family, method)
    table[significant] = (table[adjusted] <= q).where(table[adjusted].notna()).astype("boolean")
    return table


def _matrix(occupations, columns, names, blocks=None):
    """Occupations x (runs x columns), runs in the order of `names`, NaN where a run lacks an occupation."""
    wide = occupations.pivot(index="isco", columns=["system", "language"], values=columns)
    wide = wide if blocks is None else wide.reindex(index=blocks)
    return np.stack([wide[c].reindex(columns=names).to_numpy(float) for c in columns], axis=2)


def score_tables(occupations, runs, *, panel, range_scope, q, level, replicates, seed, blocks=None):
    """All score runs and their macro summaries, with intervals and tests.

    Parameters
    ----------
    occupations : DataFrame
        system, language, isco and the columns of `preference.occupation_means`.
    runs : DataFrame
        One row a run: system, language, role, range (native units, by the study's scope), n (pairs), note.
    panel : sequence of str
        Languages of the fixed panel.
    range_scope : {"evaluator", "run"}
        Whether `range` is one for all languages of an evaluator.
    q, level, replicates, seed
        False discovery rate, interval level, bootstrap replicates and seed.
    blocks : sequence of str, optional
        Every occupation of the study: what is resampled, whatever the runs cover. Default: those of the runs.

    Returns
    -------
    score_runs, score_summaries : DataFrame
        Columns as documented in data/README.md. Rates are fractions, balance is in points, intervals in native units, except
        the `_pct_` ones.
    """
    names = list(zip(runs["system"], runs["language"]))
    values = _matrix(occupations, list(preference.MEASURES), names, blocks)            # occupations x runs x measures
    n_blocks, n_runs, n_measures = values.shape
    counts = resample_counts(n_blocks, replicates, seed)
    drawn = bootstrap_means(values.reshape(n_blocks, -1), counts).reshape(replicates, n_runs, n_measures)
    means = np.nanmean(values, axis=0)
    ranges = runs["range"].to_numpy(float)

    table = runs[["system", "language", "n"]].reset_index(drop=True).copy()
    table[["signed", "absolute"]] = means[:, :2]
    for name in ("signed", "absolute"):
        table[f"{name}_pct"] = preference.percent_of_range(table[name], ranges)
    for j, name in enumerate(("signed", "absolute")):
        table[f"{name}_low"], table[f"{name}_high"] = percentile_interval(drawn[:, :, j], level)
    table[["masculine_win", "feminine_win", "tie"]] = means[:, 2:5]
    table["balance"] = preference.balance(means[:, 2], means[:, 3])
    table["balance_low"], table["balance_high"] = percentile_interval(preference.balance(drawn[:, :, 2], drawn[:, :, 3]), level)
    table["cancellation"] = preference.cancellation(table["signed"], table["absolute"])
    tests = t_tests(values[:, :, 0])
    table["t"], table["p"] = [t for t, _, _ in tests], [p for _, p, _ in tests]
    role = runs["role"].reset_index(drop=True)
    table = adjust(table, role == "metric", q)
    table["role"] = role
    constant = np.where(ranges == 0, "constant evaluator", "")
    table["note"] = ["; ".join(filter(None, parts)) for parts in zip([note for *_, note in tests], constant, runs["note"])]

    rows, weights = [], []
    for system in dict.fromkeys(runs["system"]):
        own = (runs["system"] == system).to_numpy()
        metric = own & (role == "metric").to_numpy()
        chosen = np.flatnonzero(metric if metric.any() else own)
        in_panel = chosen[np.isin(runs["language"].to_numpy()[chosen], panel)]
        for summary, columns in (("macro_available", chosen), ("macro_panel", in_panel if len(in_panel) == len(panel) else chosen[:0])):
            rows.append((system, summary, len(columns)))
            weights.append((columns, ranges[columns] if range_scope == "run" else np.full(len(columns), ranges[columns].max(initial=0))))
    summaries = pd.DataFrame(rows, columns=["system", "summary", "n_languages"])
    value, low, high = _macro(weights, means, drawn, level)
    for j, name in enumerate(MACRO):
        summaries[name], summaries[f"{name}_low"], summaries[f"{name}_high"] = value[j], low[j], high[j]
    summaries["cancellation"] = preference.cancellation(summaries["signed"], summaries["absolute"])
    return table, summaries


MACRO = ("signed", "absolute", "signed_pct", "absolute_pct", "balance")


def _macro(weights, means, drawn, level):
    """Unweighted means over languages for all summaries at once; missing for an incomplete panel or a constant evaluator.

    Parameters
    ----------
    weights : list of (ndarray, ndarray)
        Columns (runs) of a summary and the range of each.
    means : ndarray, shape (runs, measures)
    drawn : ndarray, shape (replicates, runs, measures)
    level : float

    Returns
    -------
    value, low, high : ndarray, shape (5, summaries)
        In the order of `MACRO`.
    """
    native, percent = np.zeros((2, means.shape[0], len(weights)))
    for k, (columns, scale) in enumerate(weights):
        native[columns, k] = 1 / max(len(columns), 1)
        percent[columns, k] = np.divide(100.0, scale * len(columns), out=np.full(len(columns), np.nan), where=scale > 0)
    absent = np.array([not len(columns) for columns, _ in weights])
    constant = np.isnan(percent).any(axis=0)

    def quantities(x):                                                       # (..., runs, measures) -> (5, ..., summaries)
        lost = np.isnan(x[..., 0])                                           # a replicate that drew no occupation of a partial run
        points = preference.balance(x[..., 2], x[..., 3])
        parts = [(x[..., 0], native), (x[..., 1], native), (x[..., 0], percent), (x[..., 1], percent), (points, native)]
        found = np.stack([np.nan_to_num(a) @ np.nan_to_num(w) for a, w in parts])
        found[:, lost @ (native > 0)] = np.nan
        found[..., absent] = np.nan
        found[2:4, ..., constant] = np.nan
        return found

    low, high = np.moveaxis([percentile_interval(q, level) for q in quantities(drawn)], 1, 0)
    return quantities(means), low, high


def language_means(occupations, ranges, systems, languages, *, level, replicates, seed, blocks=None):
    """Mean S% and A% of a panel of systems, by language, with block-bootstrap intervals.

    Parameters
    ----------
    occupations : DataFrame
        system, language, isco, signed, absolute.
    ranges : DataFrame
        system, language, range.
    systems, languages : sequence of str
        Every system covers every language.
    level, replicates, seed, blocks
        As in `score_tables`.

    Returns
    -------
    DataFrame
        language, n_systems, signed_pct, absolute_pct (percent of range) with `_low` and `_high`.
    """
    names = [(s, code) for code in languages for s in systems]
    if not names:
        return pd.DataFrame(columns=FRAMES["language_means"])
    values = _matrix(occupations, ["signed", "absolute"], names, blocks)
    scale = ranges.set_index(["system", "language"])["range"].reindex(pd.MultiIndex.from_tuples(names)).to_numpy(float)
    percent = preference.percent_of_range(values, scale[:, None])                               # occupations x runs x measures
    drawn = bootstrap_means(percent.reshape(len(values), -1), resample_counts(len(values), replicates, seed))
    shape = (len(languages), len(systems), 2)
    low, high = percentile_interval(drawn.reshape(replicates, *shape).mean(axis=2), level)
    means = np.nanmean(percent, axis=0).reshape(shape).mean(axis=1)
    table = pd.DataFrame({"language": list(languages), "n_systems": len(systems)})
    for j, name in enumerate(("signed_pct", "absolute_pct")):
        table[name], table[f"{name}_low"], table[f"{name}_high"] = means[:, j], low[:, j], high[:, j]
    return table


def pair_table(occupations, runs, *, level, replicates, seed, blocks=None):
    """Means over pairs instead of over occupations, where occupations have unequal numbers of texts.

    Parameters
    ----------
    occupations, runs, level, replicates, seed, blocks
        As in `score_tables`; `n_pairs` weighs the occupations. The resamples are the same.

    Returns
    -------
    DataFrame
        system, language, n, signed, absolute with `_low` and `_high` (native units), masculine_win, feminine_win, tie (fractions),
        balance with `_low` and `_high` (points), cancellation.
    """
    names = list(zip(runs["system"], runs["language"]))
    values = _matrix(occupations, [*preference.MEASURES, "n_pairs"], names, blocks)
    sizes = np.nan_to_num(values[:, :, -1])
    counts = resample_counts(len(values), replicates, seed)
    sums = np.nan_to_num(values[:, :, :-1]) * sizes[:, :, None]
    means = np.moveaxis(sums.sum(axis=0) / sizes.sum(axis=0)[:, None], 0, 1)                   # measures x runs
    drawn = {name: ratio_means(sums[:, :, j], sizes, counts) for j, name in enumerate(preference.MEASURES)}
    table = runs[["system", "language", "n"]].reset_index(drop=True).copy()
    for name, value in zip(preference.MEASURES, means):
        table[name] = value
        if name in ("signed", "absolute"):
            table[f"{name}_low"], table[f"{name}_high"] = percentile_interval(drawn[name], level)
    table["balance"] = preference.balance(table["masculine_win"], table["feminine_win"])
    table["balance_low"], table["balance_high"] = percentile_interval(
        preference.balance(drawn["masculine_win"], drawn["feminine_win"]), level)
    table["cancellation"] = preference.cancellation(table["signed"], table["absolute"])
    return table[FRAMES["pair_means"]]


def panel_systems(runs, languages):
    """Metrics with an accepted run in every language of the study (the all-language panel)."""
    runs = runs[(runs["kind"] == "scores") & (runs["status"] == "ok") & (runs["role"] == "metric")]
    covered = runs.groupby("system")["language"].nunique()
    return [s for s in dict.fromkeys(runs["system"]) if covered[s] == len(languages)]


def error_table(occupations, runs, *, q, level, replicates, seed, blocks=None):
    """All annotation runs: error-free rates, their difference, interval, test.

    Parameters
    ----------
    occupations : DataFrame
        system, language, isco, masculine, feminine (error-free fractions of the occupation's texts).
    runs : DataFrame
        system, language, n, role, note.
    q, level, replicates, seed, blocks
        As in `score_tables`; the error runs are a family of their own.

    Returns
    -------
    DataFrame
        system, language, n, error_free_masculine, error_free_feminine (fractions), difference, low, high (points), p,
        p_adjusted, significant, note.
    """
    names = list(zip(runs["system"], runs["language"]))
    values = _matrix(occupations, ["masculine", "feminine"], names, blocks)
    difference = 100 * (values[:, :, 0] - values[:, :, 1])
    drawn = bootstrap_means(difference, resample_counts(len(difference), replicates, seed))
    table = runs[["system", "language", "n"]].reset_index(drop=True).copy()
    table[["error_free_masculine", "error_free_feminine"]] = np.nanmean(values, axis=0)
    table["difference"] = np.nanmean(difference, axis=0)
    table["low"], table["high"] = percentile_interval(drawn, level)
    tests = t_tests(difference)
    table["p"] = [p for _, p, _ in tests]
    table = adjust(table, runs["role"].reset_index(drop=True) == "metric", q)
    table["note"] = ["; ".join(filter(None, parts)) for parts in zip([note for *_, note in tests], runs["note"])]
    return table


def infer(study):
    """Measure and test every accepted run of a study; write the result frames.

    Parameters
    ----------
    study : Study
        Its prepared frames are read.

    Returns
    -------
    dict of DataFrame
        `FRAMES`; each also a parquet file under `inference/`.
    """
    runs = data.read_runs(study)
    runs = runs[runs["status"] == "ok"]
    codes = pd.read_parquet(study.prepared / "pairs.parquet", columns=["language", "segment_id", "isco"])
    settings = {"q": study.q, "level": study.level, "replicates": study.replicates, "seed": study.seed}
    settings["blocks"] = sorted(codes["isco"].unique())         # every occupation of the study, whatever the runs cover
    result = {}

    scores = pd.read_parquet(study.prepared / "scores.parquet").merge(codes, on=["language", "segment_id"])
    declared = runs[runs["kind"] == "scores"].reset_index(drop=True)
    if len(declared):
        result["occupations"] = preference.occupation_means(preference.paired_difference(scores["masculine"], scores["feminine"]),
                                                            scores[["system", "language", "isco"]]).reset_index()
        by = ["system"] if study.range == "evaluator" else ["system", "language"]
        extremes = scores.groupby(by)[["masculine", "feminine"]].agg(["min", "max"])
        ranges = (extremes.xs("max", axis=1, level=1).max(axis=1) - extremes.xs("min", axis=1, level=1).min(axis=1)).rename("range")
        declared = declared.merge(ranges.reset_index(), on=by, how="left")
        result["score_runs"], result["score_summaries"] = score_tables(
            result["occupations"], declared, panel=study.panel, range_scope=study.range, **settings)
        result["ranges"] = declared[["system", "language", "range"]]
        if codes.groupby(["language", "isco"]).size().nunique() > 1:
            result["pair_means"] = pair_table(result["occupations"], declared, **{k: v for k, v in settings.items() if k != "q"})
        scaled = declared.loc[declared["range"] > 0, "system"]
        panel = [s for s in panel_systems(runs, study.languages) if s in set(scaled)]
        result["language_means"] = language_means(result["occupations"], result["ranges"], panel, study.languages,
                                                  **{k: v for k, v in settings.items() if k != "q"})

    annotations = pd.read_parquet(study.prepared / "annotations.parquet").merge(codes, on=["language", "segment_id"])
    declared = runs[runs["kind"] == "annotations"].reset_index(drop=True)
    if len(declared):
        fault = annotations["instruction_fault"].astype(bool) if study.count_instruction_fault else None
        annotations["free"] = preference.error_free(annotations["n_errors"].astype(int), annotations["omission"].astype(bool), fault) * 1.0
        wide = annotations.groupby(["system", "language", "isco", "variant"])["free"].mean().unstack("variant")
        result["error_occupations"] = wide.rename_axis(columns=None).reset_index()
        result["error_runs"] = error_table(result["error_occupations"], declared, **settings)
    counts = pd.read_parquet(study.prepared / "gender_counts.parquet")
    if len(counts):
        from mtgender import representation
        given = {"replicates": study.replicates, "seed": study.seed, "confidence": study.level}
        result["system_runs"] = representation.system_table(counts, **given)
        result["system_groups"] = representation.group_table(counts, representation.read_labour(), **given)
    for name, columns in FRAMES.items():
        frame = result.setdefault(name, pd.DataFrame(columns=columns))
        data.replace(study.inference / f"{name}.parquet", frame.to_parquet)
    return result


def digests(study):
    """What each notebook of one run or one language reads, as a hash: it is made again when that changes, not when others do.

    Parameters
    ----------
    study : Study
        Its prepared and inferred frames are read.

    Returns
    -------
    dict
        `scores/<system>.<language>`, `annotations/<system>.<language>`, `systems/<source>.<system>.<language>`,
        `languages/<language>` (texts and translations, not scores or annotations) and `study/<kind>` (all runs of a kind) -> SHA-256 of the
        rows of every frame, of the study's settings and of the systems' own entries. Also written to `digests/` under these names.
    """
    frames = {path.stem: pd.read_parquet(path) for folder in (study.prepared, study.inference) for path in sorted(folder.glob("*.parquet"))}
    frames["runs"] = data.read_runs(study)
    hashes = {name: pd.util.hash_pandas_object(frame, index=False) for name, frame in frames.items()}
    rows = {}                                                   # frame, language, system or label -> hashes of its rows, in order
    for name, frame in frames.items():
        if "language" in frame and name != "language_means":
            for names in [frame[c] for c in ("system", "label") if c in frame] or [pd.Series("", frame.index)]:
                groups = hashes[name].groupby([frame["language"], names], sort=False)
                rows |= {(name, *key, names.name): part.to_numpy().tobytes() for key, part in groups}
    settings = repr([(f.name, value) for f in fields(study) if isinstance(value := getattr(study, f.name), (str, int, float))])

    def digest(language, system, *more):
        chosen = [(key, rows[key]) for key in sorted(rows, key=str) if key[1] == language and key[2] in ("", system)]
        return hashlib.sha256(repr((settings, chosen, more)).encode()).hexdigest()

    found = {f"{kind}/{file_name(s)}.{code}": digest(code, s, getattr(study, kind)[s])
             for kind in ("scores", "annotations") for s, code in study.runs(kind)}
    cards = {entry.label: entry for entry in study.translations.values()}
    found |= {f"systems/{file_name(source)}.{file_name(s)}.{code}": digest(code, s, cards.get(s))
              for source, s, code in data.counted_runs(study)}
    translated = ("pairs", "genders", "gender_counts", "system_runs", "system_groups")
    for code in dict.fromkeys([*study.languages, *(code for _, code in study.runs("translations")), *data.counted_languages(study)]):
        chosen = [(key, rows[key]) for key in sorted(rows, key=str) if key[1] == code and key[0] in translated]
        found[f"languages/{code}"] = hashlib.sha256(repr((settings, chosen)).encode()).hexdigest()
    for kind, (of, names) in KINDS.items():
        own = hashes["runs"][frames["runs"]["kind"].isin([kind, *of])]
        chosen = [(name, list(frames[name]), part.to_numpy().tobytes())
                  for name, part in [("runs", own), *((name, hashes[name]) for name in ("pairs", *names))]]
        found[f"study/{kind}"] = hashlib.sha256(repr((settings, chosen, getattr(study, kind))).encode()).hexdigest()
    for name, text in found.items():
        data.replace(study.results / "digests" / name, lambda p, text=text: p.write_text(text + "\n"))
    return found


def _with_interval(*names):
    return [f"{name}{end}" for name in names for end in ("", "_low", "_high")]


KINDS = {   # kind of run -> kinds that go with it, frames beside the pairs
    "scores": (["neutral"], ["scores", "occupations", "score_runs", "score_summaries", "ranges", "pair_means", "language_means", "neutral",
                             "repeats"]),
    "annotations": ([], ["annotations", "error_occupations", "error_runs"]),
    "translations": (["gender_counts"], ["genders", "gender_counts", "system_runs", "system_groups"])}
RUN = ["system", "language"]
FRAMES = {
    "occupations": [*RUN, "isco", *preference.MEASURES, "n_pairs"],
    "score_runs": [*RUN, "n", "signed", "absolute", "signed_pct", "absolute_pct", "signed_low", "signed_high", "absolute_low",
                   "absolute_high", "masculine_win", "feminine_win", "tie", "balance", "balance_low", "balance_high", "cancellation", "t",
                   "p", "p_adjusted", "significant", "role", "note"],
    "score_summaries": ["system", "summary", "n_languages", *_with_interval("signed", "absolute", "signed_pct", "absolute_pct", "balance"),
                        "cancellation"],
    "ranges": [*RUN, "range"],
    "pair_means": [*RUN, "n", "signed", "signed_low", "signed_high", "absolute", "absolute_low", "absolute_high", "masculine_win",
                   "feminine_win", "tie", "balance", "balance_low", "balance_high", "cancellation"],
    "language_means": ["language", "n_systems", *_with_interval("signed_pct", "absolute_pct")],
    "error_occupations": [*RUN, "isco", "feminine", "masculine"],
    "error_runs": [*RUN, "n", "error_free_masculine", "error_free_feminine", "difference", "low", "high", "p", "p_adjusted", "significant",
                   "note"],
    "system_runs": ["system", "language", "source", "subset", "n_masculine", "n_feminine", "n_not_clear", "n_excluded", "unit_groups",
                    "p_masculine", "ngpd_masculine", "ngpd_feminine", "low", "high", "interval", "note"],
    "system_groups": ["source", "system", "language", "subset", "reference_kind", "level", "group", "masculine", "feminine", "not_clear",
                      "excluded", "unit_groups", "without_reference", "reference", "p_masculine", "gpd", "ngpd_masculine", "ngpd_feminine",
                      "p_macro", "low", "high", "interval"],
}


class Results:
    """The frames of a study, each read when first asked for.

    Parameters
    ----------
    study : Study

    Attributes
    ----------
    study : Study
    runs, pairs, scores, annotations, genders, gender_counts, neutral, repeats : DataFrame
        As `data.prepare` wrote them.
    occupations, score_runs, score_summaries, ranges, pair_means, language_means, error_occupations, error_runs, system_runs,
    system_groups : DataFrame
        As `infer` wrote them.
    """

    def __init__(self, study):
        self.study = study
        self._frames = {}

    def __getattr__(self, name):
        if name.startswith("_") or name not in (*FRAMES, "runs", "pairs", "scores", "annotations", "genders", "gender_counts",
                                                              "neutral", "repeats"):
            raise AttributeError(name)
        if name not in self._frames:
            folder = self.study.inference if name in FRAMES else self.study.prepared
            self._frames[name] = data.read_runs(self.study) if name == "runs" else pd.read_parquet(folder / f"{name}.parquet")
        return self._frames[name]

    def run(self, kind, system, language):
        """One run's row of `runs`, or InputError with the reason why it was refused or does not exist."""
        row = self.runs[(self.runs["kind"] == kind) & (self.runs["system"] == system) & (self.runs["language"] == language)]
        if not len(row):
            known = ", ".join(f"{s} ({c})" for s, c in self.study.runs(kind))
            raise InputError(f"no run of {system!r} in {language!r}", path=self.study.path, hint=f"Runs: {known}")
        if row.iloc[0]["status"] != "ok":
            raise InputError(row.iloc[0]["problem"])
        return row.iloc[0]


def load(path):
    """Open a study's results, preparing and inferring first where that was not done.

    Parameters
    ----------
    path : str
        Study file.

    Returns
    -------
    Results
    """
    study = load_study(path)
    if not (study.prepared / "runs.csv").is_file():
        data.prepare(study)
    if not all((study.inference / f"{name}.parquet").is_file() for name in FRAMES):
        infer(study)
    return Results(study)
