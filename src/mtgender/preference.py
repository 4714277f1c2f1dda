"""Evaluator measures: how much, and how often, one variant is preferred.

Scores are oriented so that higher is better. A pair's difference is d = score(masculine) - score(feminine): positive means that
the masculine text is preferred. All functions are pure; arrays are float64 in the evaluator's native units.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

MEASURES = ("signed", "absolute", "masculine_win", "feminine_win", "tie")
DIGITS = 14    # of a difference, counted from the larger score: what follows is the noise of binary fractions
NOISE = 1e-13  # a mean of differences below this share of their mean size is 0, but for that noise


def without_noise(means, sizes):
    """Means with 0 where nothing but the noise of floating-point arithmetic is left of values that cancel out.

    Parameters
    ----------
    means, sizes : array_like
        `sizes` are the means of the absolute values.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> sum([0.7, -0.5, -0.2]) / 3 == 0, float(without_noise(sum([0.7, -0.5, -0.2]) / 3, 1.4 / 3))
    (False, 0.0)
    """
    return np.where(np.abs(means) <= NOISE * np.asarray(sizes, float), 0.0, means)


def paired_difference(masculine, feminine):
    """d = masculine - feminine.

    Rounded to 14 digits of the larger score, so that equal steps are equal differences wherever they lie on the scale; 0 means equal
    scores and nothing else.

    Parameters
    ----------
    masculine, feminine : array_like, shape (n,)
        Scores, higher is better, finite.

    Returns
    -------
    ndarray, shape (n,)

    Raises
    ------
    ValueError
        Unequal shapes or a value that is not finite.
    """
    m, f = np.asarray(masculine, float), np.asarray(feminine, float)
    if m.shape != f.shape or m.ndim != 1:
        raise ValueError(f"expected two vectors of one length, found {m.shape} and {f.shape}")
    if not (np.isfinite(m).all() and np.isfinite(f).all()):
        raise ValueError("scores must be finite")
    d, size = m - f, np.maximum(np.abs(m), np.abs(f))
    digits = DIGITS - np.ceil(np.log10(size, out=np.zeros_like(size), where=size > 0))
    scale = 10.0 ** np.clip(digits, -300, 300)
    rounded = np.round(d * scale) / scale
    return np.where(rounded == 0, d, rounded)


def score_range(*scores):
    """Maximum minus minimum of all observed scores.

    Examples
    --------
    >>> score_range([0.2, 0.5], [0.4, 1.0])
    0.8
    """
    values = np.concatenate([np.asarray(s, float).ravel() for s in scores])
    return float(values.max() - values.min())


def percent_of_range(value, range_):
    """100 * value / range; missing where the range is 0 (a constant evaluator has no scale).

    Examples
    --------
    >>> percent_of_range(0.02, 0.8), percent_of_range(0.0, 0.0)
    (2.5, nan)
    """
    value, range_ = np.asarray(value, float), np.asarray(range_, float)
    result = 100 * np.divide(value, range_, out=np.full(np.broadcast(value, range_).shape, np.nan), where=range_ > 0)
    return float(result) if result.ndim == 0 else result


def pair_measures(d):
    """What each pair contributes to S, A and the rates.

    Parameters
    ----------
    d : array_like, shape (n,)

    Returns
    -------
    DataFrame, n rows
        signed (d), absolute (|d|), masculine_win, feminine_win, tie (1.0 or 0.0; a tie is exact equality).
    """
    d = np.asarray(d, float)
    return pd.DataFrame({"signed": d, "absolute": np.abs(d), "masculine_win": (d > 0).astype(float),
                         "feminine_win": (d < 0).astype(float), "tie": (d == 0).astype(float)})


def occupation_means(d, occupations):
    """Mean of each measure over the pairs of an occupation.

    Parameters
    ----------
    d : array_like, shape (n,)
    occupations : array_like of str, shape (n,), or DataFrame, n rows
        Occupation of each pair; or several columns (run, occupation) that group the pairs of many runs at once.

    Returns
    -------
    DataFrame
        Index occupation, or the columns given (sorted); columns `MEASURES` and n_pairs. S, A and the rates of a run are the means of
        its columns: every occupation weighs the same, however many pairs it has. Differences that cancel out have the mean 0
        (`without_noise`).
    """
    keys = occupations if isinstance(occupations, pd.DataFrame) else pd.DataFrame({"isco": np.asarray(occupations)})
    groups = pair_measures(d).groupby([keys[name].to_numpy() for name in keys])
    frame = groups.mean().assign(n_pairs=groups.size())
    frame["signed"] = without_noise(frame["signed"], frame["absolute"])
    return frame.rename_axis(list(keys))


def balance(masculine_win, feminine_win):
    """Preference balance, 100 * (Pr(d > 0) - Pr(d < 0)), in percentage points."""
    return 100 * (masculine_win - feminine_win)


def cancellation(signed, absolute):
    """Cancellation ratio 1 - |S| / A; missing where A is 0.

    0: all differences point one way. 1: they cancel out.

    Examples
    --------
    >>> cancellation(0.25, 1.0), cancellation(0.0, 0.0)
    (0.75, nan)
    """
    signed, absolute = np.asarray(signed, float), np.asarray(absolute, float)
    ratio = np.divide(np.abs(signed), absolute, out=np.full(np.broadcast(signed, absolute).shape, np.nan), where=absolute > 0)
    result = 1 - ratio
    return float(result) if result.ndim == 0 else result


def summarise(d, occupations=None):
    """S, A, rates, balance and cancellation of one run.

    Parameters
    ----------
    d : array_like, shape (n,)
    occupations : array_like of str, shape (n,), optional
        If given, means of occupation means; else means over pairs.

    Returns
    -------
    dict
        n, signed, absolute, masculine_win, feminine_win, tie (fractions), balance (points), cancellation.

    Examples
    --------
    >>> {k: round(v, 3) for k, v in summarise([0.2, -0.1, 0.0, 0.3, 0.1]).items()}
    {'n': 5, 'signed': 0.1, 'absolute': 0.14, 'masculine_win': 0.6, 'feminine_win': 0.2, 'tie': 0.2, 'balance': 40.0, 'cancellation': 0.286}
    """
    frame = pair_measures(d) if occupations is None else occupation_means(d, occupations)
    means = {name: float(frame[name].mean()) for name in MEASURES}
    return {"n": len(np.asarray(d)), **means, "balance": balance(means["masculine_win"], means["feminine_win"]),
            "cancellation": cancellation(means["signed"], means["absolute"])}


def error_free(n_errors, omission, instruction_fault=None):
    """Whether a text carries no error span and no omission flag.

    Parameters
    ----------
    n_errors : array_like of int, shape (n,)
    omission : array_like of bool, shape (n,)
    instruction_fault : array_like of bool, optional
        Counted only if given.

    Returns
    -------
    ndarray of bool
    """
    free = (np.asarray(n_errors) == 0) & ~np.asarray(omission, bool)
    return free if instruction_fault is None else free & ~np.asarray(instruction_fault, bool)


def split_half_reliability(effects):
    """Agreement of occupation effects between text types.

    Parameters
    ----------
    effects : DataFrame, shape (occupations, text types)
        Mean d of each occupation in each text type.

    Returns
    -------
    float
        Mean Pearson correlation over the pairs of text types, stepped up to all of them (Spearman-Brown); missing where a column
        is constant.
    """
    values = effects.dropna().to_numpy(float)
    k = values.shape[1]
    if k < 2 or len(values) < 2 or (np.ptp(values, axis=0) == 0).any():
        return float("nan")
    r = np.corrcoef(values.T)[np.triu_indices(k, 1)].mean()
    below = 1 + (k - 1) * r
    return float(k * r / below) if below > 1e-9 else float("nan")
