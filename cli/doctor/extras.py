"""What the doctor finds of the parts that may be left out: the page, and the packages of the extras."""

from collections.abc import Iterator
from importlib.util import find_spec

from cli.doctor.check import Check, Status
from runtime.database.backends.urls import is_sqlite
from server.routes.browser.page import STATIC
from server.settings import ServerSettings

_EXTRAS = {
    "mcp": ("MCP", "mcp", "the tools for editors and assistants that speak MCP"),
    "durable": ("Durable turns", "dbos", "turns that survive a restart, and schedules"),
    "postgres": ("Postgres", "psycopg", "a database that several servers and workers share"),
    "evals": ("Evaluations", "scipy", "reports, judges and statistics of `wirewright eval`"),
    "keyring": ("Keyring", "keyring", "the key of stored secrets in the system's keyring"),
}
"""For each extra: the part's name, a package of the extra, and what the part is for."""


def optional_parts(settings: ServerSettings) -> Iterator[Check]:
    """One check for the page and one for each extra; an extra that the settings need is missing and not optional.

    Args:
        settings: the server's.
    """
    if (STATIC / "index.html").is_file():
        yield Check(name="Page", status="works", detail="built")
    else:
        fix = "make page (in a checkout; an installed package has it)"
        yield Check(name="Page", status="optional", detail="Not built: the server shows a plain one.", fix=fix)
    needed = {"postgres": not is_sqlite(settings.database_url), "durable": settings.durable is True}
    for extra, (name, package, purpose) in _EXTRAS.items():
        if find_spec(package) is not None:
            yield Check(name=name, status="works", detail=f"installed: {purpose}")
        else:
            status: Status = "missing" if needed.get(extra) else "optional"
            fix = f"Install it: uv pip install 'wirewright[{extra}]'."
            yield Check(name=name, status=status, detail=f"Not installed: {purpose}.", fix=fix)
