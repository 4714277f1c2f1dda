"""Figures: one style, one way of saving.

A figure is written as PNG, those of a study also as SVG, with a CSV of the numbers it shows, and rewritten only when its picture changes
visibly.
"""

from __future__ import annotations

import io
import textwrap

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from IPython.display import Image
from scipy import optimize, stats

from mtgender import data, isco, tables
from mtgender.study import display_path

MASCULINE, FEMININE, NEUTRAL, INK = "#3b6fb6", "#c8553d", "#8a8f98", "#22262b"
WIDTH = 7.0          # inches, full text width
SCREEN, PRINT = 140, 200        # dots per inch: of what notebooks and runs show, of the study's figures
SAME = 2e-4          # mean absolute difference of two pictures (0-1 scale) below which they are one


def style():
    """Set the compendium's one style."""
    sns.set_theme(style="ticks", context="paper")
    mpl.rcParams.update({
        "figure.dpi": 110, "savefig.dpi": PRINT, "figure.constrained_layout.use": True, "font.family": ["DejaVu Sans"], "font.size": 9,
        "axes.titlesize": 10, "axes.titlelocation": "left", "axes.spines.top": False, "axes.spines.right": False,
        "axes.edgecolor": INK, "text.color": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK,
        "svg.hashsalt": "mtgender", "svg.fonttype": "path", "legend.frameon": False})


def picture(figure, png=None, file=None):
    """Draw a figure once and close it: what a notebook shows is the file, not a second drawing.

    Parameters
    ----------
    figure : Figure
    png : bytes, optional
        Its PNG, where it was drawn already.
    file : Path, optional
        Where it is kept, for pages that link to it.

    Returns
    -------
    IPython.display.Image
        As wide as the figure is on paper.
    """
    png = png or drawn(figure)
    title = figure.get_label() or next((a.get_title(loc="left") for a in figure.axes if a.get_title(loc="left")), "figure")
    plt.close(figure)
    width = round(figure.get_figwidth() * mpl.rcParams["figure.dpi"])
    return Image(png, width=width, alt=" ".join(title.split()), metadata={"file": display_path(file)} if file else None)


