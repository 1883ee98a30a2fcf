"""Watches the nodes of one run: reports when each starts, ends and writes text, and limits iterations."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextvars import ContextVar
from typing import Any

from lfx.custom.custom_component.component import Component
from lfx.graph import Graph
from lfx.graph.vertex.base import Vertex, VertexStates
from lfx.graph.vertex.vertex_types import InterfaceVertex

from lfx_runner.protocol import MAX_EVENT, Message

MAX_ITERATIONS = 1_000
"""How many times one node may be built, unless the request sets another limit."""
CHUNK = MAX_EVENT // 8
"""Characters of text in one event, which fit whatever their encoding takes."""

Emit = Callable[[Message], None]
_building: ContextVar[str | None] = ContextVar("building", default=None)


class IterationLimit(RuntimeError):
    """A node was built more often than allowed."""


class Watch:
    """Follows the nodes of the run of this process.

    Attributes:
        failed: ids of the nodes that failed, the first one first.
    """

    def __init__(self, emit: Emit | None = None, kinds: Collection[str] = (), limit: int = MAX_ITERATIONS) -> None:
        """Pass each event of one of the `kinds` to `emit`, if it is given.

        No node may be built more than `limit` times.
        """
        self.failed: list[str] = []
        self._emit = emit
        self._kinds = kinds
        self._limit = limit
        self._times: Counter[str] = Counter()
        self._outer: Mapping[str, str] = {}

    def set_flow(self, flow: Mapping[str, Any]) -> None:
        """Note which nodes are inside groups: events name the group, which is what the canvas shows."""
        self._outer = dict(_grouped_nodes(flow.get("nodes") or [], None))

    def outermost_node(self, node: str) -> str:
        """The id of the outermost node that `node` is, or is inside of."""
        return self._outer.get(node, node)

    def started(self, node: str) -> int:
        """Count a node that is about to be built; returns how many times it has been built, this time included.

        Raises:
            IterationLimit: it is built too often.
        """
        self._times[node] += 1
        times = self._times[node]
        if times > self._limit:
            raise IterationLimit(f"This node ran {self._limit} times, which is the limit of a run.")
        self._send("node_started", node, iteration=times)
        return times

    def finished(self, node: str, iteration: int, seconds: float, *, ok: bool) -> None:
        """A node was built, or failed."""
        self._send("node_finished", node, iteration=iteration, seconds=round(seconds, 6), ok=ok)

    def wrote(self, text: object) -> None:
        """The node that is being built wrote a piece of text."""
        node = _building.get()
        if node is not None and isinstance(text, str):
            for start in range(0, len(text), CHUNK):
                self._send("token", node, text=text[start : start + CHUNK])

    @property
    def wanted(self) -> bool:
        """Whether events are wanted."""
        return self._emit is not None

    def _send(self, kind: str, node: str, **details: Any) -> None:
        if self._emit is not None and kind in self._kinds:
            self._emit({"kind": kind, "node": self.outermost_node(node), **details})


class Tokens:
    """Stands in for lfx's event manager: passes on text as it is written and ignores every other event."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    def on_token(self, *, data: Any) -> None:
        """A piece of text: lfx gives `{"chunk", "id"}`."""
        self._watch.wrote(data.get("chunk") if isinstance(data, Mapping) else None)

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith("on_") or name == "send_event":
            return _ignore
        raise AttributeError(name)


def building_node() -> str | None:
    """The id of the node that is being built by the current task."""
    return _building.get()


_current: Watch | None = None


def watch_with(watch: Watch | None) -> None:
    """Report every node that this process builds from now on to `watch`, including those inside loops."""
    global _current
    _current = watch


_build_vertex = Graph.build_vertex


async def _build_watched_vertex(self: Graph, vertex_id: str, **options: Any) -> Any:
    watch = _current
    if watch is None or self.get_vertex(vertex_id).state == VertexStates.INACTIVE:
        return await _build_vertex(self, vertex_id, **options)
    token = _building.set(vertex_id)
    started = time.perf_counter()
    iteration = 0
    try:
        iteration = watch.started(vertex_id)
        result = await _build_vertex(self, vertex_id, **options)
    except BaseException:
        watch.failed.append(vertex_id)
        if iteration:
            watch.finished(vertex_id, iteration, time.perf_counter() - started, ok=False)
        raise
    finally:
        _building.reset(token)
    watch.finished(vertex_id, iteration, time.perf_counter() - started, ok=True)
    return result


Graph.build_vertex = _build_watched_vertex


_build_params = Vertex.build_params


def _build_watched_params(self: Vertex) -> None:
    """Note the node if reading its fields fails before it is built, such as a file that must not be read."""
    try:
        _build_params(self)
    except BaseException:
        if _current is not None:
            _current.failed.append(self.id)
        raise


Vertex.build_params = _build_watched_params


_describe_built = InterfaceVertex.built_object_repr


def _describe_built_shortly(self: InterfaceVertex) -> str:
    """Leave out the message that the engine would write as YAML: nobody reads it, and a long text takes seconds."""
    return "" if self.artifacts else _describe_built(self)


InterfaceVertex.built_object_repr = _describe_built_shortly


_send_message_event = Component._send_message_event


async def _send_heard_message_event(self: Component, message: Any, *args: Any, **options: Any) -> None:
    """Leave out an event that `Tokens` ignores: lfx copies the message for it, and starts a thread to send it."""
    if not isinstance(getattr(self, "_event_manager", None), Tokens):
        await _send_message_event(self, message, *args, **options)


Component._send_message_event = _send_heard_message_event


_process_chunk = Component._process_chunk


async def _process_heard_chunk(
    self: Component, chunk: str, complete_message: str, message_id: str, message: Any, *, first_chunk: bool = False
) -> str:
    """Pass a piece of streamed text on at once; lfx has a thread do it, and waits for that."""
    manager = self._event_manager
    if not isinstance(manager, Tokens):
        return await _process_chunk(self, chunk, complete_message, message_id, message, first_chunk=first_chunk)
    manager.on_token(data={"chunk": chunk})
    await asyncio.sleep(0)  # other nodes go on between two pieces
    return complete_message + chunk


Component._process_chunk = _process_heard_chunk


def _ignore(**_: Any) -> None:
    pass


def _grouped_nodes(nodes: list[Any], outer: str | None) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for node in nodes:
        node_id = str(node.get("id"))
        if outer is not None:
            found.append((node_id, outer))
        group = ((node.get("data") or {}).get("node") or {}).get("flow")
        if isinstance(group, dict):
            found += _grouped_nodes((group.get("data") or {}).get("nodes") or [], outer or node_id)
    return found
