"""Component classes compiled in advance: compiling a component's source takes longer than running a plain one.

A process uses each of them once, so that two nodes never share what lfx gives to each class. Importing this module
replaces lfx's `eval_custom_component_code` for the whole process.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from lfx.interface.initialize import loading

_compile = loading.eval_custom_component_code
_compiled: dict[tuple[str, str | None], Any] = {}
_in_use = True


def precompile(nodes: Iterable[Mapping[str, Any]]) -> None:
    """Compile the classes of nodes with the engine's code."""
    for node in nodes:
        data = node["data"]
        code = data["node"]["template"]["code"]["value"]
        kind = data["type"]
        _compiled[code, kind] = _compile(code, class_name=kind)


@contextmanager
def precompiled_unused() -> Iterator[None]:
    """Ignore the precompiled classes inside this block."""
    global _in_use
    _in_use = False
    try:
        yield
    finally:
        _in_use = True


def _component_class(code: str, class_name: str | None = None) -> Any:
    compiled = _compiled.pop((code, class_name), None) if _in_use else None
    return _compile(code, class_name=class_name) if compiled is None else compiled


loading.eval_custom_component_code = _component_class
