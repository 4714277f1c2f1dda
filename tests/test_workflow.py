"""The workflow as a user calls it, on a 12-occupation study cut from the real data."""

import json
import os
import re
import shutil
import subprocess
import time

import mini
import pandas as pd
import pytest
from test_shared_task import look_alike, metadata, study_file

from mtgender.study import ROOT, load


def run_all(*arguments, check=None):
    result = subprocess.run(["bash", str(ROOT / "run_all.sh"), *map(str, arguments)], capture_output=True, text=True, cwd="/", timeout=1800)
    if check is not None:
        assert result.returncode == check, result.stdout[-3000:] + result.stderr[-3000:]
    return result.stdout + result.stderr


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A mini study that has been run; its results are removed at the end."""
    name = f"mini-{os.getpid()}"
    path = mini.build(tmp_path_factory.mktemp("mini"), name)
    yield path, ROOT / "results" / name, run_all(path, check=0)
    shutil.rmtree(ROOT / "results" / name, ignore_errors=True)


def test_everything_is_made(study):
    path, results, _ = study
    notebooks = {p.relative_to(results / "notebooks").as_posix() for p in (results / "notebooks").rglob("*.ipynb")}
    assert notebooks == {"00_overview.ipynb", "metrics/1_challenge_set/de.ipynb", "metrics/3_score_prediction.ipynb",
                         "metrics/4_languages_occupations.ipynb", "metrics/6_error_annotation.ipynb", "metrics/7_coverage.ipynb",
                         "published/1_consistency.ipynb", "systems/1_benchmark.ipynb", "systems/3_system_run/WiBeMT.DeepL.de.ipynb",
                         "systems/4_systems.ipynb", "systems/5_real_world/de.ipynb",
                             "joint/1_evaluators_meet_systems.ipynb", "joint/2_robustness.ipynb",
                         "metrics/5_error_run/hunspell.de.ipynb", "metrics/2_score_run/e5-cosine.de.ipynb",
                         "metrics/2_score_run/wordfreq-zipf.de.ipynb", "metrics/2_score_run/source-length.de.ipynb"}
    runs = pd.read_csv(results / "tables/score_runs.csv", keep_default_na=False)
    assert list(runs["system"]) == ["e5-cosine", "wordfreq-zipf", "source-length"] and set(runs["n"]) == {36}
    assert list(runs["significant"] != "") == [True, False, False]
    assert {p.suffix for p in (results / "tables").glob("metrics_table2.*")} == {".csv", ".md", ".tex"}
    assert (results / "site/index.html").is_file()
    source = re.search(r"Executed copy of \[.*\]\((.*)\)", (results / "reading/00_overview.md").read_text())[1]
    assert (results / "reading" / source).resolve() == ROOT / "notebooks/00_overview.ipynb"


def test_manifest_tells_what_was_run(study):
    _, results, _ = study
    manifest = json.loads((results / "manifest.json").read_text())
    entry = manifest["notebooks"]["metrics/2_score_run/e5-cosine.de.ipynb"]
    assert entry["parameters"]["system"] == "e5-cosine" and entry["sha256"] and entry["seconds"] > 0 and not entry["failed"]
    assert any(name.endswith("e5-cosine/de.tsv") for name in manifest["inputs"])


def test_a_second_call_does_nothing_and_installs_nothing(study):
    path, results, _ = study
    before = {p: p.stat().st_mtime_ns for p in results.rglob("*") if p.is_file()}
    output = run_all(path, check=0)
    assert "up to date" in output and "Nothing to be done" in output
    assert {p: p.stat().st_mtime_ns for p in results.rglob("*") if p.is_file()} == before


def test_dry_run_makes_nothing_but_names_the_jobs(study):
    path, results, _ = study
    output = run_all(path, "-n", "--forcerun", "metrics_7_coverage", check=0)
    assert "metrics_7_coverage" in output


def test_the_study_stays_the_study_whatever_else_is_configured(study):
    """Snakemake heeds its last --config only; the study may stand anywhere among the options."""
    path, results, _ = study
    output = run_all("--verbose", "-j", "1", path, "-C", "producers=comet", "study=x", "--config=languages=de", "--summary", check=0)
    assert f"results/{results.name}/site/index.html" in output and "results/occupairs" not in output
    output = run_all(path, path, check=1)
    assert f"mtgender: two studies: {path} and {path}" in output


def test_a_refused_run_leaves_the_others(study, tmp_path):
    """One score file loses a line: that run is refused by name, everything else is made, exit status 1."""
    name = f"refused-{os.getpid()}"
    path = mini.build(tmp_path, name)
    file = tmp_path / "wordfreq-zipf/de.tsv"
    lines = file.read_text().splitlines()
    file.write_text("\n".join(lines[:5] + lines[6:]) + "\n")
    try:
        output = run_all(path, check=1)
        assert "refused" in output and "wordfreq-zipf/de.tsv" in output and lines[5].split("\t")[0] in output
        assert "Traceback" not in output
        results = ROOT / "results" / name
        table = pd.read_csv(results / "tables/metrics_table2.csv")
        assert list(table["system"]) == ["e5-cosine", "source-length", "wordfreq-zipf"] or "wordfreq-zipf" in set(table["system"])
        printed = (results / "tables/metrics_table2.md").read_text()
        assert "–" in next(line for line in printed.splitlines() if "wordfreq" in line)
        assert (results / "site/index.html").is_file() and (results / "manifest.json").is_file()
    finally:
        shutil.rmtree(ROOT / "results" / name, ignore_errors=True)


def test_bad_study_gets_one_line(tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text("extends: occupairs\nadd_score:\n  x: {path: y}\n")
    output = run_all(path, check=2)
    assert "Traceback" not in output and "line 2" in output and "add_scores" in output


def test_two_calls_on_one_results_folder(study):
    path, results, _ = study
    holder = subprocess.Popen(["bash", "-c", "exec -a run_all sleep 60"])
    try:
        time.sleep(0.5)
        (results / ".running").write_text(str(holder.pid))
        output = run_all(path, check=1)
        assert f"process {holder.pid}" in output and results.name in output
    finally:
        holder.kill()
        holder.wait()
    assert "Nothing to be done" in run_all(path, check=0)   # a dead holder is no holder


def test_a_lock_left_by_a_killed_run_is_cleared(study):
    path, results, _ = study
    locks = ROOT / ".snakemake/locks"
    locks.mkdir(exist_ok=True)
    (locks / "0.output.lock").write_text(f"results/{results.name}/site/index.html\n")
    output = run_all(path, "--forcerun", "manifest", check=0)
    assert "done" in output and not list(locks.glob("*"))


@pytest.mark.slow
def test_check_compares_with_the_committed_tables():
    output = run_all("--check", check=0)
    assert "tables are the same" in output and "differs" not in output


@pytest.mark.slow
def test_a_whole_study_on_look_alikes(tmp_path):
    """8,771 texts in 436 groups, two languages, two systems: from the files of a shared task to every table."""
    languages = {"cs": "cs_CZ", "ru": "ru_RU"}
    look_alike(tmp_path / "lookalike", metadata(), languages, ("alpha", "beta"))
    path = study_file(tmp_path / "lookalike", targets=languages)
    chosen = load(path)
    try:
        run_all(path, check=0)
        table = (chosen.tables / "metrics_table2.md").read_text()
        assert "beta" in table and "8771 pairs" in table and (chosen.tables / "score_pairs.csv").is_file()
    finally:
        shutil.rmtree(chosen.results, ignore_errors=True)


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed")
def test_pages_open_in_a_browser(study, tmp_path):
    _, results, _ = study
    for page, expected in (("index", "Score run: e5-cosine.de"), ("00_overview", "metric runs differ from zero"),
                           ("metrics_1_challenge_set_de", "<ins>"), ("metrics_2_score_run_e5-cosine.de", "of the observed range")):
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--dump-dom",
                   f"--user-data-dir={tmp_path / 'profile'}", (results / "site" / f"{page}.html").as_uri()]
        dom = subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
        assert expected in dom, page
        assert not any(text in dom for text in ("Traceback", "&lt;Figure size"))


def test_old_python_and_missing_venv_get_one_line(tmp_path):
    (tmp_path / "python3").write_text('#!/bin/sh\ncase "$*" in *version_info*) exit 1;; -V) echo "Python 3.9.2";; esac\n')
    (tmp_path / "python3").chmod(0o755)
    script = f'. "{ROOT}/src/environment.sh"; cd "{tmp_path}"; touch lock; PATH="{tmp_path}:/usr/bin:/bin" make_environment .venv lock'
    hide = {**os.environ, "PATH": "/usr/bin:/bin", "PYTHON": ""}
    (tmp_path / "python3.13").symlink_to("/bin/false")
    (tmp_path / "python3.12").symlink_to("/bin/false")
    (tmp_path / "python3.11").symlink_to("/bin/false")
    result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=hide)
    assert result.returncode == 1 and result.stderr == "mtgender: Python 3.11 or newer is needed; python3 is 3.9.2\n"


# ---- the last two leave their study behind as no other test could use it

def test_a_failing_notebook_is_named_with_its_cell(study):
    """A broken prepared frame fails one notebook; the other goes on, and the end says where."""
    path, results, _ = study
    frame = results / "prepared/annotations.parquet"
    times = frame.stat().st_atime, frame.stat().st_mtime
    broken = pd.read_parquet(frame).drop(columns="errors")
    broken.to_parquet(frame)
    os.utime(frame, times)                                  # behind Snakemake's back: only what is forced runs again
    output = run_all(path, "--forcerun", "metrics_5_error_run", "metrics_7_coverage", check=1)
    assert "failed    notebooks/metrics/5_error_run.ipynb, cell" in output and "executed copy" in output
    copy = results / "notebooks/metrics/5_error_run/hunspell.de.ipynb"
    assert copy.is_file() and json.loads(copy.read_text())["metadata"]["papermill"]["exception"]


@pytest.mark.slow
def test_a_changed_setting_is_inferred_again_even_if_the_run_after_it_was_stopped(study):
    path, results, _ = study
    text = path.read_text()
    path.write_text(text.replace('"replicates": 200', '"replicates": 210'))
    command = f"PATH=$PWD/.venv/bin:$PATH snakemake --cores 1 --config study={path} -- results/{results.name}/prepared/runs.csv"
    subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, check=True)                # prepare alone
    assert re.search(r"^ +infer ", run_all(path, "-n", check=0), re.M)
