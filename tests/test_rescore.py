"""The committed scores and annotations, made again."""

import subprocess

import pytest

from mtgender.study import ROOT


@pytest.mark.slow
def test_rescore_reproduces_the_committed_files():
    """Twenty pairs a run; the full one is made by hand."""
    command = ["bash", str(ROOT / "run_all.sh"), "--rescore", "--limit", "20"]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", timeout=1800)
    output = done.stdout + done.stderr
    assert done.returncode == 0 and "0 different" in output and "e5-cosine (de): the same" in output, output[-2000:]
