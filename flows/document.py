"""A Langflow flow without loss: the JSON document as it was read, with typed views of its nodes and edges.

Only code is written otherwise than some exports do: as one text, not as a list of its lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Generic, TypeVar, overload

from flows.gc_pause import collection_paused
from flows.json_values import (
    Json,
    JsonObject,
    NotJsonError,
    as_list,
    as_object,
    as_text,
    copy_json,
    fresh_object,
    is_short,
    object_at,
    read_json,
)

__all__ = ["Edge", "Flow", "FlowFormatError", "Json", "JsonObject", "Node", "edge_text"]


SHORT: Final = 50_000
"""Characters and entries of what is worked on at once in an event loop, because waking a thread for it takes longer."""

_Owner = TypeVar("_Owner")
_Value = TypeVar("_Value")


class once(Generic[_Owner, _Value]):  # noqa: N801 - a decorator
    """`functools.cached_property` without the lock that it takes in Python 3.11; building reads thousands of views."""

    def __init__(self, make: Callable[[_Owner], _Value]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, owner: None, kind: type[_Owner]) -> once[_Owner, _Value]: ...
    @overload
    def __get__(self, owner: _Owner, kind: type[_Owner]) -> _Value: ...
    def __get__(self, owner: _Owner | None, kind: type[_Owner]) -> once[_Owner, _Value] | _Value:
        """Compute the value and store it in the instance, where later lookups find it first."""
        if owner is None:
            return self
        value = owner.__dict__[self._name] = self._make(owner)
        return value


class FlowFormatError(ValueError):
    """A document that is not a flow; `path` is the JSON path of the fault, `fix` says what to change."""

    def __init__(self, path: str, message: str, fix: str) -> None:
        super().__init__(f"{path} {message}. {fix}")
        self.path = path
        self.message = message
        self.fix = fix


@dataclass(frozen=True)
class Node:
    """A view of one node; `raw` is its JSON object and must not be changed."""

    raw: JsonObject

    @once
    def id(self) -> str:
        """The id that edges refer to."""
        return as_text(object_at(self.raw, "data").get("id")) or as_text(self.raw.get("id"))

    @once
    def type(self) -> str:
        """The component type (`data.type`)."""
        return as_text(object_at(self.raw, "data").get("type"))

    @once
    def definition(self) -> JsonObject:
        """The component definition that the node carries (`data.node`)."""
        return object_at(self.raw, "data", "node")

    @property
    def display_name(self) -> str:
        """The name shown to people; the type if there is none."""
        return as_text(self.definition.get("display_name")) or self.type

    @property
    def is_note(self) -> bool:
        """Whether this is a sticky note rather than a component."""
        return self.raw.get("type") == "noteNode" or self.type == "note"

    @once
    def template(self) -> Mapping[str, JsonObject]:
        """The fields by name, without the template's metadata entries."""
        return MappingProxyType({name: field for name, field in self._entries.items() if isinstance(field, dict)})

    @once
    def _entries(self) -> JsonObject:
        return object_at(self.definition, "template")

    def field(self, name: str) -> JsonObject | None:
        """Return the field called `name`, or None."""
        found = self._entries.get(name)
        return found if isinstance(found, dict) else None

    def value(self, name: str) -> Json:
        """Return the value of the field called `name`; None if there is no such field or value."""
        return as_object(self.field(name)).get("value")

    @property
    def code(self) -> str:
        """The component's source, or an empty string."""
        return as_text(self.value("code"))

    @once
    def outputs(self) -> tuple[JsonObject, ...]:
        """The outputs as the node declares them."""
        found = as_list(self.definition.get("outputs"))
        return tuple(as_object(output) for output in found if isinstance(output, dict))

    @property
    def tool_mode(self) -> bool:
        """Whether the node is used as a tool."""
        return self.definition.get("tool_mode") is True

    @property
    def position(self) -> tuple[float, float]:
        """The position on the canvas: x and y in pixels."""
        place = object_at(self.raw, "position")
        return _number(place.get("x")), _number(place.get("y"))


def edge_text(source: str, output: str, target: str, field: str) -> str:
    """Return an edge as spec text writes it: `source.output -> target.field`."""
    return f"{source}.{output} -> {target}.{field}"


