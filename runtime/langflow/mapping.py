"""What a flow needs of the Langflow server that it is sent to: component types, models and variables, found by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from flows.catalogue import Catalogue
from flows.checks import check
from flows.document import Flow, Json, JsonObject, Node
from flows.edits.replace import replace_component
from flows.edits.updates import is_engines_own, stale_components
from flows.faults import Fault
from flows.fields.model_providers import prefix_of
from flows.fields.model_values import CONNECTED
from flows.json_values import as_object, as_text
from runtime.langflow.documents import ProviderModels
from runtime.node_json import every_node, group_data

_PORTS = frozenset({"unknown_output", "unknown_input", "not_an_input", "not_a_tool"})
"""Faults of edges that the server would not run."""


@dataclass(frozen=True, kw_only=True)
class There:
    """What a server has.

    Attributes:
        catalogue: its component types.
        variables: the names of its variables.
        models: the models that its flows can name; None where it does not list them.
    """

    catalogue: Catalogue
    variables: Sequence[str] = ()
    models: Sequence[ProviderModels] | None = None


@dataclass(frozen=True)
class Mapped:
    """A flow as it is to be sent.

    Attributes:
        flow: the flow, with the names that the server has.
        changes: what was named otherwise, in words.
        faults: what the server does not have: errors stop the flow from being sent, the rest is for the user to know.
    """

    flow: Flow
    changes: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()


def map_flow(flow: Flow, there: There, local: Catalogue, before: Flow) -> Mapped:
    """Find what a flow needs by name on a server.

    What the flow there has already is its owner's concern and is left alone.

    Args:
        flow: the flow.
        there: what the server has.
        local: the component types of this engine.
        before: the flow as it is there; an empty one if it is new.
    """
    updated, changes, lost = _with_their_code(flow, there, before)
    names = _Names(there, {node.id: node.raw for node in before.nodes})
    nodes: list[Json] = [names.node(node, updated) for node in updated.nodes]
    mapped = updated.with_parts(nodes=nodes)
    faults = [*_unknown_types(mapped, there, local, before), *_ports(mapped, there, before), *lost, *names.faults]
    return Mapped(mapped, (*changes, *names.changes), tuple(faults))


def _with_their_code(flow: Flow, there: There, before: Flow) -> tuple[Flow, list[str], list[Fault]]:
    """The flow with the server's code of the types that were added or changed here."""
    changes: list[str] = []
    faults: list[Fault] = []
    for one in stale_components(flow, there.catalogue):
        node, known = flow.node(one.node), before.node(one.node)
        if node is None or (known is not None and known.code == node.code):
            continue
        edit = replace_component(flow, there.catalogue, one.node, one.type)
        flow = edit.flow
        changes.append(f"{node.display_name} gets the code that Langflow {there.catalogue.version} has of {one.type}")
        faults += [_missing("lost", text, "Set it there.", one.node) for text in edit.lost]
    return flow, changes, faults


def _unknown_types(flow: Flow, there: There, local: Catalogue, before: Flow) -> list[Fault]:
    """The components that the server cannot run; those with code of their own cannot be compared."""
    known = {node.id: node for node in map(Node, every_node(before.data))}
    version = f"Langflow {there.catalogue.version}"
    faults: list[Fault] = []
    for node in map(Node, every_node(flow.data)):
        old = known.get(node.id)
        if node.is_note or group_data(node.definition) or (old and (old.type, old.code) == (node.type, node.code)):
            continue
        component = there.catalogue.get(node.type)
        own = bool(node.code) and not is_engines_own(node)
        if component is None and not (own and node.type not in local):
            near = ", ".join(there.catalogue.nearest(node.type))
            fix = f"Use one that it has{f', such as {near}' if near else ''}."
            message = f"{node.id}: {version} there has no component type {node.type!r}."
            faults.append(Fault(code="unknown_there", message=message, fix=fix, node=node.id))
        elif own and (component is None or component.code.strip() != node.code.strip()):
            message = f"{node.id} ({node.type}) has code of its own, which {version} there runs as it is, or refuses."
            faults.append(_missing("own_code", message, "Check that it runs there.", node.id))
    return faults


