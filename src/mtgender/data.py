"""Our own file formats, read strictly into frames.

Text is UTF-8 split on LF only; TSV knows no quoting; ids are opaque text and join the files, positions never do. Nothing is
dropped, filled or guessed: what does not fit raises `InputError` with file, line and segment id.
"""

from __future__ import annotations

import json
import math
import os
import re
import threading
from reprlib import repr as shown

import numpy as np
import pandas as pd

from mtgender import isco
from mtgender.study import COUNTRIES, LANGUAGES, REPEAT, TEXT_TYPES, InputError, display_path

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
ALTERNATION = re.compile(r"\{([^{}|]*)\|([^{}|]*)\}")
WITH_NEUTRAL = re.compile(r"\{([^{}|]*)\|([^{}|]*)\|([^{}|]*)\}")
VARIANTS = ["masculine", "feminine", "neutral"]
MISSING = ("", "None", "NaN", "nan", "NA")
GENDERS = ["masculine", "feminine", "not_clear", "excluded"]
GENDER_COUNTS = ["source", "system", "language", "subset", "occupation", "isco", *GENDERS]
RESCORED = ["file", "rows", "outcome", "largest_relative_difference", "date", "sha256", "program"]
ID_LIST = 3  # ids named in a message
LARGEST = 1e150  # absolute score: differences and their squares are finite
MOST_DECIMALS = 999
WHOLE = re.compile("[0-9]{1,9}")
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
EXPORT = "`python -m mtgender export` writes them"
PARTIAL = "Complete the file, or set allow_partial: true in the study to have it shown as partial"
COMPLETE_NEUTRAL = "Complete the file: each text needs its three scores"


