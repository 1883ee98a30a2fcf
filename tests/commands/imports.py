"""What commands import: whatever forks them has imported it, so that no fork has to."""

from importlib import import_module

MODULES = (
    "agent.ask",
    "agent.assistant",
    "agent.models.overview",
    "alembic.command",
    "cli.chat.stored",
    "cli.documents.evals",
    "cli.flow.source",
    "cli.main",
    "cli.output.turn",
    "cli.settings",
    "cryptography.fernet",
    "encodings.utf_8_sig",
    "evals.analysis.llm_judge",
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
    "jinja2",
    "openai",
    "platformdirs.unix",
    "pydantic_ai.models.fallback",
    "pydantic_ai.models.function",
    "pydantic_ai.models.openai",
    "rapidfuzz",
    "rich.progress",
    "runtime.guard",
    "runtime.install.environment",
    "runtime.runner",
    "scipy.stats",
    "server.serve",
    "sqlalchemy.ext.asyncio",
    "wirewright",
)


def warm() -> None:
    """Import all of them, and make the parser of the arguments, which reads them for every command alike."""
    for name in MODULES:
        import_module(name)
    import_module("cli.main").parser()
