"""Forks a process for each connection: a child as good as new, for programs that stand for it and pass their streams.

Called as `python fork_server.py CHILD SOCKET PID ARGUMENT...`, where CHILD is a file with `ready(argument, ...)`,
called once, which returns what is printed as a line of JSON when connections are taken; `live(request)`, called in
every fork when its streams are in their place, which never returns; and `kill(pid)`.

A connection asks for one fork: eight digits that say how long the request is, with three descriptors for its standard
streams, then the request, a JSON object. The answers are lines: the fork's id, and how it ended; a negative number is a
signal. A fork is killed when its connection closes, and all of them when the process PID ends.
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
from pathlib import Path
from types import ModuleType


def loaded(path: str) -> ModuleType:
    """The child's module, which is not on the path."""
    spec = importlib.util.spec_from_file_location("child", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def asked(connection: socket.socket) -> tuple[bytes | None, list[int]]:
    """The request of a connection, and its streams; no request of a program that was killed while it asked."""
    try:
        size, streams, _, _ = socket.recv_fds(connection, 8, 3)
    except OSError:
        return None, []
    request = bytearray()
    with contextlib.suppress(OSError):
        while len(size) == 8 and len(request) < int(size) and (part := connection.recv(int(size) - len(request))):
            request += part
    complete = len(size) == 8 and len(streams) == 3 and len(request) == int(size)
    return (bytes(request) if complete else None), streams


class ForkServer:
    """The loop that forks and watches over the forks until another process ends."""

    def __init__(self, child: ModuleType, listener: socket.socket) -> None:
        """Fork for whoever connects to `listener`."""
        self._child = child
        self._listener = listener
        self._forks: dict[int, socket.socket] = {}
        self._selector = selectors.DefaultSelector()
        wake, wake_write = os.pipe()
        for descriptor in (wake, wake_write):
            os.set_blocking(descriptor, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # has the pipe written to, of which the loop is told
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        self._selector.register(listener, selectors.EVENT_READ, self._accept)
        self._selector.register(wake, selectors.EVENT_READ, lambda: self._reap(wake))

    def serve(self, process: int) -> None:
        """Serve until a process ends, then kill what still runs."""
        self._selector.register(os.pidfd_open(process), selectors.EVENT_READ, None)
        while True:
            for key, _ in self._selector.select():
                if key.data is None:
                    for pid in self._forks:
                        self._kill(pid)
                    return
                key.data()

    def _accept(self) -> None:
        connection, _ = self._listener.accept()
        request, streams = asked(connection)
        if request is None:
            pid = None
        elif (pid := os.fork()) == 0:
            self._live(request, streams)
        for stream in streams:
            os.close(stream)
        if pid is None:
            connection.close()
            return
        with contextlib.suppress(OSError):  # who has left by now is noticed as any that leaves later
            connection.sendall(b"%d\n" % pid)
        self._forks[pid] = connection
        self._selector.register(connection, selectors.EVENT_READ, lambda: self._hung_up(pid))

    def _live(self, request: bytes, streams: list[int]) -> None:
        """Be the fork, in a session of its own."""
        try:
            os.setsid()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
            os.closerange(3, max(streams) + 64)
            self._child.live(json.loads(request))
        finally:
            os._exit(1)

    def _hung_up(self, pid: int) -> None:
        if pid not in self._forks:  # it ended while its connection did, and was reaped first
            return
        self._selector.unregister(self._forks[pid])
        self._kill(pid)

    def _kill(self, pid: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._child.kill(pid)

    def _reap(self, wake: int) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(wake, 512)
        while self._forks:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            connection = self._forks.pop(pid)
            if connection in {key.fileobj for key in self._selector.get_map().values()}:
                self._selector.unregister(connection)
                with contextlib.suppress(OSError):
                    connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
            connection.close()


if __name__ == "__main__":
    child, address = loaded(sys.argv[1]), Path(sys.argv[2])
    announced = child.ready(*sys.argv[4:])
    loaded(str(Path(__file__).with_name("huge_pages.py"))).collapse()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(address))
        listening.listen(64)
        sys.stdout.write(json.dumps(announced) + "\n")
        sys.stdout.flush()
        ForkServer(child, listening).serve(int(sys.argv[3]))
    shutil.rmtree(address.parent)
