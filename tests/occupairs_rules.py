"""The rules of data/occupairs that a program can check.

Used by the test suite and by whoever writes or corrects rows:

    python tests/occupairs_rules.py en data/occupairs/en.tsv [more en files]
    python tests/occupairs_rules.py de data/occupairs/de.tsv data/occupairs/en.tsv

Prints one line per finding (segment id, rule, detail); exit status 1 if there is any.
"""
from __future__ import annotations

import csv
import re
import sys
from collections import Counter, defaultdict
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np

TEXT_TYPES = ("statement", "report", "conversation")
SEGMENT_ID = re.compile(r"(\d{4})-(statement|report|conversation)")
COLUMNS = {True: ["segment_id", "isco", "text_type", "occupation", "text"], False: ["segment_id", "occupation", "text"]}
MAX_SAME_OPENING = 13          # texts of one type that may share the same first three words, occupation masked
MAX_SIMILARITY = 0.72          # difflib ratio over words of two masked texts
ALTERNATION = re.compile(r"\{([^{}|]*)\|([^{}|]*)\}")

CLUES = """he she him her his hers himself herself they them their theirs themself themselves i me my myself you your
yours yourself who whom whose man men woman women male female masculine feminine gentleman gentlemen lady ladies guy guys bloke
girl girls boy boys sir madam mr mrs ms miss mother father mothers fathers mum dad parent-to-be husband wife brother sister
brothers sisters son daughter sons daughters uncle aunt nephew niece grandmother grandfather grandma grandpa granddaughter
grandson widow widower bride groom king queen prince princess pregnant pregnancy maternity paternity beard moustache bearded
fatherhood motherhood maiden""".split()
CLUE = re.compile(r"(?<![\w’'])(" + "|".join(CLUES) + r")(?![\w])", re.I)
GENDERED_SUFFIX = re.compile(r"\b\w{2,}(?:woman|women)\b|\b\w+(?<!hu)(?<!ro)(?<!ger)(?<!talis)(?:man|men)\b", re.I)
NOT_GENDERED = set("""specimen specimens regimen abdomen omen women's acumen semen hymen stamen gymen yemen cement german roman
human humans norman talisman ottoman caiman shaman amen ramen lumen rumen bitumen cyclamen albumen""".split())
PROPER_ALLOWED = set("""Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August
September October November December Christmas Easter New Year English French German Spanish Italian Latin Greek Arabic Russian
Ukrainian Czech Icelandic Portuguese Chinese Japanese European Mondays Fridays Sundays Saturdays""".split())


def read_rows(path):
    """Rows of a TSV as dicts with their line number; no quoting, LF only."""
    lines = Path(path).read_bytes().decode("utf-8").removesuffix("\n").split("\n")
    header = lines[0].split("\t")
    rows = []
    for number, line in enumerate(lines[1:], 2):
        cells = line.split("\t")
        if len(cells) != len(header):
            raise SystemExit(f"{path}:{number}: {len(cells)} cells, expected {len(header)}: {line[:80]!r}")
        rows.append(dict(zip(header, cells), line=number))
    return header, rows


def words(text):
    return re.findall(r"[^\W_]+(?:[’'\-][^\W_]+)*", text)


def masked(row):
    """Lower-case words of an English text with the occupation replaced by one token."""
    return [w.lower() for w in words(row["text"].replace(row["occupation"], " OCCUPATION "))]


def expand(text, side):
    """One variant of a `{masculine|feminine}` text: side 0 masculine, 1 feminine."""
    return ALTERNATION.sub(lambda m: m.group(1 + side), text)


def _spelling(text):
    if text != text.strip() or "  " in text:
        yield "space", "leading, trailing or double space"
    if re.search(r"[\"'`´]", text):
        yield "quotes", "straight quote or apostrophe; use curly ones"
    if re.search(r"[\x00-\x1f\x7f\u2028\u2029\u0085\ufeff]", text):
        yield "control", "control character"


def check_english_row(row):
    """Yield (rule, detail) for one English row."""
    text, occupation, kind = row["text"], row["occupation"], row["text_type"]
    match = SEGMENT_ID.fullmatch(row["segment_id"])
    if not match or match.group(1) != row["isco"] or match.group(2) != kind:
        yield "id", "segment_id must be <isco>-<text_type> and agree with the two columns"
    yield from _spelling(text)
    found = len(re.findall(rf"(?<!\w){re.escape(occupation)}(?!\w)", text))
    if found != 1:
        yield "occupation", f"{occupation!r} occurs {found} times, expected once"
    n = len(text.split())
    if not 12 <= n <= 40:
        yield "length", f"{n} words, expected 12-40"
    rest = text.replace(occupation, " ")
    for m in CLUE.finditer(rest):
        yield "clue", m.group(1)
    for m in GENDERED_SUFFIX.finditer(text):
        if m.group(0).lower() not in NOT_GENDERED:
            yield "clue", m.group(0)
    for m in re.finditer(r"(?<=[a-z,;:0-9] )[A-Z][\w’]+", rest):
        if m.group(0).removesuffix("’s") not in PROPER_ALLOWED and not m.group(0).isupper():
            yield "name", m.group(0)
    sentences = len(re.findall(r"[.?!](?=\s|$)", text))
    if kind == "conversation":
        if not re.fullmatch(r"“[^“”]+[.?!…]” “[^“”]+[.?!…]”", text):
            yield "form", "a conversation is two quoted turns: “…” “…”"
    else:
        if re.search(r"[“”]", text):
            yield "form", f"no quotation in a {kind}"
        if not text.endswith((".", "!")):
            yield "form", "must end with a full stop"
        if kind == "statement" and sentences != 1:
            yield "form", f"a statement is one sentence, found {sentences}"
        if kind == "report" and not 1 <= sentences <= 2:
            yield "form", f"a report is one or two sentences, found {sentences}"


