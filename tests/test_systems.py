"""Tables of the systems paper: lengths, detector, marks, register, shares, ends, one run's card, and the strip of unit groups."""

import dataclasses
import json
import re
import statistics
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from conftest import write
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx
from scipy import stats

from mtgender import data, figures, isco, systems, tables
from mtgender import representation as rp
from mtgender.study import ROOT, InputError, load

CODES = isco.unit_groups()
STUDY = load("occupairs")
LABOUR = rp.read_labour()
GENDERS = ["masculine", "feminine", "not_clear", "excluded"]


def counts(*rows):
    """Rows (source, system, language, subset, isco, masculine, feminine, not_clear, excluded) as a counts frame."""
    frame = pd.DataFrame([(*row[:4], f"o{i}", *row[4:]) for i, row in enumerate(rows)], columns=data.GENDER_COUNTS)
    return frame.astype(dict.fromkeys(GENDERS, int))


def results(frame, genders=(), study=STUDY, replicates=200, grouped=True):
    """What notebooks get, of counts alone; the groups are the slow part."""
    study = dataclasses.replace(study, replicates=replicates)
    given_ = {"replicates": replicates, "seed": study.seed, "confidence": study.level}
    labels = pd.DataFrame(genders, columns=["system", "language", "segment_id", "isco", "text_type", "occupation", "source", "text", "term",
                                            "start", "end", "found_isco", "gender", "detector"])
    runs = pd.DataFrame(columns=["kind", "system", "label", "language", "status", "problem"])
    return SimpleNamespace(study=study, gender_counts=frame, system_runs=rp.system_table(frame, **given_), genders=labels, runs=runs,
                           system_groups=rp.group_table(frame, LABOUR, **given_) if grouped else None)


ONE = [("WiBeMT", "DeepL", "de", "s", "7126", 3, 1, 2, 1), ("WiBeMT", "DeepL", "de", "s", "2221", 1, 3, 0, 0)]


# lengths

def test_lengths_by_hand():
    texts = pd.Series(["a bb", "ccc", "d  e f", "gg"])
    table = systems.lengths(texts, pd.Series(["report", "statement", "report", "conversation"])).set_index("text_type")
    assert list(table.index) == ["statement", "report", "conversation", "all"] and list(table["texts"]) == [1, 2, 1, 4]
    assert table.loc["report", "characters"] == 5 and table.loc["report", "characters_sd"] == approx(2 ** 0.5)
    assert table.loc["report", "words"] == 2.5 and table.loc["all", "words"] == approx(7 / 4)
    assert np.isnan(table.loc["statement", "words_sd"])                                               # one text has no spread


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(["story", "report"]), st.text("ab \u0301", max_size=9)), min_size=2, max_size=20))
def test_lengths_are_those_of_python(rows):
    kinds, texts = (pd.Series(x) for x in zip(*rows))
    table = systems.lengths(texts, kinds).set_index("text_type")
    for name in table.index:
        own = [t for k, t in rows if name in (k, "all")]
        for column, size in (("characters", [len(t) for t in own]), ("words", [len(t.split()) for t in own])):
            assert table.loc[name, column] == approx(statistics.mean(size), abs=1e-12)
            assert len(own) < 2 or table.loc[name, f"{column}_sd"] == approx(statistics.stdev(size), abs=1e-9)
    assert table.loc["all", "texts"] == len(rows)


def test_the_papers_lengths():
    assert systems.paper_lengths(1).loc["Short statement"].tolist() == [132.42, 24.96, 20.57, 3.76]
    assert systems.paper_lengths(6).loc["Short story", "words_sd"] == 11.2 and len(systems.paper_lengths(5)) == 5


def test_benchmark_stands_beside_the_paper():
    pairs = pd.DataFrame({"segment_id": ["a", "b", "a"], "text_type": ["report", "statement", "report"], "source": ["x y", "z", "x y"]})
    frame, printed = systems.benchmark(SimpleNamespace(pairs=pairs))
    printed = printed.set_index("Text type")
    assert list(printed.index) == ["statement", "report", "conversation", "presentation", "story", "all"]
    assert list(printed.loc["report"]) == ["1", "3.00 ± –", "2.00 ± –", "537.87 ± 90.35", "85.66 ± 14.74"]
    assert list(printed.loc["story"])[:3] == ["–"] * 3 and list(printed.loc["all"]) == ["2", "2.00 ± 1.41", "1.50 ± 0.71", "–", "–"]
    assert "paper" not in frame


def test_target_lengths_hold_the_languages_of_pairs_and_of_translations():
    pairs = data.read_pairs(STUDY.pairs, "el").assign(language="el")
    study = dataclasses.replace(STUDY, languages=("el",))
    frame, printed = systems.target_lengths(SimpleNamespace(pairs=pairs, study=study))
    assert list(dict.fromkeys(frame["language"])) == ["el", "fr"] and len(printed) == len(frame) == 12     # Spanish has no pairs
    row = frame[(frame["language"] == "el") & (frame["text_type"] == "report")].iloc[0]
    own = pairs[pairs["text_type"] == "report"]
    assert row["feminine_characters"] == approx(own["feminine"].str.len().mean()) and row["paper_characters"] == 457.93
    french = frame[(frame["language"] == "fr") & (frame["text_type"] == "statement")].iloc[0]
    assert french["paper_words"] == 23.21 and french["masculine_words"] != french["paper_words"]


# the detector

@given(st.integers(1, 300), st.data())
def test_wilson_by_its_formula(n, draw):
    k = draw.draw(st.integers(0, n))
    z, p = stats.norm.ppf(0.975), k / n
    centre, half = p + z * z / 2 / n, z * (p * (1 - p) / n + z * z / 4 / n / n) ** 0.5
    assert systems.wilson(p, n) == approx(((centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)), abs=1e-9)
    assert np.isnan(systems.wilson(p, 0)).all() and np.isnan(systems.wilson(np.nan, n)).all()


