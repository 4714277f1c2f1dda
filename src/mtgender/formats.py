"""Outside formats: WMT25 and WMT26 evaluation inputs and outputs, and the GAMBIT+ challenge set as it was submitted to WMT25.

A pair is two hypotheses of one segment: `hyp-1` is the masculine text, `hyp-2` the feminine one.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
import time
from functools import lru_cache
from operator import eq
from reprlib import repr as shown

import numpy as np
import pandas as pd

from mtgender import data, isco
from mtgender.study import InputError, copies

HYPOTHESES = {"hyp-1": "masculine", "hyp-2": "feminine"}
WMT25_SCORES = ["doc_id", "segment_id", "source_lang", "target_lang", "set_id", "system_id", "domain_name", "method", "overall"]
WMT25_TEXTS = ["doc_id", "segment_id", "source_lang", "target_lang", "set_id", "system_id", "source_segment", "hypothesis_segment",
               "reference_segment", "domain_name", "method"]
WMT25_SPANS = ["start_indices", "end_indices", "error_types"]
WMT25_KEYS = ["doc_id", "target_lang", "set_id", "system_id", "domain_name", "source_lang"]
WMT25_PART = ["set_id", "source_lang", "target_lang"]
NO_ERROR, OMITTED = "no-error", "missing"
WMT26_ID = "_###_"
GAMBIT_TEXT_TYPES = ("story", "news report", "statement", "conversation", "presentation")


# ---- copies of large files

COPY_FORMAT = 1                  # of what the copies hold: a change makes all of them again
COPIED_FROM = 16_000_000         # bytes of a score file; a smaller one is read as fast as a copy
TEXTS_COPIED_FROM = 1_000_000    # bytes of the files of a challenge set in one language, which are aligned word by word
SETTLED = 2_000_000_000          # nanoseconds without a change before files are copied: their times may be as coarse as that


def _state(path):
    """What tells whether a file changed: size, both times, inode; None where there is no file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def _kept(paths, what, least, make):
    """A table made of files; of large ones from its parquet copy, which is made where there is none.

    The copy's name holds the paths of the files, their state, what is made of them and what the copy itself must hold: files that changed
    have none, and a damaged one is not used but made again. One that cannot be written is done without.

    Parameters
    ----------
    paths : list of Path
    what : object
        Tells, printed, what `make` makes of them.
    least : int
        Bytes of all files together from which the table is kept.
    make : callable
        Gives the Arrow table.

    Returns
    -------
    pyarrow.Table
    """
    import pyarrow as pa
    from pyarrow import parquet

    states = [_state(path) for path in paths]
    if None in states or sum(size for size, *_ in states) < least:
        return make()
    ours, now, chosen = (_digest(repr(k).encode()) for k in ([str(p.resolve()) for p in paths], states, (COPY_FORMAT, what)))
    for copy in copies().glob(f"{ours}.{now}.{chosen}.*.parquet"):
        try:
            content = copy.read_bytes()
            if copy.name.split(".")[-2] == _digest(content):
                return parquet.read_table(pa.BufferReader(content), use_threads=False)
        except (OSError, pa.ArrowException):                    # taken away meanwhile; of another version of pyarrow
            pass
    table = make()
    changed = max(time_ for _, *times, _ in states for time_ in times)
    if states == [_state(path) for path in paths] and time.time_ns() - changed > SETTLED:
        sink = pa.BufferOutputStream()
        coded = [field.name for field in table.schema if pa.types.is_dictionary(field.type)]
        parquet.write_table(table, sink, compression="zstd", use_dictionary=coded)
        content = sink.getvalue().to_pybytes()
        try:
            data.replace(copies() / f"{ours}.{now}.{chosen}.{_digest(content)}.parquet", lambda part: part.write_bytes(content))
            for old in set(copies().glob(f"*{ours}.*")) - set(copies().glob(f"*{ours}.{now}.*")):
                old.unlink(missing_ok=True)
        except OSError:
            pass
    return table


def _digest(content):
    return hashlib.sha256(content).hexdigest()[:20]


# ---- what we write

