"""The papers' own numbers: what follows from them, and how a study's numbers compare at printed precision.

A number printed with k decimals stands for every value within half a unit of its last digit; what is computed from such numbers is an
interval, and a check agrees if the stated value lies in it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from mtgender import preference
from mtgender.study import ROOT, InputError

PAPER = ROOT / "data" / "published" / "metrics_paper.csv"
COLUMNS = ["check", "published", "computed", "low", "high", "status", "how"]
OCCUPATIONS, TEXTS, LANGUAGES, PANEL = 436, 3, 7, 6


def read():
    """The metrics paper's numbers as text cells, indexed by id."""
    return pd.read_csv(PAPER, dtype=str, keep_default_na=False).set_index("id")


def printed(value, decimals):
    """The interval that a printed number stands for.

    Examples
    --------
    >>> [round(x, 4) for x in printed(12.69, 2)]
    [12.685, 12.695]
    """
    half = 0.5 * 10.0 ** -decimals
    return value - half, value + half


def quotient(numerator, denominator):
    """Interval of a quotient of two intervals of one sign each."""
    corners = [a / b for a in numerator for b in denominator]
    return min(corners), max(corners)


def agrees(value, decimals, computed):
    """Whether a computed number is the printed one at its precision.

    Examples
    --------
    >>> agrees(12.69, 2, 12.6949), agrees(12.69, 2, 12.7)
    (True, False)
    """
    low, high = printed(value, decimals)
    return bool(low - 1e-12 <= computed <= high + 1e-12)


def consistency():
    """What can be recomputed from the metrics paper's own numbers.

    Returns
    -------
    DataFrame
        check, published (as printed), computed, low, high (what the printed digits allow), status (agrees, differs, or follows where
        the paper states no number to compare with), how.
    """
    paper = read()
    rows = []

    def number(key):
        return float(paper.at[key, "value"])

    def interval(key):
        return printed(number(key), int(paper.at[key, "decimals"]))

    def add(check, stated, computed, low, high, how, decimals=9):
        """`stated` is printed with `decimals`; it agrees if the two intervals meet."""
        meets = stated is not None and printed(stated, decimals)[0] <= high and low <= printed(stated, decimals)[1]
        status = "follows" if stated is None else "agrees" if meets else "differs"
        rows.append((check, "" if stated is None else f"{stated:g}", computed, low, high, status, how))

    def exact(check, stated, computed, how):
        add(check, stated, computed, computed, computed, how)

    exact("pairs per language", number("A009"), number("A001") * number("A006"), "436 unit groups × 3 texts")
    exact("pairs of the six-language panel", None, number("A009") * PANEL, "1,308 × 6")
    exact("pairs over seven languages", None, number("A009") * LANGUAGES, "1,308 × 7")
    exact("significant runs", number("A027"), number("A029") + number("A030"), "126 masculine + 5 feminine")
    exact("named negative runs", number("A030"), float((paper["quantity"] == "significant_negative_run").sum()), "counted in section 5.1")
    rest = number("A028") - number("A018") * PANEL - number("A050")
    exact("runs outside the panels", 3.0, rest, "148 − 22 × 6 − 13: the runs of systems that lack a language of the panel")
    largest = number("A027") / number("A028") * number("A026")
    exact("largest significant p (BH)", None, largest, "131 of 148 × q")
    exact("smallest significant |t| (BH)", None, float(stats.t.isf(largest / 2, OCCUPATIONS - 1)), "two-sided, 435 degrees of freedom")

    for system, absolute, absolute_pct in (("fluency2-gemini35-esa", "A036", "A037"), ("COMETKiwi22", "A044", "A045")):
        low, high = quotient(interval(absolute), interval(absolute_pct))
        add(f"implied range of {system}", None, 100 * number(absolute) / number(absolute_pct), 100 * low, 100 * high, "100 · A / A%")
    low, high = quotient(interval("A038"), interval("A039"))
    add("implied range of fluency2-gemini35-esa, from S", None, 100 * number("A038") / number("A039"), 100 * low, 100 * high,
        "100 · S / S%")
    range_low, range_high = quotient(interval("A036"), interval("A037"))
    signed = sorted(s / (100 * r) * 100 for s in interval("A038") for r in (range_low, range_high))
    add("S% of fluency2-gemini35-esa", number("A039"), number("A038") / (number("A036") / number("A037")), signed[0], signed[-1],
        "S over the range implied by A", decimals=2)
    for name, signed_key, absolute_key in (("fluency2-gemini35-esa, native", "A038", "A036"), ("fluency2-gemini35-esa, %", "A039", "A037"),
                                           ("Qwen 3.6", "A040", "A041"), ("xCOMET XXL reference-free", "A042", "A043")):
        s = sorted(map(abs, interval(signed_key)))
        low, high = quotient(s, interval(absolute_key))
        add(f"cancellation of {name}", None, preference.cancellation(number(signed_key), number(absolute_key)), 1 - high, 1 - low,
            "1 − |S|/A")
    rates = ["A046", "A047", "A048"]
    total = sum(map(number, rates))
    add("rates of COMETKiwi22 sum to 100", 100.0, total, total - 0.15, total + 0.15, "masculine + feminine + tie")
    add("preference balance of COMETKiwi22", None, number("A046") - number("A047"), number("A046") - number("A047") - 0.1,
        number("A046") - number("A047") + 0.1, "masculine-win − feminine-win")
    for name, key in (("COMETKiwi22", "A048"), ("gemba-poly", "A049")):
        low, high = (np.array(interval(key)) / 100 * number("A009") * PANEL)
        add(f"ties of {name}", None, number(key) / 100 * number("A009") * PANEL, float(np.ceil(low)), float(np.floor(high)),
            "whole pairs of 7,848 that print as this rate")
    return pd.DataFrame(rows, columns=COLUMNS)


