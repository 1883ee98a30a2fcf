"""How lfx's refresh changes a component when a value is chosen in one of its fields, without a network."""

import asyncio
import contextlib
import copy
import inspect
import socket
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lfx.custom.custom_component.component import Component
from lfx.custom.eval import eval_custom_component_code
from lfx.schema.dotdict import dotdict

Node = dict[str, Any]
"""A component definition as a node carries it: `template`, `outputs` and more."""


@dataclass(frozen=True)
class State:
    """The fields and outputs of a component at one moment, as JSON."""

    fields: Mapping[str, dict[str, Any]]
    outputs: list[dict[str, Any]]

    def with_value(self, field: str, value: Any) -> "State":
        """The state after a user entered `value`, before the refresh."""
        changed = {**self.fields[field], "value": value}
        if changed.get("type") == "file":
            changed["file_path"] = value
        return State({**self.fields, field: changed}, self.outputs)


class Refresher:
    """Refreshes one component type as the engine does after each choice of a user."""

    def __init__(self, node: Node) -> None:
        """Evaluate the component's source once; raises whatever that raises."""
        self._node = node
        self._code = node["template"]["code"]["value"]
        self._class: Any = eval_custom_component_code(self._code)

    @property
    def refreshes(self) -> bool:
        """Whether the type overrides the refresh."""
        names = ("update_build_config", "update_outputs")
        return any(getattr(self._class, name, None) is not getattr(Component, name) for name in names)

    @property
    def start(self) -> State:
        """The state of a new component."""
        fields = {name: field for name, field in self._node["template"].items() if isinstance(field, dict)}
        return State(plain(fields), plain(self._node["outputs"]))

    def refresh(self, state: State, field: str, value: Any) -> State:
        """The state after `value` is chosen in `field`; raises whatever the component raises."""
        return asyncio.run(self._refresh(state.with_value(field, value), field, value))

    async def _refresh(self, state: State, field: str, value: Any) -> State:
        component = self._class(_code=self._code)
        template = dotdict(copy.deepcopy({**self._node["template"], **state.fields}))
        for name in set(self._node["template"]) - set(state.fields):
            if name != "_type":
                template.pop(name, None)
        values = {name: entry.get("value") for name, entry in template.items() if isinstance(entry, dict)}
        component.set_attributes(copy.deepcopy(values))
        updated = component.update_build_config(template, copy.deepcopy(value), field)
        template = await updated if inspect.isawaitable(updated) else updated
        # Keep the outputs of earlier choices, where lfx falls back on those of the class and then loses their edges.
        node = {**copy.deepcopy(self._node), "template": template, "outputs": copy.deepcopy(state.outputs)}
        node = await component.run_and_validate_update_outputs(node, field, copy.deepcopy(value))
        fields = {name: entry for name, entry in plain(dict(node["template"])).items() if isinstance(entry, dict)}
        return State(fields, _outputs(plain(node["outputs"]), (*state.outputs, *self.start.outputs)))


def _outputs(outputs: list[dict[str, Any]], known: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Outputs in the form that a new component has; lfx returns unchanged ones in another form."""
    same = {_identity(output): output for output in known}
    return [same.get(_identity(output), {**output, "hidden": bool(output.get("hidden"))}) for output in outputs]


def _identity(output: Mapping[str, Any]) -> str:
    names = ("name", "display_name", "method", "types", "group_outputs", "allows_loop", "tool_mode")
    return repr([*(output.get(name) for name in names), bool(output.get("hidden"))])


@contextlib.contextmanager
def no_network() -> Iterator[None]:
    """Refuse connections and name look-ups, so that a refresh that needs one fails at once."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise OSError("the network is off while components are examined")

    originals = socket.socket.connect, socket.getaddrinfo
    socket.socket.connect, socket.getaddrinfo = refuse, refuse
    try:
        yield
    finally:
        socket.socket.connect, socket.getaddrinfo = originals


def plain(value: Any) -> Any:
    """`value` as JSON; lfx's inputs and outputs become the objects that the canvas stores."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    for method in ("to_dict", "model_dump"):
        if hasattr(value, method):
            return plain(getattr(value, method)())
    return str(value)
