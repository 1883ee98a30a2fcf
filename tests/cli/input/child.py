"""The `wirewright` command in a fork, under the conditions of a case; see `tests/processes/forking.py`.

The first argument is a JSON object: `stdin`, a file to read; `stdout`, `full` or `closed`; `user`, whether to give up
root; `signal` and `at`, what to send when a file is opened whose path holds a text. What outlives a command becomes a
child of the process that forks.
"""

import ctypes
import gc
import json
import os
import resource
import signal
import sys
from importlib import import_module
from typing import Any

NOBODY = 65534
SUBREAPER = 36
"""Of `prctl`: orphans become children of this process."""
MEMORY = 3 << 30
"""Bytes of memory that a command may ask for: one that reads everything that it is given fails, not the machine."""
CODECS = ("ascii", "idna", "utf_8_sig")
"""Codecs that commands look up, which Python imports then."""


def ready(root: str) -> None:
    """Import what takes long."""
    sys.path.insert(0, root)
    import_module("tests.commands.imports").warm()
    for codec in CODECS:
        import_module(f"encodings.{codec}")
    gc.collect()
    gc.freeze()  # else a fork copies the memory that its collector looks at


def adopt() -> None:
    """Have what outlives a command become a child of this process, which forks the commands of one worker."""
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)


def main(conditions: str, *arguments: str) -> int:
    """Run the command under the conditions."""
    _run(json.loads(conditions), arguments)
    return 0


def _run(given: dict[str, Any], arguments: tuple[str, ...]) -> None:
    if given.get("stdin"):
        os.dup2(os.open(given["stdin"], os.O_RDONLY), 0)
    if given.get("stdout") == "full":
        os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
    if given.get("stdout") == "closed":
        reading, writing = os.pipe()
        os.close(reading)
        os.dup2(writing, 1)
    if given.get("user"):
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    if given.get("signal"):
        _interrupt_at(given["signal"], given["at"])
    sys.argv = ["wirewright", *arguments]
    for number, (name, mode) in enumerate({"stdin": "r", "stdout": "w", "stderr": "w"}.items()):
        setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115  (open as long as the process lives)
    code = 1
    try:
        import_module("cli.main").main()
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _interrupt_at(name: str, place: str) -> None:
    """Send this process a signal when it first opens, renames or starts what has a text in its path."""
    sent: list[bool] = []

    def hook(event: str, details: tuple[object, ...]) -> None:
        if sent or event not in {"open", "os.rename", "sqlite3.connect", "subprocess.Popen", "import"}:
            return
        if any(place in str(detail) for detail in details):
            sent.append(True)
            os.kill(os.getpid(), getattr(signal, name))

    sys.addaudithook(hook)
