"""Tables as printed: CSV with full numbers, Markdown and LaTeX with rounded ones.

Files are rewritten only when a text differs or a number moves by more than rtol 1e-9 / atol 1e-12 of its column's scale.
"""

from __future__ import annotations

import hashlib
import html
import json
import re

import numpy as np
import pandas as pd

from mtgender import data, isco, preference
from mtgender.inference import panel_systems
from mtgender.representation import STEERED
from mtgender.study import LANGUAGES, read_yaml

RTOL, ATOL = 1e-9, 1e-12
ABSENT = "–"


def fixed(value, decimals=2, sign=False):
    """A number with a fixed number of decimals; missing is an en dash, minus is a true minus, zero has no sign.

    Examples
    --------
    >>> fixed(-0.001), fixed(2.345, 1), fixed(float("nan")), fixed(-1.5), fixed(0.5, sign=True)
    ('0.00', '2.3', '–', '−1.50', '+0.50')
    """
    if pd.isna(value):
        return ABSENT
    text = f"{value:+.{decimals}f}" if sign else f"{value:.{decimals}f}"
    if float(text) == 0:
        text = text.lstrip("+-")
    return text.replace("-", "−")


def p_value(p):
    """A p-value as text.

    Examples
    --------
    >>> p_value(0.2345), p_value(1e-9), p_value(float("nan"))
    ('.234', '< .001', '–')
    """
    if pd.isna(p):
        return ABSENT
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def interval(low, high, decimals=2):
    """`[low, high]`, or a dash."""
    return ABSENT if pd.isna(low) or pd.isna(high) else f"[{fixed(low, decimals)}, {fixed(high, decimals)}]"


def differences(old, new):
    """What differs between two tables beyond tolerance.

    Parameters
    ----------
    old, new : DataFrame
        As read from CSV.

    Returns
    -------
    list of str
        One line a difference (at most the first five rows of a column); empty if the tables are the same.
    """
    if list(old.columns) != list(new.columns):
        return [f"columns {list(old.columns)} became {list(new.columns)}"]
    if len(old) != len(new):
        return [f"{len(old)} rows became {len(new)}"]
    found = []
    for column in old.columns:
        a, b = old[column], new[column]
        coded = (a + " " + b).str.contains(r"(?:^| )0\d").any()          # codes like 0110 are text
        numbers = [np.full(len(x), np.nan) if coded else pd.to_numeric(x.where(x.map(_is_number)), errors="coerce").to_numpy(float)
                   for x in (a, b)]
        text = (a != b) & (np.isnan(numbers[0]) | np.isnan(numbers[1]))
        scale = np.nanmax(np.abs(numbers[0]), initial=0.0)
        moved = ~np.isclose(*numbers, rtol=RTOL, atol=ATOL * max(scale, 1e-300), equal_nan=True)
        rows = np.flatnonzero(text.to_numpy() | (moved & ~text.to_numpy() & ~(np.isnan(numbers[0]) & np.isnan(numbers[1]))))
        found += [f"{column}, row {i + 1} ({a.iloc[0 + i]!r} became {b.iloc[i]!r})" for i in rows[:5]]
        if len(rows) > 5:
            found.append(f"{column}: {len(rows)} rows in all")
    return found


def _is_number(text):
    return data.number(text) is not None


def read_csv(path, separator=","):
    """A table as text cells; empty for a file without columns."""
    try:
        return pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False)
    except pd.errors.EmptyDataError:
        return pd.DataFrame()


def as_text(frame):
    """A frame as it is written to CSV: numbers with 12 significant digits, missing cells empty."""
    def cell(value):
        if value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value)):
            return ""
        if isinstance(value, (float, np.floating)):
            return f"{value + 0.0:.12g}"
        return str(value)
    return frame.reset_index(drop=True).astype(object).map(cell)


def write_csv(frame, path):
    """Write a table as CSV unless the file already holds the same numbers.

    Returns
    -------
    bool
        Whether the file was written.
    """
    text = as_text(frame)
    if path.is_file() and path.stat().st_size and not differences(read_csv(path), text):
        path.touch()
        return False
    data.replace(path, lambda p: text.to_csv(p, index=False, lineterminator="\n"))
    return True


def latex_escape(text):
    """Text safe in LaTeX.

    Examples
    --------
    >>> latex_escape("Vertical_870257 & S% {x}")
    'Vertical\\\\_870257 \\\\& S\\\\% \\\\{x\\\\}'
    """
    table = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "−": "$-$", "–": "--",
             "<": "$<$", ">": "$>$", "≤": r"$\le$", "≥": r"$\ge$", "†": r"$\dagger$", **{c: "\\" + c for c in "&%$#_{}"}}
    return "".join(table.get(c, c) for c in str(text))


def latex_cell(text):
    """A cell in LaTeX: escaped, `**bold**` and `<u>underlined</u>` as commands.

    Examples
    --------
    >>> latex_cell("**0.81** [0.7, 0.9]"), latex_cell("<u>−0.1</u>"), latex_cell("a ** b")
    ('\\\\textbf{0.81} [0.7, 0.9]', '\\\\underline{$-$0.1}', 'a ** b')
    """
    parts = re.split(r"(\*\*\S.*?\*\*|<u>.+?</u>)", str(text))                # every second part is marked
    return "".join(latex_escape(part) if i % 2 == 0 else rf"\textbf{{{latex_escape(part[2:-2])}}}" if part[0] == "*"
                   else rf"\underline{{{latex_escape(part[3:-4])}}}" for i, part in enumerate(parts))


