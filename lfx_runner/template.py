"""Forks a process for every run from the warm engine, and reports its end.

It never sees a run: the client passes it one end of a socket for each process that it asks for, and speaks with that
process alone. So no run can find another's request or result in the memory that it inherits.

One thread and one `select` loop, so a fork inherits nothing but plain data.
"""

import contextlib
import json
import os
import selectors
import shutil
import signal
import socket
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

from lfx_runner import child
from lfx_runner.confine.linux import adopt_orphans, end_orphans
from lfx_runner.confine.policy import prepare
from lfx_runner.process import Child, peak_of
from lfx_runner.protocol import LineBuffer, Message, encode

CHUNK = 1 << 16
MAX_COMMAND = 1 << 20
"""Bytes of the longest command."""


class Template:
    """The loop that forks until its client closes the socket; leaving the context ends every process."""

    def __init__(self, control: socket.socket, folder: Path, *, warm_ups: Sequence[Callable[[], object]] = ()) -> None:
        """Start nothing yet.

        Args:
            control: the socket that commands, and sockets for processes, are received on.
            folder: where the private folders of runs go.
            warm_ups: steps that are run one by one when the client asks for them.
        """
        self._control = control
        self._folder = folder
        self._warm_ups = warm_ups
        self._warm = 0
        self._children: dict[int, Child] = {}
        self._by_id: dict[int, Child] = {}
        self._sockets: deque[int] = deque()
        """Sockets that were received and whose command was not read yet."""
        self._lines = LineBuffer(MAX_COMMAND)
        self._open = True

    def __enter__(self) -> Self:
        """Start watching the socket and the child processes."""
        adopt_orphans()
        prepare()
        child.prepare()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._wake_read, self._wake_write = os.pipe()
        for descriptor in (self._wake_read, self._wake_write):
            os.set_blocking(descriptor, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._control, selectors.EVENT_READ, self._read_commands)
        self._selector.register(self._wake_read, selectors.EVENT_READ, self._reap)
        return self

    def __exit__(self, *_: object) -> None:
        """End every process and remove every private folder."""
        for each in list(self._children.values()):
            _kill(each.pid)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(each.pid, 0)
            self._release(each)
        shutil.rmtree(self._folder, ignore_errors=True)

    def serve(self) -> None:
        """Serve until the client closes the socket or asks for the end."""
        while self._open:
            for key, _ in self._selector.select():
                key.data()

    def _reply(self, message: Message) -> None:
        try:
            self._control.sendall(encode(message))
        except OSError:
            self._open = False

    # Commands

    def _read_commands(self) -> None:
        """Read commands; a socket arrives together with the last byte of the command that it belongs to."""
        try:
            data, sockets, _, _ = socket.recv_fds(self._control, CHUNK, 1, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError:
            data, sockets = b"", []
        self._sockets += sockets
        if not data:
            self._open = False
        for line in self._lines.feed(data):
            if line:
                self._handle(json.loads(line))

    def _handle(self, command: dict[str, Any]) -> None:
        match command["type"]:
            case "fork":
                self._fork(command["id"], self._sockets.popleft())
            case "kill":
                if (running := self._by_id.get(command["id"])) is not None:
                    _kill(running.pid)
            case "warm":
                while self._warm < min(command["steps"], len(self._warm_ups)):
                    self._warm_ups[self._warm]()
                    self._warm += 1
                self._reply({"type": "warm", "id": command["id"]})
            case "shutdown":
                self._open = False

    def _fork(self, number: int, connection: int) -> None:
        """Fork a process that waits for its run at the other end of the socket."""
        folder = f"{self._folder}/run-{number}"
        parent = os.getpid()
        try:
            os.mkdir(folder, 0o700)  # noqa: PTH102 - plain text is faster
            pid = os.fork()
        except OSError:
            os.close(connection)
            self._reply({"type": "ended", "id": number, "code": None, "peak_mb": 0})
            return
        if pid == 0:
            child.main(parent, connection, Path(folder))
        os.close(connection)
        self._children[pid] = self._by_id[number] = Child(pid, number, folder)
        self._reply({"type": "forked", "id": number, "pid": pid})

    # Children

    def _reap(self) -> None:
        """Reap processes that have ended, and report their end."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake_read, 4096)
        with contextlib.suppress(ChildProcessError):
            while (found := os.wait4(-1, os.WNOHANG))[0]:
                pid, status, used = found
                if (ended := self._children.get(pid)) is None:
                    continue  # what a run left behind
                self._release(ended)
                code = os.waitstatus_to_exitcode(status)
                self._reply({"type": "ended", "id": ended.number, "code": code, "peak_mb": peak_of(used)})

    def _release(self, ended: Child) -> None:
        """Release everything that belongs to a process that was reaped, and kill what it left behind."""
        with contextlib.suppress(OSError):
            os.killpg(ended.pid, signal.SIGKILL)
        del self._children[ended.pid], self._by_id[ended.number]
        end_orphans(self._children)
        ended.remove_folder()


def _kill(pid: int) -> None:
    """Kill a process and its whole group; before `setsid`, the group does not exist yet."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(OSError):
            kill(pid, signal.SIGKILL)
