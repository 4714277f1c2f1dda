"""The systems paper's tables and sentences: benchmark, detector, systems, one system's run, labour market.

All take the frames of a study (`inference.Results`) or parts of them; measures and intervals come from `representation` and `inference`.
"""

from __future__ import annotations

import html
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from mtgender import data, isco, representation
from mtgender.inference import percentile_interval, ratio_means, resample_counts
from mtgender.representation import MANY, STEERED, jeffreys
from mtgender.study import COUNTRIES, LANGUAGES, ROOT, TEXT_TYPES, InputError
from mtgender.tables import ABSENT, _cell, fixed, interval, language_name, read_csv, select

PAPER = ROOT / "data" / "published" / "systems_paper.csv"
REGISTER = ROOT / "data" / "gender_counts" / "systems.csv"
AGREEMENT = ROOT / "data" / "gender_counts" / "human_llm_agreement_by_run.csv"
ACCURACY = ROOT / "data" / "detectors" / "accuracy.csv"
MEASURED = ROOT / "data" / "detectors" / "measured.csv"
MISSED = ROOT / "data" / "detectors" / "missed_occupations.csv"
CALIBRATION = ROOT / "data" / "detectors" / "calibration.csv"
GOLD = {"gendered": 134, "not_clear": 66}            # gold texts of each language in tests/gold
TARGETS = {"accuracy": 0.95, "answered": 0.90, "not_clear_recall": 0.90}       # on the gold texts
SANITY = {"OccuPairs": 0.97, "GENDEROUS": 0.95, "WiBeMT": 0.95}                 # agreement with the labels of other texts
SANITY_CHECK = "sanity check: "
ANSWERS = ["masculine", "feminine", "not_clear", "not_found"]
TALLY = ["gendered", "n_answered", "right", "not_clear", "recognised", "unseen", "named", "pointed"]
SHOWN = ["masculine", "feminine", "not_clear"]       # what a text can be; excluded ones are no text of the shares
LENGTHS = ["characters", "characters_sd", "words", "words_sd"]
# our text types under the paper's names; its brief news report is compared with our report
PAPER_TYPES = {"statement": "Short statement", "report": "Brief news report", "news report": "Brief news report",
               "conversation": "Short conversation", "story": "Short story", "presentation": "Short presentation"}


MARK = "†"


def settings(study, printed=None):
    """The settings that captions of systems carry, and of a printed table what its marks mean."""
    text = (f"Intervals: {100 * study.level:g}% percentile, occupation-block bootstrap, {study.replicates} replicates, seed {study.seed} "
            f"(sensitivity to the weighting of occupations, not sampling of new texts); fewer than {MANY} unit groups: Jeffreys, on texts.")
    return text if printed is None else f"{text} {explained(printed)}".strip()


def _bootstrap(study):
    return {"replicates": study.replicates, "seed": study.seed, "confidence": study.level}


def limits(frame, low="low", high="high", share="p_masculine", factor=1, decimals=2):
    """Intervals as printed, with a mark where all occupations agree (`representation.agree`).

    Parameters
    ----------
    frame : DataFrame
        Has `low`, `high`, `share` and interval (what they are on).
    low, high, share : str
        Columns.
    factor, decimals : int
        100 and 1 for percent.

    Returns
    -------
    list of str
    """
    flat = representation.agree(frame[share], frame[low], frame[high], frame["interval"])
    return [interval(factor * a, factor * b, decimals) + MARK * int(k) for a, b, k in zip(frame[low], frame[high], flat)]


def explained(printed):
    """What the mark of `limits` means; empty where a printed table has none."""
    return f"{MARK} {representation.AGREE}." if any(str(cell).endswith(f"]{MARK}") for cell in printed.to_numpy().ravel()) else ""


def _estimates(frame):
    """nGPD (masculine) with its interval as printed."""
    return [f"{fixed(v)} {text}" if pd.notna(v) else ABSENT for v, text in zip(frame["ngpd_masculine"], limits(frame))]


# Table 1, Tables 5 and 6: lengths

def lengths(texts, text_types):
    """Length of texts by text type and in all.

    Parameters
    ----------
    texts, text_types : Series of str

    Returns
    -------
    DataFrame
        text_type (in the order of `TEXT_TYPES`, then all), texts, and mean and standard deviation (n - 1; missing for one text) of
        characters (code points) and words (whitespace-separated tokens).
    """
    frame = pd.DataFrame({"text_type": np.asarray(text_types), "characters": texts.str.len().to_numpy(float),
                          "words": texts.str.split().str.len().to_numpy(float)})
    parts = [(t, frame[frame["text_type"] == t]) for t in TEXT_TYPES] + [("all", frame)]
    return pd.DataFrame([(name, len(part), *(part[c].agg(how) for c in ("characters", "words") for how in ("mean", "std")))
                         for name, part in parts if len(part)], columns=["text_type", "texts", *LENGTHS])


def paper_lengths(number, path=PAPER):
    """Lengths that the systems paper prints in Table 1 (English), 5 (French) or 6 (Greek), by its text types.

    Returns
    -------
    DataFrame
        Index the paper's name of the type; `LENGTHS`.
    """
    rows = select(read_csv(path), section=f"Table {number}")
    wide = rows.assign(value=rows["value"].astype(float)).pivot(index="category", columns="quantity", values="value")
    names = {"chars_mean": "characters", "chars_sd": "characters_sd", "words_mean": "words", "words_sd": "words_sd"}
    return wide.rename(columns=names)[LENGTHS].rename_axis(index=None, columns=None)


def _beside_paper(table, number):
    """Lengths with the paper's beside them, and rows for the types that only the paper has."""
    paper = paper_lengths(number)
    both = table.assign(paper=table["text_type"].map(PAPER_TYPES)).merge(
        paper.add_prefix("paper_"), how="left", left_on="paper", right_index=True)
    only = paper[~paper.index.isin(both["paper"])].add_prefix("paper_").rename_axis("paper").reset_index()
    types = {name: kind for kind, name in PAPER_TYPES.items()}
    return pd.concat([both[:-1], only.assign(text_type=only["paper"].map(types)), both[-1:]], ignore_index=True)


def _spread(mean, sd):
    return ABSENT if pd.isna(mean) else f"{fixed(mean)} ± {fixed(sd)}"


def _spreads(frame, prefix, name):
    return [_spread(*row) for row in zip(frame[f"{prefix}{name}"], frame[f"{prefix}{name}_sd"])]


