"""What the doctor finds: one check a part of this installation, and a report of them for a bug."""

import os
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from cli.doctor.check import Check, Status

if TYPE_CHECKING:
    from runtime.install.environment import RunnerStatus

_LIBRARIES = (
    *("pydantic-ai-slim", "pydantic", "starlette", "uvicorn", "sqlalchemy", "typer", "uv"),
    *("mcp", "dbos", "psycopg"),
)
_LEAST_MB = 1_500
"""The room that the flow engine and its download need."""
_SHOWN = frozenset({"model", "memory", "concurrency", "host", "port", "log"})
"""Settings whose values say nothing about the user; of others, only whether they are set is reported."""


class Report(BaseModel):
    """What `wirewright doctor --json` prints.

    Attributes:
        ok: whether everything works that is not optional.
        checks: the parts.
    """

    model_config = ConfigDict(frozen=True)

    ok: bool
    checks: list[Check]


class Bundle(Report):
    """A report for a bug: no key, no path of this machine, no flow and no message is in it.

    Attributes:
        system: the system and the interpreter.
        packages: versions by package.
        settings: settings by name: a value where it says nothing about the user, else `set`.
        variables: the names of the variables that Wirewright reads and that are set.
    """

    system: dict[str, str]
    packages: dict[str, str]
    settings: dict[str, str]
    variables: list[str]


def examine(environment: Mapping[str, str] = os.environ) -> Report:
    """Examine this installation; nothing is installed, sent or changed.

    Args:
        environment: where keys and settings are read from.
    """
    checks = list(_checks(environment))
    return Report(ok=all(check.status != "missing" for check in checks), checks=checks)


def bundle(environment: Mapping[str, str] = os.environ) -> Bundle:
    """A report for a bug."""
    from agent.models.keys import PROVIDER_VARIABLES
    from server.settings import ServerSettings

    found = examine(environment)
    settings = ServerSettings()
    changed = settings.model_dump(exclude_defaults=True)
    shown = {name: str(value) if name in _SHOWN else "set" for name, value in changed.items()}
    names = sorted(name for name in environment if name.startswith("WIREWRIGHT_") or name in PROVIDER_VARIABLES)
    return Bundle(
        ok=found.ok,
        checks=[_without_paths(check, (settings.data, settings.cache, Path.home())) for check in found.checks],
        system={"system": platform.platform(), "python": platform.python_version()},
        packages={name: _version(name) for name in ("wirewright", *_LIBRARIES)},
        settings=shown,
        variables=names,
    )


def _checks(environment: Mapping[str, str]) -> Iterator[Check]:
    from agent.settings import AssistantSettings
    from cli.doctor.extras import optional_parts
    from server.settings import ServerSettings

    settings = AssistantSettings()
    yield Check(name="Python", status="works", detail=f"{platform.python_version()} ({sys.platform})")
    yield Check(name="Wirewright", status="works", detail=_version("wirewright"))
    yield from _engine(settings.cache)
    yield _models(environment, settings.model)
    yield _folder("Data folder", settings.data, "WIREWRIGHT_DATA")
    yield _folder("Cache folder", settings.cache, "WIREWRIGHT_CACHE")
    yield _room(settings.cache)
    yield from optional_parts(ServerSettings())


def _engine(cache: Path) -> Iterator[Check]:
    from runtime.install.environment import RunnerEnvironment
    from runtime.install.errors import InstallError
    from runtime.install.shipped import shipped_catalogue

    try:
        found = RunnerEnvironment.locate(cache).status()
    except (InstallError, OSError) as error:
        fix = error.fix if isinstance(error, InstallError) else "Reinstall Wirewright."
        yield Check(name="Flow engine", status="missing", detail="It cannot be found.", fix=fix)
        return
    if found.installed:
        detail = f"lfx {found.lfx}, {found.packages} packages, {found.size_mb:g} MB"
        yield Check(name="Flow engine", status="works", detail=detail)
    else:
        fix = "wirewright runner install (the first run of a flow also does it)"
        yield Check(name="Flow engine", status="missing", detail="Not installed: no flow can be run yet.", fix=fix)
    if found.catalogue:
        detail = f"{found.component_types} types, from the installed engine"
        yield Check(name="Component types", status="works", detail=detail)
    elif (shipped := shipped_catalogue(cache)) is not None:
        yield Check(name="Component types", status="works", detail=f"{len(shipped)} types, from the package")
    else:
        fix = "wirewright runner install"
        yield Check(name="Component types", status="missing", detail="None are known.", fix=fix)
    yield _runs(found)
    for protection in found.protections:
        status: Status = "works" if protection.active else "optional"
        yield Check(name=f"Protection: {protection.name}", status=status, detail=protection.note)


def _runs(found: "RunnerStatus") -> Check:
    """Whether flows run on this machine, and without what."""
    if found.refusal is not None:
        return Check(name="Runs", status="missing", detail=found.refusal.message, fix=found.refusal.fix)
    if found.missing_protections:
        missing = ", ".join(found.missing_protections)
        detail = f"Flows run without what usually confines them: {missing}."
        fix = "Unset WIREWRIGHT_RUN_CONFINEMENT to refuse them."
        return Check(name="Runs", status="optional", detail=detail, fix=fix)
    return Check(name="Runs", status="works", detail="Every run is confined.")


def _models(environment: Mapping[str, str], wanted: str | None) -> Check:
    from agent.models.providers import available

    configured = [info.name for info in available(environment)]
    if configured:
        return Check(name="Models", status="works", detail=f"keys for {', '.join(configured)}")
    detail = "the demo planner (rules, no model)" if wanted in (None, "demo") else f"{wanted} has no key"
    fix = "Set a provider's API key, in the environment or in a file .env; .env.example names the variables."
    return Check(name="Models", status="optional" if wanted in (None, "demo") else "missing", detail=detail, fix=fix)


def _folder(name: str, folder: Path, variable: str) -> Check:
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    if nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK):
        shared = nearest == folder and os.name == "posix" and folder.stat().st_mode & 0o022
        if not shared:
            return Check(name=name, status="works", detail=str(folder))
        return Check(
            name=name, status="optional", detail=f"{folder} can be written by others.", fix=f"chmod go-w {folder}"
        )
    fix = f"Set {variable} to a folder that can be written."
    return Check(name=name, status="missing", detail=f"{folder} cannot be written.", fix=fix)


def _room(cache: Path) -> Check:
    nearest = next(path for path in (cache, *cache.parents) if path.exists())
    free = shutil.disk_usage(nearest).free // 1_000_000
    if free >= _LEAST_MB:
        return Check(name="Disk", status="works", detail=f"{free / 1000:.1f} GB free")
    fix = f"Free {_LEAST_MB - free} MB, or set WIREWRIGHT_CACHE to another disk."
    return Check(name="Disk", status="optional", detail=f"{free} MB free", fix=fix)


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown"


def _without_paths(check: Check, folders: Sequence[Path]) -> Check:
    """A check without the names of folders of this machine."""
    detail, fix = check.detail, check.fix
    for folder in sorted(folders, key=lambda folder: -len(str(folder))):
        detail, fix = detail.replace(str(folder), "(folder)"), fix.replace(str(folder), "(folder)")
    return check.model_copy(update={"detail": detail, "fix": fix})
