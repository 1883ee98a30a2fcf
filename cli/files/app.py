"""`wirewright files`: add, list, get and remove the files that flows and the assistant read and write."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import BadUsage, CommandError
from cli.files.local import add_file, local_files
from cli.help.group import CommandGroup
from cli.options import Json
from cli.output.columns import print_rows
from cli.output.streams import print_json, print_message
from cli.remote.option import ServerAddress, server_at

if TYPE_CHECKING:
    from cli.remote.stores.files import RemoteFiles
    from runtime.files.names import FileRefused
    from runtime.files.store import UserFiles

commands = CommandGroup("Your files, which flows read and write.")
Name = Annotated[str, typer.Argument(metavar="NAME", help="The file as `files list` shows it.")]


@commands.add(
    "add", "wirewright files add handbook.pdf report.csv", "wirewright files add handbook.pdf --folder manuals"
)
def add(
    paths: Annotated[list[str], typer.Argument(metavar="PATH", help="Files of this machine.")],
    folder: Annotated[str, typer.Option(metavar="NAME", help="Put them into this folder of yours.")] = "",
    server: ServerAddress = None,
    *,
    as_json: Json = False,
) -> None:
    """Copy files into yours; those of the same name are replaced."""
    from cli.documents.stored import FileAdded, FilesAdded

    remote = _remote(server)
    added = [add_file(path, folder) if remote is None else remote.add(path, folder) for path in paths]
    if as_json:
        print_json(FilesAdded(files=[FileAdded(path=file.path, size=file.size, new=file.new) for file in added]))
        return
    for file in added:
        print_message(f"{'Added' if file.new else 'Replaced'} {file.path} ({file.size} bytes).")


@commands.add("list", "wirewright files list")
def list_files(server: ServerAddress = None, *, as_json: Json = False) -> None:
    """List your files with their sizes."""
    from cli.documents.stored import FileList, FileObject
    from runtime.files.names import FileRefused

    try:
        listed = _files(server).listing()
    except FileRefused as refused:
        raise _failed(refused) from None
    if as_json:
        print_json(FileList(files=[FileObject(path=path, size=size) for path, size in listed]))
    elif not listed:
        print_message("There are no files yet; add one with: wirewright files add PATH")
    else:
        width = max(len(f"{size:,}") for _, size in listed)
        print_rows((f"{size:>{width},}", path) for path, size in listed)


@commands.add("get", "wirewright files get report.csv", "wirewright files get report.csv --out copy.csv")
def get(
    name: Name,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write it there; without it, standard output gets the content.")
    ] = None,
    server: ServerAddress = None,
    *,
    as_json: Json = False,
) -> None:
    """Give the content of a file."""
    import sys

    from cli.documents.stored import FileWritten
    from cli.output.files import writable, write_bytes
    from runtime.files.names import FileRefused

    target = writable(out)
    if as_json and target is None:
        raise BadUsage("usage", "--json needs --out: the content is not JSON.", fix="Name a file.", where="--out")
    try:
        content = _files(server).read_bytes(name)
    except FileRefused as refused:
        raise _failed(refused) from None
    if target is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    write_bytes(target, content)
    if as_json:
        print_json(FileWritten(path=name, size=len(content), out=str(target)))
    else:
        print_message(f"{name} is in {target}.")


@commands.add("remove", "wirewright files remove report.csv")
def remove(
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="Files as `files list` shows them.")],
    server: ServerAddress = None,
    *,
    as_json: Json = False,
) -> None:
    """Delete files."""
    from cli.documents.stored import FileObject, FilesRemoved
    from runtime.files.names import FileRefused

    removed: list[FileObject] = []
    files = _files(server)
    try:
        removed.extend(FileObject(path=name, size=files.remove(name)) for name in names)
    except FileRefused as refused:
        raise _failed(refused) from None
    if as_json:
        print_json(FilesRemoved(removed=removed))
    else:
        print_message(f"Removed {', '.join(names)}.")


def _files(server: str | None) -> "UserFiles | RemoteFiles":
    """The files on the server that is named, or else those of this machine's user."""
    return _remote(server) or local_files()


def _remote(server: str | None) -> "RemoteFiles | None":
    found = server_at(server)
    if found is None:
        return None
    from cli.remote.stores.files import RemoteFiles

    return RemoteFiles(found)


def _failed(refused: "FileRefused") -> CommandError:
    return CommandError("file_refused", refused.message, fix="wirewright files list shows your files.")