def benchmark(results):
    """Table 1: English texts by text type, characters and words (mean ± sd), beside the paper's.

    Parameters
    ----------
    results : Results

    Returns
    -------
    frame, printed : DataFrame
    """
    texts = results.pairs.drop_duplicates("segment_id")
    frame = _beside_paper(lengths(texts["source"], texts["text_type"]), 1)
    printed = pd.DataFrame({
        "Text type": frame["text_type"], "texts": [ABSENT if pd.isna(n) else str(int(n)) for n in frame["texts"]],
        "characters": _spreads(frame, "", "characters"), "words": _spreads(frame, "", "words"),
        "the paper’s characters": _spreads(frame, "paper_", "characters"), "the paper’s words": _spreads(frame, "paper_", "words")})
    return frame.drop(columns="paper"), printed


def target_pairs(results):
    """Pairs of the study's languages, and of those of its translations that the challenge set holds too.

    Returns
    -------
    dict of DataFrame
        Language code → text_type, masculine, feminine.
    """
    study = results.study
    found = dict(iter(results.pairs.groupby("language", sort=False)))
    for path in extra_pairs(study):
        found[path.stem] = data.read_pairs(study.pairs, path.stem)
    return {code: found[code] for code in LANGUAGES if code in found}


def extra_pairs(study):
    """Files of pairs in languages that the study only translates into."""
    wanted = dict.fromkeys(code for system in study.translations.values() for code in system.languages)
    paths = [study.pairs / f"{code}.tsv" for code in wanted if code not in study.languages]
    return [path for path in paths if path.is_file()]


def target_lengths(results):
    """Tables 5 and 6: lengths of the masculine and the feminine variants in every target language, beside the paper's (French, Greek).

    Parameters
    ----------
    results : Results

    Returns
    -------
    frame, printed : DataFrame
        The paper's columns are over texts of all genders together.
    """
    parts = []
    for code, pairs in target_pairs(results).items():
        sides = [lengths(pairs[v], pairs["text_type"]).rename(columns={c: f"{v}_{c}" for c in LENGTHS}) for v in ("masculine", "feminine")]
        both = sides[0].merge(sides[1], on=["text_type", "texts"], sort=False)
        number = {"fr": 5, "el": 6}.get(code)
        parts.append((_beside_paper(both, number).drop(columns="paper") if number else both).assign(language=code))
    frame = pd.concat(parts, ignore_index=True)
    wanted = ["language", "text_type", "texts", *(f"{p}_{c}" for p in ("masculine", "feminine", "paper") for c in LENGTHS)]
    frame = frame.reindex(columns=wanted)
    printed = pd.DataFrame({
        "Language": [language_name(c) for c in frame["language"]], "Text type": frame["text_type"],
        "texts": [ABSENT if pd.isna(n) else str(int(n)) for n in frame["texts"]],
        **{f"{name} {short}": _spreads(frame, f"{variant}_", name) for name in ("characters", "words")
           for variant, short in (("masculine", "m"), ("feminine", "f"))},
        **{f"the paper’s {name}": _spreads(frame, "paper_", name) for name in ("characters", "words")}})
    return frame, printed


# Table 2: the detector

def wilson(rate, n, confidence=0.95):
    """Wilson interval of a share of n texts; missing where n is 0 or the share is missing.

    Examples
    --------
    >>> [round(x, 3) for x in wilson(0.95, 200)]
    [0.91, 0.973]
    """
    if pd.isna(rate) or not n:
        return float("nan"), float("nan")
    found = stats.binomtest(round(rate * n), int(n)).proportion_ci(confidence, method="wilson")
    return float(found.low), float(found.high)


def llm_agreement(path=AGREEMENT):
    """GPT-4o's labels against one human label a text (GENDEROUS), in the figures of the detector's accuracy.

    The texts with adjectives are apart, and GPT-4o's labels of its own translations of them left out: they are constant per occupation, so
    they look assigned, not judged. Texts that the human called an error are left out too. An answer is masculine or feminine; `N` and `M/F`
    say that the text does not tell.

    Returns
    -------
    DataFrame
        language, stage (which texts), gendered (texts by human label), n_answered, right, not_clear (by human label), recognised.
    """
    frame = read_csv(path)
    frame = frame[~((frame["system"] == "GPT-4o") & (frame["subset"] == "adjectives"))]
    frame = frame.assign(n=frame["n"].astype(int), answer=frame["llm"].isin(["M", "F"]), unclear=frame["llm"].isin(["N", "M/F"]),
                         stage=np.where(frame["subset"] == "adjectives", "GENDEROUS, adjectives", "GENDEROUS, base and their"))
    rows = []
    for (code, stage), own in frame.groupby(["language", "stage"]):
        told, silent = own[own["human"].isin(["M", "F"])], own[own["human"] == "N"]
        rows.append({"language": code, "stage": stage, "gendered": told["n"].sum(), "n_answered": told.loc[told["answer"], "n"].sum(),
                     "right": told.loc[told["human"] == told["llm"], "n"].sum(), "not_clear": silent["n"].sum(),
                     "recognised": silent.loc[silent["unclear"], "n"].sum()})
    return pd.DataFrame(rows)


def _ratio(part, whole):
    return part / whole if whole else np.nan


def measured(path=None):
    """What the detectors that need no server say of texts whose gender is known, counted by `data/detectors/measure.py`.

    Returns
    -------
    DataFrame
        language, detector, sample, part, system, label (of the texts), texts, `ANSWERS` (texts by what the detector says), named (texts
        whose gold names the word for the person), found (of them, those where the detector points at it), and stage (the texts as Table 2
        calls them).

    Raises
    ------
    InputError
        If the answers of a row do not add up to its texts.
    """
    path = MEASURED if path is None else path
    frame = read_csv(path).astype(dict.fromkeys(["texts", *ANSWERS, "named", "found"], int))
    wrong = frame.index[frame[ANSWERS].sum(axis=1) != frame["texts"]]
    if len(wrong):
        raise InputError("the answers do not add up to the texts", path=path, line=int(wrong[0]) + 2,
                         hint="Make the file again: .venv-producers/bin/python data/detectors/measure.py")
    more = {"OccuPairs": "’ own variants", "GENDEROUS": ", " + frame["part"], "WiBeMT": ", " + frame["system"]}
    stage = frame["sample"].copy()
    for sample, end in more.items():
        stage = stage.mask(frame["sample"] == sample, SANITY_CHECK + sample + end)
    return frame.assign(stage=stage)


def tally(counts, by):
    """A detector's answers against the labels, summed.

    Parameters
    ----------
    counts : DataFrame
        From `measured`; texts with the label excluded are left out.
    by : list of str
        Columns of which each combination is one row.

    Returns
    -------
    DataFrame
        `by`, and `TALLY`: gendered (texts that tell), n_answered (of them, those called masculine or feminine), right (called what they
        are), not_clear (texts that do not tell), recognised (of them, those not called masculine or feminine), unseen (of all, those in
        which no word for the person was found), named (of all, those whose gold names the word), pointed (of them, those where the
        detector points at it).
    """
    counts = counts[counts["label"].isin(SHOWN)]
    label, told, silent = counts["label"], counts["label"] != "not_clear", counts["label"] == "not_clear"
    right = sum(counts[side].where(label == side, 0) for side in SHOWN[:2])
    parts = counts[by].assign(
        gendered=counts["texts"].where(told, 0), n_answered=(counts["masculine"] + counts["feminine"]).where(told, 0), right=right,
        recognised=(counts["not_clear"] + counts["not_found"]).where(silent, 0), not_clear=counts["texts"].where(silent, 0),
        unseen=counts["not_found"], named=counts["named"], pointed=counts["found"])
    return parts.groupby(by, as_index=False, sort=False)[TALLY].sum()


