"""The migrations, run by Alembic when a database of an earlier schema is opened."""

from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from runtime.database.errors import DatabaseTooNew

FOLDER: Final = Path(__file__).parent


def migrate(connection: Connection, found: str | None) -> None:
    """Bring a database to the last revision.

    Args:
        connection: is in a transaction, which the caller commits.
        found: the revision that the database has; None for an empty one.

    Raises:
        DatabaseTooNew: none of the migrations made that revision.
    """
    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    if found is not None and found not in {
        script.revision for script in ScriptDirectory.from_config(config).walk_revisions()
    }:
        raise DatabaseTooNew(found)
    command.upgrade(config, "head")