def test_llm_agreement_by_hand(tmp_path):
    path = write(tmp_path / "agreement.csv", "system,language,subset,human,llm,n", "Google,de,base,M,M,6", "Google,de,base,M,F,2",
                 "Google,de,base,F,error,1", "Google,de,base,F,N,1", "Google,de,their,N,M/F,1", "Google,de,base,N,N,2",
                 "Google,de,base,N,M,5", "Google,de,base,error [mixed],M,9",
                 "GPT-4o,de,adjectives,M,F,99", "DeepL,de,adjectives,F,F,4", "Google,el,base,F,F,3")
    table = systems.llm_agreement(path).set_index(["language", "stage"])
    row = table.loc[("de", "GENDEROUS, base and their")]
    assert row.to_dict() == {"gendered": 10, "n_answered": 8, "right": 6, "not_clear": 8, "recognised": 3}
    steered = table.loc[("de", "GENDEROUS, adjectives")]
    assert steered["gendered"] == steered["right"] == 4 and steered["not_clear"] == 0       # GPT-4o's labels of its own are left out


def test_gold_sizes_are_those_of_the_gold_texts():
    for path in sorted((ROOT / "tests" / "gold").glob("*.tsv")):
        genders = data.read_tsv(path, ["id", "isco", "kind", "gender", "source", "term", "text"])["gender"]
        assert {"gendered": (genders != "not_clear").sum(), "not_clear": (genders == "not_clear").sum()} == systems.GOLD, path.name


COUNTED = "language,detector,sample,part,system,label,texts,masculine,feminine,not_clear,not_found,named,found"


@pytest.fixture
def counted(tmp_path, monkeypatch):
    """A first measurement and counts of German and French texts in place of the committed ones."""
    rows = ["de,lexicon,gold,plain,,masculine,60,55,2,1,2,60,50", "de,lexicon,gold,clumsy,,feminine,40,0,38,2,0,40,39",
            "de,lexicon,gold,plain,,not_clear,20,1,1,10,8,20,17", "de,lexicon,fresh,plain,,masculine,10,9,0,1,0,10,10",
            "de,lexicon,OccuPairs,report,,masculine,100,97,0,1,2,0,0",
            "de,lexicon,GENDEROUS,base,Google,masculine,10,9,0,0,1,0,0", "de,lexicon,GENDEROUS,base,DeepL,feminine,10,0,10,0,0,0,0",
            "de,lexicon,GENDEROUS,base,DeepL,not_clear,4,0,1,2,1,0,0", "de,lexicon,GENDEROUS,base,DeepL,excluded,7,7,0,0,0,0,0",
            "de,first-word,gold,plain,,masculine,60,30,20,0,10,0,0", "de,first-word,GENDEROUS,base,Google,masculine,10,10,0,0,0,0,0",
            "fr,lexicon,gold,plain,,masculine,10,9,1,0,0,10,10"]
    monkeypatch.setattr(systems, "MEASURED", write(tmp_path / "measured.csv", COUNTED, *rows))
    monkeypatch.setattr(systems, "ACCURACY", write(tmp_path / "accuracy.csv", "language,stage,accuracy,answered,not_clear_recall,found",
                                                   "de,blind,0.949,0.881,0.909,0.800", "de,final,0.1,0.1,0.1,0.1"))


@pytest.mark.usefixtures("counted")
def test_detector_accuracy_judges_the_lexicon_alone():
    frame, printed = systems.detector_accuracy()
    own = frame[(frame["detector"] == "lexicon") & (frame["language"] == "de")].set_index("stage")
    assert list(own.index) == ["blind", "final", "fresh", "sanity check: OccuPairs’ own variants", "sanity check: GENDEROUS, base"]
    gold = [f"{n}_met" for n in systems.TARGETS]
    assert own.loc["blind", ["gendered", "n_answered", "right", "recognised"]].tolist() == [134, 118, 112, 60]
    assert own.loc["blind", gold].tolist() == [False, False, True]
    final = own.loc["final"]
    assert final[["gendered", "not_clear", "n_answered", "right", "recognised"]].tolist() == [100, 20, 95, 93, 18]
    assert final[["accuracy", "answered", "not_clear_recall", "agreement", "found"]].tolist() == approx(
        [93 / 95, 0.95, 0.9, 111 / 120, 106 / 120])
    assert final[gold].tolist() == [True] * 3 and final["accuracy_low"] == approx(systems.wilson(93 / 95, 95)[0])
    assert pd.isna(final["agreement_met"]) and final["baseline"] == approx(30 / 60)
    assert pd.isna(own.loc["fresh", "not_clear_recall"]) and pd.isna(own.loc["fresh", "not_clear_recall_met"])
    check = own.loc["sanity check: GENDEROUS, base"]                                                 # the excluded texts are left out
    assert check[["gendered", "not_clear", "right", "recognised", "target", "baseline"]].tolist() == [20, 4, 19, 3, 0.95, 1]
    assert check["agreement"] == approx(22 / 24) and not check["agreement_met"] and check["found"] == approx(22 / 24)
    assert own.loc["sanity check: OccuPairs’ own variants", "agreement_met"] and own.iloc[3:][gold].isna().all().all()
    others = frame[frame["detector"] != "lexicon"]
    assert others[[c for c in frame if c.endswith("_met")]].isna().all().all() and others["baseline"].isna().all()
    assert set(others["detector"]) == {"first article or pronoun", "GPT-4o", "the paper’s pipeline"}
    text = printed[(frame["stage"] == "final") & (frame["language"] == "de")].iloc[0]
    assert text["right where it answers % (≥ 95)"].endswith(" met") and text["answered % (≥ 90)"].startswith("95.0 [")
    assert text["agrees with the label %"].endswith("]")
    text = printed[frame["stage"].str.startswith("sanity")]["agrees with the label %"]
    assert text.str.endswith("≥ 97 met").tolist() == [True, False] and text.str.endswith("≥ 95 missed").tolist() == [False, True]
    assert not printed[frame["detector"] != "lexicon"].apply(lambda row: row.str.contains("met|missed").any(), axis=1).any()


