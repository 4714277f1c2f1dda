"""Interrupted, killed, without disk or rights: no half-written table, no orphan process, and the next call finishes the work.

Also what is made again after an edit. One 12-occupation study, in order; every run is the real `run_all.sh`.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import mini
import pandas as pd
import pytest

from mtgender.study import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not os.environ.get("MTGENDER_LONG"), reason="minutes long: ./run_tests.sh --all --long")]
MARK = f"MTGENDER_SAFETY_TEST={os.getpid()}"
NAME = f"safety-{os.getpid()}"


def start(path, *arguments):
    """run_all.sh in a process group of its own, all that it starts carrying a mark in the environment."""
    environment = {**os.environ, **dict([MARK.split("=")])}
    return subprocess.Popen(["bash", str(ROOT / "run_all.sh"), str(path), *arguments], env=environment, text=True, cwd="/",
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)


def run_all(path, *arguments, check=0):
    run = start(path, *arguments)
    output = run.communicate(timeout=300)[0]
    assert run.returncode == check, output[-3000:]
    return output


def steps(output):
    """The jobs of a run, as its lines name them."""
    return [m[1] for m in re.finditer(r"^ *\d+/\d+ +\d+:\d\d  (.*)$", output, re.M)]


def read_until(run, pattern):
    """Lines of a run until one matches."""
    seen = ""
    for line in run.stdout:
        seen += line
        if re.search(pattern, line):
            return seen
    raise AssertionError(f"{pattern} never came: {seen}")


def left():
    """Living processes of ours, id -> command line."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if MARK.encode() in (folder / "environ").read_bytes().split(b"\0") and (folder / "stat").read_text().split()[2] != "Z":
                found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
    return found


def nothing_left(seconds=15):
    for _ in range(10 * seconds):
        if not left():
            return
        time.sleep(0.1)
    raise AssertionError(f"still at work: {left()}")


def whole(results):
    """Every frame, table and figure can be read: nothing is half written."""
    readers = {".parquet": pd.read_parquet, ".csv": lambda p: p.read_text() == "\n" or pd.read_csv(p),
               ".svg": lambda p: p.read_text().index("</svg>"),
               ".png": lambda p: p.read_bytes().index(b"IEND"), ".json": lambda p: json.loads(p.read_text()),
               ".md": lambda p: p.read_text()[-1:].index("\n"), ".tex": lambda p: p.read_text().rindex("\\end{")}
    count = 0
    for path in results.rglob("*"):
        if path.is_file() and path.suffix in readers and not path.name.endswith(".part") and path.stat().st_size:
            readers[path.suffix](path)
            count += 1
        elif path.suffix in (".csv", ".parquet"):
            raise AssertionError(f"{path} is empty")
    return count


