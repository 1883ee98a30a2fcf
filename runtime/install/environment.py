"""The flow engine's environment: where it is, whether it is complete, how it is installed and repaired."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import platform
import re
import shutil
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from flows.document import JsonObject
from flows.json_values import as_list, as_text
from flows.paths import cache_folder
from runtime.engine.confinement import ConfinementRule, can_fork, rule_of_environment
from runtime.engine.isolation import Protection, protections, refusal_here, try_confinement
from runtime.files.atomic import write_atomically
from runtime.files.lock import FileLock
from runtime.install.bundles import bundles_file, choose_bundles, chosen_bundles, with_bundles
from runtime.install.catalogue_file import Version, component_count, export_catalogue, version_of
from runtime.install.errors import InstallError
from runtime.install.pruning import STAMP, prune, stamp_of
from runtime.install.uv import add, sync
from runtime.results import RunError

__all__ = ["InstallError", "RunnerEnvironment", "RunnerStatus"]

EXPORTER = ("introspect", "components")
"""The runner's folders with what exports the catalogue; changing any file in them causes another export."""
LOCK_TIMEOUT = 1800.0
"""Seconds to wait for another process that is installing the same environment."""
_HEAD = re.compile(r'^\{"format":(?P<format>\d+),"lfx":"(?P<lfx>[^"]*)","runner":"(?P<runner>[^"]*)"')
Progress = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class RunnerStatus:
    """The state of the flow engine's installation on this machine; sizes are in MB.

    `missing_protections` names those that the rule `run_confinement` is about and that this machine lacks; `refusal` is
    why no flow runs here, or None.
    """

    installed: bool
    digest: str
    folder: str
    lfx: str | None
    python: str
    packages: int
    size_mb: float
    catalogue: bool
    component_types: int
    bundles: tuple[str, ...]
    protections: tuple[Protection, ...]
    run_confinement: ConfinementRule
    missing_protections: tuple[str, ...]
    refusal: RunError | None


