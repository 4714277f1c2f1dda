"""OccuPairs: the rules that a program can check, on every row of every language."""

import re

import occupairs_rules as rules
import pytest

from mtgender import data, isco
from mtgender.study import ROOT

FOLDER = ROOT / "data" / "occupairs"
LANGUAGES = sorted(p.stem for p in FOLDER.glob("??.tsv") if p.stem != "en")
LINGUA = {"ar": "ARABIC", "cs": "CZECH", "de": "GERMAN", "el": "GREEK", "en": "ENGLISH", "fr": "FRENCH", "is": "ICELANDIC",
          "ru": "RUSSIAN", "uk": "UKRAINIAN", "es": "SPANISH"}


@pytest.fixture(scope="module")
def english():
    return rules.read_rows(FOLDER / "en.tsv")[1]


def test_english_rows_follow_the_rules(english):
    assert not list(rules.check_english(english))


def test_every_unit_group_has_three_texts(english):
    expected = sorted(f"{code}-{kind}" for code in isco.unit_groups() for kind in rules.TEXT_TYPES)
    assert [r["segment_id"] for r in english] == expected and len(expected) == 1308


def test_few_english_texts_open_with_the_occupation(english):
    told = [r for r in english if r["text_type"] != "conversation"]
    share = sum(bool(re.match(rf"(?:The|An?) {re.escape(r['occupation'])}\b", r["text"])) for r in told) / len(told)
    assert share <= 0.30


@pytest.mark.parametrize("language", LANGUAGES)
def test_target_rows_follow_the_rules(language, english):
    assert not list(rules.check_target(rules.read_rows(FOLDER / f"{language}.tsv")[1], english, language, rules.read_exceptions()))


def test_rules_find_what_they_are_for(english):
    """Each rule can fail: one broken row for each."""
    good = {"segment_id": "7126-statement", "isco": "7126", "text_type": "statement", "occupation": "plumber",
            "text": "Long after midnight the plumber found the leak and, drenched, closed the valve before packing up."}
    assert not list(rules.check_english_row(good))
    for field, value, rule in (
            ("text", good["text"].replace("closed", "closed his"), "clue"),
            ("text", good["text"].replace("valve", "valve for Peter"), "name"),
            ("text", "The plumber left.", "length"), ("occupation", "electrician", "occupation"), ("segment_id", "7126-report", "id"),
            ("text", good["text"].replace("the plumber", "the plumber’s colleague, the fireman,"), "clue"),
            ("text", good["text"] + " Then it rained.", "form"), ("text", good["text"].replace("leak", "'leak'"), "quotes")):
        assert rule in {r for r, _ in rules.check_english_row({**good, field: value})}, (field, value)
    target = {"segment_id": "7126-statement", "occupation": "{Klempner|Klempnerin}",
              "text": "Lange nach Mitternacht fand {der Klempner|die Klempnerin} das Leck, und nass, wie {er|sie} war, ging {er|sie} heim."}
    assert not list(rules.check_target_row(target, good, "de"))
    for text, rule in ((target["text"].replace("{er|sie} war", "{er|er} war"), "alternation"),
                       (target["text"].replace("}", ""), "notation"),
                       (target["text"].replace("{der Klempner|die Klempnerin}", "{der|die} Klempner{|in}"), "alternation"),
                       (target["text"].replace("{er|sie} war", "er war"), "forgotten"), (target["text"].replace(".", ""), "form")):
        found = {r for _, r, _ in rules.check_target([{**target, "text": text}], [good], "de")}
        assert rule in found, (text, found)


@pytest.fixture(scope="module")
def detector():
    lingua = pytest.importorskip("lingua")
    chosen = [getattr(lingua.Language, name) for name in LINGUA.values()]
    return lingua.LanguageDetectorBuilder.from_languages(*chosen).build()


@pytest.mark.parametrize("language", ["en", *LANGUAGES])
def test_texts_are_in_their_language(language, detector, english):
    if language == "en":
        texts = {r["segment_id"]: r["text"] for r in english}
    else:
        pairs = data.read_pairs(FOLDER, language)
        texts = {f"{i} {side}": t for side in ("masculine", "feminine") for i, t in zip(pairs["segment_id"], pairs[side])}
    found = detector.detect_languages_in_parallel_of(list(texts.values()))
    wrong = [i for i, f in zip(texts, found) if f is None or f.name != LINGUA[language]]
    assert not wrong


# nouns whose dictionary gender is not the side's, each looked at
NOUN_EXCEPTIONS = {"Model": "das Model is neuter for everybody; gender shows in er/sie"}