def wmt25_texts(pairs, language, set_id):
    """Pairs as a WMT25 evaluation input: two rows a pair.

    Parameters
    ----------
    pairs : DataFrame
        segment_id, isco, source, masculine, feminine.
    language : str
    set_id : str

    Returns
    -------
    DataFrame
        The WMT25 columns; `doc_id` is our segment_id, `segment_id` counts from 1, `domain_name` is the ISCO code.
    """
    both = [pairs.assign(system_id=hypothesis, hypothesis_segment=pairs[variant]) for hypothesis, variant in HYPOTHESES.items()]
    frame = pd.concat(both).sort_values(["segment_id", "system_id"], ignore_index=True)
    frame = frame.rename(columns={"segment_id": "doc_id", "source": "source_segment", "isco": "domain_name"})
    frame = frame.assign(segment_id=[str(1 + i // 2) for i in range(len(frame))], source_lang="en", target_lang=language,
                         set_id=f"challenge_{set_id}", reference_segment="NaN", method="NaN")
    return frame[WMT25_TEXTS]


def wmt26_texts(pairs, language, set_id):
    """Pairs as WMT26 evaluation input: one JSON line a pair.

    Returns
    -------
    list of str
        {item_id, src, ref, hyps: {hyp-1, hyp-2}}; item_id is
        `challenge_###_en_###_<language>_###_<set>_###_<segment_id>_###_0`.
    """
    return [json.dumps({"item_id": WMT26_ID.join(("challenge", "en", language, set_id, row.segment_id, "0")), "src": row.source,
                        "ref": None, "hyps": {h: getattr(row, v) for h, v in HYPOTHESES.items()}}, ensure_ascii=False)
            for row in pairs.itertuples()]


# ---- WMT25

@lru_cache(maxsize=1)
def _wmt25(path, columns, _changed):
    """Columns of a WMT25 TSV as categories (`overall` as text), and the rows of every (set, source, target), in the file's order.

    Read once for all its languages; line = row + 2.
    """
    table = _kept([path], columns, COPIED_FROM, lambda: _read_wmt25(path, columns))
    frame = table.unify_dictionaries().combine_chunks().to_pandas()
    key, names = np.zeros(len(frame), int), []
    for column in WMT25_PART:
        names.append(frame[column].cat.categories)
        key = key * len(names[-1]) + frame[column].cat.codes.to_numpy()
    order = np.argsort(key, kind="stable")
    ends = np.flatnonzero(np.diff(key[order], append=-1)) + 1
    parts = {}
    for rows in np.split(order, ends[:-1]) if len(frame) else []:
        place = np.unravel_index(key[rows[0]], [len(n) for n in names])
        parts[tuple(n[k] for n, k in zip(names, place))] = rows
    return frame, parts


def _read_wmt25(path, columns):
    """Columns of a WMT25 TSV as an Arrow table.

    The number of cells is checked on the bytes: a reader that fills or shifts cells would not tell.
    """
    try:
        raw = np.fromfile(path, np.uint8)
    except FileNotFoundError:
        raise InputError("no such file", path=path) from None
    if not len(raw):
        raise InputError("empty file", path=path, hint=f"Expected a header line: {' <TAB> '.join(columns)}")
    ends = np.flatnonzero(raw == 10)
    first = bytes(raw[:ends[0] if len(ends) else None]).removeprefix(b"\xef\xbb\xbf").removesuffix(b"\r")
    try:
        header = first.decode().split("\t")
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 (byte {first[error.start]:#04x})", path=path, line=1, hint="Save the file as UTF-8") from None
    missing = [c for c in columns if c not in header]
    if missing:
        raise InputError(f"no column {missing[0]!r}; the header is {' '.join(header)[:200]!r}", path=path, line=1,
                         hint=data.header_hint(first.decode()) or f"The first line names the columns {' <TAB> '.join(columns)}")
    for column in header:
        if header.count(column) > 1:
            raise InputError(f"column {shown(column)} occurs twice", path=path, line=1, hint="Each column must have a name of its own")
    tabs = np.flatnonzero(raw == 9)
    cells = np.diff(np.searchsorted(tabs, ends, side="left"), prepend=0) + 1
    wrong = np.flatnonzero(cells != len(header))
    if len(wrong):
        raise InputError(f"{cells[wrong[0]]} cells, expected {len(header)}", path=path, line=int(wrong[0]) + 1,
                         hint="Cells are separated by TAB; a text may not hold a TAB")
    if raw[-1] != 10 and len(ends):
        raise InputError("the last line does not end, so its last cell may be cut off", path=path, line=len(ends) + 1,
                         hint="If the file is whole, end it with a line end; if not, get it again")
    returns = np.flatnonzero(raw == 13)
    plain = not len(returns) or (returns[-1] + 1 < len(raw) and (raw[returns + 1] == 10).all())
    del raw, tabs, returns
    return _with_arrow(path, columns, header, len(ends)) if plain else _line_by_line(path, columns, header)


def _with_arrow(path, columns, header, lines):
    """Columns of a TSV in which every CR stands before an LF; read fast."""
    import pyarrow as pa
    from pyarrow import csv

    kinds = {c: pa.string() if c == "overall" else pa.dictionary(pa.int32(), pa.string()) for c in header}
    try:
        table = csv.read_csv(path, csv.ReadOptions(use_threads=False), csv.ParseOptions(delimiter="\t", quote_char=False),
                             csv.ConvertOptions(column_types=kinds, include_columns=list(columns), strings_can_be_null=False,
                                                check_utf8=True))
    except pa.ArrowInvalid:                                     # not UTF-8, which the other way names the place of; a very long line
        return _line_by_line(path, columns, header)
    if len(table) != max(lines - 1, 0):
        raise InputError(f"{len(table)} rows in {lines - 1} lines", path=path, hint="Is there an empty line?")
    return table.unify_dictionaries()


def _line_by_line(path, columns, header):
    """Columns of any TSV whose cells were counted; a CR inside a cell is content."""
    import pyarrow as pa

    lines = data.read_lines(path)[1:]
    found = {c: pa.array((line.split("\t")[header.index(c)] for line in lines), pa.string()) for c in columns}
    return pa.table({c: cells if c == "overall" else cells.dictionary_encode() for c, cells in found.items()})


def _wmt25_rows(path, columns, pairs, language, set_id, source, subset):
    """The rows of one set and language: doc_id, variant (categories), line and the columns asked for; all but the scores checked."""
    frame, parts = _wmt25(path, tuple(columns), _state(path))
    wanted = [rows for (set_, from_, to), rows in parts.items()
              if set_ == f"challenge_{set_id}" and to.split("_")[0] == language and from_.split("_")[0] == source]
    if not wanted:
        there = sorted({f"{set_} {to}" for set_, _, to in parts})
        holds = ", ".join(there[:5]) + (" …" if len(there) > 5 else "") if there else "no row below the header"
        raise InputError(f"no row of set challenge_{set_id} and target language {language}; it holds {holds}", path=path,
                         hint="Use the set and languages that `python -m mtgender export` writes")
    rows = np.sort(np.concatenate(wanted))
    chosen = frame.take(rows).reset_index(drop=True).assign(line=rows + 2)
    document, domain, system = (chosen[c].cat for c in ("doc_id", "domain_name", "system_id"))
    place = _place(document.categories, pairs["segment_id"])
    ours = _by_category(document, place >= 0)
    if not (subset or ours.all()):
        others = chosen[~ours]
        row = others.iloc[0]
        raise InputError(f"{others['doc_id'].nunique()} segments are not in the study's pairs", path=path, line=int(row["line"]),
                         segment_id=row["doc_id"], hint=f"Use the ids of the study's pairs; {data.EXPORT}")
    variants = list(dict.fromkeys(HYPOTHESES.values()))
    variant = _by_category(system, [variants.index(HYPOTHESES[c]) if c in HYPOTHESES else -1 for c in system.categories])
    wrong = np.flatnonzero(variant < 0)
    if len(wrong):
        row = chosen.iloc[wrong[0]]
        raise InputError(f"system {shown(row['system_id'])}, expected hyp-1 (masculine) or hyp-2 (feminine)", path=path,
                         line=int(row["line"]), segment_id=row["doc_id"], hint=f"Keep the columns of the texts; {data.EXPORT}")
    codes, occupations = pd.factorize(pairs["isco"])
    given = _by_category(domain, _place([c.zfill(4) for c in domain.categories.tolist()], occupations))
    if (given < 0).any():                                                                    # of none of our pairs: is it one at all?
        for row in chosen[given < 0].drop_duplicates("domain_name").itertuples():
            isco.pad(row.domain_name, path=path, line=int(row.line), segment_id=row.doc_id)
    expected = _by_category(document, np.append(codes, -1)[place])                            # -1: not ours
    wrong = np.flatnonzero((expected >= 0) & (expected != given))
    if len(wrong):
        row = chosen.iloc[wrong[0]]
        raise InputError(f"occupation {row['domain_name']}, expected {occupations[expected[wrong[0]]]}", path=path, line=int(row["line"]),
                         segment_id=row["doc_id"], hint=f"Keep the columns of the texts; {data.EXPORT}")
    chosen = chosen.assign(variant=pd.Categorical.from_codes(variant, variants))
    repeated = chosen[pd.Series(document.codes.to_numpy(int) * len(variants) + variant).duplicated()]
    if len(repeated):
        row = repeated.iloc[0]
        raise InputError(f"{row['system_id']} occurs twice", path=path, line=int(row["line"]), segment_id=row["doc_id"],
                         hint="Each text must occur once")
    return chosen[ours] if subset else chosen


def _place(texts, among):
    """Where each text stands among others, or -1."""
    import pyarrow as pa
    from pyarrow import compute

    return compute.index_in(pa.array(texts, pa.string()), value_set=pa.array(among, pa.string())).fill_null(-1).to_numpy()


def _by_category(categories, values):
    """A value of every category as one of every row."""
    return np.asarray(values)[categories.codes.to_numpy()]


def read_wmt25_scores(path, pairs, language, set_id, higher_is_better=True, partial=False, source="en", subset=False):
    """A WMT25 segment-score file of our pairs, as `data.read_scores` returns it.

    Parameters
    ----------
    path : Path
        TSV with the nine WMT25 columns in any order (as returned for the texts of `wmt25_texts`); rows of other sets and languages
        are passed over.
    pairs : DataFrame
        segment_id and isco of the study's pairs.
    language, set_id : str
    higher_is_better, partial : bool
    source : str
        Source language.
    subset : bool
        Whether `pairs` are a part of the set: rows of other segments are then passed over.

    Returns
    -------
    DataFrame
        segment_id, masculine, feminine, decimals.
    """
    chosen = _wmt25_rows(path, [*WMT25_KEYS, "overall"], pairs, language, set_id, source, subset)
    absent = chosen["overall"].isin(data.MISSING).to_numpy()
    documents, variant = chosen["doc_id"].cat.codes.to_numpy(), chosen["variant"].cat.codes.to_numpy()
    complete = ~absent & (np.bincount(documents[~absent], minlength=documents.max(initial=0) + 1)[documents] == 2)
    if not partial and not complete.all():
        row = chosen[absent if absent.any() else ~complete].iloc[0]
        raise InputError("a score is missing", path=path, line=int(row["line"]), segment_id=row["doc_id"], hint=data.PARTIAL)
    masculine, feminine = (np.flatnonzero(complete & (variant == k)) for k in range(2))
    place = np.zeros(documents.max(initial=0) + 1, int)
    place[documents[feminine]] = feminine
    feminine = place[documents[masculine]]                                                   # the rows of the same documents
    ids, scores, lines = chosen["doc_id"].cat.categories.array[documents[masculine]], chosen["overall"].array, chosen["line"].to_numpy()
    table = pd.DataFrame({"segment_id": ids, "masculine": scores[masculine], "feminine": scores[feminine], "line": lines[masculine],
                          "line_masculine": lines[masculine], "line_feminine": lines[feminine]})
    return data.check_scores(table, path, pairs["segment_id"], higher_is_better, partial)


def read_wmt25_spans(path, pairs, language, set_id, partial=False, source="en", subset=False):
    """A WMT25 error-span file of our pairs, as `data.read_annotations` returns it.

    Parameters
    ----------
    path : Path
        TSV with the WMT25 columns and `start_indices end_indices error_types`: numbers and severities separated by spaces,
        one a span; `no-error` with -1 for none; `missing` in place of an index is an omission, of any severity.
    pairs, language, set_id, partial, source, subset
        As in `read_wmt25_scores`.
    """
    chosen = _wmt25_rows(path, [*WMT25_KEYS, *WMT25_SPANS], pairs, language, set_id, source, subset)
    records = []
    for doc_id, variant, line, *cells in chosen[["doc_id", "variant", "line", *WMT25_SPANS]].itertuples(index=False):
        errors, omission, problem = _spans(*(str(cell).split() for cell in cells))
        records.append(({"segment_id": doc_id, "variant": variant, "errors": errors, "omission": omission,
                         "instruction_fault": False}, int(line), problem))
    return data.check_annotations(records, path, pairs, partial)


def _spans(starts, ends, kinds):
    """Spans, omission flag and problem of the three cells of a row."""
    if kinds == [NO_ERROR] and set(starts) | set(ends) <= {"-1"}:
        return [], False, None
    if not len(starts) == len(ends) == len(kinds) or not kinds:
        return [], False, f"{len(starts)} starts, {len(ends)} ends, {len(kinds)} error types"
    errors, omission = [], False
    for start, end, kind in zip(starts, ends, kinds):
        if kind == NO_ERROR or not all(cell == OMITTED or data.WHOLE.fullmatch(cell) for cell in (start, end)):
            return [], False, f"{shown(f'{start} {end} {kind}')}: not a span"
        if OMITTED in (start, end):
            omission = True
        else:
            errors.append({"start": int(start), "end": int(end), "severity": kind, "category": ""})
    return errors, omission, None


# ---- WMT26

def _wmt26_records(path, language, set_id, source):
    """(line, record, segment id) of the lines of one set and language."""
    for number, line in enumerate(data.read_lines(path), 1):
        record = data.read_record(line, path, number, ["item_id"], "One pair a line, with an item_id")
        data.check_id(record["item_id"], "item_id", path, number)
        parts = record["item_id"].split(WMT26_ID)
        if len(parts) != 6:
            raise InputError(f"item_id {shown(record['item_id'])}, expected six parts joined by {WMT26_ID}", path=path, line=number,
                             hint=f"Keep the item_id of the texts; {data.EXPORT}")
        kind, from_, to, domain, document, _ = parts
        if kind == "challenge" and domain == set_id and to.split("_")[0] == language and from_.split("_")[0] == source:
            yield number, record, document


def _wmt26_field(path, pairs, language, set_id, field, source, subset):
    found, known = {}, set(pairs["segment_id"])
    for number, record, segment in _wmt26_records(path, language, set_id, source):
        if field not in record:
            continue
        where = {"path": path, "line": number, "segment_id": segment}
        if segment not in known:
            if subset:
                continue
            raise InputError("not in the study's pairs", **where, hint=f"Use the ids of the study's pairs; {data.EXPORT}")
        if not isinstance(record[field], dict) or not set(record[field]) <= set(HYPOTHESES):
            raise InputError(f"{field} must be a mapping of hyp-1 and hyp-2", **where, hint="Nothing else may stand in it")
        for hypothesis, value in record[field].items():
            key = (segment, HYPOTHESES[hypothesis])
            if key in found:
                raise InputError(f"{hypothesis} occurs twice", **where, hint="Each text must occur once")
            found[key] = (value, number)
    if not found:
        raise InputError(f"no {field} of set {set_id} and target language {language}", path=path,
                         hint="Use the set and languages that `python -m mtgender export` writes")
    return found


def read_wmt26_scores(path, pairs, language, set_id, higher_is_better=True, partial=False, source="en", subset=False):
    """The scores (`task2_pred`) of a WMT26 file, as `data.read_scores` returns them; parameters as in `read_wmt25_scores`.

    JSON lines with `item_id` = `challenge_###_<source>_###_<target>_###_<set>_###_<segment id>_###_<number>`.
    """
    found = _wmt26_field(path, pairs, language, set_id, "task2_pred", source, subset)
    rows = []
    for segment in dict.fromkeys(s for s, _ in found):
        sides = [found.get((segment, v), (None, None)) for v in HYPOTHESES.values()]
        line = sides[0][1] or sides[1][1]
        missing = any(value is None for value, _ in sides)
        if missing and not partial:
            raise InputError("a score is missing", path=path, line=line, segment_id=segment, hint=data.PARTIAL)
        if not missing:
            cells = [v if isinstance(v, str) else repr(v) if type(v) in (int, float) else shown(v) for v, _ in sides]
            rows.append((segment, *cells, line))
    return data.check_scores(pd.DataFrame(rows, columns=["segment_id", "masculine", "feminine", "line"]), path, pairs["segment_id"],
                             higher_is_better, partial)


def read_wmt26_annotations(path, pairs, language, set_id, partial=False, source="en", subset=False):
    """The annotations of a WMT26 file, as `data.read_annotations` returns them.

    `task1_pred` holds per hypothesis {errors: [{start, end, severity, category}], omission, instruction_fault}; an omission is null,
    "minor", "major" or a truth value. A file without it may hold `task3_pred`: 1 for error-free, 0 for not, then counted as one
    error without a place.
    """
    lines = _wmt26_records(path, language, set_id, source)
    field = "task1_pred" if any("task1_pred" in record for _, record, _ in lines) else "task3_pred"
    found = _wmt26_field(path, pairs, language, set_id, field, source, subset)
    if field == "task3_pred":
        found = {key: (_from_flag(value), line) for key, (value, line) in found.items()}
    records = []
    for (segment, variant), (value, line) in found.items():
        problem = None if isinstance(value, dict) else value if field == "task3_pred" else "not an annotation"
        value = value if isinstance(value, dict) else {}
        flags = {}
        for name in ("omission", "instruction_fault"):
            flag = value.get(name)
            if flag not in (None, False, True, "minor", "major", "critical"):
                problem = problem or f"{name} {shown(flag)}, expected null, a severity, true or false"
            flags[name] = bool(flag)
        records.append(({"segment_id": segment, "variant": variant, "errors": value.get("errors"), **flags}, line, problem))
    return data.check_annotations(records, path, pairs, partial)


def _from_flag(value):
    if value not in (0, 1) or isinstance(value, bool):
        return f"task3_pred {shown(value)}, expected 0 or 1"
    return {"errors": [] if value else [{"start": 0, "end": 1, "severity": "", "category": "task 3: not error-free"}]}


# ---- GAMBIT+ as submitted to WMT25

def read_gambit(folder, set_id, language, source="en", subset=None, seed=0):
    """The pairs of a challenge set in WMT's submission form: line-aligned texts and a meta file.

    Parameters
    ----------
    folder : Path
        Holds `<set>.<source>-<language>.{src,hyp-1,hyp-2}.txt` and `.meta.tsv` (domain, doc_id).
    set_id, language, source : str
    subset : int, optional
        Keep this many texts an occupation, drawn by `seed` (the same in every language).
    seed : int

    Returns
    -------
    DataFrame
        As `data.read_pairs`; segment_id is the doc_id, the text type follows from it, `markup` is aligned word by word.
    """
    import pyarrow as pa

    paths = [folder / f"{set_id}.{source}-{language}.{end}" for end in ("src.txt", "hyp-1.txt", "hyp-2.txt", "meta.tsv")]
    if subset is None:
        return _kept(paths, "pairs", TEXTS_COPIED_FROM, lambda: pa.Table.from_pandas(_with_markup(_read_gambit(paths)))).to_pandas()
    frame = _read_gambit(paths)
    order = [hashlib.sha256(f"{seed} {d}".encode()).hexdigest() for d in frame["segment_id"].tolist()]
    rank = frame.assign(order=order).groupby("isco")["order"].rank(method="first")
    small = frame.groupby("isco").size().min()
    if small < subset:
        raise InputError(f"an occupation has only {small} texts, subset: {subset}", path=folder)
    return _with_markup(frame[rank <= subset])


def _read_gambit(paths):
    """The pairs of three line-aligned texts and their meta file, in the order of the files, without `markup`."""
    *texts, meta = [data.read_lines(p) for p in paths[:3]] + [data.read_tsv(paths[3], ["domain", "doc_id"])]
    counts = [len(t) for t in texts] + [len(meta)]
    if len(set(counts)) > 1:
        found = ", ".join(f"{p.name} {n}" for p, n in zip(paths, counts))
        raise InputError(f"unequal numbers of lines: {found}", path=paths[0].parent, hint="The four files must be aligned line by line")
    padded = {row.domain: isco.pad(row.domain, path=paths[3], line=row.line, segment_id=row.doc_id)
              for row in meta.drop_duplicates("domain").itertuples()}
    for row in meta[~meta["doc_id"].str.fullmatch("[0-9]{1,15}")].itertuples():
        raise InputError(f"doc_id {shown(row.doc_id)} is not a number of at most 15 digits", path=paths[3], line=row.line)
    for row in meta[meta.duplicated("doc_id")].itertuples():
        raise InputError("the doc_id occurs twice", path=paths[3], line=row.line, segment_id=row.doc_id)
    kinds = [GAMBIT_TEXT_TYPES[int(d) // 3 % 5] for d in meta["doc_id"].tolist()]
    return pd.DataFrame({"segment_id": meta["doc_id"], "isco": meta["domain"].map(padded), "text_type": kinds, "term": "",
                         "source": texts[0], "occupation": "", "masculine": texts[1], "feminine": texts[2]})


def _with_markup(frame):
    """Pairs with both variants in one text, ordered by segment_id."""
    markup = [align(m, f) for m, f in zip(frame["masculine"].tolist(), frame["feminine"].tolist())]
    return frame.assign(markup=markup).sort_values("segment_id", ignore_index=True)


def align(masculine, feminine):
    """Two texts in one, in `{masculine|feminine}` notation, aligned word by word.

    Examples
    --------
    >>> align("Der Koch kam , weil er kam", "Die Köchin kam , weil sie kam")
    '{Der Koch|Die Köchin} kam , weil {er|sie} kam'
    """
    if SIGNS.search(masculine) or SIGNS.search(feminine):
        masculine, feminine = masculine.translate(BRACES), feminine.translate(BRACES)
    a, b = masculine.split(" "), feminine.split(" ")
    if len(a) == len(b):
        same, blocks = bytes(map(eq, a, b)) + b"\1", []
        start = same.find(0)
        while start >= 0:
            end = same.find(1, start)
            blocks.append((start, end, start, end))
            start = same.find(0, end)
    else:
        blocks = [c[1:] for c in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes() if c[0] != "equal"]
    parts, end = [], 0
    for a0, a1, b0, b1 in blocks:
        parts += [*a[end:a0], f"{{{' '.join(a[a0:a1])}|{' '.join(b[b0:b1])}}}"]
        end = a1
    return " ".join([*parts, *a[end:]])


SIGNS = re.compile("[{}|]")
BRACES = str.maketrans("{}|", "()¦")      # the notation's own signs, where a text holds them


def study_pairs(study, language, source=None):
    """The pairs of a study in one language, whatever their form; `source` as in `data.read_pairs`."""
    if study.pairs_format == "gambit":
        return read_gambit(study.pairs, study.set_name, language, study.source, study.subset, study.seed)
    return data.read_pairs(study.pairs, language, source)


def study_run(study, entry, language, pairs):
    """One run of a study, whatever its form: as `data.read_scores` or `data.read_annotations` returns it."""
    path = entry.file(language)
    if entry.format == "own":
        if entry.kind == "scores":
            return data.read_scores(path, pairs["segment_id"], entry.higher_is_better, study.allow_partial)
        return data.read_annotations(path, pairs, study.allow_partial)
    given = {"partial": study.allow_partial, "source": study.source, "subset": study.subset is not None}
    if entry.kind == "scores":
        read, given["higher_is_better"] = {"wmt25": read_wmt25_scores, "wmt26": read_wmt26_scores}[entry.format], entry.higher_is_better
    else:
        read = {"wmt25": read_wmt25_spans, "wmt26": read_wmt26_annotations}[entry.format]
    return read(path, pairs, language, study.set_name, **given)
