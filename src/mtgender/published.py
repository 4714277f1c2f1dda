"""The papers' own numbers: what follows from them, and how a study's numbers compare at printed precision.

A number printed with k decimals stands for every value within half a unit of its last digit; what is computed from such numbers is an
interval, and a check agrees if the stated value lies in it.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pandas as pd
from scipy import stats

from mtgender import isco, preference, representation
from mtgender.study import ROOT, InputError

PAPER = ROOT / "data" / "published" / "metrics_paper.csv"
SYSTEMS = PAPER.with_name("systems_paper.csv")
COLUMNS = ["check", "published", "computed", "low", "high", "status", "how"]
OCCUPATIONS, TEXTS, LANGUAGES, PANEL = 436, 3, 7, 6
KEY = ["section", "language", "system", "category"]
SHARES = ("share_masculine", "share_feminine", "share_not_clear")


def read(path=PAPER):
    """A paper's numbers as text cells, indexed by id."""
    return pd.read_csv(path, dtype=str, keep_default_na=False).set_index("id")


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


def _meet(a, b):
    """Whether two closed intervals have a point in common."""
    return a[0] <= b[1] and b[0] <= a[1]


def _check(check, published, stated, computed, how, low=None, high=None):
    """One row of `COLUMNS`; `stated` is the interval that the paper's digits or words stand for, None where it states nothing."""
    low, high = computed if low is None else low, computed if high is None else high
    status = "follows" if stated is None else "agrees" if _meet(stated, (low, high)) else "differs"
    return check, published, computed, low, high, status, how


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
        text, meant = ("", None) if stated is None else (f"{stated:g}", printed(stated, decimals))
        rows.append(_check(check, text, meant, computed, how, low, high))

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


def pooled_ngpd(masculine, feminine):
    """nGPD (masculine, reference 0.5) of text types of equal size, from the printed shares of each.

    Parameters
    ----------
    masculine, feminine : list of (float, float)
        Interval of each type's share, any unit.

    Returns
    -------
    low, high : float
        (m - f)/(m + f) of the sums grows with m and falls with f, so it is widest where one is lowest and the other highest.

    Examples
    --------
    >>> pooled_ngpd([(80, 80), (70, 70)], [(20, 20), (30, 30)])
    (0.5, 0.5)
    """
    m, f = np.sum(masculine, axis=0), np.sum(feminine, axis=0)
    return float((m[0] - f[1]) / (m[0] + f[1])), float((m[1] - f[0]) / (m[1] + f[0]))


def in_code_order(codes, values):
    """Whether a list falls from value to value and, where values are equal, goes by code.

    Examples
    --------
    >>> in_code_order(["3221", "2221"], [0.9, 0.7]), in_code_order(["3221", "2221"], [0.9, 0.9])
    (True, False)
    """
    pairs = [(-value, code) for value, code in zip(values, codes)]
    return pairs == sorted(pairs)


def systems_consistency(paper=None, labour=None):
    """What can be recomputed from the systems paper's own numbers, and from the labour statistics that it names.

    Parameters
    ----------
    paper : DataFrame, optional
        As `read(SYSTEMS)` gives it.
    labour : DataFrame, optional
        As `representation.read_labour` gives it.

    Returns
    -------
    DataFrame
        As `consistency`; *differs* says in `how` why.
    """
    paper = read(SYSTEMS) if paper is None else paper
    labour = representation.read_labour() if labour is None else labour
    parts = [part(paper) for part in (_sizes, _row_sums, _pooled, _accuracies, _bounds, _extremes)]
    return pd.DataFrame([row for part in (*parts, _labour(paper, labour)) for row in part], columns=COLUMNS)


def papers():
    """Both papers' checks: `paper` (metrics, systems), then the columns of `consistency`."""
    parts = {"metrics": consistency(), "systems": systems_consistency()}
    return pd.concat([frame.assign(paper=name) for name, frame in parts.items()], ignore_index=True)[["paper", *COLUMNS]]


def _number(paper, key):
    return float(paper.at[key, "value"])


def _interval(row):
    return printed(float(row["value"]), int(row["decimals"]))