def read_lines(path):
    """Lines of a UTF-8 file, split on LF only; a BOM and CRLF line ends are accepted.

    A CR is content unless *every* line end is CRLF; U+2028, U+0085, VT and FS are always content.

    Returns
    -------
    list of str
        Without line ends; the empty line after a final LF is not counted.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise InputError("no such file", path=path) from None
    except IsADirectoryError:
        raise InputError("is a folder, expected a file", path=path) from None
    try:
        text = raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 (byte {raw[error.start]:#04x})", path=path, line=raw[: error.start].count(b"\n") + 1,
                         hint="Save the file as UTF-8") from None
    lines = text.removesuffix("\n").split("\n") if text else []
    ended = lines if text.endswith("\n") else lines[:-1]
    if ended and all(line.endswith("\r") for line in ended):
        lines = [line.removesuffix("\r") for line in ended] + lines[len(ended):]
    return lines


def read_tsv(path, columns):
    """A TSV with a header, as text; see `read_tsv_like`."""
    return read_tsv_like(path, columns, "\t")


def read_tsv_like(path, columns, separator):
    """A table with a header, one row a line, as text; no quoting.

    Parameters
    ----------
    path : Path
    columns : list of str
        Columns that must be there, in any order; others are refused.
    separator : str
        TAB, or the comma of our own figures, whose cells hold none.

    Returns
    -------
    DataFrame
        `columns`, all text, and `line` (1-based line of the file).
    """
    name = {"\t": "TAB", ",": "comma"}[separator]
    lines = read_lines(path)
    if not lines:
        raise InputError("empty file", path=path, hint=f"Expected a header line: {f' <{name}> '.join(columns)}")
    header = lines[0].split(separator)
    if sorted(header) != sorted(columns):
        raise InputError(f"header is {lines[0][:120]!r}, expected the columns {f' <{name}> '.join(columns)}", path=path, line=1,
                         hint=header_hint(lines[0]) or f"The first line names the columns, separated by {name}")
    rows = []
    for number, line in enumerate(lines[1:], 2):
        cells = line.split(separator)
        if len(cells) != len(header):
            place = header.index("segment_id") if "segment_id" in header else len(cells)
            known = (cells[place] or None) if place < len(cells) else None
            raise InputError(f"{len(cells)} cells, expected {len(header)}", path=path, line=number, segment_id=known,
                             hint=f"Cells are separated by {name}; a text may not hold a {name}")
        rows.append((*cells, number))
    return pd.DataFrame(rows, columns=[*header, "line"])[[*columns, "line"]]


def header_hint(line):
    """What to do about a first line that shows the file to be no UTF-8 or to have other line ends; else nothing."""
    return ("Save the file as UTF-8: it holds NUL, as UTF-16 does" if "\0" in line
            else "End all lines with LF, or all with CRLF: any other CR is content" if "\r" in line else "")


def read_record(line, path, number, keys, hint=None):
    """The object in one JSON line.

    Parameters
    ----------
    line : str
    path : Path
    number : int
        Of the line, for the error.
    keys : list of str
        Keys that must be there.
    hint : str, optional
        What to do about a line without them.

    Returns
    -------
    dict

    Raises
    ------
    InputError
        Not JSON, no object, nested too deeply; a missing key; a key that occurs twice in one object; half a surrogate pair.
    """
    where = {"path": path, "line": number}

    def once(pairs):
        found = dict(pairs)
        if len(found) < len(pairs):
            seen = set()
            key = next(k for k, _ in pairs if k in seen or seen.add(k))
            raise InputError(f"key {shown(key)} occurs twice", **where, hint="Each key of an object must occur once")
        return found

    try:
        record = json.loads(line, object_pairs_hook=once)
        if SURROGATE.search(line):
            json.dumps(record, ensure_ascii=False).encode()
    except RecursionError:
        raise InputError("nested too deeply", **where, hint=hint) from None
    except UnicodeEncodeError:
        raise InputError("half a surrogate pair, which is no character", **where,
                         hint="Write characters beyond U+FFFF whole, or as two \\u escapes") from None
    except ValueError:
        record = None
    if not isinstance(record, dict):
        raise InputError("not a JSON object", **where, hint=hint)
    if not set(keys) <= set(record):
        raise InputError(f"no {next(k for k in keys if k not in record)}, expected the keys {', '.join(keys)}", **where, hint=hint)
    return record


def check_id(text, name, path, line):
    """Refuse an id from JSON that is no text or holds a control character (TAB, line end, NUL …): no table could hold it."""
    if not isinstance(text, str):
        raise InputError(f"{name} {shown(text)} is not a text", path=path, line=line, hint="Ids are texts, in quotes")
    if CONTROL.search(text):
        raise InputError(f"{name} {shown(text)} holds a control character", path=path, line=line,
                         hint="Ids hold no TAB, line end, NUL or other control character")


def _unique(frame, path, key=("segment_id",)):
    repeated = frame.duplicated(list(key))
    if repeated.any():
        row = frame[repeated].iloc[0]
        first = frame[(frame[list(key)] == row[list(key)]).all(axis=1)].iloc[0]
        raise InputError(f"occurs twice (first on line {first['line']})", path=path, line=int(row["line"]),
                         segment_id=row["segment_id"], hint="Each segment must occur once")


def _same_ids(frame, expected, path, what, partial=False, hint=PARTIAL, known_from=EXPORT):
    """Refuse ids that are unknown or, unless partial, missing; `expected` is an index of ids, the hints are for either."""
    codes, _ = pd.factorize(pd.concat([expected, frame["segment_id"]], ignore_index=True))       # counted in the order of appearance
    known, found = codes[:len(expected)], codes[len(expected):]
    unknown = frame[found > known.max(initial=-1)]
    if len(unknown):
        row = unknown.iloc[0]
        raise InputError(f"{len(unknown)} segments are not in {what}", path=path, line=int(row["line"]), segment_id=row["segment_id"],
                         hint=f"Use the ids of {what}{known_from and f'; {known_from}'}")
    missing = expected[~np.isin(known, found)]
    if len(missing) and not partial:
        names = ", ".join(missing[:ID_LIST]) + (" …" if len(missing) > ID_LIST else "")
        raise InputError(f"{len(missing)} of {len(expected)} segments are missing: {names}", path=path, segment_id=missing.iloc[0],
                         hint=hint)


def variants(markup, neutral=False):
    """The texts of `{masculine|feminine}` notation, or of `{masculine|feminine|neutral}`.

    Parameters
    ----------
    markup : str
    neutral : bool

    Returns
    -------
    tuple of str
        Two texts, or three.

    Examples
    --------
    >>> variants("{Der Klempner|Die Klempnerin} fand das Leck.")
    ('Der Klempner fand das Leck.', 'Die Klempnerin fand das Leck.')
    >>> variants("{Der Lehrer|Die Lehrerin|Die Lehrkraft} ging.", neutral=True)
    ('Der Lehrer ging.', 'Die Lehrerin ging.', 'Die Lehrkraft ging.')
    """
    pattern = WITH_NEUTRAL if neutral else ALTERNATION
    parts, n = pattern.split(markup), pattern.groups + 1       # shared, masculine, feminine(, neutral), shared, …
    return tuple("".join(p for i, p in enumerate(parts) if i % n in (0, k)) for k in range(1, n))


def spans(markup):
    """Where the gendered parts stand in the two variants.

    Returns
    -------
    (list of (int, int), list of (int, int))
        Half-open code-point offsets in the masculine and in the feminine text.

    Examples
    --------
    >>> spans("Ob {er|sie} kommt?")
    ([(3, 5)], [(3, 6)])
    """
    found, shift = ([], []), [0, 0]
    for match in ALTERNATION.finditer(markup):
        for side in (0, 1):
            start = match.start() - shift[side]
            found[side].append((start, start + len(match.group(side + 1))))
            shift[side] += len(match.group(0)) - len(match.group(side + 1))
    return found


def read_texts(path, segment_ids):
    """One text a segment, such as references or translations.

    Parameters
    ----------
    path : Path
        TSV: segment_id, text.
    segment_ids : Series of str
        The segments that must be there.

    Returns
    -------
    dict
        {segment_id: text}; a text may be empty.
    """
    frame = read_tsv(path, ["segment_id", "text"])
    _unique(frame, path)
    _same_ids(frame, segment_ids, path, "the study's pairs", hint="Complete the file: each pair needs its text")
    return dict(zip(frame["segment_id"], frame["text"]))


MARKS = ("noun", "article", "pronoun", "verb", "adjective")


def read_gender_marks(folder):
    """Patterns of closed word classes and past tenses in `gender_marks.tsv`.

    Returns
    -------
    dict
        {language: [(mark, pattern)]}; a pattern matches the whole of `masculine|feminine`, two words in lower case.
    """
    path, found = folder / "gender_marks.tsv", {}
    for row in read_tsv(path, ["language", "mark", "pattern"]).itertuples():
        if row.mark not in MARKS:
            raise InputError(f"mark {row.mark!r}, expected one of {', '.join(MARKS)}", path=path, line=row.line)
        try:
            found.setdefault(row.language, []).append((row.mark, re.compile(row.pattern)))
        except re.error as error:
            raise InputError(f"not a regular expression: {error}", path=path, line=row.line) from None
    return found


def gender_marks(markup, occupation, patterns):
    """By which words a text shows gender.

    Parameters
    ----------
    markup, occupation : str
        Text and occupation term in `{masculine|feminine}` notation.
    patterns : list of (str, Pattern)
        One language of `read_gender_marks`.

    Returns
    -------
    set of str
        Of `MARKS`. A word that begins like a gendered word of the term is a noun (a term's own adjective too); what no pattern
        knows is an adjective or participle.
    """
    stems = [w[: max(3, round(0.6 * len(w)))] for m in ALTERNATION.finditer(occupation.lower()) for w in m.group(1).split()]
    found = set()
    for match in ALTERNATION.finditer(markup.lower()):
        for masculine, feminine in zip(match.group(1).split(), match.group(2).split()):
            if masculine != feminine:
                pair = f"{masculine}|{feminine}"
                found.add("noun" if any(stem in masculine for stem in stems)
                          else next((mark for mark, pattern in patterns if pattern.fullmatch(pair)), "adjective"))
    return found


def read_source(folder):
    """The English texts of a challenge set.

    Parameters
    ----------
    folder : Path
        Holds `en.tsv`: segment_id, isco, text_type, occupation, text.

    Returns
    -------
    DataFrame
        segment_id, isco, text_type, term, source; ordered by segment_id.
    """
    path = folder / "en.tsv"
    frame = read_tsv(path, ["segment_id", "isco", "text_type", "occupation", "text"])
    _unique(frame, path)
    if not len(frame):
        raise InputError("no text at all", path=path)
    frame["isco"] = [isco.pad(c, path=path, line=n, segment_id=i) for c, n, i in zip(frame["isco"], frame["line"], frame["segment_id"])]
    wrong = frame[~frame["text_type"].isin(TEXT_TYPES)]
    if len(wrong):
        row = wrong.iloc[0]
        raise InputError(f"text type {row['text_type']!r}, expected {', '.join(TEXT_TYPES)}", path=path, line=int(row["line"]),
                         segment_id=row["segment_id"])
    frame = frame.rename(columns={"occupation": "term", "text": "source"})
    return frame.drop(columns="line").sort_values("segment_id", ignore_index=True)


def read_pairs(folder, language, source=None):
    """The masculine/feminine pairs of one language beside their English source.

    Parameters
    ----------
    folder : Path
        Holds `en.tsv` and `<language>.tsv` (segment_id, occupation, text in `{masculine|feminine}` notation).
    language : str
    source : DataFrame, optional
        What `read_source` gives, for who reads several languages.

    Returns
    -------
    DataFrame
        segment_id, isco, text_type, term, source, occupation, markup, masculine, feminine; ordered by segment_id.
    """
    source = read_source(folder) if source is None else source
    return _read_variants(folder, language, source, neutral=False)


def read_neutral(folder, language, source):
    """Some of the texts with a third, neutral variant.

    Parameters
    ----------
    folder : Path
        Holds `<language>.tsv` (segment_id, occupation, text in `{masculine|feminine|neutral}` notation).
    language : str
    source : DataFrame
        As `read_source` gives it.

    Returns
    -------
    DataFrame
        As `read_pairs`, and neutral; the rows of the file only.
    """
    return _read_variants(folder, language, source, neutral=True)


def _read_variants(folder, language, source, neutral):
    path, names = folder / f"{language}.tsv", VARIANTS[:2 + neutral]
    frame = read_tsv(path, ["segment_id", "occupation", "text"])
    _unique(frame, path)
    _same_ids(frame, source["segment_id"], path, "the English texts", partial=neutral, known_from="",
              hint="Complete the file: each English text needs its pair")
    made = [variants(m, neutral) for m in frame["text"]]
    for line, segment_id, texts in zip(frame["line"], frame["segment_id"], made):
        if any(mark in text for text in texts for mark in "{}|"):
            raise InputError("a brace or bar stands alone", path=path, line=int(line), segment_id=segment_id,
                             hint=f"Gendered words are written {{{'|'.join(names)}}}")
        if len(set(texts)) < len(names):
            a, b = next((a, b) for i, a in enumerate(names) for b in names[i + 1:] if texts[names.index(a)] == texts[names.index(b)])
            raise InputError(f"the {a} and the {b} text are the same", path=path, line=int(line), segment_id=segment_id)
    frame = frame.rename(columns={"text": "markup"}).assign(**{name: [texts[k] for texts in made] for k, name in enumerate(names)})
    return source.merge(frame.drop(columns="line"), on="segment_id", validate="one_to_one")


def number(text):
    """A finite float, or None for what is not one (`None`, `nan`, `inf`, `1e400`, `8,5`, `1_000`).

    Examples
    --------
    >>> number("-0.25"), number("1e-3"), number("1e400"), number("8,5")
    (-0.25, 0.001, None, None)
    """
    if not NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def decimals(text):
    """Digits after the decimal point that a printed number carries, `MOST_DECIMALS` at most.

    Examples
    --------
    >>> decimals("0.8300"), decimals("85"), decimals("1.5e-7")
    (4, 0, 8)
    """
    mantissa, _, exponent = text.lower().partition("e")
    return int(min(MOST_DECIMALS, max(0, len(mantissa.partition(".")[2]) - float(exponent or 0))))


def numbers(cells):
    """`number` of every cell, at once.

    Parameters
    ----------
    cells : Series of str, shape (n,)

    Returns
    -------
    ndarray, shape (n,), or None
        None where a cell is no finite number, or may be none: `number` tells.

    Examples
    --------
    >>> numbers(pd.Series(["-0.25", "1e-3"])).tolist(), numbers(pd.Series(["1", "1_000"]))
    ([-0.25, 0.001], None)
    """
    if not cells.str.fullmatch(NUMBER.pattern).all():
        return None
    try:
        values = cells.astype("float64[pyarrow]").to_numpy(float)
    except (ImportError, TypeError, ValueError):                # no pyarrow, or a spelling that it does not know (`+1`)
        values = cells.astype(object).astype(float).to_numpy()
    return values if np.isfinite(values).all() else None


def most_decimals(cells):
    """The largest of `decimals`.

    Parameters
    ----------
    cells : Series of str
        Printed numbers.

    Returns
    -------
    int

    Examples
    --------
    >>> most_decimals(pd.Series(["0.83", "85", "1.5e-7"]))
    8
    """
    scientific = (cells.str.contains("e", regex=False) | cells.str.contains("E", regex=False)).to_numpy(bool)
    point, length = cells.str.find(".").to_numpy(), cells.str.len().to_numpy()
    digits = np.where((point >= 0) & ~scientific, length - point - 1, 0)
    return max(min(int(digits.max()), MOST_DECIMALS), *map(decimals, cells[scientific].tolist()), 0)


def read_scores(path, segment_ids, higher_is_better=True, partial=False):
    """One score file, higher is better.

    Parameters
    ----------
    path : Path
        TSV: segment_id, masculine, feminine.
    segment_ids : Series of str
        The ids of the study's pairs.
    higher_is_better : bool
        If false the scores are negated.
    partial : bool
        Accept missing segments and missing scores (left out, never filled).

    Returns
    -------
    DataFrame
        segment_id, masculine, feminine (float), decimals (digits printed after the point).

    Raises
    ------
    InputError
        Missing, duplicate, unknown segment; a score that is not a finite number, beyond `LARGEST`, or too small for a float.
    """
    return check_scores(read_tsv(path, ["segment_id", "masculine", "feminine"]), path, segment_ids, higher_is_better, partial)


def read_repeats(paths, segment_ids, higher_is_better=True, partial=False):
    """Several runs of one evaluator on the same texts: the mean of the repeats, and every one of them.

    Parameters
    ----------
    paths : list of Path
        As `read_scores` reads them, one a repeat.
    segment_ids, higher_is_better, partial
        As in `read_scores`.

    Returns
    -------
    (DataFrame, DataFrame)
        What `read_scores` gives, averaged over the repeats (only segments that all of them have); and repeat (from 1), segment_id,
        masculine, feminine.
    """
    for path in paths:
        if not REPEAT.fullmatch(path.name):
            raise InputError("no number of a repeat", path=path, hint="Repeats are <language>.r1.tsv, <language>.r2.tsv, …")
    tables = [read_scores(path, segment_ids, higher_is_better, partial) for path in paths]
    each = pd.concat([t.assign(repeat=k) for k, t in enumerate(tables, 1)], ignore_index=True)
    groups = each.groupby("segment_id", sort=False)
    mean = groups[["masculine", "feminine"]].mean()[groups.size() == len(paths)].reset_index().assign(decimals=each["decimals"].max())
    return mean, each[["repeat", "segment_id", "masculine", "feminine"]]


def check_scores(frame, path, segment_ids, higher_is_better=True, partial=False, sides=("masculine", "feminine")):
    """Validate score rows (segment_id, `sides` as text, line) of any format; returns what `read_scores` does."""
    neutral = "neutral" in sides                                # which are never partial
    _unique(frame, path)
    _same_ids(frame, segment_ids, path, "the study's pairs", partial, hint=COMPLETE_NEUTRAL if neutral else PARTIAL)
    if partial:
        frame = frame[~frame[list(sides)].isin(MISSING).any(axis=1)]
    if not len(frame):
        raise InputError("no score at all", path=path)
    cells = pd.concat([frame[side].astype(str) for side in sides], ignore_index=True)
    values = numbers(cells)
    if values is None:
        values = np.array([number(v) for v in cells], float)    # missing where a cell is no finite number
    wrong = np.flatnonzero(~(np.abs(values) <= LARGEST) | _vanished(cells, values))
    if len(wrong):
        side, row = sides[wrong[0] // len(frame)], frame.iloc[wrong[0] % len(frame)]
        hint = "Scores are plain numbers like 0.8312"
        if row[side] in MISSING:
            hint = COMPLETE_NEUTRAL if neutral else "A missing score needs allow_partial: true in the study"
        problem = ("is not a finite number" if np.isnan(values[wrong[0]])
                   else f"cannot be compared: expected 0, or 1e-323 to {LARGEST:g} in size")
        raise InputError(f"{side} score {shown(row[side])} {problem}", path=path, line=int(row.get(f"line_{side}", row["line"])),
                         segment_id=row["segment_id"], hint=hint)
    oriented = values.reshape(len(sides), -1) * (1.0 if higher_is_better else -1.0) + 0.0
    return pd.DataFrame({"segment_id": frame["segment_id"].array, **dict(zip(sides, oriented)), "decimals": most_decimals(cells)})


def _vanished(cells, values):
    """Which cells name another number than 0 that is too small for a float."""
    zero = values == 0
    small = [c for c in pd.unique(cells[zero]).tolist() if re.match("[^eE]*[1-9]", c)] if zero.any() else []
    return cells.isin(small).to_numpy(bool) if small else np.zeros(len(cells), bool)


def _span_problem(error, length):
    if not isinstance(error, dict) or not all(type(error.get(k)) is int for k in ("start", "end")):
        return "an error needs whole numbers start and end"
    if not 0 <= error["start"] < error["end"] <= length:
        return f"span {shown(error['start'])}-{shown(error['end'])} does not lie in the text of {length} characters"
    wrong = next((k for k in ("severity", "category") if not isinstance(error.get(k), str | None)), None)
    return wrong and f"{wrong} {shown(error[wrong])} is not a text"


def read_annotations(path, pairs, partial=False):
    """One annotation file.

    Parameters
    ----------
    path : Path
        JSON lines: {segment_id, variant, errors: [{start, end, severity, category}], omission, instruction_fault}; offsets in
        code points, half-open.
    pairs : DataFrame
        segment_id, masculine, feminine: the annotated texts.
    partial : bool
        Accept missing segments and leave malformed annotations out; else both are refused.

    Returns
    -------
    DataFrame
        segment_id, variant, n_errors, omission, instruction_fault, errors (list of (start, end, severity, category)).
    """
    records = []
    for number_, line in enumerate(read_lines(path), 1):
        record = read_record(line, path, number_, ["segment_id", "variant", "errors"], "One annotation a line, "
                             "{segment_id, variant, errors, omission, instruction_fault}")
        check_id(record["segment_id"], "segment_id", path, number_)
        records.append((record, number_, None))
    return check_annotations(records, path, pairs, partial)


def check_annotations(records, path, pairs, partial=False):
    """Validate annotations of any format; returns what `read_annotations` does.

    Parameters
    ----------
    records : list of (dict, int, str or None)
        {segment_id, variant, errors, omission, instruction_fault}, its line, and a problem that the format's reader found.
    path, pairs, partial
        As in `read_annotations`.
    """
    texts = {(i, v): t for v in ("masculine", "feminine") for i, t in zip(pairs["segment_id"], pairs[v])}
    rows = []
    for record, number_, problem in records:
        where = {"path": path, "line": number_}
        where["segment_id"] = segment_id = record["segment_id"]
        variant = record["variant"]
        if variant not in ("masculine", "feminine"):
            raise InputError(f"variant {shown(variant)}, expected masculine or feminine", **where, hint="Each text has a line for either")
        if (segment_id, variant) not in texts:
            raise InputError("not in the study's pairs", **where, hint=f"Use the ids of the study's pairs; {EXPORT}")
        errors, flags = record["errors"], [record.get(k, False) for k in ("omission", "instruction_fault")]
        problem = problem or (None if isinstance(errors, list) else "errors is not a list")
        problem = problem or next(filter(None, (_span_problem(e, len(texts[segment_id, variant])) for e in errors)), None)
        if not all(isinstance(f, bool) for f in flags):
            problem = problem or "omission and instruction_fault must be true or false"
        if problem:
            if partial:
                continue
            raise InputError(problem, **where, hint="A malformed annotation is invalid, never error-free")
        rows.append((segment_id, variant, len(errors), *flags,
                     [(e["start"], e["end"], e.get("severity") or "", e.get("category") or "") for e in errors], number_))
    frame = pd.DataFrame(rows, columns=["segment_id", "variant", "n_errors", "omission", "instruction_fault", "errors", "line"])
    _unique(frame, path, ("segment_id", "variant"))
    both = frame.groupby("segment_id")["variant"].transform("size") == 2
    if partial:
        frame = frame[both]
    elif not both.all():
        row = frame[~both].iloc[0]
        raise InputError(f"only the {row['variant']} variant is annotated", path=path, line=int(row["line"]), segment_id=row["segment_id"],
                         hint=PARTIAL)
    _same_ids(frame, pairs["segment_id"], path, "the study's pairs", partial)
    if not len(frame):
        raise InputError("no annotation at all", path=path)
    return frame.drop(columns="line")


def gender_density(markup):
    """Share of a variant's whitespace-separated tokens that stand inside alternations, mean of the two variants.

    Examples
    --------
    >>> gender_density("{Der Klempner|Die Klempnerin} kam spät.")
    0.5
    """
    inside = [sum(len(m.group(side).split()) for m in ALTERNATION.finditer(markup)) for side in (1, 2)]
    total = [len(text.split()) for text in variants(markup)]
    return float(np.mean([i / t for i, t in zip(inside, total)]))


def replace(path, write):
    """Write a file whole or not at all: `write` fills a neighbour, which then takes the file's place.

    Parameters
    ----------
    path : Path
    write : callable
        Takes the path to write to.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.part")      # several threads may write one file
    try:
        write(part)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def read_counts(path):
    """A file of published gender counts.

    Parameters
    ----------
    path : Path
        CSV: source, system, language, subset, occupation, isco (may be empty), masculine, feminine, not_clear, excluded.

    Returns
    -------
    DataFrame
        The same; counts as int.
    """
    frame = read_tsv_like(path, GENDER_COUNTS, ",")
    if not len(frame):
        raise InputError("no row below the header", path=path, hint="One row an occupation, or leave the file out of gender_counts")
    for column in ("source", "system", "occupation"):
        empty = frame[frame[column].str.strip() == ""]
        if len(empty):
            raise InputError(f"{column} is empty", path=path, line=int(empty.iloc[0]["line"]), hint=f"Name the {column} in every row")
    unknown = frame[~frame["language"].isin(LANGUAGES)]
    if len(unknown):
        row = unknown.iloc[0]
        raise InputError(f"language {shown(row['language'])}, expected one of {', '.join(LANGUAGES)}", path=path, line=int(row["line"]),
                         hint="Languages are written as in the study")
    for row in frame[frame["isco"] != ""].drop_duplicates("isco").itertuples():
        if isco.pad(row.isco, path=path, line=row.line) != row.isco:
            raise InputError(f"ISCO code {row.isco!r} lacks its leading zero", path=path, line=row.line)
    for column in GENDERS:
        wrong = frame[~frame[column].str.fullmatch("[0-9]{1,15}")]
        if len(wrong):
            raise InputError(f"{column} {shown(wrong.iloc[0][column])} is not a count", path=path, line=int(wrong.iloc[0]["line"]),
                             hint="A count is a whole number of at most 15 digits")
    repeated = frame[frame.duplicated(GENDER_COUNTS[:5])]
    if len(repeated):
        raise InputError(f"{shown(repeated.iloc[0]['occupation'])} occurs twice in a run", path=path, line=int(repeated.iloc[0]["line"]),
                         hint="Add the counts of an occupation up in one row")
    return frame.astype(dict.fromkeys(GENDERS, int))[GENDER_COUNTS]


def _own_counts(study):
    """(source, system, language) of the runs that are counted from translations of the study's own texts."""
    return [(study.pairs.name, study.translations[name].label, code) for name, code in study.runs("translations")]


def _counts(study):
    """(path, counts or InputError) of a study's files of counts; one that repeats what was counted before is refused."""
    key, own = GENDER_COUNTS[:5], _own_counts(study)
    before = {}                                                 # (source, system, language, subset, occupation): the file that has it
    for path in study.gender_counts:
        try:
            frame = read_counts(path)
            for line, row in enumerate(frame[key].itertuples(index=False, name=None), 2):
                if row in before:
                    raise InputError(f"{shown(row[4])} of {shown(row[1])} ({row[2]}) is counted in {display_path(before[row])} too",
                                     path=path, line=line, hint="Counts that are there twice would count double: remove one")
                if row[:3] in own and row[3] == row[0]:
                    raise InputError(f"{shown(row[1])} ({row[2]}) is counted from the study's own translations too", path=path, line=line,
                                     hint="Give the system or the source another name")
        except InputError as error:
            yield path, error
            continue
        before |= dict.fromkeys(frame[key].itertuples(index=False, name=None), path)
        yield path, frame


def counted_runs(study):
    """(source, system, language) of every counted run of a study, translations of its own texts last.

    Subsets of one run are together. An unreadable file of counts counts for nothing (`prepare` says so).
    """
    found = {}
    for _, frame in _counts(study):
        if not isinstance(frame, InputError):
            found |= dict.fromkeys(frame[GENDER_COUNTS[:3]].itertuples(index=False, name=None))
    return list(dict.fromkeys([*found, *_own_counts(study)]))


def counted_languages(study):
    """Languages of a study's counted runs that have labour figures."""
    return list(dict.fromkeys(code for *_, code in counted_runs(study) if code in COUNTRIES))


def read_translations(path, source, partial=False):
    """A system's translations of the English texts.

    Parameters
    ----------
    path : Path
        TSV: segment_id, text; or plain text (`.txt`), one translation a line in the order of the English texts.
    source : DataFrame
        As `read_source` gives it.
    partial : bool
        Whether segments may be missing from a TSV.

    Returns
    -------
    DataFrame
        segment_id, text, ordered by segment_id; a text may be empty.

    Raises
    ------
    InputError
        No such file, another number of lines than texts, unknown, repeated or missing segments.
    """
    if not path.is_file():
        raise InputError("no such file", path=path, hint="Place the translations there: TSV with segment_id and text, or, with the ending "
                                                         ".txt, one a line in the order of the English texts")
    if path.suffix != ".txt":
        frame = read_tsv(path, ["segment_id", "text"])
        _unique(frame, path)
        _same_ids(frame, source["segment_id"], path, "the study's English texts", partial)
        return frame[["segment_id", "text"]].sort_values("segment_id", ignore_index=True)
    lines = read_lines(path)
    if len(lines) != len(source):
        raise InputError(f"{len(lines)} lines for {len(source)} English texts", path=path, line=min(len(lines), len(source)) + 1,
                         hint="One translation a line, in the order of the English texts; an empty line is an empty translation")
    return pd.DataFrame({"segment_id": source["segment_id"].to_numpy(), "text": lines})


GENDER_FRAME = ["system", "language", "segment_id", "isco", "text_type", "occupation", "source", "text", "term", "start", "end",
                "found_isco", "gender", "detector"]
NEUTRAL = ["system", "language", "segment_id", "isco", "longer", *VARIANTS]
REPEATS = ["system", "language", "repeat", "segment_id", "masculine", "feminine"]
GENDER_LABELS = ["segment_id", "term", "start", "end", "isco", "gender", "detector"]


def _label_problem(row):
    """What is wrong with one label, or nothing."""
    if row.gender not in GENDERS:
        return f"gender {shown(row.gender)}, expected {', '.join(GENDERS)}"
    if not (WHOLE.fullmatch(row.start) and WHOLE.fullmatch(row.end)):
        return f"offsets {shown(row.start)} and {shown(row.end)}, expected whole numbers of at most 9 digits"
    start, end = int(row.start), int(row.end)
    if not start <= end <= len(row.text) or row.text[start:end] != row.term:
        return f"{shown(row.term)} does not stand at {start}–{end}"
    return "" if row.term or row.gender == "excluded" else f"{row.gender} without a term, expected excluded"


def read_genders(path, translations):
    """The gender that a detector found for the occupation of each translation.

    Parameters
    ----------
    path : Path
        TSV `GENDER_LABELS`: offsets in code points, half-open; gender masculine, feminine, not_clear, or excluded (the occupation was not
        found: term empty, offsets 0); isco (may be empty) is the unit group that the term was matched with.
    translations : DataFrame
        As `read_translations` gives it.

    Returns
    -------
    DataFrame
        segment_id, term, start, end (int), found_isco, gender, detector; in the order of the translations.

    Raises
    ------
    InputError
        A term that does not stand at its offsets: the labels are of other translations.
    """
    if not path.is_file():
        raise InputError("the translations have no genders yet", path=path, hint="`python -m mtgender detect` makes them")
    frame = read_tsv(path, GENDER_LABELS)
    _unique(frame, path)
    detect = "`python -m mtgender detect` makes the labels again"
    _same_ids(frame, translations["segment_id"], path, "the translations", hint=detect, known_from=detect)
    wrong = frame[~frame["isco"].isin(["", *isco.unit_groups()])]
    if len(wrong):
        row = wrong.iloc[0]
        raise InputError(f"{shown(row['isco'])} is no ISCO-08 unit group", path=path, line=int(row["line"]), segment_id=row["segment_id"],
                         hint=f"The 436 codes are in {display_path(isco.PATH)}; a label may also be without one")
    frame = translations.merge(frame, on="segment_id")
    for row in frame.itertuples():
        problem = _label_problem(row)
        if problem:
            raise InputError(problem, path=path, line=row.line, segment_id=row.segment_id,
                             hint="Are these the labels of these translations? `python -m mtgender detect` makes them")
    frame = frame.astype({"start": int, "end": int}).rename(columns={"isco": "found_isco"})
    return frame[["segment_id", "term", "start", "end", "found_isco", "gender", "detector"]]


def count_genders(genders, source):
    """Labels of one system and language as counts by unit group.

    Parameters
    ----------
    genders : DataFrame
        system, language, isco, gender; one row a text.
    source : str
        Name of the challenge set.

    Returns
    -------
    DataFrame
        `GENDER_COUNTS`, a row a unit group; the occupation is the group's title.
    """
    wide = genders.groupby(["system", "language", "isco"], sort=False)["gender"].value_counts().unstack(fill_value=0)
    wide = wide.reindex(columns=GENDERS, fill_value=0).rename_axis(columns=None).reset_index()
    wide = wide.assign(source=source, subset=source, occupation=[isco.title(code) for code in wide["isco"]])
    return wide.sort_values("isco", ignore_index=True)[GENDER_COUNTS]


def _read_translation_run(study, system, language, source):
    """Translations and genders of a run beside their English texts, and how many of them were empty or not translated at all."""
    texts = read_translations(study.translations[system].file(language), source, study.allow_partial)
    found = read_genders(study.genders(system, language), texts)
    frame = source.rename(columns={"term": "occupation"}).merge(texts, on="segment_id").merge(found, on="segment_id")
    return frame.assign(system=study.translations[system].label, language=language)


def prepare(study):
    """Read and validate everything a study names; write it as parquet frames.

    A bad file refuses its run, with one line that says why; the other runs go on.

    Parameters
    ----------
    study : Study

    Returns
    -------
    DataFrame
        One row a declared run: kind, system, label, language, role, references, baseline, status (ok, refused), n, decimals, note,
        problem. Also written to `prepared/runs.csv`, beside pairs, scores and annotations.

    Raises
    ------
    InputError
        If the English texts cannot be read: nothing can be measured then.
    """
    from mtgender import formats

    source = read_source(study.pairs) if study.pairs_format == "own" else None
    pairs, bad_pairs = {}, {}
    for code in study.languages:
        try:
            pairs[code] = formats.study_pairs(study, code, source)
        except InputError as error:
            bad_pairs[code] = str(error)
    runs, tables, repeats = [], {"scores": [], "annotations": []}, []
    for kind, (system, code) in [(k, run) for k in tables for run in study.runs(k)]:
        entry = getattr(study, kind)[system]
        run = _declared(kind, system, entry.label, code, role=entry.role(code), references=entry.references, baseline=entry.baseline,
                        problem=bad_pairs.get(code) or str(entry.problem or ""))
        runs.append(run)
        if run["problem"]:
            continue
        try:
            repeated = entry.repeats(code)
            if repeated:
                table, each = read_repeats(repeated, pairs[code]["segment_id"], entry.higher_is_better, study.allow_partial)
                repeats.append(each.assign(system=system, language=code))
                run["note"] = f"mean of {len(repeated)} repeats"
            else:
                table = _read_run(formats, study, entry, code, pairs[code])
        except InputError as error:
            run["problem"] = str(error)
            continue
        n = table["segment_id"].nunique()
        run |= {"status": "ok", "n": n}
        if n < len(pairs[code]):
            run["note"] = "; ".join(filter(None, [run["note"], f"partial: {n} of {len(pairs[code])} pairs"]))
        if kind == "scores":
            run["decimals"] = int(table["decimals"].iloc[0])
        tables[kind].append(table.assign(system=system, language=code))
    genders = []
    for system, code in study.runs("translations"):
        run = _declared("translations", system, study.translations[system].label, code)
        runs.append(run)
        try:
            if study.translations[system].problem:
                raise study.translations[system].problem
            genders.append(_read_translation_run(study, system, code, source))
        except InputError as error:
            run["problem"] = str(error)
        else:
            n, untranslated = len(genders[-1]), (genders[-1]["text"].str.strip() == "") | (genders[-1]["text"] == genders[-1]["source"])
            notes = [f"partial: {n} of {len(source)} texts"] * (n < len(source))
            notes += [f"{untranslated.sum()} texts empty or not translated"] * bool(untranslated.any())
            run |= {"status": "ok", "n": n, "note": "; ".join(notes)}
    neutral = []
    for system, code, path in study.neutral_runs():
        run = _declared("neutral", system, study.scores[system].label, code, role=study.scores[system].role(code))
        runs.append(run)
        try:
            if study.scores[system].problem:
                raise study.scores[system].problem
            texts = read_neutral(study.neutral["path"], code, source if source is not None else read_source(study.pairs))
            table = check_scores(read_tsv(path, ["segment_id", *VARIANTS]), path, texts["segment_id"],
                                 study.scores[system].higher_is_better, sides=VARIANTS)
        except InputError as error:
            run["problem"] = str(error)
        else:
            texts["longer"] = texts["neutral"].str.len() > texts["masculine"].str.len()
            neutral.append(texts[["segment_id", "isco", "longer"]].merge(table, on="segment_id").assign(system=system, language=code))
            run |= {"status": "ok", "n": len(table)}
    counts = [count_genders(frame, study.pairs.name) for frame in genders]
    for path, frame in _counts(study):
        run = _declared("gender_counts", path.stem, path.stem, "")
        runs.append(run)
        if isinstance(frame, InputError):
            run["problem"] = str(frame)
        else:
            counts.append(frame)
            run |= {"status": "ok", "n": int(frame[GENDERS].to_numpy().sum())}
    runs = pd.DataFrame(runs, columns=list(_declared("", "", "", "")))
    if not pairs:
        raise InputError("no language can be read: " + " | ".join(bad_pairs.values()), path=study.path)
    prepared = {"pairs": ([frame.assign(language=code) for code, frame in pairs.items()], None),
                "scores": (tables["scores"], ["segment_id", "masculine", "feminine", "system", "language"]),
                "annotations": (tables["annotations"], ["segment_id", "variant", "n_errors", "omission", "instruction_fault", "errors",
                                                        "system", "language"]),
                "neutral": (neutral, NEUTRAL), "repeats": (repeats, REPEATS), "genders": (genders, GENDER_FRAME),
                "gender_counts": (counts, GENDER_COUNTS)}
    for name, (frames, columns) in prepared.items():
        frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)
        replace(study.prepared / f"{name}.parquet", (frame if columns is None else frame[columns]).to_parquet)
    replace(study.prepared / "runs.csv", lambda p: runs.to_csv(p, index=False, lineterminator="\n"))
    return runs