def write(study, name, frame, printed, caption, rules=(), folder=None):
    """Write one table of a study: `<name>.csv`, `.md` and `.tex`.

    Parameters
    ----------
    study : Study
    name : str
        File stem, like `metrics_table2`.
    frame : DataFrame
        The numbers.
    printed : DataFrame
        The same as text, as it is to be read.
    caption : str
        What is shown and by which settings (n, replicates, seed, range scope, family size).
    rules : sequence of int
        Rows above which a rule is drawn.
    folder : Path, optional
        Default: the study's tables.

    Returns
    -------
    DataFrame
        `printed`.
    """
    folder = folder or study.tables
    changed = write_csv(frame, folder / f"{name}.csv")
    texts = {"md": markdown(printed, caption), "tex": latex(printed, caption, name, rules)}
    for suffix, text in texts.items():
        path = folder / f"{name}.{suffix}"
        if changed or not path.is_file() or path.read_text(encoding="utf-8") != text:
            data.replace(path, lambda p, text=text: p.write_text(text, encoding="utf-8", newline="\n"))
        path.touch()
    return printed


def markdown(printed, caption):
    """A table as GitHub Markdown with its caption above."""
    safe = printed.astype(str).map(lambda c: c.replace("|", "\\|").replace("\n", " "))
    safe.columns = [str(c).replace("|", "\\|") for c in safe.columns]
    left = [i == 0 or not printed.iloc[:, i].astype(str).str.match(r"^[−+\[\d.–<*]").all() for i in range(printed.shape[1])]
    body = safe.to_markdown(index=False, disable_numparse=True, colalign=["left" if x else "right" for x in left])
    return f"{caption}\n\n{body}\n"


def latex(printed, caption, label, rules=()):
    """A table as LaTeX (booktabs), escaped; `\\usepackage{booktabs}` is all it needs."""
    rows = [" & ".join(map(latex_cell, row)) + r" \\" for row in printed.astype(str).itertuples(index=False)]
    rows = [f"{{{row[0]}}}{row[1:]}" if row[0] in "[*" else row for row in rows]      # \\[ would be read as a length
    for position in sorted(rules, reverse=True):
        if 0 < position < len(rows):
            rows.insert(position, r"\midrule")
    head = " & ".join(map(latex_escape, printed.columns)) + r" \\"
    return "\n".join([r"\begin{table}", r"\centering", rf"\caption{{{latex_escape(caption)}}}", rf"\label{{tab:{label}}}",
                      rf"\begin{{tabular}}{{l{'r' * (printed.shape[1] - 1)}}}", r"\toprule", head, r"\midrule", *rows,
                      r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def settings(study, n=None, scaled=True):
    """The settings every caption carries; `n` is the number of pairs of a complete run, `scaled` whether percentages of R are shown."""
    return (f"{f'{n} pairs a language. ' if n else ''}Intervals: {100 * study.level:g}% percentile, occupation-block bootstrap, "
            f"{study.replicates} replicates, seed {study.seed} (sensitivity to the weighting of occupations, not sampling of new texts)."
            f"{f' R: observed score range per {study.range}.' if scaled else ''}")


def marked(study):
    """What each annotator of a study marks, as the first sentence of its card says."""
    said = [f"{system.label}: {system.card['description'].split('. ')[0].rstrip('.')}." for system in study.annotations.values()
            if system.card.get("description")]
    return " ".join(["What is marked:", *said]) if said else ""


def system_label(runs, system):
    """Display name, dagger for a baseline; RB or RF for an evaluator."""
    row = runs[runs["system"] == system].iloc[0]
    kind = f" ({'RB' if row['references'] else 'RF'})" if row.get("kind", "scores") == "scores" else ""
    return f"{row['label']}{'†' if row['baseline'] else ''}{kind}"


def group_of(runs, system):
    """`metric` if any of a system's runs is one, else the role of its first run."""
    roles = runs.loc[runs["system"] == system, "role"]
    return "metric" if (roles == "metric").any() else roles.iloc[0]


def panel_name(systems):
    """The metrics of a mean, in words: their names, or of more than three how many.

    Examples
    --------
    >>> panel_name(["e5-cosine"]), panel_name(["a", "b"]), panel_name(list("abcd")), panel_name([])
    ('e5-cosine', 'a and b', '4 metrics', 'no metric')
    """
    names = [str(s) for s in systems if s]
    if len(names) > 3:
        return f"{len(names)} metrics"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]])) or "no metric"


def in_order(runs):
    """Systems of a set of runs: metrics first, then fluency, then controls; study order within."""
    systems = list(dict.fromkeys(runs["system"]))
    return sorted(systems, key=lambda s: ("metric", "fluency", "control").index(group_of(runs, s)))


def score_prediction(results):
    """Table 2: S% / A% by system and language, with the macro rows.

    Returns
    -------
    frame, printed : DataFrame
    rule : int
        Row of the first system that is not a metric.
    """
    runs = results.runs[results.runs["kind"] == "scores"]
    table, summaries = results.score_runs, results.score_summaries
    marks = {True: "*", False: ""}
    rows, shown, systems = [], [], in_order(runs)
    for system in systems:
        row = {"system": system, "role": group_of(runs, system)}
        text = {"Evaluator": system_label(runs, system), "Role": row["role"]}
        for code in results.study.languages:
            found = table[(table["system"] == system) & (table["language"] == code)]
            cell = ABSENT
            if len(found):
                r = found.iloc[0]
                row |= {f"signed_pct_{code}": r["signed_pct"], f"absolute_pct_{code}": r["absolute_pct"]}
                partial = "‡" if "partial" in r["note"] else ""
                cell = ABSENT if pd.isna(r["signed_pct"]) else (
                    f"{fixed(r['signed_pct'])}{marks[bool(r['significant']) if pd.notna(r['significant']) else False]}{partial}"
                    f" / {fixed(r['absolute_pct'])}")
            else:
                row |= {f"signed_pct_{code}": np.nan, f"absolute_pct_{code}": np.nan}
            text[code.upper()] = cell
        for key, name in (("macro_panel", f"Macro-{len(results.study.panel)}"), ("macro_available", "Macro (available)")):
            found = summaries[(summaries["system"] == system) & (summaries["summary"] == key)]
            if not len(found):
                row |= {f"{key}_{c}": np.nan for c in SUMMARY_COLUMNS}
                text[name] = ABSENT
                continue
            r = found.iloc[0]
            row |= {f"{key}_{c}": r[c] for c in SUMMARY_COLUMNS}
            text[name] = ABSENT if pd.isna(r["signed_pct"]) else (
                f"{fixed(r['signed_pct'])} {interval(r['signed_pct_low'], r['signed_pct_high'])} / {fixed(r['absolute_pct'])}")
            if key == "macro_available":
                text |= {"S": significant_digits(r["signed"]), "A": significant_digits(r["absolute"])}
        rows.append(row)
        shown.append(text)
    rule = sum(group_of(runs, s) == "metric" for s in systems)
    return pd.DataFrame(rows), pd.DataFrame(shown).fillna(ABSENT), rule


