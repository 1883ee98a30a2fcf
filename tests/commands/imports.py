"""What commands import: whatever forks them has imported it, so that no fork has to."""

import os
import sys
from importlib import import_module
from pathlib import Path

LIBRARIES = (
    "alembic.command",
    "anyio._backends._asyncio",
    "cryptography.fernet",
    "encodings.utf_8_sig",
    "genai_prices.data",
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
    "sqlalchemy.dialects.sqlite.aiosqlite",
    "sqlalchemy.ext.asyncio",
    "starlette.applications",
    "yaml",
)
MODULES = (
    "agent.ask",
    "agent.assistant",
    "agent.models.overview",
    "cli.chat.stored",
    "cli.doctor.report",
    "cli.documents.evals",
    "cli.documents.flows",
    "cli.documents.stored",
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
    "flows.bundles.matching",
    "flows.search.ranking",
    "flows.spec",
    "runtime.database.runs",
    "runtime.database.schema",
    "runtime.guard",
    "runtime.install.environment",
    "runtime.runner",
    "server.serve",
)
"""Modules of Wirewright's; an installation has them in its package."""


def warm() -> None:
    """Import all of them, and read what every command reads alike: the arguments' parser, the shipped catalogue, the
    scenarios, the model that detects languages.
    """
    import_module("wirewright")
    prefix = "wirewright." if hasattr(sys.modules["wirewright"], "__path__") else ""
    for name in (*LIBRARIES, *(prefix + name for name in MODULES)):
        import_module(name)
    import_module(f"{prefix}cli.main").parser()
    import_module(f"{prefix}runtime.install.shipped").shipped_catalogue(Path(os.devnull))
    import_module(f"{prefix}evals.scenarios.loader").load_scenarios()
    import_module(f"{prefix}agent.language.detect").detect_language("two words")
