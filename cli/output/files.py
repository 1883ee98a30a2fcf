"""Files that commands write; whether they can be written is checked before any work begins."""

import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cli.errors import BadUsage, CommandError
from cli.output.streams import print_message

if TYPE_CHECKING:
    from flows.document import Flow


def writable(name: str | None, option: str = "--out") -> Path | None:
    """The file that an option names.

    Raises:
        BadUsage: when it cannot be written there.
    """
    if name is None:
        return None
    path = Path(name)
    fix = "Name a file in a directory that exists and can be written to."
    if name in ("", "-"):
        reason = f"{option} needs the name of a file."
    elif path.is_dir():
        reason = f"{name} is a directory."
    elif not path.parent.is_dir():
        reason = f"The directory of {name} does not exist."
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        reason = f"{name} cannot be written."
    else:
        return path
    raise BadUsage("unwritable", reason, fix=fix, where=option)


def note_replaced(path: Path) -> None:
    """Say that a file with content is about to be replaced."""
    if path.is_file() and path.stat().st_size:
        print_message(f"{path} is replaced.")


@contextmanager
def writing(path: Path, option: str = "--out") -> Generator[None]:
    """Write a file that an option named.

    Raises:
        CommandError: when it cannot be written after all.
    """
    try:
        yield
    except OSError as failure:
        from runtime.files.texts import is_full

        if is_full(failure):
            reason, fix = f"{path} cannot be written: the disk is full.", "Free some space, or name a file elsewhere."
        else:
            reason, fix = f"{path} cannot be written.", "Name another file."
        raise CommandError("unwritable", reason, fix=fix, where=option) from None


def write_text(path: Path, text: str, option: str = "--out") -> None:
    """Write a text to a file that an option named, completely or not at all.

    Raises:
        CommandError: when it cannot be written after all.
    """
    write_bytes(path, text.encode("utf-8", "backslashreplace"), option)


def write_bytes(path: Path, content: bytes, option: str = "--out") -> None:
    """Write a file that an option named, completely or not at all.

    Raises:
        CommandError: when it cannot be written after all.
    """
    from runtime.files.texts import write_file

    with writing(path, option):
        write_file(path, content)


def write_flow(path: Path, flow: "Flow") -> None:
    """Write a flow as Langflow JSON.

    Raises:
        CommandError: when the file cannot be written after all.
    """
    write_text(path, json.dumps(flow.to_json(), ensure_ascii=False, indent=2) + "\n")
