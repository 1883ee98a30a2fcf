"""The `wirewright` command in a fork of a process that has imported its modules; see `tests/processes/forking.py`."""

import gc
import runpy
import sys
from importlib import import_module
from pathlib import Path

IMPORTS = Path(__file__).parents[2] / "commands" / "imports.py"


def ready() -> None:
    """Import what takes long."""
    runpy.run_path(str(IMPORTS))["warm"]()
    gc.collect()
    gc.freeze()  # else a fork copies the memory that its collector looks at


def main(*arguments: str) -> int:
    """Run the command, as its script does."""
    sys.argv = ["wirewright", *arguments]
    for number, (name, mode) in enumerate({"stdin": "r", "stdout": "w", "stderr": "w"}.items()):
        setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115  (what was a file is a pipe now)
    code = import_module("wirewright").main()
    return code if isinstance(code, int) else 0
