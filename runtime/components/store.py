"""A user's own components: kept as one source file a class, in a reserved folder that no file tool can reach."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flows.component_type import ComponentType
from flows.faults import Fault
from runtime.components.inspection import DescribesComponents, Inspection, inspect
from runtime.components.rules import MAX_SOURCE, ClassNameError, check_class_name
from runtime.files.atomic import read_regular, write_atomically
from runtime.files.folders import UserFolderError, private_folder, user_folder
from runtime.telemetry import log_event

FOLDER: Final = ".components"
"""The reserved folder inside a user's own."""
MAX_COMPONENTS: Final = 200
"""Components that one user may keep."""
_SUFFIX: Final = ".py"


class UserComponentError(ValueError):
    """A component is not kept; `reason` names the kind, `message` and `fix` may be shown to anybody."""

    def __init__(self, reason: str, message: str, fix: str) -> None:
        self.reason = reason
        self.message = message
        self.fix = fix
        super().__init__(f"{message} {fix}")


@dataclass(frozen=True)
class Loaded:
    """What a user's folder holds.

    Attributes:
        components: the component types, by name.
        broken: what keeps a file from being used, by the file's name; the others are used all the same.
    """

    components: tuple[ComponentType, ...] = ()
    broken: tuple[tuple[str, Fault], ...] = ()


def save(data: Path, user: str | None, name: str, source: str) -> Path:
    """Keep a source as the component `name` of a user, in place of an earlier one; a crash leaves the earlier one.

    It may block: call it in a thread.

    Raises:
        UserComponentError: there is no user, the name or the size is refused, or the disk refuses.
    """
    try:
        path = _kept(data, user, name, source)
    except UserComponentError as refused:
        log_event("assistant.user_component.register_refused", logging.WARNING, reason=refused.reason)
        raise
    log_event("assistant.user_component.registered", class_name=name)
    return path


def _kept(data: Path, user: str | None, name: str, source: str) -> Path:
    try:
        check_class_name(name)
    except ClassNameError as error:
        reason = (
            "empty_class_name" if not name else "length_exceeded" if "length" in str(error) else "unsafe_class_name"
        )
        raise UserComponentError(reason, error.message, error.fix) from None
    content = source.encode("utf-8", "backslashreplace")
    if len(content) > MAX_SOURCE:
        message = f"The component's source takes more than {MAX_SOURCE // 1024:,} kB."
        raise UserComponentError("oversize_code", message, "Split the component into smaller parts.")
    folder = _folder(data, user)
    path = folder / f"{name}{_SUFFIX}"
    if not path.exists() and sum(1 for _ in _files(folder)) >= MAX_COMPONENTS:
        message = f"There are {MAX_COMPONENTS} components already."
        raise UserComponentError("too_many", message, "Begin a new session, which removes them.")
    try:
        write_atomically(path, content)
    except OSError:
        raise UserComponentError(
            "not_written", f"The component {name} could not be kept.", "Check the disk and its permissions."
        ) from None
    return path


async def load(data: Path, user: str | None, runner: DescribesComponents) -> Loaded:
    """Return the components of a user; files that are broken or hostile are left out and told.

    A user without any, or without a folder, has none; anonymous requests have none.
    """
    sources = await asyncio.to_thread(_sources, data, user)
    found: Sequence[Inspection] = await asyncio.gather(*(inspect(source, runner) for _, source in sources))
    components: list[ComponentType] = []
    broken: list[tuple[str, Fault]] = []
    for (file, _), one in zip(sources, found, strict=True):
        if one.component is None:
            broken.append((file, one.errors[0]))
        elif f"{one.component.type}{_SUFFIX}" != file:
            message = f"The file holds the component {one.component.type!r}."
            broken.append((file, Fault(code="class_name", message=message, fix="Name the file like its class.")))
        else:
            components.append(one.component)
    log_event("assistant.user_component.overlay", entries=len(components))
    for _, fault in broken:
        log_event("assistant.user_component.overlay_skipped", logging.WARNING, reason=fault.code)
    return Loaded(tuple(components), tuple(broken))


def clear(data: Path, user: str | None) -> int:
    """Remove every component of a user, and nothing else; returns how many there were. May block.

    Raises:
        UserComponentError: there is no user.
    """
    removed = 0
    for path in _files(_folder(data, user)):
        with contextlib.suppress(OSError):
            path.unlink()
            removed += 1
    return removed


def _folder(data: Path, user: str | None) -> Path:
    try:
        return private_folder(user_folder(data, user) / FOLDER)
    except UserFolderError as error:
        reason = "anonymous_user" if user is None or not user.strip() else "not_written"
        raise UserComponentError(reason, error.message, error.fix) from None


def _files(folder: Path) -> list[Path]:
    """The component files, by name; unfinished ones and other files are not among them."""
    return sorted(path for path in folder.iterdir() if path.suffix == _SUFFIX and not path.name.startswith("."))


def _sources(data: Path, user: str | None) -> list[tuple[str, str]]:
    """The name and text of each file; one that is a link, too large or no text is left as an empty source."""
    try:
        files = _files(_folder(data, user))[:MAX_COMPONENTS]
    except (UserComponentError, OSError):
        return []
    return [(path.name, _read(path)) for path in files]


def _read(path: Path) -> str:
    try:
        return read_regular(path, MAX_SOURCE + 1).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