@pytest.mark.usefixtures("counted")
def test_detector_sentence_reads_the_newest_gold_and_the_checks():
    frame, _ = systems.detector_accuracy()
    sentence = systems.detector_sentence(frame, "de")
    assert "*fresh*" in sentence and "Targets met: 2 of 3." in sentence and "(90 % wanted: not measured)" in sentence
    assert "GENDEROUS, base 91.7 % (95 % wanted: missed; the word was found in 91.7 %)" in sentence
    sentence = systems.detector_sentence(frame, "fr")
    assert "*final*" in sentence and "(95 % wanted: missed)" in sentence and "Sanity" not in sentence
    with pytest.raises(InputError, match="no accuracy of the detector for 'nl'.*Measured languages: de, fr"):
        systems.detector_sentence(frame, "nl")


@pytest.mark.usefixtures("counted")
def test_misses_by_hand():
    frame, printed = systems.detector_misses("de")
    rows = frame.set_index(["sample", "kind"]).drop(columns="language")
    assert list(rows.index) == [("gold", "plain"), ("gold", "clumsy"), ("gold", "all"), ("fresh", "plain"), ("OccuPairs", "report"),
                                ("GENDEROUS", "base")]
    assert rows.loc[("gold", "plain")].tolist() == [60, 20, 13, 2, 2, 3]      # 50 of 60 and 17 of 20 words pointed at
    assert rows.loc[("gold", "all")].tolist() == [100, 20, 14, 2, 2, 5]
    assert rows.loc[("GENDEROUS", "base")].tolist() == [20, 4, 2, 0, 1, 1]
    assert len(printed) == len(frame) and list(printed["texts of"].iloc[[0, -1]]) == ["gold", "sanity check: GENDEROUS"]
    assert set(systems.detector_misses()[0]["language"]) == {"de", "fr"} and not len(systems.detector_misses("nl")[1])


def test_counts_that_do_not_add_up_are_refused(tmp_path):
    path = write(tmp_path / "measured.csv", COUNTED, "de,lexicon,gold,plain,,masculine,2,2,0,0,0,2,2",
                 "de,lexicon,gold,plain,,feminine,3,2,0,0,0,3,3")
    with pytest.raises(InputError, match=r"do not add up.*measure\.py") as caught:
        systems.measured(path)
    assert caught.value.line == 3


@settings(max_examples=50)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(GENDERS), st.sampled_from(systems.ANSWERS), st.booleans(), st.booleans()),
                min_size=1, max_size=40))
def test_tally_by_single_texts(texts):
    rows = pd.DataFrame([{"k": k, "label": label, "texts": 1, "named": int(n), "found": int(n and f),
                          **{a: int(a == said) for a in systems.ANSWERS}} for k, label, said, n, f in texts])
    table = systems.tally(rows, ["k"]).set_index("k")
    for k in "ab":
        own = [t[1:] for t in texts if t[0] == k and t[1] != "excluded"]
        assert (k in table.index) == bool(own)
        if own:
            told = [(label, said) for label, said, *_ in own if label != "not_clear"]
            silent = [said for label, said, *_ in own if label == "not_clear"]
            assert table.loc[k].to_dict() == {
                "gendered": len(told), "n_answered": sum(s in ("masculine", "feminine") for _, s in told),
                "right": sum(a == b for a, b in told), "not_clear": len(silent),
                "recognised": sum(s in ("not_clear", "not_found") for s in silent), "unseen": sum(t[1] == "not_found" for t in own),
                "named": sum(t[2] for t in own), "pointed": sum(t[2] and t[3] for t in own)}


def test_the_committed_accuracy_has_all_its_languages():
    frame, printed = systems.detector_accuracy()
    own = frame[frame["detector"] == "lexicon"]
    known = {p.stem for p in (ROOT / "tests/gold").glob("*.tsv")}
    assert set(own["language"]) == known and len(printed) == len(frame)
    for name in (*systems.TARGETS, "agreement"):
        there = own[own[name].notna()]
        assert (there[f"{name}_low"] <= there[name] + 1e-9).all() and (there[name] <= there[f"{name}_high"] + 1e-9).all()
    checks = own[own["target"].notna()].groupby("stage")["language"].agg(set)
    public = {f"GENDEROUS, {subset}": {"el", "de", "es"} for subset in ("base", "their", "adjectives")}
    assert {k.removeprefix(systems.SANITY_CHECK): v for k, v in checks.items()} == {
        "OccuPairs’ own variants": known - {"es"}, **public, **{f"WiBeMT, {s}": {"de"} for s in ("DeepL", "Google", "Microsoft")}}
    paper = frame[frame["detector"] == "the paper’s pipeline"].set_index("language")
    assert paper.loc["fr", "found"] == approx(0.9993) and paper.loc["el", "accuracy"] == approx(0.9953)


def test_accuracy_holds_the_rates_of_the_counts():
    table = tables.read_csv(systems.ACCURACY)
    frame = systems.detector_accuracy()[0]
    for row in table[table["stage"] != "blind"].itertuples():
        own = frame[(frame["language"] == row.language) & (frame["stage"] == row.stage)].iloc[0]
        for name in (*systems.TARGETS, "found"):
            assert getattr(row, name) == ("" if pd.isna(own[name]) else f"{own[name]:.3f}"), (row, name)


@pytest.mark.parametrize("source", ["wibemt", "genderous"])
def test_labels_of_the_public_texts_are_those_of_the_gender_counts(source):
    counts = data.read_counts(ROOT / "data/gender_counts" / f"{source}.csv")
    own = systems.measured()
    own = own[(own["sample"].str.lower() == source) & (own["detector"] == "lexicon")]
    keys = ["system", "language", "part"]
    labels = own.pivot_table(index=keys, columns="label", values="texts", aggfunc="sum", fill_value=0)[GENDERS]
    wanted = counts.rename(columns={"subset": "part"}).groupby(keys)[GENDERS].sum()
    assert len(labels) and (labels == wanted.loc[labels.index]).all().all()


def test_missed_occupations_add_up_to_the_misses():
    table = tables.read_csv(systems.MISSED)
    misses = ["not_found", "wrong_gender", "not_answered", "answered_though_not_clear"]
    table = table.astype(dict.fromkeys(misses, int))
    all_ = systems.detector_misses()[0]
    for (language, sample), own in all_[all_["sample"].isin(systems.SANITY) & (all_["kind"] != "all")].groupby(["language", "sample"]):
        rows = table[(table["language"] == language) & (table["sample"] == sample)][misses].sum()
        assert rows["wrong_gender"] == own["wrong_gender"].sum()
        assert rows["answered_though_not_clear"] == own["answered_though_not_clear"].sum()
        assert rows["not_found"] + rows["not_answered"] == own["not_answered"].sum()