@dataclass(frozen=True)
class RunnerEnvironment:
    """One environment of the engine, in a folder named by the digest of its inputs."""

    source: Path
    cache: Path
    digest: str
    bundles: tuple[str, ...] = ()
    """Requirements beyond the lock, which are resolved when the environment is created."""

    @classmethod
    def locate(
        cls, cache: Path | None = None, *, source: Path | None = None, bundles: tuple[str, ...] | None = None
    ) -> RunnerEnvironment:
        """Return the environment for the running Python; nothing is installed or created.

        Args:
            cache: where environments are kept (default: the cache folder).
            source: the folder of the runner's source and lock (default: that of this installation).
            bundles: requirements beyond that lock (default: the chosen bundles).

        Raises:
            InstallError: the runner's source is missing.
        """
        source, cache = source or runner_source(), cache or cache_folder()
        bundles = chosen_bundles(cache) if bundles is None else bundles
        return cls(source, cache, _digest(source, platform.python_version(), bundles), bundles)

    def inputs(self) -> tuple[Version | None, ...]:
        """The versions of the files that the environment is created from; cheap enough to check before every run."""
        return tuple(version_of(file) for file in self._input_files)

    @cached_property
    def _input_files(self) -> tuple[Path, ...]:
        return self.source / "uv.lock", self.source / "pyproject.toml", bundles_file(self.cache)

    def current(self) -> RunnerEnvironment:
        """The environment of the current files: this one, unless they have changed."""
        try:
            found = RunnerEnvironment.locate(self.cache, source=self.source)
        except OSError:
            return self
        return self if found.digest == self.digest else found

    @property
    def folder(self) -> Path:
        """Where this environment is or will be installed."""
        return self.cache / "runner" / self.digest

    @property
    def python(self) -> Path:
        """Its interpreter."""
        scripts = ("Scripts", "python.exe") if sys.platform == "win32" else ("bin", "python")
        return self.folder.joinpath("env", *scripts)

    @property
    def main(self) -> Path:
        """The program that the interpreter runs."""
        return self.source / "main.py"

    @property
    def catalogue(self) -> Path:
        """The component catalogue that it exports."""
        return self.cache / "catalogue.json"

    @property
    def installed(self) -> bool:
        """Whether the installation was finished and all its packages are still there."""
        stamp = stamp_of(self.folder)
        if stamp.get("digest") != self.digest or not self.python.exists():
            return False
        packages = {as_text(name) for name in as_list(stamp.get("packages"))}
        return bool(packages) and packages <= set(self._packages())

    @property
    def catalogue_current(self) -> bool:
        """Whether the catalogue file was exported by this environment and this exporter."""
        try:
            with self.catalogue.open(encoding="utf-8") as file:
                head = _HEAD.match(file.read(256))
        except (OSError, UnicodeDecodeError):
            return False
        return head is not None and head["format"] == "1" and head["runner"] == self._exporter()

    async def install(self, progress: Progress | None = None, *, repair: bool = False) -> None:
        """Install what is missing and export the catalogue; return at once if nothing is missing.

        An interrupted installation starts over; with `repair`, so does a complete one. Only one process installs at a
        time; the others wait for it.

        Raises:
            InstallError: it cannot be installed; the error says what to do.
        """
        report: Progress = progress or (lambda _: None)
        if not repair and self.installed and self.catalogue_current:
            return
        async with self._locked(report):
            build = repair or not await asyncio.to_thread(lambda: self.installed)
            if build:
                await self._build(report)
            if repair or not self.catalogue_current:
                report("Reading the component catalogue")
                await export_catalogue(self.python, self.main, self.catalogue, self._exporter())
            if build:
                await self._prune()
            report("The flow engine is installed")

    async def change_bundles(
        self,
        added: Sequence[str] = (),
        removed: Sequence[str] = (),
        *,
        progress: Progress | None = None,
        check: Callable[[RunnerEnvironment], Awaitable[None]] | None = None,
    ) -> RunnerEnvironment:
        """Install an environment with other bundles beside this one, and choose it if it works.

        If anything fails, this environment and the catalogue stay as they were.

        Args:
            added: requirements to add.
            removed: requirements to remove.
            progress: called with messages for the user.
            check: raises InstallError if an environment does not work.

        Raises:
            InstallError: it cannot be installed, it does not work, or there are too many bundles.
            BundleNameError: a text does not name a package.
        """
        report: Progress = progress or (lambda _: None)
        other = RunnerEnvironment.locate(
            self.cache, source=self.source, bundles=with_bundles(self.bundles, added, removed)
        )
        if other.digest == self.digest:
            await self.install(report)
            return self
        existed = await asyncio.to_thread(lambda: other.installed)
        async with other._locked(report):
            try:
                if not existed:
                    await other._build(report)
                report("Reading the component catalogue")
                fresh = other.folder / "catalogue.json"
                await export_catalogue(other.python, other.main, fresh, other._exporter())
                if check is not None:
                    report("Trying the flow engine with its bundles")
                    await check(other)
                fresh.replace(other.catalogue)
                choose_bundles(other.cache, other.bundles)
            except BaseException:
                if not existed:
                    await asyncio.to_thread(shutil.rmtree, other.folder, ignore_errors=True)
                raise
            await other._prune(self.digest)
        report("The flow engine is installed")
        return other

    async def _prune(self, previous: str | None = None) -> None:
        """Delete environments that no installation uses, except the previous one."""
        await asyncio.to_thread(prune, self.cache / "runner", self.digest, self._still_chosen, previous)

    def _still_chosen(self, stamp: JsonObject) -> bool:
        """Whether the installation that created an environment would still use it."""
        source, python = Path(as_text(stamp.get("source"))), as_text(stamp.get("python"))
        try:
            return bool(python) and _digest(source, python, chosen_bundles(self.cache)) == stamp.get("digest")
        except OSError:
            return False

    async def _build(self, report: Progress) -> None:
        report("Installing the flow engine")
        stamp = self.folder / STAMP
        await asyncio.to_thread(stamp.unlink, missing_ok=True)
        await asyncio.to_thread(shutil.rmtree, self.folder, ignore_errors=True)
        project = self.folder / "project"
        try:
            project.mkdir(parents=True, exist_ok=True)
            for name in ("pyproject.toml", "uv.lock"):
                shutil.copyfile(self.source / name, project / name)
        except OSError as error:
            raise InstallError.not_writable(error) from None
        if self.bundles:
            report(f"Resolving {', '.join(self.bundles)}")
            await add(project, self.bundles, self.folder / "env")
        await sync(project, self.folder / "env", report)
        contents = {
            "digest": self.digest,
            "python": platform.python_version(),
            "source": str(self.source.resolve()),
            "packages": self._packages(),
        }
        await asyncio.to_thread(write_atomically, stamp, json.dumps(contents).encode())

    def status(self) -> RunnerStatus:
        """The state of the installation. It reads the whole folder, which takes a moment."""
        packages = self._packages()
        lfx = next((name.removeprefix("lfx-") for name in packages if re.fullmatch(r"lfx-\d.*", name)), None)
        current = self.catalogue_current
        tried = try_confinement(self.source) if can_fork() else None
        return RunnerStatus(
            installed=self.installed,
            digest=self.digest,
            folder=str(self.folder),
            lfx=lfx,
            python=platform.python_version(),
            packages=len(packages),
            size_mb=round(_size(self.folder) / 1e6, 1),
            catalogue=current,
            component_types=component_count(self.catalogue) if current else 0,
            bundles=tuple(
                " ".join(name.replace("_", "-").rsplit("-", 1)) for name in packages if re.match(r"lfx[_-][a-z]", name)
            ),
            protections=protections(self.source, tried),
            run_confinement=rule_of_environment(),
            missing_protections=() if tried is None else tried.missing,
            refusal=refusal_here(tried),
        )

    def _exporter(self) -> str:
        """Identifies a catalogue: the environment and the program that exports it."""
        files = [path for name in EXPORTER for path in sorted((self.source / name).glob("*.py"))]
        program = b"".join(path.read_bytes() for path in files)
        return f"{self.digest}-{hashlib.sha256(program).hexdigest()[:8]}"

    def _packages(self) -> list[str]:
        """Names and versions of the installed packages, from their metadata."""
        library = self.folder / "env" / ("Lib" if sys.platform == "win32" else "lib")
        return sorted(
            record.name.removesuffix(".dist-info")
            for record in library.glob("**/site-packages/*.dist-info" if sys.platform == "win32" else "*/*/*.dist-info")
            if (record / "RECORD").is_file()
        )

    @contextlib.asynccontextmanager
    async def _locked(self, report: Progress) -> AsyncGenerator[None]:
        lock = FileLock(self.cache / "runner" / f"{self.digest}.lock")
        try:
            acquired = await lock.acquire(LOCK_TIMEOUT, lambda: report("Waiting for another installation to finish"))
        except OSError as error:
            raise InstallError.not_writable(error) from None
        if not acquired:
            raise InstallError(
                "Timed out waiting for another installation of the flow engine.", "Stop it, then try again."
            )
        try:
            yield
        finally:
            lock.release()


def runner_source() -> Path:
    """The folder of the runner's source: inside this package when installed, beside it in a checkout.

    Raises:
        InstallError: neither is there.
    """
    here = Path(__file__).resolve().parent.parent
    for folder in (here / "_lfx_runner", here.parent / "lfx_runner"):
        if (folder / "uv.lock").is_file() and (folder / "main.py").is_file():
            return folder
    raise InstallError("The flow engine's lock file is missing from this installation.", "Reinstall Wirewright.")


def _digest(source: Path, python: str, bundles: tuple[str, ...]) -> str:
    """Identifies the environment of a lock, a Python version and bundles; raises OSError without the lock."""
    digest = hashlib.sha256()
    for name in ("pyproject.toml", "uv.lock"):
        digest.update((source / name).read_bytes())
    digest.update("|".join([python, sys.platform, platform.machine(), *bundles]).encode())
    return digest.hexdigest()[:16]


def _size(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(Path(parent, name)).st_size
    return total
