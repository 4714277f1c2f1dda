"""The papermill command line, warm: one process imports the stack once and forks papermill and its kernel for every notebook.

    python src/warm_papermill.py --serve       server; listens on the socket named by $WARM_PAPERMILL until its parent ends
    python src/warm_papermill.py ARGUMENTS…    papermill with these arguments, by the server; by papermill itself where there is none

Arguments, output, executed notebooks and exit codes are papermill's. Each notebook has the caller's environment and folder, its own kernel
and numpy's global generator seeded anew. Nothing of a project is imported here, so edits always count.
"""

import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading

PRELOAD = ("papermill.cli", "ipykernel.kernelapp", "ipykernel.debugger", "IPython.core.debugger", "matplotlib.pyplot",
           "numpy", "pandas", "pyarrow.dataset", "pyarrow.parquet", "scipy.stats", "seaborn", "tabulate", "yaml")


def client(arguments):
    """Hand arguments, environment, folder and standard streams to the server; return the notebook's exit code."""
    if address := os.environ.get("WARM_PAPERMILL"):
        try:
            with socket.socket(socket.AF_UNIX) as link, tempfile.TemporaryFile() as request:
                link.connect(address)
                request.write(json.dumps({"arguments": arguments, "folder": os.getcwd(), "environment": dict(os.environ)}).encode())
                request.seek(0)
                socket.send_fds(link, [b"?"], [0, 1, 2, request.fileno()])
                if answer := link.recv(1):
                    return answer[0]
            problem = f"the server at {address} ended"
        except (OSError, AttributeError) as error:           # no AttributeError: a system without such sockets
            problem = f"no server at {address} ({error})"
        print(f"warm_papermill: {problem}; running papermill itself", file=sys.stderr)
    os.execv(sys.executable, [sys.executable, "-m", "papermill", *arguments])


def serve():
    """Listen, import the stack, then fork a worker for every connection; ends when the parent process does."""
    hasattr(os, "fork") or sys.exit("warm_papermill: this system cannot fork; papermill itself runs")
    address, parent, listener = os.environ["WARM_PAPERMILL"], os.getppid(), socket.socket(socket.AF_UNIX)
    listener.bind(address)
    os.chmod(address, 0o600)                                 # before it listens: nobody else was ever let in
    listener.listen(64)                                      # who connects now is served once the stack is there
    life, held = os.pipe()                                   # nothing is ever written: it closes when the server ends, however that comes
    list(map(signal.signal, (signal.SIGTERM, signal.SIGCHLD), (lambda *_: sys.exit(0), signal.SIG_IGN)))   # workers answer for themselves
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"       # no word of the debugger here; callers bring an environment of their own
    try:
        list(map(__import__, PRELOAD))
        sys.modules["nbformat.v4"].new_notebook(cells=[sys.modules["nbformat.v4"].new_code_cell()])      # makes the validators
        gc.freeze()                                          # what is here stays shared with the forks
        while os.getppid() == parent:
            if select.select([listener], [], [], 0.2)[0]:
                link = listener.accept()[0]
                if not os.fork():
                    listener.close()
                    os.close(held)
                    worker(link, life)
                link.close()
    finally:
        os.unlink(address)


def worker(link, life):
    """In a forked process: take over the caller's world, run papermill's command line, and answer with its exit code."""
    os.setpgid(0, 0)
    list(map(signal.signal, (signal.SIGTERM, signal.SIGCHLD), (signal.SIG_DFL, signal.SIG_DFL)))
    code = 1
    try:
        *streams, request = socket.recv_fds(link, 1, 4)[1]
        list(map(os.dup2, streams, range(3)))
        enter(world := json.load(open(request)))
        fork_kernel(link)
        threading.Thread(target=end_with, args=(link, life), daemon=True).start()
        sys.modules["papermill.cli"].papermill.main(args=world["arguments"], prog_name="papermill")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(bool(end.code))
    except BaseException:
        sys.excepthook(*sys.exc_info())                      # unlike traceback's, lives with a full disk behind stderr
    try:
        sys.stdout.flush()
        link.send(bytes([code & 0xFF]))
    finally:
        os._exit(code)


def enter(world):
    """The environment and folder of another process."""
    os.environ.clear()
    os.environ.update(world["environment"])
    os.chdir(world["folder"])


def end_with(*others):
    """Wait until one of these is closed (the caller or the server is gone), then end this process and its kernel."""
    select.select(others, [], [])
    os.killpg(0, signal.SIGKILL)


class Forked(subprocess.Popen):
    """A process that was forked already; waiting and signals are subprocess's."""

    def _execute_child(self, pid, *_):
        self.pid, self._child_created = pid, True


def fork_kernel(link):
    """Fork the kernel before any event loop exists; jupyter_client's provisioner wakes it instead of starting a process."""
    reader, writer = os.pipe()
    if not (pid := os.fork()):
        os.close(writer)
        link.close()
        kernel(open(reader))
    os.close(reader)
    from jupyter_client.provisioning.local_provisioner import LocalProvisioner
    prepare = LocalProvisioner.pre_launch

    async def pre_launch(self, **options):                   # files of the private folder: nobody can take them as a free port can be
        self.parent.transport, self.parent.ip = "ipc", f"{os.environ['WARM_PAPERMILL']}-{pid}"
        return await prepare(self, **options)

    async def launch_kernel(self, cmd, cwd=None, env=None, **_):
        place = next(i for i, word in enumerate(cmd) if word.startswith("ipykernel"))
        environment = {**(env or os.environ), "JPY_PARENT_PID": str(os.getpid())}
        os.write(writer, json.dumps({"arguments": cmd[place:], "folder": cwd or os.getcwd(), "environment": environment}).encode() + b"\n")
        self.process, self.pid, self.pgid = Forked(pid), pid, None
        return self.connection_info

    LocalProvisioner.pre_launch, LocalProvisioner.launch_kernel = pre_launch, launch_kernel


def kernel(pipe):
    """In the kernel's process: wait for the command (none if papermill needs no kernel), run it, end with the worker."""
    if line := pipe.readline():
        threading.Thread(target=lambda: pipe.read() or os._exit(1), daemon=True).start()
        enter(command := json.loads(line))
        os.environ.setdefault("PYDEVD_USE_FRAME_EVAL", "NO")  # as the debugger's import leaves it
        sys.path[:1], sys.argv = [], command["arguments"]    # as ipykernel's launcher has it
        sys.modules["numpy"].random.seed()
        sys.modules["ipykernel.kernelapp"].launch_new_instance(argv=sys.argv[1:])
    os._exit(0)


if __name__ == "__main__":
    sys.exit(serve() if sys.argv[1:] == ["--serve"] else client(sys.argv[1:]))
