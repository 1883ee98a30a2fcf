"""The committed snapshots of one surface: a folder of text files, compared exactly or written anew."""

import difflib
from collections.abc import Mapping
from pathlib import Path

FOLDER = Path(__file__).parent / "snapshots"
REFRESH = "If this is meant, refresh with `pytest tests/surfaces --update-surfaces` and review the difference."


def stored(folder: Path) -> dict[str, str]:
    """The snapshots of a folder, by name."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*")) if path.is_file()}


def write(folder: Path, captured: Mapping[str, str]) -> None:
    """Make a folder hold exactly what was captured."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in stored(folder).keys() - captured.keys():
        (folder / name).unlink()
    for name, text in captured.items():
        (folder / name).write_text(text, encoding="utf-8")


def differences(folder: Path, captured: Mapping[str, str]) -> str:
    """What differs between the snapshots of a folder and what was captured; empty when nothing does."""
    before = stored(folder)
    parts = [f"{folder.name}/{name} is not captured any more." for name in sorted(before.keys() - captured.keys())]
    parts += [f"{folder.name}/{name} has no snapshot." for name in sorted(captured.keys() - before.keys())]
    for name in sorted(before.keys() & captured.keys()):
        parts += difflib.unified_diff(
            before[name].splitlines(),
            captured[name].splitlines(),
            f"{folder.name}/{name} (snapshot)",
            f"{folder.name}/{name} (now)",
            lineterm="",
        )
        if before[name] != captured[name] and before[name].splitlines() == captured[name].splitlines():
            parts.append(f"{folder.name}/{name} differs in its line ends.")
    return "\n".join([*parts, REFRESH]) if parts else ""