def test_missed_occupations_are_the_most_missed(tmp_path):
    header = "language,sample,occupation,isco,texts,not_found,wrong_gender,not_answered,answered_though_not_clear"
    path = write(tmp_path / "missed.csv", header, "de,WiBeMT,cook,5120,9,1,0,0,0", "de,WiBeMT,student,,9,0,2,1,1",
                 "de,WiBeMT,tailor,7531,9,1,0,0,0", "el,WiBeMT,cook,5120,9,9,0,0,0")
    printed, left = systems.missed_occupations("de", 2, path)
    assert list(printed["occupation"]) == ["student", "cook"] and printed["ISCO"].tolist() == ["–", "5120"]
    assert left == "1 more occupations have 1 of 6 misses."
    assert systems.missed_occupations("ru", 2, path)[0].empty


def test_calibration_is_optional(tmp_path):
    assert systems.calibration("de", tmp_path / "none.csv").empty
    path = write(tmp_path / "calibration.csv", "language,x", "de,1", "el,2")
    assert systems.calibration("de", path)["x"].tolist() == [1]


# Table 3

@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([0.1, 0.2, 0.3, np.nan])), min_size=1, max_size=12))
def test_marks_are_the_extremes_of_their_group(rows):
    groups, values = pd.Series([g for g, _ in rows]), pd.Series([v for _, v in rows], dtype=float)
    for (g, v), mark in zip(rows, systems.marked(values, [groups])):
        own = [x for h, x in rows if h == g and not np.isnan(x)]
        expected = "" if np.isnan(v) or max(own) == min(own) else "**" if v == max(own) else "<u>" if v == min(own) else ""
        assert mark == expected


def test_table3_marks_what_translated_the_same_texts():
    rows = [*ONE, ("WiBeMT", "Google", "de", "s", "7126", 9, 1, 0, 0), ("WiBeMT", "Google", "el", "s", "7126", 9, 1, 0, 0),
            ("Other", "Google", "de", "s", "7126", 1, 9, 0, 0), ("WiBeMT", "Google", "de", "their", "7126", 0, 5, 0, 0)]
    both = results(counts(*rows), grouped=False)
    frame, printed = systems.table3(both)
    cells = dict(zip(zip(printed["System"], printed["Texts of"], printed["Language"]), printed["nGPD masculine"]))
    assert cells["Google", "WiBeMT", "German"].startswith("**0.80** [") and cells["DeepL", "WiBeMT", "German"].startswith("<u>0.00</u> [")
    assert cells["Google", "WiBeMT", "Greek"].startswith("0.80 [") and cells["Google", "Other", "German"].startswith("−0.80 [")
    assert list(printed["nGPD feminine"][:2]) == ["**0.00**", "<u>−0.80</u>"] and list(printed["not clear %"][:2]) == ["20.0", "0.0"]
    assert len(frame) == 4 and list(frame["subset"].unique()) == ["s"]
    steered = systems.table3(both, steered=True)[1]
    assert list(steered["Texts of"]) == ["WiBeMT, their"]
    text = tables.latex(printed, "", "t")
    assert r"\textbf{0.80} [" in text and r"\underline{$-$0.80}" in text and "**" not in text and "<u>" not in text
    assert "| **0.80** [" in re.sub(" +", " ", tables.markdown(printed, ""))


def test_table3_without_gendered_text_and_without_counts():
    frame, printed = systems.table3(results(counts(("A", "S", "de", "s", "7126", 0, 0, 4, 1), ("A", "T", "de", "s", "7126", 0, 0, 0, 2)),
                                            grouped=False))
    assert list(printed["nGPD masculine"]) == ["–", "–"] and list(printed["interval"]) == ["–", "–"]
    assert list(printed["not clear %"]) == ["100.0", "–"]
    with pytest.raises(InputError, match="no gender counts"):
        systems.table3(results(counts()))


@given(st.text("ab*<>/u_%−", max_size=20))
def test_latex_cells_without_marks_are_escaped_as_before(text):
    if not re.search(r"\*\*\S.*?\*\*|<u>.+?</u>", text):
        assert tables.latex_cell(text) == tables.latex_escape(text)
    plain = text.replace("*", "").replace("<u>", "").replace("</u>", "")
    if plain:
        assert tables.latex_cell(f"a_b **{plain}**, <u>{plain}</u>") == (
            rf"a\_b \textbf{{{tables.latex_escape(plain)}}}, \underline{{{tables.latex_escape(plain)}}}")


# levels

@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from(CODES), st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=15))
def test_levels_by_brute_force(rows):
    frame = counts(*[("A", "S", "es", "s", code, m, f, 0, 0) for code, m, f in rows])
    groups = pd.concat([rp.groups(frame, level).assign(source="A", system="S", language="es", subset="s", level=level,
                                                       reference_kind="normative") for level in (1, 2, 3, 4)])
    table, printed = systems.levels(groups)
    assert list(table["level"]) == [1, 2, 3, 4] and len(printed) == 4
    m, f = sum(r[1] for r in rows), sum(r[2] for r in rows)
    for row in table.itertuples():
        own = {}
        for code, a, b in rows:
            x, y = own.get(code[:row.level], (0, 0))
            own[code[:row.level]] = (x + a, y + b)
        values = [2 * a / (a + b) - 1 for a, b in own.values() if a + b]
        assert (row.groups, row.gendered) == (len(own), len(values)) and row.masculine + row.even + row.feminine == len(values)
        assert row.micro == approx(2 * m / (m + f) - 1 if m + f else np.nan, nan_ok=True)
        assert row.macro == approx(np.mean(values) if values else np.nan, nan_ok=True, abs=1e-9)
        assert row.always_masculine == sum(b == 0 < a for a, b in own.values())
        assert row.always_feminine == sum(a == 0 < b for a, b in own.values())


