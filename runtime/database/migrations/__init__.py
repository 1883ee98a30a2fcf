"""The migrations, run by Alembic when a database of an earlier schema is opened."""

from pathlib import Path
from typing import Final

from alembic import command, context
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from flows.paths import data_folder
from runtime.database.errors import DatabaseTooNew
from runtime.keychain.documents import DocumentSealing

FOLDER: Final = Path(__file__).parent


def migrate(connection: Connection, found: str | None, documents: DocumentSealing) -> None:
    """Bring a database to the last revision.

    Args:
        connection: is in a transaction, which the caller commits.
        found: the revision that the database has; None for an empty one.
        documents: encrypts what earlier versions did not.

    Raises:
        DatabaseTooNew: none of the migrations made that revision.
    """
    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.attributes["connection"], config.attributes["documents"] = connection, documents
    if found is not None and found not in {
        script.revision for script in ScriptDirectory.from_config(config).walk_revisions()
    }:
        raise DatabaseTooNew(found)
    command.upgrade(config, "head")


def documents_of() -> DocumentSealing:
    """What encrypts documents in the running migration."""
    given: DocumentSealing | None = context.config.attributes.get("documents")
    return given or DocumentSealing(data_folder())
