"""Packs by name: a path, or an entry point of an installed package."""

from __future__ import annotations

import os
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Final

from evals.named_function import error_line
from evals.packs.pack import Pack, PackError, open_pack
from flows.faults import did_you_mean

GROUP: Final = "wirewright.scenarios"
"""The group of entry points under which packages offer packs: a path, a module that holds one, or a function."""


def find_pack(name: str) -> Pack:
    """The pack at a path, or of the entry point with a name.

    Raises:
        PackError: there is none, or it cannot be used.
    """
    path = Path(name)
    if path.exists():
        return open_pack(path)
    known = {point.name: point for point in entry_points(group=GROUP)}
    if name in known:
        return open_pack(_place(known[name]))
    otherwise = "Name a folder, a zip file or an installed pack."
    fix = did_you_mean(name, known, otherwise="installed packs") if known else otherwise
    raise PackError(f"There is no pack {name!r}.", fix)


def _place(point: EntryPoint) -> Path:
    """Where the pack of an entry point is."""
    fix = "Mend or remove the package that has it."
    try:
        found: object = point.load()
        if isinstance(found, ModuleType):
            found = files(found).joinpath("")
        elif callable(found):
            found = found()
    except (Exception, SystemExit) as error:  # noqa: BLE001  (the package is somebody's)
        raise PackError(f"The pack {point.name!r} cannot be imported: {error_line(error)}", fix) from None
    if not isinstance(found, str | os.PathLike):
        raise PackError(f"The pack {point.name!r} is {type(found).__name__}, and not a path.", fix)
    place = Path(os.fspath(found))
    if not place.exists():
        raise PackError(f"The pack {point.name!r} names a path that does not exist.", fix)
    return place