def _first_measurement():
    """The rows `blind` of `ACCURACY` as counts: its rates have three decimals, which 200 texts are known by."""
    rows = select(read_csv(ACCURACY), stage="blind")
    rate = rows[[*TARGETS, "found"]].astype(float)
    answered = (rate["answered"] * GOLD["gendered"]).round()
    texts = sum(GOLD.values())
    return pd.DataFrame({"language": rows["language"], "detector": "lexicon", "stage": "blind", **GOLD, "n_answered": answered,
                         "right": (rate["accuracy"] * answered).round(), "named": texts, "pointed": (rate["found"] * texts).round(),
                         "recognised": (rate["not_clear_recall"] * GOLD["not_clear"]).round()})


def _measurements():
    """Rows of `MEASURED`: the lexicon detector on gold texts, the first article or pronoun on them, the sanity checks."""
    own = tally(measured(), ["language", "detector", "sample", "stage"])
    alone = select(own, detector="first-word")
    lexicon = select(own, detector="lexicon").merge(alone.assign(baseline=_agreement(alone))[["language", "stage", "baseline"]], how="left")
    checks = lexicon["sample"].isin(SANITY)
    alone = alone[~alone["sample"].isin(SANITY)].assign(detector="first article or pronoun")
    named = {"gold": "baseline", "fresh": "baseline, fresh"}
    return lexicon[~checks].replace({"stage": {"gold": "final"}}), alone.replace({"stage": named}), lexicon[checks]


def detector_accuracy(confidence=0.95):
    """Table 2: how well gender is detected, by language.

    Rows: the lexicon detector (and the baseline that reads the first article or pronoun) on the gold texts; the lexicon detector on texts
    with other labels, as sanity checks; GPT-4o's labels against human ones; what the paper prints of its own pipeline, on its own texts.

    Returns
    -------
    frame : DataFrame
        language, detector, stage, gendered, not_clear (texts by label), n_answered, right, recognised (see `tally`); the fractions accuracy
        (right / n_answered), answered (n_answered / gendered), not_clear_recall (recognised / not_clear) and agreement ((right +
        recognised) / texts), each with _low, _high (Wilson, as if the texts were independent; none for the paper) and _met (the lexicon
        detector's target: `TARGETS` on gold texts, `SANITY` for the agreement of the sanity checks); target (that of the agreement);
        baseline (agreement of the first article or pronoun alone on the same texts); found (the word of the gold pointed at; sanity checks:
        any word for the person found).
    printed : DataFrame
    """
    frame = pd.concat([_first_measurement(), *_measurements(), llm_agreement().assign(detector="GPT-4o")], ignore_index=True)
    frame = frame.assign(texts=frame["gendered"] + frame["not_clear"], agreed=frame["right"] + frame["recognised"],
                         target=frame["sample"].map(SANITY))
    parts = {"accuracy": ("right", "n_answered"), "answered": ("n_answered", "gendered"), "not_clear_recall": ("recognised", "not_clear"),
             "agreement": ("agreed", "texts")}
    gold = (frame["detector"] == "lexicon") & frame["target"].isna()
    for name, (part, whole) in parts.items():
        frame[name] = [_ratio(*row) for row in zip(frame[part], frame[whole])]
        frame[f"{name}_low"], frame[f"{name}_high"] = np.array([wilson(*row, confidence) for row in zip(frame[name], frame[whole])]).T
        target = frame["target"] if name == "agreement" else pd.Series(TARGETS[name], frame.index).where(gold)
        frame[f"{name}_met"] = (frame[name] >= target - 1e-9).astype("boolean").mask(target.isna() | frame[name].isna())
    frame["found"] = [_ratio(*row) for row in zip(frame["pointed"], frame["named"])]
    frame["found"] = frame["found"].mask(frame["target"].notna(), 1 - frame["unseen"] / frame["texts"])
    paper = select(read_csv(PAPER), section="Table 2")
    paper = paper.assign(value=paper["value"].astype(float) / 100).pivot(index="language", columns="quantity", values="value").reset_index()
    paper = pd.DataFrame({"language": paper["language"].str.lower(), "detector": "the paper’s pipeline", "stage": "its own texts",
                          "accuracy": paper["gender_accuracy"], "found": paper["occupation_accuracy"]})
    frame = pd.concat([frame, paper], ignore_index=True).sort_values("language", kind="stable", ignore_index=True)
    columns = ["language", "detector", "stage", "gendered", "not_clear", "n_answered", "right", "recognised",
               *(f"{n}{e}" for n in parts for e in ("", "_low", "_high", "_met")), "target", "baseline", "found"]
    return frame[columns], _printed_accuracy(frame)


def _agreement(counts):
    return (counts["right"] + counts["recognised"]) / (counts["gendered"] + counts["not_clear"])


def _printed_accuracy(frame):
    names = {"accuracy": "right where it answers", "answered": "answered", "not_clear_recall": "not clear recognised"}
    agreement = [_judged(*row) for row in zip(*(frame[f"agreement{e}"] for e in ("", "_low", "_high", "_met")), frame["target"])]
    return pd.DataFrame({
        "Language": [language_name(c) for c in frame["language"]], "Detector": frame["detector"], "stage": frame["stage"],
        "texts": [ABSENT if pd.isna(n) else str(int(n)) for n in frame["texts"]],
        **{f"{names[n]} % (≥ {100 * TARGETS[n]:g})": [
            _judged(*row) for row in zip(*(frame[f"{n}{e}"] for e in ("", "_low", "_high", "_met")))] for n in names},
        "agrees with the label %": agreement, "first article alone agrees %": [fixed(100 * v, 1) for v in frame["baseline"]],
        "occupation found %": [fixed(100 * v, 1) for v in frame["found"]]})


def _judged(value, low, high, met, target=np.nan):
    if pd.isna(value):
        return ABSENT
    limits = "" if pd.isna(low) else f" {interval(100 * low, 100 * high, 1)}"
    wanted = "" if pd.isna(target) else f" ≥ {100 * target:g}"
    return f"{fixed(100 * value, 1)}{limits}{wanted}" + ("" if pd.isna(met) else " met" if met else " missed")


