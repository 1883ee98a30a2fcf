"""Functions of the user's own, by the name `module:function`: players and evaluators."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast

from flows.fields.keys import without_keys

REASON_CHARACTERS: Final = 300
"""How much of an exception is shown."""


class FunctionUnavailable(ValueError):
    """There is no such function; the message is a sentence that says why."""


def named_function(target: str) -> Callable[..., Any]:
    """The function `module:function`, of an installed module or one in the working folder.

    Raises:
        FunctionUnavailable: the module cannot be imported, or has no such function.
    """
    module, _, name = target.partition(":")
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    try:
        imported = importlib.import_module(module)
    except (Exception, SystemExit) as error:  # noqa: BLE001  (the module is the user's)
        raise FunctionUnavailable(f"{module!r} cannot be imported: {error_line(error)}") from None
    if not hasattr(imported, name):
        raise FunctionUnavailable(f"{module!r} has no function {name!r}{_hidden_file(module)}.")
    return checked_callable(target, getattr(imported, name))


def _hidden_file(module: str) -> str:
    """A remark on a file of the working folder that is not imported, because an installed module has its name."""
    first = module.partition(".")[0]
    file, imported = Path.cwd() / f"{first}.py", getattr(sys.modules.get(first), "__file__", None)
    if not file.exists() or (imported is not None and Path(imported).resolve() == file.resolve()):
        return ""
    return f"; it is an installed module, and not the file {file.name} here: rename the file"


def checked_callable(target: str, found: object) -> Callable[..., Any]:
    """What was found under a name, if it can be called.

    Raises:
        FunctionUnavailable: it cannot.
    """
    if not callable(found):
        raise FunctionUnavailable(f"{target!r} cannot be called.")
    return cast("Callable[..., Any]", found)


def source_digest(function: Callable[..., Any]) -> str:
    """A hash of the source of the module that has a function; of its name where there is no source to read."""
    bare = inspect.unwrap(function)
    described = f"{getattr(bare, '__module__', '')}:{getattr(bare, '__qualname__', type(bare).__qualname__)}"
    try:
        file = inspect.getsourcefile(cast("type", bare if inspect.isroutine(bare) else type(bare)))
        content = Path(file).read_bytes() if file else described.encode()
    except (OSError, TypeError):
        content = described.encode()
    return hashlib.sha256(content).hexdigest()[:12]


def error_line(error: BaseException) -> str:
    """An exception of somebody's code as one sentence, without keys."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return f"{without_keys(text)[:REASON_CHARACTERS].rstrip('.')}."
