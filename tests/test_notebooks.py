"""Each notebook by itself, as somebody would run it by hand: on a fresh study it prepares what is missing."""

import json
import shutil
import subprocess
import sys

import mini
import pytest

from mtgender import study
from mtgender.study import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").rglob("*.ipynb"))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    built = mini.build(tmp_path_factory.mktemp("notebooks"), f"by-hand-{tmp_path_factory.getbasetemp().name}")
    yield built
    shutil.rmtree(study.load(built).results, ignore_errors=True)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebook_runs_by_hand(notebook, path, tmp_path, warm):
    parameters = "".join(json.loads(notebook.read_text())["cells"][1]["source"])
    names = {c for c in ("language", "system", "simulations", "families") if f"\n{c} = " in parameters}
    system = "hunspell" if "error" in notebook.stem else "DeepL" if "system_run" in notebook.stem else "e5-cosine"
    given = [x for name, value in (("language", "de"), ("system", system)) if name in names for x in ("-r", name, value)]
    given += [x for name, value in (("simulations", "100"), ("families", "400")) if name in names for x in ("-p", name, value)]
    command = [sys.executable, str(ROOT / "src/warm_papermill.py"), str(notebook), str(tmp_path / "out.ipynb"), "--no-progress-bar",
               "-r", "study", str(path)]
    result = subprocess.run([*command, *given], capture_output=True, text=True, cwd=tmp_path, env=warm)
    assert result.returncode == 0, result.stderr[-2000:]
    outputs = [o for c in json.loads((tmp_path / "out.ipynb").read_text())["cells"] for o in c.get("outputs", [])]
    assert outputs and not [o for o in outputs if o["output_type"] == "stream" and o["name"] == "stderr"]