def detector_sentence(frame, language):
    """What the newest measurement of the lexicon detector on gold texts says of one language, and its sanity checks, in words.

    Parameters
    ----------
    frame : DataFrame
        From `detector_accuracy`.
    language : str

    Raises
    ------
    InputError
        If the detector was not measured in this language.
    """
    gold = frame[(frame["detector"] == "lexicon") & frame["target"].isna()]
    own = gold[gold["language"] == language]
    if not len(own):
        known = ", ".join(dict.fromkeys(gold["language"]))
        raise InputError(f"no accuracy of the detector for {language!r}", path=MEASURED, hint=f"Measured languages: {known}")
    row = own.iloc[-1]
    parts = [(f"of the {int(row['gendered'])} masculine and feminine gold texts it answers", "answered"), ("it is right in", "accuracy"),
             (f"and of the {int(row['not_clear'])} texts that do not tell it recognises", "not_clear_recall")]
    told = [f"{start} {fixed(100 * row[name], 1)} % ({100 * TARGETS[name]:g} % wanted: {_verdict(row[f'{name}_met'])})"
            for start, name in parts]
    met = sum(_verdict(row[f"{name}_met"]) == "met" for name in TARGETS)
    checks = frame[(frame["detector"] == "lexicon") & (frame["language"] == language) & frame["target"].notna()]
    checked = [f"{r.stage.removeprefix(SANITY_CHECK)} {fixed(100 * r.agreement, 1)} % ({100 * r.target:g} % wanted: "
               f"{_verdict(r.agreement_met)}; the word was found in {fixed(100 * r.found, 1)} %)" for r in checks.itertuples()]
    end = f" Sanity checks, agreement with the label: {'; '.join(checked)}." if checked else ""
    return (f"**Lexicon detector, {language_name(language)}** (stage *{row['stage']}*): {told[0]}, where it answers {told[1]}, {told[2]}. "
            f"Targets met: {met} of {len(TARGETS)}.{end}")


def _verdict(met):
    return "not measured" if pd.isna(met) else "met" if met else "missed"


def detector_misses(language=""):
    """What the lexicon detector misses, by language and kind of text.

    A text counts in every column that fits it: where the word for the person was not found, the gender can still be wrong or missing.

    Parameters
    ----------
    language : str
        Empty: all languages.

    Returns
    -------
    frame : DataFrame
        language, sample, kind (of text; all: the sample as a whole), gendered, not_clear (texts by label), not_found (the word that the
        gold names was not pointed at; sanity checks: no word for the person found), wrong_gender, answered_though_not_clear, not_answered
        (though told).
    printed : DataFrame
    """
    counts = select(measured(), detector="lexicon", **({"language": language} if language else {}))
    kind = counts["part"].mask(counts["sample"] == "WiBeMT", counts["system"])
    by = ["language", "sample", "kind"]
    both = pd.concat([counts.assign(kind=kind), counts.assign(kind="all")])
    frame = tally(both, by)
    several = frame.groupby(by[:2])["kind"].transform("size") > 2
    frame = frame[several | (frame["kind"] != "all")]
    order = list(dict.fromkeys(counts["sample"]))
    frame = frame.sort_values("sample", key=lambda c: c.map(order.index), kind="stable").sort_values("language", kind="stable")
    named = frame["named"] > 0
    frame = pd.DataFrame({**frame[[*by, "gendered", "not_clear"]],
                          "not_found": (frame["named"] - frame["pointed"]).where(named, frame["unseen"]),
                          "wrong_gender": frame["n_answered"] - frame["right"],
                          "answered_though_not_clear": frame["not_clear"] - frame["recognised"],
                          "not_answered": frame["gendered"] - frame["n_answered"]}).reset_index(drop=True)
    checked = frame["sample"].isin(SANITY)
    printed = pd.DataFrame({
        "Language": [language_name(c) for c in frame["language"]], "texts of": np.where(checked, SANITY_CHECK, "") + frame["sample"],
        "kind": frame["kind"].str.replace("_", " "), "masculine or feminine": frame["gendered"].astype(str),
        "not clear": frame["not_clear"].astype(str), "occupation not found": frame["not_found"].astype(str),
        "wrong gender": frame["wrong_gender"].astype(str), "answered though not clear": frame["answered_though_not_clear"].astype(str),
        "not answered though told": frame["not_answered"].astype(str)})
    return frame, printed


def missed_occupations(language, most=12, path=None):
    """The occupations behind most misses of the lexicon detector in the sanity checks of a language.

    Parameters
    ----------
    language : str
    most : int
        How many rows.
    path : Path, optional
        Default: `MISSED`.

    Returns
    -------
    printed : DataFrame
        Every text in one column; most misses first, ties in the order of the file.
    left : str
        How many misses the other occupations have.
    """
    columns = {"not_found": "not found", "wrong_gender": "wrong gender", "not_answered": "found, not answered though told",
               "answered_though_not_clear": "answered though not clear"}
    frame = select(read_csv(MISSED if path is None else path), language=language)
    missed = frame[list(columns)].astype(int).sum(axis=1)
    frame = frame.loc[missed.sort_values(ascending=False, kind="stable").index[:most]].replace({"isco": {"": ABSENT}})
    printed = frame.drop(columns="language").rename(columns={"sample": "texts of", "isco": "ISCO", **columns})
    others = missed.drop(frame.index)
    return printed.reset_index(drop=True), f"{len(others)} more occupations have {others.sum()} of {missed.sum()} misses."


def calibration(language, path=CALIBRATION):
    """Rows of the calibration file of a language; empty where there is none."""
    if not path.is_file():
        return pd.DataFrame()
    frame = pd.read_csv(path)
    return frame[frame["language"] == language].reset_index(drop=True)


# Table 3 and what goes with it

def _counted(results):
    if not len(results.system_runs):
        raise InputError("the study has no gender counts", path=results.study.path,
                         hint="Name files of counts (gender_counts: [file.csv]) or translations (add_translations: {mine: {path: folder}})")
    return results.system_runs


def marked(values, groups):
    """Which values are the highest (bold) and the lowest (underlined) of their group.

    Parameters
    ----------
    values : Series of float
    groups : list of Series
        What is compared with what.

    Returns
    -------
    Series of str
        "**", "<u>" or "": Ties share their mark; a group whose values are all the same has none, as has a missing value.
    """
    seen = values.round(9).groupby(groups)
    high, low = seen.transform("max"), seen.transform("min")
    same = values.round(9)
    return pd.Series(np.where(high == low, "", np.where(same == high, "**", np.where(same == low, "<u>", ""))), index=values.index)


def _mark(text, mark):
    return f"{mark}{text}{mark.replace('<', '</')}"


