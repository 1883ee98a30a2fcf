"""Files that commands write; whether they can be written is checked before any work begins."""

import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cli.errors import BadUsage, CommandError

if TYPE_CHECKING:
    from flows.document import Flow


def writable(name: str | None) -> Path | None:
    """The file that `--out` names.

    Raises:
        BadUsage: when it cannot be written there.
    """
    if name is None:
        return None
    path = Path(name)
    fix = "Name a file in a directory that exists and can be written to."
    if name in ("", "-"):
        reason = "--out needs the name of a file."
    elif path.is_dir():
        reason = f"{name} is a directory."
    elif not path.parent.is_dir():
        reason = f"The directory of {name} does not exist."
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        reason = f"{name} cannot be written."
    else:
        return path
    raise BadUsage("unwritable", reason, fix=fix, where="--out")


@contextmanager
def writing(path: Path) -> Generator[None]:
    """Write a file that an option named.

    Raises:
        CommandError: when it cannot be written after all.
    """
    try:
        yield
    except OSError:
        raise CommandError(
            "unwritable", f"{path} cannot be written.", fix="Name another file.", where="--out"
        ) from None


def write_flow(path: Path, flow: "Flow") -> None:
    """Write a flow as Langflow JSON.

    Raises:
        CommandError: when the file cannot be written after all.
    """
    text = json.dumps(flow.to_json(), ensure_ascii=False, indent=2) + "\n"
    with writing(path):
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
