"""What a reader relies on: pins in step, notebooks clean, numbers of the README from committed tables."""

import json
import re
import subprocess
import sys
import tomllib

import pandas as pd
import pytest
import yaml

from mtgender import cli, tables
from mtgender.study import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").rglob("*.ipynb"))
LOCKS = sorted(ROOT.glob("requirements*.lock"))


def pins(path):
    return dict(re.findall(r"^([A-Za-z0-9_.-]+)==([^ ;\\\n]+)", path.read_text(), flags=re.M))


def normal(name):
    return re.split(r"[<>=!\[ ;]", name)[0].lower().replace("_", "-")


def test_locks_hold_what_pyproject_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = {"requirements.lock": ["analysis"], "requirements-test.lock": ["analysis", "test", "slurm"],
              "requirements-slurm.lock": ["analysis", "slurm"],
              "requirements-lab.lock": ["analysis", "lab"], "requirements-producers.lock": ["producers", "producers-test"],
              "requirements-gemma.lock": ["gemma"], "requirements-llm-judge.lock": ["llm-judge", "llm-judge-test"],
              "requirements-neural.lock": ["neural", "neural-test"]}
    assert {p.name for p in LOCKS} == set(wanted)
    for name, chosen in wanted.items():
        locked = pins(ROOT / name)
        for requirement in project["dependencies"] + [r for e in chosen for r in extras[e]]:
            assert normal(requirement) in locked, (name, requirement)
            exact = re.search(r"==([\w.]+)", requirement)
            assert not exact or locked[normal(requirement)] == exact.group(1)


@pytest.mark.parametrize("path", LOCKS, ids=lambda p: p.name)
def test_locks_agree_carry_hashes_and_no_address(path):
    text = path.read_text()
    assert not re.search(r"https?://|index.url", text)
    blocks = re.split(r"\n(?=\S)", text.strip())
    bare = [b for b in blocks if "--hash=sha256:" not in b]
    if path.name == "requirements-neural.lock":         # an environment of its own; which build of torch depends on the machine
        assert [b.partition("==")[0] for b in bare] == ["torch"] and pins(path)["numpy"].startswith("1.")
        return
    assert not bare
    base = pins(ROOT / "requirements.lock")
    assert not {n: v for n, v in pins(path).items() if n in base and base[n] != v}


def test_environment_yml_installs_the_lab_lock():
    content = yaml.safe_load((ROOT / "environment.yml").read_text())
    assert content["dependencies"][-1]["pip"] == ["-r requirements-lab.lock"]
    assert set(pins(ROOT / "requirements.lock")) <= set(pins(ROOT / "requirements-lab.lock"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebooks_are_thin_and_stripped(path):
    cells = json.loads(path.read_text())["cells"]
    code = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
    assert not any(c.get("outputs") or c.get("execution_count") for c in cells)
    assert not any(re.search(r"^\s*(def|class|lambda) ", c, re.M) for c in code)
    assert all(len(c.splitlines()) <= 25 for c in code)
    assert not any(re.search(r"producers|open\(|read_csv|read_parquet", c) for c in code)
    assert cli.notebook_parameters(path)[0] == "study"
    assert cells[0]["cell_type"] == "markdown" and all(w in "".join(cells[0]["source"]) for w in ("Aim.", "Inputs.", "Outputs."))
    assert "colophon" in cells[-1]["metadata"].get("tags", [])


def test_analysis_never_imports_producers():
    for path in (ROOT / "src" / "mtgender").glob("*.py"):
        if path.name != "cli.py":
            assert "producers" not in re.findall(r"^\s*(?:from|import) ([\w.]+)", path.read_text(), re.M)
    code = "import sys, mtgender.cli, mtgender.figures\nsys.exit(any('producers' in m for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def numbers_block(text, marker="results"):
    return re.search(rf"<!-- {marker} -->\n(.*?)<!-- /{marker} -->", text, re.S).group(1)


def test_readme_results_come_from_the_tables():
    """The block between the markers is what `tables.readme_results` makes of the committed tables."""
    assert numbers_block((ROOT / "README.md").read_text()) == tables.readme_results(ROOT / "tables")


def test_readme_producers_and_systems_come_from_cards_benchmark_and_tables():
    readme = (ROOT / "README.md").read_text()
    assert numbers_block(readme, "producers") == tables.readme_producers(ROOT)
    assert numbers_block(readme, "systems") == tables.readme_systems(ROOT / "tables") != ""
    assert numbers_block(readme, "rescored") == tables.readme_rescored(ROOT)
    assert numbers_block(readme, "benchmarks") == tables.readme_benchmarks(ROOT / "benchmarks/results.csv")


def test_data_card_comes_from_the_data():
    text = (ROOT / "data/README.md").read_text()
    for marker, block in tables.data_card(ROOT).items():
        assert re.search(rf"<!-- {marker} -->\n(.*?)<!-- /{marker} -->", text, re.S).group(1) == block, marker


def test_readme_map_of_claims_is_complete():
    command = [sys.executable, "-m", "snakemake", "all", "runs", "--summary", "--nolock"]
    summary = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    block = re.search(r"<!-- claims -->\n(.*?)<!-- /claims -->", (ROOT / "README.md").read_text(), re.S).group(1)
    assert block.strip() == cli.claims_map(summary)
    for file in re.findall(r"\]\(((?:tables|figures|notebooks)/[^)]+)\)", block):
        assert (ROOT / file).is_file(), file
    mapped = set(re.findall(r"\]\((tables/[^)]+|figures/[^)]+)\)", block))
    committed = {p.relative_to(ROOT).as_posix() for f in ("tables", "figures") for p in (ROOT / f).glob("*") if p.suffix in (".md", ".png")}
    assert mapped == committed


def test_readme_links_exist():
    reading = [p.relative_to(ROOT).as_posix() for p in (ROOT / "docs/reading").glob("*.md")]
    assert len(reading) > 10
    for name in ("README.md", "data/README.md", "benchmarks/results.md", *reading):
        text = (ROOT / name).read_text()
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
            assert ((ROOT / name).parent / target).exists(), (name, target)


LONG = {"score_runs", "score_summaries", "error_runs", "system_runs", "metrics_occupations", "joint_occupations", "joint_robustness_runs"}


def test_committed_tables_have_three_forms():
    """All but the long ones, which the printed ones select from."""
    csv, md, tex = ({p.stem for p in (ROOT / "tables").glob(f"*.{form}")} for form in ("csv", "md", "tex"))
    assert csv - LONG == md == tex and LONG < csv


def test_scores_and_cards_belong_to_the_committed_texts():
    """A card's hash of the input texts is that of the texts in the repository."""
    import hashlib

    from mtgender import data, study
    chosen, digests = study.load("studies/occupairs.yaml"), {}
    for code in chosen.languages:
        pairs = data.read_pairs(chosen.pairs, code).sort_values("segment_id")
        rows = (json.dumps([r.segment_id, r.source, r.masculine, r.feminine], ensure_ascii=False) + "\n" for r in pairs.itertuples())
        digests[code] = hashlib.sha256("".join(rows).encode()).hexdigest()
    for kind in ("scores", "annotations"):
        for name, code in chosen.runs(kind):
            assert getattr(chosen, kind)[name].card["input_sha256"][code] == digests[code], (name, code)


def test_published_facts_are_carried_over():
    assert len(pd.read_csv(ROOT / "data/published/metrics_paper.csv")) == 83
