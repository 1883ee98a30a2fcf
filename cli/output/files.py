"""Where a resulting flow is written: a file that is known to be writable before any work begins."""

import json
import os
from pathlib import Path

from cli.errors import BadUsage, Stopped
from flows.document import Flow


def writable(name: str | None) -> Path | None:
    """The file that `--out` names.

    Raises:
        BadUsage: when it cannot be written there.
    """
    if name is None:
        return None
    path = Path(name)
    fix = "Name a file in a folder that exists and may be written to."
    if name in ("", "-"):
        reason = "--out needs the name of a file."
    elif path.is_dir():
        reason = f"{name} is a folder."
    elif not path.parent.is_dir():
        reason = f"The folder of {name} does not exist."
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        reason = f"{name} cannot be written."
    else:
        return path
    raise BadUsage("unwritable", reason, fix=fix, where="--out")


def write_flow(path: Path, flow: Flow) -> None:
    """Write a flow as Langflow JSON.

    Raises:
        Stopped: when the file cannot be written after all.
    """
    text = json.dumps(flow.to_json(), ensure_ascii=False, indent=2) + "\n"
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError:
        raise Stopped("unwritable", f"{path} cannot be written.", fix="Name another file.", where="--out") from None