def table3(results, steered=False):
    """Table 3: nGPD of every run with its interval, and the share of texts that do not tell.

    Parameters
    ----------
    results : Results
    steered : bool
        The subsets whose added words steer gender, instead of the others.

    Returns
    -------
    frame, printed : DataFrame
        By source, language and subset, so that runs of the same texts into one language stand together; the highest nGPD of these is bold
        in print, the lowest underlined.
    """
    frame = _counted(results)
    frame = frame[frame["subset"].isin(STEERED) == steered]
    order = np.lexsort([pd.factorize(frame["subset"])[0], pd.factorize(frame["language"], sort=True)[0], pd.factorize(frame["source"])[0]])
    frame = frame.iloc[order].reset_index(drop=True)
    texts = frame[["n_masculine", "n_feminine", "n_not_clear"]].sum(axis=1)
    by = [frame["source"], frame["subset"], frame["language"]]
    m, f = (marked(frame[f"ngpd_{side}"], by) for side in ("masculine", "feminine"))
    printed = pd.DataFrame({
        "System": frame["system"], "Texts of": frame["source"] + ", " + frame["subset"] if steered else texts_of(frame),
        "Language": [language_name(c) for c in frame["language"]], "texts": texts.astype(str),
        "unit groups": frame["unit_groups"].astype(str),
        "not clear %": [fixed(100 * _ratio(n, t), 1) for n, t in zip(frame["n_not_clear"], texts)],
        "nGPD masculine": [_mark(fixed(v), k) + (f" {text}" if text != ABSENT else "") for v, k, text in
                           zip(frame["ngpd_masculine"], m, limits(frame))],
        "nGPD feminine": [_mark(fixed(v), k) for v, k in zip(frame["ngpd_feminine"], f)], "interval": frame["interval"].replace("", ABSENT),
        "note": frame["note"]})
    return frame, printed


def texts_of(frame):
    """Source of every row of a frame with source, system, language, subset; the subset too where the frame has several of a run."""
    several = frame.groupby(["source", "system", "language"])["subset"].transform("nunique") > 1
    return frame["source"].where(~several, frame["source"] + ", " + frame["subset"])


def run_names(frame):
    """`DeepL DE (WiBeMT)` for every row of a frame with source, system, language, subset; see `texts_of`."""
    return [f"{system} {language.upper()} ({source})" for system, language, source in
            zip(frame["system"], frame["language"], texts_of(frame))]


def majors(results):
    """nGPD against 0.5 by ISCO-08 major group, one column a run (and subset, where it has several)."""
    frame = results.system_groups
    frame = frame[(frame["reference_kind"] == "normative") & (frame["level"] == 1)].reset_index(drop=True)
    frame = frame.assign(title=[isco.title(g) for g in frame["group"]], run=run_names(frame))
    wide = frame.assign(cell=_estimates(frame)).pivot(index=["group", "title"], columns="run", values="cell").fillna(ABSENT)
    return frame, wide[list(dict.fromkeys(frame["run"]))].reset_index().rename(columns={"group": "ISCO", "title": "Major group"})


def levels(groups):
    """nGPD against 0.5 at ISCO levels 1 to 4 of one or more runs: pooled over texts (micro), and as a mean over groups (macro).

    Parameters
    ----------
    groups : DataFrame
        Rows of system_groups.

    Returns
    -------
    frame, printed : DataFrame
        A row a run and level: groups (with a text), gendered (with a gendered text), masculine, even, feminine (gendered groups by the sign
        of nGPD), always_masculine, always_feminine (nGPD 1 and -1), micro, macro (mean of the gendered groups' nGPD), lowest, highest.
    """
    frame = groups[groups["reference_kind"] == "normative"]
    rows = []
    for (source, system, language, subset, level), own in frame.groupby(["source", "system", "language", "subset", "level"], sort=False):
        v = own["ngpd_masculine"].dropna().round(12)
        m, f = own["masculine"].sum(), own["feminine"].sum()
        rows.append({"system": system, "language": language, "source": source, "subset": subset, "level": level, "groups": len(own),
                     "gendered": len(v), "masculine": (v > 0).sum(), "even": (v == 0).sum(), "feminine": (v < 0).sum(),
                     "always_masculine": (v == 1).sum(), "always_feminine": (v == -1).sum(),
                     "micro": representation.ngpd(_ratio(m, m + f), representation.NORMATIVE).item(),
                     "macro": v.mean(), "lowest": v.min(), "highest": v.max()})
    table = pd.DataFrame(rows, columns=["system", "language", "source", "subset", "level", "groups", "gendered", "masculine", "even",
                                        "feminine", "always_masculine", "always_feminine", "micro", "macro", "lowest", "highest"])
    counts = {name: [str(n) for n in table[key]] for name, key in (
        ("groups", "groups"), ("with gendered text", "gendered"), ("masculine side", "masculine"), ("even", "even"),
        ("feminine side", "feminine"), ("always masculine", "always_masculine"), ("always feminine", "always_feminine"))}
    printed = pd.DataFrame({"Run": run_names(table), "ISCO level": table["level"].astype(str), **counts,
                            "nGPD pooled": [fixed(v) for v in table["micro"]], "mean of groups": [fixed(v) for v in table["macro"]],
                            "range": [f"{fixed(a)} to {fixed(b)}" if pd.notna(a) else ABSENT for a, b in
                                      zip(table["lowest"], table["highest"])]})
    return table, printed


# Table 4: the register

def register(results):
    """Table 4: the systems behind the counted runs.

    Published outputs stand in `data/gender_counts/systems.csv`, with what their sources state; systems whose translations the study holds
    tell it by their cards. What is not stated is empty.

    Returns
    -------
    frame, printed : DataFrame
        source, system, languages, developer, version, output_date, link, licence, labelled, stated_in.
    """
    runs = _counted(results)[["source", "system", "language"]].drop_duplicates()
    languages = runs.groupby(["source", "system"], sort=False)["language"].agg(lambda codes: " ".join(sorted(codes)))
    known = read_csv(REGISTER).set_index(["source", "system"])
    cards = {system.label: system.card for system in results.study.translations.values()}
    rows = []
    for (source, system), codes in languages.items():
        row = {"source": source, "system": system, "languages": codes}
        if source == results.study.pairs.name and system in cards:
            row |= _card_facts(cards[system], results, system)
        elif (source, system) in known.index:
            row |= known.loc[(source, system)].to_dict()
        rows.append(row)
    columns = ["source", "system", "languages", *known.columns]
    frame = pd.DataFrame([{c: row.get(c, "") for c in columns} for row in rows], columns=columns)
    names = {"source": "Texts of", "system": "System", "languages": "Languages", "developer": "Developer", "version": "Version",
             "output_date": "Date of output", "link": "Link", "licence": "Licence", "labelled": "How labelled", "stated_in": "Stated in"}
    return frame, frame.rename(columns=names).replace("", ABSENT)


