"""Events without the documents in them, for protocols whose clients send back what they received.

A flow is named by its id and told by the ids and types of its components; their values are read on demand.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from pydantic import BaseModel

from agent.contract.details import StartedEvent
from agent.contract.events import (
    CompleteData,
    Event,
    FileWrittenEvent,
    FlowPreviewEvent,
    ProgressEvent,
    RewoundEvent,
    TodosEvent,
)
from agent.contract.flow_updates import (
    Amended,
    Arranged,
    ComponentAdded,
    ComponentRemoved,
    Configured,
    Connected,
    ConnectionModeSet,
    DetailSet,
    Disconnected,
    FlowSet,
    FlowUpdateEvent,
    OutputSelected,
    ToolModeSet,
)
from flows.document import Edge, Flow, Node

GRAPH_CHARACTERS: Final = 4_000
"""The longest drawing of a flow that is told with its preview."""

Outline: TypeAlias = dict[str, Any]

_BESIDE: Final = {"event", "turn_id", "sequence"}
_LEFT_OUT: Final = {"flow", "proposal", "component_code", "run", "approvals", "withdrawn"}
"""What of a turn's result is not told: documents, and the questions, which have words of their own."""


def outline(event: Event) -> tuple[str, Outline] | None:
    """What an event tells, with the name of its kind; None for one that has words of its own in every protocol."""
    match event:
        case StartedEvent():
            return "flow", {"flow_id": event.flow_id, **flow_outline(event.flow)}
        case ProgressEvent() | TodosEvent():
            return event.event, _plain(event)
        case FlowPreviewEvent():
            drawn = {} if len(event.graph) > GRAPH_CHARACTERS else {"graph": event.graph}
            return "flow-preview", {**flow_outline(Flow.from_json(event.flow)), **drawn}
        case FileWrittenEvent():
            return "file", event.model_dump(mode="json", exclude={*_BESIDE, "content"})
        case RewoundEvent():
            return "rewound", {"to": event.to, **flow_outline(event.flow)}
        case (
            ComponentAdded()
            | ComponentRemoved()
            | Connected()
            | Disconnected()
            | Configured()
            | OutputSelected()
            | ConnectionModeSet()
            | ToolModeSet()
            | Arranged()
            | Amended()
            | DetailSet()
            | FlowSet()
        ):
            return "flow-update", change_outline(event)
        case _:
            return None


def flow_outline(flow: Flow) -> Outline:
    """A flow's name, the ids of its components by their types, and how many connections it has."""
    nodes: dict[str, list[str]] = {}
    for node in flow.nodes:
        nodes.setdefault(node.type, []).append(node.id)
    return {"name": flow.name, "nodes": nodes, "node_count": len(flow.nodes), "edge_count": len(flow.edges)}


def change_outline(event: FlowUpdateEvent) -> Outline:
    """A change: what it did, to which components."""
    match event:
        case ComponentAdded():
            node = Node(event.node)
            edges = [_ends(edge) for edge in event.edges or ()]
            return {"action": event.action, "component_id": node.id, "type": node.type, "edges": edges}
        case Connected() | Disconnected():
            return {"action": event.action, **_ends(event.edge)}
        case Configured():
            return {"action": event.action, "component_id": event.component_id, "fields": list(event.params)}
        case FlowSet():
            told = flow_outline(Flow.from_json(event.flow))
            return {"action": event.action, "auto_apply": event.auto_apply, **told}
        case _:
            return event.model_dump(mode="json", exclude={*_BESIDE, "node", "patch"})


def result_outline(data: CompleteData) -> Outline:
    """A turn's result: the record of what was done, what the run gave, and what is stored."""
    told = data.model_dump(mode="json", exclude=_LEFT_OUT)
    if data.proposal is not None:
        told["proposal"] = flow_outline(data.proposal)
    if data.run is not None:
        error = data.run.error
        told["run"] = {"output": data.run.output, "error": None if error is None else error.to_json()}
    return told


def _plain(event: BaseModel) -> Outline:
    return event.model_dump(mode="json", exclude=_BESIDE)


def _ends(edge: dict[str, Any]) -> Outline:
    found = Edge(edge)
    return {"source": found.source, "output": found.source_port, "target": found.target, "field": found.target_port}