SUMMARY_COLUMNS = ["n_languages", "signed", "absolute", "signed_pct", "signed_pct_low", "signed_pct_high", "absolute_pct",
                   "absolute_pct_low", "absolute_pct_high"]


def significant_digits(value, digits=3):
    """A native-unit number with a few significant digits.

    Examples
    --------
    >>> significant_digits(0.00123456), significant_digits(-12.3456), significant_digits(0.0)
    ('0.00123', '−12.3', '0')
    """
    if pd.isna(value):
        return ABSENT
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - int(np.floor(np.log10(abs(value)))))
    return fixed(value, min(decimals, 9))


def significance_sentence(table, q):
    """The Benjamini-Hochberg sentence of the results, built from numbers.

    Parameters
    ----------
    table : DataFrame
        score_runs.
    q : float
    """
    family = table[table["p_adjusted"].notna()]
    if not len(family):
        return "No score run of a metric: nothing to test."
    chosen = family[family["significant"].fillna(False).astype(bool)]
    masculine, feminine = chosen[chosen["signed"] > 0], chosen[chosen["signed"] < 0]
    text = (f"{len(chosen)} of {len(family)} metric runs differ from zero at q = {q:g} (Benjamini–Hochberg over {len(family)} runs); "
            f"{len(masculine)} favour the masculine variant and {len(feminine)} the feminine one")
    if len(feminine):
        text += ": " + ", ".join(f"{s} ({c.upper()})" for s, c in zip(feminine["system"], feminine["language"]))
    return text + "."


def headline(results):
    """The results of a study in sentences built from its numbers: significance, extremes, error annotation."""
    parts = [significance_sentence(results.score_runs, results.study.q)]
    rows = results.score_summaries[results.score_summaries["summary"] == "macro_available"].dropna(subset="signed_pct")
    rows = rows[[group_of(results.runs, s) == "metric" for s in rows["system"]]]
    for row in rows.itertuples():
        parts.append(f"{system_label(results.runs, row.system)}: S% = {fixed(row.signed_pct)} "
                     f"{interval(row.signed_pct_low, row.signed_pct_high)}, A% = {fixed(row.absolute_pct)}, balance "
                     f"{fixed(row.balance, 1)} {interval(row.balance_low, row.balance_high, 1)} points (mean of {row.n_languages} "
                     f"language{'s' if row.n_languages != 1 else ''}).")
    for row in results.error_runs.itertuples():
        parts.append(f"{system_label(results.runs, row.system)}, {row.language.upper()}: masculine minus feminine error-free rate "
                     f"{fixed(row.difference, 1, sign=True)} points {interval(row.low, row.high, 1)}.")
    return "\n".join(f"- {p}" for p in parts)


def readme_results(folder):
    """The README's results, from the committed tables alone.

    Parameters
    ----------
    folder : Path
        Holds score_runs.csv, metrics_table2.md, metrics_table4.md, metrics_table3.csv, joint_languages.csv.

    Returns
    -------
    str
        Markdown.
    """
    runs = pd.read_csv(folder / "score_runs.csv", keep_default_na=False, na_values=[""])
    runs["significant"] = runs["significant"].map({True: True, False: False, "True": True, "False": False}).astype("boolean")
    ends = read_csv(folder / "metrics_table3.csv")
    panel = next((p.split(", ") for p in read_csv(folder / "joint_languages.csv")["panel"] if p), [])     # metrics of every language
    named = {side: ", ".join(f"{r.title} ({fixed(float(r.macro))})" for r in ends[ends["direction"] == side].head(3).itertuples())
             for side in ("masculine", "feminine")}
    return "\n".join([
        "- " + significance_sentence(runs, 0.05),
        f"- Occupations whose masculine form is preferred most (mean S% of {panel_name(panel)} over languages): {named['masculine']}; "
        f"least: {named['feminine']} (descriptive: three texts an occupation).", "",
        "**Score prediction (Table 2).** " + (folder / "metrics_table2.md").read_text(encoding="utf-8"),
        "**Error annotation (Table 4).** " + (folder / "metrics_table4.md").read_text(encoding="utf-8")])


def readme_systems(folder):
    """The README's lines on translation systems, from the committed tables."""
    every = read_csv(folder / "system_runs.csv")
    every = every[~every["subset"].isin(STEERED)]
    runs, own = every[every["source"] != "occupairs"], every[every["source"] == "occupairs"]
    gendered = runs[runs["language"] != "nl"].assign(ngpd=lambda f: f["ngpd_masculine"].astype(float))
    low, high = gendered.loc[gendered["ngpd"].idxmin()], gendered.loc[gendered["ngpd"].idxmax()]

    def named(row):
        return f"{fixed(row['ngpd'])} ({row['system']}, {language_name(row['language'])}, {row['source']})"

    if not (gendered["ngpd"] > 0).all():
        return ""
    made = ", ".join(f"{r.system} {language_name(r.language)} {fixed(float(r.ngpd_masculine))} {interval(float(r.low), float(r.high))}"
                     for r in own.itertuples() if r.ngpd_masculine)
    return "\n".join([
        f"**Translation systems.** nGPD = (share masculine − 0.5)/0.5 of {len(runs)} published, labelled runs. In German, Greek and "
        f"Spanish all {len(gendered)} are on the masculine side, from {named(low)} to {named(high)}; Dutch rarely marks gender at all.",
        *([f"Translations of OccuPairs, labelled by the lexicon detector: {made}."] if made else []),
        "[Table 3](tables/systems_table3.md), [by major group](tables/systems_levels.md), [both ends](tables/systems_table9.md), against "
        "the labour market: [German](tables/systems_figure2_de.md), [Greek](tables/systems_figure2_el.md).", ""])