def _card_facts(card, results, system):
    """A card in the columns of the register."""
    made = results.genders.loc[results.genders["system"] == system, "detector"]
    return {"developer": card.get("developer", ""), "version": card.get("version", ""), "output_date": card.get("date", ""),
            "link": card.get("link", ""), "licence": card.get("licence", ""), "stated_in": "its card",
            "labelled": " and ".join(f"{d} detector" for d in sorted(set(made)))}


# Tables 7 and 8: text types

def shares(counts, *, replicates, seed, confidence):
    """Shares of the columns of a count matrix, with intervals.

    Parameters
    ----------
    counts : ndarray, shape (blocks, k)
        Texts of each block (occupation) by outcome.
    replicates, seed : int
    confidence : float

    Returns
    -------
    share, low, high : ndarray, shape (k,)
        Missing without a text.
    kind : str
        occupations (percentile interval of the bootstrap over blocks; from `MANY` blocks with a text), texts (Jeffreys), or empty.
    """
    counts = np.asarray(counts, float)
    counts = counts[counts.sum(axis=1) > 0]
    sums, n = counts.sum(axis=0), counts.sum()
    if not n:
        return (*np.full((3, counts.shape[1]), np.nan), "")
    if len(counts) < MANY:
        return (sums / n, *jeffreys(sums, n, confidence), "texts")
    drawn = ratio_means(counts, np.repeat(counts.sum(axis=1, keepdims=True), counts.shape[1], axis=1),
                        resample_counts(len(counts), replicates, seed))
    return (sums / n, *percentile_interval(drawn, confidence), "occupations")


def text_types(results, genders=None):
    """Tables 7 and 8: shares of masculine, feminine and not clear translations by text type, of the systems labelled by this project.

    Parameters
    ----------
    results : Results
    genders : DataFrame, optional
        system, language, isco, text_type, gender (masculine, feminine, not_clear, excluded); default: all of the study.

    Returns
    -------
    frame, printed : DataFrame
        A row a run and text type, and one for all types; shares (fractions) are of the texts that are not excluded. Empty without labels.
    """
    genders = results.genders if genders is None else genders
    given, rows = _bootstrap(results.study), []
    for (system, language), own in genders.groupby(["system", "language"], sort=False):
        for kind in [*(t for t in TEXT_TYPES if t in set(own["text_type"])), "all"]:
            part = own if kind == "all" else own[own["text_type"] == kind]
            counts = pd.crosstab(part["isco"], part["gender"]).reindex(columns=SHOWN, fill_value=0)
            value, low, high, how = shares(counts.to_numpy(), **given)
            rows.append({"system": system, "language": language, "text_type": kind, "texts": int(counts.to_numpy().sum()),
                         "excluded": int((part["gender"] == "excluded").sum()),
                         **{f"{g}{e}": x[k] for k, g in enumerate(SHOWN) for e, x in (("", value), ("_low", low), ("_high", high))},
                         "interval": how})
    columns = ["system", "language", "text_type", "texts", "excluded",
               *(f"{g}{e}" for g in SHOWN for e in ("", "_low", "_high")), "interval"]
    frame = pd.DataFrame(rows, columns=columns)
    printed = pd.DataFrame({
        "System": frame["system"], "Language": [language_name(c) for c in frame["language"]], "Text type": frame["text_type"],
        "texts": frame["texts"].astype(str),
        **{f"{g.replace('_', ' ')} %": [ABSENT if pd.isna(v) else f"{fixed(100 * v, 1)} {text}" for v, text in zip(
            frame[g], limits(frame, f"{g}_low", f"{g}_high", g, 100, 1))] for g in SHOWN},
        "excluded": frame["excluded"].astype(str), "interval": frame["interval"].replace("", ABSENT)})
    return frame, printed


# Table 9: both ends

def ends(groups, n=5):
    """The n most masculine and most feminine unit groups of one run.

    Parameters
    ----------
    groups : DataFrame
        Rows of system_groups of one run.
    n : int

    Returns
    -------
    DataFrame
        side, isco, title, ngpd (of the side), texts (gendered), tied. Fewer than n where the others are even or lie on the other side. Ties
        are ordered by the number of gendered texts, then by code; `tied` counts the unit groups that share value and number with the last
        one shown but are not.
    """
    own = groups[(groups["reference_kind"] == "normative") & (groups["level"] == 4) & groups["p_masculine"].notna()]
    own = own.assign(texts=own["masculine"] + own["feminine"])
    rows = []
    for side in ("masculine", "feminine"):
        column = f"ngpd_{side}"
        ordered = own.assign(same=own[column].round(9)).sort_values(["same", "texts", "group"], ascending=[False, False, True])
        ordered = ordered[ordered["same"] > 0]
        shown = ordered.head(n)
        tied = ordered.merge(shown.tail(1)[["same", "texts"]]).shape[0] - shown.merge(shown.tail(1)[["same", "texts"]]).shape[0]
        rows += [(side, row["group"], isco.title(row["group"]), row[column], int(row["texts"]), tied) for _, row in shown.iterrows()]
    return pd.DataFrame(rows, columns=["side", "isco", "title", "ngpd", "texts", "tied"])


def extremes(results, n=5):
    """Table 9: the most masculine and most feminine unit groups of every run; see `ends`.

    Returns
    -------
    frame, printed : DataFrame
        A run with several subsets has each of them, and the frame a column for it; runs without a group at either end are left out.
    """
    groups = results.system_groups.assign(label=texts_of(results.system_groups))
    keys = ["system", "language", "source", *(["subset"] if (groups["label"] != groups["source"]).any() else []), "label"]
    parts = [ends(own, n).assign(**dict(zip(keys, key))) for key, own in groups.groupby(keys, sort=False)]
    columns = [*keys, "side", "isco", "title", "ngpd", "texts", "tied"]
    frame = pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)
    rows = [(system, language_name(language), label, *(_listed(own[own["side"] == side]) for side in ("masculine", "feminine")))
            for (system, language, label), own in frame.groupby(["system", "language", "label"], sort=False)]
    return frame.drop(columns="label"), pd.DataFrame(rows, columns=[
        "System", "Language", "Texts of", "most masculine (nGPD masculine; texts)", "most feminine (nGPD feminine; texts)"])


def _listed(part):
    if not len(part):
        return ABSENT
    tied = part["tied"].iloc[0]
    return ", ".join(f"{t} ({fixed(v)}; {k})" for t, v, k in zip(part["title"], part["ngpd"], part["texts"])) + (
        f"; {tied} more tied with the last" if tied else "")


# Figure 2

