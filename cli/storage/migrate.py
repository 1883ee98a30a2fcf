"""`wirewright migrate`: brings the database to the schema of this version, or says what is pending."""

import asyncio
from typing import Annotated

import typer

from cli.errors import DONE, FAILED
from cli.options import Json
from cli.output.streams import print_json, print_message, print_result


def migrate(
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit with 1 when something is pending.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Bring the database to the schema of this version; a server on Postgres needs it before it starts."""
    from agent.settings import AssistantSettings
    from cli.database import store_errors
    from cli.documents.storage import Migrated, MigrationStep
    from cli.settings import settings_of
    from runtime.database.migrations.pending import migrate_database, pending

    settings = settings_of(AssistantSettings)
    with store_errors():
        url = settings.database_url
        due = asyncio.run(pending(url) if check else migrate_database(url, settings.data))
    ok = not (check and due.steps)
    if as_json:
        steps = [MigrationStep(revision=revision, title=title) for revision, title in due.steps.items()]
        print_json(Migrated(ok=ok, revision=due.revision, current=due.current, steps=steps))
        return DONE if ok else FAILED
    for revision, title in due.steps.items():
        print_result(f"{revision}  {title}")
    if not due.steps:
        print_message(f"The database has the schema {due.current}, which is the current one.")
    elif check:
        print_message(f"{len(due.steps)} migrations are pending. Run: wirewright migrate")
    else:
        print_message(f"The database has the schema {due.current} now.")
    return DONE if ok else FAILED
