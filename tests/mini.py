"""A 12-occupation study cut from the committed data, for tests of the whole workflow."""

import json

from mtgender import data
from mtgender.study import ROOT

CODES = ["0110", "1111", "2211", "2221", "3343", "4120", "5141", "6112", "7126", "8332", "9112", "9613"]


def cut_lines(source, target, keep, header=True):
    lines = data.read_lines(source)
    chosen = lines[:1] if header else []
    chosen += [line for line in lines[header:] if keep(line)]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("\n".join(chosen) + "\n", encoding="utf-8", newline="\n")


def build(folder, name, language="de", **extra):
    """Write the study under `folder`; returns its path. Systems get lists of lines to mend or break."""
    def of_ours(line):
        return line[:4] in CODES
    for code in ("en", language):
        cut_lines(ROOT / "data/occupairs" / f"{code}.tsv", folder / "occupairs" / f"{code}.tsv", of_ours)
    for system in ("e5-cosine", "wordfreq-zipf", "source-length"):
        cut_lines(ROOT / "data/scores" / system / f"{language}.tsv", folder / system / f"{language}.tsv", of_ours)
    cut_lines(ROOT / "data/annotations/hunspell" / f"{language}.jsonl", folder / "hunspell" / f"{language}.jsonl",
              lambda line: json.loads(line)["segment_id"][:4] in CODES, header=False)
    cut_lines(ROOT / "data/gender_counts/wibemt.csv", folder / "counts.csv",
              lambda line: line.split(",")[1] == "DeepL" and line.split(",")[5][:1] in ("2", "5", "7"))
    study = {"name": name, "title": "Mini study", "pairs": str(folder / "occupairs"), "languages": [language], "replicates": 200,
             "scores": {"e5-cosine": {"path": str(folder / "e5-cosine"), "label": "E5 cosine"},
                        "wordfreq-zipf": {"path": str(folder / "wordfreq-zipf"), "role": "fluency"},
                        "source-length": {"path": str(folder / "source-length"), "role": "control"}},
             "annotations": {"hunspell": {"path": str(folder / "hunspell")}}, "gender_counts": [str(folder / "counts.csv")], **extra}
    path = folder / f"{name}.yaml"
    path.write_text(json.dumps(study), encoding="utf-8")
    return path
