"""`wirewright backup` and `wirewright restore`: everything that is stored, in one file, while it is used."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import BadUsage, CommandError
from cli.options import Json
from cli.output.streams import print_json, print_message

if TYPE_CHECKING:
    from cli.documents.storage import Archived
    from runtime.archive.backup import BackedUp

_ELSEWHERE = {"environment": "WIREWRIGHT_SECRET_KEY", "keyring": "the system's keyring"}
Archive = Annotated[str, typer.Argument(metavar="FILE", help="The backup, such as wirewright.zip.")]


def backup(file: Archive, *, as_json: Json = False) -> None:
    """Write everything that is stored into a file, also while servers run: it holds keys, so keep it safe."""
    from agent.settings import AssistantSettings
    from cli.database import store_errors
    from cli.output.files import note_replaced, writable, writing
    from cli.settings import settings_of

    settings = settings_of(AssistantSettings)
    path = writable(file, "FILE")
    assert path is not None  # noqa: S101  (narrows the type: a file was named)
    note_replaced(path)
    from runtime.archive.backup import back_up

    with store_errors(), writing(path, "FILE"):
        done = asyncio.run(back_up(settings.database_url, settings.data, path))
    if as_json:
        print_json(_document(path, done))
        return
    print_message(f"Wrote {path}: {sum(done.rows.values())} rows, {done.files} files. It holds keys; keep it safe.")
    _say_where_the_key_is(done)


def restore(
    file: Archive,
    *,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace what is stored now; without it, nothing may be stored.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Restore a backup into SQLite or Postgres, whichever it came from; stop the servers before."""
    from agent.settings import AssistantSettings
    from cli.database import store_errors
    from cli.settings import settings_of

    settings, path = settings_of(AssistantSettings), readable(file)
    from runtime.archive.restore import restore as restore_archive

    with store_errors(), archive_errors(file):
        done = asyncio.run(restore_archive(path, settings.database_url, settings.data, overwrite=overwrite))
    if as_json:
        print_json(_document(path, done))
        return
    print_message(f"Restored {path}: {sum(done.rows.values())} rows, {done.files} files.")
    _say_where_the_key_is(done)


def readable(name: str) -> Path:
    """The archive that an argument names.

    Raises:
        BadUsage: it cannot be read.
    """
    path = Path(name)
    try:
        with path.open("rb") as file:
            file.read(1)
    except (OSError, ValueError):
        fix = "Name a file that exists and can be read."
        raise BadUsage("unreadable", f"{name[:200]} cannot be read.", fix=fix, where="FILE") from None
    return path


@contextmanager
def archive_errors(name: str) -> Generator[None]:
    """Report an archive that cannot be used, and a disk that cannot be written.

    Raises:
        CommandError: there is such a failure; `BadUsage` when the file is no archive.
    """
    from runtime.archive.errors import ArchiveError

    try:
        yield
    except ArchiveError as refused:
        kind = BadUsage if refused.code == "bad_archive" else CommandError
        raise kind(refused.code, f"{name[:200]}: {refused.message}", fix=refused.fix, where="FILE") from None
    except OSError:
        fix = "Check the disk and its permissions, then restore again."
        raise CommandError("not_restored", "The data folder cannot be written.", fix=fix) from None


def _document(path: Path, done: "BackedUp") -> "Archived":
    from cli.documents.storage import Archived

    return Archived(path=str(path), revision=done.schema, rows=done.rows, files=done.files, secret_key=done.secret_key)


def _say_where_the_key_is(done: "BackedUp") -> None:
    place = _ELSEWHERE.get(done.secret_key)
    if place is not None:
        print_message(f"What is encrypted in it needs the secret key of {place}, which is not inside.")