def readme_producers(root):
    """The README's list of evaluators and annotators that were run: cards of `data/` and speeds of `benchmarks/producers.csv`."""
    measured = read_csv(root / "benchmarks" / "producers.csv").set_index("name")
    rows = []
    for kind in ("scores", "annotations"):
        for path in sorted((root / "data" / kind).glob("*/card.yaml")):
            card, speed = read_yaml(path)[0], measured.loc[path.parent.name] if path.parent.name in measured.index else {}
            rows.append({"name": f"`{card['name']}`" + (" (annotator)" if kind == "annotations" else ""),
                         "what it is": card["description"].split(". ")[0].rstrip(".") + ".",
                         "languages": " ".join(sorted(card["input_sha256"])), "licence": card["licence"].split("; dictionaries: ")[0],
                         "pairs a second": speed.get("pairs_per_second", ABSENT), "MB": speed.get("megabytes", ABSENT)})
    return pd.DataFrame(rows).to_markdown(index=False, disable_numparse=True) + "\n"


def readme_rescored(root):
    """The README's sentence on which committed scores and annotations were made again whole, of `benchmarks/rescored.csv`.

    Parameters
    ----------
    root : Path
        The repository.

    Returns
    -------
    str
        A row counts while the committed file is the one that was compared.
    """
    files = {path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()[:12]
             for kind, end in (("scores", "tsv"), ("annotations", "jsonl")) for path in sorted((root / "data" / kind).rglob(f"*.{end}"))}
    rows = data.read_tsv_like(root / "benchmarks" / "rescored.csv", data.RESCORED, ",")
    rows = rows[rows["file"].map(files) == rows["sha256"]].set_index("file")
    same, missing = rows["outcome"] == "the same", {}
    for name in files.keys() - rows.index:
        producer, _, language = name.removesuffix(".tsv").removesuffix(".jsonl").split("/", 2)[2].partition("/")
        missing.setdefault(producer, []).append(language.replace("/", " "))
    largest = pd.to_numeric(rows.loc[same, "largest_relative_difference"]).max()
    dates = " to ".join(dict.fromkeys((rows["date"].min(), rows["date"].max())))
    parts = [f"Of {len(files)} committed files {len(rows)} were made again whole ({dates}): "
             f"{same.sum()} the same (largest relative difference of a score {largest:.0e}), {(~same).sum()} different",
             *(f"{name}: {outcome}" for name, outcome in rows.loc[~same, "outcome"].items())]
    parts += ["not yet: " + "; ".join(f"{name} ({', '.join(sorted(codes))})" for name, codes in sorted(missing.items()))] if missing else []
    return "; ".join(parts) + ".\n"


def readme_benchmarks(path):
    """The README's run times: what has a target, and all of the default study, of `benchmarks/results.csv`."""
    frame = read_csv(path)
    chosen = frame[(frame["target"] != "") | (frame["part"] == "default")]
    return pd.DataFrame({
        "what": chosen["what"], "measured": [f"{float(v):.3g} {u}" for v, u in zip(chosen["measured"], chosen["unit"])],
        "range": [f"{float(lo):.3g} – {float(hi):.3g}" for lo, hi in zip(chosen["low"], chosen["high"])], "of": chosen["repeats"],
        "target": chosen["target"].replace("", ABSENT), "met": chosen["met"].replace("", ABSENT)}).to_markdown(
            index=False, disable_numparse=True) + "\n"


