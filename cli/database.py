"""The database of the commands that read or erase what is stored."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
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
    from runtime.database.errors import StoreUnavailable

    settings = settings_of(AssistantSettings)
    database = Database(settings.database_url, settings.data)
    try:
        yield database
    except StoreUnavailable as failure:
        raise CommandError("store_unavailable", failure.message, fix=failure.fix) from None
    finally:
        await database.aclose()