def _count(check, wanted, found, how, missed=()):
    """Row for a statement about each of `wanted` things, `found` of which hold; the others are named."""
    return _check(check, f"{wanted}", (wanted, wanted), float(found), how + (f"; not {', '.join(missed)}" if len(missed) else ""))


def _sizes(paper):
    """Numbers of texts: 1,961 titles in five formats, and in three genders for the evaluation sets."""
    texts, formats, evaluation = _number(paper, "B006"), _number(paper, "B009"), _number(paper, "B074")
    genders, stated, mean = len(paper.at["B278", "value"].split(",")), _number(paper, "B008"), paper.loc["B007"]
    each = evaluation / genders / formats
    yield _check("texts of all formats", f"{texts:g}", (texts, texts), each * formats,
                 f"{each:,g} × {formats:g}, where {each:,g} = {evaluation:,g} evaluation texts / {genders} genders / {formats:g} formats")
    reasons = [f"{texts:,g} / {formats:g}", f"{stated:,g} × {formats:g} = {stated * formats:,g}, neither {texts:,g} nor {evaluation:,g}",
               f"a number of texts in {genders} genders would be divisible by {genders}, "
               f"as {evaluation:,g} / {formats:g} = {evaluation / formats:,g} is"]
    yield _check("texts of a format", f"{stated:g}", (stated, stated), texts / formats,
                 "; ".join(reasons if stated != texts / formats else reasons[:1]))
    yield _check("texts of an occupation", mean["value"], _interval(mean), texts / OCCUPATIONS, f"{texts:,g} / {OCCUPATIONS} unit groups")


def _by_type(paper):
    """Tables 7 and 8: {(section, language, system, text type): array (3, 2)}, the intervals of the three shares in percent."""
    rows = paper[paper["quantity"].isin(SHARES)]
    limits = {(*row[KEY], row["quantity"]): _interval(row) for _, row in rows.iterrows()}
    return {key: np.array([limits[(*key, share)] for share in SHARES]) for key in dict.fromkeys(k[:-1] for k in limits)}


def _row_sums(paper):
    """Rows of Tables 7 and 8: do they sum to 100, and can they be counts of all texts of a type?"""
    shares, each = _by_type(paper), int(_number(paper, "B006") / _number(paper, "B009"))
    for table in dict.fromkeys(key[0] for key in shares):
        own = {f"{system}, {kind}": value for (section, _, system, kind), value in shares.items() if section == table}
        sums = [value.mean(axis=1).sum() for value in own.values()]
        missed = [name for name, value in own.items() if not value[:, 0].sum() <= 100 <= value[:, 1].sum()]
        yield _count(f"rows of {table} that sum to 100", len(own), len(own) - len(missed),
                     f"masculine + feminine + not clear; sums from {min(sums):.2f} to {max(sums):.2f}", missed)
    texts = np.array(list(shares.values())) * each / 100
    whole = (np.ceil(texts[..., 0]) <= np.floor(texts[..., 1])).all(axis=1)
    yield _check(f"rows of Tables 7 and 8 that can be counts of {each:,} texts", "", None, float(whole.sum()),
                 f"of {len(whole)}: whole numbers of {each:,} that print as the three shares; the other rows are shares of other numbers "
                 "of texts, so that the text types have equal sizes, as taken below, holds only nearly")


