"""The `.env` file of the folder in which a command runs: its variables, where the environment does not set them."""

import io
import os
from collections.abc import Mapping, MutableMapping
from pathlib import Path

from cli.output.streams import print_message

NAME = ".env"
LIMIT = 1024 * 1024
"""Bytes of such a file."""
_OURS = ("WIREWRIGHT_", "OTEL_", "LOGFIRE_")
_DATA, _CACHE = "WIREWRIGHT_DATA", "WIREWRIGHT_CACHE"
_NOT_OURS = frozenset({"WIREWRIGHT_SERVER", "WIREWRIGHT_RUN_CONFINEMENT", _CACHE})
"""What a folder must not decide: where messages, files and tokens are sent, whether runs are confined, and which engine
is started, whose programs are in the cache."""
_RUN_VARIABLES = "WIREWRIGHT_RUN_VARIABLES"
_SECRET = frozenset(
    (
        *("KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "CREDENTIALS"),
        *("ID", "USER", "USERNAME", "ACCOUNT", "EMAIL"),
    )
)
"""Words of the names of what secret fields hold; no variable that starts programs or loads libraries has one."""


def read_env_file(folder: Path, environment: MutableMapping[str, str] = os.environ) -> None:
    """Set the variables of a folder's `.env` file that Wirewright reads; what the environment sets stays.

    Other names are not set: a file in a folder must not decide what programs are started, or with which libraries.

    Args:
        folder: where the file is looked for.
        environment: what is changed.
    """
    path = folder / NAME
    if not _is_there(path):
        return
    from dotenv import dotenv_values

    from runtime.files.texts import TextRefused, read_text

    try:
        text = read_text(path, LIMIT)
    except TextRefused as refused:
        print_message(f"{NAME} was not read: it {refused.reason}.")
        return
    written = dotenv_values(stream=io.StringIO(text), interpolate=False)
    for name, value in written.items():
        if value is not None and name not in environment and _is_read(name, {**written, **environment}):
            environment[name] = value
            if name == _DATA and _CACHE not in environment:
                from flows.paths import platform_data_folder

                environment[_CACHE] = str(platform_data_folder() / "cache")  # whose default is inside the data folder


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a folder that may not be looked into
        return False


def _is_read(name: str, variables: Mapping[str, str | None]) -> bool:
    from agent.models.keys import PROVIDER_VARIABLES

    if name in _NOT_OURS or name != name.upper():  # settings are found by any case
        return False
    named = {one.strip() for one in (variables.get(_RUN_VARIABLES) or "").split(",")}
    secret = name in named and not _SECRET.isdisjoint(name.split("_"))
    return name.startswith(_OURS) or name in PROVIDER_VARIABLES or name == "PORT" or secret