@dataclass(frozen=True)
class Edge:
    """A view of one edge; `raw` is its JSON object and must not be changed."""

    raw: JsonObject

    @property
    def id(self) -> str:
        """The edge's id."""
        return as_text(self.raw.get("id"))

    @once
    def source(self) -> str:
        """The id of the node it leaves."""
        return as_text(self.raw.get("source"))

    @once
    def target(self) -> str:
        """The id of the node it enters."""
        return as_text(self.raw.get("target"))

    @once
    def source_port(self) -> str:
        """The name of the output it leaves."""
        return as_text(self._handle("sourceHandle").get("name"))

    @once
    def target_port(self) -> str:
        """The name of the field it enters, or of the output it feeds back into."""
        handle = self._handle("targetHandle")
        return as_text(handle.get("fieldName")) or as_text(handle.get("name"))

    @once
    def is_feedback(self) -> bool:
        """Whether the edge closes a loop by entering an output."""
        handle = self._handle("targetHandle")
        return "name" in handle and not handle.get("fieldName")

    @property
    def text(self) -> str:
        """The edge as spec text writes it: `source.output -> target.input`."""
        return edge_text(self.source, self.source_port, self.target, self.target_port)

    def _handle(self, key: str) -> JsonObject:
        parsed = object_at(self.raw, "data", key)
        if parsed:
            return parsed
        written = as_text(self.raw.get(key)).replace("œ", '"')
        if not written.startswith("{"):
            # Old versions wrote `types|field|id` as the target handle, and no output name in the source handle.
            parts = written.split("|")
            return {"fieldName": parts[1]} if key == "targetHandle" and len(parts) == 3 else {}
        try:
            return as_object(read_json(written))
        except ValueError:
            return {}


@dataclass(frozen=True, eq=False)
class Flow:
    """A flow: an immutable view of one JSON document. Edits return new flows that share what they do not change."""

    raw: JsonObject

    @classmethod
    def empty(cls, name: str = "Untitled Flow", description: str = "") -> Flow:
        """Return a flow without nodes, in the form that Langflow's builder starts from."""
        viewport: JsonObject = {"x": 0, "y": 0, "zoom": 1}
        return cls({"name": name, "description": description, "data": {"nodes": [], "edges": [], "viewport": viewport}})

    @classmethod
    def from_json(cls, obj: object) -> Flow:
        """Return the flow in `obj`: an export with `data`, or bare `nodes` and `edges`; code may be a list of lines.

        Raises:
            FlowFormatError: `obj` is not a flow; the error names the JSON path.
        """
        try:
            with collection_paused():
                raw = copy_json(obj)
        except NotJsonError as error:
            raise FlowFormatError(error.path, error.message, "Give a JSON document.") from None
        return parsed_flow(raw)

    def to_json(self) -> JsonObject:
        """Return a new document, equal to the one that was read."""
        with collection_paused():
            return fresh_object(self.raw)

    @property
    def data(self) -> JsonObject:
        """The object with `nodes` and `edges`."""
        data = self.raw.get("data")
        return data if isinstance(data, dict) else self.raw

    @property
    def name(self) -> str:
        """The flow's name, or an empty string."""
        return as_text(self.raw.get("name"))

    @property
    def description(self) -> str:
        """The flow's description, or an empty string."""
        return as_text(self.raw.get("description"))

    @once
    def is_short(self) -> bool:
        """Whether the document has at most `SHORT` characters and entries."""
        return is_short(self.raw, SHORT)

    @once
    def nodes(self) -> tuple[Node, ...]:
        """All nodes in document order, including notes."""
        return tuple(Node(as_object(node)) for node in as_list(self.data.get("nodes")))

    @once
    def components(self) -> tuple[Node, ...]:
        """The nodes that are not notes, in document order."""
        return tuple(node for node in self.nodes if not node.is_note)

    @once
    def edges(self) -> tuple[Edge, ...]:
        """All edges in document order."""
        return tuple(Edge(as_object(edge)) for edge in as_list(self.data.get("edges")))

    @once
    def _by_id(self) -> dict[str, Node]:
        found: dict[str, Node] = {}
        for node in self.nodes:
            found.setdefault(node.id, node)
        return found

    def node(self, node_id: str) -> Node | None:
        """Return the node with this id, or None."""
        return self._by_id.get(node_id)

    @property
    def is_empty(self) -> bool:
        """Whether the flow has no components; notes do not count."""
        return not self.components

    def with_parts(self, *, nodes: list[Json] | None = None, edges: list[Json] | None = None) -> Flow:
        """Return the flow with other nodes or edges; the rest is shared, including views of unchanged members."""
        data = dict(self.data)
        if nodes is not None:
            data["nodes"] = nodes
        if edges is not None:
            data["edges"] = edges
        changed = Flow({**self.raw, "data": data} if isinstance(self.raw.get("data"), dict) else data)
        if "nodes" in self.__dict__:
            seen_nodes = {id(node.raw): node for node in self.nodes}
            kept = self.nodes if nodes is None else [seen_nodes.get(id(raw)) or Node(as_object(raw)) for raw in nodes]
            changed.__dict__["nodes"] = tuple(kept)
        if "edges" in self.__dict__:
            seen_edges = {id(edge.raw): edge for edge in self.edges}
            left = self.edges if edges is None else [seen_edges.get(id(raw)) or Edge(as_object(raw)) for raw in edges]
            changed.__dict__["edges"] = tuple(left)
        return changed

    def with_views(self, nodes: Iterable[Node], edges: Iterable[Edge]) -> Flow:
        """Set the views of the flow's nodes and edges, in document order, and return the flow."""
        self.__dict__["nodes"] = tuple(nodes)
        self.__dict__["edges"] = tuple(edges)
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Flow) and (self.raw is other.raw or self.raw == other.raw)

    def __hash__(self) -> int:
        return hash((self.name, tuple(node.id for node in self.nodes), len(self.edges)))


