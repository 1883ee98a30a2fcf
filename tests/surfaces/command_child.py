"""The `wirewright` command in a fork of a process that has imported its libraries; see `tests/forking.py`."""

import contextlib
import sys
from importlib import import_module

LIBRARIES = (
    "alembic.command",
    "jinja2",
    "logfire",
    "openai",
    "pydantic_ai",
    "pydantic_ai.models.fallback",
    "pydantic_ai.models.function",
    "pydantic_ai.models.openai",
    "pydantic_settings",
    "rapidfuzz",
    "rich.console",
    "rich.progress",
    "scipy.stats",
    "sqlalchemy.ext.asyncio",
    "starlette.applications",
    "typer",
    "yaml",
)
"""What commands import beside Wirewright itself."""


def ready() -> None:
    """Import what takes long."""
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):
            import_module(name)


def main(*arguments: str) -> int:
    """Run the command, as its script does."""
    sys.argv = ["wirewright", *arguments]
    for number, (name, mode) in enumerate({"stdin": "r", "stdout": "w", "stderr": "w"}.items()):
        setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115  (what was a file is a pipe now)
    code = import_module("wirewright").main()
    return code if isinstance(code, int) else 0
