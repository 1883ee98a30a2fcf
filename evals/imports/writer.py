"""Writing imported scenarios: a YAML file each."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from evals.imports.chat2workflow.format import ImportFormatError
from evals.imports.chat2workflow.scenarios import Imported
from evals.scenario import Scenario
from evals.scenarios.loader import load_scenario


def write(folder: Path, imported: Sequence[Imported]) -> list[Path]:
    """Write scenarios into a new or empty folder, and check that they are read back unchanged.

    Raises:
        ImportFormatError: two of them have the same name, or the folder cannot be used.
        ScenarioError: a written scenario cannot be read back.
    """
    ids = [one.scenario.id for one in imported]
    twice = next((name for name in ids if ids.count(name) > 1), None)
    if twice is not None:
        raise ImportFormatError(twice, "two rounds have this name")
    try:
        if folder.exists() and any(folder.iterdir()):
            raise ImportFormatError(folder.name, "is not empty")
        with _or_nothing(folder):
            return _all(folder, imported)
    except OSError:
        raise ImportFormatError(folder.name, "cannot be written") from None
    except UnicodeEncodeError:
        raise ImportFormatError(folder.name, "cannot hold a text with an unpaired surrogate") from None


def _all(folder: Path, imported: Sequence[Imported]) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    return [_written(folder, one.scenario) for one in imported]


@contextmanager
def _or_nothing(folder: Path) -> Generator[None]:
    """Leave the folder as it was when writing into it does not end: empty, or not there."""
    there = folder.exists()
    try:
        yield
    except BaseException:
        for path in (folder,) if not there else tuple(folder.iterdir()):
            shutil.rmtree(path, ignore_errors=True)
            with contextlib.suppress(OSError):
                path.unlink()
        raise


def _written(folder: Path, scenario: Scenario) -> Path:
    path = folder / f"{scenario.id}.yaml"
    document: dict[str, Any] = scenario.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
    path.write_text(text, encoding="utf-8")
    if load_scenario(path) != scenario:
        raise ImportFormatError(path.name, "does not come out as it was meant")
    return path
