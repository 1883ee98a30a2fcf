"""Decides whether a flow may run: code that is the catalogue's or passes the guard, and models if any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from flows.catalogue import Catalogue
from flows.component_type import ComponentType
from flows.document import Flow, Json, JsonObject
from flows.json_values import as_list, as_object, as_text, object_at, texts
from runtime.guard.executed import EXECUTING, HANDS_OUT, OUT_OF_FIELD, STEERING, fields_of
from runtime.guard.trust import is_trusted, problem, settled
from runtime.guard.violations import Violation
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
    def id(self) -> str:
        return as_text(self.raw.get("id")) or as_text(object_at(self.raw, "data").get("id"))

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
    ends and empty lines around it do not count), be trusted by the operator, or pass the guard; so must every field
    whose value is executed.
    Types that start programs, run other flows or execute what a model says are refused, and so are those that execute
    one of their fields when its text is not known before the run. A node that needs a language or embedding model
    answers `missing_model`, unless the run `has_models`. Sticky notes are not looked at: `runnable` leaves them out of
    what is executed.
    """
    missing_model: RunError | None = None
    edges = list(_edges(runnable(flow), 0))
    tools = {as_text(edge.get("source")) for edge, _ in edges if _source_port(edge) in HANDS_OUT}
    for place in _places(as_list(runnable(flow)["nodes"]), None, 0):
        if (error := _refused(place, catalogue, tools)) is not None:
            return error
        if missing_model is None and not has_models:
            missing_model = _needs_model(place, catalogue)
    for error in map(_edge_into_code, edges):
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
    return one == other or settled(one) == settled(other)


def has_untrusted_code(data: JsonObject, catalogue: Catalogue) -> bool:
    """Whether any node, those inside groups included, executes code that is not the catalogue's for its type.

    Such code can write its own result, so the result is marked.

    Args:
        data: nodes and edges.
        catalogue: the component types of the engine, without the user's own.
    """
    places = _places(as_list(data.get("nodes")), None, 0)
    return any(_is_untrusted(place, catalogue) for place in places if not place.group)


def _is_untrusted(place: _Place, catalogue: Catalogue) -> bool:
    known, code = find(catalogue, place.type), as_text(place.field("code").get("value"))
    return known is None or not same_code(code, known.code) or place.type in OUT_OF_FIELD


def _places(nodes: Sequence[Json], shown: str | None, depth: int) -> Iterator[_Place]:
    for raw in map(as_object, nodes):
        place = _Place(raw, shown or _Place(raw, "").id)
        yield place
        if place.group and depth < MAX_DEPTH:
            yield from _places(as_list(object_at(place.group, "data").get("nodes")), place.shown, depth + 1)
        elif place.group:
            yield _Place({"data": {"type": "", "node": {}}}, place.shown)


def _edges(parts: JsonObject, depth: int) -> Iterator[tuple[JsonObject, str]]:
    for edge in map(as_object, as_list(parts.get("edges"))):
        yield edge, as_text(edge.get("target"))
    if depth <= MAX_DEPTH:
        for node in map(as_object, as_list(parts.get("nodes"))):
            yield from _edges(object_at(node, "data", "node", "flow", "data"), depth + 1)


def _error(code: RunErrorCode, place: _Place, message: str, fix: str) -> RunError:
    return RunError(code=code, message=message, fix=fix, node=place.shown or None)


def _refused(place: _Place, catalogue: Catalogue, tools: set[str]) -> RunError | None:
    if place.group:
        return _rewritten_code(place)
    name = place.type if place.type in EXECUTING else _class_name(place.type)
    reason = EXECUTING.get(name)
    if reason is not None and name not in OUT_OF_FIELD:
        message = f"{place.name!r} is not run: {reason}."
        return _error("refused", place, message, "Remove the node, or do its work with another component.")
    if reason is not None and (unknown := _fills_later(place, tools)):
        message = f"{place.name!r} is not run: {reason}, and {unknown}."
        return _error("refused", place, message, "Write the code into the field, and do not use the node as a tool.")
    if (strange := _strange(place, catalogue)) is not None:
        return strange
    template = object_at(place.definition, "template")
    for field in fields_of(place.shown, place.type, template, catalogue):
        if field.violations:
            return _violation(place, f"its field {field.name!r}", field.violations)
    return None


