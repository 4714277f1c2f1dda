"""Figures: one style, one way of saving.

A figure is written as PNG and SVG with a CSV of the numbers it shows, and rewritten only when its picture changes visibly.
"""

from __future__ import annotations

import io

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from scipy import stats

from mtgender import data, isco, tables

MASCULINE, FEMININE, NEUTRAL, INK = "#3b6fb6", "#c8553d", "#8a8f98", "#22262b"
WIDTH = 7.0          # inches, full text width
SAME = 2e-4          # mean absolute difference of two pictures (0-1 scale) below which they are one


def style():
    """Set the compendium's one style."""
    sns.set_theme(style="ticks", context="paper")
    mpl.rcParams.update({
        "figure.dpi": 110, "savefig.dpi": 200, "figure.constrained_layout.use": True, "font.family": ["DejaVu Sans"], "font.size": 9,
        "axes.titlesize": 10, "axes.titlelocation": "left", "axes.spines.top": False, "axes.spines.right": False,
        "axes.edgecolor": INK, "text.color": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK,
        "svg.hashsalt": "mtgender", "svg.fonttype": "path", "legend.frameon": False})


def save(study, name, figure, frame, folder=None):
    """Write `<name>.png`, `.svg` and the plotted numbers `.csv`.

    Parameters
    ----------
    study : Study
    name : str
    figure : Figure
    frame : DataFrame
        The numbers shown.
    folder : Path, optional
        Default: the study's figures.
    """
    folder = folder or study.figures
    folder.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    figure.set_layout_engine("none")                    # laid out once, for all formats
    png = folder / f"{name}.png"
    tables.write_csv(frame, folder / f"{name}.csv")
    if not same_picture(png, buffer.getvalue()) or not png.with_suffix(".svg").is_file():
        data.replace(png, lambda p: p.write_bytes(buffer.getvalue()))
        data.replace(png.with_suffix(".svg"), lambda p: figure.savefig(p, format="svg", metadata={"Date": None}))
    for suffix in (".png", ".svg"):
        png.with_suffix(suffix).touch()
    return figure


def same_picture(path, new):
    """Whether a PNG file shows what the bytes of another one show."""
    if not path.is_file():
        return False
    old, new = plt.imread(path), plt.imread(io.BytesIO(new))
    return old.shape == new.shape and float(np.abs(old - new).mean()) < SAME


def _zero(axis, vertical=True):
    (axis.axvline if vertical else axis.axhline)(0, color=INK, lw=0.8, zorder=0)


def difference_distribution(d, row, label, level=0.95):
    """How the differences d of one run are distributed, with S and its interval.

    Parameters
    ----------
    d : array_like, shape (n,)
        score(masculine) - score(feminine), native units.
    row : Series
        The run's row of score_runs.
    label : str
    level : float
        Of the interval, for the legend.

    Returns
    -------
    Figure
    """
    d = np.asarray(d, float)
    figure, axis = plt.subplots(figsize=(WIDTH, 2.9))
    reach = np.quantile(np.abs(d), 0.995) or 1.0
    bins = np.linspace(-reach, reach, 61)
    for part, colour, name in ((d[d > 0], MASCULINE, "masculine preferred"), (d[d < 0], FEMININE, "feminine preferred")):
        axis.hist(part, bins=bins, color=colour, alpha=0.85, label=f"{name} ({len(part) / len(d):.1%})")
    ties = int((d == 0).sum())
    if ties:
        axis.hist(np.zeros(ties), bins=bins, color=NEUTRAL, label=f"tie ({ties / len(d):.1%})")
    axis.axvspan(row["signed_low"], row["signed_high"], color=INK, alpha=0.2, lw=0)
    axis.axvline(row["signed"], color=INK, lw=1.6, label=f"S = {tables.significant_digits(row['signed'])}, {100 * level:g}% interval")
    outside = int((np.abs(d) > reach).sum())
    axis.set(xlabel="d = score(masculine) − score(feminine), native units" + (f"\n{outside} pairs lie beyond the axis" if outside else ""),
             ylabel="pairs", title=label, xlim=(-reach, reach))
    axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)
    return figure


