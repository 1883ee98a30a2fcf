"""The `wirewright` command in a fork of a process that has imported its modules; see `tests/forking.py`."""

import contextlib
import gc
import sys
from importlib import import_module

LIBRARIES = (
    "alembic.command",
    "cryptography.fernet",
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
MODULES = (
    "agent.assistant",
    "cli.main",
    "cli.output.turn",
    "evals.gate",
    "evals.play.attempts",
    "evals.report.play",
    "evals.score",
    "flows.spec",
    "runtime.install.environment",
    "runtime.runner",
)
"""Modules of Wirewright's that take long to import; the installation has them in its package."""


def ready() -> None:
    """Import what takes long."""
    import_module("wirewright")
    package = getattr(sys.modules["wirewright"], "__path__", None)
    for name in (*LIBRARIES, *(f"wirewright.{name}" if package else name for name in MODULES)):
        with contextlib.suppress(ImportError):
            import_module(name)
    gc.collect()
    gc.freeze()  # else a fork copies the memory that its collector looks at


def main(*arguments: str) -> int:
    """Run the command, as its script does."""
    sys.argv = ["wirewright", *arguments]
    for number, (name, mode) in enumerate({"stdin": "r", "stdout": "w", "stderr": "w"}.items()):
        setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115  (what was a file is a pipe now)
    code = import_module("wirewright").main()
    return code if isinstance(code, int) else 0