def test_majors_have_a_column_a_run_and_dashes_where_nothing_is():
    frame, wide = systems.majors(results(counts(*ONE, ("Other", "Google", "el", "s", "7126", 1, 0, 0, 0))))
    assert list(wide.columns) == ["ISCO", "Major group", "DeepL DE (WiBeMT)", "Google EL (Other)"]
    assert list(wide["Google EL (Other)"])[0] == "–" and wide["Google EL (Other)"].iloc[1].startswith("1.00 [")


# register

def test_every_published_run_is_in_the_register_and_the_other_way_round():
    runs = pd.concat([data.read_counts(ROOT / "data/gender_counts" / f"{name}.csv") for name in ("wibemt", "genderous")])
    frame = tables.read_csv(systems.REGISTER)
    assert set(zip(frame["source"], frame["system"])) == set(zip(runs["source"], runs["system"])) and not frame.duplicated().any()
    assert (frame[["licence", "labelled", "stated_in", "link"]] != "").all().all()
    commits = {row.commit for row in data.read_tsv(ROOT / "data/public_sources.tsv", [
        "dataset", "repository", "commit", "path", "git_blob_sha1", "licence"]).itertuples()}
    assert all(link.rsplit("/", 1)[1] in commits for link in frame["link"] if "/tree/" in link)


def test_register_tells_what_is_stated_and_dashes_for_the_rest():
    label = next(iter(STUDY.translations.values())).label
    rows = [*ONE, ("mine", "X", "de", "s", "7126", 1, 0, 0, 0), (STUDY.pairs.name, label, "es", STUDY.pairs.name, "7126", 1, 0, 0, 0)]
    genders = [(label, "es", "s", "7126", "report", "o", "x", "y", "y", 0, 1, "7126", "masculine", "lexicon")]
    frame, printed = systems.register(results(counts(*rows), genders, grouped=False))
    frame, printed = frame.set_index("system"), printed.set_index("System")
    assert printed.loc["X"].drop(["Texts of", "Languages"]).eq("–").all() and printed.loc["DeepL", "Licence"] == "MIT"
    assert frame.loc[label, "version"] == STUDY.translations["apertium"].card["version"] and frame.loc[label, "stated_in"] == "its card"
    assert frame.loc[label, "labelled"] == "lexicon detector" and frame.loc[label, "languages"] == "es"


# text types

@given(st.lists(st.tuples(*[st.integers(0, 5)] * 3), min_size=1, max_size=12))
def test_shares_sum_to_one_and_lie_in_their_intervals(rows):
    value, low, high, kind = systems.shares(np.array(rows), replicates=200, seed=1, confidence=0.95)
    blocks = sum(sum(r) > 0 for r in rows)
    assert kind == ("" if not blocks else "texts" if blocks < 8 else "occupations")
    if blocks:
        assert value.sum() == approx(1) and (low <= high).all() and (low >= 0).all() and (high <= 1 + 1e-12).all()
        assert value.tolist() == approx([sum(r[k] for r in rows) / sum(map(sum, rows)) for k in range(3)])
    else:
        assert np.isnan([*value, *low, *high]).all()


def test_shares_intervals_by_the_loop_and_by_jeffreys():
    rng = np.random.default_rng(3)
    rows = rng.integers(1, 6, (8, 3))
    value, low, high, kind = systems.shares(rows, replicates=300, seed=9, confidence=0.9)
    draws = np.random.default_rng(9).integers(0, 8, (300, 8))
    drawn = np.array([rows[d].sum(axis=0) / rows[d].sum() for d in draws])
    assert kind == "occupations"
    assert low == approx(np.quantile(drawn, 0.05, axis=0)) and high == approx(np.quantile(drawn, 0.95, axis=0))
    value, low, high, kind = systems.shares(rows[:7], replicates=300, seed=9, confidence=0.95)
    m, n = rows[:7, 0].sum(), rows[:7].sum()
    assert kind == "texts" and [low[0], high[0]] == approx(stats.beta.ppf([0.025, 0.975], m + 0.5, n - m + 0.5))


def labels(*rows, system="Mine", language="es"):
    """Rows (isco, text type, gender) as labelled texts."""
    return [(system, language, f"{code}-{kind}-{i}", code, kind, "plumber", "The plumber came.", "El fontanero vino.",
             "" if gender == "excluded" else "fontanero", 0 if gender == "excluded" else 3, 0 if gender == "excluded" else 12, "", gender,
             "lexicon") for i, (code, kind, gender) in enumerate(rows)]


def test_text_types_by_hand(tmp_path):
    frame, printed = systems.text_types(results(counts(*ONE), labels(
        ("7126", "report", "masculine"), ("7126", "report", "feminine"), ("2221", "report", "masculine"), ("2221", "report", "not_clear"),
        ("2221", "statement", "excluded")), grouped=False))
    frame = frame.set_index("text_type")
    assert list(frame.index) == ["statement", "report", "all"]
    assert list(frame["texts"]) == [0, 4, 4] and list(frame["excluded"]) == [1, 0, 1]
    assert frame.loc["report", ["masculine", "feminine", "not_clear"]].tolist() == [0.5, 0.25, 0.25]
    assert printed.iloc[0]["masculine %"] == "–" and printed.iloc[1]["masculine %"].startswith("50.0 [")
    assert printed.iloc[1]["interval"] == "texts"
    empty = systems.text_types(results(counts(*ONE), grouped=False))
    assert tables.write(STUDY, "t", *empty, "None.", folder=tmp_path).empty and len(list(tmp_path.glob("t.*"))) == 3


# both ends

@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=14), st.integers(1, 4))
def test_ends_and_their_ties_by_brute_force(rows, n):
    frame = counts(*[("A", "S", "es", "s", code, m, f, 0, 0) for code, (m, f) in zip(CODES, rows)])
    groups = rp.groups(frame, 4).assign(level=4, reference_kind="normative")
    found = systems.ends(groups, n)
    for side, sign in (("masculine", 1), ("feminine", -1)):
        every = sorted(((-sign * (2 * m / (m + f) - 1), -(m + f), code) for code, (m, f) in zip(CODES, rows)
                        if m + f and sign * (m - f) > 0))
        own = found[found["side"] == side]
        assert list(own["isco"]) == [code for *_, code in every[:n]]
        if every:
            last = every[:n][-1][:2]
            assert set(own["tied"]) == {sum(e[:2] == last for e in every[n:])}


