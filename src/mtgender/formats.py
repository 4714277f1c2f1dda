"""Outside formats: WMT25 and WMT26 evaluation inputs and outputs.

A pair becomes two hypotheses of one segment: `hyp-1` is the masculine text, `hyp-2` the feminine one.
"""

from __future__ import annotations

import json

import pandas as pd

from mtgender import data, isco
from mtgender.study import InputError

HYPOTHESES = {"hyp-1": "masculine", "hyp-2": "feminine"}
WMT25_SCORES = ["doc_id", "segment_id", "source_lang", "target_lang", "set_id", "system_id", "domain_name", "method", "overall"]
WMT25_TEXTS = ["doc_id", "segment_id", "source_lang", "target_lang", "set_id", "system_id", "source_segment", "hypothesis_segment",
               "reference_segment", "domain_name", "method"]


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
    return [json.dumps({"item_id": "_###_".join(("challenge", "en", language, set_id, row.segment_id, "0")), "src": row.source,
                        "ref": None, "hyps": {h: getattr(row, v) for h, v in HYPOTHESES.items()}}, ensure_ascii=False)
            for row in pairs.itertuples()]


def read_wmt25_scores(path, pairs, language, set_id, higher_is_better=True, partial=False):
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

    Returns
    -------
    DataFrame
        segment_id, masculine, feminine, decimals.
    """
    frame = data.read_tsv(path, WMT25_SCORES)
    target = frame["target_lang"].str.split("_").str[0]
    chosen = frame[(frame["set_id"] == f"challenge_{set_id}") & (target == language)]
    if not len(chosen):
        sets = ", ".join(sorted((frame["set_id"] + " " + frame["target_lang"]).unique())[:5])
        raise InputError(f"no row of set challenge_{set_id} and target language {language}; it holds {sets}", path=path)
    wrong = chosen[~chosen["system_id"].isin(list(HYPOTHESES))]
    if len(wrong):
        row = wrong.iloc[0]
        raise InputError(f"system {row['system_id']!r}, expected hyp-1 (masculine) or hyp-2 (feminine)", path=path,
                         line=int(row["line"]), segment_id=row["doc_id"])
    codes = dict(zip(pairs["segment_id"], pairs["isco"]))
    for row in chosen.itertuples():
        if row.doc_id in codes and isco.pad(row.domain_name, path=path, line=row.line, segment_id=row.doc_id) != codes[row.doc_id]:
            raise InputError(f"occupation {row.domain_name}, expected {codes[row.doc_id]}", path=path, line=row.line,
                             segment_id=row.doc_id)
    repeated = chosen[chosen.duplicated(["doc_id", "system_id"])]
    if len(repeated):
        row = repeated.iloc[0]
        raise InputError(f"{row['system_id']} occurs twice", path=path, line=int(row["line"]), segment_id=row["doc_id"])
    present = chosen[~chosen["overall"].isin(data.MISSING)]
    complete = present.groupby("doc_id")["system_id"].transform("size") == 2
    if not partial and (len(present) < len(chosen) or not complete.all()):
        row = (chosen[chosen["overall"].isin(data.MISSING)] if len(present) < len(chosen) else present[~complete]).iloc[0]
        raise InputError("a score is missing", path=path, line=int(row["line"]), segment_id=row["doc_id"],
                         hint="Complete the file, or set allow_partial: true in the study to have it shown as partial")
    sides = [present[complete & (present["system_id"] == h)].set_index("doc_id")[["overall", "line"]] for h in HYPOTHESES]
    wide = sides[0].join(sides[1], suffixes=("_masculine", "_feminine"))
    table = pd.DataFrame({"segment_id": wide.index, "masculine": wide["overall_masculine"].to_numpy(),
                          "feminine": wide["overall_feminine"].to_numpy(), "line": wide["line_masculine"].to_numpy(),
                          "line_masculine": wide["line_masculine"].to_numpy(), "line_feminine": wide["line_feminine"].to_numpy()})
    return data.check_scores(table, path, pairs["segment_id"], higher_is_better, partial)
