"""Watches the nodes of one run: tells when each starts, ends and writes text, and stops a flow that goes in circles."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

from lfx.graph import Graph
from lfx.graph.vertex.base import Vertex, VertexStates

from lfx_runner.protocol import MAX_EVENT, Message, encode, write_all

MAX_ITERATIONS = 1_000
"""Times that one node may be built in a run that does not say otherwise."""
CHUNK = MAX_EVENT // 8
"""Characters of the longest piece of text that one event carries, however much its encoding takes."""

Emit = Callable[[Message], None]
_building: ContextVar[str | None] = ContextVar("building", default=None)


class IterationLimit(RuntimeError):
    """A node was built more often than a run may build one."""


class Watch:
    """What is known of the nodes of the run that this process is for.

    Attributes:
        failed: ids of the nodes that failed, the one where it began first.
    """

    def __init__(self, emit: Emit | None = None, limit: int = MAX_ITERATIONS) -> None:
        """`emit` is given each event; None when nobody asked for them. No node is built more than `limit` times."""
        self.failed: list[str] = []
        self._emit = emit
        self._limit = limit
        self._times: Counter[str] = Counter()
        self._outer: Mapping[str, str] = {}

    def look_at(self, flow: Mapping[str, Any]) -> None:
        """Learn which nodes are inside groups: events name the group, which is what the flow shows."""
        self._outer = dict(_inside(flow.get("nodes") or [], None))

    def shown(self, node: str) -> str:
        """The id of the outermost node that `node` is, or is inside of."""
        return self._outer.get(node, node)

    def began(self, node: str) -> int:
        """A node is about to be built; how many times that makes.

        Raises:
            IterationLimit: when that is too often.
        """
        self._times[node] += 1
        times = self._times[node]
        if times > self._limit:
            raise IterationLimit(f"This node was run {self._limit} times, which is as often as a run allows.")
        self._tell("node_started", node, iteration=times)
        return times

    def ended(self, node: str, iteration: int, seconds: float, *, ok: bool) -> None:
        """A node was built, or failed."""
        self._tell("node_finished", node, iteration=iteration, seconds=round(seconds, 6), ok=ok)

    def wrote(self, text: object) -> None:
        """The node that is being built wrote a piece of its text."""
        node = _building.get()
        if node is not None and isinstance(text, str):
            for start in range(0, len(text), CHUNK):
                self._tell("token", node, text=text[start : start + CHUNK])

    @property
    def wanted(self) -> bool:
        """Whether anybody wants to know."""
        return self._emit is not None

    def _tell(self, kind: str, node: str, **more: Any) -> None:
        if self._emit is not None:
            self._emit({"kind": kind, "node": self.shown(node), **more})


class Tokens:
    """The part of lfx's event manager that tells of text as it is written; every other event is let go."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    def on_token(self, *, data: Any) -> None:
        """A piece of text: lfx gives `{"chunk", "id"}`."""
        self._watch.wrote(data.get("chunk") if isinstance(data, Mapping) else None)

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith("on_") or name == "send_event":
            return _let_go
        raise AttributeError(name)


class Sender:
    """Writes events to a pipe, one a line, until nobody reads it any more. May be called from any thread."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._lock = threading.Lock()
        self._open = True

    def __call__(self, event: Message) -> None:
        """Write one event; it is left out when it is too long, or when the other end has had enough."""
        with self._lock:
            if not self._open:
                return
            line = encode(event)
            if len(line) > MAX_EVENT:
                return
            try:
                write_all(self._pipe, line)
            except OSError:
                self._open = False


_current: Watch | None = None


def watch_with(watch: Watch | None) -> None:
    """Have `watch` told of every node that this process builds from now on, those inside loops included."""
    global _current
    _current = watch


_build_vertex = Graph.build_vertex


async def _watched(self: Graph, vertex_id: str, **options: Any) -> Any:
    watch = _current
    if watch is None or self.get_vertex(vertex_id).state == VertexStates.INACTIVE:
        return await _build_vertex(self, vertex_id, **options)
    token = _building.set(vertex_id)
    started = time.perf_counter()
    iteration = 0
    try:
        iteration = watch.began(vertex_id)
        result = await _build_vertex(self, vertex_id, **options)
    except BaseException:
        watch.failed.append(vertex_id)
        if iteration:
            watch.ended(vertex_id, iteration, time.perf_counter() - started, ok=False)
        raise
    finally:
        _building.reset(token)
    watch.ended(vertex_id, iteration, time.perf_counter() - started, ok=True)
    return result


Graph.build_vertex = _watched


_build_params = Vertex.build_params


def _prepared(self: Vertex) -> None:
    """Reading a node's fields may fail before any node is built: a file that must not be read, for instance."""
    try:
        _build_params(self)
    except BaseException:
        if _current is not None:
            _current.failed.append(self.id)
        raise


Vertex.build_params = _prepared


def _let_go(**_: Any) -> None:
    pass


def _inside(nodes: list[Any], outer: str | None) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for node in nodes:
        own = str(node.get("id"))
        if outer is not None:
            found.append((own, outer))
        group = ((node.get("data") or {}).get("node") or {}).get("flow")
        if isinstance(group, dict):
            found += _inside((group.get("data") or {}).get("nodes") or [], outer or own)
    return found