def data_card(root):
    """The generated blocks of data/README.md.

    Parameters
    ----------
    root : Path
        The repository.

    Returns
    -------
    dict of str
        corrections, detectors, languages, strategies, unknown, validity: Markdown tables from the committed files.
    """
    folder = root / "data" / "occupairs"
    corrections = read_csv(folder / "corrections.csv")
    flags = data.read_tsv(folder / "review.tsv", ["segment_id", "language", "variant", "flag"])
    languages, shares, unknown_words = [], [], []
    for path in sorted(p for p in folder.glob("??.tsv") if p.stem != "en"):
        pairs = data.read_pairs(folder, path.stem)
        glossary = data.read_tsv(folder / "glossary" / path.name, ["isco", "occupation", "term", "strategy", "forms", "note"])
        size = challenge_set(pairs)[0].iloc[-1]
        marks = data.read_annotations(root / "data" / "annotations" / "hunspell" / f"{path.stem}.jsonl", pairs)
        unknown = [100 * marks.loc[marks["variant"] == v, "n_errors"].sum() / pairs[v].str.split().str.len().sum()
                   for v in ("masculine", "feminine")]
        found = {v: {} for v in ("masculine", "feminine")}
        texts = pairs.set_index("segment_id")
        for row in marks.itertuples():
            for start, end, *_ in row.errors:
                word = texts.at[row.segment_id, row.variant][start:end]
                found[row.variant][word] = found[row.variant].get(word, 0) + 1
        only = {w: n for w, n in found["feminine"].items() if w not in found["masculine"]}
        unknown_words.append({"Language": LANGUAGES[path.stem], "only in feminine texts": len(only),
                              "only in masculine texts": len(set(found["masculine"]) - set(found["feminine"])),
                              "the most frequent of the feminine ones": ", ".join(sorted(only, key=lambda w: (-only[w], w))[:12])})
        flagged = flags[flags["language"] == path.stem]["segment_id"].nunique()
        zipf = read_csv(root / "data" / "scores" / "wordfreq-zipf" / path.name, "\t")[["masculine", "feminine"]].astype(float).mean()
        shown = strategies(pairs, path.stem, folder)[0].iloc[-1]
        languages.append({
            "Language": LANGUAGES[path.stem], "pairs": len(pairs), "words": fixed(size["masculine_words"], 1),
            "characters m": fixed(size["masculine_characters"], 1), "characters f": fixed(size["feminine_characters"], 1),
            "alternations": fixed(size["alternations"], 2), "gendered tokens %": fixed(size["density"], 1),
            "unknown words m / f %": " / ".join(fixed(u) for u in unknown),
            "word frequency m / f (Zipf)": " / ".join(fixed(z) for z in zipf),
            "occupation terms": ", ".join(f"{n} {s}" for s, n in glossary["strategy"].value_counts().items()), "flagged rows": flagged})
        shares.append({"Language": LANGUAGES[path.stem], **{
            name: fixed(shown[key], 1) for key, name in (*((m, m) for m in data.MARKS), ("noun_and_more", "noun and outside its phrase"),
                                                         ("no_noun", "not by the noun"))}})
    validity = [pd.read_csv(p).assign(evaluator=p.parent.name) for p in sorted((root / "data" / "scores").glob("*/validity.csv"))]
    rows = pd.concat(validity, ignore_index=True)
    rows["cell"] = [f"{fixed(r)} {interval(lo, hi)}" for r, lo, hi in zip(rows["rate"], rows["low"], rows["high"])]
    wide = rows.pivot(index=["evaluator", "language"], columns="probe", values="cell").reset_index()
    cards = {p.parent.name: read_yaml(p)[0] for p in (root / "data" / "scores").glob("*/card.yaml")}
    roles = {name: card["role"] for name, card in cards.items() if "role" in card}       # a demonstration has none
    wide["role"] = [roles[e][c] for e, c in zip(wide["evaluator"], wide["language"])]
    accuracy = read_csv(root / "data" / "detectors" / "accuracy.csv")
    figures = accuracy[["accuracy", "answered", "not_clear_recall"]].astype(float)
    accuracy["cell"] = [" / ".join(map(fixed, row)) for row in figures.to_numpy()]
    stages = accuracy.pivot(index="language", columns="stage", values="cell").reindex(columns=["blind", "final", "fresh", "baseline"])
    stages = stages.dropna(axis=1, how="all").fillna(ABSENT).reset_index()
    stages = stages.assign(language=stages["language"].map(LANGUAGES)).rename(columns={"baseline": "first article or pronoun only"})
    frames = {"detectors": stages, "corrections": corrections.assign(language=corrections["language"].map(LANGUAGES)),
              "languages": pd.DataFrame(languages),
              "strategies": pd.DataFrame(shares), "unknown": pd.DataFrame(unknown_words), "validity": wide}
    return {name: frame.astype(str).to_markdown(index=False, disable_numparse=True) + "\n" for name, frame in frames.items()}


def published_consistency(frame):
    """The recomputed numbers of the papers as printed: interval and status; the column `paper` stays first where there is one."""
    printed = pd.DataFrame({
        **({"Paper": frame["paper"]} if "paper" in frame else {}),
        "Check": frame["check"], "Printed": frame["published"].replace("", ABSENT), "Recomputed": [f"{v:.6g}" for v in frame["computed"]],
        "allowed by the printed digits": [ABSENT if lo == hi else f"[{lo:.6g}, {hi:.6g}]" for lo, hi in zip(frame["low"], frame["high"])],
        "Status": frame["status"], "How": frame["how"]})
    return printed


def summary_points(results):
    """What Figure 1 shows: one row an evaluator with label, role and its macro summary over the available languages."""
    rows = results.score_summaries[results.score_summaries["summary"] == "macro_available"].copy()
    rows.insert(1, "label", [results.runs.loc[results.runs["system"] == s, "label"].iloc[0] for s in rows["system"]])
    rows.insert(2, "role", [group_of(results.runs, s) for s in rows["system"]])
    return rows.reset_index(drop=True)


def select(frame, **key):
    """Rows of a frame whose columns have given values.

    Examples
    --------
    >>> select(pd.DataFrame({"system": ["a", "b"], "x": [1, 2]}), system="b")["x"].tolist()
    [2]
    """
    for column, value in key.items():
        frame = frame[frame[column] == value]
    return frame


def pick(frame, **key):
    """The one row of a frame whose columns have given values, as a Series."""
    rows = select(frame, **key)
    if len(rows) != 1:
        raise ValueError(f"{len(rows)} rows with {key}")
    return rows.iloc[0]


def error_verdict(row, label, language, q, level):
    """What one annotation run says, in a sentence built from its numbers."""
    text = (f"**{label}, {LANGUAGES[language]}**: {fixed(100 * row['error_free_masculine'], 1)} % of the masculine and "
            f"{fixed(100 * row['error_free_feminine'], 1)} % of the feminine texts carry no marked error; difference "
            f"{fixed(row['difference'], 1, sign=True)} points ({100 * level:g}% interval {fixed(row['low'], 1)} to "
            f"{fixed(row['high'], 1)})")
    if pd.notna(row["p_adjusted"]):
        text += f", {'' if row['significant'] else 'not '}significant at q = {q:g} (adjusted p {p_value(row['p_adjusted'])})"
    return text + "." + (f" Note: {row['note']}." if row["note"] else "")


def rates(results):
    """Section 5.1: masculine-win, feminine-win and tie rates, balance and cancellation of every run."""
    frame = results.score_runs.merge(results.runs.loc[results.runs["kind"] == "scores", ["system", "language", "label", "decimals"]],
                                     on=["system", "language"])
    columns = ["system", "language", "role", "masculine_win", "feminine_win", "tie", "balance", "balance_low", "balance_high",
               "cancellation", "decimals", "note"]
    printed = pd.DataFrame({
        "Evaluator": frame["label"], "Language": frame["language"].str.upper(), "Role": frame["role"],
        **{name: [fixed(100 * v, 1) for v in frame[key]] for name, key in
           (("masculine %", "masculine_win"), ("feminine %", "feminine_win"), ("tie %", "tie"))},
        "balance": [f"{fixed(b, 1)} {interval(lo, hi, 1)}" for b, lo, hi in
                    zip(frame["balance"], frame["balance_low"], frame["balance_high"])],
        "cancellation": [fixed(v) for v in frame["cancellation"]],
        "decimals": frame["decimals"].astype(str), "note": frame["note"]})
    return frame[columns], printed


