"""Beyond one machine: the 12-occupation study on a SLURM of one node, from Debian's packages, and producers as jobs."""

import os
import shutil
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import mini
import pytest

from mtgender.study import ROOT

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue")
CONFIGURATION = Path("/etc/slurm/slurm.conf")                                  # jobs lose $SLURM_CONF
SETTINGS = """ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
AuthType=auth/munge
AuthInfo=socket={0}/munge.socket
SlurmUser=root
StateSaveLocation={0}/state
SlurmdSpoolDir={0}/spool
SlurmctldPidFile={0}/slurmctld.pid
SlurmdPidFile={0}/slurmd.pid
SlurmctldLogFile={0}/slurmctld.log
SlurmdLogFile={0}/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MinJobAge=300
NodeName=localhost NodeAddr=127.0.0.1 CPUs=32 RealMemory=64000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def environment():
    """What run_all.sh gives Snakemake."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1",
            "MPLBACKEND": "module://matplotlib_inline.backend_inline"}


def snakemake(path, *arguments, config=()):
    command = [sys.executable, "-m", "snakemake", *arguments, "--config", f"study={path}", *config]
    result = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=300)
    return result.returncode, result.stdout + result.stderr


@pytest.fixture
def study(tmp_path):
    name = f"{tmp_path.name}-{os.getpid()}"
    yield mini.build(tmp_path, name), ROOT / "results" / name
    shutil.rmtree(ROOT / "results" / name, ignore_errors=True)


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    """A SLURM of one node on this machine's loopback address; ends with the tests."""
    missing = [p for p in PROGRAMS if not shutil.which(p)]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (Debian: slurmctld slurmd slurm-client munge)")
    if not find_spec("snakemake_executor_plugin_slurm"):
        pytest.skip("snakemake-executor-plugin-slurm is not installed (the extra mtgender[slurm])")
    if os.geteuid():
        pytest.skip("starting slurmd needs root")
    if CONFIGURATION.exists():
        pytest.skip(f"{CONFIGURATION} is there: this machine has a SLURM of its own")
    folder = tmp_path_factory.mktemp("slurm")
    for place in (folder, *folder.parents):                                     # munge wants to be reachable
        if place.stat().st_uid == os.geteuid() and place.is_relative_to("/tmp") and place != Path("/tmp"):
            place.chmod(0o755)
    for name in ("state", "spool"):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    CONFIGURATION.parent.mkdir(exist_ok=True)
    CONFIGURATION.write_text(SETTINGS.format(folder))
    daemons = []
    try:
        munge = ["munged", "--foreground", "--force", f"--key-file={key}", *(f"--{n}={folder}/munge.{n.split('-')[0]}" for n in
                 ("socket", "pid-file", "log-file", "seed-file"))]
        for command in (munge, ["slurmctld", "-D"], ["slurmd", "-D"]):
            daemons.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True))
            time.sleep(0.5)
        for _ in range(100):
            if "idle" in subprocess.run(["sinfo", "--noheader"], capture_output=True, text=True).stdout:
                break
            time.sleep(0.2)
        else:
            raise AssertionError("".join(p.read_text()[-2000:] for p in folder.glob("*.log")))
        yield folder
        subprocess.run(["scancel", "--user=root"], capture_output=True)
    finally:
        for daemon in reversed(daemons):
            daemon.send_signal(signal.SIGTERM)
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
        CONFIGURATION.unlink()


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("MTGENDER_LONG"), reason="minutes long: ./run_tests.sh --all --long")
def test_the_profile_runs_a_study_on_slurm_in_groups(slurm, study):
    path, results = study
    status, output = snakemake(path, "runs", "--profile", "profiles/slurm", "--slurm-status-command", "squeue",
                               "--seconds-between-status-checks", "1", "--slurm-init-seconds-before-status-checks", "1",
                               "--latency-wait", "10")
    assert status == 0, output[-3000:]
    assert output.count("has been submitted with SLURM jobid") == 3              # prepare, infer, all notebooks together
    assert "group_runs" in output
    made = {p.relative_to(results / "runs").as_posix() for p in (results / "runs").glob("*.csv")}
    assert {"score_run.e5-cosine.de.csv", "error_run.hunspell.de.csv", "challenge_set.de.csv"} <= made
    log = (slurm / "slurmctld.log").read_text()
    assert log.count("_job_complete: JobId") >= 3 and "WEXITSTATUS 1" not in log


def test_producers_are_rules(study):
    path, results = study
    here = [f"producers_python={sys.executable}", "producers=source-length"]
    status, output = snakemake(path, "scored", "--cores", "2", config=here)
    assert status == 0, output[-3000:]
    lines = (results / "produced/scores/source-length/de.tsv").read_text().splitlines()
    assert lines[0] == "segment_id\tmasculine\tfeminine" and len(lines) == 37
    assert all(m == f for _, m, f in (line.split("\t") for line in lines[1:]))
    assert "de: " in (results / "produced/scores/source-length/card.yaml").read_text()
    status, output = snakemake(path, "scored", "--cores", "2", config=here)
    assert status == 0 and "Nothing to be done" in output
    status, output = snakemake(path, "scored", "--cores", "2", config=[here[0], "producers=nobody"])
    assert status == 1 and "unknown evaluator 'nobody'" in output


def test_the_studys_own_producers_by_default_and_gpus_by_profile(study):
    path, results = study
    status, output = snakemake(path, "scored", "annotated", "translated", "-n", "--cores", "2")
    assert status == 0, output
    for file in ("scores/e5-cosine/de.tsv", "scores/wordfreq-zipf/de.tsv", "scores/source-length/de.tsv", "annotations/hunspell/de.jsonl"):
        assert f"produced/{file}" in output
    status, output = snakemake(path, "scored", "-n", "-p", "--cores", "2", "--set-resources",
                               "score:gpu=int(wildcards.producer in ('comet',))", config=["producers=comet,source-length", "languages=de"])
    assert status == 0, output
    commands = {name: next(line for line in output.splitlines() if f"mtgender score {name}" in line) for name in ("comet", "source-length")}
    assert commands["comet"].rstrip().endswith("--gpu") and "--gpu" not in commands["source-length"]