def real_world(results, language, country=""):
    """Figure 2 as a table: share of masculine forms and of men at work, by two-digit group.

    Parameters
    ----------
    results : Results
    language : str
    country : str
        ISO 3166 code; empty: the language's own. Another one is measured here, not by `inference`.

    Returns
    -------
    frame, printed : DataFrame
        One row a run and group.

    Raises
    ------
    InputError
        If the language has no run or no country, or the country no labour figures.
    """
    country, frame = country or COUNTRIES.get(language, ""), results.system_groups
    if country != COUNTRIES.get(language, ""):
        frame = representation.group_table(select(results.gender_counts, language=language), representation.read_labour(),
                                           countries={language: country}, **_bootstrap(results.study))
    frame = select(frame, language=language, level=2, reference_kind=country)
    frame = frame.assign(title=[isco.title(g) for g in frame["group"]], run=run_names(frame), country=country)
    frame = frame[frame["ngpd_masculine"].notna()].reset_index(drop=True)
    if not len(frame):
        raise InputError(f"no gender counts of {language!r} with labour figures of {country or 'a country'}", path=results.study.path)
    printed = pd.DataFrame({
        "ISCO": frame["group"], "Group": frame["title"], "System": frame["run"],
        "texts": (frame["masculine"] + frame["feminine"]).astype(str),
        "masculine %": [fixed(100 * v, 1) for v in frame["p_masculine"]], "men at work %": [fixed(100 * v, 1) for v in frame["reference"]],
        "nGPD masculine": _estimates(frame), "interval": frame["interval"]})
    return frame, printed


def figure2_name(language, country=""):
    """File name of Figure 2, and whether it is of another country than the language's own: that one is no part of the committed tables.

    Examples
    --------
    >>> figure2_name("de"), figure2_name("de", "DEU"), figure2_name("de", "FRA")
    (('systems_figure2_de', False), ('systems_figure2_de', False), ('systems_figure2_de_fra', True))
    """
    other = country not in ("", COUNTRIES.get(language))
    return f"systems_figure2_{language}" + f"_{country.lower()}" * other, other


# one run: the audit card

@dataclass(frozen=True)
class Run:
    """One system in one language on one set of texts.

    Attributes
    ----------
    source, system, language, label : str
        Label for titles.
    row : Series
        Its row of system_runs (subsets that do not steer gender, pooled).
    groups, steered, genders : DataFrame
        Its rows of system_groups; rows of system_runs of the subsets that steer gender; its labelled texts (empty for published counts).
    facts : Series
        Its row of the register, as printed.
    about : str
        What the card of a system of the study's own translations says; empty for published counts.
    """

    source: str
    system: str
    language: str
    row: pd.Series
    groups: pd.DataFrame
    steered: pd.DataFrame
    genders: pd.DataFrame
    facts: pd.Series
    about: str = ""

    @property
    def label(self):
        return f"{self.system}, {language_name(self.language)} (texts of {self.source})"


def run(results, system, language, source=""):
    """Everything about one run.

    Parameters
    ----------
    results : Results
    system, language : str
    source : str
        Whose texts were translated; needed only where two sources have this system and language.

    Returns
    -------
    Run

    Raises
    ------
    InputError
        If there is no such run, or it is not told which of several.
    """
    rows = select(_counted(results), system=system, language=language)
    if source:
        rows = rows[rows["source"] == source]
    sources = list(dict.fromkeys(rows["source"]))
    if not sources:
        refused = select(results.runs, label=system, language=language, status="refused", kind="translations")
        if len(refused):
            raise InputError(refused.iloc[0]["problem"])
        known = ", ".join(run_names(results.system_runs.drop_duplicates(["source", "system", "language"])))
        raise InputError(f"no run of {system!r} in {language!r}{f' on texts of {source!r}' if source else ''}", path=results.study.path,
                         hint=f"Runs: {known}")
    if len(sources) > 1:
        raise InputError(f"{system!r} in {language!r} has texts of {' and of '.join(sources)}", path=results.study.path,
                         hint=f"Name one: source = {sources[0]!r}")
    source = sources[0]
    key = {"source": source, "system": system, "language": language}
    steered = rows["subset"].isin(STEERED)
    plain = rows[~steered] if not steered.all() else rows
    groups = select(results.system_groups, **key)
    if len(plain) == 1:
        row = plain.iloc[0]
    else:                                                     # several subsets are one run here: pooled, measured again
        given = _bootstrap(results.study)
        pooled = select(results.gender_counts, **key)
        pooled = pooled[pooled["subset"].isin(plain["subset"])].assign(subset=" + ".join(plain["subset"]))
        pooled = pooled.groupby([*representation.RUN, "occupation", "isco"], sort=False, as_index=False)[representation.COUNTS].sum()
        row = representation.system_table(pooled, **given).iloc[0]
        groups = representation.group_table(pooled, representation.read_labour(), **given)
    own = source == results.study.pairs.name                  # translations of the study's own texts, with a card
    genders = select(results.genders, system=system, language=language) if own else results.genders[:0]
    cards = {entry.label: entry.card for entry in results.study.translations.values()} if own else {}
    facts = select(register(results)[1], **{"Texts of": source, "System": system}).iloc[0]
    return Run(source, system, language, row, groups.reset_index(drop=True), rows[steered].reset_index(drop=True),
               genders.reset_index(drop=True), facts, cards.get(system, {}).get("description", ""))


def verdict(chosen, level):
    """What one run says, in sentences built from its numbers.

    Parameters
    ----------
    chosen : Run
    level : float
        Of the interval.
    """
    row = chosen.row
    m, f, silent, out = (int(row[f"n_{c}"]) for c in representation.COUNTS)
    told, left = m + f, f"{silent} do not tell and {out} are excluded" if out else f"{silent} do not tell"
    head = f"**{chosen.label}**"
    if not told:
        return f"{head}: none of {silent + out} translations tells the gender of the occupation ({left}); nothing can be measured."
    side = "masculine" if m > f else "feminine" if f > m else "neither"
    more = "the two forms are equally frequent" if side == "neither" else f"the {side} form is chosen more often than the other"
    inside = row["low"] <= 0 <= row["high"]
    text = (f"{head}: {more}. Of {told} translations that tell gender, {fixed(100 * row['p_masculine'], 1)} % are masculine ({m}) and "
            f"{fixed(100 * (1 - row['p_masculine']), 1)} % feminine ({f}); {left}. nGPD (masculine) = {fixed(row['ngpd_masculine'])} "
            f"({100 * level:g}% interval {fixed(row['low'])} to {fixed(row['high'])}, on {row['interval']})"
            + (", which holds 0: the side is not certain." if inside else "."))
    groups = _level(chosen, "normative", 4)
    if len(groups):
        v = groups["ngpd_masculine"].round(9)
        text += (f" Of {len(v)} unit groups with such a text, {(v == 1).sum()} are always masculine, {(v == -1).sum()} always feminine; "
                 f"{(v > 0).sum()} lie on the masculine side, {(v < 0).sum()} on the feminine one.")
    country = COUNTRIES.get(chosen.language)
    labour = _level(chosen, country, 2)
    if len(labour):
        above = (labour["p_masculine"] > labour["reference"]).sum()
        text += (f" In {above} of {len(labour)} two-digit groups with labour figures ({country}) the share of masculine forms is above "
                 "that of men at work.")
    return text + (f" Note: {row['note']}." if row["note"] else "")