def caterpillar(means, label, n_labels=8):
    """Occupations in the order of their mean difference; the ends are named.

    Parameters
    ----------
    means : Series
        Mean d (percent of range) by unit group.
    label : str
    n_labels : int
        Occupations named at each end.
    """
    ordered = means.sort_values(kind="stable")
    x = np.arange(len(ordered))
    figure, axis = plt.subplots(figsize=(WIDTH, 4.2))
    axis.scatter(ordered, x, s=6, c=np.where(ordered > 0, MASCULINE, np.where(ordered < 0, FEMININE, NEUTRAL)), zorder=3, linewidths=0)
    _zero(axis)
    titles = isco.table()["title"]
    n_labels = min(n_labels, len(ordered) // 2)
    step = len(ordered) * 0.04
    for i in [*range(n_labels), *range(len(ordered) - n_labels, len(ordered))]:
        low = i < n_labels                      # the empty corners: right of the low end, left of the high one
        y = (i + 0.5) * step if low else len(ordered) - (len(ordered) - i - 0.5) * step
        axis.annotate(_short(titles[ordered.index[i]]), (ordered.iloc[i], i), xytext=(0.5 if low else 0.42, y),
                      textcoords=("axes fraction", "data"), fontsize=7, va="center", ha="left" if low else "right",
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
                      arrowprops={"arrowstyle": "-", "color": "#c3c6cb", "lw": 0.5, "relpos": (0, 0.5) if low else (1, 0.5)})
    axis.set(xlabel="mean difference of the occupation, % of range\n(positive: masculine preferred)", title=label, yticks=[],
             ylim=(-len(ordered) * 0.02, len(ordered) * 1.02), ylabel=f"{len(ordered)} unit groups, sorted")
    return figure


def _short(text, n=38):
    return text if len(text) <= n else text[: n - 1].rsplit(" ", 1)[0] + " …"


def label_offsets(points, lengths, width, height, line=10.0, gap=9.0):
    """Where labels of points can stand so that they cover neither a point nor each other.

    Parameters
    ----------
    points : ndarray, shape (n, 2)
        Places in points (1/72 inch) from the lower left corner of the axis.
    lengths : sequence of float
        Widths of the labels, in points.
    width, height : float
        Size of the axis.
    line, gap : float
        Height of a label; its distance from the point.

    Returns
    -------
    list of (float, float)
        Offset of each label's near end; a negative x is a label to the left. The nearest free place, or the last one tried.
    """
    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y in points]
    found = []
    for (x, y), length in zip(points, lengths):
        for dy in sorted(np.arange(-60.0, 61.0, 2.0), key=abs):
            place = None
            for dx in (gap, -gap):
                left = x + dx if dx > 0 else x + dx - length
                box = (left, y + dy - line / 2, left + length, y + dy + line / 2)
                inside = box[0] > 0 and box[2] < width and box[1] > 0 and box[3] < height
                if inside and not any(box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in taken):
                    place = (dx, float(dy))
                    break
            if place:
                break
        found.append(place or (gap, float(dy)))
        if place:
            taken.append(box)
    return found


def signed_against_absolute(frame, languages):
    """Figure 1: signed against absolute difference of every evaluator, with intervals.

    Parameters
    ----------
    frame : DataFrame
        label, role, signed_pct, absolute_pct and their _low, _high; one row an evaluator.
    languages : sequence of str
    """
    figure, axis = plt.subplots(figsize=(WIDTH * 0.78, 4.0))
    shown = frame.dropna(subset=["signed_pct", "absolute_pct"])
    top = max(float(shown["absolute_pct_high"].max()) if len(shown) else 1.0, 1e-9) * 1.15
    axis.fill_between([-top, 0, top], [top, 0, top], top, color="#f3f4f6", zorder=0, lw=0)
    axis.plot([-top, 0, top], [top, 0, top], color=NEUTRAL, lw=0.9, ls="--", zorder=1)
    width, height = figure.get_size_inches() * 72 * 0.85                # of the axis, in points
    points = np.column_stack([(shown["signed_pct"] / top + 1) / 2 * width, shown["absolute_pct"] / top * height])
    names = [row.label + ("" if row.role == "metric" else f" ({row.role})") for row in shown.itertuples()]
    for row, name, offset in zip(shown.itertuples(), names, label_offsets(points, [4.4 * len(n) for n in names], width, height)):
        metric = row.role == "metric"
        colour = INK if not metric else MASCULINE if row.signed_pct > 0 else FEMININE if row.signed_pct < 0 else NEUTRAL
        axis.errorbar(row.signed_pct, row.absolute_pct,
                      xerr=[[row.signed_pct - row.signed_pct_low], [row.signed_pct_high - row.signed_pct]],
                      yerr=[[row.absolute_pct - row.absolute_pct_low], [row.absolute_pct_high - row.absolute_pct]],
                      fmt="o" if metric else "s", ms=6, mfc=colour if metric else "white", mec=colour, ecolor=colour, elinewidth=1,
                      capsize=2, zorder=3)
        axis.annotate(name, (row.signed_pct, row.absolute_pct), xytext=offset, textcoords="offset points", fontsize=8, va="center",
                      ha="left" if offset[0] > 0 else "right")
    _zero(axis)
    axis.text(0.02, 0.13, "dashed: |S| = A, every pair on one side", transform=axis.transAxes, fontsize=7, color=NEUTRAL)
    axis.set(xlim=(-top, top), ylim=(0, top), xlabel="signed difference S%  (← feminine preferred | masculine preferred →)",
             ylabel="absolute difference A%", title=f"Direction and size of gender differences ({', '.join(c.upper() for c in languages)})")
    return figure