def drawn(figure, dpi=SCREEN):
    """The bytes of a figure's PNG; its layout is fixed from then on."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None}, pil_kwargs={"compress_level": 1})
    figure.set_layout_engine("none")                    # laid out once, for all formats
    return buffer.getvalue()


def save(study, name, figure, frame, run=False):
    """Write `<name>.png` and the plotted numbers `.csv`; of figures of the study also `.svg`.

    Parameters
    ----------
    study : Study
    name : str
    figure : Figure
    frame : DataFrame
        The numbers shown.
    run : bool
        Whether it belongs to one run: beside the other outputs of runs, PNG alone.

    Returns
    -------
    IPython.display.Image
    """
    folder = study.run_outputs if run else study.figures
    folder.mkdir(parents=True, exist_ok=True)
    png, new = folder / f"{name}.png", drawn(figure, SCREEN if run else PRINT)
    paths = {png: lambda p: p.write_bytes(new)}
    if not run:
        paths[folder / f"{name}.svg"] = lambda p: figure.savefig(p, format="svg", metadata={"Date": None})
    tables.write_csv(frame, folder / f"{name}.csv")
    if not same_picture(png, new) or not all(path.is_file() for path in paths):
        for path, write in paths.items():
            data.replace(path, write)
    for path in paths:
        path.touch()
    return picture(figure, new, None if run else png)


def same_picture(path, new):
    """Whether a PNG file shows what the bytes of another one show."""
    if not path.is_file():
        return False
    if path.read_bytes() == new:
        return True
    old, new = plt.imread(path), plt.imread(io.BytesIO(new))
    return old.shape == new.shape and float(np.abs(old - new).mean()) < SAME


def _fixed(height, left, bottom, right, columns=1, top=0.3):
    """Axes with fixed margins (inches): measuring a layout takes half the time of a drawing, too much for figures made once a run."""
    grid = {"left": left / WIDTH, "bottom": bottom / height, "right": 1 - right / WIDTH, "top": 1 - top / height, "wspace": 0.45}
    return plt.subplots(1, columns, figsize=(WIDTH, height), layout="none", gridspec_kw=grid)


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
    figure, axis = _fixed(2.9, 0.6, 0.62, 2.1)
    reach = np.quantile(np.abs(d), 0.995) or 1.0
    bins = np.linspace(-reach, reach, 61)
    for part, colour, name in ((d[d > 0], MASCULINE, "masculine preferred"), (d[d < 0], FEMININE, "feminine preferred")):
        axis.hist(part, bins=bins, histtype="stepfilled", color=colour, alpha=0.85, label=f"{name} ({len(part) / len(d):.1%})")
    ties = int((d == 0).sum())
    if ties:
        axis.hist(np.zeros(ties), bins=bins, histtype="stepfilled", color=NEUTRAL, label=f"tie ({ties / len(d):.1%})")
    axis.axvspan(row["signed_low"], row["signed_high"], color=INK, alpha=0.2, lw=0)
    axis.axvline(row["signed"], color=INK, lw=1.6, label=f"S = {tables.significant_digits(row['signed'])},\n{100 * level:g}% interval")
    outside = int((np.abs(d) > reach).sum())
    axis.set(xlabel="d = score(masculine) − score(feminine), native units" + (f"\n{outside} pairs lie beyond the axis" if outside else ""),
             ylabel="pairs", title=label, xlim=(-reach, reach))
    axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8)
    return figure


def _nothing(axis, title, why):
    """A figure without anything to show, which says why."""
    axis.set(title=title, xticks=[], yticks=[])
    axis.text(0.5, 0.5, why, transform=axis.transAxes, ha="center", va="center", color=NEUTRAL)
    return axis.figure


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
    ordered = means.dropna().sort_values(kind="stable")
    figure, axis = _fixed(4.2, 0.25, 0.62, 0.2)
    if not len(ordered):
        return _nothing(axis, label, "a constant evaluator: there is no range")
    x = np.arange(len(ordered))
    axis.scatter(ordered, x, s=6, c=np.where(ordered > 0, MASCULINE, np.where(ordered < 0, FEMININE, NEUTRAL)), zorder=3, linewidths=0)
    _zero(axis)
    titles = isco.table()["title"]
    n_labels = min(n_labels, len(ordered) // 2)
    step = len(ordered) * 0.04
    # labels stand right of the lower third and left of the upper one; the axis is made wide enough for them
    below, above = ordered.iloc[int(0.36 * (len(ordered) - 1))], ordered.iloc[int(0.64 * (len(ordered) - 1))]
    pad = 0.04 * (ordered.iloc[-1] - ordered.iloc[0]) or 1.0
    left, right = ordered.iloc[0] - pad, ordered.iloc[-1] + pad
    right = max(right, below + 0.6 * (below - left))
    left = min(left, above - 0.6 * (right - above))
    gap = 0.03 * (right - left)
    for i in [*range(n_labels), *range(len(ordered) - n_labels, len(ordered))]:
        low = i < n_labels
        y = (i + 0.5) * step if low else len(ordered) - (len(ordered) - i - 0.5) * step
        axis.annotate(_short(titles[ordered.index[i]]), (ordered.iloc[i], i), xytext=(below + gap if low else above - gap, y), fontsize=7,
                      va="center", ha="left" if low else "right", bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
                      arrowprops={"arrowstyle": "-", "color": "#c3c6cb", "lw": 0.5, "relpos": (0, 0.5) if low else (1, 0.5), "patchA": None,
                                  "shrinkA": 0, "shrinkB": 0})
    axis.set(xlabel="mean difference of the occupation, % of range\n(positive: masculine preferred)", title=label, yticks=[],
             xlim=(left, right), ylim=(-len(ordered) * 0.02, len(ordered) * 1.02), ylabel=f"{len(ordered)} unit groups, sorted")
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
        label, role, n_languages, signed_pct, absolute_pct and their _low, _high; one row an evaluator.
    languages : sequence of str
    """
    figure, axis = plt.subplots(figsize=(WIDTH * 0.78, 4.0))
    shown = frame.dropna(subset=["signed_pct", "absolute_pct"])
    if not len(shown):
        return _nothing(axis, "Direction and size of gender differences", "no evaluator with a range in this study")
    top = max(float(shown["absolute_pct_high"].max()), 1e-9) * 1.15
    axis.fill_between([-top, 0, top], [top, 0, top], top, color="#f3f4f6", zorder=0, lw=0)
    axis.plot([-top, 0, top], [top, 0, top], color=NEUTRAL, lw=0.9, ls="--", zorder=1)
    width, height = figure.get_size_inches() * 72 * 0.85                # of the axis, in points
    points = np.column_stack([(shown["signed_pct"] / top + 1) / 2 * width, shown["absolute_pct"] / top * height])
    notes = [["" if row.role == "metric" else row.role, "" if row.n_languages == len(languages) else f"{row.n_languages}/{len(languages)}"]
             for row in shown.itertuples()]
    names = [label + (f" ({', '.join(filter(None, note))})" if any(note) else "") for label, note in zip(shown["label"], notes)]
    for row, name, offset in zip(shown.itertuples(), names, label_offsets(points, [4.4 * len(n) for n in names], width, height)):
        metric = row.role == "metric"
        end = row.signed_pct_high - row.signed_pct if offset[0] > 0 else row.signed_pct - row.signed_pct_low
        offset = (offset[0] + np.sign(offset[0]) * end / (2 * top) * width, offset[1])           # beside the bar, not on it
        colour = INK if not metric else MASCULINE if row.signed_pct > 0 else FEMININE if row.signed_pct < 0 else NEUTRAL
        axis.errorbar(row.signed_pct, row.absolute_pct,
                      xerr=[[row.signed_pct - row.signed_pct_low], [row.signed_pct_high - row.signed_pct]],
                      yerr=[[row.absolute_pct - row.absolute_pct_low], [row.absolute_pct_high - row.absolute_pct]],
                      fmt="o" if metric else "s", ms=6, mfc=colour if metric else "white", mec=colour, ecolor=colour, elinewidth=1,
                      capsize=2, zorder=3)
        axis.annotate(name, (row.signed_pct, row.absolute_pct), xytext=offset, textcoords="offset points", fontsize=8, va="center",
                      ha="left" if offset[0] > 0 else "right")
    _zero(axis)
    axis.text(0.02, 0.13, "bars: bootstrap intervals\ndashed: |S| = A,\nevery pair on one side"
              + (f"\nk/{len(languages)}: of how many languages" if (shown["n_languages"] < len(languages)).any() else ""),
              transform=axis.transAxes, fontsize=7, color=NEUTRAL)
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
    if not systems:
        return _nothing(axis, "Coverage and role", "no evaluator or annotator in this study")
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