def _level(chosen, kind, level):
    own = chosen.groups
    return own[(own["reference_kind"] == kind) & (own["level"] == level) & own["ngpd_masculine"].notna()]


def card(chosen, level):
    """The numbers of one run as a small table; the subsets that steer gender are rows of their own.

    Parameters
    ----------
    chosen : Run
    level : float
    """
    rows = [chosen.row, *(row for _, row in chosen.steered.iterrows() if row["subset"] != chosen.row["subset"])]
    lines = []
    for row, text in zip(rows, limits(pd.DataFrame(rows))):
        m, f, silent, out = (int(row[f"n_{c}"]) for c in representation.COUNTS)
        n = m + f + silent
        lines.append([row["subset"] + (" (steers gender)" if row["subset"] in STEERED else ""), str(n + out), str(m), str(f),
                      f"{silent} ({fixed(100 * _ratio(silent, n), 1)} %)", str(out), fixed(100 * row["p_masculine"], 1),
                      fixed(row["ngpd_masculine"]), text, row["interval"] or ABSENT])
    return pd.DataFrame(lines, columns=["Texts", "all", "masculine", "feminine", "not clear", "excluded", "masculine %", "nGPD",
                                        f"{100 * level:g}% interval", "on"])


def group_rows(chosen, level):
    """The groups of one ISCO level of a run, pooled over texts (micro) and as mean of unit groups (macro); against 0.5 and men at work.

    Parameters
    ----------
    chosen : Run
    level : int
        1 to 4.

    Returns
    -------
    frame : DataFrame
        group, title, the four counts, unit_groups, p_masculine, p_macro, ngpd_masculine, low, high, interval, ngpd_macro, reference
        (share of men at work; missing without labour figures), ngpd_labour, labour_low, labour_high.
    printed : DataFrame
    """
    own = chosen.groups[chosen.groups["level"] == level]
    frame, labour = (select(own, reference_kind=kind) for kind in ("normative", COUNTRIES.get(chosen.language, "-")))
    labour = labour.assign(against=_estimates(labour)).rename(columns={
        "ngpd_masculine": "ngpd_labour", "low": "labour_low", "high": "labour_high"})
    frame = frame.drop(columns="reference").merge(
        labour[["group", "reference", "ngpd_labour", "labour_low", "labour_high", "against"]], on="group", how="left")
    against, estimates = [x if isinstance(x, str) else ABSENT for x in frame["against"]], _estimates(frame)
    frame["ngpd_macro"] = representation.ngpd(frame["p_macro"], representation.NORMATIVE)
    frame.insert(0, "title", [isco.title(g) for g in frame["group"]])
    frame = frame[["group", "title", *representation.COUNTS, "unit_groups", "p_masculine", "p_macro", "ngpd_masculine", "low", "high",
                   "interval", "ngpd_macro", "reference", "ngpd_labour", "labour_low", "labour_high"]]
    printed = pd.DataFrame({
        "ISCO": frame["group"], "Group": frame["title"], "m / f": [f"{a} / {b}" for a, b in zip(frame["masculine"], frame["feminine"])],
        "not clear": frame["not_clear"].astype(str), "unit groups": frame["unit_groups"].astype(str),
        "nGPD, texts": estimates, "mean of unit groups": [fixed(v) for v in frame["ngpd_macro"]],
        "interval": frame["interval"].replace("", ABSENT)})
    if frame["reference"].notna().any():
        printed["men at work %"] = [fixed(100 * v, 1) for v in frame["reference"]]
        printed["nGPD against them"] = against
    return frame, printed


def labour_note(chosen):
    """How many two-digit groups of a run have a labour reference, in words."""
    country, frame = COUNTRIES.get(chosen.language), group_rows(chosen, 2)[0]
    if not len(frame):
        return "No occupation of this run has an ISCO group."
    if country is None or not frame["reference"].notna().any():
        return f"No employment by ISCO-08 group and sex goes with {language_name(chosen.language)}: against an even split only."
    return f"{frame['ngpd_labour'].notna().sum()} of {len(frame)} groups have gendered text and labour figures ({country})."


def strip_frame(chosen):
    """What `figures.strip` shows of a run: its major groups and unit groups against 0.5.

    Returns
    -------
    DataFrame
        level (1, 4), group, major, title, texts (gendered), ngpd, low, high.
    """
    own = chosen.groups[(chosen.groups["reference_kind"] == "normative") & chosen.groups["level"].isin([1, 4])]
    return pd.DataFrame({"level": own["level"], "group": own["group"], "major": own["group"].str[0],
                         "title": [isco.title(g) for g in own["group"]], "texts": own["masculine"] + own["feminine"],
                         "ngpd": own["ngpd_masculine"], "low": own["low"], "high": own["high"]}).reset_index(drop=True)


def printed_ends(chosen, n=5):
    """Both ends of a run as a table, with the ties that were cut."""
    frame = ends(chosen.groups, n)
    printed = pd.DataFrame({"Side": frame["side"], "ISCO": frame["isco"], "Unit group": frame["title"], "nGPD of the side":
                            [fixed(v) for v in frame["ngpd"]], "texts": frame["texts"].astype(str)})
    cut = frame.drop_duplicates("side")
    cut = [f"{row.tied} more unit groups tie with the last {row.side} one" for row in cut.itertuples() if row.tied]
    return frame, printed, "; ".join(cut) + "." if cut else "No unit group is left out by a tie."


def examples(chosen, n=3, seed=7):
    """Some translations of each outcome with the detected term underlined, as HTML.

    Parameters
    ----------
    chosen : Run
    n, seed : int
        How many a gender, drawn at random with this seed.

    Returns
    -------
    str
        Empty for published counts, whose texts are not here.
    """
    rows = []
    for gender in data.GENDERS:
        own = select(chosen.genders, gender=gender)
        if not len(own):
            continue
        title = f"{gender.replace('_', ' ')} ({len(own)} text{'s' * (len(own) != 1)})"
        rows.append(f'<tr><th colspan=3 style="text-align:left">{title}</th></tr>')
        for row in own.sample(min(n, len(own)), random_state=seed).sort_values("segment_id").itertuples():
            start, end = int(row.start), int(row.end)
            term = f"<ins>{html.escape(row.text[start:end])}</ins>" if end > start else ""
            rows.append(f"<tr>{_cell(html.escape(row.occupation))}{_cell(html.escape(row.source))}"
                        f"{_cell(html.escape(row.text[:start]) + term + html.escape(row.text[end:]), row.language)}</tr>")
    return f"<table>{''.join(rows)}</table>" if rows else ""
