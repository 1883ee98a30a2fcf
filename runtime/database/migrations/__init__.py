"""The migrations, run by Alembic when a database of an earlier schema is opened."""

from pathlib import Path
from typing import Final

from alembic import command, context
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import INTEGER, Connection, inspect, text

from flows.paths import data_folder
from runtime.database.errors import DatabaseTooNew
from runtime.keychain.documents import DocumentSealing

FOLDER: Final = Path(__file__).parent


def migrate(connection: Connection, found: str | None, documents: DocumentSealing, to: str = "head") -> None:
    """Bring a database to the last revision, or to another one.

    Args:
        connection: is in a transaction, which the caller commits.
        found: the revision that the database has; None for an empty one.
        documents: encrypts what earlier versions did not.
        to: the revision.

    Raises:
        DatabaseTooNew: none of the migrations made that revision.
    """
    config = _config()
    config.attributes["connection"], config.attributes["documents"] = connection, documents
    for revision in (found, None if to == "head" else to):
        if revision is not None and revision not in revisions():
            raise DatabaseTooNew(revision)
    command.upgrade(config, to)
    widen_integers(connection)


def widen_integers(connection: Connection) -> None:
    """Give whole numbers 64 bits on Postgres, as SQLite and `tables` do, whatever width a migration wrote."""
    if connection.dialect.name != "postgresql":
        return
    inspector = inspect(connection)
    for table in inspector.get_table_names():
        for column in inspector.get_columns(table):
            if type(column["type"]) is INTEGER:
                connection.execute(text(f'ALTER TABLE "{table}" ALTER COLUMN "{column["name"]}" TYPE BIGINT'))
                if column.get("autoincrement"):
                    connection.execute(text(f'ALTER SEQUENCE "{table}_{column["name"]}_seq" AS BIGINT'))


def revisions() -> dict[str, str]:
    """What each migration does, by its revision, first to last."""
    scripts = ScriptDirectory.from_config(_config()).walk_revisions()
    return {script.revision: script.doc for script in reversed(list(scripts))}


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    return config


def documents_of() -> DocumentSealing:
    """What encrypts documents in the running migration."""
    given: DocumentSealing | None = context.config.attributes.get("documents")
    return given or DocumentSealing(data_folder())
