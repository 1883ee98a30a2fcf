"""The files, variables and keys of this machine's user."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from cli.errors import BadUsage

if TYPE_CHECKING:
    from agent.models.keys import KeptKeys
    from runtime.database.database import Database
    from runtime.files.store import UserFiles, Written
    from runtime.keychain.user_variables import UserVariables

T = TypeVar("T")

_PIECE = 1 << 20
"""Bytes that are copied at once."""


def local_files() -> "UserFiles":
    """The files that flows and the assistant read and write when they are started from the command line."""
    from agent.settings import AssistantSettings
    from cli.settings import settings_of
    from runtime.files.folders import LOCAL_USER
    from runtime.files.store import UserFiles

    settings = settings_of(AssistantSettings)
    return UserFiles(settings.data, LOCAL_USER, settings.file_limits)


def file_paths() -> list[str]:
    """The paths of these files; none when they cannot be read."""
    from runtime.files.names import FileRefused

    try:
        return [path for path, _ in local_files().listing()]
    except FileRefused:
        return []


class AwaitedVariables:
    """The variables of this machine's user, for what is asynchronous. Every method may raise `StoreUnavailable`."""

    async def names(self) -> list[str]:
        """The names of all variables, sorted."""
        return await self._of(lambda kept: kept.names())

    async def values(self) -> Mapping[str, str]:
        """The values of all variables, by name."""
        return await self._of(lambda kept: kept.values())

    async def keep(self, values: Mapping[str, str]) -> None:
        """Store variables; those of the same name are replaced.

        Raises:
            BadVariable: a name or a value cannot be stored.
        """
        await self._of(lambda kept: kept.keep(values))

    async def forget(self, name: str) -> bool:
        """Delete a variable; returns whether there was one."""
        return await self._of(lambda kept: kept.forget(name))

    async def _of(self, use: "Callable[[UserVariables], Awaitable[T]]") -> T:
        from runtime.files.folders import LOCAL_USER
        from runtime.keychain.user_variables import UserVariables

        async with _database() as database:
            return await use(UserVariables(database, LOCAL_USER))


class LocalVariables:
    """The variables of this machine's user. Every method may raise `StoreUnavailable`."""

    def names(self) -> list[str]:
        """The names of all variables, sorted."""
        return asyncio.run(AwaitedVariables().names())

    def keep(self, values: Mapping[str, str]) -> None:
        """Store variables; those of the same name are replaced.

        Raises:
            BadVariable: a name or a value cannot be stored.
        """
        asyncio.run(AwaitedVariables().keep(values))

    def forget(self, name: str) -> bool:
        """Delete a variable; returns whether there was one."""
        return asyncio.run(AwaitedVariables().forget(name))

    async def values(self) -> Mapping[str, str]:
        """The values of all variables, by name, for a run."""
        return await AwaitedVariables().values()


def local_keys() -> "KeptKeys":
    """The keys of providers that this machine's user has stored, read in an event loop of its own.

    Raises:
        AssistantUnavailable: they cannot be read.
    """
    from agent.conversation.failures import store_failures
    from agent.models.keys import ProviderKeys

    async def read() -> "KeptKeys":
        async with _database() as database:
            with store_failures():
                return await ProviderKeys(database).read()

    with ThreadPoolExecutor(1) as thread:  # an event loop may be running in this one
        return thread.submit(asyncio.run, read()).result()


@asynccontextmanager
async def _database() -> "AsyncGenerator[Database]":
    from agent.settings import AssistantSettings
    from cli.settings import settings_of
    from runtime.database.database import Database

    settings = settings_of(AssistantSettings)
    database = Database(settings.database_url, settings.data)
    try:
        yield database
    finally:
        await database.aclose()


def add_file(path: str, folder: str = "", *, where: str = "PATH") -> "Written":
    """Copy a file of this machine into the user's files under its own name; one of the same name is replaced.

    Args:
        path: the file.
        folder: the folder inside the user's.
        where: the argument that names it.

    Raises:
        BadUsage: it cannot be read, or is refused.
    """
    from cli.input.texts import bad_text
    from runtime.files.names import FileRefused
    from runtime.files.store import Written
    from runtime.files.texts import unreadable

    source = Path(path)
    name = f"{folder.rstrip('/')}/{source.name}" if folder else source.name
    try:
        with source.open("rb") as file, local_files().receive(name) as upload:
            while piece := file.read(_PIECE):
                upload.write(piece)
    except FileRefused as refused:
        fix = "Choose another name, or remove files with: wirewright files remove"
        raise BadUsage("file_refused", refused.message, fix=fix, where=where) from None
    except (OSError, ValueError) as failure:
        raise bad_text(path, unreadable(failure), where) from None
    return Written(path=upload.path, size=upload.size, new=upload.new)
