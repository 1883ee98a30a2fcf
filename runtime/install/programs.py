"""Runs the two programs of an installation, uv and the runner's exporter, with progress, bounds and clear failures."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from flows.document import Json
from flows.json_values import as_object
from runtime.engine.environ import passed_environment

SYNC_TIMEOUT = 1800.0
RESOLVE_TIMEOUT = 600.0
EXPORT_TIMEOUT = 300.0
KILL_TIMEOUT = 3.0
"""Seconds until a program that was killed is given up."""
_PYTHONS = ((3, 11), (3, 13))
Progress = Callable[[str], None]


class InstallError(Exception):
    """The flow engine could not be installed: `message` says why, `fix` what to do."""

    def __init__(self, message: str, fix: str) -> None:
        """Keep both parts; neither holds a path or a secret."""
        super().__init__(f"{message} {fix}")
        self.message = message
        self.fix = fix


async def add(project: Path, requirements: Sequence[str], environment: Path) -> None:
    """Add requirements to the project and its lock; what is locked already stays as it is where it can.

    Raises InstallError when they do not exist or do not fit, or when uv is missing or takes too long.
    """
    lines: deque[str] = deque(maxlen=40)
    options = ["--no-sync", "--no-build", "--color", "never"]
    command = [_uv(), "add", *options, "--python", sys.executable, "--project", str(project), "--", *requirements]
    code = await _run(command, _variables(environment), RESOLVE_TIMEOUT, lines.append, cwd=project)
    if code is None:
        raise InstallError("Finding the bundles takes too long.", "Check the network; try again.")
    if code != 0:
        raise _unfit(lines, requirements)


def _variables(environment: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not re.match(r"VIRTUAL_ENV|UV_PROJECT|UV_PYTHON|PYTHON|CONDA_", k)}
    return {
        **kept,
        "UV_PROJECT_ENVIRONMENT": str(environment),
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_NO_PROGRESS": "1",
        "UV_LINK_MODE": os.environ.get("UV_LINK_MODE", "copy"),  # a shared file that a run damages would stay damaged
    }


def _unfit(lines: Sequence[str], requirements: Sequence[str]) -> InstallError:
    said, wanted = " ".join(" ".join(lines).lower().split()), ", ".join(requirements)
    if re.search(r"not found in the (cache|(package )?registry|provided package locations)", said):
        return InstallError(f"There is no such package: {wanted}.", "Check its name and version.")
    if re.search(r"no solution found|unsatisfiable|depends on|incompatible", said):
        return InstallError(
            f"These do not fit the flow engine or one another: {wanted}.", "Try another version, or fewer of them."
        )
    return _explain(lines)


async def sync(project: Path, environment: Path, say: Progress) -> None:
    """Build `environment` from the lock in `project` with uv and the running Python.

    Raises InstallError when uv is missing, fails or takes longer than half an hour.
    """
    if not _PYTHONS[0] <= sys.version_info[:2] <= _PYTHONS[1]:
        raise InstallError(
            f"The flow engine runs on Python 3.11 to 3.13, not on {sys.version_info.major}.{sys.version_info.minor}.",
            "Install Wirewright with one of these.",
        )
    options = ["--frozen", "--no-dev", "--no-build", "--no-install-project", "--color", "never"]
    command = [_uv(), "sync", *options, "--python", sys.executable, "--project", str(project)]
    lines: deque[str] = deque(maxlen=40)

    def read(line: str) -> None:
        lines.append(line)
        if (words := progress_words(line)) is not None:
            say(words)

    code = await _run(command, _variables(environment), SYNC_TIMEOUT, read, cwd=project)
    if code is None:
        raise InstallError(
            "Installing the flow engine takes longer than half an hour.", "Check the network; try again."
        )
    if code != 0:
        raise _explain(lines)


async def export_catalogue(python: Path, main: Path, target: Path, identity: str) -> None:
    """Have the runner write the catalogue, and put it at `target` in one step.

    Raises InstallError when the environment cannot do it.
    """
    with tempfile.TemporaryDirectory(prefix="wirewright-") as folder:
        fresh = target.with_name(f".{target.name}.{os.getpid()}.new")
        variables = passed_environment(Path(folder))
        try:
            command = [str(python), "-I", "-X", "utf8", str(main), "index", str(fresh), identity]
            code = await _run(command, variables, EXPORT_TIMEOUT, lambda _: None, cwd=Path(folder))
            if code != 0 or not await asyncio.to_thread(_whole, fresh):
                raise InstallError(
                    "The flow engine is installed, but cannot be read.", "Repair it: wirewright runner install --repair"
                )
            fresh.replace(target)
        finally:
            fresh.unlink(missing_ok=True)


def progress_words(line: str) -> str | None:
    """What a line of uv's output means for someone who waits, or None."""
    if found := re.match(r"\s*Downloading (\S+) \(([^)]+)\)", line):
        return f"Installing the flow engine: downloading {found[1]} ({found[2]})"
    if found := re.match(r"Prepared (\d+) packages?", line):
        return f"Installing the flow engine: {found[1]} packages downloaded"
    if found := re.match(r"Installed (\d+) packages?", line):
        return f"Installing the flow engine: {found[1]} packages installed"
    return None


