"""`ENV/bin/python scripts/bundle_types.py LFX_RUNNER FOLDER`: the types of the bundles in a folder, as JSON.

Run by `scripts.index_bundles` with the engine's own Python. Bundles are loaded as the engine loads them; what they
import and is not installed is replaced by stand-ins, since a type's ports and fields say nothing about it.
"""

import importlib
import json
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any


class _StandIn(type):
    """A class that stands for anything: base class, decorator, type annotation or function."""

    def __getattr__(cls, name: str) -> Any:
        return stand_in(_public(name))

    def __getitem__(cls, _: object) -> Any:
        return cls

    def __or__(cls, _: object) -> Any:
        return cls

    def __ror__(cls, other: object) -> Any:
        return other

    def __iter__(cls) -> Iterator[Any]:
        return iter(())


def _public(name: str) -> str:
    """A name that something absent may have; what Python itself looks for is not there."""
    if name.startswith("__"):
        raise AttributeError(name)
    return name


class _Anything(metaclass=_StandIn):
    def __init__(self, *_: object, **__: object) -> None:
        """Take anything."""

    def __call__(self, *given: object, **_: object) -> Any:
        return given[0] if given and callable(given[0]) else self

    def __getattr__(self, name: str) -> Any:
        return stand_in(_public(name))


def stand_in(name: str) -> Any:
    """Something of this name."""
    return _StandIn(name, (_Anything,), {})


class _AbsentModule(ModuleType):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__ = []

    def __getattr__(self, name: str) -> Any:
        return stand_in(_public(name))


class AbsentModules(MetaPathFinder, Loader):
    """Finds a stand-in for every module that a bundle imports and nothing else finds."""

    def __init__(self, bundles: Path) -> None:
        self._bundles = str(bundles)

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        """A stand-in, if a bundle asks for it."""
        del path, target
        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  (it alone says who imports)
        while frame is not None and "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        asks = frame is not None and frame.f_code.co_filename.startswith(self._bundles)
        return ModuleSpec(fullname, self, is_package=True) if asks and not fullname.startswith("lfx") else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The stand-in."""
        return _AbsentModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is executed."""


def main(runner: str, folder: str) -> None:
    """Print the types."""
    sys.path[:0] = [runner]
    sys.path.append(folder)
    importlib.import_module("main").become_package()
    sys.meta_path.append(AbsentModules(Path(folder)))
    types = importlib.import_module("lfx_runner.introspect.catalogue").registry()
    for node in types.values():
        if "code" in node["template"]:
            node["template"]["code"]["value"] = ""
        metadata: dict[str, Any] = node.get("metadata") or {}
        node["metadata"] = {"keywords": metadata.get("keywords") or []}
    sys.stdout.write("\n" + json.dumps({name: node for name, node in types.items() if name.startswith("ext:")}))


if __name__ == "__main__":
    main(*sys.argv[1:])