def pair_means(results):
    """Means over pairs beside those over occupations: empty where all occupations have the same number of texts."""
    frame = results.pair_means.merge(results.score_runs[["system", "language", "signed", "absolute"]], on=["system", "language"],
                                     suffixes=("", "_occupations"))
    printed = pd.DataFrame({
        "Evaluator": frame["system"], "Language": frame["language"].str.upper(), "pairs": frame["n"].astype(str),
        "S, occupations": [significant_digits(v) for v in frame["signed_occupations"]],
        "S, pairs": [f"{significant_digits(v)} [{significant_digits(a)}, {significant_digits(b)}]"
                     for v, a, b in zip(frame["signed"], frame["signed_low"], frame["signed_high"])],
        "A, occupations": [significant_digits(v) for v in frame["absolute_occupations"]],
        "A, pairs": [significant_digits(v) for v in frame["absolute"]],
        "balance, pairs": [f"{fixed(v, 1)} {interval(a, b, 1)}" for v, a, b in
                           zip(frame["balance"], frame["balance_low"], frame["balance_high"])]})
    return frame, printed


def occupation_effects(results):
    """S% by occupation: mean over the panel's systems of 100 * (mean d) / R, then macro over languages.

    Returns
    -------
    DataFrame
        isco, title, one column a language, macro, n_languages_same_sign, n_systems_same_sign; sorted by macro. Descriptive: three
        texts an occupation carry no interval.
    """
    languages = list(results.study.languages)
    systems = panel_systems(results.runs, languages)
    frame = results.occupations[results.occupations["system"].isin(systems)].merge(results.ranges, on=["system", "language"])
    frame["effect"] = preference.percent_of_range(frame["signed"], frame["range"])
    by_language = frame.groupby(["isco", "language"])["effect"].mean().unstack("language").reindex(columns=languages)
    by_system = frame.groupby(["isco", "system"])["effect"].mean().unstack("system")
    table = by_language.copy()
    table["macro"] = by_language.mean(axis=1, skipna=False)
    for name, part in (("languages", by_language), ("systems", by_system)):
        table[f"n_{name}_same_sign"] = (np.sign(part).T == np.sign(table["macro"])).sum().astype(int)
    table.insert(0, "title", isco.table()["title"].reindex(table.index))
    return table.sort_values(["macro", "title"]).reset_index()


def reliability(results):
    """Split-half reliability of the occupation effects between text types, by language."""
    systems = panel_systems(results.runs, results.study.languages)
    scores = results.scores[results.scores["system"].isin(systems)].merge(
        results.pairs[["language", "segment_id", "isco", "text_type"]], on=["language", "segment_id"])
    scores = scores.merge(results.ranges, on=["system", "language"])
    scores["effect"] = preference.percent_of_range(preference.paired_difference(scores["masculine"], scores["feminine"]),
                                                  scores["range"])
    return {code: preference.split_half_reliability(part.groupby(["isco", "text_type"])["effect"].mean().unstack("text_type"))
            for code, part in scores.groupby("language")}


def language_table(results):
    """Section 5.2: S% and A% by language, mean over the all-language panel, beside the language's gender density."""
    density = results.pairs.assign(density=[data.gender_density(m) for m in results.pairs["markup"]]).groupby("language")["density"].mean()
    frame = results.language_means.assign(gender_density=lambda f: f["language"].map(density), reliability=lambda f: f["language"].map(
        reliability(results)).astype(float))
    printed = pd.DataFrame({
        "Language": [LANGUAGES[c] for c in frame["language"]], "systems": frame["n_systems"].astype(str),
        **{name: [f"{fixed(v)} {interval(a, b)}" for v, a, b in zip(*(frame[f"{key}{end}"] for end in ("", "_low", "_high")))]
           for name, key in (("S%", "signed_pct"), ("A%", "absolute_pct"))},
        "gendered tokens %": [fixed(100 * v, 1) for v in frame["gender_density"]],
        "reliability": [fixed(v) for v in frame["reliability"]]})
    return frame, printed


def challenge_set(pairs):
    """Size, length and gender density of one language's pairs, by text type and in all.

    Parameters
    ----------
    pairs : DataFrame
        text_type, isco, source, markup, masculine, feminine.
    """
    frame = pairs.assign(
        density=[100 * data.gender_density(m) for m in pairs["markup"]], alternations=pairs["markup"].str.count(r"\|"),
        source_words=pairs["source"].str.split().str.len(), masculine_words=pairs["masculine"].str.split().str.len(),
        masculine_characters=pairs["masculine"].str.len(), feminine_characters=pairs["feminine"].str.len())
    columns = ["source_words", "masculine_words", "masculine_characters", "feminine_characters", "alternations", "density"]
    parts = [(t, frame[frame["text_type"] == t]) for t in data.TEXT_TYPES] + [("all", frame)]
    table = pd.DataFrame([{"text_type": name, "texts": len(part), "occupations": part["isco"].nunique(), **part[columns].mean()}
                          for name, part in parts if len(part)])
    printed = table.assign(**{c: [fixed(v, 1) for v in table[c]] for c in columns}).rename(columns={
        "text_type": "Text type", "source_words": "English words", "masculine_words": "words", "masculine_characters": "characters m",
        "feminine_characters": "characters f", "density": "gendered tokens %"})
    return table, printed


