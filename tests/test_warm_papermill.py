"""The warm papermill gives what papermill gives: outputs, errors, exit codes, metadata; and nothing leaks between notebooks."""

import json
import os
import subprocess
import sys
import time

import nbformat
import pytest

from mtgender.study import ROOT

WARM = [sys.executable, str(ROOT / "src/warm_papermill.py")]
CELLS = ["x = 1", "import os, sys, random\nimport matplotlib.pyplot as plt\nimport numpy as np",
         "print(x, os.environ.get('LEFT_BEHIND'), len(plt.get_fignums()), os.getcwd() == os.environ['HERE'])",
         "os.environ['LEFT_BEHIND'] = 'yes'",
         "plt.plot([1, 3, 2]);", "np.arange(x)"]


def notebook(path, *cells):
    made = [nbformat.v4.new_code_cell(c) for c in cells]
    made[0]["metadata"]["tags"] = ["parameters"]
    meta = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=made, metadata=meta), path)
    return path


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("warm")
    environment = {**os.environ, "WARM_PAPERMILL": str(folder / "s"), "HERE": str(folder),
                   "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    server = subprocess.Popen([*WARM, "--serve"], env=environment)
    for _ in range(300):
        if (folder / "s").exists():
            break
        time.sleep(0.1)
    assert (folder / "s").stat().st_mode & 0o777 == 0o600
    yield environment
    server.terminate()
    assert server.wait(20) == 0 and not (folder / "s").exists()


def run(command, source, target, environment, *options):
    result = subprocess.run([*command, str(source), str(target), "--no-progress-bar", "--log-level", "ERROR", *options],
                            env=environment, cwd=environment["HERE"], capture_output=True, text=True, timeout=120)
    return result, json.loads(target.read_text()) if target.exists() else None


def outputs(executed):
    return [[{k: v for k, v in o.items() if k != "execution_count"} for o in c.get("outputs", [])] for c in executed["cells"]]


def test_outputs_and_metadata_equal_papermills(environment, tmp_path):
    source = notebook(tmp_path / "n.ipynb", *CELLS)
    plain = {k: v for k, v in environment.items() if k != "WARM_PAPERMILL"}
    (cold_run, cold), (warm_run, warm) = (run(c, source, tmp_path / f"{i}.ipynb", e, "-p", "x", "3") for i, (c, e) in
                                          enumerate((([sys.executable, "-m", "papermill"], plain), (WARM, environment))))
    assert cold_run.returncode == warm_run.returncode == 0
    assert outputs(cold) == outputs(warm) and "image/png" in str(outputs(warm))
    assert cold["metadata"]["papermill"].keys() == warm["metadata"]["papermill"].keys()
    assert warm["metadata"]["papermill"]["parameters"] == {"x": 3}


def test_failing_notebook_tells_so(environment, tmp_path):
    source = notebook(tmp_path / "n.ipynb", "x = 1", "raise ValueError('on purpose')", "print('never')")
    result, executed = run(WARM, source, tmp_path / "out.ipynb", environment)
    assert result.returncode == 1 and "on purpose" in result.stderr
    assert executed["metadata"]["papermill"]["exception"] and "on purpose" in str(outputs(executed))
    assert run(WARM, tmp_path / "none.ipynb", tmp_path / "o.ipynb", environment)[0].returncode != 0


def test_nothing_leaks_from_one_notebook_to_the_next(environment, tmp_path):
    source = notebook(tmp_path / "n.ipynb", *CELLS, "print(np.random.random())")
    first, second = (outputs(run(WARM, source, tmp_path / f"{i}.ipynb", environment)[1]) for i in range(2))
    assert first[:-1] == second[:-1] and "1 None 0 True" in str(second)
    assert first[-1] != second[-1]


def test_without_a_server_papermill_itself_runs(environment, tmp_path):
    source = notebook(tmp_path / "n.ipynb", "x = 1", "print(x)")
    result, executed = run(WARM, source, tmp_path / "out.ipynb", {**environment, "WARM_PAPERMILL": str(tmp_path / "nobody")})
    assert result.returncode == 0 and "running papermill itself" in result.stderr and "1" in str(outputs(executed))


def test_the_server_ends_with_its_parent(tmp_path):
    environment = {**os.environ, "WARM_PAPERMILL": str(tmp_path / "s")}
    command = f'"{sys.executable}" "{ROOT}/src/warm_papermill.py" --serve & while [ ! -S "{tmp_path}/s" ]; do sleep 0.1; done'
    subprocess.run(["bash", "-c", command], env=environment, timeout=60)
    for _ in range(100):
        if not (tmp_path / "s").exists():
            return
        time.sleep(0.1)
    raise AssertionError("the server outlived its parent")
