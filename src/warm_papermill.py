"""The papermill command line, warm: one process imports the stack once and forks papermill and its kernel for every notebook.

    python src/warm_papermill.py --serve       server; listens on the socket named by $WARM_PAPERMILL until its parent ends
    python src/warm_papermill.py ARGUMENTS…    papermill with these arguments, by the server; by papermill itself where there is none

Arguments, output, executed notebooks and exit codes are papermill's. Each notebook gets the caller's environment and folder, a kernel
process of its own, and numpy's global generator seeded anew. Nothing of a project is imported here, so edits always count.
"""

import json
import os
import select
import signal
import socket
import struct
import sys
import time

PRELOAD = ("papermill.cli", "papermill.execute", "nbclient", "nbformat", "ipykernel.kernelapp", "ipykernel.ipkernel", "IPython.display",
           "matplotlib.pyplot", "numpy", "pandas", "pyarrow.parquet", "scipy.stats", "seaborn")
ADDRESS = "WARM_PAPERMILL"


def papermill(arguments):
    """papermill itself in place of this process."""
    os.execv(sys.executable, [sys.executable, "-m", "papermill", *arguments])


def client(arguments):
    """Hand the arguments, environment, folder and standard streams to the server; return the exit code of the notebook."""
    address = os.environ.get(ADDRESS)
    if not address:
        papermill(arguments)
    link = socket.socket(socket.AF_UNIX)
    while True:
        try:
            link.connect(address)
            break
        except OSError as error:
            if not starting():
                print(f"warm_papermill: no server at {address} ({error.strerror}); running papermill itself", file=sys.stderr)
                papermill(arguments)
            time.sleep(0.05)
    message = json.dumps({"arguments": arguments, "folder": os.getcwd(), "environment": dict(os.environ)}).encode()
    socket.send_fds(link, [struct.pack("!Q", len(message))], [0, 1, 2])
    link.sendall(message)
    answer = link.recv(4)
    return struct.unpack("!i", answer)[0] if len(answer) == 4 else 1


def starting():
    """Whether the server named by $WARM_PAPERMILL_SERVER (a process id) lives, so that waiting for it makes sense."""
    try:
        os.kill(int(os.environ.get("WARM_PAPERMILL_SERVER", "")), 0)
    except (ValueError, OSError):
        return False
    return True


def serve():
    """Import the stack, then fork a worker for every connection; ends when the parent process does."""
    address, parent = os.environ[ADDRESS], os.getppid()
    for name in PRELOAD:
        __import__(name)
    listener = socket.socket(socket.AF_UNIX)
    old = os.umask(0o177)
    listener.bind(address)
    os.umask(old)
    listener.listen(64)
    workers = {}                                             # link -> pid
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        while os.getppid() == parent:
            ready, _, _ = select.select([listener, *workers], [], [], 0.2)
            for link in ready:
                if link is listener:
                    connection, _ = listener.accept()
                    request, descriptors = receive(connection)
                    pid = os.fork()
                    if not pid:
                        listener.close()
                        connection.close()
                        worker(request, descriptors)
                    for descriptor in descriptors:
                        os.close(descriptor)
                    workers[connection] = pid
                else:                                        # the caller is gone: end its notebook
                    kill_group(workers.pop(link))
                    link.close()
            for link, pid in list(workers.items()):
                done, status = os.waitpid(pid, os.WNOHANG)
                if done:
                    del workers[link]
                    try:
                        link.sendall(struct.pack("!i", os.waitstatus_to_exitcode(status) & 0xFF))
                    except OSError:
                        pass
                    link.close()
    finally:
        for pid in workers.values():
            kill_group(pid)
        os.unlink(address)


def kill_group(pid):
    """End a worker and the kernel it started."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    try:
        os.waitpid(pid, 0)
    except ChildProcessError:
        pass


def receive(connection):
    """A caller's request and its three standard streams."""
    head, descriptors, _, _ = socket.recv_fds(connection, 8, 3)
    size, message = struct.unpack("!Q", head)[0], b""
    while len(message) < size:
        message += connection.recv(size - len(message))
    return json.loads(message), descriptors


def worker(request, descriptors):
    """In a forked process: take over the caller's world and run papermill's command line."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for target, descriptor in enumerate(descriptors):
        os.dup2(descriptor, target)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.argv = ["papermill", *request["arguments"]]
    waiting = prepare_kernel()
    use_forked_kernel(waiting)
    code = 1
    try:
        import papermill.cli
        papermill.cli.papermill.main(args=request["arguments"], prog_name="papermill")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(bool(end.code))
    except BaseException:
        import traceback
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def prepare_kernel():
    """Fork the kernel before any event loop exists; it waits on a pipe for its command. Returns (pid, pipe)."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(reader)
        return pid, writer
    os.close(writer)
    message = b""
    while part := os.read(reader, 65536):
        message += part
    if not message:
        os._exit(0)                                          # papermill ended without asking for a kernel
    command = json.loads(message)
    os.environ.clear()
    os.environ.update(command["environment"])
    if command["folder"]:
        os.chdir(command["folder"])
    sys.path[0] = ""                                         # as `python -m` has it
    sys.argv = command["arguments"]
    import numpy
    numpy.random.seed()
    from ipykernel.kernelapp import launch_new_instance
    try:
        launch_new_instance(argv=sys.argv[1:])
    finally:
        os._exit(0)


class Forked:
    """What jupyter_client wants of a started process, for a forked one."""

    stdin = stdout = stderr = None
    returncode = None

    def __init__(self, pid):
        self.pid = pid

    def poll(self):
        if self.returncode is None:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout=None):
        while self.poll() is None:
            time.sleep(0.005)
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def terminate(self):
        self.send_signal(signal.SIGTERM)


def use_forked_kernel(waiting):
    """Let jupyter_client's local provisioner wake the waiting kernel instead of starting a process."""
    from jupyter_client.provisioning.local_provisioner import LocalProvisioner

    async def launch_kernel(self, cmd, **options):
        pid, pipe = waiting
        place = next(i for i, word in enumerate(cmd) if word.startswith("ipykernel"))
        command = {"arguments": cmd[place:], "folder": options.get("cwd"), "environment": options.get("env") or dict(os.environ)}
        os.write(pipe, json.dumps(command).encode())
        os.close(pipe)
        self.process, self.pid, self.pgid = Forked(pid), pid, None
        return self.connection_info

    LocalProvisioner.launch_kernel = launch_kernel


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    else:
        sys.exit(client(sys.argv[1:]))