def comparison(results):
    """A study's numbers beside the paper's, for the study of the paper's own data.

    Parameters
    ----------
    results : inference.Results
        Its study names its systems as the paper does (label).

    Returns
    -------
    DataFrame
        id, quantity, system, language, published, computed, status: agrees, differs, or missing (the study has no such run).
    """
    paper, rows = read(), []
    labels = dict(zip(results.runs["label"], results.runs["system"]))
    runs = results.score_runs.set_index(["system", "language"])
    panel = results.score_summaries[results.score_summaries["summary"] == "macro_panel"].set_index("system")
    errors = results.error_runs.set_index(["system", "language"])
    languages = results.language_means.set_index("language")
    metric = results.score_runs[results.score_runs["role"] == "metric"]
    significant = metric["significant"].fillna(False).astype(bool)
    counts = {"n_runs_total": len(metric), "n_runs_significant": significant.sum(),
              "n_runs_significant_masculine": (significant & (metric["signed"] > 0)).sum(),
              "n_runs_significant_feminine": (significant & (metric["signed"] < 0)).sum()}
    counts["n_systems_seven_language_panel"] = languages["n_systems"].max() if len(languages) else np.nan
    means = {"S_pct_mean_of_13_systems": "signed_pct", "A_pct_mean_of_13_systems": "absolute_pct"}
    columns = {"S": "signed", "A": "absolute", "S_pct": "signed_pct", "A_pct": "absolute_pct"}
    rates = {"masculine_win_rate": "masculine_win", "feminine_win_rate": "feminine_win", "tie_rate": "tie"}
    for key, row in paper[paper["decimals"] != ""].iterrows():
        system, language, quantity = labels.get(row["system"], row["system"]), row["language"].lower(), row["quantity"]
        computed, known = np.nan, True
        if quantity in counts:
            computed = float(counts[quantity])
        elif quantity in means:
            computed = languages[means[quantity]].get(language, np.nan)
        elif quantity in columns and language == "macro6":
            computed = panel[columns[quantity]].get(system, np.nan)
        elif quantity in columns:
            computed = runs[columns[quantity]].get((system, language), np.nan)
        elif quantity in rates:
            chosen = [runs[rates[quantity]].get((system, code), np.nan) for code in results.study.panel]
            computed = 100 * float(np.mean(chosen))
        elif quantity == "significant_negative_run":
            computed = float(np.sign(runs["signed"].get((system, language), np.nan)))
        elif quantity == "error_free_difference":
            computed = errors["difference"].get((system, language), np.nan)
        elif quantity == "sign_error_free_difference":
            computed = float(np.sign(errors["difference"].get((system, language), np.nan)))
        else:
            known = False
        if not known:
            continue
        try:
            value, decimals = float(row["value"]), int(row["decimals"])
        except ValueError:
            raise InputError(f"{key}: not a number", path=PAPER) from None
        status = "missing" if np.isnan(computed) else "agrees" if agrees(value, decimals, computed) else "differs"
        rows.append((key, quantity, row["system"], row["language"], row["value"], computed, status))
    return pd.DataFrame(rows, columns=["id", "quantity", "system", "language", "published", "computed", "status"])
