"""A pack: a folder, or a zip file of one, with `pack.yaml` and `scenarios/`.

`pack.yaml` has the pack's name and version, and a digest of everything in `scenarios/`, which is checked at every use.
"""

from __future__ import annotations

import atexit
import hashlib
import shutil
import stat
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Final, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evals.bounded_yaml import TooComplex, load_yaml
from runtime.files.texts import TextRefused, read_text

MANIFEST: Final = "pack.yaml"
SCENARIOS: Final = "scenarios"
"""The folder of the scenarios in a pack, with their `files/`."""

FORMAT: Final = 1
"""The version of a pack's form."""

ENTRIES_LIMIT: Final = 5_000
"""The most files in a zip file."""

BYTES_LIMIT: Final = 100_000_000
"""The most bytes that the files of a zip file may have together."""


class PackError(ValueError):
    """A pack that cannot be used.

    Args:
        message: what is wrong, as a sentence.
        fix: what to do.
    """

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


class Manifest(BaseModel):
    """What `pack.yaml` says.

    Attributes:
        format: the version of its form.
        about: what the pack tests, in a sentence.
        digest: the hash of its scenarios and their files.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = FORMAT
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)]
    version: Annotated[str, Field(min_length=1, max_length=100)]
    about: Annotated[str, Field(max_length=1_000)] = ""
    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


@dataclass(frozen=True, kw_only=True)
class Pack:
    """A pack that can be played.

    Attributes:
        folder: its scenarios.
    """

    manifest: Manifest
    folder: Path

    @property
    def label(self) -> str:
        """Its name, version and the beginning of its digest, as journals have it."""
        return f"{self.manifest.name} {self.manifest.version} {self.manifest.digest[:12]}"


def open_pack(path: Path) -> Pack:
    """Open a folder or a zip file. A zip file is unpacked to a folder that is removed when the process ends.

    Raises:
        PackError: it is no pack, or its scenarios are not those that its digest says.
    """
    if path.is_dir():
        return _opened(path, path.name)
    if not zipfile.is_zipfile(path):
        fix = "Name a folder or a zip file that `eval pack create` wrote."
        raise PackError(f"{path} is not a pack.", fix)
    folder = Path(tempfile.mkdtemp(prefix="wirewright-pack-"))
    try:
        _unpack(path, folder)
        pack = _opened(_root(folder), path.name)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return pack


def digest_of(folder: Path) -> str:
    """The hash of every file in a folder of scenarios, by path and content."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*"), key=lambda one: one.relative_to(folder).as_posix()):
        if path.is_file():
            content = path.read_bytes()
            found.update(f"{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode() + content)
    return found.hexdigest()


def _opened(folder: Path, name: str) -> Pack:
    manifest = _manifest(folder / MANIFEST, name)
    scenarios = folder / SCENARIOS
    if not scenarios.is_dir():
        raise PackError(f"{name} has no folder {SCENARIOS}.", "Make the pack again: wirewright eval pack create.")
    if digest_of(scenarios) != manifest.digest:
        message = f"The scenarios of {name} are not those that its {MANIFEST} names: their digest differs."
        raise PackError(
            message, "Take the pack from where it came from, or make it again: wirewright eval pack create."
        )
    return Pack(manifest=manifest, folder=scenarios)


def _root(folder: Path) -> Path:
    """Where the pack is in what was unpacked: there, or in the only folder, as when a folder was zipped by hand."""
    inside = list(folder.iterdir())
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else folder


def _manifest(path: Path, name: str) -> Manifest:
    fix = "Make the pack with `eval pack create`; a folder of scenarios alone is played with `eval --scenarios DIR`."
    if not path.is_file():
        raise PackError(f"{name} has no {MANIFEST}.", fix)
    try:
        found: object = load_yaml(read_text(path))
        return Manifest.model_validate(found)
    except TextRefused as refused:
        raise PackError(f"The {MANIFEST} of {name} {refused.reason}.", fix) from None
    except (yaml.YAMLError, TooComplex):
        raise PackError(f"The {MANIFEST} of {name} is not YAML.", fix) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise PackError(f"The {MANIFEST} of {name} cannot be read: {place}: {first['msg']}.", fix) from None


def _unpack(path: Path, folder: Path) -> None:
    fix = "Make the pack again: wirewright eval pack create."
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            if len(entries) > ENTRIES_LIMIT or sum(entry.file_size for entry in entries) > BYTES_LIMIT:
                raise PackError(f"{path.name} is too large for a pack.", fix)
            for entry in entries:
                target = folder / _inside(entry, path.name)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(entry))
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, EOFError) as error:
        raise PackError(f"{path.name} cannot be unpacked ({type(error).__name__}).", fix) from None


def _inside(entry: zipfile.ZipInfo, name: str) -> PurePosixPath:
    """The path of an entry, if it is a file that stays inside the pack."""
    inside = PurePosixPath(entry.filename)
    is_link = stat.S_ISLNK(entry.external_attr >> 16)
    if inside.is_absolute() or ".." in inside.parts or "\\" in entry.filename or ":" in entry.filename or is_link:
        message = f"{name} holds {entry.filename!r}, which leads out of it."
        raise PackError(message, "Take the pack from somebody you trust.")
    return inside