def _ports(flow: Flow, there: There, before: Flow) -> list[Fault]:
    """The edges that the server would not run, beside those that it has already."""

    def places(one: Flow) -> dict[tuple[str, str | None, str | None, str | None], Fault]:
        found = [] if one.is_empty else check(one, there.catalogue)
        return {(fault.code, fault.node, fault.port, fault.field): fault for fault in found if fault.code in _PORTS}

    known = places(before)
    return [fault for place, fault in places(flow).items() if place not in known and fault.is_error]


@dataclass
class _Names:
    """Finds the models and variables that nodes name."""

    there: There
    before: dict[str, JsonObject]
    changes: list[str] = field(default_factory=list[str])
    faults: list[Fault] = field(default_factory=list[Fault])

    def node(self, node: Node, flow: Flow) -> JsonObject:
        """A node with the names that the server has."""
        if self.before.get(node.id) == node.raw:
            return node.raw
        fed = frozenset(edge.target_port for edge in flow.edges if edge.target == node.id)
        old = Node(self.before.get(node.id, {}))

        def mapped(name: str, entry: JsonObject) -> JsonObject:
            if (known := old.field(name)) is not None and known.get("value") == entry.get("value"):
                return entry
            if entry.get("load_from_db") is True and as_text(entry.get("value")):
                return {**entry, "value": self._variable(node, name, as_text(entry["value"]))}
            if entry.get("type") == "model" and name not in fed:
                return {**entry, "value": self._models(node, name, entry.get("value"))}
            return entry

        return as_object(_fields(node.raw, mapped))

    def _variable(self, node: Node, name: str, variable: str) -> str:
        known = self.there.variables
        if variable in known:
            return variable
        alike = [one for one in known if one.casefold() == variable.casefold()]
        if len(alike) == 1:
            self.changes.append(f"{node.display_name}.{name} names the variable {alike[0]}, not {variable}")
            return alike[0]
        message = f"{node.id}: there is no variable {variable} there, which its field {name} names."
        fix = f"Add it there, or send yours: --send-variable {variable}"
        self.faults.append(_missing("unmapped_variable", message, fix, node.id, name))
        return variable

    def _models(self, node: Node, name: str, value: Json) -> Json:
        if value == CONNECTED or self.there.models is None:
            return value
        if not isinstance(value, list) or not value:
            message = f"{node.id}: no model is chosen. Here the assistant's own serves it; there is none there."
            self.faults.append(_missing("unmapped_model", message, "Choose a model before it is sent.", node.id, name))
            return value
        return [self._model(node, name, as_object(one)) for one in value]

    def _model(self, node: Node, name: str, model: JsonObject) -> JsonObject:
        provider, called = as_text(model.get("provider")), as_text(model.get("name"))
        prefix = prefix_of(provider)
        found = next((one for one in self.there.models or () if one.provider == provider), None) or next(
            (one for one in self.there.models or () if prefix is not None and prefix_of(one.provider) == prefix), None
        )
        fix = "Choose a model that it has."
        if found is None:
            message = f"{node.id}: Langflow there has no models of {provider or 'this provider'}."
            self.faults.append(_missing("unmapped_model", message, fix, node.id, name))
            return model
        listed = [one.model_name for one in found.models]
        exact = called if called in listed else next((one for one in listed if one.casefold() == called.casefold()), "")
        if listed and not exact:
            message = f"{node.id}: {found.provider} there does not list the model {called!r}."
            self.faults.append(_missing("unmapped_model", message, fix, node.id, name))
        if found.is_enabled is False and not as_text(node.value("api_key")):
            message = f"{node.id}: {found.provider} has no key there."
            fix = "Set it there under Settings, Model Providers."
            self.faults.append(_missing("no_model_key", message, fix, node.id, name))
        if (found.provider, exact or called) != (provider, called):
            self.changes.append(
                f"{node.display_name}.{name} names {found.provider}/{exact or called}, not {provider}/{called}"
            )
        return {**model, "provider": found.provider, "name": exact or called}


def _fields(value: Json, change: Callable[[str, JsonObject], JsonObject], name: str = "") -> Json:
    """A value with every field description in it changed, also those inside groups."""
    if isinstance(value, list):
        return [_fields(item, change, name) for item in value]
    if not isinstance(value, dict):
        return value
    if "value" in value and ("type" in value or "load_from_db" in value):
        return change(as_text(value.get("name")) or name, value)
    return {key: _fields(item, change, key) for key, item in value.items()}


def _missing(code: str, message: str, fix: str, node: str, field: str | None = None) -> Fault:
    return Fault(code=code, message=message, fix=fix, severity="warning", node=node, field=field)
