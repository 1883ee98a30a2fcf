"""Component classes made ahead: compiling a component's source takes longer than running a plain one.

Each is handed out once in a process, so that two nodes never share what lfx gives to each alone.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from lfx.interface.initialize import loading

_make = loading.eval_custom_component_code
_made: dict[tuple[str, str | None], Any] = {}
_held_back = False


def make_ahead(nodes: Iterable[Mapping[str, Any]]) -> None:
    """Make the classes of nodes that hold the engine's own code."""
    for node in nodes:
        data = node["data"]
        code = data["node"]["template"]["code"]["value"]
        kind = data["type"]
        _made[code, kind] = _make(code, class_name=kind)


@contextmanager
def kept() -> Iterator[None]:
    """Leave what was made ahead for later."""
    global _held_back
    _held_back = True
    try:
        yield
    finally:
        _held_back = False


def _taken(code: str, class_name: str | None = None) -> Any:
    made = None if _held_back else _made.pop((code, class_name), None)
    return _make(code, class_name=class_name) if made is None else made


loading.eval_custom_component_code = _taken