def majors(effects, of):
    """S% of the unit groups of each ISCO major group.

    Parameters
    ----------
    effects : DataFrame
        isco, macro (percent of range) by unit group.
    of : str
        Whose S% it is, in words (`tables.panel_name`).
    """
    titles = isco.table()["title"]
    frame = effects.dropna(subset="macro").assign(major=effects["isco"].str[0])
    order = sorted(frame["major"].unique())
    figure, axis = plt.subplots(figsize=(WIDTH, 0.9 + 0.3 * len(order)))
    if not order:
        return _nothing(axis, "Occupations by ISCO major group", "no metric of every language")
    rng = np.random.default_rng(0)
    for y, code in enumerate(order):
        values = frame.loc[frame["major"] == code, "macro"]
        axis.scatter(values, y + rng.uniform(-0.24, 0.24, len(values)), s=7, alpha=0.6, linewidths=0,
                     c=np.where(values > 0, MASCULINE, FEMININE))
        axis.plot([values.mean()] * 2, [y - 0.34, y + 0.34], color=INK, lw=1.8)
    _zero(axis)
    axis.set(yticks=range(len(order)), yticklabels=[f"{c} {_short(titles[c], 44)}" for c in order], ylim=(len(order) - 0.5, -0.5),
             xlabel="S% by occupation (bar: mean; dots jittered vertically)\n← feminine preferred | masculine preferred →",
             title=textwrap.fill(f"Occupations by ISCO major group, {of}", 48))
    return figure


def error_free_differences(frame):
    """Error-free differences (masculine minus feminine, points) of every annotation run with intervals.

    Parameters
    ----------
    frame : DataFrame
        error_runs.
    """
    figure, axis = plt.subplots(figsize=(WIDTH * 0.8, 0.9 + 0.32 * len(frame)))
    if not len(frame):
        return _nothing(axis, "Error annotation", "no annotator in this study")
    for y, row in enumerate(frame.itertuples()):
        colour = MASCULINE if row.difference > 0 else FEMININE if row.difference < 0 else NEUTRAL
        axis.errorbar(row.difference, y, xerr=[[row.difference - row.low], [row.high - row.difference]], fmt="o", color=colour, capsize=3)
    _zero(axis)
    axis.set(yticks=range(len(frame)), yticklabels=[f"{s} ({c.upper()})" for s, c in zip(frame["system"], frame["language"])],
             ylim=(len(frame) - 0.5, -0.5), title="Error annotation",
             xlabel="error-free difference, percentage points\n(positive: masculine texts are free of errors more often;\n"
                    "bars: bootstrap intervals)")
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


def assumptions(scores, means):
    """What the test assumes: mean d by text type (percent of range, ± 1.96 standard errors), and occupation means against normal quantiles.

    Parameters
    ----------
    scores : DataFrame
        text_type, effect.
    means : array_like, shape (n,)
        Occupation means of d, native units.
    """
    figure, (left, right) = _fixed(2.6, 0.95, 0.45, 0.1, columns=2)
    summary = scores.groupby("text_type")["effect"].agg(["mean", "sem"])
    summary = summary.reindex([t for t in data.TEXT_TYPES if t in summary.index])
    left.errorbar(summary["mean"], range(len(summary)), xerr=1.96 * summary["sem"], fmt="o", color=INK, capsize=3)
    _zero(left)
    left.set(yticks=range(len(summary)), yticklabels=summary.index, ylim=(len(summary) - 0.5, -0.5), title="By text type",
             xlabel="mean d, % of range (± 1.96 standard errors)")
    x = np.sort(np.asarray(means, float))
    theory = stats.norm.ppf((np.arange(1, len(x) + 1) - 0.5) / len(x))
    right.scatter(theory, x, s=5, color=INK, linewidths=0)
    if x.std() > 0:
        right.plot(theory, x.mean() + x.std(ddof=1) * theory, color=NEUTRAL, lw=1)
    right.set(xlabel="normal quantile", ylabel="occupation mean of d", title="Normality of the means")
    return figure


