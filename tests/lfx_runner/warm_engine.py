"""A flow engine in a fork of a process that has imported lfx, for the commands that tests start; see
`tests/processes/fork_server.py`, which is called in the engine's environment as `python -I -X utf8`.

A request has `arguments`, the `environment` and the `folder`.
"""

import importlib.util
import os
import signal
import tempfile
from collections.abc import Callable
from typing import Any

PROGRAMS: list[Callable[[list[str]], int]] = []
"""The engine's program."""


def ready(main: str) -> str:
    """Import what engines import, and run what they run before they are ready.

    Args:
        main: the engine's program.
    """
    spec = importlib.util.spec_from_file_location("engine_main", main)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.become_package()
    from lfx_runner import child, engine, template  # noqa: F401  (imported for the forks)
    from lfx_runner.confine import interpreter

    interpreter.prepare()
    engine.warm_up()
    engine.warm_up_models()
    child.SETTLE = 3600  # most processes that wait in tests are never used: they need not rehearse
    PROGRAMS.append(module.main)
    return "ready"


def kill(pid: int) -> None:
    """Kill an engine, and what it forked."""
    os.killpg(pid, signal.SIGKILL)


def live(request: dict[str, Any]) -> None:
    """Be an engine, in a fork: never returns."""
    from lfx.services.deps import get_settings_service

    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    tempfile.tempdir = None
    settings = get_settings_service()
    settings.settings = type(settings.settings)()  # read from the environment, as an engine does when it starts
    [program] = PROGRAMS
    os._exit(program(request["arguments"]))