def _fills_later(place: _Place, tools: set[str]) -> str | None:
    """Why the text that a node executes is not known before the run; None when it stands in its field."""
    outputs = {as_text(as_object(output).get("name")) for output in as_list(place.definition.get("outputs"))}
    if place.definition.get("tool_mode") is True or place.id in tools or "component_as_tool" in outputs:
        return "as a tool it executes what an agent sends"
    if place.id != place.shown:
        return "the group that it is in may fill the field"
    if any(place.field(name).get("load_from_db") is True for name in STEERING - {"code"}):
        return "the text comes from a variable"
    return None


def _strange(place: _Place, catalogue: Catalogue) -> RunError | None:
    """Whether the node's code is neither the catalogue's nor passes the guard."""
    known = find(catalogue, place.type)
    code = place.field("code").get("value")
    if not isinstance(code, str) or not code.strip():
        if known is None:
            message = f"{place.name!r} is not run: there is no component type {place.type!r} in the catalogue."
            return _error("refused", place, message, "Use a component type of the catalogue.")
        message = f"{place.name!r} is not run: it has no code."
        return _error("refused", place, message, f"Add the component {place.type!r} anew.")
    if known is not None and same_code(code, known.code):
        return None
    violations = () if is_trusted(code) else _verdict(code)
    if not violations:
        return None
    error = _violation(place, "its code", violations)
    unused = problem()  # it may name this source
    return error if unused is None else replace(error, message=f"{error.message} {unused.message}", fix=unused.fix)


@lru_cache(maxsize=256)
def _verdict(code: str) -> tuple[Violation, ...]:
    from runtime.guard.source import scan  # what reads sources is imported when one has to be read

    return tuple(scan(code))


def _violation(place: _Place, where: str, violations: Sequence[Violation]) -> RunError:
    first, more = violations[0], len(violations) - 1
    others = f" (and {more} more)" if more else ""
    message = f"{place.name!r} is not run: line {first.line} of {where}: {first.message}{others}"
    return _error("refused", place, message, first.fix)


def _source_port(edge: JsonObject) -> str:
    """The output that an edge leaves from, as its data or its written handle says."""
    named = as_text(object_at(edge, "data", "sourceHandle").get("name"))
    written = as_text(edge.get("sourceHandle")).replace("œ", '"').replace(" ", "")
    hidden = next((name for name in HANDS_OUT if f'"name":"{name}"' in written), "")
    return hidden or named


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
    if known is not None and known.type in _WITHOUT_A_MODEL:
        return None
    fields = as_object(place.definition.get("template")).values() if known is None else known.template.values()
    asks = any(as_object(field).get("type") == "model" for field in fields)
    outputs = as_list(place.definition.get("outputs")) if known is None else known.outputs
    gives = any(_MODEL_TYPES & set(texts(as_object(output).get("types"))) for output in outputs)
    if not (asks or gives):
        return None
    message = f"{place.name!r} needs a language model, and this run may call none."
    fix = "Run it where a model is configured, or do its work with components that need no model."
    return _error("missing_model", place, message, fix)


def find(catalogue: Catalogue, name: str) -> ComponentType | None:
    """The catalogue's type called `name`, also when an old flow knows a bundle's component by its class or own name."""
    if (known := catalogue.get(name)) is not None:
        return known
    bundled = (component for component in catalogue if name and component.type.startswith("ext:"))
    return next((one for one in bundled if name in (as_text(one.raw.get("name")), _class_name(one.type))), None)


def _class_name(type_name: str) -> str:
    """`ext:<bundle>:<Class>@<slot>` names the class; any other type is its own name."""
    return type_name.rpartition(":")[2].partition("@")[0] if type_name.startswith("ext:") else type_name