def equal_terms(frame, languages):
    """Preference of every metric run as observed and at equal length and word frequency, by language.

    Parameters
    ----------
    frame : DataFrame
        From `robustness.confound`; metric runs are shown.
    languages : sequence of str
    """
    own = frame[(frame["role"] == "metric") & frame["signed_pct"].notna()]
    parts = [(code, own[own["language"] == code].sort_values("signed_pct", ascending=False)) for code in languages]
    parts = [(code, part) for code, part in parts if len(part)]
    figure, axis = plt.subplots(figsize=(WIDTH, 1.5 + 0.25 * (len(own) + 0.6 * len(parts))))
    y, names = 0.0, []
    for place, (code, part) in enumerate(parts):
        top = y
        for row in part.itertuples():
            axis.plot([row.signed_pct, row.intercept_pct], [y - 0.13, y + 0.13], color="#c3c6cb", lw=1.2, zorder=1)
            for value, low, high, shift, kept in ((row.signed_pct, row.signed_low_pct, row.signed_high_pct, -0.13, True),
                                                  (row.intercept_pct, row.intercept_low_pct, row.intercept_high_pct, 0.13, False)):
                colour = NEUTRAL if kept else MASCULINE if low > 0 else FEMININE if high < 0 else INK
                axis.errorbar(value, y + shift, xerr=[[value - low], [high - value]], fmt="o", ms=4.5, color=colour, elinewidth=1,
                              mfc="white" if kept or "extrapolated" in row.note else colour, mec=colour, zorder=3)
            names.append((y, f"{row.label}  {code.upper()}"))
            y += 1
        if place % 2:
            axis.axhspan(top - 0.8, y - 0.2, color="#f3f4f6", lw=0, zorder=0)
        y += 0.6
    _zero(axis)
    axis.set(yticks=[p for p, _ in names], yticklabels=[n for _, n in names], ylim=(max(y, 1.6) - 0.8, -0.8),
             xlabel="mean difference, % of the evaluator's range\n(← feminine preferred | masculine preferred →)",
             title="Is it only that feminine forms are longer and rarer?")
    axis.tick_params(axis="y", length=0)
    marks = [(NEUTRAL, "white", "as observed, S%"), (MASCULINE, MASCULINE, "at equal length and frequency: masculine"),
             (FEMININE, FEMININE, "feminine"), (INK, INK, "interval holds 0"), (MASCULINE, "white", "hollow: extrapolated")]
    figure.legend(handles=[mpl.lines.Line2D([], [], marker="o", ls="", ms=5, mec=edge, mfc=face, label=text) for edge, face, text in marks],
                  loc="outside lower center", ncols=5, fontsize=7, handletextpad=0.1, columnspacing=1)
    return figure


def analyses(frame):
    """What every analysis says of every metric run: side and significance.

    Parameters
    ----------
    frame : DataFrame
        From `robustness.robustness` (the long one).
    """
    own = frame[frame["role"] == "metric"]
    names = (own["variant"] + (" " + own["member"]).where(own["member"] != "", "")).str.replace("a major group left out", "without group")
    own = own.assign(row=names, column=own["system"] + " " + own["language"].str.upper())
    rows, columns = list(dict.fromkeys(own["row"])), list(dict.fromkeys(own["column"]))
    kinds = {"masculine, significant": MASCULINE, "masculine": "#c3d3e8", "neither": "#e5e7ea", "feminine": "#efcfc8",
             "feminine, significant": FEMININE}
    side = np.sign(own["value"]).fillna(0).astype(int)
    own["kind"] = (2 - side * (1 + own["significant"].fillna(False).astype(int))).where(own["value"].notna())
    cells = own.pivot(index="row", columns="column", values="kind").reindex(index=rows, columns=columns)
    figure, axis = plt.subplots(figsize=(max(4.2, 2.6 + 0.36 * len(columns)), 2.1 + 0.19 * len(rows)))
    axis.pcolormesh(np.ma.masked_invalid(cells.to_numpy(float)), cmap=mpl.colors.ListedColormap(list(kinds.values())), vmin=-0.5, vmax=4.5,
                    edgecolors="white", linewidth=1.5)
    axis.set(xticks=np.arange(len(columns)) + 0.5, yticks=np.arange(len(rows)) + 0.5, yticklabels=rows, ylim=(max(len(rows), 1), 0),
             title="Every analysis, every metric run")
    axis.set_xticklabels(columns, rotation=60, ha="right", rotation_mode="anchor")
    axis.tick_params(length=0, labelsize=7)
    sns.despine(ax=axis, left=True, bottom=True)
    figure.legend(handles=[plt.Rectangle((0, 0), 1, 1, facecolor=c, lw=0) for c in kinds.values()], labels=list(kinds),
                  loc="outside lower center", ncols=3, fontsize=7)
    return figure