def _pooled(paper):
    """Table 3 from Tables 7 and 8: nGPD of the five text types together, and their not-clear shares against section 5.2."""
    shares, table = _by_type(paper), paper[paper["section"] == "Table 3"]

    def of(row, system):
        """(type, share, bound) of a system in a row's language."""
        return np.array([value for key, value in shares.items() if key[1:3] == (row["language"], system)])

    masculine = table[table["category"].str.startswith("masculine")]
    for _, row in masculine.iterrows():
        m, f, _ = of(row, row["system"]).swapaxes(0, 1)
        low, high = pooled_ngpd(m, f)
        middle, _ = pooled_ngpd(*(np.repeat(x.mean(axis=1, keepdims=True), 2, axis=1) for x in (m, f)))
        stated, value, how = _interval(row), row["value"], "(m − f)/(m + f) of the summed shares of the five text types"
        if not _meet(stated, (low, high)):
            types = [pooled_ngpd([a], [b]) for a, b in zip(m, f)]
            how += f"; the types alone give {min(types)[0]:.3f} to {max(high for _, high in types):.3f}"
            twins = masculine[(masculine["language"] == row["language"]) & (masculine["value"] == value)]["system"]
            how += f"; Table 3 prints {value} for {', '.join(twins)}" if len(twins) > 1 else ""
        elif int(row["decimals"]) < 2:
            two = "agree" if _meet(printed(float(value), 2), (low, high)) else "differ"
            how += f"; printed with one decimal: read as {float(value):.2f} it would {two}"
        yield _check(f"nGPD of {row['system']}, {row['language']}", value, stated, middle, how, low, high)
    for _, row in paper[paper["quantity"] == "ambiguity_preserved_range"].iterrows():
        bounds = [float(x) for x in row["value"].strip("<").split("-")]
        stated = tuple(bounds) if len(bounds) == 2 else (0, np.nextafter(bounds[0], 0))
        for system in masculine["system"].unique():
            unclear = of(row, system)[:, 2].mean(axis=0)
            yield _check(f"not clear, {system}, {row['language']} (%)", row["value"], stated, float(unclear.mean()),
                         f"mean of the five text types; section {row['section']} says it of all systems", *map(float, unclear))
    pairs = table.pivot(index=["system", "language"], columns="category", values="value").astype(float)
    opposite = pairs["masculine, overall"] == -pairs["feminine, overall"]
    yield _count("nGPD of Table 3: feminine = −masculine", len(pairs), int(opposite.sum()), "p_fem = 1 − p_masc, reference 0.5",
                 [", ".join(key) for key in pairs.index[~opposite]])


def _accuracies(paper):
    """Table 2: both right cannot be more often than either, nor less often than occupation + gender − 100."""
    for language, own in paper[paper["section"] == "Table 2"].groupby("language", sort=False):
        own = own.set_index("quantity")
        occupation, gender = (_interval(own.loc[f"{k}_accuracy"]) for k in ("occupation", "gender"))
        overall = own.loc["overall_accuracy"]
        both = float(own.at["occupation_accuracy", "value"]) * float(own.at["gender_accuracy", "value"]) / 100
        yield _check(f"both accuracies, {language} (%)", overall["value"], _interval(overall), both,
                     "recomputed as if independent; at least occupation + gender − 100, at most the smaller of the two",
                     occupation[0] + gender[0] - 100, min(occupation[1], gender[1]))


def _bounds(paper):
    """nGPD = p/reference − 1 and p lies between 0 and 1."""
    values = paper[paper["quantity"].str.startswith("nGPD") & (paper["decimals"] != "")]
    limits = np.array([_interval(row) for _, row in values.iterrows()])
    half = _number(paper, "B004")
    lowest, highest = (float(representation.ngpd(p, half)) for p in (0, 1))
    for check, kept, how in (("not below −1", limits[:, 1] >= lowest, "p/reference − 1 at p = 0, whatever the reference"),
                             (f"not above {highest:g}", limits[:, 0] <= highest, f"1/reference − 1 at p = 1, reference {half:g}")):
        yield _count(f"printed nGPD {check}", len(values), int(kept.sum()), how, list(values.index[~kept]))
    yield _check("nGPD of the other gender", paper.at["B111", "value"], (-math.inf, np.nextafter(lowest, -math.inf)), lowest,
                 "nGPD = p/reference − 1 is never below −1, and never above 1/reference − 1: “<< −1” cannot be")


