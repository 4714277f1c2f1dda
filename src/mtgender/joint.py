"""Evaluators, systems and the labour market side by side, by occupation.

Three figures stand for an occupation in a language: S% of the evaluators (do they prefer its masculine form?), p of the systems (the
share of masculine forms they write) and the share of men at work in its two-digit group. Their relation is Spearman's rank correlation and
a least-squares slope over unit groups or two-digit groups; the intervals resample occupations or, where the two-digit labour figure
repeats, whole two-digit groups. Missing stays missing: a pair of figures counts where both exist.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from mtgender import isco, preference, representation, tables
from mtgender.inference import panel_systems, percentile_interval, resample_counts
from mtgender.study import COUNTRIES

PANEL, POOLED = "S", "p"        # columns of `cells`: all-language panel of evaluators, systems of a language pooled
NAMES = {"S ": "signed_pct", "p ": "p_masculine"}
FEW = representation.MANY                       # fewer groups or blocks: no correlation
UNDEFINED = 0.05                                # share of replicates without variation above which there is no interval
QUESTIONS = {"evaluators_systems": "evaluators and systems", "evaluators_labour": "evaluators and men at work",
             "systems_labour": "systems and men at work", "given_labour": "evaluators and systems, given men at work"}
CORRELATIONS = ["question", "groups", "blocks", "language", "evaluator", "system", "n_languages", "n", "n_blocks", "rho", "low", "high",
                "slope", "slope_low", "slope_high", "note"]


# rank correlation and slope of resampled data

def average_ranks(x, counts):
    """Ranks of values in a multiset that holds value i `counts[b, i]` times; tied values share their average rank.

    Parameters
    ----------
    x : ndarray, shape (n,)
    counts : ndarray, shape (replicates, n)

    Returns
    -------
    ndarray, shape (replicates, n)
        Of a value that a replicate did not draw: without meaning.

    Examples
    --------
    >>> average_ranks(np.array([5.0, 7.0, 7.0]), np.array([[2.0, 1.0, 1.0]])).tolist()
    [[1.5, 3.5, 3.5]]
    """
    drawn = np.ascontiguousarray(counts.T)            # replicates side by side: a value costs a few operations on long rows
    ranks, below = np.empty(drawn.shape), np.zeros(len(counts))
    order = np.argsort(x, kind="stable")
    for tied in np.split(order, np.flatnonzero(np.diff(x[order])) + 1) if len(x) else ():
        own = drawn[tied].sum(axis=0) if len(tied) > 1 else drawn[tied[0]]
        ranks[tied] = below + (own + 1) / 2
        below += own
    return ranks.T


def spearman(x, y, counts, strata=None):
    """Spearman's rank correlation of every resample, exact with ties.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        No missing values.
    counts : ndarray, shape (replicates, n)
        How often each pair stands in the resample.
    strata : array_like, shape (n,), optional
        Languages: ranks are taken within each, centred and divided by the number of its pairs, then pooled.

    Returns
    -------
    ndarray, shape (replicates,)
        Missing where x or y does not vary.
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    sums = np.zeros((3, len(counts)))
    for own in _strata(strata, len(x)):
        drawn = np.ascontiguousarray(counts.T[own])
        total = drawn.sum(axis=0)
        a, b = ((average_ranks(values[own], drawn.T).T - (total + 1) / 2) / np.maximum(total, 1) for values in (x, y))
        sums += [np.einsum("ib,ib,ib->b", drawn, first, second) for first, second in ((a, b), (a, a), (b, b))]
    varies = (sums[1] > 0) & (sums[2] > 0)
    return np.divide(sums[0], np.sqrt(sums[1] * sums[2]), out=np.full(len(counts), np.nan), where=varies)