def _declared(kind, system, label, language, *, role="", references=False, baseline=False, problem=""):
    """A row of `prepare`'s table for a run that was not read yet; the keys are the table's columns."""
    return {"kind": kind, "system": system, "label": label, "language": language, "role": role, "references": references,
            "baseline": baseline, "status": "refused", "n": 0, "decimals": pd.NA, "note": "", "problem": problem}


def _read_run(formats, study, entry, language, pairs):
    path = entry.file(language)
    if path == entry.path and entry.format == "own" and len(entry.languages) > 1:
        raise InputError(f"one file for the languages {', '.join(entry.languages)}", path=path,
                         hint="Use a folder or {language} in the path, or name its language in the study (languages: [de])")
    if not path.is_file():
        raise InputError("no such file", path=path, hint=f"Place it there, or name the languages of {entry.name!r} in the study "
                                                         "(languages: [de])")
    frame = formats.study_run(study, entry, language, pairs)
    if entry.kind == "annotations":
        return frame.assign(errors=[json.dumps(e, ensure_ascii=False) for e in frame["errors"]])
    return frame


def read_runs(study):
    """`prepared/runs.csv` with text kept as text."""
    frame = pd.read_csv(study.prepared / "runs.csv", dtype=str, keep_default_na=False)
    return frame.assign(n=frame["n"].astype(int), references=frame["references"] == "True", baseline=frame["baseline"] == "True",
                        decimals=pd.to_numeric(frame["decimals"], errors="coerce").astype("Int64"))
