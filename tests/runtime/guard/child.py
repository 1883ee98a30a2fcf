"""Runs one component source with nothing in its way, beside a small stand-in for the engine's classes.

Forked by `tests/processes/forking.py`; prints what the component gives, and TAMPERED when it changed the interpreter.
"""

import asyncio
import atexit
import builtins
import gc
import importlib
import inspect
import json
import signal
import sys
import threading
import types
import warnings
from pathlib import Path
from typing import Any

CALLBACKS = 0


class Part:
    """An input or output declaration: what it was given."""

    def __init__(self, *_: object, **given: object) -> None:
        self.__dict__.update(given)
        self.given = given


class Component:
    """What a component class inherits from: its inputs are attributes that hold their defaults."""

    inputs: "list[Part]" = []  # noqa: RUF012  (as components declare them)
    outputs: "list[Part]" = []  # noqa: RUF012  (as a component is written)
    status: object = None

    def __init__(self, **given: object) -> None:
        for part in self.inputs:
            setattr(self, part.given["name"], part.given.get("value", ""))
        self.__dict__.update(given)

    def log(self, *_: object) -> None:
        """Nothing is kept."""

    def set_output(self) -> str:
        """A method of the engine that must stay as it is."""
        return "engine"


class LCModelComponent(Component):
    """What a component of a model inherits from."""

    _base_inputs: "list[Part]" = []  # noqa: RUF012  (as in lfx)


class Data:
    """A value between components."""

    def __init__(self, data: object = None, text: str = "", **more: object) -> None:
        self.data = data if data is not None else more
        self.text = text

    def __repr__(self) -> str:
        return f"{self.data} {self.text}"


def engine() -> None:
    """Put the stand-in where components import it from."""
    names = {
        "": [],
        "custom": [Component],
        "custom.custom_component": [],
        "custom.custom_component.component": [Component],
        "io": [],
        "inputs": [],
        "inputs.inputs": [],
        "template": [],
        "schema": [Data],
        "schema.data": [Data],
        "schema.message": [],
        "schema.dataframe": [],
        "field_typing": [],
        "field_typing.range_spec": [],
        "base": [],
        "base.models": [],
        "base.models.model": [LCModelComponent],
    }
    for name, things in names.items():
        module = types.ModuleType(f"lfx.{name}".rstrip("."))
        module.__path__ = []
        for thing in things:
            setattr(module, thing.__name__, thing)
        module.__dict__["Message"] = module.__dict__["DataFrame"] = Data
        module.__dict__["Tool"] = module.__dict__["LanguageModel"] = object
        for kind in ("", "Str", "Int", "Float", "Bool", "Dropdown", "MessageText", "Multiline", "Secret", "SecretStr"):
            module.__dict__[f"{kind}Input"] = Part
        for kind in ("Data", "Dict", "NestedDict", "Handle", "File", "Table", "Message", "Code", "Slider"):
            module.__dict__[f"{kind}Input"] = Part
        module.__dict__["Output"] = module.__dict__["MultilineSecretInput"] = module.__dict__["RangeSpec"] = Part
        sys.modules[module.__name__] = module


def state() -> "list[object]":
    """What no component may change."""
    return [
        json.JSONEncoder.default,
        getattr(json, "dumps", None),
        getattr(json, "loads", None),
        dict(vars(builtins)),
        [id(module) for name, module in sys.modules.items() if name in ("json", "os", "sys", "re", "builtins")],
        list(sys.path),
        list(sys.meta_path),
        sys.stdout,
        sys.excepthook,
        sys.gettrace(),
        sys.getrecursionlimit(),
        gc.isenabled(),
        signal.getsignal(signal.SIGTERM),
        atexit._ncallbacks() > CALLBACKS,
        warnings.showwarning,
        threading.gettrace() if hasattr(threading, "gettrace") else None,
        threading._trace_hook,  # there is no public way to ask
        Component.set_output,
    ]


def play(names: "dict[str, Any]") -> None:
    """Call every output of the component that a source defines."""
    for kind in [one for one in names.values() if isinstance(one, type) and issubclass(one, Component)]:
        if kind in (Component, LCModelComponent):
            continue
        made = kind()
        for output in kind.outputs:
            given = getattr(made, str(output.given["method"]))()
            sys.stdout.write(f"{asyncio.run(given) if inspect.iscoroutine(given) else given}\n")


def ready(*libraries: str) -> None:
    """What is the same for every source, and libraries that several import."""
    engine()
    for library in libraries:
        importlib.import_module(library)


def main(path: str) -> None:
    """Play a source and say whether it changed the interpreter."""
    global CALLBACKS
    CALLBACKS = atexit._ncallbacks()
    out, before = sys.stdout, state()
    names: dict[str, Any] = {"__name__": "component", "__builtins__": builtins}
    sys.modules["component"] = types.ModuleType("component")
    sys.modules["component"].__dict__.update(names)
    exec(compile(Path(path).read_text(encoding="utf-8"), "component.py", "exec"), names)  # noqa: S102  (its purpose)
    play(names)
    after = state()
    sys.stdout = out
    if any(one is not other and one != other for one, other in zip(before, after, strict=True)):
        out.write("TAMPERED\n")
