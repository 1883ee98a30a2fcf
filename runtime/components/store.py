"""User components: stored as one source file per class, in a reserved folder that file tools cannot reach."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flows.catalogue import Catalogue
from flows.component_type import ComponentType
from flows.faults import Fault
from runtime.components.inspection import DescribesComponents, Inspection, inspect
from runtime.components.rules import MAX_SOURCE, ClassNameError, check_class_name
from runtime.files.atomic import read_regular, write_atomically
from runtime.files.folders import UserFolderError, holds_only, private_folder, user_folder
from runtime.files.undo import keep_for_undo
from runtime.telemetry import log_event

FOLDER: Final = ".components"
"""The reserved folder inside the user's folder."""
MAX_COMPONENTS: Final = 200
"""How many components one user may store."""
SKIPPED: Final = {"syntax": "parse_error", "too_large": "oversize", "class_name": "unsafe_name"}
"""How metrics name the faults for which a stored component is left out, where they have another name for it."""
_SUFFIX: Final = ".py"


class UserComponentError(ValueError):
    """A component was not saved; `reason` is the kind of error, `message` and `fix` may be shown to users."""

    def __init__(self, reason: str, message: str, fix: str) -> None:
        self.reason = reason
        self.message = message
        self.fix = fix
        super().__init__(f"{message} {fix}")


@dataclass(frozen=True)
class StoredComponents:
    """The contents of a user's component folder.

    Attributes:
        components: the component types, by name.
        broken: the names of unusable files, each with its fault.
    """

    components: tuple[ComponentType, ...] = ()
    broken: tuple[tuple[str, Fault], ...] = ()


def save(data: Path, user: str | None, name: str, source: str) -> Path:
    """Save a source as the user's component `name`, replacing an earlier version atomically.

    Blocks: call it in a thread.

    Raises:
        UserComponentError: there is no user, the name or the size is refused, or it cannot be written.
    """
    try:
        path = _save(data, user, name, source)
    except UserComponentError as refused:
        log_event("assistant.user_component.register_refused", logging.WARNING, reason=refused.reason)
        raise
    log_event("assistant.user_component.registered", class_name=name)
    return path


def _save(data: Path, user: str | None, name: str, source: str) -> Path:
    try:
        check_class_name(name)
    except ClassNameError as error:
        raise UserComponentError(error.reason, error.message, error.fix) from None
    content = source.encode("utf-8", "backslashreplace")
    if len(content) > MAX_SOURCE:
        message = f"The component's source takes more than {MAX_SOURCE // 1024:,} kB."
        raise UserComponentError("oversize_code", message, "Split the component into smaller parts.")
    folder = _folder(data, user)
    path = folder / f"{name}{_SUFFIX}"
    if not path.exists() and sum(1 for _ in _files(folder)) >= MAX_COMPONENTS:
        message = f"There are already {MAX_COMPONENTS} components."
        raise UserComponentError("too_many", message, "Reset the conversation, which removes them all.")
    try:
        keep_for_undo(path, content)
        write_atomically(path, content)
    except OSError:
        raise UserComponentError(
            "not_written", f"The component {name} could not be saved.", "Check the disk and its permissions."
        ) from None
    return path


async def load(data: Path, user: str | None, runner: DescribesComponents) -> StoredComponents:
    """Return a user's components and the faults of those that are unusable; anonymous users have none."""
    nothing = holds_only(data, user, inside=FOLDER)
    sources = [] if nothing else await asyncio.to_thread(_sources, data, user)
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
    unread = {file for file, text in sources if not text}
    for file, fault in broken:
        reason = "read_error" if file in unread else SKIPPED.get(fault.code, fault.code)
        log_event("assistant.user_component.overlay_skipped", logging.WARNING, reason=reason)
    return StoredComponents(tuple(components), tuple(broken))


def sources(data: Path, user: str | None, wanted: Collection[str]) -> dict[str, str]:
    """The sources of those of a user's components that have one of these names. Blocks.

    Args:
        data: the data folder.
        user: the user's id.
        wanted: the names.
    """
    found = {file.removesuffix(_SUFFIX): text for file, text in _sources(data, user)}
    return {name: found[name] for name in wanted if found.get(name)}


def names(data: Path, user: str | None) -> list[str]:
    """The names of a user's components. Blocks.

    Raises:
        UserComponentError: there is no user.
    """
    return [path.stem for path in _files(_folder(data, user))]


def clear(data: Path, user: str | None, keep: Collection[str] = ()) -> int:
    """Remove the components of a user and return how many were removed. Blocks.

    Args:
        data: the data folder.
        user: their owner.
        keep: the names of those that stay.

    Raises:
        UserComponentError: there is no user.
    """
    removed = 0
    for path in _files(_folder(data, user)):
        if path.stem in keep:
            continue
        with contextlib.suppress(OSError):
            path.unlink()
            removed += 1
    return removed


@dataclass(frozen=True)
class UserComponents:
    """One user's components during a turn.

    Attributes:
        data: the data folder.
        user: their owner; anonymous users have none and cannot save any.
        runner: creates components from their sources.
        given: sources of components that come with the flow of the request, for this turn only.
    """

    data: Path
    user: str | None
    runner: DescribesComponents
    given: tuple[str, ...] = ()

    async def make(self, source: str) -> Inspection:
        """Create the component of a source, or say why it defines none."""
        return await inspect(source, self.runner)

    async def keep(self, component: ComponentType) -> UserComponentError | None:
        """Save a component for later turns; returns why it was refused, if it was (it still works in this turn).

        Raises:
            UserComponentError: it could not be written to disk.
        """
        try:
            await asyncio.to_thread(save, self.data, self.user, component.type, component.code)
        except UserComponentError as refusal:
            if refusal.reason == "not_written":
                raise
            return refusal
        return None

    async def catalogue(self, built_in: Catalogue) -> tuple[Catalogue, tuple[Fault, ...]]:
        """The built-in components with those of the user and of the flow, and the faults of the flow's sources.

        Unusable components of the user are skipped.
        """
        saved = (await load(self.data, self.user, self.runner)).components
        given = [await self.make(source) for source in self.given]
        faults = tuple(fault for found in given for fault in found.errors)
        added = [*saved, *(found.component for found in given if found.component is not None)]
        return (built_in.with_components(added) if added else built_in), faults


def _folder(data: Path, user: str | None) -> Path:
    try:
        return private_folder(user_folder(data, user) / FOLDER)
    except UserFolderError as error:
        reason = "anonymous_user" if user is None or not user.strip() else "not_written"
        raise UserComponentError(reason, error.message, error.fix) from None


def _files(folder: Path) -> list[Path]:
    """The component files, by name, without temporary and other files."""
    return sorted(path for path in folder.iterdir() if path.suffix == _SUFFIX and not path.name.startswith("."))


def _sources(data: Path, user: str | None) -> list[tuple[str, str]]:
    """The name and text of each file; a link, an oversized or a binary file counts as an empty source."""
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
