"""System measures: how often a translation system makes an occupation masculine, against a reference.

A text counts if the gender of its occupation can be told; the others (not clear) stay out of the shares and are reported beside them.
p = n_masculine / (n_masculine + n_feminine), GPD = p - reference, nGPD = GPD / reference, for groups of every ISCO-08 level. All functions
are pure.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from mtgender import isco
from mtgender.data import GENDER_COUNTS, number, read_tsv_like
from mtgender.data import GENDERS as COUNTS
from mtgender.inference import percentile_interval, resample_counts
from mtgender.study import COUNTRIES, ROOT, InputError

NORMATIVE = 0.5
STEERED = ("their", "adjectives")            # subsets whose added words steer gender: rows of their own, no groups
MANY = 8                                     # unit groups with gendered text from which a group's interval resamples occupations
RUN = GENDER_COUNTS[:4]                     # source, system, language, subset
LABOUR = ROOT / "data" / "labour.csv"
AGREE = "all occupations agree: the bootstrap interval of their share has no width and says nothing about other texts"


def shares(masculine, feminine):
    """p_masculine; missing where no text is gendered.

    Examples
    --------
    >>> shares([3, 0], [1, 0]).tolist()
    [0.75, nan]
    """
    m, f = np.asarray(masculine, float), np.asarray(feminine, float)
    return np.divide(m, m + f, out=np.full(np.broadcast(m, f).shape, np.nan), where=m + f > 0)


def gpd(p, reference):
    """Gender proportion difference p - reference."""
    return np.asarray(p, float) - np.asarray(reference, float)


def ngpd(p, reference):
    """Normalised difference (p - reference) / reference; missing where the reference is 0.

    Never below -1; at a reference of 0.5 it is 2 p - 1.

    Examples
    --------
    >>> ngpd(0.9, 0.5).item(), ngpd(0.0, 0.3).item(), ngpd(0.4, 0.0).item()
    (0.8, -1.0, nan)
    """
    p, reference = np.asarray(p, float), np.asarray(reference, float)
    return np.divide(p - reference, reference, out=np.full(np.broadcast(p, reference).shape, np.nan), where=reference > 0)


def read_labour(path=LABOUR):
    """Employment by country, two-digit group, year and sex.

    Returns
    -------
    DataFrame
        country, isco08, year (int), F, M (thousands; missing where suppressed). Only ISCO-08 groups of two digits.
    """
    frame = read_tsv_like(path, ["country", "isco08", "year", "sex", "employed_thousands"], ",")
    frame = frame[frame["isco08"].str.fullmatch("[0-9]{2}")]
    values = [None if v == "" else number(v) for v in frame["employed_thousands"]]
    bad = [i for i, (v, text) in enumerate(zip(values, frame["employed_thousands"])) if v is None and text != ""]
    if bad:
        row = frame.iloc[bad[0]]
        raise InputError(f"{row['employed_thousands']!r} is not a number", path=path, line=int(row["line"]))
    wide = frame.assign(value=np.array(values, float), year=frame["year"].astype(int)).pivot(
        index=["country", "isco08", "year"], columns="sex", values="value")
    return wide.rename_axis(columns=None).reset_index()


def labour_years(country):
    """The years whose figures are used: 2013-2022 for Greece and France, as the systems paper has it, 2018-2022 elsewhere."""
    return range(2013 if country in ("GRC", "FRA") else 2018, 2023)


def labour_shares(labour, country, years=None):
    """Share of men in every two-digit group: sum of men over sum of all, over the years in which both sexes are known.

    Parameters
    ----------
    labour : DataFrame
        As `read_labour` gives it.
    country : str
    years : iterable of int, optional
        Default: `labour_years`.

    Returns
    -------
    DataFrame
        Index two-digit code; share, years (how many were used), thousands (all of them together).
    """
    chosen = labour[(labour["country"] == country) & labour["year"].isin(list(labour_years(country) if years is None else years))]
    if not len(chosen):
        raise InputError(f"no labour figures for {country!r}", path=LABOUR, hint=f"It has {', '.join(sorted(labour['country'].unique()))}")
    known = chosen.dropna(subset=["F", "M"])
    sums = known.groupby("isco08").agg(men=("M", "sum"), women=("F", "sum"), years=("year", "size"))
    total = sums["men"] + sums["women"]
    return pd.DataFrame({"share": shares(sums["men"], sums["women"]), "years": sums["years"], "thousands": total}, index=sums.index)


def groups(counts, level, references=None):
    """Counts of every group of a level, pooled over its texts, and its reference.

    Parameters
    ----------
    counts : DataFrame
        One row a block (a source occupation): isco (unit group), masculine, feminine, not_clear, excluded.
    level : int
        0 (everything) to 4.
    references : Series, optional
        Share of men by two-digit group; default 0.5 everywhere. The reference of a group is the mean of its segments' references over
        the gendered segments; segments without one are left out and counted.

    Returns
    -------
    DataFrame
        group, the four counts, unit_groups (with gendered text), without_reference (gendered segments left out), reference, p_masculine,
        gpd, ngpd_masculine, ngpd_feminine, p_macro (mean over its unit groups; like p_masculine, of gendered segments with a reference).
    """
    names, place, codes, reference = _places(counts, level, references)
    numbers = counts[COUNTS].to_numpy(float)
    both, known = numbers[:, :2].sum(axis=1), ~np.isnan(reference)

    def pooled(values):
        return np.bincount(place, np.where(np.isfinite(values), values, 0), len(names))

    units, unit = np.unique(np.stack([place, codes]), axis=1, return_inverse=True)
    unit_p, known_p = (shares(*(np.bincount(unit, numbers[:, k] * kept, units.shape[1]) for k in (0, 1))) for kept in (1, known))
    weight, m = pooled(both * known), pooled(numbers[:, 0] * known)
    unit_groups = np.bincount(units[0], ~np.isnan(unit_p), len(names)).astype(int)
    ref = np.divide(pooled(reference * both), weight, out=np.full(len(names), np.nan), where=weight > 0)
    p = shares(m, weight - m)
    total, many = (np.bincount(units[0], x, len(names)) for x in (np.nan_to_num(known_p), ~np.isnan(known_p)))
    return pd.DataFrame({
        "group": names, **{c: pooled(numbers[:, k]).astype(int) for k, c in enumerate(COUNTS)}, "unit_groups": unit_groups,
        "without_reference": pooled(both * ~known).astype(int), "reference": ref, "p_masculine": p, "gpd": gpd(p, ref),
        "ngpd_masculine": ngpd(p, ref), "ngpd_feminine": ngpd(1 - p, 1 - ref),
        "p_macro": np.divide(total, many, out=np.full(len(names), np.nan), where=many > 0)})


def _places(counts, level, references):
    """Groups of a level (sorted), the group and unit group of every block as numbers, and its reference."""
    parents = isco.parent(counts["isco"], level) if level else pd.Series("", index=counts.index)
    place, names = pd.factorize(parents, sort=True)
    return np.asarray(names), place, pd.factorize(counts["isco"])[0], _references(counts, references).to_numpy(float)


def _references(counts, references):
    if references is None:
        return pd.Series(NORMATIVE, index=counts.index)
    return isco.parent(counts["isco"], 2).map(references)


def intervals(counts, level, references=None, *, replicates=5000, seed=0, confidence=0.95, table=None):
    """Intervals of nGPD (masculine) for every group of a level.

    Groups with at least `MANY` unit groups that hold gendered text: bootstrap over the group's own blocks, (sum of men) / (sum of both),
    percentile. Smaller ones: Jeffreys interval of the share on texts, carried to nGPD.

    Parameters
    ----------
    counts, level, references
        As in `groups`.
    replicates, seed : int
    confidence : float
    table : DataFrame, optional
        What `groups` gives, where it is known already.

    Returns
    -------
    DataFrame
        group, low, high, interval (occupations, texts; empty where no text is gendered).
    """
    table = groups(counts, level, references) if table is None else table
    _, place, codes, reference = _places(counts, level, references)
    m, both = counts["masculine"].to_numpy(float), (counts["masculine"] + counts["feminine"]).to_numpy(float)
    usable = ~np.isnan(reference) & (both > 0)
    means = table["reference"].to_numpy(float)
    men, texts = (np.bincount(place[usable], values[usable], len(table)) for values in (m, both))
    units = np.unique(np.stack([place, codes])[:, usable], axis=1)[0]
    many = np.bincount(units, minlength=len(table)) >= MANY
    low, high = ngpd(np.stack(jeffreys(men, texts, confidence)), means)
    for k in np.flatnonzero(many & (means > 0)):
        own = np.flatnonzero(usable & (place == k))
        drawn = resample_counts(len(own), replicates, seed)
        total = drawn @ both[own]
        values = ngpd(drawn @ m[own] / total, drawn @ (reference[own] * both[own]) / total)
        (low[k],), (high[k],) = percentile_interval(values[:, None], confidence)
    kinds = np.where(means > 0, np.where(many, "occupations", "texts"), "")
    return pd.DataFrame({"group": table["group"], "low": np.where(means > 0, low, np.nan), "high": np.where(means > 0, high, np.nan),
                         "interval": kinds})


def jeffreys(successes, n, confidence=0.95):
    """Jeffreys interval of a share; a bound is 0 or 1 where all texts agree.

    Parameters
    ----------
    successes, n : array_like
        Counts of texts, of one shape.
    confidence : float

    Returns
    -------
    low, high : ndarray

    Examples
    --------
    >>> [round(float(x), 4) for x in jeffreys(5, 10)]
    [0.2235, 0.7765]
    """
    successes, n, tail = np.asarray(successes, float), np.asarray(n, float), (1 - confidence) / 2
    low, high = (stats.beta.ppf(q, successes + 0.5, n - successes + 0.5) for q in (tail, 1 - tail))
    return np.where(successes == 0, 0.0, low), np.where(successes == n, 1.0, high)


def agree(share, low, high, kind):
    """Whether all occupations behind a bootstrap interval agree, so that it says nothing about other texts (`AGREE`).

    Parameters
    ----------
    share, low, high : array_like
        The share of masculine; the interval, of the share or of nGPD.
    kind : array_like of str
        occupations or texts; the Jeffreys interval keeps a width.

    Examples
    --------
    >>> agree([1.0, 1.0, 0.9], [1.0, 0.8, 0.7], [1.0, 1.0, 1.0], ["occupations", "texts", "occupations"]).tolist()
    [True, False, False]
    """
    share, low, high = (np.asarray(x, float) for x in (share, low, high))
    return (np.asarray(kind) == "occupations") & ((share == 0) | (share == 1) | (high - low < 1e-9))


def system_table(counts, *, replicates, seed, confidence):
    """One row a run: system, language and subset of one source.

    Parameters
    ----------
    counts : DataFrame
        source, system, language, subset, isco and the four counts; blocks without an ISCO code count in the whole run too.
    replicates, seed, confidence
        As in `intervals`.

    Returns
    -------
    DataFrame
        system, language, source, subset, n_masculine, n_feminine, n_not_clear, n_excluded, unit_groups, p_masculine, ngpd_masculine,
        ngpd_feminine, low, high, interval, note.
    """
    rows = []
    for (source, system, language, subset), own in counts.groupby(RUN, sort=False):
        unmapped = own["isco"] == ""
        whole = own.assign(isco=own["isco"].where(~unmapped, own["occupation"]))     # a block of its own, without a group
        table = groups(whole, 0)
        row, limits = table.iloc[0], intervals(whole, 0, replicates=replicates, seed=seed, confidence=confidence, table=table).iloc[0]
        notes = [f"{unmapped.sum()} occupation{'s' if unmapped.sum() > 1 else ''} without an ISCO group" if unmapped.any() else "",
                 AGREE if agree(row["p_masculine"], *limits[["low", "high", "interval"]]) else ""]
        rows.append({"system": system, "language": language, "source": source, "subset": subset, **{f"n_{c}": int(row[c]) for c in COUNTS},
                     "unit_groups": own.loc[~unmapped & (own["masculine"] + own["feminine"] > 0), "isco"].nunique(),
                     **{c: row[c] for c in ("p_masculine", "ngpd_masculine", "ngpd_feminine")},
                     **{c: limits[c] for c in ("low", "high", "interval")}, "note": "; ".join(filter(None, notes))})
    return pd.DataFrame(rows, columns=SYSTEM_RUNS)


SYSTEM_RUNS = ["system", "language", "source", "subset", *(f"n_{c}" for c in COUNTS), "unit_groups", "p_masculine", "ngpd_masculine",
               "ngpd_feminine", "low", "high", "interval", "note"]
SYSTEM_GROUPS = [*RUN, "reference_kind", "level", "group", *COUNTS, "unit_groups", "without_reference", "reference", "p_masculine", "gpd",
                 "ngpd_masculine", "ngpd_feminine", "p_macro", "low", "high", "interval"]


def group_table(counts, labour, *, replicates, seed, confidence, countries=COUNTRIES):
    """Groups of levels 1 to 4 of every run, against 0.5 and against the labour statistics of the language's country.

    Parameters
    ----------
    counts : DataFrame
        As in `system_table`; blocks without an ISCO code and `STEERED` subsets are left out.
    labour : DataFrame
        As `read_labour` gives it.
    replicates, seed, confidence
        As in `intervals`.
    countries : dict of str
        Country whose figures go with a language.

    Returns
    -------
    DataFrame
        `SYSTEM_GROUPS`; reference_kind is normative or the country's code. Languages without a country have the first kind only.
    """
    parts = []
    for key, own in counts[(counts["isco"] != "") & ~counts["subset"].isin(STEERED)].groupby(RUN, sort=False):
        kinds = {"normative": None}
        if key[2] in countries:
            kinds[countries[key[2]]] = labour_shares(labour, countries[key[2]])["share"]
        for kind, references in kinds.items():
            for level in (1, 2, 3, 4):
                table = groups(own, level, references)
                limits = intervals(own, level, references, replicates=replicates, seed=seed, confidence=confidence, table=table)
                parts.append(table.assign(**limits.drop(columns="group"), **dict(zip(RUN, key)), reference_kind=kind, level=level))
    return pd.concat(parts, ignore_index=True)[SYSTEM_GROUPS] if parts else pd.DataFrame(columns=SYSTEM_GROUPS)