def slopes(x, y, counts, strata=None):
    """Least-squares slope of y on x of every resample; with strata a common slope and one intercept for each.

    Parameters
    ----------
    x, y, counts, strata
        As in `spearman`.

    Returns
    -------
    ndarray, shape (replicates,)
        Units of y for one unit of x; missing where x does not vary.
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    xy, xx, scale = np.zeros((3, len(counts)))
    for own in _strata(strata, len(x)):
        a, b = x[own] - x[own].mean(), y[own] - y[own].mean()
        total, sa, sb, sab, saa = np.stack([np.ones_like(a), a, b, a * b, a * a]) @ counts.T[own]
        xy += sab - np.divide(sa * sb, total, out=np.zeros_like(total), where=total > 0)
        xx += saa - np.divide(sa * sa, total, out=np.zeros_like(total), where=total > 0)
        scale += saa
    return np.divide(xy, xx, out=np.full(len(counts), np.nan), where=xx > 1e-12 * scale)


def _strata(strata, n):
    if strata is None:
        return [np.arange(n)]
    place = pd.factorize(np.asarray(strata))[0]
    return [np.flatnonzero(place == k) for k in range(place.max(initial=-1) + 1)]


def partial(xy, xz, yz):
    """Correlation of x and y given z, from the three correlations; missing where z determines one of them.

    Examples
    --------
    >>> round(float(partial(0.5, 0.5, 0.5)), 4)
    0.3333
    """
    xy, xz, yz = (np.asarray(r, float) for r in (xy, xz, yz))
    left = (1 - xz**2) * (1 - yz**2)
    return np.divide(xy - xz * yz, np.sqrt(np.maximum(left, 0)), out=np.full(np.shape(xy), np.nan), where=left > 1e-12)


def association(frame, x, y, block, *, level, replicates, seed, given=None):
    """Rank correlation and slope of two columns over the rows in which both are known, with block-bootstrap intervals.

    Parameters
    ----------
    frame : DataFrame
        language (stratum) and the columns named.
    x, y, block : str
        y is regressed on x; rows that share a block are drawn together, across languages.
    level, replicates, seed
        Of the interval and the bootstrap.
    given : str, optional
        A third column: partial rank correlation, no slope.

    Returns
    -------
    dict
        n_languages, n, n_blocks, rho, low, high, slope, slope_low, slope_high (y for one unit of x), note. Fewer than `FEW` rows or
        blocks, or a constant column: missing, and the note says why. Replicates without variation are left out and counted; more than 5 %
        of them: no interval.
    """
    columns = [x, y, *([given] if given else [])]
    known = frame.dropna(subset=columns)
    blocks, names = pd.factorize(known[block], sort=True)
    row = {"n_languages": known["language"].nunique(), "n": len(known), "n_blocks": len(names),
           **dict.fromkeys(("rho", "low", "high", "slope", "slope_low", "slope_high"), np.nan), "note": ""}
    if min(len(known), len(names)) < FEW:
        return {**row, "note": f"fewer than {FEW} " + ("groups" if len(known) < FEW else "blocks")}
    values = known[columns].to_numpy(float).round(12).T           # ties are ties on every machine
    drawn = np.vstack([np.ones(len(names)), resample_counts(len(names), replicates, seed)]).T[blocks].T
    rho = spearman(values[0], values[1], drawn, known["language"])
    if given:
        rho = partial(rho, *(spearman(v, values[2], drawn, known["language"]) for v in values[:2]))
    if np.isnan(rho[0]):
        return {**row, "note": "no variation"}
    row["rho"], lost = rho[0], int(np.isnan(rho[1:]).sum())
    row["note"] = f"{lost} of {replicates} resamples without variation left out" if lost else ""
    found = {"": rho} if given else {"": rho, "slope_": slopes(values[0], values[1], drawn, known["language"])}
    if not given:
        row["slope"] = found["slope_"][0]
    if lost > UNDEFINED * replicates:
        return {**row, "note": f"no interval: {lost} of {replicates} resamples without variation"}
    for name, drawn_values in found.items():
        row[f"{name}low"], row[f"{name}high"] = percentile_interval(drawn_values[1:][~np.isnan(drawn_values[1:])], level)
    return row


# the figures by occupation

def _languages(results):
    """Of the study first, then of the systems."""
    return list(dict.fromkeys([*results.study.languages, *results.gender_counts["language"]]))


def labour(languages):
    """Share of men in the two-digit group of every unit group, in each language's country.

    Parameters
    ----------
    languages : sequence of str
        Those without a country in `study.COUNTRIES` are left out.

    Returns
    -------
    DataFrame
        language, isco (unit group), share (missing where suppressed).
    """
    figures = representation.read_labour()
    codes = pd.Series(isco.unit_groups())
    parts = [pd.DataFrame({"language": code, "isco": codes, "share": isco.parent(codes, 2).map(
        representation.labour_shares(figures, COUNTRIES[code])["share"])}) for code in languages if code in COUNTRIES]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["language", "isco", "share"])


def evaluators(results):
    """S% by occupation and language: the panel that covers every language, and each metric of a language.

    Returns
    -------
    DataFrame
        language, isco, column (`PANEL` or `S <evaluator>`), value (percent of range).
    """
    effects = tables.occupation_effects(results).melt("isco", list(results.study.languages), "language", "value")
    runs = results.runs[(results.runs["kind"] == "scores") & (results.runs["status"] == "ok") & (results.runs["role"] == "metric")]
    single = results.occupations.merge(results.ranges, on=["system", "language"]).merge(runs[["system", "language"]])
    single["value"] = preference.percent_of_range(single["signed"], single["range"])
    panel = panel_systems(results.runs, results.study.languages)
    if len(panel) == 1:
        single = single[single["system"] != panel[0]]               # it is the panel
    parts = [effects.assign(column=PANEL), single.assign(column="S " + single["system"].astype(str))]
    return pd.concat([p[["language", "isco", "column", "value"]] for p in parts], ignore_index=True).dropna(subset="value")


def systems(results):
    """Share of masculine forms by group of every level, of the systems of a language pooled and of each run.

    Returns
    -------
    DataFrame
        language, level, isco, column (`POOLED` or `p <system> (<source>)`), value (p masculine), texts (gendered). Subsets whose words
        steer gender and blocks without an ISCO group are left out.
    """
    counts = results.gender_counts
    counts = counts[(counts["isco"] != "") & ~counts["subset"].isin(representation.STEERED)]
    parts = []
    for code, own in counts.groupby("language", sort=False):
        runs = {f"p {system} ({source})": run for (system, source), run in own.groupby(["system", "source"], sort=False)}
        for column, run in {POOLED: own, **runs}.items():
            for level in (1, 2, 3, 4):
                table = representation.groups(run, level)
                parts.append(pd.DataFrame({"language": code, "level": level, "isco": table["group"], "column": column,
                                           "value": table["p_masculine"], "texts": table["masculine"] + table["feminine"]}))
    columns = ["language", "level", "isco", "column", "value", "texts"]
    return (pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)).dropna(subset="value")


def cells(results):
    """Everything that is known of a group in a language.

    Returns
    -------
    DataFrame
        language, level (1 to 4), isco, group (two-digit, from level 2 on; else empty), share, texts (gendered, of the pooled systems) and
        the columns of `evaluators` and `systems`. S% and share of a group above level 4 are means over its unit groups, p is pooled over
        its texts. Groups of which nothing is known have no row.
    """
    shares = labour(_languages(results)).rename(columns={"share": "value"}).assign(column="share")
    units = pd.concat([evaluators(results), shares]).dropna(subset="value")
    rolled = [units.assign(level=level, isco=isco.parent(units["isco"], level)) for level in (1, 2, 3, 4)]
    means = pd.concat(rolled).groupby(["language", "level", "isco", "column"], sort=False)["value"].mean().reset_index()
    written = systems(results)
    texts = written[written["column"] == POOLED].assign(column="texts", value=lambda f: f["texts"])
    long = pd.concat([means, written, texts])[["language", "level", "isco", "column", "value"]]
    wide = long.pivot(index=["language", "level", "isco"], columns="column", values="value").astype(float)
    wide = wide.reindex(columns=list(dict.fromkeys(["share", "texts", PANEL, POOLED, *sorted(wide.columns)]))).reset_index()
    group = isco.parent(wide["isco"].where(wide["level"] > 1, ""), 2)
    return wide.assign(group=group.where(wide["level"] > 1, "")).rename_axis(columns=None)


def occupations(results, frame):
    """One row a group of levels 4 to 1: S% by language and over languages, p and nGPD of the systems, share of men.

    Parameters
    ----------
    results : Results
    frame : DataFrame
        From `cells`.

    Returns
    -------
    DataFrame
        level, isco, title, then signed_pct_<language> of the panel and signed_pct_mean (over the study's languages), labour_<language>,
        and p_masculine_, ngpd_ (against 0.5) and texts_<language> of the pooled systems, signed_pct_<language>_<metric> of each other
        metric and p_masculine_<language>_<run> of each run.
    """
    codes = [code for code in _languages(results) if code in set(frame["language"])]
    wide = frame.drop(columns="group").pivot(index=["level", "isco"], columns="language")
    table = pd.DataFrame(index=wide.index)
    groups = {"signed_pct": PANEL, "labour": "share", "p_masculine": POOLED, "texts": "texts"}
    for name, column in groups.items():
        found = {code: wide[column, code] for code in codes if (column, code) in wide and wide[column, code].notna().any()}
        table = table.assign(**{f"{name}_{code}": values for code, values in found.items()})
        if name == "signed_pct":
            every = table.reindex(columns=[f"signed_pct_{code}" for code in results.study.languages])
            table["signed_pct_mean"] = every.mean(axis=1, skipna=False)
        if name == "p_masculine":
            table = table.assign(**{f"ngpd_{code}": representation.ngpd(p, representation.NORMATIVE) for code, p in found.items()})
    single = [c for c in dict.fromkeys(wide.columns.get_level_values(0)) if c[:2] in NAMES]
    more = {f"{NAMES[c[:2]]}_{code}_{c[2:]}": wide[c, code] for code in codes for c in single if wide[c, code].notna().any()}
    table = pd.concat([table, pd.DataFrame(more, index=table.index)], axis=1).reset_index()
    table.insert(2, "title", [isco.title(code) for code in table["isco"]])
    return table.sort_values(["level", "isco"], ascending=[False, True]).reset_index(drop=True)


def languages(results, frame):
    """Which of the three figures a language has, for how many unit groups.

    Parameters
    ----------
    results : Results
    frame : DataFrame
        From `cells`.

    Returns
    -------
    frame, printed : DataFrame
    """
    units = frame[frame["level"] == 4]
    rows = []
    for code in _languages(results):
        own = units[units["language"] == code]
        known = own.notna().loc[:, own.notna().any()]
        rows.append({"language": code, "panel": ", ".join(panel_systems(results.runs, results.study.languages)) if PANEL in known else "",
                     "metrics": ", ".join(c[2:] for c in known if c[:2] == "S "),
                     "runs": ", ".join(c[2:] for c in known if c[:2] == "p "),
                     "country": COUNTRIES.get(code, ""), "n_evaluators": own[PANEL].notna().sum(), "n_systems": own[POOLED].notna().sum(),
                     "n_labour": own["share"].notna().sum(), "n_all_three": own[[PANEL, POOLED, "share"]].notna().all(axis=1).sum()})
    table = pd.DataFrame(rows)
    printed = pd.DataFrame({
        "Language": [tables.language_name(c) for c in table["language"]],
        **{name: table[key].replace("", tables.ABSENT) for name, key in
           (("panel of evaluators", "panel"), ("single metrics", "metrics"), ("runs of systems (texts of)", "runs"),
            ("labour figures of", "country"))},
        **{f"unit groups: {name}": table[key].astype(str) for name, key in
           (("evaluators", "n_evaluators"), ("systems", "n_systems"), ("labour", "n_labour"), ("all three", "n_all_three"))}})
    return table, printed


# the questions

def correlations(results, frame):
    """Do evaluators prefer what systems write, and does either follow the labour market? One row a question, language and source.

    Parameters
    ----------
    results : Results
    frame : DataFrame
        From `cells`.

    Returns
    -------
    frame, printed : DataFrame
        `CORRELATIONS`; language is a code or `all` (ranks within languages, pooled), evaluator is `panel` or a name, system `all` or a run.
        groups and blocks are unit (unit groups) or two-digit. Slopes: S% (percent of range) or p (percentage points) for 10 percentage
        points of x, the second of the two named (of evaluators and systems: p).
    """
    given = {"level": results.study.level, "replicates": results.study.replicates, "seed": results.study.seed}
    single, runs = ([c for c in frame if c[:2] == kind] for kind in NAMES)
    plan = [("evaluators_systems", 4, "isco", s, p) for s, p in [*((PANEL, p) for p in (POOLED, *runs)), *((s, POOLED) for s in single)]]
    plan += [("given_labour", 4, "group", PANEL, POOLED)]
    plan += [("evaluators_labour", level, "group", s, "share") for level in (4, 2) for s in (PANEL, *single)]
    plan += [("systems_labour", 4, "group", p, "share") for p in (POOLED, *runs)] + [("systems_labour", 2, "group", POOLED, "share")]
    labels = {PANEL: "panel", POOLED: "all"}
    rows = []
    for question, level, block, y, x in plan:
        own = frame[(frame["level"] == level) & frame[[x, y, *(["share"] if question == "given_labour" else [])]].notna().all(axis=1)]
        alone = list(dict.fromkeys(own["language"]))
        for code in (["all"] if len(alone) > 1 and {x, y} <= {PANEL, POOLED, "share"} else []) + alone:
            row = association(own if code == "all" else own[own["language"] == code], x, y, block,
                              given="share" if question == "given_labour" else None, **given)
            factor = 0.1 if y[0] == "S" else 10                     # S% for 0.1 of x; percentage points of p for the same
            row |= {k: row[k] * factor for k in ("slope", "slope_low", "slope_high")}
            rows.append({"question": question, "groups": "unit" if level == 4 else "two-digit",
                         "blocks": "unit" if block == "isco" else "two-digit", "language": code,
                         **{name: next((labels.get(c, c[2:]) for c in (x, y) if c[0] == kind), "")
                            for name, kind in (("evaluator", "S"), ("system", "p"))}, **row})
    table = pd.DataFrame(rows, columns=CORRELATIONS)
    printed = pd.DataFrame({
        "Between": table["question"].map(QUESTIONS), "groups": table["groups"], "blocks": table["blocks"],
        "Language": table["language"].str.upper(), "Evaluator": table["evaluator"].replace("", tables.ABSENT),
        "System": table["system"].replace("", tables.ABSENT), "n": table["n"].astype(str), "blocks n": table["n_blocks"].astype(str),
        "ρ": [f"{tables.fixed(v)} {tables.interval(a, b)}" if pd.notna(v) else tables.ABSENT
              for v, a, b in zip(table["rho"], table["low"], table["high"])],
        "slope": [f"{tables.fixed(v)} {tables.interval(a, b)}" if pd.notna(v) else tables.ABSENT
                  for v, a, b in zip(table["slope"], table["slope_low"], table["slope_high"])], "note": table["note"]})
    return table, printed


def against_labour(frame):
    """S% and share of men by unit group, means over the languages that have both, and how far their ranks lie apart.

    Parameters
    ----------
    frame : DataFrame
        From `cells`; unit groups known in fewer than half of the languages are left out.

    Returns
    -------
    DataFrame
        isco, title, group, n_languages, signed_pct, share, rank_signed, rank_share (0 to 1, mean over languages), gap (their difference;
        positive: the masculine form is preferred more than the share of men lets expect), n_same_sign (languages whose gap has that sign),
        n_opposed (languages where S% > 0 and men are fewer than half, or S% < 0 and more than half). Sorted by gap, then code.
    """
    own = frame[(frame["level"] == 4) & frame[PANEL].notna() & frame["share"].notna()]
    languages = own.groupby("language")[[PANEL, "share"]]
    ranks = (languages.rank() - 0.5) / languages.transform("count")
    own = own.assign(rank_signed=ranks[PANEL], rank_share=ranks["share"], gap=(ranks[PANEL] - ranks["share"]).round(12))
    own["opposed"] = (np.sign(own[PANEL]) * np.sign(own["share"] - 0.5)) < 0
    table = own.groupby(["isco", "group"]).agg(n_languages=("language", "size"), signed_pct=(PANEL, "mean"), share=("share", "mean"),
                                               rank_signed=("rank_signed", "mean"), rank_share=("rank_share", "mean"), gap=("gap", "mean"),
                                               n_opposed=("opposed", "sum")).reset_index()
    same = np.sign(own["gap"]) == np.sign(own["isco"].map(table.set_index("isco")["gap"]))
    table["n_same_sign"] = table["isco"].map(same.groupby(own["isco"]).sum()).astype(int)
    table.insert(1, "title", [isco.title(code) for code in table["isco"]])
    table = table[table["n_languages"] >= own["language"].nunique() / 2].assign(gap=lambda f: f["gap"].round(12))
    return table.sort_values(["gap", "isco"], ascending=[False, True]).reset_index(drop=True)


def contradictions(frame, n=10):
    """The unit groups whose place in the evaluators' order lies farthest from their place in the labour market.

    Parameters
    ----------
    frame : DataFrame
        From `against_labour`.
    n : int

    Returns
    -------
    frame, printed : DataFrame
        side (more: masculine form preferred more than the share of men lets expect; less), the columns of `against_labour`, tied (groups
        left out that share the gap of the last one shown).
    """
    own = frame.assign(size=frame["gap"].abs())
    parts = []
    for side, sign in (("more", 1), ("less", -1)):
        ordered = own[own["gap"] * sign > 0].sort_values(["size", "isco"], ascending=[False, True])
        shown = ordered.head(n)
        tied = int((ordered["size"] == shown["size"].iloc[-1]).iloc[n:].sum()) if len(shown) else 0
        parts.append(shown.assign(tied=tied).drop(columns="size"))
        parts[-1].insert(0, "side", side)
    table = pd.concat(parts, ignore_index=True)
    printed = pd.DataFrame({
        "Masculine preferred": table["side"], "ISCO": table["isco"], "Occupation": table["title"],
        "S%": [tables.fixed(v) for v in table["signed_pct"]], "men at work %": [tables.fixed(100 * v, 1) for v in table["share"]],
        **{name: [tables.fixed(100 * v, 0) for v in table[key]] for name, key in
           (("rank S%", "rank_signed"), ("rank men", "rank_share"))},
        "gap": [tables.fixed(100 * v, 0, sign=True) for v in table["gap"]],
        **{name: [f"{k}/{m}" for k, m in zip(table[key], table["n_languages"])] for name, key in
           (("languages, same sign", "n_same_sign"), ("languages, opposed", "n_opposed"))},
        "tied": table["tied"].astype(str)})
    return table, printed


def quadrants(frame, overall):
    """How many unit groups lie on which side: S% above or below 0, p or share of men above or below one half.

    Parameters
    ----------
    frame : DataFrame
        From `cells`.
    overall : DataFrame
        From `against_labour`, the row `mean`.

    Returns
    -------
    frame, printed : DataFrame
        question, language (`mean`: means over languages), n, both_masculine, evaluators_masculine (the other below one half),
        evaluators_feminine (the other above), both_feminine, on_a_line.
    """
    units = frame[frame["level"] == 4]
    rows = []
    for question, column in (("evaluators_systems", POOLED), ("evaluators_labour", "share")):
        known = units.dropna(subset=[PANEL, column])
        parts = {code: (own[PANEL], own[column]) for code, own in known.groupby("language", sort=False)}
        if column == "share":
            parts["mean"] = overall["signed_pct"], overall["share"]
        for code, (signed, other) in parts.items():
            side = list(zip(np.sign(signed), np.sign(other.round(12) - 0.5)))
            count = {name: side.count(place) for name, place in SIDES.items()}
            rows.append({"question": question, "language": code, "n": len(side), **count, "on_a_line": len(side) - sum(count.values())})
    table = pd.DataFrame(rows, columns=["question", "language", "n", *SIDES, "on_a_line"])
    printed = table.assign(question=table["question"].map(QUESTIONS), language=table["language"].str.upper()).astype(str)
    return table, printed.rename(columns={**{c: c.replace("_", " ") for c in printed}, "question": "Between", "language": "Language"})


# sign of S% and of the other figure less one half
SIDES = {"both_masculine": (1, 1), "evaluators_masculine": (1, -1), "evaluators_feminine": (-1, 1), "both_feminine": (-1, -1)}


# what the figures show

CORNERS = {"systems": {(1, 1): "both masculine", (-1, 1): "evaluators masculine, systems feminine",
                       (1, -1): "evaluators feminine, systems masculine", (-1, -1): "both feminine"},
           "labour": {(1, 1): "masculine preferred, mostly men", (-1, 1): "masculine preferred, mostly women",
                      (1, -1): "feminine preferred, mostly men", (-1, -1): "feminine preferred, mostly women"}}


def points(frame, n=18):
    """Evaluators against systems by unit group, in the language where most unit groups have both.

    Parameters
    ----------
    frame : DataFrame
        From `cells`.
    n : int
        How many are named: those farthest from the middle, in standard deviations of both figures.

    Returns
    -------
    frame : DataFrame
        language, isco, title, x (p), y (S%), texts, named.
    language : str
        Empty if no language has both.
    """
    known = frame[frame["level"] == 4].dropna(subset=[PANEL, POOLED])
    language = known["language"].mode().min() if len(known) else ""
    own = known[known["language"] == language].rename(columns={POOLED: "x", PANEL: "y"}).reset_index(drop=True)
    own["title"] = [isco.title(code) for code in own["isco"]]
    values = own[["x", "y"]]
    far = (((values - values.mean()) / values.std().replace(0, np.nan)) ** 2).sum(axis=1)
    own["named"] = far.rank(ascending=False, method="first") <= n
    return own[["language", "isco", "title", "x", "y", "texts", "named"]], language


def labour_points(overall, named):
    """S% against share of men by unit group, means over languages; the contradictions and both ends of S% are named.

    Parameters
    ----------
    overall, named : DataFrame
        From `against_labour` and `contradictions`.
    """
    own = overall.rename(columns={"share": "x", "signed_pct": "y"})
    ends = own["y"].isin([own["y"].min(), own["y"].max()])
    return own.assign(named=own["isco"].isin(named["isco"]) | ends)[["isco", "title", "x", "y", "n_languages", "named"]]


def majors(table, languages):
    """S% of the major groups by language, and the mean over languages.

    Parameters
    ----------
    table : DataFrame
        From `occupations`.
    languages : sequence of str
        Those without figures are left out.
    """
    own = table[table["level"] == 1]
    shown = [code for code in (*languages, "mean") if f"signed_pct_{code}" in own]
    values = own[[f"signed_pct_{code}" for code in shown]].set_axis([code.upper() for code in shown], axis=1)
    return values.set_axis([f"{code} {title}" for code, title in zip(own["isco"], own["title"])])


# the answer

def _listed(names):
    names = list(names)
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def _rho(row):
    return f"{tables.fixed(row['rho'])} {tables.interval(row['low'], row['high'])}"


def _tendency(row, positive, negative):
    """What an interval says, in words."""
    if pd.isna(row["low"]):
        return f"this cannot be said ({row['note']})"
    return positive if row["low"] > 0 else negative if row["high"] < 0 else "this is not shown (the interval covers 0)"


def _sides(rows, alone=None):
    """Languages by where their interval lies; `alone`: language -> the one system it rests on."""
    parts, names = [], {c: tables.language_name(c) + (f" ({alone[c]} only)" if c in (alone or {}) else "") for c in rows["language"]}
    for words, chosen in (("above 0", rows["low"] > 0), ("below 0", rows["high"] < 0),
                          ("not apart from 0", (rows["low"] <= 0) & (rows["high"] >= 0)), ("without interval", rows["low"].isna())):
        if chosen.any():
            parts.append(f"{words} in {_listed(names[c] for c in rows.loc[chosen, 'language'])}")
    return "; ".join(parts)


def _answer(correlations, question, positive, negative, evaluator="panel", system="all"):
    """The overall row of a question, what it says, and the rows of the languages."""
    rows = tables.select(correlations, question=question, groups="unit", evaluator=evaluator, system=system)
    if not len(rows):
        return None, "this cannot be said (no language has both)", rows
    whole = rows[rows["language"] == "all"] if (rows["language"] == "all").any() else rows
    return whole.iloc[0], _tendency(whole.iloc[0], positive, negative), rows[rows["language"] != "all"]


def _singly(correlations, question, system):
    """What single metrics say, apart from the panel; of more than four, how many runs."""
    rows = tables.select(correlations, question=question, groups="unit", system=system)
    rows = rows[(rows["evaluator"] != "panel") & (rows["language"] != "all")]
    if rows["evaluator"].nunique() > 4:
        return f"; runs of single metrics: {(rows['low'] > 0).sum()} of {len(rows)} above 0, {(rows['high'] < 0).sum()} below"
    each = [f"{name} {_sides(own)}" for name, own in rows.groupby("evaluator", sort=False)]
    return f"; single metrics: {', '.join(each)}" if each else ""


def sentence(correlations, contradictions, languages):
    """The answers in words built from numbers.

    Parameters
    ----------
    correlations, contradictions, languages : DataFrame
        As the functions of those names give them.

    Returns
    -------
    str
        Three Markdown list items.
    """
    name = tables.language_name
    panel = next(iter(languages.loc[languages["panel"] != "", "panel"]), "no evaluator covers every language")
    row, word, rows = _answer(correlations, "evaluators_systems", "they tend to", "they tend to prefer the other one")
    text = f"- **Do evaluators prefer the form that systems over-produce?** {word[0].upper()}{word[1:]}"
    if row is not None:
        each = ", ".join(f"{name(r['language'])} {_rho(r)}, {r['n']} unit groups" for _, r in rows.iterrows())
        text += f": Spearman's ρ of S% ({panel}) with the systems' share of masculine forms is "
        text += f"{_rho(row)} over languages ({each})" if row["language"] == "all" else each
        held, _, single = _answer(correlations, "given_labour", "", "")
        if held is not None and pd.notna(held["rho"]):
            text += f"; with men at work held constant {_rho(held)}" + (f" ({_sides(single)})" if held["language"] == "all" else "")
        text += _singly(correlations, "evaluators_systems", "all")
    texts = [text + "."]

    row, word, rows = _answer(correlations, "evaluators_labour", "evaluators tend to", "evaluators tend to go against it", system="")
    text = f"- **Does either follow the labour market?** {word[0].upper()}{word[1:]}"
    if row is not None:
        text += f": ρ of S% with the share of men in the occupation's two-digit group is {_rho(row)} "
        text += f"over {row['n_languages']} languages ({_sides(rows)})" if row["language"] == "all" else f"in {name(row['language'])}"
        text += _singly(correlations, "evaluators_labour", "")
    row, word, rows = _answer(correlations, "systems_labour", "they tend to", "they tend to go against it", evaluator="")
    apart = rows["low"] > 0
    text += f". As for systems, {'that depends on the language' if apart.any() and not apart.all() else word}"
    if row is not None:
        made = {r.language: r.runs.split(" (")[0] for r in languages.itertuples() if r.runs and ", " not in r.runs}
        each = ", ".join(f"{name(r['language'])} {_rho(r)}" for _, r in rows.iterrows())
        text += f": {_sides(rows, made)} ({each}; ρ over all {_rho(row)})" if row["language"] == "all" else f": ρ = {each}"
    texts.append(text + ".")

    if len(contradictions):
        ends = {side: ", ".join(f"{r.title} (S% {tables.fixed(r.signed_pct)}, men {tables.fixed(100 * r.share, 1)} %)"
                                for r in own.head(3).itertuples()) for side, own in contradictions.groupby("side")}
        texts.append("- **Where evaluators and the labour market part most** (by ranks; men: share in the occupation's two-digit "
                     "group; descriptive, few texts an occupation): the masculine form is preferred more than the share of men lets expect "
                     f"for {ends.get('more', tables.ABSENT)}; less for {ends.get('less', tables.ABSENT)}.")
    return "\n".join(texts)


def findings(folder):
    """The answers of the committed study.

    Parameters
    ----------
    folder : Path
        Holds joint_correlations.csv, joint_contradictions.csv and joint_languages.csv.

    Returns
    -------
    str
        As `sentence`.
    """
    read = [tables.read_csv(folder / f"joint_{name}.csv") for name in ("correlations", "contradictions", "languages")]
    numbers = ["rho", "low", "high"], ["signed_pct", "share"], []
    return sentence(*(frame.assign(**{c: pd.to_numeric(frame[c]) for c in columns}) for frame, columns in zip(read, numbers)))