def _uv() -> str:
    import uv

    try:
        return os.fspath(uv.find_uv_bin())
    except FileNotFoundError:
        raise InstallError("uv, which installs the flow engine, is not there.", "Install Wirewright anew.") from None


def _explain(lines: Sequence[str]) -> InstallError:
    said = "\n".join(lines).lower()
    if "no space left" in said:
        return InstallError("The disk is full.", "Free about 1 GB, or set WIREWRIGHT_CACHE to another disk.")
    if re.search(r"failed to fetch|error sending request|dns|connect|timed out|certificate|tunnel", said):
        return InstallError(
            "The flow engine's packages cannot be downloaded.", "Check the network and its proxy settings; try again."
        )
    if "permission denied" in said or "read-only" in said:
        return InstallError(
            "The flow engine's folder cannot be written.", "Set WIREWRIGHT_CACHE to a folder that can be written."
        )
    if "hash mismatch" in said:
        return InstallError("A downloaded package is not the one that was locked.", "Clear uv's cache; try again.")
    if "no interpreter found" in said or ("python" in said and "incompatible" in said):
        return InstallError("No suitable Python was found.", "Install Wirewright with Python 3.11 to 3.13.")
    return InstallError("The flow engine could not be installed.", "Try again: wirewright runner install")


async def _run(
    command: Sequence[str],
    variables: Mapping[str, str],
    limit: float,
    read: Callable[[str], None],
    *,
    cwd: Path,
) -> int | None:
    """Run a program and pass each line it says to `read`; None when it took longer than `limit` seconds.

    It runs in a session of its own, and its whole group has ended when this is cancelled or takes too long.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=variables,
            cwd=cwd,
            start_new_session=True,
        )
    except OSError:
        return -1
    assert process.stdout is not None  # noqa: S101 - asked for above
    try:
        async with asyncio.timeout(limit):
            held = b""
            while chunk := await process.stdout.read(8192):
                *lines, held = (held + chunk).split(b"\n")
                for line in lines:
                    read(line.decode("utf-8", errors="replace"))
                held = held[-8192:]
            read(held.decode("utf-8", errors="replace"))
            return await process.wait()
    except TimeoutError:
        return None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if sys.platform == "win32":
                    process.kill()
                else:
                    os.killpg(process.pid, signal.SIGKILL)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(KILL_TIMEOUT):  # it writes in folders that are removed next
                    await process.communicate()


def _whole(file: Path) -> bool:
    """Whether a catalogue file was written to its end and holds components."""
    import json

    try:
        found: Json = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(as_object(found).get("components"))
