"""The canvas of a turn on a server, kept up to date by its events."""

from collections.abc import Callable

from pydantic_ai import PartDeltaEvent, TextPartDelta

from agent.contract.details import ReasoningEvent, RemarkEvent, StartedEvent, ToolCallEvent, ToolResultEvent
from agent.contract.events import (
    CancelledEvent,
    CompleteEvent,
    ErrorEvent,
    Event,
    FileWrittenEvent,
    FlowPreviewEvent,
    ProgressEvent,
    RewoundEvent,
    TodosEvent,
    TokenEvent,
)
from agent.contract.flow_updates import (
    Arranged,
    ComponentAdded,
    ComponentRemoved,
    Connected,
    DetailSet,
    Disconnected,
    FieldEditProposed,
    FlowSet,
    FlowUpdateEvent,
    PlanProposed,
)
from agent.turn.result import TurnEvent
from flows.diff import diff
from flows.document import Flow, Json, JsonObject
from flows.json_values import as_list, as_object, replace_at
from tools.events import FlowPreview, FlowUpdate, Progress


class RemoteCanvas:
    """The canvas as far as the events of a turn tell it.

    Args:
        flow: what the turn began with.

    Attributes:
        flow: the canvas with every change so far.
    """

    def __init__(self, flow: Flow) -> None:
        self.flow = flow

    def shown(self, event: Event) -> list[TurnEvent]:
        """What an event shows to a person; the last event of a turn and what nobody is shown is nothing.

        Args:
            event: as it was received.
        """
        match event:
            case ProgressEvent(message=message, attempt=attempt, max_attempts=most):
                return [Progress(step="generating", message=message, attempt=attempt, max_attempts=most)]
            case TokenEvent(chunk=chunk):
                return [PartDeltaEvent(index=0, delta=TextPartDelta(content_delta=chunk))]
            case FlowPreviewEvent(flow=flow, graph=graph):
                return [FlowPreview(flow=Flow.from_json(flow), graph=graph)]
            case CompleteEvent() | ErrorEvent() | CancelledEvent():
                return []
            case RewoundEvent(flow=flow):
                self.flow = flow
                return []
            case FileWrittenEvent() | TodosEvent():
                return []
            case StartedEvent() | ReasoningEvent() | RemarkEvent() | ToolCallEvent() | ToolResultEvent():
                return []
            case _:
                return [*self._changes(event)]

    def _changes(self, update: FlowUpdateEvent) -> list[FlowUpdate]:
        before, self.flow = self.flow, _after(self.flow, update)
        return [FlowUpdate(action=action) for action in diff(before, self.flow)]


def _after(flow: Flow, update: FlowUpdateEvent) -> Flow:
    """The canvas after a change; one that cannot be followed leaves it, and the last event has the whole."""
    match update:
        case ComponentAdded():
            return flow.with_parts(nodes=[*_nodes(flow), update.node], edges=[*_edges(flow), *(update.edges or ())])
        case ComponentRemoved():
            gone = update.component_id
            return flow.with_parts(
                nodes=[node.raw for node in flow.nodes if node.id != gone],
                edges=[edge.raw for edge in flow.edges if gone not in (edge.source, edge.target)],
            )
        case Connected():
            return flow.with_parts(edges=[*_edges(flow), update.edge])
        case Disconnected():
            return flow.with_parts(edges=[edge for edge in _edges(flow) if edge != update.edge])
        case FlowSet():
            return Flow.from_json(update.flow) if update.auto_apply else flow
        case DetailSet():
            return _with_detail(flow, update)
        case Arranged():
            return _with_node(flow, update.component_id, lambda raw: {**raw, update.key: update.value})
        case PlanProposed() | FieldEditProposed():
            return flow
        case _:
            node = update.node
            return flow if node is None else _with_node(flow, update.component_id, lambda _: as_object(node))


def _with_node(flow: Flow, node_id: str, change: Callable[[JsonObject], JsonObject]) -> Flow:
    return flow.with_parts(nodes=[change(node.raw) if node.id == node_id else node.raw for node in flow.nodes])


def _with_detail(flow: Flow, update: DetailSet) -> Flow:
    try:
        return Flow(as_object(replace_at(flow.raw, tuple(update.path), update.value)))
    except KeyError:  # a place that this canvas does not have, because others changed it as well
        return flow


def _nodes(flow: Flow) -> list[Json]:
    return as_list(flow.data.get("nodes"))


def _edges(flow: Flow) -> list[Json]:
    return as_list(flow.data.get("edges"))
