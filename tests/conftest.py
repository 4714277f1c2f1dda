"""A small study of our own: 12 occupations, three text types, two evaluators, one annotator, in a repository under tmp_path."""

import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest

from mtgender import cli, study

try:
    import hypothesis
except ModuleNotFoundError:                     # the environment of the neural metrics has none
    pass
else:
    hypothesis.settings.register_profile("timeless", deadline=None)         # a busy machine is no failure
    hypothesis.settings.load_profile("timeless")

OCCUPATIONS = {"0110": "Offizier", "0310": "Unteroffizier", "1411": "Hotelier", "2111": "Physiker", "2166": "Grafiker", "2641": "Autor",
               "3115": "Techniker", "5131": "Kellner", "6113": "Gärtner", "7126": "Klempner", "8331": "Busfahrer", "9313": "Bauhelfer"}
FRAMES = {"conversation": "»Ist {{der {0}|die {0}in}} da?« – »Ja, {{er|sie}} wartet.«",
          "report": "Gestern traf {{ein {0}|eine {0}in}} ein.",
          "statement": "{{Der {0}|Die {0}in}} kam am Montag."}
PAIRS = {f"{code}-{kind}": (code, kind, noun, frame.format(noun)) for code, noun in OCCUPATIONS.items() for kind, frame in FRAMES.items()}


def write(path, *lines, end="\n"):
    """Lines (cells joined by TAB where a line is a tuple) to a UTF-8 file as they are; returns its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(("\t".join(map(str, x)) if isinstance(x, tuple) else x) + end for x in lines).encode())
    return path


def write_pairs(folder, pairs=None, language="de"):
    """`en.tsv` and `<language>.tsv` of segment_id -> (isco, text type, noun, markup)."""
    pairs = PAIRS if pairs is None else pairs
    write(folder / "en.tsv", ("segment_id", "isco", "text_type", "occupation", "text"),
          *((i, code, kind, noun, f"The {noun} came.") for i, (code, kind, noun, _) in pairs.items()))
    write(folder / f"{language}.tsv", ("segment_id", "occupation", "text"),
          *((i, f"{{{noun}|{noun}in}}", text) for i, (_, _, noun, text) in pairs.items()))
    return folder


def write_scores(path, scores):
    """segment_id -> (masculine, feminine) as a score file."""
    return write(path, ("segment_id", "masculine", "feminine"), *((i, *pair) for i, pair in scores.items()))


def random_scores(seed, shift=0.05):
    rng = np.random.default_rng(seed)
    return {i: (f"{m + shift:.6f}", f"{f:.6f}") for i, (m, f) in zip(PAIRS, rng.uniform(0, 1, (len(PAIRS), 2)))}


def annotations(spans=lambda segment_id, variant: segment_id.endswith("report") and variant == "feminine"):
    """JSON lines for every text; one span where `spans` says so."""
    return [json.dumps({"segment_id": i, "variant": v, "errors": [{"start": 0, "end": 7, "severity": "minor", "category": "spelling"}]
                        if spans(i, v) else [], "omission": False, "instruction_fault": False}, ensure_ascii=False)
            for i in PAIRS for v in ("masculine", "feminine")]


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """An empty repository in place of ours: results, tables and relative paths fall under tmp_path."""
    root = tmp_path / "repository"
    (root / "studies").mkdir(parents=True)
    monkeypatch.setattr(study, "ROOT", root)
    monkeypatch.setattr(cli, "ROOT", root)
    return root


@pytest.fixture
def mini_study(repository):
    """Path of the study YAML: `noise` (metric), `length` (control, looks at the source only), annotator `spell`."""
    write_pairs(repository / "data" / "mini")
    write_scores(repository / "scores" / "noise" / "de.tsv", random_scores(1))
    write_scores(repository / "scores" / "length" / "de.tsv", {i: (len(noun), len(noun)) for i, (_, _, noun, _) in PAIRS.items()})
    write(repository / "annotations" / "spell" / "de.jsonl", *annotations())
    return write(repository / "studies" / "mini.yaml", "pairs: data/mini", "languages: [de]", "replicates: 300", "scores:",
                 "  noise: {path: scores/noise, label: Noise}", "  length: {path: scores/length, role: control}",
                 "annotations:", "  spell: {path: annotations/spell}")


@pytest.fixture(scope="session")
def warm(tmp_path_factory):
    """The environment of a process whose `python src/warm_papermill.py` finds a server."""
    folder = tmp_path_factory.mktemp("warm")
    environment = {**os.environ, "WARM_PAPERMILL": str(folder / "s"), "HERE": str(folder),
                   "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    server = subprocess.Popen([sys.executable, str(study.ROOT / "src/warm_papermill.py"), "--serve"], env=environment)
    for _ in range(300):
        if (folder / "s").exists():
            break
        time.sleep(0.1)
    assert (folder / "s").stat().st_mode & 0o777 == 0o600
    yield environment
    server.terminate()
    assert server.wait(20) == 0 and list(folder.iterdir()) == []


LONGEST = ("test_workflow", "test_rescore", "test_notebooks", "test_warm_papermill", "test_occupairs", "test_repository")


def pytest_collection_modifyitems(items):
    """Files that take longest first: two processes then end at nearly the same time."""
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))