def strategies(pairs, language, folder):
    """By which words the texts of one language show gender.

    Parameters
    ----------
    pairs : DataFrame
        text_type, occupation, markup.
    language : str
    folder : Path
        The challenge set; `gender_marks.tsv` in it holds the patterns. Without it the tables are empty.

    Returns
    -------
    frame, printed : DataFrame
        Percent of the texts, by text type and in all, with a gendered noun, article, pronoun, verb, adjective (or participle); with a
        gendered noun and something else, without a gendered noun.
    """
    if not (folder / "gender_marks.tsv").is_file():
        return pd.DataFrame(), pd.DataFrame()
    patterns = data.read_gender_marks(folder).get(language, [])
    found = [data.gender_marks(*row, patterns) for row in zip(pairs["markup"], pairs["occupation"])]
    frame = pd.DataFrame({mark: [100.0 * (mark in marks) for marks in found] for mark in data.MARKS}).assign(
        noun_and_more=[100.0 * ("noun" in marks and bool(marks - {"noun", "article"})) for marks in found],
        no_noun=[100.0 * ("noun" not in marks) for marks in found], text_type=list(pairs["text_type"]))
    table = pd.concat([frame.groupby("text_type").mean().reindex([t for t in data.TEXT_TYPES if t in set(frame["text_type"])]),
                       frame.drop(columns="text_type").mean().to_frame("all").T]).rename_axis("text_type").reset_index()
    printed = table.assign(**{c: [fixed(v, 1) for v in table[c]] for c in table.columns[1:]}).rename(columns={
        "text_type": "Text type", "adjective": "adjective, participle", "noun_and_more": "noun and outside the noun phrase",
        "no_noun": "not by the noun"})
    return table, printed


def example(pairs, language):
    """Table 1: one occupation's three texts with both variants, gendered parts underlined.

    Parameters
    ----------
    pairs : DataFrame
        Rows of one occupation.
    language : str

    Returns
    -------
    frame : DataFrame
    page : str
        HTML.
    """
    rows = []
    for row in pairs.itertuples():
        rows.append(f"<tr><th rowspan=3>{row.text_type}</th>{_cell('EN')}{_cell(html.escape(row.source))}</tr>")
        for side in (0, 1):
            rows.append(f"<tr>{_cell(language.upper() + '&nbsp;' + 'mf'[side])}{_cell(underlined(row.markup, side), language)}</tr>")
    frame = pairs[["segment_id", "isco", "text_type", "source", "markup"]].reset_index(drop=True)
    return frame, f"<table>{''.join(rows)}</table>"


def _cell(content, language=""):
    """A table cell, right-to-left for Arabic; attribute and style, since some readers drop either."""
    side = "right" if language == "ar" else "left"
    return f'<td align="{side}" style="text-align:{side}"{" dir=rtl" if language == "ar" else ""}>{content}</td>'


def verdict(row, label, language, q, level):
    """What one score run says, in a sentence built from its numbers.

    Parameters
    ----------
    row : Series
        The run's row of score_runs.
    label, language : str
    q, level : float
    """
    side = "masculine" if row["signed"] > 0 else "feminine" if row["signed"] < 0 else "neither"
    text = (f"**{label}, {LANGUAGES[language]}** ({row['role']}): on average the {side} variant scores higher, " if side != "neither"
            else f"**{label}, {LANGUAGES[language]}** ({row['role']}): the two variants score the same on average, ")
    text += (f"S = {significant_digits(row['signed'])} ({100 * level:g}% interval {significant_digits(row['signed_low'])} to "
             f"{significant_digits(row['signed_high'])}), {fixed(row['signed_pct'])} % of the observed range; "
             f"A = {significant_digits(row['absolute'])} ({fixed(row['absolute_pct'])} %). The masculine text wins "
             f"{fixed(100 * row['masculine_win'], 1)} %, the feminine one {fixed(100 * row['feminine_win'], 1)} %, "
             f"{fixed(100 * row['tie'], 1)} % are ties.")
    if pd.notna(row["p_adjusted"]):
        text += (f" Over occupations the difference is {'' if row['significant'] else 'not '}significant at q = {q:g} "
                 f"(adjusted p {p_value(row['p_adjusted'])}).")
    else:
        text += f" It is a {row['role']} and outside the family of tested runs (unadjusted p {p_value(row['p'])})."
    return text + (f" Note: {row['note']}." if row["note"] else "")


def card(row, level):
    """The numbers of one score run as a small table.

    Parameters
    ----------
    row : Series
        The run's row of score_runs.
    level : float
    """
    def native(name):
        return [significant_digits(row[name]), f"[{significant_digits(row[f'{name}_low'])}, {significant_digits(row[f'{name}_high'])}]"]
    rows = [["S, mean of d", *native("signed"), f"{fixed(row['signed_pct'])} % of R"],
            ["A, mean of |d|", *native("absolute"), f"{fixed(row['absolute_pct'])} % of R"],
            ["balance, points", fixed(row["balance"], 1), interval(row["balance_low"], row["balance_high"], 1), ""],
            *([f"{name}, % of pairs", fixed(100 * row[key], 1), "", ""] for name, key in
              (("masculine preferred", "masculine_win"), ("feminine preferred", "feminine_win"), ("tie", "tie"))),
            ["cancellation 1 − |S|/A", fixed(row["cancellation"]), "", ""],
            ["t, occupation means", fixed(row["t"]), "", f"p {p_value(row['p'])}, adjusted {p_value(row['p_adjusted'])}"]]
    return pd.DataFrame(rows, columns=[f"{row['n']} pairs", "value", f"{100 * level:g}% interval", ""])


def extreme_pairs(pairs, n=3):
    """The n pairs that a run prefers most in each direction, as HTML with gendered parts underlined.

    Parameters
    ----------
    pairs : DataFrame
        segment_id, language, isco, source, markup, d.
    n : int
    """
    titles, rows = isco.table()["title"], []
    ordered = pairs.sort_values(["d", "segment_id"])
    for name, part in (("masculine preferred most", ordered.tail(n).iloc[::-1]), ("feminine preferred most", ordered.head(n))):
        rows.append(f'<tr><th colspan=3 style="text-align:left">{name}</th></tr>')
        for row in part.itertuples():
            both = f"{underlined(row.markup, 0)}<br>{underlined(row.markup, 1)}"
            rows.append(f"<tr>{_cell(f'{html.escape(titles[row.isco])}<br>d = {significant_digits(row.d)}')}"
                        f"{_cell(html.escape(row.source))}{_cell(both, row.language)}</tr>")
    return f"<table>{''.join(rows)}</table>"