def spread(wanted, gap):
    """Places at least `gap` apart, in the same order, as near to the wanted ones as can be (least squares).

    Examples
    --------
    >>> spread([0.0, 0.1, 5.0], 1.0).round(2).tolist()
    [-0.45, 0.55, 5.0]
    """
    wanted = np.asarray(wanted, float)
    order = np.argsort(wanted, kind="stable")
    steps = gap * np.arange(len(wanted))
    places = np.empty(len(wanted))
    places[order] = optimize.isotonic_regression(wanted[order] - steps).x + steps if len(wanted) else []
    return places


def quadrants(frame, split, corners, title, xlabel, ylabel):
    """Two figures of the same occupations, the four corners named and counted, some occupations labelled at the sides.

    Parameters
    ----------
    frame : DataFrame
        x (a share), y, title, named (bool: labelled); rows without x or y are left out.
    split : (float, float)
        Where x and y part.
    corners : dict
        (sign of x, sign of y) to the name of that corner.
    title, xlabel, ylabel : str
    """
    shown = frame.dropna(subset=["x", "y"])
    low, high = (min(shown["y"].min(), split[1]), max(shown["y"].max(), split[1])) if len(shown) else (-1.0, 1.0)
    reach = max(high - low, 1e-9)
    figure, axis = plt.subplots(figsize=(WIDTH, 5.8))
    axis.scatter(shown["x"], shown["y"], s=np.where(shown["named"], 20, 9), linewidths=0, alpha=0.85, zorder=3,
                 c=np.where(shown["y"] > split[1], MASCULINE, np.where(shown["y"] < split[1], FEMININE, NEUTRAL)))
    axis.plot([split[0]] * 2, [low - 0.3 * reach, high + 0.3 * reach], color=INK, lw=0.7, ls=":", zorder=0)
    axis.plot([0, 1], [split[1]] * 2, color=INK, lw=0.7, ls=":", zorder=0)
    axis.set(title=title, xlabel=xlabel, ylabel=ylabel, xlim=(-0.46, 1.46), xticks=[0, 0.25, 0.5, 0.75, 1],
             ylim=(low - 0.15 * reach, high + 0.15 * reach))
    for (right, up), name in corners.items():
        n = int(((np.sign(shown["x"] - split[0]) == right) & (np.sign(shown["y"] - split[1]) == up)).sum())
        axis.text(0.99 if right > 0 else 0.01, 0.995 if up > 0 else 0.005, f"{name} ({n})", transform=axis.transAxes, fontsize=8,
                  color=MASCULINE if up > 0 else FEMININE, ha="right" if right > 0 else "left", va="top" if up > 0 else "bottom")
    for right in (False, True):
        own = shown[shown["named"] & ((shown["x"] > split[0]) == right)]
        for (x, y), name, place in zip(own[["x", "y"]].to_numpy(), own["title"], spread(own["y"], 0.05 * reach)):
            axis.annotate("\n".join(textwrap.wrap(name, 26, max_lines=2, placeholder=" …")), (x, y), fontsize=6.5, va="center",
                          xytext=(1.06 if right else -0.06, place), ha="left" if right else "right", linespacing=0.95,
                          arrowprops={"arrowstyle": "-", "color": "#c3c6cb", "lw": 0.5, "shrinkA": 0, "shrinkB": 2, "zorder": 1,
                                      "relpos": (0 if right else 1, 0.5)})
    return figure