def _number(value: Json) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def _check_form(raw: JsonObject) -> None:
    if "data" in raw:
        data, prefix = raw["data"], "$.data"
        if not isinstance(data, dict):
            raise FlowFormatError("$.data", "is not an object", "It must hold `nodes` and `edges`.")
    elif "nodes" in raw:
        data, prefix = raw, "$"
    else:
        raise FlowFormatError("$", "has neither `data` nor `nodes`", "Give a Langflow export: an object with `data`.")
    for key in ("nodes", "edges"):
        members = data.get(key)
        if members is None and key == "edges" and key not in data:
            continue
        if not isinstance(members, list):
            raise FlowFormatError(f"{prefix}.{key}", "is not a list", f"Write `{key}` as a list.")
        for index, member in enumerate(members):
            place = f"{prefix}.{key}[{index}]"
            if not isinstance(member, dict):
                raise FlowFormatError(place, "is not an object", "Each one must be an object.")
            (_check_node if key == "nodes" else _check_edge)(member, place)


def _check_node(node: JsonObject, place: str) -> None:
    data = node.get("data")
    if "data" in node and not isinstance(data, dict):
        raise FlowFormatError(f"{place}.data", "is not an object", "It must hold the component.")
    inner = object_at(node, "data").get("id")
    if not (isinstance(node.get("id"), str) or isinstance(inner, str)):
        raise FlowFormatError(f"{place}.id", "is not text", "Give every node an id.")
    if isinstance(data, dict):
        definition = data.get("node")
        if definition is not None and not isinstance(definition, dict):
            raise FlowFormatError(f"{place}.data.node", "is not an object", "It must hold the component's definition.")
        template = object_at(node, "data", "node").get("template")
        if template is not None and not isinstance(template, dict):
            raise FlowFormatError(f"{place}.data.node.template", "is not an object", "It must hold the fields by name.")


def _check_edge(edge: JsonObject, place: str) -> None:
    for key in ("source", "target"):
        if not isinstance(edge.get(key), str):
            raise FlowFormatError(f"{place}.{key}", "is not text", "Name the node by its id.")


def parsed_flow(document: Json) -> Flow:
    """Return the flow in a document that was just parsed and that nobody else holds: it is not copied.

    Raises:
        FlowFormatError: it is not a flow; the error names the JSON path.
    """
    if not isinstance(document, dict):
        raise FlowFormatError("$", "is not an object", "Give a Langflow export: an object with `data`.")
    _check_form(document)
    _join_lines(document)
    return Flow(document)


def _join_lines(document: JsonObject) -> None:
    """Join the lines of code, which Langflow exports as a list so that versions of a file can be compared."""
    data = as_object(document.get("data", document))
    for node in as_list(data.get("nodes")):
        for field in object_at(node, "data", "node", "template").values():
            if isinstance(field, dict) and field.get("type") == "code":
                lines = field.get("value")
                if isinstance(lines, list) and all(isinstance(line, str) for line in lines):
                    field["value"] = "\n".join(map(as_text, lines))
