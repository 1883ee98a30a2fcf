"""Decides whether a flow may run: only the catalogue's own code, no field that is executed, models if any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flows.catalogue import Catalogue, ComponentType
from flows.document import Flow, Json, JsonObject
from flows.jsonvalues import as_list, as_object, as_text, object_at, texts
from runtime.guard.executed import EXECUTING
from runtime.guard.fields import STEERING
from runtime.results import RunError, RunErrorCode

MAX_DEPTH = 16
"""Groups inside groups that are looked into."""
_MODEL_TYPES = frozenset({"LanguageModel", "Embeddings"})
_WITHOUT_A_MODEL = frozenset({"LangChainFakeEmbeddings"})  # gives random vectors, asks no one


@dataclass(frozen=True)
class _Place:
    """A node as the engine will see it: its JSON, and the id of the outermost node that holds it."""

    raw: JsonObject
    shown: str

    @property
    def type(self) -> str:
        return as_text(object_at(self.raw, "data").get("type"))

    @property
    def definition(self) -> JsonObject:
        return object_at(self.raw, "data", "node")

    @property
    def name(self) -> str:
        return as_text(self.definition.get("display_name")) or self.type or self.shown

    @property
    def group(self) -> JsonObject:
        """The flow that a group node holds, or nothing."""
        return object_at(self.definition, "flow")

    def field(self, name: str) -> JsonObject:
        return object_at(self.definition, "template", name)


def refuse(flow: Flow, catalogue: Catalogue, *, has_models: bool = False) -> RunError | None:
    """The reason why `flow` must not run, or None when it may.

    The code of every node, those inside groups included, must be the catalogue's own for its type (blanks at line
    ends and empty lines around it do not count). Types that start programs, run other flows or execute what a model
    or one of their fields says are refused. A node that needs a language or embedding model answers `missing_model`,
    unless the run `has_models`. Sticky notes are not looked at: `runnable` leaves them out of what is executed.
    """
    missing_model: RunError | None = None
    for place in _places(as_list(runnable(flow)["nodes"]), None, 0):
        if (error := _refused(place, catalogue)) is not None:
            return error
        if missing_model is None and not has_models:
            missing_model = _needs_model(place, catalogue)
    for error in map(_edge_into_code, _edges(runnable(flow), 0)):
        if error is not None:
            return error
    return missing_model


def runnable(flow: Flow) -> JsonObject:
    """The nodes and edges of `flow` that are executed: all but sticky notes."""
    return {
        "nodes": [node.raw for node in flow.nodes if not node.is_note],
        "edges": [edge.raw for edge in flow.edges],
    }


def same_code(one: str, other: str) -> bool:
    """Whether two sources are the same but for blanks at line ends and empty lines around them."""
    return _settled(one) == _settled(other)


def _settled(code: str) -> str:
    return "\n".join(line.rstrip(" \t\r") for line in code.split("\n")).strip("\n")


def _places(nodes: Sequence[Json], shown: str | None, depth: int) -> Iterator[_Place]:
    for raw in map(as_object, nodes):
        own = as_text(raw.get("id")) or as_text(object_at(raw, "data").get("id"))
        place = _Place(raw, shown or own)
        yield place
        if place.group and depth < MAX_DEPTH:
            yield from _places(as_list(_parts(place.group).get("nodes")), place.shown, depth + 1)
        elif place.group:
            yield _Place({"data": {"type": "", "node": {}}}, place.shown)


def _edges(parts: JsonObject, depth: int) -> Iterator[tuple[JsonObject, str]]:
    for edge in map(as_object, as_list(parts.get("edges"))):
        yield edge, as_text(edge.get("target"))
    if depth <= MAX_DEPTH:
        for node in map(as_object, as_list(parts.get("nodes"))):
            yield from _edges(_parts(object_at(node, "data", "node", "flow")), depth + 1)


def _parts(group: JsonObject) -> JsonObject:
    return object_at(group, "data")


def _error(code: RunErrorCode, place: _Place, message: str, fix: str) -> RunError:
    return RunError(code=code, message=message, fix=fix, node=place.shown or None)


def _refused(place: _Place, catalogue: Catalogue) -> RunError | None:
    if place.group:
        return _rewritten_code(place)
    reason = EXECUTING.get(place.type) or EXECUTING.get(_class_name(place.type))
    if reason is not None:
        message = f"{place.name!r} is not run: {reason}."
        return _error("refused", place, message, "Remove the node, or do its work with another component.")
    return _strange(place, catalogue)


def _strange(place: _Place, catalogue: Catalogue) -> RunError | None:
    """Whether the node's code is anything but the catalogue's."""
    known = find(catalogue, place.type)
    if known is None:
        message = f"{place.name!r} is not run: there is no component type {place.type!r} in the catalogue."
        return _error("refused", place, message, "Use a component type of the catalogue.")
    code = place.field("code").get("value")
    if not isinstance(code, str) or not code.strip():
        message = f"{place.name!r} is not run: it has no code."
        return _error("refused", place, message, f"Add the component {place.type!r} anew.")
    if not same_code(code, known.code):
        message = f"{place.name!r} is not run: its code is not the catalogue's code of {place.type!r}."
        return _error("refused", place, message, "Put the component in anew, so that it has its current code.")
    return None


def _rewritten_code(group: _Place) -> RunError | None:
    """The engine lets a group's own fields replace those of the nodes inside; none may replace code."""
    for field in map(as_object, object_at(group.definition, "template").values()):
        if object_at(field, "proxy").get("field") in STEERING:
            message = f"The group {group.name!r} is not run: one of its fields replaces a component's code."
            return _error("refused", group, message, "Remove that field from the group.")
    return None