def check_english(rows):
    """Yield (segment_id, rule, detail) over a whole set of English rows."""
    for row in rows:
        for rule, detail in check_english_row(row):
            yield row["segment_id"], rule, detail
    for segment_id, count in Counter(r["segment_id"] for r in rows).items():
        if count > 1:
            yield segment_id, "id", f"occurs {count} times"
    if [r["segment_id"] for r in rows] != sorted(r["segment_id"] for r in rows):
        yield "-", "order", "rows must be sorted by segment_id"
    owners = defaultdict(set)
    for row in rows:
        owners[row["occupation"]].add(row["isco"])
    for term, codes in owners.items():
        if len(codes) > 1:
            yield sorted(codes)[0], "term", f"{term!r} names several occupations: {sorted(codes)}"
    openings = defaultdict(list)
    texts = [masked(row) for row in rows]
    for row, tokens in zip(rows, texts):
        openings[(row["text_type"], *tokens[:3])].append(row["segment_id"])
    for opening, ids in openings.items():
        if len(ids) > MAX_SAME_OPENING:
            yield ids[-1], "opening", f"{len(ids)} texts open with {' '.join(opening[1:])!r}: {', '.join(ids[:20])}"
    words = {word: place for place, word in enumerate(dict.fromkeys(word for tokens in texts for word in tokens))}
    bags = np.zeros((len(rows), len(words)), int)                   # how often each word stands in each text
    for bag, tokens in zip(bags, texts):
        np.add.at(bag, [words[word] for word in tokens], 1)
    lengths = np.array([len(tokens) for tokens in texts])
    for i, (row, tokens) in enumerate(zip(rows, texts)):
        own = np.flatnonzero(bags[i])
        shared = np.minimum(bags[:i, own], bags[i, own]).sum(axis=1)
        for j in np.flatnonzero(2 * shared / (lengths[i] + lengths[:i]) > MAX_SIMILARITY):
            ratio = SequenceMatcher(None, tokens, texts[j], autojunk=False).ratio()
            if ratio > MAX_SIMILARITY:
                yield row["segment_id"], "near-duplicate", f"of {rows[j]['segment_id']} ({ratio:.2f})"


QUOTES = {"de": ("„", "“"), "cs": ("„", "“"), "is": ("„", "“"), "ru": ("«", "»"), "uk": ("«", "»"), "el": ("«", "»"),
          "ar": ("«", "»"), "fr": ("«\u00a0", "\u00a0»")}
STOP_AFTER_QUOTE = ("ru", "uk")
TERMINALS = {"el": ".;!…", "ar": ".؟!…"}


