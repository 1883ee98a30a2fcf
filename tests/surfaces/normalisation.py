"""Takes out of captured output what differs from one run or machine to the next, and nothing else."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

LONG = 400
"""Strings with more characters are cut and stand with a digest of the whole."""

_MEASURED = frozenset(
    {"seconds", "duration_seconds", "peak_mb", "size_mb", "least", "p25", "median", "p75", "p95", "most"}
)
"""Keys whose numbers are measurements."""

_RANDOM = re.compile(
    r"(?<![0-9a-zA-Z])(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32})(?![0-9a-zA-Z])"
    r"|(?<=\bask-)[0-9a-f]{8}\b"  # a conversation of `ask` that was given no name
)
_TEXT = (
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?"), "<time>"),
    (re.compile(r"\b(127\.0\.0\.1|localhost):\d{2,5}\b"), r"\1:<port>"),
    (re.compile(r"[ ]*\d+\.\d\d(?= [│|]$)", re.MULTILINE), " <seconds>"),  # the last column of tables of plays
    (re.compile(r"; \d+\.\d\d s$", re.MULTILINE), "; <seconds> s"),  # the lines of plays that are too wide for a table
    (re.compile(r"\bHEAD, GET\b"), "GET, HEAD"),  # methods come from a set
    (re.compile(r"^  (?:yes|no ?) +(\w[^:\n]*): .*$", re.MULTILINE), r"  <protection> \1"),
    (re.compile(r"^Flows run here\b.*(?:\n(?!Runs are confined by:).*)*", re.MULTILINE), "<whether flows run here>"),
    (re.compile(r"\b(graders|prompts|tools) [0-9a-f]{12}\b"), r"\1 <digest>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d\b(?=\"?$)", re.MULTILINE), "<day>"),
    (re.compile(r"^\| agent seconds \|.*$", re.MULTILINE), "| agent seconds | <figures> |"),
    (re.compile(r"on Python [\d.]+, \d+ packages, [\d.]+ MB"), "on Python <version>, <packages> packages, <size> MB"),
    (re.compile(r"\b(\d+\.\d+\.\d+)\+[0-9a-f]{12}(?:\.dirty)?(?![\w.])"), r"\1"),  # a wheel's commit
    (re.compile(r" at 0x[0-9a-f]+"), " at <address>"),
)


def plain(text: str, places: Mapping[str, str]) -> str:
    """A text without paths, times, ports and random ids.

    Args:
        text: what was captured.
        places: paths of this machine, with what stands for each.
    """
    for path in sorted(places, key=len, reverse=True):
        text = text.replace(path, places[path])
    for pattern, replacement in _TEXT:
        text = pattern.sub(replacement, text)
    seen: dict[str, str] = {}
    return _RANDOM.sub(lambda found: seen.setdefault(found[0], f"<id {len(seen) + 1}>"), text)


def pretty(document: object, places: Mapping[str, str], *, whole: bool = False) -> str:
    """A JSON document with sorted keys, one value a line.

    Args:
        document: the parsed document.
        places: paths of this machine, with what stands for each.
        whole: whether the nodes of flows are shown with everything that the catalogue knows about them.
    """
    written = json.dumps(_steady(document), ensure_ascii=False, indent=1, sort_keys=True)
    steady = json.loads(plain(written, places))
    return json.dumps(_readable(steady, whole=whole), ensure_ascii=False, indent=1, sort_keys=True)


def _steady(value: Any) -> Any:
    """Measurements replaced, whatever their place, and what `runner status` tells of this machine."""
    if isinstance(value, dict):
        if {"digest", "folder", "protections"} <= value.keys():
            measured = ("digest", "folder", "python", "packages", "size_mb")
            allowed = ("run_confinement", "missing_protections", "refusal")  # on a kernel that confines no run
            machine = {key: f"<{key}>" for key in (*measured, *allowed) if key in value}
            kept = [{**one, "active": "<active>", "note": "<note>"} for one in value["protections"]]
            return {**value, **machine, "protections": kept}
        return {key: _measurement(key, item) for key, item in value.items()}
    if isinstance(value, list):
        return [_steady(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.12g}")  # the last digits differ between libraries and processors
    return value


def _measurement(key: str, value: Any) -> Any:
    if key in _MEASURED and isinstance(value, int | float) and not isinstance(value, bool):
        return f"<{key}>"
    if key in ("prompts", "tools", "graders") and isinstance(value, str) and re.fullmatch("[0-9a-f]{12}", value):
        return "<digest>"
    return _steady(value)


def _readable(value: Any, *, whole: bool) -> Any:
    """Nodes of flows and long strings shortened to what a reader can judge; a digest stands for the rest."""
    if isinstance(value, dict):
        if not whole and isinstance(value.get("template"), dict) and "outputs" in value and "base_classes" in value:
            return _component(value)
        return {key: _readable(item, whole=whole) for key, item in value.items()}
    if isinstance(value, list):
        return [_readable(item, whole=whole) for item in value]
    if isinstance(value, str) and len(value) > LONG:
        return f"{value[:LONG]}… <{len(value)} characters, {_digest(value)}>"
    return value


def _component(node: dict[str, Any]) -> dict[str, Any]:
    """What the canvas knows about one component: its name, the values of its fields, and a digest of everything."""
    template: dict[str, Any] = node["template"]
    values = {
        name: _readable(field.get("value"), whole=True)
        for name, field in template.items()
        if isinstance(field, dict) and name != "code"
    }
    return {"display_name": node.get("display_name"), "values": values, "all": f"<{_digest(node)}>"}


def _digest(value: object) -> str:
    return "sha256 " + hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]