def marked_spans(annotations, pairs):
    """Which words an annotator marks, by variant: counts of the marked strings.

    Parameters
    ----------
    annotations : DataFrame
        segment_id, variant, errors (JSON lists of start, end, severity, category).
    pairs : DataFrame
        segment_id, masculine, feminine.

    Returns
    -------
    DataFrame
        text, category, masculine, feminine (number of marks), sorted by the difference.
    """
    texts = pairs.set_index("segment_id")
    rows = [(texts.at[r.segment_id, r.variant][start:end], category, r.variant)
            for r in annotations.itertuples() for start, end, _, category in json.loads(r.errors)]
    frame = pd.DataFrame(rows, columns=["text", "category", "variant"])
    counts = frame.groupby(["text", "category", "variant"]).size().unstack("variant", fill_value=0)
    counts = counts.reindex(columns=["masculine", "feminine"], fill_value=0).reset_index().rename_axis(columns=None)
    order = (counts["feminine"] - counts["masculine"]).sort_values(ascending=False, kind="stable").index
    return counts.loc[order].reset_index(drop=True)


def occupation_extremes(effects, languages, n=5):
    """Table 3: the n most feminine and the n most masculine occupations.

    Parameters
    ----------
    effects : DataFrame
        From `occupation_effects`.
    languages : sequence of str
    n : int

    Returns
    -------
    frame, printed : DataFrame
    """
    ordered = effects.dropna(subset="macro")
    frame = pd.concat([ordered.head(n), ordered.tail(n).iloc[::-1]], ignore_index=True)
    frame.insert(0, "direction", ["feminine"] * min(n, len(ordered)) + ["masculine"] * min(n, len(ordered)))
    printed = pd.DataFrame({"Direction": frame["direction"], "ISCO": frame["isco"], "Occupation": frame["title"],
                            **{c.upper(): [fixed(v) for v in frame[c]] for c in languages},
                            "Macro": [fixed(v) for v in frame["macro"]],
                            "languages": [f"{k}/{len(languages)}" for k in frame["n_languages_same_sign"]],
                            "systems": frame["n_systems_same_sign"].astype(str)})
    return frame, printed


def rollup(effects, level):
    """Mean S% of the unit groups of each group of a level."""
    frame = effects.assign(group=isco.parent(effects["isco"], level)).groupby("group")["macro"].agg(["mean", "size"]).reset_index()
    return pd.DataFrame({"level": level, "isco": frame["group"], "title": isco.table()["title"].reindex(frame["group"]).to_numpy(),
                         "n_unit_groups": frame["size"], "signed_pct": frame["mean"]})


def error_annotation(results):
    """Table 4: error-free rates and their difference for every annotator and language."""
    runs = results.runs[results.runs["kind"] == "annotations"]
    frame = results.error_runs
    printed = pd.DataFrame({
        "Annotator": [system_label(runs, s) for s in frame["system"]], "Language": frame["language"].str.upper(),
        "error-free m %": [fixed(100 * v, 1) for v in frame["error_free_masculine"]],
        "error-free f %": [fixed(100 * v, 1) for v in frame["error_free_feminine"]],
        "difference": [fixed(v, 1, sign=True) for v in frame["difference"]],
        "interval": [interval(lo, hi, 1) for lo, hi in zip(frame["low"], frame["high"])],
        "p": [p_value(v) for v in frame["p"]], "p adjusted": [p_value(v) for v in frame["p_adjusted"]],
        "note": frame["note"]})
    return frame, printed


def coverage(results):
    """Appendix A: which run exists, its role, native range, precision and direction."""
    rows = []
    for run in results.runs[results.runs["kind"].isin(["scores", "annotations"])].itertuples():
        system = getattr(results.study, run.kind)[run.system]
        annotator = run.kind == "annotations"
        row = {"system": run.system, "kind": run.kind, "language": run.language, "status": run.status,
               "role": "annotator" if annotator else run.role, "n": run.n,
               "direction": "" if annotator else "higher" if system.higher_is_better else "lower (negated)",
               "native_range": system.card.get("native_range", ""), "decimals": run.decimals, "note": run.note or run.problem}
        own = results.scores[(results.scores["system"] == run.system) & (results.scores["language"] == run.language)]
        if run.kind == "scores" and len(own):
            row |= {"observed_min": own[["masculine", "feminine"]].min().min(), "observed_max": own[["masculine", "feminine"]].max().max()}
        rows.append(row)
    frame = pd.DataFrame(rows, columns=["system", "kind", "language", "status", "role", "n", "direction", "native_range", "decimals",
                                        "note", "observed_min", "observed_max"])
    printed = pd.DataFrame({"System": frame["system"], "Kind": frame["kind"], "Language": frame["language"].str.upper(),
                            "Status": frame["status"], "Role": frame["role"], "pairs": frame["n"].astype(str),
                            "Better": frame["direction"].replace("", ABSENT), "Native range": frame["native_range"].replace("", ABSENT),
                            "Observed": [interval(a, b, 4) for a, b in zip(frame["observed_min"], frame["observed_max"])],
                            "Decimals": [ABSENT if pd.isna(d) else str(d) for d in frame["decimals"]], "Note": frame["note"]})
    return frame, printed


def underlined(markup, side):
    """A variant as HTML, its gendered parts underlined.

    Parameters
    ----------
    markup : str
        `{masculine|feminine}` notation.
    side : int
        0 masculine, 1 feminine.
    """
    parts, end = [], 0
    for match in data.ALTERNATION.finditer(markup):
        parts += [html.escape(markup[end:match.start()]), f"<ins>{html.escape(match.group(side + 1))}</ins>"]
        end = match.end()
    return "".join([*parts, html.escape(markup[end:])])


def language_name(code):
    """English name of a language code."""
    return LANGUAGES[code]
