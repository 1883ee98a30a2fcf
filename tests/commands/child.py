"""The `wirewright` command, or a module that Python runs, in a fork.

See `tests/processes/fork_server.py` and `forked.py`. A request has
`arguments`, the `module` that is run instead of the command, the `environment`, the `folder` and which signals are
`ignored`.
"""

import atexit
import contextlib
import ctypes
import gc
import io
import os
import runpy
import signal
import sys
import threading
import traceback
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.commands.imports import warm

IMPORTED: "dict[str, str]" = {}
"""The variables that imports have set."""
READ: "set[str]" = set()
"""The variables that imports have read: with other values a command might have imported something else."""


class Environment(type(os.environ)):
    """The environment, which notes the names that are asked for."""

    def __getitem__(self, key: str) -> str:
        """The value of a variable."""
        READ.add(key)
        return super().__getitem__(key)


def ready() -> "dict[str, object]":
    """Import what takes long; returns which variables that has `read` and which it has `set`."""
    real = os.environ.__class__
    os.environ.__class__ = Environment
    before = dict(os.environ)
    READ.clear()
    warm()
    os.environ.__class__ = real
    gc.collect()
    gc.freeze()  # else a fork copies the memory that its collector looks at
    IMPORTED.update({name: value for name, value in os.environ.items() if name not in before})
    return {"read": sorted(READ), "set": IMPORTED}


def open_streams() -> None:
    """Open the standard streams as an interpreter does when it starts."""
    for number, (name, mode) in enumerate({"stdin": "r", "stdout": "w", "stderr": "w"}.items()):
        binary = open(number, f"{mode}b", closefd=False)  # noqa: SIM115  (open as long as the process lives)
        live = binary.isatty() or name == "stderr"
        errors = "backslashreplace" if name == "stderr" else getattr(sys, name).errors
        stream = io.TextIOWrapper(binary, getattr(sys, name).encoding, errors, line_buffering=live)
        stream.mode = mode  # type: ignore[attr-defined]  # as the interpreter's own
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def born(request: "dict[str, Any]") -> None:
    """Make a fork what a process of its own would be: its signals, its folder, its variables, its streams."""
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN if number in request["ignored"] else signal.SIG_DFL)
    if signal.SIGINT not in request["ignored"]:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update({**IMPORTED, **request["environment"]})
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


def kill(pid: int) -> None:
    """Kill a fork, and nothing that it started."""
    os.kill(pid, signal.SIGKILL)


def live(given: "dict[str, Any]") -> None:
    """Run the command as its script does, or a module as Python does, in a fork; never returns."""
    code = 1
    try:
        born(given)
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
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            code = 120  # an interpreter's, when it cannot write the rest
    os._exit(code)  # freeing the memory would copy it first
