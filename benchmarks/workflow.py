"""Whole studies: notebooks on the warm papermill against the papermill command line, and what a change of nothing or of one file costs.

CPU time and memory are those of the whole machine (/proc), so nothing else may run; wall and CPU stand side by side in one run.
"""

import concurrent.futures
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from mtgender import study
from mtgender.study import ROOT

CORES = len(os.sched_getaffinity(0))
SYSTEMS, LANGUAGES, RUNS = 25, ("ar", "cs", "de", "is", "ru", "uk"), 148
WARM = str(ROOT / "src/warm_papermill.py")


def cpu():
    """Seconds that the processors of this machine were at work since it started."""
    user, nice, system, _, _, irq, softirq, *_ = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def free():
    """GiB of memory that are available."""
    return next(int(line.split()[1]) for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemAvailable")) / 2**20


def timed(function):
    """Wall and CPU seconds of a call, and the most memory in use above that before it, GiB."""
    wall, work, before, done, low = time.perf_counter(), cpu(), free(), threading.Event(), [free()]

    def watch():
        while not done.wait(0.1):
            low[0] = min(low[0], free())
    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        function()
    finally:
        done.set()
        watcher.join()
    return time.perf_counter() - wall, cpu() - work, before - low[0]


def checked(*command, **options):
    """Run a command; its output is shown only where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


@contextlib.contextmanager
def server(folder):
    """The warm papermill at work; gives the environment of its callers."""
    environment = {**os.environ, "WARM_PAPERMILL": str(Path(folder, "socket"))}
    process = subprocess.Popen([sys.executable, WARM, "--serve"], env=environment, cwd=ROOT)
    while not Path(folder, "socket").exists():
        time.sleep(0.05)
    time.sleep(3)                                             # it listens at once; the stack is imported by now
    try:
        yield environment
    finally:
        process.terminate()
        process.wait()


def notebooks(name="occupairs"):
    """(notebook, parameters) of every run of a study that has been made."""
    loaded = study.load(name)
    executed = sorted(p for kind in ("metrics/2_score_run", "metrics/5_error_run", "systems/3_system_run")
                      for p in (loaded.results / "notebooks" / kind).glob("*.ipynb"))
    if not executed:
        raise SystemExit("make the default study first: ./run_all.sh")
    return [(f"notebooks/{p.parent.relative_to(loaded.results / 'notebooks')}.ipynb",
             json.loads(p.read_text(encoding="utf-8"))["metadata"]["papermill"]["parameters"]) for p in executed]


def execute(command, jobs, folder, environment):
    """Run the notebooks, as many at a time as there are cores."""
    def one(job):
        number, (notebook, parameters) = job
        given = [x for key, value in parameters.items() for x in ("-r", key, value)]
        checked(*command, notebook, str(Path(folder, f"{number}.ipynb")), "--no-progress-bar", *given, env=environment)
    with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
        list(pool.map(one, enumerate(jobs)))


def warm(repeats, every):
    """{"papermill" | "warm": [(wall, CPU, memory), …]} of every `every`-th run notebook of the default study; and their number."""
    jobs = notebooks()[::every]
    base = {**os.environ, "MPLBACKEND": "module://matplotlib_inline.backend_inline",
            **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")}
    took = {"papermill": [], "warm": []}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(repeats):
            took["papermill"].append(timed(lambda: execute([sys.executable, "-m", "papermill"], jobs, folder, base)))
            with server(folder) as found:
                hot = {**base, "WARM_PAPERMILL": found["WARM_PAPERMILL"]}
                took["warm"].append(timed(lambda hot=hot: execute([sys.executable, WARM], jobs, folder, hot)))
    return took, len(jobs)


def synthetic(folder, runs=RUNS, name="benchmark"):
    """A study of `runs` runs on OccuPairs, its scores drawn at random; returns its path."""
    rng = np.random.default_rng(0)
    chosen = [(f"system{i:02d}", code) for i in range(SYSTEMS) for code in LANGUAGES][:runs]
    for system, code in chosen:
        ids = pd.read_csv(ROOT / f"data/occupairs/{code}.tsv", sep="\t", dtype=str, usecols=["segment_id"], quoting=3)
        scores = rng.normal([0.52, 0.5], 0.1, (len(ids), 2)).round(6)
        Path(folder, system).mkdir(exist_ok=True)
        ids.assign(masculine=scores[:, 0], feminine=scores[:, 1]).to_csv(Path(folder, system, f"{code}.tsv"), sep="\t", index=False)
    described = {"name": name, "title": "Synthetic scores for timing", "pairs": str(ROOT / "data/occupairs"), "languages": list(LANGUAGES),
                 "scores": {system: {"path": str(Path(folder, system)), "languages": [c for s, c in chosen if s == system]}
                            for system in dict.fromkeys(s for s, _ in chosen)}}
    path = Path(folder, f"{name}.yaml")
    path.write_text(yaml.safe_dump(described), encoding="utf-8")
    return path


def default(repeats):
    """[(wall, CPU, memory), …] of the default study from nothing, without the simulation."""
    path = ROOT / "results" / "benchmark.yaml"
    path.write_text(f"extends: {ROOT}/studies/occupairs.yaml\nname: benchmark\npublish: false\n", encoding="utf-8")
    results, took = study.load(path).results, []
    try:
        for _ in range(repeats):
            checked("rm", "-rf", str(results))
            took.append(timed(lambda: checked("./run_all.sh", str(path))))
    finally:
        checked("rm", "-rf", str(results), str(path))
    return took


def whole(repeats, runs=RUNS):
    """{"made" | "nothing" | "one file": [(wall, CPU, memory), …]} of a synthetic study."""
    took = {"made": [], "nothing": [], "one file": []}
    with tempfile.TemporaryDirectory() as folder:
        path = synthetic(folder, runs)
        results = study.load(path).results
        changed = Path(folder, "system00", "de.tsv")
        run = ("./run_all.sh", str(path))
        try:
            for _ in range(repeats):
                checked("rm", "-rf", str(results))
                took["made"].append(timed(lambda: checked(*run)))
                took["nothing"].append(timed(lambda: checked(*run)))
                lines = changed.read_text(encoding="utf-8").split("\n")
                lines[1] = "\t".join([lines[1].split("\t")[0], str(np.random.default_rng().random().__round__(6)), "0.5"])
                changed.write_text("\n".join(lines), encoding="utf-8")
                took["one file"].append(timed(lambda: checked(*run)))
        finally:
            checked("rm", "-rf", str(results))
    return took
