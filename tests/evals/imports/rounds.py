"""The rounds of this folder as the benchmark's files, and the right flow of each."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from evals.imports.chat2workflow.format import read_checks, read_queries
from evals.imports.chat2workflow.scenarios import Imported, convert_tasks

FOLDER: Final = Path(__file__).parent / "data" / "rounds"


@cache
def tasks() -> dict[str, Any]:
    """The tasks by name, in the order of their files."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found: dict[str, Any] = {}
    for path in sorted(FOLDER.glob("*.yaml")):
        found |= yaml.load(path.read_text(encoding="utf-8"), Loader=loader)  # noqa: S506  (one of the safe ones)
    return found


def write_files(folder: Path) -> tuple[Path, Path, Path]:
    """Write query.json, checks.json and endings.json as the benchmark publishes them."""
    queries: list[dict[str, Any]] = []
    checks: dict[str, Any] = {}
    endings: dict[str, Any] = {}
    for name, task in tasks().items():
        said = {f"query{number}": one["say"] for number, one in enumerate(task["rounds"], start=1)}
        queries.append({"id": len(queries) + 1, "category": task["category"], "task": name, **said})
        for number, one in enumerate(task["rounds"], start=1):
            key = f"{name}_{number}"
            checks[key] = {kind: one[kind] for kind in ("input_var", "output_var", "related_nodes")} | one["tests"]
            if "endings" in one:
                endings[key] = one["endings"]
    written = (folder / "query.json", folder / "checks.json", folder / "endings.json")
    for path, content in zip(written, (queries, checks, endings), strict=True):
        path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return written


def imported(folder: Path) -> dict[str, Imported]:
    """Every round as it is imported, by `Task_N`.

    Args:
        folder: where the benchmark's files are written.
    """
    queries, checks, endings = write_files(folder)
    made, left = convert_tasks(read_queries(queries), read_checks(checks, endings))
    assert left == []
    return dict(zip(flows(), made, strict=True))


@cache
def flows() -> dict[str, str]:
    """The right flow of every round, by `Task_N`."""
    return {
        f"{name}_{number}": one["flow"]
        for name, task in tasks().items()
        for number, one in enumerate(task["rounds"], start=1)
    }
