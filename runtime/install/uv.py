"""Runs uv, which resolves and installs the flow engine's packages, with progress, time limits and clear errors."""

from __future__ import annotations

import os
import re
import sys
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from runtime.install.errors import InstallError
from runtime.install.progress import SyncProgress
from runtime.processes import run_program

SYNC_TIMEOUT = 1800.0
RESOLVE_TIMEOUT = 600.0
_PYTHONS = ((3, 11), (3, 13))
"""The oldest and the newest Python that the engine runs on."""


async def add(project: Path, requirements: Sequence[str], environment: Path) -> None:
    """Add requirements to the project and its lock, keeping locked versions where that is possible.

    Raises:
        InstallError: they do not exist or are incompatible, or uv is missing or takes too long.
    """
    lines: deque[str] = deque(maxlen=40)
    options = ["--no-sync", "--no-build", "--color", "never"]
    command = [_uv(), "add", *options, "--python", sys.executable, "--project", str(project), "--", *requirements]
    code = await run_program(command, _variables(environment), project, timeout=RESOLVE_TIMEOUT, on_line=lines.append)
    if code is None:
        raise InstallError("Resolving the bundles takes too long.", "Check the network; try again.")
    if code != 0:
        raise _resolution_error(lines, requirements)


def _variables(environment: Path) -> dict[str, str]:
    """This process's environment without variables that would point uv at another environment."""
    kept = {k: v for k, v in os.environ.items() if not re.match(r"VIRTUAL_ENV|UV_PROJECT|UV_PYTHON|PYTHON|CONDA_", k)}
    return {
        **kept,
        "UV_PROJECT_ENVIRONMENT": str(environment),
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_NO_PROGRESS": "1",
        "UV_LINK_MODE": os.environ.get("UV_LINK_MODE", "copy"),  # a run must not damage a file that uv's cache shares
    }


def _resolution_error(lines: Sequence[str], requirements: Sequence[str]) -> InstallError:
    output, wanted = " ".join(" ".join(lines).lower().split()), ", ".join(requirements)
    if re.search(r"not found in the (cache|(package )?registry|provided package locations)", output):
        return InstallError(f"There is no such package: {wanted}.", "Check its name and version.")
    if re.search(r"no solution found|unsatisfiable|depends on|incompatible", output):
        return InstallError(
            f"These do not fit the flow engine or one another: {wanted}.", "Try another version, or fewer of them."
        )
    return _error(lines)


async def sync(project: Path, environment: Path, progress: Callable[[str], None]) -> None:
    """Build `environment` from the lock in `project`, for the running Python.

    Raises:
        InstallError: uv is missing, fails or takes longer than half an hour.
    """
    if not _PYTHONS[0] <= sys.version_info[:2] <= _PYTHONS[1]:
        raise InstallError(
            f"The flow engine runs on Python 3.11 to 3.13, not on {sys.version_info.major}.{sys.version_info.minor}.",
            "Install Wirewright with one of these.",
        )
    options = ["--frozen", "--no-dev", "--no-build", "--no-install-project", "--color", "never"]
    command = [_uv(), "sync", *options, "--python", sys.executable, "--project", str(project)]
    lines: deque[str] = deque(maxlen=40)
    said = SyncProgress()

    def read(line: str) -> None:
        lines.append(line)
        if (message := said.message(line)) is not None:
            progress(message)

    code = await run_program(command, _variables(environment), project, timeout=SYNC_TIMEOUT, on_line=read)
    if code is None:
        raise InstallError(
            "Installing the flow engine takes longer than half an hour.", "Check the network; try again."
        )
    if code != 0:
        raise _error(lines)


def _uv() -> str:
    import uv

    try:
        return os.fspath(uv.find_uv_bin())
    except FileNotFoundError:
        raise InstallError("uv, which installs the flow engine, is missing.", "Reinstall Wirewright.") from None


def _error(lines: Sequence[str]) -> InstallError:
    output = "\n".join(lines).lower()
    if "no space left" in output:
        return InstallError("The disk is full.", "Free about 1 GB, or set WIREWRIGHT_CACHE to another disk.")
    if re.search(r"failed to fetch|error sending request|dns|connect|timed out|certificate|tunnel", output):
        return InstallError(
            "The flow engine's packages cannot be downloaded.",
            "Check the network and its proxy settings. A server tries again; or run: wirewright runner install",
            temporary=True,
        )
    if "permission denied" in output or "read-only" in output:
        return InstallError.not_writable()
    if "hash mismatch" in output:
        return InstallError("A downloaded package is not the one that was locked.", "Clear uv's cache; try again.")
    if "no interpreter found" in output or ("python" in output and "incompatible" in output):
        return InstallError("No suitable Python was found.", "Install Wirewright with Python 3.11 to 3.13.")
    return InstallError("The flow engine could not be installed.", "Try again: wirewright runner install")