def test_extremes_say_how_many_a_tie_left_out():
    rows = [("A", "S", "es", "s", code, 2, 0, 0, 0) for code in CODES[:7]] + [("A", "S", "es", "s", CODES[7], 0, 1, 0, 0)]
    frame, printed = systems.extremes(results(counts(*rows)))
    assert printed["most masculine (nGPD masculine; texts)"].iloc[0].endswith("; 2 more tied with the last")
    assert printed["most feminine (nGPD feminine; texts)"].iloc[0] == f"{isco.title(CODES[7])} (1.00; 1)"
    alone = systems.extremes(results(counts(rows[0])))[1]
    assert alone["most feminine (nGPD feminine; texts)"].tolist() == ["–"]                            # nobody on that side
    assert len(frame) == 6 and systems.extremes(results(counts(("A", "S", "es", "s", "7126", 0, 0, 1, 0))))[1].empty
    even = systems.extremes(results(counts(rows[0], ("A", "S", "es", "s", "2265", 1, 1, 0, 0))))
    assert even[1]["most feminine (nGPD feminine; texts)"].tolist() == ["–"] and "2265" not in set(even[0]["isco"])    # on no side
    assert list(frame.columns) == ["system", "language", "source", "side", "isco", "title", "ngpd", "texts", "tied"]


# several subsets, and intervals without width

SUBSETS = [("A", "S", "de", "one", "7126", 3, 1, 0, 0), ("A", "S", "de", "two", "7126", 1, 3, 0, 0),
           ("A", "T", "de", "one", "7126", 1, 0, 0, 0), ("A", "S", "de", "their", "7126", 0, 9, 0, 0)]


def test_subsets_of_one_run_are_told_apart_everywhere():
    both = results(counts(*SUBSETS))
    names = ["S DE (A, one)", "S DE (A, two)", "T DE (A)"]
    wide = systems.majors(both)[1]
    assert list(wide.columns[2:]) == names and list(wide[names[1]].str[:5]) == ["−0.50"]
    assert list(systems.levels(both.system_groups)[1]["Run"].unique()) == names
    frame, printed = systems.real_world(both, "de")
    assert list(printed["System"]) == list(frame["run"]) == names and list(frame["p_masculine"]) == [0.75, 0.25, 1.0]
    frame, printed = systems.extremes(both)
    assert list(frame["subset"]) == ["one", "two", "one"] and list(frame["side"]) == ["masculine", "feminine", "masculine"]
    assert list(printed["Texts of"]) == ["A, one", "A, two", "A"]
    assert list(systems.table3(both)[1]["Texts of"]) == ["A, one", "A", "A, two"]
    assert list(systems.table3(both, steered=True)[1]["Texts of"]) == ["A, their"]
    with pytest.raises(InputError, match=r"Runs: S DE \(A\), T DE \(A\)$"):
        systems.run(both, "X", "de")


def test_pooled_subsets_keep_an_occupation_in_one_block():
    """The same occupations translated twice say no more of other occupations than once."""
    rows = [(code, m) for code, m in zip([c for c in CODES if c[0] == "7"][:9], [2, 0, 2, 1, 2, 2, 0, 2, 1])]
    frame = pd.DataFrame([("A", "S", "de", subset, f"o{code}", code, m, 2 - m, 0, 0) for subset in ("one", "two") for code, m in rows],
                         columns=data.GENDER_COUNTS)
    once = systems.run(results(frame[frame["subset"] == "one"]), "S", "de").row
    twice = systems.run(results(frame), "S", "de").row
    assert twice["n_masculine"] == 2 * once["n_masculine"] and twice[["low", "high"]].tolist() == approx(once[["low", "high"]].tolist())


def test_intervals_without_width_are_marked_and_explained_wherever_they_are_printed():
    codes = [c for c in CODES if c[:2] == "71"][:8]
    rows = [("A", system, "de", subset, code, m, f, 0, 0) for system, subset, m, f, n in (
        ("Flat", "s", 3, 0, 8), ("Flat", "their", 0, 2, 8), ("Even", "s", 1, 1, 8), ("Few", "s", 3, 0, 7)) for code in codes[:n]]
    rows.append(("A", "Mixed", "de", "s", codes[0], 0, 1, 0, 0))
    rows += [("A", "Mixed", "de", "s", code, 3, 0, 0, 0) for code in codes[1:]]
    genders = labels(*[(code, "report", "masculine") for code in codes], ("2221", "statement", "feminine"))
    both = results(counts(*rows), genders)
    explained = f"† {rp.AGREE}."

    def marked(cells):
        assert all(c.endswith(("]", "]†", "–")) for c in cells), list(cells)
        return [c.endswith("†") for c in cells]

    frame, printed = systems.table3(both)
    assert dict(zip(printed["System"], marked(printed["nGPD masculine"]))) == {"Flat": True, "Even": True, "Few": False, "Mixed": False}
    assert printed["note"].tolist() == [rp.AGREE, rp.AGREE, "", ""] and systems.explained(printed) == explained
    assert systems.settings(STUDY, printed) == f"{systems.settings(STUDY)} {explained}"
    assert systems.settings(STUDY, printed[printed["System"] == "Few"]) == systems.settings(STUDY)
    assert marked(systems.table3(both, steered=True)[1]["nGPD masculine"]) == [True]
    wide = systems.majors(both)[1]
    assert [marked(wide[c]) for c in wide.columns[2:]] == [[True], [True], [False], [False]]
    printed = systems.real_world(both, "de")[1]
    assert marked(printed["nGPD masculine"]) == [True, True, False, False] and systems.explained(printed) == explained
    printed = systems.text_types(both)[1].set_index("Text type")
    assert marked(printed.loc["report"].iloc[3:6]) == [True] * 3 and marked(printed.loc["statement"].iloc[3:6]) == [False] * 3
    chosen = systems.run(both, "Flat", "de")
    assert marked(systems.card(chosen, 0.95)["95% interval"]) == [True, True] and rp.AGREE in systems.verdict(chosen, 0.95)
    printed = systems.group_rows(chosen, 2)[1]
    assert marked(printed["nGPD, texts"]) == marked(printed["nGPD against them"]) == [True]
    few = systems.group_rows(systems.run(both, "Few", "de"), 2)[1]
    assert marked(few["nGPD, texts"]) == [False] and systems.explained(few) == "" and rp.AGREE not in systems.verdict(
        systems.run(both, "Few", "de"), 0.95)
    assert "†" in tables.markdown(wide, "") and r"]$\dagger$" in tables.latex(wide, "", "t")


