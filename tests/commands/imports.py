"""What commands import: whatever forks them has imported it, so that no fork has to."""

import sys
from importlib import import_module

LIBRARIES = (
    "alembic.command",
    "cryptography.fernet",
    "encodings.utf_8_sig",
    "jinja2",
    "logfire",
    "openai",
    "platformdirs.unix",
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
    "yaml",
)
MODULES = (
    "agent.ask",
    "agent.assistant",
    "agent.models.overview",
    "cli.chat.stored",
    "cli.documents.evals",
    "cli.flow.source",
    "cli.main",
    "cli.output.turn",
    "cli.settings",
    "evals.analysis.llm_judge",
    "evals.calibration.statements",
    "evals.conversations.loader",
    "evals.exports.experiments",
    "evals.fix.records",
    "evals.gate",
    "evals.imports.chat2workflow.scenarios",
    "evals.mutate.matrix",
    "evals.play.attempts",
    "evals.players.registry",
    "evals.report.formats.documents",
    "evals.report.play",
    "evals.scenarios.validation",
    "evals.score",
    "flows.bundles",
    "flows.spec",
    "runtime.guard",
    "runtime.install.environment",
    "runtime.runner",
    "server.serve",
)
"""Modules of Wirewright's; an installation has them in its package."""


def warm() -> None:
    """Import all of them, and make the parser of the arguments, which reads them for every command alike."""
    import_module("wirewright")
    prefix = "wirewright." if hasattr(sys.modules["wirewright"], "__path__") else ""
    for name in (*LIBRARIES, *(prefix + name for name in MODULES)):
        import_module(name)
    import_module(f"{prefix}cli.main").parser()
