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


def run(command, source, target, environment, *options):
    result = subprocess.run([*command, str(source), str(target), "--no-progress-bar", "--log-level", "ERROR", *options],
                            env=environment, cwd=environment["HERE"], capture_output=True, text=True, timeout=120)
    return result, json.loads(target.read_text()) if target.exists() else None


def outputs(executed):
    return [[{k: v for k, v in o.items() if k != "execution_count"} for o in c.get("outputs", [])] for c in executed["cells"]]


def test_outputs_and_metadata_equal_papermills(warm, tmp_path):
    source = notebook(tmp_path / "n.ipynb", *CELLS)
    plain = {k: v for k, v in warm.items() if k != "WARM_PAPERMILL"}
    (cold_run, cold), (hot_run, hot) = (run(c, source, tmp_path / f"{i}.ipynb", e, "-p", "x", "3") for i, (c, e) in
                                          enumerate((([sys.executable, "-m", "papermill"], plain), (WARM, warm))))
    assert cold_run.returncode == hot_run.returncode == 0
    assert outputs(cold) == outputs(hot) and "image/png" in str(outputs(hot))
    assert cold["metadata"]["papermill"].keys() == hot["metadata"]["papermill"].keys()
    assert hot["metadata"]["papermill"]["parameters"] == {"x": 3}


def test_failing_notebook_tells_so(warm, tmp_path):
    source = notebook(tmp_path / "n.ipynb", "x = 1", "raise ValueError('on purpose')", "print('never')")
    result, executed = run(WARM, source, tmp_path / "out.ipynb", warm)
    assert result.returncode == 1 and "on purpose" in result.stderr
    assert executed["metadata"]["papermill"]["exception"] and "on purpose" in str(outputs(executed))
    assert run(WARM, tmp_path / "none.ipynb", tmp_path / "o.ipynb", warm)[0].returncode != 0


def test_nothing_leaks_from_one_notebook_to_the_next(warm, tmp_path):
    source = notebook(tmp_path / "n.ipynb", *CELLS, "print(np.random.random())")
    first, second = (outputs(run(WARM, source, tmp_path / f"{i}.ipynb", warm)[1]) for i in range(2))
    assert first[:-1] == second[:-1] and "1 None 0 True" in str(second)
    assert first[-1] != second[-1]


def test_without_a_server_papermill_itself_runs(warm, tmp_path):
    source = notebook(tmp_path / "n.ipynb", "x = 1", "print(x)")
    result, executed = run(WARM, source, tmp_path / "out.ipynb", {**warm, "WARM_PAPERMILL": str(tmp_path / "nobody")})
    assert result.returncode == 0 and "running papermill itself" in result.stderr and "1" in str(outputs(executed))


def test_the_server_ends_with_its_parent(tmp_path):
    environment = {**os.environ, "WARM_PAPERMILL": str(tmp_path / "s")}
    command = f'"{sys.executable}" "{ROOT}/src/warm_papermill.py" --serve & while [ ! -S "{tmp_path}/s" ]; do sleep 0.1; done'
    subprocess.run(["bash", "-c", command], env=environment, timeout=60)
    for _ in range(600):                                     # it listens at once, and looks for its parent when the stack is imported
        if not (tmp_path / "s").exists():
            return
        time.sleep(0.1)
    raise AssertionError("the server outlived its parent")


def test_nothing_leaks_warnings_folder_settings_random_state(warm, tmp_path):
    """One notebook changes all that a process holds; the next sees what a new process of papermill's sees.

    Warning filters are those of a process that has imported the whole stack, whichever of it the notebook imports.
    """
    state = ("import matplotlib, numpy as np, pandas as pd\nprint(os.getcwd(), sorted(os.environ))\n"
             "print(matplotlib.rcParams['lines.linewidth'], plt.get_fignums(), pd.get_option('display.max_rows'), sys.path[0])\n"
             "print(np.geterr(), 'changed' in globals(), hasattr(np, 'changed'), threading.active_count() > 0)")
    changes = ("changed = np.changed = 1\nwarnings.simplefilter('error')\nos.chdir('/')\nos.environ['LEFT'] = '1'\nplt.figure()\n"
               "matplotlib.rcParams['lines.linewidth'] = 9\npd.set_option('display.max_rows', 7)\nnp.seterr(all='raise')\n"
               "np.random.seed(1)\nsys.path.insert(0, '/nowhere')")
    source = notebook(tmp_path / "n.ipynb", "x = 1", "import os, sys, threading, warnings\nimport matplotlib.pyplot as plt", state,
                      "print(warnings.filters)", changes)
    plain = {k: v for k, v in warm.items() if k != "WARM_PAPERMILL"}
    cold = outputs(run([sys.executable, "-m", "papermill"], source, tmp_path / "cold.ipynb", plain)[1])
    hot = [outputs(run(WARM, source, tmp_path / f"{i}.ipynb", warm)[1]) for i in range(2)]
    assert hot[0] == hot[1]
    without = [str([o for i, o in enumerate(outs) if i != 3]) for outs in (cold, hot[0])]
    assert without[0] == without[1].replace("'WARM_PAPERMILL', ", "")


def processes(mark):
    """Ids of living processes whose environment holds a mark."""
    found = []
    for folder in os.listdir("/proc"):
        try:
            ours = folder.isdigit() and mark in open(f"/proc/{folder}/environ").read()
            if ours and open(f"/proc/{folder}/stat").read().split()[2] != "Z":
                found.append(int(folder))
        except OSError:
            continue
    return found


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="processes are counted in /proc")
@pytest.mark.parametrize("whose", ["server", "caller", "worker"])
def test_no_kernel_outlives_its_server_or_its_caller(tmp_path, whose):
    mark = f"WARM_TEST={tmp_path}"
    world = {**os.environ, "WARM_TEST": str(tmp_path), "WARM_PAPERMILL": str(tmp_path / "s"), "HERE": str(tmp_path)}
    server = subprocess.Popen([*WARM, "--serve"], env=world)
    for _ in range(300):
        if (tmp_path / "s").exists():
            break
        time.sleep(0.1)
    source = notebook(tmp_path / "n.ipynb", f"at = {str(tmp_path / 'at')!r}",
                      "import os, time\nopen(at, 'w').write(str(os.getppid()))\ntime.sleep(60)")
    caller = subprocess.Popen([*WARM, str(source), str(tmp_path / "o.ipynb"), "--no-progress-bar"], env=world, stderr=subprocess.DEVNULL)
    for _ in range(600):
        if (tmp_path / "at").exists() and (tmp_path / "at").read_text():
            break
        time.sleep(0.1)
    victim = {"server": server.pid, "caller": caller.pid, "worker": int((tmp_path / "at").read_text())}[whose]
    os.kill(victim, 9)
    caller.kill()                                            # it would go on with papermill itself
    for _ in range(100):
        if set(processes(mark)) <= {server.pid}:
            break
        time.sleep(0.1)
    else:
        raise AssertionError(f"still there: {processes(mark)}")
    server.terminate()
    server.wait(20)
    caller.wait(20)


def test_a_system_without_fork_is_told(tmp_path):
    code = f"import os, sys, runpy; del os.fork; sys.argv = ['w', '--serve']; runpy.run_path({WARM[1]!r}, run_name='__main__')"
    world = {**os.environ, "WARM_PAPERMILL": str(tmp_path / "s")}
    result = subprocess.run([sys.executable, "-c", code], env=world, capture_output=True, text=True)
    assert result.returncode == 1 and "cannot fork" in result.stderr