def coverage(frame, languages):
    """Which evaluator and annotator covers which language, and in what role.

    Parameters
    ----------
    frame : DataFrame
        From `tables.coverage`: system, kind, language, status, role.
    languages : sequence of str
    """
    systems = list(dict.fromkeys(zip(frame["kind"], frame["system"])))
    colours = {"metric": MASCULINE, "fluency": "#d9a441", "control": NEUTRAL, "annotator": "#5b9a68", "refused": "#ffffff"}
    figure, axis = plt.subplots(figsize=(max(3.6, 1.9 + 0.62 * len(languages)), 0.75 + 0.34 * len(systems)))
    for y, (kind, system) in enumerate(systems):
        for x, code in enumerate(languages):
            cell = frame[(frame["kind"] == kind) & (frame["system"] == system) & (frame["language"] == code)]
            if not len(cell):
                axis.text(x, y, "–", ha="center", va="center", color=NEUTRAL)
                continue
            state = cell.iloc[0]["role"] if cell.iloc[0]["status"] == "ok" else "refused"
            axis.add_patch(plt.Rectangle((x - 0.45, y - 0.4), 0.9, 0.8, facecolor=colours[state], edgecolor=INK, lw=0.5))
    axis.set(xticks=range(len(languages)), xticklabels=[c.upper() for c in languages], yticks=range(len(systems)),
             yticklabels=[f"{s} ({'scores' if k == 'scores' else 'errors'})" for k, s in systems],
             xlim=(-0.6, len(languages) - 0.4), ylim=(len(systems) - 0.4, -0.6), title="Coverage and role")
    axis.tick_params(length=0)
    sns.despine(ax=axis, left=True, bottom=True)
    used = [s for s in colours if s in {r if t == "ok" else "refused" for r, t in zip(frame["role"], frame["status"])}]
    axis.legend(handles=[plt.Rectangle((0, 0), 1, 1, facecolor=colours[s], edgecolor=INK, lw=0.5) for s in used], labels=used,
                loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)
    return figure


def majors(effects):
    """S% of the unit groups of each ISCO major group.

    Parameters
    ----------
    effects : DataFrame
        isco, macro (percent of range) by unit group.
    """
    titles = isco.table()["title"]
    frame = effects.dropna(subset="macro").assign(major=effects["isco"].str[0])
    order = sorted(frame["major"].unique())
    figure, axis = plt.subplots(figsize=(WIDTH, 0.9 + 0.3 * len(order)))
    rng = np.random.default_rng(0)
    for y, code in enumerate(order):
        values = frame.loc[frame["major"] == code, "macro"]
        axis.scatter(values, y + rng.uniform(-0.24, 0.24, len(values)), s=7, alpha=0.6, linewidths=0,
                     c=np.where(values > 0, MASCULINE, FEMININE))
        axis.plot([values.mean()] * 2, [y - 0.34, y + 0.34], color=INK, lw=1.8)
    _zero(axis)
    axis.set(yticks=range(len(order)), yticklabels=[f"{c} {_short(titles[c], 44)}" for c in order], ylim=(len(order) - 0.5, -0.5),
             xlabel="S% by occupation (bar: mean; dots jittered vertically)", title="Occupations by ISCO major group")
    return figure