def test_captions_of_systems_have_their_own_settings():
    """Tables of systems have no R, and small groups have another interval."""
    for path in sorted((ROOT / "notebooks/systems").glob("*.ipynb")):
        code = "".join("".join(c["source"]) for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code")
        assert "tables.settings" not in code, path.name
        assert "systems.settings(r.study)" not in code, path.name                                     # without what the marks mean
    assert "R:" not in systems.settings(STUDY) and "Jeffreys" in systems.settings(STUDY)


def test_real_world_needs_a_country():
    given_ = results(counts(*ONE, ("A", "S", "es", "s", "7126", 1, 0, 0, 0)))
    frame, printed = systems.real_world(given_, "de")
    assert list(frame["group"]) == ["22", "71"] and list(printed["masculine %"]) == ["25.0", "75.0"]
    with pytest.raises(InputError, match="no gender counts of 'es'"):
        systems.real_world(given_, "es")


def test_real_world_of_another_country_is_measured_there():
    given_ = results(counts(*ONE, ("A", "S", "es", "s", "7126", 1, 0, 0, 0), ("A", "S", "de", "their", "7126", 0, 9, 0, 0)))
    french = rp.labour_shares(LABOUR, "FRA")["share"]
    frame, printed = systems.real_world(given_, "de", "FRA")
    assert list(frame["group"]) == ["22", "71"] and set(frame["country"]) == {"FRA"} and set(frame["language"]) == {"de"}
    assert frame["ngpd_masculine"].tolist() == approx([0.25 / french["22"] - 1, 0.75 / french["71"] - 1])
    assert frame["reference"].tolist() != systems.real_world(given_, "de")[0]["reference"].tolist() and len(printed) == 2
    pd.testing.assert_frame_equal(systems.real_world(given_, "de", "DEU")[0], systems.real_world(given_, "de")[0])
    assert systems.real_world(given_, "es", "FRA")[0]["group"].tolist() == ["71"]                     # a language without a country
    with pytest.raises(InputError, match="no labour figures for 'XYZ'.*AUT, CHE, .*FRA"):
        systems.real_world(given_, "de", "XYZ")


def test_figure_2_of_another_country_does_not_replace_the_committed_one():
    assert systems.figure2_name("de") == systems.figure2_name("de", "DEU") == ("systems_figure2_de", False)
    assert systems.figure2_name("de", "FRA") == ("systems_figure2_de_fra", True) != systems.figure2_name("fr", "FRA")
    cells = json.loads((ROOT / "notebooks/systems/5_real_world.ipynb").read_text())["cells"]
    code = "".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
    assert "run=other" in code and "folder=r.study.run_outputs if other else None" in code and 'f"systems_figure2' not in code


# one run

def test_a_run_is_told_by_its_source_where_two_have_it():
    both = results(counts(*ONE, ("Other", "DeepL", "de", "s", "7126", 1, 0, 0, 0)))
    with pytest.raises(InputError, match="has texts of WiBeMT and of Other.*source = 'WiBeMT'"):
        systems.run(both, "DeepL", "de")
    assert systems.run(both, "DeepL", "de", "Other").row["n_masculine"] == 1
    for system, language, source in (("DeepL", "el", ""), ("X", "de", ""), ("DeepL", "de", "X")):
        with pytest.raises(InputError, match="no run of .*DeepL DE \\(WiBeMT\\)"):
            systems.run(both, system, language, source)
    with pytest.raises(InputError, match="no gender counts"):
        systems.run(results(counts()), "DeepL", "de")
    both.runs = pd.DataFrame([("translations", "mine", "Mine", "el", "refused", "el.tsv: no such file")], columns=both.runs.columns)
    with pytest.raises(InputError, match="^el.tsv: no such file"):
        systems.run(both, "Mine", "el")


def test_subsets_of_a_run_are_pooled_and_steered_ones_apart():
    rows = [("A", "S", "de", "one", "7126", 3, 1, 0, 0), ("A", "S", "de", "two", "2221", 0, 4, 1, 0),
            ("A", "S", "de", "their", "7126", 0, 9, 0, 0)]
    chosen = systems.run(results(counts(*rows)), "S", "de")
    assert (chosen.row["subset"], chosen.row["n_masculine"], chosen.row["n_feminine"]) == ("one + two", 3, 5)
    assert chosen.groups.query("level == 1 and reference_kind == 'normative'")["ngpd_masculine"].tolist() == [-1.0, 0.5]
    card = systems.card(chosen, 0.95)
    assert list(card["Texts"]) == ["one + two", "their (steers gender)"] and list(card["masculine"]) == ["3", "0"]
    alone = systems.run(results(counts(rows[2])), "S", "de")
    assert list(systems.card(alone, 0.95)["Texts"]) == ["their (steers gender)"] and alone.groups.empty
    assert systems.labour_note(alone) == "No occupation of this run has an ISCO group."
    assert "0.0 % are masculine" in systems.verdict(alone, 0.95) and systems.printed_ends(alone)[1].empty


@pytest.mark.parametrize("m, f, words", [
    (9, 1, "the masculine form is chosen more often than the other. Of 10 translations that tell gender, 90.0 % are masculine (9)"),
    (1, 9, "the feminine form is chosen more often than the other."), (5, 5, "the two forms are equally frequent."),
    (0, 0, "none of 3 translations tells the gender of the occupation (2 do not tell and 1 are excluded)")])
def test_verdict(m, f, words):
    text = systems.verdict(systems.run(results(counts(("A", "S", "de", "s", "7126", m, f, 2, 1))), "S", "de"), 0.95)
    assert text.startswith("**S, German (texts of A)**: ") and words in text
    assert ("which holds 0" in text) == (m == f != 0) and ("on texts" in text) == bool(m + f)
    share = rp.labour_shares(LABOUR, "DEU").loc["71", "share"]
    above = m + f > 0 and m / (m + f) > share
    assert not m + f or f"In {int(above)} of 1 two-digit groups with labour figures (DEU)" in text


def test_group_rows_have_both_means_and_both_references():
    rows = [("A", "S", "de", "s", "7126", 8, 0, 1, 0), ("A", "S", "de", "s", "7127", 0, 2, 0, 0), ("A", "S", "de", "s", "2221", 0, 0, 1, 0)]
    chosen = systems.run(results(counts(*rows)), "S", "de")
    frame, printed = systems.group_rows(chosen, 2)
    row, share = frame.set_index("group").loc["71"], rp.labour_shares(LABOUR, "DEU").loc["71", "share"]
    assert row["ngpd_masculine"] == approx(0.6) and row["ngpd_macro"] == approx(0.0) and row["reference"] == approx(share)
    assert row["ngpd_labour"] == approx(0.8 / share - 1) and row["labour_low"] < row["ngpd_labour"] < row["labour_high"]
    empty = printed.set_index("ISCO").loc["22"]
    assert empty["nGPD, texts"] == empty["mean of unit groups"] == empty["nGPD against them"] == "–"
    assert systems.labour_note(chosen) == "1 of 2 groups have gendered text and labour figures (DEU)."
    spanish = systems.run(results(counts(("A", "S", "es", "s", "7126", 8, 0, 1, 0))), "S", "es")
    assert "nGPD against them" not in systems.group_rows(spanish, 2)[1] and systems.labour_note(spanish).startswith("No employment")


def test_own_translations_bring_card_texts_and_examples():
    entry = dataclasses.replace(STUDY.translations["apertium"], label="Mine", card={"description": "A toy.", "version": "1"})
    study = dataclasses.replace(STUDY, translations={"mine": entry})
    name = study.pairs.name
    genders = labels(("7126", "report", "masculine"), ("7126", "statement", "excluded"), ("2221", "report", "not_clear"))
    genders[2] = (*genders[2][:7], "<b> & El fontanero vino.", "El fontanero", 6, 18, *genders[2][11:])
    chosen = systems.run(results(counts((name, "Mine", "es", name, "7126", 1, 0, 0, 1), (name, "Mine", "es", name, "2221", 0, 0, 1, 0),
                                        ("Other", "Mine", "es", "s", "7126", 1, 0, 0, 0)), genders, study), "Mine", "es", name)
    assert chosen.about == "A toy." and chosen.facts["Version"] == "1" and len(chosen.genders) == 3
    page = systems.examples(chosen)
    assert "El <ins>fontanero</ins> vino." in page and "&lt;b&gt; &amp; <ins>El fontanero</ins> vino." in page
    assert "excluded (1 text)" in page and page.count("<ins>") == 2 and "feminine (" not in page
    assert page == systems.examples(chosen) and "dir=rtl" not in page
    arabic = dataclasses.replace(chosen, language="ar")
    assert systems.examples(dataclasses.replace(arabic, genders=chosen.genders.assign(language="ar"))).count("dir=rtl") == 3
    other = systems.run(results(counts(("Other", "Mine", "es", "s", "7126", 1, 0, 0, 0)), genders, study), "Mine", "es")
    assert other.about == "" and other.genders.empty and systems.examples(other) == ""


# the strip of unit groups

@given(st.lists(st.one_of(st.sampled_from([-1.0, 1.0]), st.floats(-1, 1)), min_size=1, max_size=80))
def test_stacked_points_do_not_cover_each_other_and_stay_in_their_row(values):
    x, y = figures.stacked(np.array(values))
    assert (np.abs(y) <= 0.3 + 1e-9).all() and y.sum() == approx(0, abs=1e-9)
    assert len({(round(a, 6), round(b, 6)) for a, b in zip(x, y)}) == len(values)
    moved = x != np.array(values)
    for v in np.array(values)[moved]:
        assert (np.abs(np.array(values) - v) < 0.04).sum() > 10                                        # only crowded ones
    x11, y11 = figures.stacked(np.ones(11))
    assert sorted(set(x11.round(4))) == [0.9895, 1.0105] and np.abs(y11).max() == approx(0.15)        # two columns, 6 and 5 points
    again = figures.stacked(np.array(values))
    assert (again[0] == x).all() and (again[1] == y).all()


def test_strip_shows_every_unit_group_and_counts_the_ends():
    rows = [("A", "S", "de", "s", code, *pair, 0, 0) for code, pair in zip(CODES, [(3, 0), (0, 3), (2, 1), (0, 0), (1, 1), (4, 0)])]
    rows += [("A", "S", "de", "s", "7126", 0, 0, 3, 0)]
    chosen = systems.run(results(counts(*rows)), "S", "de")
    frame = systems.strip_frame(chosen)
    assert sorted(frame["level"].unique()) == [1, 4] and frame.query("level == 4")["texts"].sum() == 15
    figure = figures.strip(frame, "title")
    axis = figure.axes[0]
    points = sum(len(c.get_offsets()) for c in axis.collections)
    gendered = frame[frame["ngpd"].notna()]
    assert points == len(gendered)                                            # unit groups, and a diamond a major group
    texts = [t.get_text() for t in axis.texts]
    assert texts.count("no gendered text") == 1 and [t for t in texts if t.isdecimal()] == [
        str(n) for n in (frame.query("level == 4").groupby("major")["ngpd"].agg([lambda v: (v == -1).sum(), lambda v: (v == 1).sum()])
                         .to_numpy().ravel()) if n]
    empty = figures.strip(frame[:0], "title")
    assert [t.get_text() for t in empty.axes[0].texts] == ["no unit group"]
    figures.plt.close("all")


def test_notebooks_call_what_is_there():
    """Every `systems.` name of the notebooks exists."""
    for path in (ROOT / "notebooks").rglob("*.ipynb"):
        code = "".join("".join(c["source"]) for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code")
        assert all(hasattr(systems, name) for name in re.findall(r"\bsystems\.([a-z]\w*)", code)), path.name