@pytest.mark.skipif("de" not in LANGUAGES, reason="no German yet")
def test_german_nouns_have_the_gender_of_their_side():
    """german-nouns knows the head noun of most occupation terms; its gender must be the side's."""
    nouns = pytest.importorskip("german_nouns.lookup").Nouns()
    known, wrong = 0, {}
    for _, row in data.read_pairs(FOLDER, "de").drop_duplicates("occupation").iterrows():
        for side, gender in (("masculine", "m"), ("feminine", "f")):
            term = data.variants(row["occupation"])[side == "feminine"]
            head = next((w for w in re.findall(r"[A-ZÄÖÜ][\wäöüß-]+", term)), "")
            for entry in nouns[head.split("-")[-1]]:
                genders = {v for k, v in entry.items() if k.startswith("genus") and v}
                if entry["flexion"].get("nominativ singular", "").casefold() != head.split("-")[-1].casefold():
                    continue
                known += 1
                if genders and gender not in genders and head not in NOUN_EXCEPTIONS:
                    wrong[head] = genders
                break
    assert known > 300 and not wrong


# heads whose dictionary gender is not the side's, each looked at; the rest of the words must agree
MORPH_EXCEPTIONS = {"ru": {}, "uk": {}}


@pytest.mark.parametrize("language", [c for c in ("ru", "uk") if c in LANGUAGES])
def test_slavic_nouns_have_the_gender_of_their_side(language):
    """pymorphy3: in an alternating occupation term every known word has a reading of its side's gender."""
    analyzer = pytest.importorskip("pymorphy3").MorphAnalyzer(lang=language)
    known, wrong = 0, []
    for term in data.read_pairs(FOLDER, language)["occupation"].drop_duplicates():
        for match in data.ALTERNATION.finditer(term):
            for side, gender in ((1, "masc"), (2, "femn")):
                for word in re.findall(r"[^\W\d]+(?:[’'-][^\W\d]+)*", match.group(side)):
                    word = word.replace("’", "'")
                    if analyzer.word_is_known(word):
                        known += 1
                        if not any(g in str(p.tag) for p in analyzer.parse(word) for g in (gender, "ms-f", "Ms-f", "GNdr")):
                            wrong.append(word)
    assert known > 100
    unexplained = [w for w in wrong if w not in MORPH_EXCEPTIONS[language]]
    assert len(wrong) <= 0.03 * known and not unexplained, wrong


@pytest.mark.skipif("is" not in LANGUAGES, reason="no Icelandic yet")
def test_icelandic_nouns_have_the_gender_of_their_side():
    """BÍN by islenska: in an alternating occupation term every word it knows has a reading of its side's gender."""
    bin_ = pytest.importorskip("islenska").Bin()
    known, wrong = 0, []
    for term in data.read_pairs(FOLDER, "is")["occupation"].drop_duplicates():
        for match in data.ALTERNATION.finditer(term):
            for side, gender in ((1, "kk"), (2, "kvk")):
                for word in match.group(side).split():
                    readings = bin_.lookup(word)[1]
                    known += bool(readings)
                    if readings and not any(r.ofl == gender or gender.upper() in r.mark.split("-") for r in readings):
                        wrong.append(word)
    assert known > 100 and not wrong


@pytest.mark.skipif("cs" not in LANGUAGES, reason="no Czech yet")
def test_czech_past_tenses_agree_with_their_side():
    """A past tense is never feminine on the masculine side nor masculine on the feminine one: pairs in -l / -la share their stem."""
    checked = 0
    for row in data.read_pairs(FOLDER, "cs").itertuples():
        for match in data.ALTERNATION.finditer(row.markup):
            sides = [match.group(side).split() for side in (1, 2)]
            if len(sides[0]) == len(sides[1]):
                for m, f in zip(*sides):
                    if re.fullmatch(r"[^\W\d]{2,}la", f) and m.endswith("l"):
                        checked += 1
                        assert f == m + "a" or f.replace("e", "") == (m + "a").replace("e", "") or f[:2] == m[:2], (row.segment_id, m, f)
                    assert not (re.fullmatch(r"[^\W\d]{3,}la", m) and f == m[:-1]), (row.segment_id, m, f)
    assert checked > 1000


@pytest.mark.parametrize("language", LANGUAGES)
def test_few_words_of_masculine_variants_are_unknown_to_the_dictionary(language):
    """At most 3 % of the tokens, by the committed hunspell annotation; for Icelandic by islenska, which knows compounds."""
    if language == "is":
        bin_ = pytest.importorskip("islenska").Bin()
        tokens = [w for t in data.read_pairs(FOLDER, "is")["masculine"] for w in re.findall(r"[^\W\d]+", t)]
        unknown = [w for w in tokens if not bin_.lookup(w, at_sentence_start=True)[1]]
        assert len(unknown) <= 0.03 * len(tokens), unknown[:40]
        return
    path = ROOT / "data" / "annotations" / "hunspell" / f"{language}.jsonl"
    pairs = data.read_pairs(FOLDER, language)
    frame = data.read_annotations(path, pairs)
    unknown = frame.loc[frame["variant"] == "masculine", "n_errors"].sum()
    assert unknown <= 0.03 * pairs["masculine"].str.split().str.len().sum()


def test_dictionary_gender_is_not_always_there():
    """The check above can fail: a masculine noun on the feminine side is seen."""
    nouns = pytest.importorskip("german_nouns.lookup").Nouns()
    assert {e["genus"] for e in nouns["Bäcker"] if "genus" in e} == {"m"}
