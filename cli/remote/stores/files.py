"""The user's files on a server, as `wirewright files` asks for them."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel

from agent.contract.events import FILES_PATH, file_url
from agent.contract.model import Page
from cli.input.texts import bad_text
from cli.remote.connection import Server
from runtime.files.store import Written
from runtime.files.texts import unreadable

UPLOAD_SECONDS = 300.0
"""How long a server may take for a file."""


class _File(BaseModel):
    path: str
    size: int
    new: bool = False


class _Files(BaseModel):
    files: list[_File]


class _FilePage(Page):
    files: list[_File]


class RemoteFiles:
    """The user's files on a server.

    Args:
        server: the server.
    """

    def __init__(self, server: Server) -> None:
        self._server = server

    def add(self, path: str, folder: str = "", *, where: str = "PATH") -> Written:
        """Send a file of this machine under its own name; one of the same name is replaced.

        Args:
            path: the file.
            folder: the folder inside the user's.
            where: the argument that names it.

        Raises:
            CommandError: it cannot be read, or the server refuses it.
        """
        source = Path(path)
        try:
            file = source.open("rb")
        except (OSError, ValueError) as failure:
            raise bad_text(path, unreadable(failure), where) from None
        with file:
            added = self._server.change(
                _Files,
                "POST",
                FILES_PATH,
                params={"folder": folder} if folder else {},
                files={"file": (source.name, file)},
                timeout=UPLOAD_SECONDS,
            ).files[0]
        return Written(path=added.path, size=added.size, new=added.new)

    def listing(self) -> Sequence[tuple[str, int]]:
        """The paths of all files with their sizes."""
        return [(file.path, file.size) for file in self._server.read(_FilePage, FILES_PATH).files]

    def read_bytes(self, path: str) -> bytes:
        """The content of a file."""
        return self._server.send("GET", file_url(path), timeout=UPLOAD_SECONDS).content

    def remove(self, path: str) -> int:
        """Remove a file; returns the size that it had."""
        size = next((size for known, size in self.listing() if known == path), 0)
        self._server.send("DELETE", file_url(path))
        return size