def tables(results):
    return {p.relative_to(results).as_posix(): p.read_bytes() for part in ("tables", "runs", "inference")
            for p in sorted((results / part).rglob("*")) if p.suffix in (".csv", ".md", ".tex", ".parquet")}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The study, its results folder, and the tables of a run that nothing disturbed."""
    results = ROOT / "results" / NAME
    path = mini.build(tmp_path_factory.mktemp("safety"), NAME)
    run_all(path)
    yield path, results, tables(results)
    shutil.rmtree(results, ignore_errors=True)


def finish(study):
    """The next call finishes the work, with the tables of an undisturbed run."""
    path, results, expected = study
    nothing_left()
    output = run_all(path)
    assert tables(results) == expected
    assert not list(results.rglob(".*.part")) and not (results / ".running").exists()
    assert "Nothing to be done" in run_all(path)
    return output


def test_ctrl_c(study):
    path, results, _ = study
    shutil.rmtree(results)
    run = start(path)
    read_until(run, r"^ *4/\d+")
    os.killpg(run.pid, signal.SIGINT)
    output = run.communicate(timeout=60)[0]
    assert run.returncode == 130 and "call again" in output and "Traceback" not in output
    assert not (results / ".running").exists()
    nothing_left()
    assert whole(results) > 10 and len(steps(output)) < 3
    made = steps(finish(study))
    assert "prepare" not in made and "manifest" in made                          # goes on where it stopped


@pytest.mark.parametrize("victim", ["driver", "snakemake"])
def test_killed_outright(study, victim):
    path, results, _ = study
    run = start(path, "--forcerun", "infer")
    read_until(run, r"^ *3/\d+")
    whom = run.pid if victim == "driver" else next(p for p, c in left().items() if "/snakemake all" in c)
    os.kill(whom, signal.SIGKILL)
    run.communicate(timeout=60)
    assert run.returncode != 0
    nothing_left()
    assert whole(results) > 10
    finish(study)


def test_a_killed_server_is_replaced_by_papermill(study):
    path, results, expected = study
    run = start(path, "--forcerun", "metrics_2_score_run")
    server = read_server()
    os.kill(server, signal.SIGKILL)
    output = run.communicate(timeout=200)[0]
    assert run.returncode == 0, output
    nothing_left()
    assert tables(results) == expected


def read_server():
    """Id of the warm server, once a notebook is at work."""
    for _ in range(600):
        servers = [p for p, c in left().items() if "warm_papermill.py --serve" in c]
        if len(servers) > 2:                                                     # it, a worker, a kernel
            return min(servers)
        time.sleep(0.05)
    raise AssertionError(f"no notebook is at work: {left()}")


def test_a_killed_kernel_fails_its_notebook(study):
    path, results, _ = study
    run = start(path, "--forcerun", "metrics_2_score_run", "-j", "1")
    server = read_server()
    parents = {p: int(Path(f"/proc/{p}/stat").read_text().split()[3]) for p, c in left().items() if "--serve" in c}
    kernel = next(p for p, parent in parents.items() if parents.get(parent) == server)
    os.kill(kernel, signal.SIGKILL)
    output = run.communicate(timeout=200)[0]
    assert run.returncode == 1 and "failed" in output and "metrics_2_score_run" in output, output
    assert whole(results) > 10
    finish(study)


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("mount"), reason="mounting a small disk needs root")
def test_a_full_disk_and_a_folder_that_cannot_be_written(study):
    path, results, _ = study
    shutil.rmtree(results)
    results.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(results)], capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"no small disk can be mounted here: {mounted.stderr}")
    try:
        output = run_all(path, check=1)
        assert "no space is left" in output and "Traceback" not in output
        whole(results)
        nothing_left()
        subprocess.run(["mount", "-o", "remount,ro", str(results)], check=True)
        output = run_all(path, check=1)
        assert output.splitlines()[-1] == f"mtgender: results/{NAME} cannot be written"
        subprocess.run(["mount", "-o", "remount,rw,size=200m", str(results)], check=True)
        finish(study)
    finally:
        subprocess.run(["umount", str(results)], check=True)
    run_all(path)


def test_touching_makes_nothing_again(study):
    path, results, _ = study
    for file in (path, path.parent / "e5-cosine/de.tsv", ROOT / "src/mtgender/tables.py", ROOT / "src/mtgender/data.py",
                 ROOT / "notebooks/metrics/2_score_run.ipynb"):
        file.touch()
    assert not set(steps(run_all(path))) - {"inferred", "runs", "all"}


def test_an_edited_score_file_reruns_its_notebook_and_the_summaries(study):
    path, results, _ = study
    file = path.parent / "wordfreq-zipf/de.tsv"
    lines = file.read_text().splitlines()
    cells = lines[1].split("\t")
    old, file_lines = (results / "tables/score_runs.csv").read_text(), [*lines]
    file_lines[1] = "\t".join([cells[0], f"{float(cells[1]) + 0.25:g}", cells[2]])
    file.write_text("\n".join(file_lines) + "\n")
    planned = run_all(path, "-n")
    assert "wordfreq-zipf/de.tsv" in planned and "at most these" in planned     # -n says why
    made = steps(run_all(path))
    assert "prepare" in made and "metrics_3_score_prediction" in made and "metrics_2_score_run run=wordfreq-zipf.de" in made
    assert [m for m in made if "=" in m] == ["metrics_2_score_run run=wordfreq-zipf.de"]
    assert (results / "tables/score_runs.csv").read_text() != old
    file.write_text("\n".join(lines) + "\n")
    finish(study)


def test_an_edited_module_reruns_what_uses_it(study):
    path, _, _ = study
    module = ROOT / "src/mtgender/repeats.py"
    used = ROOT / "src/mtgender/joint.py"
    for file, expected in ((module, set()), (used, {"joint_1_evaluators_meet_systems"})):
        text = file.read_bytes()
        file.write_bytes(text + b"# edited by a test\n")
        try:
            made = steps(run_all(path))
            assert {m for m in made if re.match(r"(metrics|systems|joint|published|overview)", m)} == expected
        finally:
            file.write_bytes(text)
            run_all(path)


def test_the_end_names_the_slowest_notebooks(study):
    path, *_ = study
    output = run_all(path, "--forcerun", "metrics_7_coverage")
    assert steps(output)[0] == "metrics_7_coverage"
    slowest = re.findall(r"^ +([\d.]+) s (\S+)$", output, re.M)
    assert len(slowest) == 5 and slowest == sorted(slowest, key=lambda x: -float(x[0]))
    assert all((study[1] / "notebooks" / f"{name}.ipynb").is_file() for _, name in slowest)
    assert "Select jobs" not in output and "Building DAG" not in output
    assert "Building DAG" in run_all(path, "--verbose")
