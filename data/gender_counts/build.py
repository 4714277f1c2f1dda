"""Counts of masculine, feminine and unclear translations from two published sets of labelled MT outputs.

Usage: python data/gender_counts/build.py RAW OUT

RAW holds the folders `wibemt` and `genderous` as fetched; OUT receives `wibemt.csv`, `genderous.csv` and
`human_llm_agreement_by_run.csv`. The hand-made `occupations.csv` (source, occupation, isco, note) lies beside this script. Only
occupation words and counts are written, never a sentence of the sets. Anything unexpected in a raw file stops the run with the file and
the line.

How the labels were made and how they are used
----------------------------------------------
WiBeMT (Troles and Schmid 2021): one label per translation, by the authors' word lists per occupation, remaining cases by hand. There is no
second annotator, so nothing is combined.

GENDEROUS (Hackenbuchner, Gkovedarou and Daems 2025): one human gold label per translation and one label by GPT-4o as a judge. The files
hold no second human; their "IAA" column compares the human with the judge (1 if both labels are the same text). So nothing is combined:
the counts use the human label alone, the judge's appear in the table of agreement only. The files of `prompt2` (several alternatives on
request, human labels only) are not read.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import pandas as pd

GENDERS = ["masculine", "feminine", "not_clear", "excluded"]
RUN = ["source", "system", "language", "subset"]
COLUMNS = [*RUN, "occupation", "isco", *GENDERS]

WIBEMT = "WiBeMT"
WIBEMT_SYSTEMS = {"DeepL": "DeepL_Translator", "Google": "Google_Translate", "Microsoft": "Microsoft_Translator"}
WIBEMT_COLUMNS = ["id", "text", "verb", "occupation", "translation", "label"]
WIBEMT_LABELS = {"male": "masculine", "female": "feminine", "neutral": "not_clear", "wrong": "excluded"}

GENDEROUS = "GENDEROUS"
GENDEROUS_SYSTEMS = {"DeepL": "MT/annotations_DeepL", "EuroLLM": "LLM/prompt1/annotations_EuroLLM",
                     "GPT-4o": "LLM/prompt1/annotations_GPT-4o", "Google": "MT/annotations_GT"}
GENDEROUS_SUBSETS = {"base": ["base", "base_type", "sentences", "type"], "their": ["base", "base_type", "sentences", "type"],
                     "adjectives": ["adj5_sentences", "type_base", "type_adj"]}
LANGUAGES = {"el": "EL", "de": "DE", "es": "ES", "nl": "NL"}
# "incorrect" is a wrong translation, "mixed" one whose words contradict each other (feminine noun, plural or masculine possessive)
HUMAN_LABELS = {"M": "masculine", "F": "feminine", "N": "not_clear", "error [incorrect]": "excluded", "error [mixed]": "excluded"}
JUDGE_LABELS = {"M": "M", "F": "F", "N": "N", "M/F": "M/F", "error": "error", "Error": "error"}


class InputError(ValueError):
    """A raw file that is not as expected.

    Parameters
    ----------
    message : str
    path : Path
    line : int, optional
        Counted from 1, the header included.
    """

    def __init__(self, message, path, line=None):
        super().__init__(f"{path}{f', line {line}' if line else ''}: {message}")


def read_tsv(path, columns, header=True):
    """A tab-separated file, cell by cell as it is.

    Parameters
    ----------
    path : Path
    columns : list of str
        The columns that must be there, in this order, and no others.
    header : bool
        Whether the first line names them.

    Returns
    -------
    DataFrame
        All text; index `line`, counted from 1.

    Raises
    ------
    InputError
        If the file is missing or not UTF-8, a column is missing, unknown or displaced, or a line has another number of cells.
    """
    if not path.is_file():
        raise InputError("no such file", path)
    try:
        lines = path.read_bytes().decode("utf-8").removesuffix("\n").replace("\r\n", "\n").removesuffix("\r").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 ({error.reason} at byte {error.start})", path) from None
    rows = [line.split("\t") for line in lines]
    if header and rows[0] != columns:
        missing = [c for c in columns if c not in rows[0]]
        unknown = [c for c in rows[0] if c not in columns]
        raise InputError(f"columns missing {missing}, unknown {unknown}; expected exactly {columns}", path, 1)
    for number, row in enumerate(rows, start=1):
        if len(row) != len(columns):
            raise InputError(f"{len(row)} cells, expected {len(columns)}", path, number)
    frame = pd.DataFrame(rows, columns=columns, index=pd.RangeIndex(1, len(rows) + 1, name="line"), dtype=str)
    return frame.iloc[1:] if header else frame


def check(bad, message, path):
    """Stop at the first row for which `bad` holds.

    Parameters
    ----------
    bad : Series of bool
        Index `line`.
    message : str or Series of str
        What is wrong, for all rows or row by row.
    path : Path

    Raises
    ------
    InputError
    """
    if bad.any():
        line = bad.idxmax()
        raise InputError(message if isinstance(message, str) else message.loc[line], path, line)


def map_labels(labels, meaning, path):
    """Labels of a set in our own terms.

    Parameters
    ----------
    labels : Series of str
        Index `line`, name the column.
    meaning : dict
        Label of the set → our term.
    path : Path

    Returns
    -------
    Series of str

    Raises
    ------
    InputError
        At the first label that `meaning` does not hold.
    """
    message = "unexpected label " + labels.map(repr) + f" in column {labels.name!r}, expected one of {list(meaning)}"
    check(~labels.isin(list(meaning)), message, path)
    return labels.map(meaning)


def read_occupations(path):
    """The hand-made map from occupation words to ISCO-08 unit groups.

    Parameters
    ----------
    path : Path

    Returns
    -------
    dict
        Source → Series of codes (text of four digits, or empty where no unit group fits) by occupation.

    Raises
    ------
    InputError
        If an occupation is listed twice, a code is not four digits or nothing, or an empty code comes without its reason.
    """
    if not path.is_file():
        raise InputError("no such file", path)
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    if list(frame.columns) != ["source", "occupation", "isco", "note"]:
        raise InputError(f"columns {list(frame.columns)}, expected source, occupation, isco, note", path, 1)
    frame.index = pd.RangeIndex(2, len(frame) + 2, name="line")
    check(~frame["source"].isin([WIBEMT, GENDEROUS]), "unknown source " + frame["source"].map(repr), path)
    check(frame.duplicated(["source", "occupation"]), "listed twice: " + frame["occupation"], path)
    check(~frame["isco"].str.fullmatch(r"(\d{4})?"), "not an ISCO-08 unit group: " + frame["isco"], path)
    check(frame["isco"].eq("") & frame["note"].eq(""), "neither a code nor the reason why there is none: " + frame["occupation"], path)
    return {source: rows.set_index("occupation")["isco"] for source, rows in frame.groupby("source")}


def check_occupations(found, codes, path):
    """Every occupation of a file must be in occupations.csv, and the other way round.

    Parameters
    ----------
    found : Series of str
        Index `line`.
    codes : Series
        Index the occupations of this source.
    path : Path

    Raises
    ------
    InputError
    """
    check(~found.isin(codes.index), "occupation not in occupations.csv: " + found.map(repr), path)
    absent = codes.index.difference(found)
    if len(absent):
        raise InputError(f"no text for {list(absent)}, which occupations.csv lists", path)


def read_wibemt(folder, codes):
    """The labelled verb sentences of WiBeMT.

    Parameters
    ----------
    folder : Path
    codes : Series
        ISCO-08 codes by occupation.

    Returns
    -------
    DataFrame
        One row per translation: the columns of RUN, `occupation`, `gender`, `text` (English), `translation`.

    Raises
    ------
    InputError
    """
    frames, first = [], None
    for system, stem in WIBEMT_SYSTEMS.items():
        name = f"VerbSentences_{stem}_GenderCategorized.txt"
        path = next(folder.rglob(name), folder / name)             # `mtgender fetch` keeps the repository's folders
        frame = read_tsv(path, WIBEMT_COLUMNS, header=False)
        check(frame["id"].duplicated(), "id occurs twice: " + frame["id"], path)
        check_occupations(frame["occupation"], codes, path)
        check(~names_occupation(frame["text"], frame["occupation"]), "the text does not name the occupation " + frame["occupation"], path)
        texts = frame[["id", "text", "occupation"]]
        first = texts if first is None else first
        if not texts.equals(first):
            raise InputError("not the same texts in the same order as in the first system's file", path)
        gender = map_labels(frame["label"], WIBEMT_LABELS, path)
        frames.append(pd.DataFrame({"source": WIBEMT, "system": system, "language": "de", "subset": "verb_sentences",
                                    "occupation": frame["occupation"], "gender": gender, "text": frame["text"],
                                    "translation": frame["translation"]}))
    return pd.concat(frames, ignore_index=True)


def names_occupation(texts, occupations):
    """Whether each text holds its occupation as a word of its own.

    Parameters
    ----------
    texts, occupations : Series of str

    Returns
    -------
    Series of bool

    Examples
    --------
    >>> names_occupation(pd.Series(["A judge left.", "A cooking class"]), pd.Series(["judge", "cook"])).tolist()
    [True, False]
    """
    found = [re.search(rf"\b{re.escape(word)}\b", text) is not None for text, word in zip(texts, occupations)]
    return pd.Series(found, index=texts.index, dtype=bool)


def find_occupation(texts, codes):
    """The longest listed occupation in each text ("construction worker" before "worker"), empty if there is none.

    Parameters
    ----------
    texts : Series of str
    codes : Series
        Index the occupations.

    Returns
    -------
    Series of str

    Examples
    --------
    >>> find_occupation(pd.Series(["The shy construction worker left.", "Nobody left."]), pd.Series("", ["construction worker"])).tolist()
    ['construction worker', '']
    """
    words = sorted(codes.index, key=len, reverse=True)
    pattern = r"\b(" + "|".join(re.escape(word) for word in words) + r")\b"
    return texts.str.extract(pattern, expand=False).fillna("")


def drop_leftover_rows(frame, text, path):
    """Leave out rows that hold neither an English text nor any label; a label without a text stops the run.

    Upstream has one: below the 450 texts with adjectives of GPT-4o, a single stray cell.

    Parameters
    ----------
    frame : DataFrame
    text : str
        The column of the English text.
    path : Path

    Returns
    -------
    DataFrame
    """
    labels = [c for c in frame.columns if c.endswith(("_annotation", "_IAA_agreement"))]
    empty = frame[text].eq("")
    check(empty & frame[labels].ne("").any(axis=1), "labels without an English text", path)
    for line in frame.index[empty]:
        print(f"left out: {path.name}, line {line}: no English text and no label", file=sys.stderr)
    return frame[~empty]


def read_genderous_file(path, system, subset, codes):
    """One annotation file of GENDEROUS: one system, one subset, four languages.

    Parameters
    ----------
    path : Path
    system, subset : str
    codes : Series
        ISCO-08 codes by occupation.

    Returns
    -------
    DataFrame
        One row per translation: the columns of RUN, `occupation`, `gender`, `human`, `llm`, `text` (English), `translation`.

    Raises
    ------
    InputError
    """
    leading = GENDEROUS_SUBSETS[subset]
    stem = path.name.split("_")[1]
    columns = leading + [f"{tag}_{part}" for tag in LANGUAGES.values() for part in (stem, "annotation", "GPT_annotation", "IAA_agreement")]
    text = "adj5_sentences" if subset == "adjectives" else "sentences"
    frame = drop_leftover_rows(read_tsv(path, columns), text, path)
    if subset == "adjectives":
        occupation = find_occupation(frame[text], codes)
        check(occupation.eq(""), "the text names no occupation of occupations.csv", path)
    else:
        occupation = frame["base"]
        check(frame["type"].ne(subset), "unexpected type " + frame["type"].map(repr) + f", expected {subset!r}", path)
    check_occupations(occupation, codes, path)
    check(~names_occupation(frame[text], occupation), "the text does not name the occupation " + occupation, path)
    check(frame[text].duplicated(), "the English text occurs twice", path)
    sizes = occupation.value_counts()
    if sizes.nunique() != 1:
        extremes = f"{sizes.max()} for {sizes.idxmax()!r}, {sizes.min()} for {sizes.idxmin()!r}"
        raise InputError(f"not the same number of texts for every occupation: {extremes}", path)
    frames = []
    for language, tag in LANGUAGES.items():
        human, judge = frame[f"{tag}_annotation"], frame[f"{tag}_GPT_annotation"]
        gender, llm = map_labels(human, HUMAN_LABELS, path), map_labels(judge, JUDGE_LABELS, path)
        agree = human.eq(judge).map({True: "1", False: "0"})
        check(frame[f"{tag}_IAA_agreement"].ne(agree), f"{tag}_IAA_agreement does not say whether the two labels agree", path)
        frames.append(pd.DataFrame({"source": GENDEROUS, "system": system, "language": language, "subset": subset, "occupation": occupation,
                                    "gender": gender, "human": human, "llm": llm, "text": frame[text],
                                    "translation": frame[f"{tag}_{stem}"]}))
    return pd.concat(frames, ignore_index=True)


def read_genderous(folder, codes):
    """All annotation files of GENDEROUS but those of prompt2.

    Parameters
    ----------
    folder : Path
    codes : Series
        ISCO-08 codes by occupation.

    Returns
    -------
    DataFrame
        See `read_genderous_file`.
    """
    files = [(folder / "annotations" / f"{start}_{subset}_sentences.tsv", system, subset)
             for system, start in GENDEROUS_SYSTEMS.items() for subset in GENDEROUS_SUBSETS]
    return pd.concat([read_genderous_file(path, system, subset, codes) for path, system, subset in files], ignore_index=True)


def count_genders(labels, codes):
    """Texts by gender for every run and occupation.

    Parameters
    ----------
    labels : DataFrame
        The columns of RUN, `occupation`, `gender`.
    codes : Series
        ISCO-08 codes by occupation.

    Returns
    -------
    DataFrame
        COLUMNS, sorted.
    """
    keys = [*RUN, "occupation"]
    counts = labels.groupby(keys)["gender"].value_counts().unstack(fill_value=0).reindex(columns=GENDERS, fill_value=0).reset_index()
    return counts.assign(isco=counts["occupation"].map(codes))[COLUMNS].sort_values(keys, ignore_index=True)


def count_agreement(labels, keys):
    """Items by human label and GPT-4o label.

    Parameters
    ----------
    labels : DataFrame
        `human`, `llm` and the columns `keys`.
    keys : list of str

    Returns
    -------
    DataFrame
        `keys`, `human`, `llm`, `n`, sorted; pairs of labels that do not occur have no row.
    """
    return labels.groupby([*keys, "human", "llm"]).size().rename("n").reset_index()


def main(argv=None):
    """Command line."""
    parser = argparse.ArgumentParser(description="Count masculine and feminine translations in WiBeMT and GENDEROUS.")
    parser.add_argument("raw", type=Path, help="folder with wibemt and genderous")
    parser.add_argument("out", type=Path, help="where the tables go")
    args = parser.parse_args(argv)
    try:
        codes = read_occupations(Path(__file__).with_name("occupations.csv"))
        wibemt = read_wibemt(args.raw / "wibemt", codes[WIBEMT])
        genderous = read_genderous(args.raw / "genderous", codes[GENDEROUS])
    except InputError as error:
        sys.exit(str(error))
    tables = {
        "wibemt.csv": count_genders(wibemt, codes[WIBEMT]),
        "genderous.csv": count_genders(genderous, codes[GENDEROUS]),
        # by run: the judge's labels of some runs do not follow the translations, so that a pooled table would mislead
        "human_llm_agreement_by_run.csv": count_agreement(genderous, ["system", "language", "subset"]),
    }
    args.out.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        table.to_csv(args.out / name, index=False, encoding="utf-8", lineterminator="\n")


if __name__ == "__main__":
    main()