def heat_map(values, title, bar):
    """Numbers of groups (rows) by language (columns) as colours around 0, with the numbers in the cells.

    Parameters
    ----------
    values : DataFrame
        Index row names, columns short names; a missing value is an empty cell with a dash.
    title, bar : str
        Heading, and what the colours mean.
    """
    colours = mpl.colors.LinearSegmentedColormap.from_list("masculine", [FEMININE, "#ffffff", MASCULINE])
    reach = float(np.nanmax(np.abs(values.to_numpy(float)), initial=0)) or 1.0
    figure, axis = plt.subplots(figsize=(WIDTH, 1.3 + 0.31 * len(values)))
    if values.empty:
        axis.set(title=f"{title}: no figures", xticks=[], yticks=[])
        return figure
    mesh = axis.imshow(values.to_numpy(float), cmap=colours, vmin=-reach, vmax=reach, aspect="auto")
    for (y, x), value in np.ndenumerate(values.to_numpy(float)):
        axis.text(x, y, tables.fixed(value, 1), ha="center", va="center", fontsize=8, color="white" if abs(value) > 0.7 * reach else INK)
    axis.set(xticks=range(values.shape[1]), xticklabels=values.columns, yticks=range(len(values)), title=textwrap.fill(title, 48),
             yticklabels=[_short(name, 46) for name in values.index])
    axis.tick_params(length=0)
    sns.despine(ax=axis, left=True, bottom=True)
    figure.colorbar(mesh, ax=axis, label=bar, shrink=0.9, pad=0.02)
    return figure


def stacked(values, bin_width=0.04, most=10, dx=0.021, height=0.6):
    """Where points of one row stand so that equal or near values do not cover each other; no chance in it.

    Parameters
    ----------
    values : ndarray, shape (n,)
    bin_width : float
        Values nearer than this to the lowest of their heap stand above each other.
    most : int
        Points in a column; a heap with more of them gets several columns, centred on the values.
    dx, height : float
        Distance of columns; height of a full column.

    Returns
    -------
    x, y : ndarray, shape (n,)
        x differs from the value only where a heap has several columns; y lies within half the height around 0.
    """
    x, y = np.array(values, float), np.zeros(len(values))
    order, heaps = np.argsort(x, kind="stable"), []
    for i in order:
        if not heaps or x[i] - x[heaps[-1][0]] >= bin_width:
            heaps.append([])
        heaps[-1].append(i)
    for own in map(np.array, heaps):
        columns = -(-len(own) // most)
        column, place = np.arange(len(own)) % columns, np.arange(len(own)) // columns
        inside = np.bincount(column)[column]                                  # points of the own column
        y[own] = (place - (inside - 1) / 2) * height / most
        x[own] += (column - (columns - 1) / 2) * dx
    return x, y


def strip(frame, title, level=0.95):
    """All unit groups of one run by major group: nGPD against 0.5.

    Parameters
    ----------
    frame : DataFrame
        From `systems.strip_frame`: level (1, 4), group, major, title, texts, ngpd (missing: no gendered text), low, high.
    title : str
    level : float
        Of the intervals of the major groups, for the legend.

    Returns
    -------
    Figure
        A point is a unit group, its area goes with the number of gendered texts; the diamond below is the major group, all its texts
        pooled. Numbers at the ends count the unit groups that are always feminine or always masculine.
    """
    majors_ = frame[frame["level"] == 1].sort_values("group")
    units = frame[(frame["level"] == 4) & frame["ngpd"].notna()].sort_values("group")
    figure, axis = plt.subplots(figsize=(WIDTH, 1.3 + 0.62 * max(len(majors_), 1)))
    largest = max(int(units["texts"].max()) if len(units) else 1, 1)

    def area(texts):
        return 4 + 16 * np.asarray(texts, float) / largest

    for y, row in enumerate(majors_.itertuples()):
        own = units[units["major"] == row.group]
        axis.axhspan(y - 0.46, y + 0.46, color="#f6f7f8", zorder=0, lw=0)
        if not len(own):
            axis.text(0, y, "no gendered text", ha="center", va="center", fontsize=7, color=NEUTRAL, zorder=5,
                      bbox={"facecolor": "#f6f7f8", "edgecolor": "none", "pad": 1})
            continue
        x, up = stacked(own["ngpd"])
        axis.scatter(x, y - 0.1 - up, s=area(own["texts"]), linewidths=0, alpha=0.8, zorder=2,
                     c=np.where(own["ngpd"] > 0, MASCULINE, np.where(own["ngpd"] < 0, FEMININE, NEUTRAL)))
        axis.plot([row.low, row.high], [y + 0.33] * 2, color=INK, lw=1.4, zorder=3, solid_capstyle="butt")
        axis.scatter([row.ngpd], [y + 0.33], marker="D", s=17, color=INK, edgecolors="white", linewidths=0.6, zorder=4)
        for value, place, side, colour in ((-1, -1.24, "right", FEMININE), (1, 1.24, "left", MASCULINE)):
            count = int((own["ngpd"].round(9) == value).sum())
            axis.text(place, y - 0.1, str(count) if count else "", ha=side, va="center", fontsize=7.5, color=colour)
    axis.axvline(0, color=INK, lw=0.8, zorder=1)
    titles = isco.table()["title"]
    if not len(majors_):
        axis.text(0, 0, "no unit group", ha="center", va="center", fontsize=7, color=NEUTRAL)
    axis.set(yticks=range(len(majors_)), ylim=(max(len(majors_), 1) - 0.5, -0.5), xlim=(-1.4, 1.4), xticks=[-1, -0.5, 0, 0.5, 1],
             title=title, yticklabels=[f"{c} {_short(titles[c], 32)}" for c in majors_["group"]],
             xlabel="nGPD (−1 always feminine, 1 always masculine)\nnumbers: unit groups at −1 and at 1; equal values side by side")
    axis.tick_params(axis="y", length=0)
    sns.despine(ax=axis, left=True)
    handles = [plt.Line2D([], [], marker="D", color=INK, ms=4, lw=1.4, label=f"major group, texts pooled, {100 * level:g}% interval")]
    handles += [plt.Line2D([], [], marker="o", ls="", color=NEUTRAL, ms=float(np.sqrt(area(n))),
                           label=f"unit group, {n} text{'s' * (n > 1)}") for n in sorted({1, largest})]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, fontsize=7.5)
    return figure