def check_target_row(row, english, language):
    """Yield (rule, detail) for one row of a target language against its English row."""
    text, kind = row["text"], english["text_type"]
    for field in ("occupation", "text"):
        bare = ALTERNATION.sub("", row[field])
        if re.search(r"[{}|]", bare):
            yield "notation", f"stray brace or bar in {field}"
    yield from _spelling(text)
    pairs = ALTERNATION.findall(text)
    if not any(m != f for m, f in pairs):
        yield "no difference", "the two variants are the same"
    for m in ALTERNATION.finditer(text):
        masculine, feminine = m.groups()
        if masculine == feminine:
            yield "alternation", f"{m.group(0)}: both sides are the same"
        if not masculine.strip() or not feminine.strip():
            yield "alternation", f"{m.group(0)}: an empty side"
        if masculine != masculine.strip() or feminine != feminine.strip():
            yield "alternation", f"{m.group(0)}: space inside the brace's edge"
        if "," in m.group(0) or "،" in m.group(0):
            yield "alternation", f"{m.group(0)}: a comma divides two alternations"
        before, after = text[: m.start()][-1:], text[m.end():][:1]
        if before and (before.isalnum() or before == "}"):
            yield "alternation", f"{m.group(0)}: touches {before!r}; alternations cover whole words"
        if after and (after.isalnum() or after == "{"):
            yield "alternation", f"{m.group(0)}: touches {after!r}; alternations cover whole words"
        a, b = masculine.split(), feminine.split()
        if len(a) > 1 and len(b) > 1 and (a[0] == b[0] or a[-1] == b[-1]):
            yield "alternation", f"{m.group(0)}: a word is repeated on both sides; leave it outside"
    plain = [expand(text, side) for side in (0, 1)]
    opening, closing = QUOTES[language]
    terminal = TERMINALS.get(language, ".?!…")
    if kind == "conversation":
        if text.count(opening) != 2 or text.count(closing) != 2:
            yield "quotes", f"a conversation has two turns in {opening}…{closing}"
        ends = [t + closing for t in terminal if t != "." or language not in STOP_AFTER_QUOTE]
        if language in STOP_AFTER_QUOTE:
            ends.append(closing + ".")
            if "." + closing in text:
                yield "quotes", f"the full stop stands after {closing}"
        if not text.endswith(tuple(ends)):
            yield "form", f"must end with one of {' '.join(ends)}"
    elif not text.endswith(tuple(terminal)):
        yield "form", "must end with a full stop"
    for side, variant in zip(("masculine", "feminine"), plain):
        ratio = len(variant) / len(english["text"])
        if not 0.55 <= ratio <= 1.9:
            yield "length", f"{side} variant has {ratio:.2f} times the characters of the English text"
    same = SequenceMatcher(None, *plain, autojunk=False).ratio()
    if same < 0.5:
        yield "shared", f"the variants share only {same:.0%} of their characters"


# Words outside braces that usually refer to the person and so should stand inside one; a row where
# they truly mean somebody or something else is listed in occupairs_exceptions.tsv.
FORGOTTEN = {
    "de": r"er|ihm|ihn|ihr|ihre[mnrs]?|seine?[mnrs]?|dessen|derselben?|jener|diese[rmn]?",
    "cs": r"on|ona|jeho|její(?:ho|mu|m|ch)?|ho|ji|mu|jí|něho|něj|němu|něm|ní|ním|sám|sama|rád|ráda",
    "ru": r"он|она|его|её|ему|ей|нему|ней|нём|сам|сама|один|одна",
    "uk": r"він|вона|його|її|йому|їй|нього|неї|ньому|ній|сам|сама",
    "el": r"αυτός|αυτή|αυτόν|αυτήν|ίδιος|ίδια|μόνος|μόνη|οποίος|οποία",
    "is": r"hann|hún|honum|henni|hans|hennar|hana|einn|ein",
    "fr": r"elle|celui|celle|lequel|laquelle|duquel|auquel|seule?",
    "ar": r"هو|هي|الذي|التي|نفسه|نفسها|وحده|وحدها",
}


def check_target(rows, english_rows, language, exceptions=frozenset()):
    """Yield (segment_id, rule, detail) over the rows of one target language."""
    english = {r["segment_id"]: r for r in english_rows}
    ids = [r["segment_id"] for r in rows]
    for missing in [i for i in english if i not in set(ids)]:
        yield missing, "id", "missing"
    for unknown in [i for i in ids if i not in english]:
        yield unknown, "id", "not in English"
    if ids != sorted(set(ids)):
        yield "-", "order", "ids must be unique and sorted"
    owner = {}
    forgotten = re.compile(rf"(?<!\w)(?:{FORGOTTEN[language]})(?!\w)", re.I)
    for row in rows:
        if row["segment_id"] not in english:
            continue
        for rule, detail in check_target_row(row, english[row["segment_id"]], language):
            if (language, row["segment_id"], rule) not in exceptions:
                yield row["segment_id"], rule, detail
        if (language, row["segment_id"], "forgotten") not in exceptions:
            for m in forgotten.finditer(ALTERNATION.sub(" ", row["text"])):
                yield row["segment_id"], "forgotten", f"{m.group(0)!r} stands outside braces: does it mean the person?"
        for side in (0, 1):
            text = expand(row["text"], side)
            if owner.setdefault(text, row["segment_id"]) != row["segment_id"]:
                yield row["segment_id"], "duplicate", f"same text as {owner[text]}"


EXCEPTIONS = Path(__file__).with_name("occupairs_exceptions.tsv")


def read_exceptions(path=EXCEPTIONS):
    """(language, segment_id, rule) triples that a reviewer looked at and allowed, each with a reason."""
    if not path.exists():
        return frozenset()
    with path.open(encoding="utf-8", newline="") as handle:
        return frozenset((r["language"], r["segment_id"], r["rule"]) for r in csv.DictReader(handle, delimiter="\t", quoting=3))


def main(language, *paths):
    if language == "en":
        rows = sorted((r for p in paths for r in read_rows(p)[1]), key=lambda r: r["segment_id"])
        found = list(check_english(rows))
    else:
        found = list(check_target(read_rows(paths[0])[1], [r for p in paths[1:] for r in read_rows(p)[1]], language, read_exceptions()))
    for finding in found:
        print("\t".join(finding))
    print(f"{len(found)} findings", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
