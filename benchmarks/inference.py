"""Our inference against scipy.stats.bootstrap, arch and the bare BLAS product, on the same resamples; and how its cost grows.

Synthetic data in the shape of a study (436 occupations). scipy and arch do one statistic at a time, as their interface has it; they are
timed on a part of the statistics and the time is scaled up.
"""

import time

import numpy as np
import pandas as pd
from arch.bootstrap import IIDBootstrap
from scipy import stats

from mtgender import inference, isco, preference

SYSTEMS, LANGUAGES, SEED = 25, ("ar", "cs", "de", "is", "ru", "uk"), 20260801
RUNS, REPLICATES, PAIRS, SAMPLED = 148, 5000, 1308, 6


class Indices(np.random.RandomState):
    """Hands out given resampling indices: all at once to scipy, a row a replicate to arch."""

    def __init__(self, indices):
        super().__init__(0)
        self.all, self.rows = indices, iter(indices)

    def randint(self, *_, size=None, **__):
        return self.all if isinstance(size, tuple) and len(size) == 2 else next(self.rows)


def study(runs=RUNS, pairs=PAIRS):
    """Occupation means and runs of a synthetic study."""
    rng = np.random.default_rng(0)
    chosen = [(f"s{i:03d}", code) for i in range(-(-runs // len(LANGUAGES))) for code in LANGUAGES][:runs]
    codes = np.resize(isco.unit_groups(), pairs)
    parts = [preference.occupation_means(rng.normal(0.1, 1, pairs), codes).reset_index().assign(system=s, language=c) for s, c in chosen]
    declared = pd.DataFrame({"system": [s for s, _ in chosen], "language": [c for _, c in chosen], "role": "metric", "n": pairs, "note": "",
                             "range": 8.0})
    return pd.concat(parts), declared


def infer(data, replicates=REPLICATES):
    """The tables of all runs: rates, intervals, tests, Benjamini–Hochberg."""
    return inference.score_tables(*data, panel=LANGUAGES, range_scope="evaluator", q=0.05, level=0.95, replicates=replicates, seed=SEED)


def seconds(function):
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def measure(repeats):
    """Seconds of ours and theirs, a list of `repeats` each, the statistics, and the largest difference of the limits of S.

    Returns
    -------
    dict
        ours (all that a study's inference is), intervals (of ours alone), bare (product and partition of the same sizes), scipy and arch
        (all statistics); statistics, difference.
    """
    data = study()
    table, summaries = infer(data)                            # what is loaded at the first call is not inference
    statistics = 3 * len(table) + 5 * len(summaries)          # S, A and balance of runs; S, A, S%, A%, balance of macro rows
    columns = np.random.default_rng(0).normal(size=(436, statistics))
    indices = np.random.default_rng(SEED).integers(0, 436, (REPLICATES, 436))
    counts = inference.resample_counts(436, REPLICATES, SEED)
    places = [int(q * (REPLICATES - 1)) + i for q in (0.025, 0.975) for i in (0, 1)]

    def bare():
        np.partition((np.asarray(counts, float) @ columns / 436).T, places, axis=1)

    def intervals():
        return inference.percentile_interval(inference.bootstrap_means(columns, inference.resample_counts(436, REPLICATES, SEED)))

    took = {key: [] for key in ("ours", "intervals", "bare", "scipy", "arch")}
    apart = 0.0
    for _ in range(repeats):
        took["ours"].append(seconds(lambda: infer(data))[0])
        took["intervals"].append(seconds(intervals)[0])
        took["bare"].append(seconds(bare)[0])
        each = {"scipy": [], "arch": []}
        for row in table.head(SAMPLED).itertuples():
            values = data[0][(data[0]["system"] == row.system) & (data[0]["language"] == row.language)]["signed"].to_numpy()
            spent, result = seconds(lambda values=values: stats.bootstrap(
                (values,), np.mean, n_resamples=REPLICATES, method="percentile", random_state=Indices(indices)))
            each["scipy"].append(spent)
            apart = max(apart, abs(result.confidence_interval.low - row.signed_low), abs(result.confidence_interval.high - row.signed_high))
            spent, limits = seconds(lambda values=values: IIDBootstrap(values, seed=Indices(indices)).conf_int(
                np.mean, REPLICATES, method="percentile"))
            each["arch"].append(spent)
            apart = max(apart, abs(limits[0, 0] - row.signed_low), abs(limits[1, 0] - row.signed_high))
        for key, spent in each.items():
            took[key].append(float(np.mean(spent)) * statistics)
    return {**took, "statistics": statistics, "difference": float(apart)}


def growth(repeats):
    """Seconds of inference by number of runs, replicates and pairs: rows of what, n, seconds (median)."""
    rows = []
    for what, values in (("runs", (37, 74, 148, 296, 592)), ("replicates", (1000, 2500, 5000, 10000, 20000)),
                         ("pairs", (1308, 2616, 5232, 10464))):
        for n in values:
            data = study(**({what: n} if what != "replicates" else {}))
            given = {"replicates": n} if what == "replicates" else {}
            spent = [seconds(lambda data=data, given=given: infer(data, **given))[0] for _ in range(repeats)]
            rows.append((what, n, float(np.median(spent))))
    return pd.DataFrame(rows, columns=["what", "n", "seconds"])
