"""The files of this machine's user."""

from pathlib import Path
from typing import TYPE_CHECKING

from cli.errors import BadUsage

if TYPE_CHECKING:
    from runtime.files.store import UserFiles, Written
    from runtime.keychain.user_variables import UserVariables

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


def local_variables() -> "UserVariables":
    """The variables that flows may have when they are started from the command line."""
    from agent.settings import AssistantSettings
    from cli.settings import settings_of
    from runtime.files.folders import LOCAL_USER
    from runtime.keychain.user_variables import UserVariables

    return UserVariables(settings_of(AssistantSettings).data, LOCAL_USER)


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
