"""Forks flow engines from one process that has imported lfx, for the commands that tests start.

Called in the engine's environment as `python -I -X utf8 warm_server.py MAIN SOCKET PID`, where MAIN is the engine's
program. A connection asks for one engine: a line of JSON with `arguments`, `environment` and `folder`, and three
descriptors for its standard streams. The answer is a byte, its exit code. An engine is killed when its connection
closes, and all of them when the process PID ends.
"""

import contextlib
import importlib.util
import json
import os
import selectors
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

MAX_REQUEST = 1 << 16


def warm(main: Path) -> ModuleType:
    """Import what engines import, and run what they run before they are ready; gives the engine's program."""
    spec = importlib.util.spec_from_file_location("engine_main", main)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.become_package()
    from lfx_runner import engine, template  # noqa: F401  (imported for the forks)
    from lfx_runner.confine import interpreter

    interpreter.prepare()
    engine.warm_up()
    engine.warm_up_models()
    del sys.modules["lfx_runner.models"]  # by this an engine knows whether it did the rest of its own warming
    return module


def live(program: Callable[[list[str]], int], request: dict, streams: list[int]) -> None:
    """Be an engine, in a fork: never returns."""
    from lfx.services.deps import get_settings_service

    code = 1
    try:
        os.setsid()
        for target, stream in enumerate(streams):
            os.dup2(stream, target)
        os.closerange(3, max(streams) + 64)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.environ.clear()
        os.environ.update(request["environment"])
        os.chdir(request["folder"])
        tempfile.tempdir = None
        settings = get_settings_service()
        settings.settings = type(settings.settings)()  # read from the environment, as an engine does when it starts
        code = program(request["arguments"])
    finally:
        os._exit(code)


class Server:
    """The loop that starts engines and watches over them until another process ends."""

    def __init__(self, program: Callable[[list[str]], int], listener: socket.socket) -> None:
        """Start engines of `program` for whoever connects to `listener`."""
        self._program = program
        self._listener = listener
        self._engines: dict[int, socket.socket] = {}
        self._selector = selectors.DefaultSelector()
        wake, wake_write = os.pipe()
        for descriptor in (wake, wake_write):
            os.set_blocking(descriptor, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        self._selector.register(listener, selectors.EVENT_READ, self._accept)
        self._selector.register(wake, selectors.EVENT_READ, lambda: self._reap(wake))

    def serve(self, process: int) -> None:
        """Serve until a process ends, then kill what still runs."""
        self._selector.register(os.pidfd_open(process), selectors.EVENT_READ, None)
        while True:
            for key, _ in self._selector.select():
                if key.data is None:
                    for pid in self._engines:
                        _kill(pid)
                    return
                key.data()

    def _accept(self) -> None:
        connection, _ = self._listener.accept()
        line, streams, _, _ = socket.recv_fds(connection, MAX_REQUEST, 3)
        if (pid := os.fork()) == 0:
            live(self._program, json.loads(line), streams)
        for stream in streams:
            os.close(stream)
        self._engines[pid] = connection
        self._selector.register(connection, selectors.EVENT_READ, lambda: self._hung_up(pid))

    def _hung_up(self, pid: int) -> None:
        self._selector.unregister(self._engines[pid])
        _kill(pid)

    def _reap(self, wake: int) -> None:
        os.read(wake, 512)
        while self._engines:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            connection = self._engines.pop(pid)
            if connection in {key.fileobj for key in self._selector.get_map().values()}:
                self._selector.unregister(connection)
                connection.send(bytes([os.waitstatus_to_exitcode(status) & 0xFF]))
            connection.close()


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


if __name__ == "__main__":
    engine_program, address = warm(Path(sys.argv[1])).main, sys.argv[2]
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(16)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        Server(engine_program, listening).serve(int(sys.argv[3]))
    shutil.rmtree(Path(address).parent)
