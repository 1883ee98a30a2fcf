"""The verdict about a dotted path: which rule using it breaks, if any."""

from __future__ import annotations

import sys
from functools import lru_cache

from runtime.guard.closed import attribute_rule
from runtime.guard.filecalls import FILE_CALLS
from runtime.guard.libraries import HIDDEN_MODULES, LIBRARIES, NAMES
from runtime.guard.running import SAME, kept_from
from runtime.guard.stdlib import FREE, NOT_MODULES, PARTIAL, SAME_AS, STDLIB
from runtime.guard.violations import Rule

_STANDARD = frozenset(sys.stdlib_module_names) | {"distutils", "imp", "asynchat", "asyncore", "smtpd", "__builtin__"}
_KNOWN: frozenset[str] = frozenset(
    ".".join(parts[:size])
    for path in (*STDLIB, *FILE_CALLS)
    for parts in [path.split(".")]
    for size in range(1, len(parts) + 1)
)
_TELLING_NAMES = frozenset(["__name__", "__qualname__", "__doc__", "__module__", "__version__"])
CALLEES = frozenset(["@getattr", "@setattr", "@delattr", "@hasattr", "@vars", "@locals", "@open"])
"""Builtins that are judged by what they are called with, and so must not be handed around."""


@lru_cache(maxsize=4096)
def step(path: str, name: str) -> str:
    """The path of an attribute; a module found inside another one is itself again."""
    longer = f"{path}.{name}"
    if longer in SAME_AS:
        return SAME_AS[longer]
    if longer in SAME:
        return SAME[longer]
    if "(" in path or path.startswith("@"):
        return longer
    if longer in _KNOWN or longer in STDLIB or longer in NOT_MODULES or path.rpartition(".")[2] == name:
        return longer
    if _forbidden(path) is not None:
        return longer  # `copy` of the environment is no module
    standard = path.partition(".")[0] in _STANDARD
    if name in HIDDEN_MODULES or (standard and name in _STANDARD and not (path in FREE and name in ("time", "types"))):
        return imported(name)
    return longer


def imported(path: str) -> str:
    """A module's path by its usual name."""
    top, dot, rest = path.partition(".")
    return SAME_AS.get(path, SAME_AS.get(top, top) + dot + rest)


@lru_cache(maxsize=8192)
def forbidden(path: str) -> Rule | None:
    """The rule that using what a path names breaks; a module that may be used in part breaks none by itself."""
    if path.startswith("langflow."):  # the engine reads it so where there is no such package
        return _forbidden(path) or _forbidden(f"lfx{path.removeprefix('langflow')}")
    return _forbidden(path)


def _forbidden(path: str) -> Rule | None:
    if path in PARTIAL or path in FILE_CALLS:
        return None
    if path.startswith("?"):
        return STDLIB.get(path[1:])
    if "(" in path:
        return "dynamic_code" if path.startswith("importlib.util.find_spec().") else kept_from(path)
    if path.rpartition(".")[2] in _TELLING_NAMES:
        return None
    parts = path.split(".")
    library = parts[0] not in _STANDARD and not path.startswith("@")
    table = LIBRARIES if library else STDLIB
    for size in range(len(parts), 0, -1):
        prefix = path if size == len(parts) else ".".join(parts[:size])
        if prefix in table:
            rule = table[prefix]
            if rule is not None or size == len(parts):
                return rule
            break
    else:
        if parts[0] in _STANDARD:
            return "escape" if parts[0].startswith("_") else "tampering"
    if library:
        return NAMES.get(parts[-1])
    if not path.startswith("@") and any(part.startswith("_") and not part.startswith("__") for part in parts[1:]):
        return "escape"
    return None


def judged_import(path: str) -> Rule | None:
    """The rule that importing a module, or a name from it, breaks."""
    return forbidden(path) or next((rule for part in path.split(".")[1:] if (rule := attribute_rule(part))), None)


def is_module_in_part(path: str) -> bool:
    """Whether the path names a module of which only some names may be used."""
    return path in PARTIAL


def is_named_free(path: str, name: str) -> bool:
    """Whether the tables name an attribute of a path as free."""
    longer = step(path, name)
    return longer in STDLIB and STDLIB[longer] is None


def only_called(path: str) -> bool:
    """Whether what the path names is judged by its arguments, so that it must be called where it stands."""
    return path in CALLEES or path in FILE_CALLS


def is_engine(path: str) -> bool:
    """Whether the path begins in the engine or one of its bundles."""
    return path.startswith(("lfx.", "langflow.", "lfx_"))


def is_standard(path: str) -> bool:
    """Whether the path begins in the standard library or the engine."""
    return path.partition(".")[0] in _STANDARD or path.startswith("@") or is_engine(path)
