"""The `.env` file of the folder in which a command runs: its variables, where the environment does not set them."""

import io
import os
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from urllib.parse import urlsplit

from cli.output.streams import print_message

NAME = ".env"
LIMIT = 1024 * 1024
"""Bytes of such a file."""
_OURS = ("WIREWRIGHT_", "OTEL_", "LOGFIRE_")
_DATA, _CACHE = "WIREWRIGHT_DATA", "WIREWRIGHT_CACHE"
_FOLDER_VARIABLES = "WIREWRIGHT_FOLDER_VARIABLES"
_NOT_OURS = frozenset({"WIREWRIGHT_SERVER", "WIREWRIGHT_RUN_CONFINEMENT", _CACHE, _FOLDER_VARIABLES})
"""What a folder must not decide: where messages, files and tokens are sent, whether runs are confined, which engine
is started, whose programs are in the cache, and which keys may go to an address of its own."""
_TRACES = {
    "LOGFIRE_BASE_URL": ("LOGFIRE_TOKEN", "LOGFIRE_API_KEY"),
    "OTEL_EXPORTER_OTLP_ENDPOINT": ("OTEL_EXPORTER_OTLP_HEADERS",),
}
"""Where traces are sent, and what is sent along to be let in; the variables of one kind of signal are alike."""
_SIGNALS = ("_TRACES_", "_METRICS_", "_LOGS_")
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
    variables = {**written, **environment}
    taken = {
        name: value
        for name, value in written.items()
        if value is not None and name not in environment and _is_read(name, variables)
    }
    if _RUN_VARIABLES in taken:
        taken[_RUN_VARIABLES] = _for_runs(taken[_RUN_VARIABLES], environment)
    refused = _addresses_of_traces(taken, environment) | _addresses_of_models(taken, environment)
    used = {name: value for name, value in taken.items() if name not in refused}
    environment.update(used)
    _name_addresses(used)
    if _DATA in taken and _CACHE not in environment:
        from flows.paths import platform_data_folder

        environment[_CACHE] = str(platform_data_folder() / "cache")  # whose default is inside the data folder


def _addresses_of_models(taken: Mapping[str, str], environment: MutableMapping[str, str]) -> set[str]:
    """The addresses of providers that a key of the environment would be sent to; what the file gives is noted.

    A model of such a provider is refused when it is chosen, and so is one whose stored key would be sent there.
    """
    from agent.models.keys import PROVIDER_VARIABLES
    from agent.models.providers import PROVIDERS, folder_variables, is_address, is_key

    of_folder = folder_variables(environment) | PROVIDER_VARIABLES & taken.keys()
    if any(map(is_address, of_folder)):
        environment[_FOLDER_VARIABLES] = ",".join(sorted(of_folder))
    keys = {name for name in environment if is_key(name) and environment[name].strip() and name not in of_folder}
    readers = [info for info in PROVIDERS.values() if not keys.isdisjoint(info.variables)]
    return {name for info in readers for name in info.variables if is_address(name) and name in taken}


def _addresses_of_traces(taken: Mapping[str, str], environment: Mapping[str, str]) -> set[str]:
    """The addresses of traces that secrets of the environment would be sent to, each of which is named."""
    set_there = [name for name, value in environment.items() if value.strip()]
    refused: set[str] = set()
    for name in taken:
        wanted = _TRACES.get(_of_every_signal(name), ())
        secret = next((one for one in set_there if _of_every_signal(one) in wanted), None)
        if secret is not None:
            refused.add(name)
            print_message(
                f"{name} in the file {NAME} of this folder is not used: {secret} is not from this file. "
                f"Write both into the file, or set {name} in the environment."
            )
    return refused


def _name_addresses(used: Mapping[str, str]) -> None:
    """Say where the file sends what is asked and answered, and traces: a folder may be a stranger's."""
    from agent.models.providers import is_address
    from cli.remote.addresses import is_loopback

    for name, value in used.items():
        if not is_address(name) and _of_every_signal(name) not in _TRACES:
            continue
        host = urlsplit(value.strip()).hostname if "//" in value else None
        if host is None or not is_loopback(host):
            what = "traces are" if _of_every_signal(name) in _TRACES else "what you ask and is answered is"
            print_message(
                f"{name} in the file {NAME} of this folder decides where {what} sent: {(host or value)[:200]}"
            )


def _of_every_signal(name: str) -> str:
    """The variable that holds for every kind of signal, for one that holds for one kind."""
    return next((name.replace(signal, "_") for signal in _SIGNALS if signal in name), name)


def _for_runs(names: str, environment: Mapping[str, str]) -> str:
    """The variables that the file gives to runs, without those of the environment, which are named."""
    wanted = [one.strip() for one in names.split(",")]
    others = [name for name in wanted if name in environment]
    for name in others:
        print_message(
            f"{_RUN_VARIABLES} in the file {NAME} of this folder does not give {name} to runs: its value is not from "
            f"this file. Write it into the file, or set {_RUN_VARIABLES} in the environment."
        )
    return ",".join(name for name in wanted if name not in environment) if others else names


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