def detector_calibration(frame, threshold=0.8):
    """What the ISCO filter of the llm detector keeps, by threshold and language.

    Parameters
    ----------
    frame : DataFrame
        data/detectors/calibration.csv: language, threshold, kept_right, kept_wrong with _low and _high, kept_masculine, kept_feminine.
    threshold : float
        The one in use, drawn as a line.
    """
    languages = list(dict.fromkeys(frame["language"]))
    columns = min(3, len(languages))
    figure, axes = plt.subplots(-(-len(languages) // columns), columns, figsize=(WIDTH, 1.0 + 1.55 * -(-len(languages) // columns)),
                                sharex=True, sharey=True, squeeze=False)
    for axis, code in zip(axes.flat, languages):
        own = frame[frame["language"] == code]
        x = own["threshold"]
        for name, colour, label in (("kept_right", INK, "term and its own entry"), ("kept_wrong", NEUTRAL, "term and another entry")):
            axis.fill_between(x, own[f"{name}_low"], own[f"{name}_high"], color=colour, alpha=0.15, lw=0)
            axis.plot(x, own[name], color=colour, lw=1.3, ls="-" if name == "kept_right" else "--", label=label)
        for name, colour in (("masculine", MASCULINE), ("feminine", FEMININE)):
            axis.plot(x, own[f"kept_{name}"], color=colour, lw=1, label=f"{name} form and its own entry")
        axis.axvline(threshold, color=INK, lw=0.8, ls=":", label=f"threshold {threshold:g}")
        axis.set(title=code.upper(), xlim=(0.74, frame["threshold"].max()), ylim=(-0.03, 1.03))
    for axis in axes.flat[len(languages):]:
        axis.set_axis_off()
    axes[-1, len(axes[-1]) // 2].set_xlabel("least similarity (e5 cosine) that is kept")
    axes[len(axes) // 2, 0].set_ylabel("share kept")
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=7)
    return figure


def interval_coverage(frame, studied):
    """Simulated coverage of the intervals of evaluator measures, with Monte Carlo intervals.

    Parameters
    ----------
    frame : DataFrame
        From `simulation.evaluator_coverage`, `range_coverage` and `error_coverage`: quantity, design, effect, interval, nominal, coverage
        with _low and _high.
    studied : sequence of str
        Names of the intervals that the study's own tables show (filled); others are open.
    """
    quantities = list(dict.fromkeys(frame["quantity"]))
    keys = sorted(dict.fromkeys(zip(frame["quantity"], frame["design"], frame["effect"].fillna(-1))), key=lambda k: quantities.index(k[0]))
    place = {key: y for y, key in enumerate(keys)}
    others = [name for name in dict.fromkeys(frame["interval"]) if name not in studied]
    figure, axis = plt.subplots(figsize=(WIDTH, 1.2 + 0.19 * len(keys)))
    for k, quantity in enumerate(quantities):
        own = [y for (q, *_), y in place.items() if q == quantity]
        if k % 2 == 0:
            axis.axhspan(min(own) - 0.5, max(own) + 0.5, color="#f3f4f6", lw=0, zorder=0)
    nominal = frame["nominal"].iloc[0]
    axis.axvline(nominal, color=INK, lw=0.9, zorder=1)
    for row in frame.itertuples():
        own = row.interval in studied
        y = place[row.quantity, row.design, -1 if np.isnan(row.effect) else row.effect] + (-0.17 if own else 0.17)
        colour = MASCULINE if own else (FEMININE if row.interval == others[0] else NEUTRAL)
        axis.errorbar(row.coverage, y, xerr=[[row.coverage - row.coverage_low], [row.coverage_high - row.coverage]], fmt="o", ms=3.6,
                      color=colour, mfc=colour if own else "white", elinewidth=0.9, zorder=3)
    handles = [plt.Line2D([], [], color=INK, lw=0.9, label=f"nominal, {100 * nominal:g}%"),
               plt.Line2D([], [], marker="o", ls="", color=MASCULINE, ms=4, label="as in the study (percentile)")]
    handles += [plt.Line2D([], [], marker="o", ls="", color=FEMININE if name == others[0] else NEUTRAL, mfc="white", ms=4, label=name)
                for name in others]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=7.5)
    axis.set(yticks=range(len(keys)), ylim=(len(keys) - 0.4, -0.6), xlim=(min(0.8, frame["coverage_low"].min() - 0.01), 1.005),
             yticklabels=[f"{q} · {d}" + ("" if e < 0 else f" · S = {tables.fixed(e)} sd") for q, d, e in keys],
             xlabel="share of samples whose interval holds the true value\n(bars: 95% Monte Carlo interval)",
             title="SIMULATED: coverage of the intervals, evaluators")
    axis.tick_params(axis="y", labelsize=7.5, length=0)
    return figure


def group_coverage(frame, studied):
    """Simulated coverage of the intervals of nGPD by number of unit groups, one panel a share p.

    Parameters
    ----------
    frame : DataFrame
        From `simulation.system_coverage`, unit groups redrawn: p, groups, interval, nominal, coverage with _low and _high.
    studied : sequence of str
        As in `interval_coverage`.
    """
    values, sizes = list(dict.fromkeys(frame["p"])), sorted(frame["groups"].unique())
    figure, axes = plt.subplots(1, len(values), figsize=(WIDTH, 2.9), sharey=True, squeeze=False)
    figure.set_label("SIMULATED: coverage of the intervals, systems")
    for axis, p in zip(axes[0], values):
        axis.axhline(frame["nominal"].iloc[0], color=INK, lw=0.8, zorder=0)
        for name in dict.fromkeys(frame["interval"]):
            own = frame[(frame["p"] == p) & (frame["interval"] == name)].sort_values("groups")
            colour, line = (MASCULINE, "-") if name in studied else (NEUTRAL, ":") if name == "BCa" else (FEMININE, "--")
            marker = "s" if name == studied[-1] else "o"
            axis.errorbar([sizes.index(g) for g in own["groups"]], own["coverage"], fmt=marker, ls=line, ms=3.5, lw=1.1, color=colour,
                          mfc=colour if name in studied else "white", elinewidth=0.8, label=name + " (as in the study)" * (name in studied),
                          yerr=[own["coverage"] - own["coverage_low"], own["coverage_high"] - own["coverage"]])
        axis.set(title=f"p = {p:g}", xticks=range(len(sizes)), xticklabels=[f"{g:g}" for g in sizes], ylim=(0, 1.03))
        axis.tick_params(labelsize=7.5)
    axes[0, 0].set_ylabel("coverage")
    figure.supxlabel("SIMULATED: unit groups of a group, drawn anew", fontsize=9)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=4, fontsize=7)
    return figure


