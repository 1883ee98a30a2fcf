"""The database of the commands that read or erase what is stored."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from cli.errors import CommandError

if TYPE_CHECKING:
    from runtime.database.database import Database


@asynccontextmanager
async def opened_database() -> "AsyncGenerator[Database]":
    """The database, as the settings say where; closed afterwards.

    Raises:
        CommandError: it cannot be used.
    """
    from agent.settings import AssistantSettings
    from cli.settings import settings_of
    from runtime.database.database import Database

    settings = settings_of(AssistantSettings)
    database = Database(settings.database_url, settings.data)
    try:
        with store_errors():
            yield database
    finally:
        await database.aclose()


@contextmanager
def store_errors() -> Generator[None]:
    """Report a database that cannot be used.

    Raises:
        CommandError: it cannot.
    """
    from runtime.database.errors import StoreUnavailable

    try:
        yield
    except StoreUnavailable as failure:
        raise CommandError("store_unavailable", failure.message, fix=failure.fix) from None