def error_free_differences(frame):
    """Error-free differences (masculine minus feminine, points) of every annotation run with intervals.

    Parameters
    ----------
    frame : DataFrame
        error_runs.
    """
    figure, axis = plt.subplots(figsize=(WIDTH * 0.8, 0.9 + 0.32 * len(frame)))
    for y, row in enumerate(frame.itertuples()):
        colour = MASCULINE if row.difference > 0 else FEMININE if row.difference < 0 else NEUTRAL
        axis.errorbar(row.difference, y, xerr=[[row.difference - row.low], [row.high - row.difference]], fmt="o", color=colour, capsize=3)
    _zero(axis)
    axis.set(yticks=range(len(frame)), yticklabels=[f"{s} ({c.upper()})" for s, c in zip(frame["system"], frame["language"])],
             ylim=(len(frame) - 0.5, -0.5), title="Error annotation",
             xlabel="error-free difference, percentage points\n(positive: masculine texts are free of errors more often)")
    return figure


def dumbbells(frame, title):
    """Figure 2 of the systems paper: share of masculine forms of every system and share of men at work, by group.

    Parameters
    ----------
    frame : DataFrame
        group, title, run, p_masculine, reference; sorted here by reference.
    title : str
    """
    order = frame.drop_duplicates("group").sort_values("reference")
    place = {group: y for y, group in enumerate(order["group"])}
    runs = list(dict.fromkeys(frame["run"]))
    figure, axis = plt.subplots(figsize=(WIDTH, 1.3 + 0.3 * len(place)))
    colours = sns.color_palette("deep", max(len(runs), 1))
    for group, y in place.items():
        own = frame[frame["group"] == group]
        axis.plot([own["reference"].iloc[0], *own["p_masculine"]], [y] * (len(own) + 1), color="#d5d8dd", lw=1.6, zorder=1)
    axis.scatter(order["reference"], [place[g] for g in order["group"]], marker="|", s=90, color=INK, zorder=3, label="men at work")
    for k, (run, colour) in enumerate(zip(runs, colours)):
        own = frame[frame["run"] == run]
        shift = 0.8 / len(runs) * (k - (len(runs) - 1) / 2)
        axis.scatter(own["p_masculine"], [place[g] + shift for g in own["group"]], s=14, color=colour, zorder=2, label=run)
    axis.axvline(0.5, color=NEUTRAL, lw=0.7, ls=":", zorder=0)
    axis.set(yticks=range(len(place)), yticklabels=[f"{_short(t)} ({g})" for g, t in zip(order["group"], order["title"])],
             ylim=(-0.7, len(place) - 0.3), xlim=(-0.02, 1.02), xlabel="share masculine; bars: men at work",
             title=title)
    figure.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=7)
    return figure


def normal_quantiles(means):
    """Occupation means against normal quantiles: what the t-test assumes."""
    x = np.sort(np.asarray(means, float))
    figure, axis = plt.subplots(figsize=(WIDTH * 0.42, 2.6))
    theory = stats.norm.ppf((np.arange(1, len(x) + 1) - 0.5) / len(x))
    axis.scatter(theory, x, s=5, color=INK, linewidths=0)
    if x.std() > 0:
        axis.plot(theory, x.mean() + x.std(ddof=1) * theory, color=NEUTRAL, lw=1)
    axis.set(xlabel="normal quantile", ylabel="occupation mean of d", title="Normality of the means")
    return figure


def text_types(scores, title):
    """Mean d by text type with ± 1.96 standard errors over occupations, percent of range.

    Parameters
    ----------
    scores : DataFrame
        text_type, effect.
    """
    figure, axis = plt.subplots(figsize=(WIDTH * 0.55, 1.9))
    summary = scores.groupby("text_type")["effect"].agg(["mean", "sem"])
    summary = summary.reindex([t for t in data.TEXT_TYPES if t in summary.index])
    axis.errorbar(summary["mean"], range(len(summary)), xerr=1.96 * summary["sem"], fmt="o", color=INK, capsize=3)
    _zero(axis)
    axis.set(yticks=range(len(summary)), yticklabels=summary.index, ylim=(len(summary) - 0.5, -0.5), title=title,
             xlabel="mean d, % of range (± 1.96 standard errors)")
    return figure