def _edge_into_code(found: tuple[JsonObject, str]) -> RunError | None:
    edge, node = found
    handle = object_at(edge, "data", "targetHandle")
    written = as_text(edge.get("targetHandle")).replace("œ", '"').replace(" ", "")
    aims = (handle.get("fieldName"), object_at(handle, "proxy").get("field"))
    hidden = any(f'"fieldName":"{name}"' in written or f'"field":"{name}"' in written for name in STEERING)
    if hidden or not STEERING.isdisjoint(aim for aim in aims if isinstance(aim, str)):
        message = "The flow is not run: a connection leads into a component's code."
        return RunError(code="refused", message=message, fix="Remove that connection.", node=node or None)
    return None


def _needs_model(place: _Place, catalogue: Catalogue) -> RunError | None:
    known = find(catalogue, place.type)
    if known is None or known.type in _WITHOUT_A_MODEL:
        return None
    asks = any(field.get("type") == "model" for field in known.template.values())
    gives = any(_MODEL_TYPES & set(texts(output.get("types"))) for output in known.outputs)
    if not (asks or gives):
        return None
    message = f"{place.name!r} needs a language model, and this run may call none."
    fix = "Run it where a model is configured, or do its work with components that need no model."
    return _error("missing_model", place, message, fix)


def find(catalogue: Catalogue, name: str) -> ComponentType | None:
    """The catalogue's type called `name`, also when an old flow knows a bundle's component by its class or own name."""
    if (known := catalogue.get(name)) is not None:
        return known
    return next(
        (component for component in _bundled(catalogue) if name in _aliases(component.raw, component.type)), None
    )


def _bundled(catalogue: Catalogue) -> Iterator[ComponentType]:
    return (component for component in catalogue if component.type.startswith("ext:"))


def _aliases(raw: JsonObject, type_name: str) -> set[str]:
    return {as_text(raw.get("name")), _class_name(type_name)} - {""}


def _class_name(type_name: str) -> str:
    """`ext:<bundle>:<Class>@<slot>` names the class; any other type is its own name."""
    return type_name.rpartition(":")[2].partition("@")[0] if type_name.startswith("ext:") else type_name