def _extremes(paper):
    """Table 9: five unit groups at each end, by system and language."""
    rows = paper[paper["section"] == "Table 9"]
    rows = rows.assign(code=rows["category"].str[:4], rank=rows["category"].str.extract(r"rank (\d+)")[0].astype(int),
                       number=rows["value"].astype(float)).sort_values("rank", kind="stable")
    lists = {" ".join(key): own for key, own in rows.groupby(["system", "language", "quantity"])}
    missed = [name for name, own in lists.items() if not in_code_order(own["code"], own["number"])]
    ties = [n for own in lists.values() for n in Counter(own["value"]).values()]
    chance = math.prod(map(math.factorial, ties))
    yield _count("lists of Table 9 with ties in code order", len(lists), len(lists) - len(missed),
                 f"{sum(n for n in ties if n > 1)} of {len(rows)} groups have a twin of the same value in their list; the ties can be "
                 f"ordered in {chance:.2g} ways", missed)
    skipped = {}
    for name, own in lists.items():
        if own["value"].nunique() == 1:
            listed = set(own["code"])
            skipped[name] = [code for code in isco.unit_groups() if code < max(listed) and code not in listed]
    yield _check("groups skipped by the lists of Table 9 that are ties alone", "", None, float(sum(map(len, skipped.values()))),
                 "if ties go by code, what the lists pass over is below their value, or has no gendered text: "
                 + "; ".join(f"{name.removesuffix(' nGPD_masc')} {' '.join(codes)}" for name, codes in skipped.items()))
    top = paper.loc["B100"]
    reach = {name: own["number"].max() == float(top["value"]) for name, own in lists.items() if name.endswith("fem")}
    yield _count(f"feminine lists of Table 9 that reach {top['value']}", len(reach), sum(reach.values()),
                 f"section {top['section']} says it of every system", [name for name, yes in reach.items() if not yes])
    for _, said in paper[(paper["section"] == "5.2") & (paper["quantity"] == "nGPD")].iterrows():
        own = lists[f"{said['system']} {said['language']} nGPD_masc"]
        found = own.loc[own["code"] == "1111", "number"]
        yield _check(f"nGPD of 1111 Legislators, {said['system']}, {said['language']}", said["value"], _interval(said),
                     float(found.iloc[0]) if len(found) else np.nan, "Table 9")


def _labour(paper, labour):
    """The example of the legislators, and what the text says of Greek groups, from the labour statistics."""
    men = paper[paper["quantity"] == "real_share_male_legislators"].set_index("category")
    greece = labour[labour["country"] == "GRC"].set_index(["year", "isco08"])
    group, said = f"group 11, {isco.title('11').lower()}", men.loc["2022"]
    year = greece.loc[2022].dropna(subset=["F", "M"])
    rounded = 100 * year["M"].round(1) / (year["M"] + year["F"]).round(1)
    alike = [code for code, value in rounded.items() if agrees(float(said["value"]), int(said["decimals"]), value)]
    m, total = year.at["11", "M"], year.at["11", "M"] + year.at["11", "F"]
    yield _check("men among legislators, Greece 2022 (%)", said["value"], _interval(said), float(rounded["11"]),
                 f"{m:.1f}/{total:.1f} thousand ({100 * m / total:.1f} before rounding) in {group}: not unit group 1111; "
                 f"groups of two digits that give it: {' '.join(alike) or 'none'}")
    said, m = men.loc["2014"], greece.at[(2014, "11"), "M"]
    low, high = _interval(said)
    yield _check("persons in group 11, Greece 2014 (thousand)", "", None, 100 * round(m, 1) / float(said["value"]),
                 f"{m:.1f} thousand men over the printed {said['value']} %; women are suppressed that year", 100 * round(m, 1) / high,
                 100 * round(m, 1) / low)
    years = representation.labour_years("GRC")
    share = 100 * representation.labour_shares(labour, "GRC")["share"]
    statements = paper[paper["quantity"] == "statement_real_distribution"]
    female = share[statements.loc[statements["value"] == "primarily female", "category"].str[-2:].iloc[0]]
    for _, said in statements.iterrows():
        code, balanced = said["category"][-2:], said["value"] != "primarily female"
        meant = (female + 1e-9, 100 - female - 1e-9) if balanced else (0, 50)
        yield _check(f"men in group {code}, Greece (%)", said["value"], meant, float(share[code]),
                     f"{years[0]}–{years[-1]}; " + ("nearer to 50 than the group called primarily female" if balanced else "below 50"))


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
            found = runs[["signed", "significant"]].to_dict("index").get((system, language))       # 0: not significant
            computed = np.nan if found is None else float(np.sign(found["signed"])) * (found["significant"] is True)
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
