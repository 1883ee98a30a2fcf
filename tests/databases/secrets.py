"""What users keep secret, stored and read beside the code under test."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from agent.models.keys import ProviderKeys
from agent.settings import AssistantSettings
from runtime.database.database import Database
from runtime.keychain.user_variables import UserVariables


@asynccontextmanager
async def opened(url: str, data: Path) -> AsyncGenerator[Database]:
    """A database, closed afterwards."""
    database = Database(url, data)
    try:
        yield database
    finally:
        await database.aclose()


def keep_variables(user: str, values: Mapping[str, str], data: Path | None = None) -> None:
    """Keep variables of a user in the installation of the environment, or in that of a data folder."""
    asyncio.run(_keep(_settings(data), user, values))


def kept_variables(user: str, data: Path | None = None) -> Mapping[str, str]:
    """The variables of a user."""
    return asyncio.run(_kept(_settings(data), user))


def store_key(provider: str, values: Mapping[str, str], data: Path | None = None) -> None:
    """Store a key of the first user."""
    asyncio.run(_store(_settings(data), provider, values))


def _settings(data: Path | None) -> AssistantSettings:
    return AssistantSettings() if data is None else AssistantSettings(data=data)


async def _keep(settings: AssistantSettings, user: str, values: Mapping[str, str]) -> None:
    async with opened(settings.database_url, settings.data) as database:
        await UserVariables(database, user).keep(values)


async def _kept(settings: AssistantSettings, user: str) -> Mapping[str, str]:
    async with opened(settings.database_url, settings.data) as database:
        return await UserVariables(database, user).values()


async def _store(settings: AssistantSettings, provider: str, values: Mapping[str, str]) -> None:
    async with opened(settings.database_url, settings.data) as database:
        await ProviderKeys(database).store(provider, values)
