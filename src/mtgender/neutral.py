"""A third, neutral variant: how evaluators score it against the masculine and the feminine one."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from mtgender import inference, preference, tables
from mtgender.data import VARIANTS

COMPARISONS = list(itertools.combinations(VARIANTS, 2))


def compare(scores, scale, *, level, replicates, seed):
    """Every two of the three variants of one run.

    Parameters
    ----------
    scores : DataFrame
        isco, masculine, feminine, neutral; one row a text.
    scale : float
        The evaluator's range; missing or 0 leaves the percentages missing.
    level, replicates, seed
        As in `inference.score_tables`; the occupations that have a neutral text are resampled.

    Returns
    -------
    DataFrame
        first, second (variants), n (texts), occupations, signed (mean of first - second over occupations; native units) with low and
        high, signed_pct with signed_pct_low and signed_pct_high, first_win, second_win, tie (fractions), t, p, note.
    """
    counts, rows = None, []
    for first, second in COMPARISONS:
        d = preference.paired_difference(scores[first], scores[second])
        means = preference.occupation_means(d, scores["isco"])
        counts = inference.resample_counts(len(means), replicates, seed) if counts is None else counts
        (low,), (high,) = inference.percentile_interval(inference.bootstrap_means(means[["signed"]].to_numpy(), counts), level)
        t, p, note = inference.t_test(means["signed"])
        limits = {"signed": means["signed"].mean(), "low": low, "high": high}
        percent = {name: preference.percent_of_range(value, scale) for name, value in limits.items()}
        rows.append({"first": first, "second": second, "n": len(scores), "occupations": len(means), **limits,
                     "signed_pct": percent["signed"], "signed_pct_low": percent["low"], "signed_pct_high": percent["high"],
                     "first_win": means["masculine_win"].mean(), "second_win": means["feminine_win"].mean(), "tie": means["tie"].mean(),
                     "t": t, "p": p, "note": note})
    return pd.DataFrame(rows)


def table(results):
    """All evaluators on the texts with a neutral variant.

    Returns
    -------
    frame, printed : DataFrame
        Rows as `compare`, with system, language, role, neutral_longer (share of texts whose neutral variant has more characters than the
        masculine one), best_masculine, best_feminine, best_neutral (share of texts whose highest score
        that variant has; ties are shared), p_adjusted and significant (Benjamini-Hochberg over all comparisons of metric runs here).
    """
    study, parts = results.study, []
    ranges = results.ranges.drop_duplicates("system").set_index("system")["range"] if len(results.ranges) else pd.Series(dtype=float)
    for (system, language), own in results.neutral.groupby(["system", "language"], sort=False):
        values = own[VARIANTS].to_numpy(float)
        scale = ranges.get(system, np.nan) if study.range == "evaluator" else np.ptp(values)
        top = values == values.max(axis=1, keepdims=True)
        best = (top / top.sum(axis=1, keepdims=True)).mean(axis=0)
        run = results.run("neutral", system, language)
        parts.append(compare(own, scale, level=study.level, replicates=study.replicates, seed=study.seed).assign(
            system=system, language=language, role=run["role"], label=run["label"], neutral_longer=own["longer"].mean(),
            **dict(zip([f"best_{v}" for v in VARIANTS], best))))
    columns = ["system", "language", "role", "neutral_longer", "first", "second", "n", "occupations", "signed", "low", "high", "signed_pct",
               "signed_pct_low", "signed_pct_high", "first_win", "second_win", "tie", "t", "p", "p_adjusted", "significant",
               *(f"best_{v}" for v in VARIANTS), "note"]
    if not parts:
        return pd.DataFrame(columns=columns), pd.DataFrame()
    frame = pd.concat(parts, ignore_index=True)
    frame = frame.iloc[np.argsort(frame["role"] != "metric", kind="stable")].reset_index(drop=True)
    frame = inference.adjust(frame, frame["role"] == "metric", study.q)
    cells = [f"{tables.fixed(s, 2, sign=True)} {tables.interval(a, b)}{'*' if pd.notna(k) and k else ''}" for s, a, b, k in
             zip(frame["signed_pct"], frame["signed_pct_low"], frame["signed_pct_high"], frame["significant"])]
    wide = frame.assign(cell=cells, pair=frame["first"] + " − " + frame["second"]).pivot_table(
        index=["system", "label", "language", "role"], columns="pair", values="cell", aggfunc="first", sort=False)
    one = frame.drop_duplicates(["system", "language"])
    printed = pd.DataFrame({
        "Evaluator": one["label"].to_numpy(), "Language": [tables.language_name(c) for c in one["language"]],
        "role": one["role"].to_numpy(), "texts": one["n"].astype(str).to_numpy(),
        **{f"{name}, % of range": wide[name].to_numpy() for name in wide.columns},
        "best % m / f / n": [" / ".join(tables.fixed(100 * v, 0) for v in row) for row in one[[f"best_{v}" for v in VARIANTS]].to_numpy()]})
    return frame[columns], printed


def caption(results, frame):
    """Caption of the table: settings, family, whose range, and how the texts differ otherwise.

    Parameters
    ----------
    results : inference.Results
    frame : DataFrame
        From `table`.

    Returns
    -------
    str
    """
    study, family = results.study, int(frame["p_adjusted"].notna().sum()) if len(frame) else 0
    return (f"Neutral against masculine and feminine, % of R. *: significant at q = {study.q:g}, Benjamini–Hochberg over the {family} "
            f"comparisons of metric runs. {tables.settings(study)} R is that of the study's own languages and two variants. "
            f"{_longer(frame)}")


def _longer(frame):
    """That the neutral variant is another text, in numbers."""
    parts = [f"{tables.fixed(100 * row.neutral_longer, 0)} % of the {tables.language_name(row.language)}"
             for row in frame.drop_duplicates("language").itertuples()]
    return ("A neutral variant is a paraphrase, not only another gender: it is longer than the masculine one in "
            f"{' and '.join(parts)} texts.") if parts else ""


def findings(folder):
    """What the committed table `joint_neutral` says, in words.

    Parameters
    ----------
    folder : Path
        Of tables.

    Returns
    -------
    str
        Markdown; empty without the table or without a metric run.
    """
    if not (folder / "joint_neutral.csv").is_file():
        return ""
    frame = tables.read_csv(folder / "joint_neutral.csv")
    said = sentence(frame.astype({"signed_pct": float, "neutral_longer": float, "n": int}).assign(
        significant=frame["significant"] == "True", p_adjusted=pd.to_numeric(frame["p_adjusted"])))
    return said and f"- **A neutral variant.** {said}"


def sentence(frame):
    """How often metric runs set the neutral variant apart, in words."""
    metric = frame[frame["role"] == "metric"]
    if not len(metric):
        return ""
    parts = []
    for first in VARIANTS[:2]:
        own = metric[(metric["first"] == first) & (metric["second"] == "neutral")]
        above, below = (own["significant"].fillna(False).astype(bool) & (sign * own["signed_pct"] > 0) for sign in (1, -1))
        parts.append(f"above the neutral variant in {above.sum()} and below it in {below.sum()} of {len(own)} runs for the {first} one")
    sizes = metric.drop_duplicates("language")
    texts = " and ".join(f"{n} {tables.language_name(code)}" for n, code in zip(sizes["n"], sizes["language"]))
    return (f"On {texts} texts that also have a neutral variant (*Fachkraft*, *personne* …), metrics score significantly "
            f"{' and '.join(parts)} (Benjamini–Hochberg over {int(metric['p_adjusted'].notna().sum())} comparisons). {_longer(metric)}")