def power_curves(curve, observed=()):
    """Power of the t-test by true S: noncentral t as lines, simulated runs as dots.

    Parameters
    ----------
    curve : DataFrame
        From `simulation.power_table`: texts, level, effect (sd of d), formula, simulated.
    observed : array_like
        |S| of real runs in sd of d, as ticks.
    """
    levels, texts = list(dict.fromkeys(curve["level"])), list(dict.fromkeys(curve["texts"]))
    figure, axes = plt.subplots(1, len(levels), figsize=(WIDTH, 3.0), sharey=True, squeeze=False)
    figure.set_label("SIMULATED: power")
    colours = dict(zip(texts, (FEMININE, MASCULINE, NEUTRAL, INK)))
    top, observed = curve["effect"].max(), np.asarray(observed, float)
    for axis, level in zip(axes[0], levels):
        axis.axhline(0.8, color=INK, lw=0.7, ls=":", zorder=0)
        for k in texts:
            own = curve[(curve["level"] == level) & (curve["texts"] == k)]
            axis.plot(own["effect"], own["formula"], color=colours[k], lw=1.3, label=f"{k} text{'s' * (k != 1)} an occupation")
            axis.plot(own["effect"], own["simulated"], "o", color=colours[k], ms=2.2)
        axis.vlines(observed[observed <= top], -0.09, -0.04, color=INK, lw=1.2)
        axis.set(title=level, xlim=(0, top), ylim=(-0.1, 1.02))
    axes[0, 0].set_ylabel("probability of being found")
    beyond = int((observed > top).sum())
    note = f"; bars below: real metric runs, {beyond} of {len(observed)} lie beyond" if len(observed) else ""
    figure.supxlabel(f"true |S|, sd of d (lines: formula; dots: SIMULATED{note})", fontsize=9)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=len(texts), fontsize=7.5)
    return figure
