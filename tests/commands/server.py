"""Forks `wirewright` commands from one process that has imported what they import; see `tests/commands/forked.py`.

Called as `python -P server.py SOCKET PID`. A connection asks for one command: eight digits that say how long the
request is, with three descriptors for its standard streams, then the request, a JSON object with `arguments`, the
`module` that is run instead of the command, the `environment`, the `folder` and which signals are `ignored`. The
answers are lines: the id of the command's process, and how it ended; a negative number is a signal. A command is killed
when its connection closes, and all of them when the process PID ends.
"""

import atexit
import contextlib
import ctypes
import gc
import io
import json
import os
import runpy
import selectors
import shutil
import signal
import socket
import sys
import threading
import traceback
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

MODULES = (
    "agent.ask",
    "agent.assistant",
    "agent.models.overview",
    "alembic.command",
    "cli.main",
    "cli.output.turn",
    "cryptography.fernet",
    "evals.analysis.llm_judge",
    "evals.conversations.loader",
    "evals.fix.records",
    "evals.gate",
    "evals.imports.chat2workflow.scenarios",
    "evals.mutate.matrix",
    "evals.play.attempts",
    "evals.players.registry",
    "evals.report.play",
    "evals.score",
    "flows.bundles",
    "flows.spec",
    "jinja2",
    "openai",
    "pydantic_ai.models.fallback",
    "pydantic_ai.models.function",
    "pydantic_ai.models.openai",
    "rapidfuzz",
    "rich.progress",
    "runtime.guard",
    "runtime.install.environment",
    "runtime.runner",
    "scipy.stats",
    "server.serve",
    "sqlalchemy.ext.asyncio",
    "wirewright",
)
"""What commands import, so that no fork has to."""


class Environment(os._Environ[str]):  # pyright: ignore[reportPrivateUsage]  (there is no public way)
    """The environment, which notes the names that are asked for."""

    def __getitem__(self, key: str) -> str:
        """The value of a variable."""
        READ.add(key)
        return super().__getitem__(key)


READ: set[str] = set()
"""The variables that imports have read: with other values a command might have imported something else."""


def ready() -> "dict[str, str]":
    """Import what takes long; returns the variables that this has set."""
    os.environ.__class__ = Environment
    before = dict(os.environ)
    READ.clear()
    for name in MODULES:
        import_module(name)
    os.environ.__class__ = os._Environ  # pyright: ignore[reportPrivateUsage]
    gc.collect()
    gc.freeze()  # else a fork copies the memory that its collector looks at
    return {name: value for name, value in os.environ.items() if name not in before}


def open_streams() -> None:
    """Open the standard streams as an interpreter does when it starts."""
    for number, (name, mode) in enumerate({"stdin": "r", "stdout": "w", "stderr": "w"}.items()):
        binary = open(number, f"{mode}b", closefd=False)  # noqa: SIM115
        live = binary.isatty() or name == "stderr"
        errors = "backslashreplace" if name == "stderr" else getattr(sys, name).errors
        stream = io.TextIOWrapper(binary, getattr(sys, name).encoding, errors, line_buffering=live)
        stream.mode = mode  # type: ignore[attr-defined]  # as the interpreter's own
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def born(request: "dict[str, Any]", streams: "list[int]", imported: "dict[str, str]") -> None:
    """Make a fork what a process of its own would be: its streams, its signals, its folder, its variables."""
    os.setsid()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN if number in request["ignored"] else signal.SIG_DFL)
    if signal.SIGINT not in request["ignored"]:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, max(streams) + 64)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update({**imported, **request["environment"]})
    ctypes.CDLL(None).tzset()
    sys.argv = request["arguments"][2:] if request["module"] else request["arguments"]
    sys.path[:0] = [request["folder"] if request["module"] else str(Path(sys.executable).parent)]
    sys.modules["__main__"] = ModuleType("__main__")
    open_streams()


def ended(code: object) -> int:
    """The exit code of what `sys.exit` was called with."""
    if code is None or isinstance(code, int):
        return code or 0
    sys.stderr.write(f"{code}\n")
    return 1


def live(request: bytes, streams: "list[int]", imported: "dict[str, str]") -> None:
    """Run the command as its script does, or a module as Python does, in a fork; never returns."""
    code = 1
    try:
        given = json.loads(request)
        born(given, streams, imported)
        if given["module"]:
            runpy.run_module(given["module"], run_name="__main__", alter_sys=True)
            code = 0
        else:
            code = ended(import_module("wirewright").main())
    except SystemExit as leaving:
        code = ended(leaving.code)
    except BaseException:  # noqa: BLE001  (as an interpreter does)
        traceback.print_exc()
    with contextlib.suppress(BaseException):
        threading._shutdown()  # type: ignore[attr-defined]  # waits for threads; there is no public way
        atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            code = 120  # an interpreter's, when it cannot write the rest
    os._exit(code)  # freeing the memory would copy it first


class Server:
    """The loop that starts commands and watches over them until another process ends."""

    def __init__(self, listener: socket.socket, imported: "dict[str, str]") -> None:
        """Start commands for whoever connects to `listener`."""
        self._listener = listener
        self._imported = imported
        self._commands: dict[int, socket.socket] = {}
        self._selector = selectors.DefaultSelector()
        wake, wake_write = os.pipe()
        for descriptor in (wake, wake_write):
            os.set_blocking(descriptor, False)
        signal.signal(signal.SIGCHLD, _wake)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        self._selector.register(listener, selectors.EVENT_READ, self._accept)
        self._selector.register(wake, selectors.EVENT_READ, lambda: self._reap(wake))

    def serve(self, process: int) -> None:
        """Serve until a process ends, then kill what still runs."""
        self._selector.register(os.pidfd_open(process), selectors.EVENT_READ, None)
        while True:
            for key, _ in self._selector.select():
                if key.data is None:
                    for pid in self._commands:
                        _kill(pid)
                    return
                key.data()

    def _accept(self) -> None:
        connection, _ = self._listener.accept()
        size, streams, _, _ = socket.recv_fds(connection, 8, 3)
        request = bytearray()
        while len(request) < int(size):
            request += connection.recv(int(size) - len(request))
        if (pid := os.fork()) == 0:
            live(bytes(request), streams, self._imported)
        for stream in streams:
            os.close(stream)
        connection.sendall(b"%d\n" % pid)
        self._commands[pid] = connection
        self._selector.register(connection, selectors.EVENT_READ, lambda: self._hung_up(pid))

    def _hung_up(self, pid: int) -> None:
        self._selector.unregister(self._commands[pid])
        _kill(pid)

    def _reap(self, wake: int) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(wake, 512)
        while self._commands:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            connection = self._commands.pop(pid)
            if connection in {key.fileobj for key in self._selector.get_map().values()}:
                self._selector.unregister(connection)
                with contextlib.suppress(OSError):
                    connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
            connection.close()


def _wake(_: int, __: object) -> None:
    """Have the pipe written to, of which the loop is told."""


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    address = Path(sys.argv[1])
    set_by_imports = ready()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(address))
        listening.listen(64)
        sys.stdout.write(json.dumps({"read": sorted(READ), "set": set_by_imports}) + "\n")
        sys.stdout.flush()
        Server(listening, set_by_imports).serve(int(sys.argv[2]))
    shutil.rmtree(address.parent)
