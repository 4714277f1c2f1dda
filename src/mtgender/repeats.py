"""Evaluators that do not give the same score twice: how much of a difference's variance comes from repeats, texts and occupations."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mtgender import inference, tables
from mtgender.study import InputError

LEVELS = ("occupation", "text", "repeat")


def variance_components(d):
    """Split the variance of paired differences into occupations, texts within occupations and repeats within texts.

    Parameters
    ----------
    d : array_like, shape (occupations, texts, repeats)
        Balanced: every occupation has the same number of texts, every text the same number of repeats.

    Returns
    -------
    dict
        occupation, text, repeat: variance components (squared units of d) by the method of moments of the nested random-effects
        analysis of variance (Searle, Casella and McCulloch 1992, section 3.5); a negative estimate is 0. One that the design does
        not tell is missing (one occupation, one text an occupation, or one repeat). mean: the mean of d; se: its standard error
        over occupations.

    Examples
    --------
    >>> {k: float(v) for k, v in variance_components([[[1.0, 3.0]], [[5.0, 7.0]]]).items()}
    {'occupation': 7.0, 'text': nan, 'repeat': 2.0, 'mean': 4.0, 'se': 2.0}
    """
    d = np.asarray(d, float)
    if d.ndim != 3 or not d.size:
        raise InputError(f"an array of shape {d.shape}, expected (occupations, texts, repeats)")
    n_occupations, n_texts, n_repeats = d.shape
    texts = d.mean(axis=2)
    occupations = texts.mean(axis=1)
    mean_squares = {
        "repeat": _mean_square(d - texts[:, :, None], n_occupations * n_texts * (n_repeats - 1)),
        "text": n_repeats * _mean_square(texts - occupations[:, None], n_occupations * (n_texts - 1)),
        "occupation": n_repeats * n_texts * _mean_square(occupations - occupations.mean(), n_occupations - 1)}
    below, sizes, found = 0.0, {"repeat": 1, "text": n_repeats, "occupation": n_repeats * n_texts}, {}
    for level in reversed(LEVELS):
        found[level] = max(0.0, (mean_squares[level] - below) / sizes[level]) if np.isfinite(mean_squares[level]) else np.nan
        below = mean_squares[level] if np.isfinite(mean_squares[level]) else below
    return {**{level: found[level] for level in LEVELS}, "mean": occupations.mean(),
            "se": occupations.std(ddof=1) / np.sqrt(n_occupations) if n_occupations > 1 else np.nan}


def _mean_square(deviations, degrees):
    return (deviations ** 2).sum() / degrees if degrees else np.nan


def differences(repeats, pairs):
    """Paired differences of one run by occupation, text and repeat.

    Parameters
    ----------
    repeats : DataFrame
        repeat, segment_id, masculine, feminine of one system and language.
    pairs : DataFrame
        segment_id, isco.

    Returns
    -------
    ndarray, shape (occupations, texts, repeats)
        Texts that a repeat lacks are left out, and occupations that then have fewer texts than the others.
    """
    wide = repeats.assign(d=repeats["masculine"] - repeats["feminine"]).pivot(index="segment_id", columns="repeat", values="d").dropna()
    codes = wide.index.map(pairs.drop_duplicates("segment_id").set_index("segment_id")["isco"])
    sizes = codes.value_counts()
    if not len(sizes):
        raise InputError("no text has a score in every repeat")
    order = codes.argsort(kind="stable")
    kept = [i for i in order if sizes[codes[i]] == sizes.max()]
    return wide.to_numpy()[kept].reshape(-1, sizes.max(), wide.shape[1])


def table(results):
    """One row a repeated run: variance components, S of the averaged repeats with its interval, S of each repeat.

    Parameters
    ----------
    results : inference.Results

    Returns
    -------
    frame, printed : DataFrame
        system, language, occupations, texts, repeats, signed (S of the averaged repeats; native units) with low and high
        (occupation-block bootstrap), variance_occupation, variance_text, variance_repeat, share_repeat (of their sum),
        signed_by_repeat (joined by spaces), sd_between_repeats (of S), expected_sd (what the component of repeats makes of it).
    """
    study, rows = results.study, []
    for (system, language), own in results.repeats.groupby(["system", "language"], sort=False):
        d = differences(own, results.pairs[results.pairs["language"] == language])
        parts = variance_components(d)
        drawn = inference.bootstrap_means(d.mean(axis=(1, 2))[:, None], inference.resample_counts(len(d), study.replicates, study.seed))
        (low,), (high,) = inference.percentile_interval(drawn, study.level)
        each = d.mean(axis=(0, 1))
        rows.append({"system": system, "language": language, "occupations": d.shape[0], "texts": d.shape[1], "repeats": d.shape[2],
                     "signed": parts["mean"], "low": low, "high": high, **{f"variance_{level}": parts[level] for level in LEVELS},
                     "share_repeat": parts["repeat"] / np.nansum([parts[level] for level in LEVELS]),
                     "signed_by_repeat": " ".join(f"{v:.6g}" for v in each),
                     "sd_between_repeats": each.std(ddof=1) if len(each) > 1 else np.nan,
                     "expected_sd": np.sqrt(parts["repeat"] / (d.shape[0] * d.shape[1]))})
    columns = ["system", "language", "occupations", "texts", "repeats", "signed", "low", "high", *(f"variance_{level}" for level in LEVELS),
               "share_repeat", "signed_by_repeat", "sd_between_repeats", "expected_sd"]
    frame = pd.DataFrame(rows, columns=columns)
    digits = tables.significant_digits
    labels = results.runs.drop_duplicates("system").set_index("system")["label"]
    printed = pd.DataFrame({
        "Evaluator": [labels[s] for s in frame["system"]], "Language": [tables.language_name(c) for c in frame["language"]],
        "occupations × texts × repeats": [f"{a} × {b} × {c}" for a, b, c in zip(frame["occupations"], frame["texts"], frame["repeats"])],
        "S": [f"{digits(s)} [{digits(a)}, {digits(b)}]" for s, a, b in zip(frame["signed"], frame["low"], frame["high"])],
        **{f"variance: {level}": [digits(v) for v in frame[f"variance_{level}"]] for level in LEVELS},
        "repeats' share %": [tables.fixed(100 * v, 1) for v in frame["share_repeat"]],
        "S of each repeat": [", ".join(digits(float(v)) for v in text.split()) for text in frame["signed_by_repeat"]],
        "sd of S between repeats (expected)": [f"{digits(a)} ({digits(b)})" for a, b in
                                               zip(frame["sd_between_repeats"], frame["expected_sd"])]})
    return frame, printed


def sentence(frame):
    """What the table says, in words; empty where no run has repeats."""
    if not len(frame):
        return "No evaluator of this study has repeated runs."
    return " ".join(f"{row.system} ({tables.language_name(row.language)}): {tables.fixed(100 * row.share_repeat, 0)} % of the "
                    f"variance of d lies between {row.repeats} repeats of the same text; S moves between them by sd "
                    f"{tables.significant_digits(row.sd_between_repeats)}, its interval over occupations is "
                    f"[{tables.significant_digits(row.low)}, {tables.significant_digits(row.high)}]."
                    for row in frame.itertuples())
