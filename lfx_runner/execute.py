"""Runs one flow with lfx in the current process and describes what came out, as plain JSON."""

import asyncio
import resource
import sys
import time
import uuid
from collections.abc import Mapping
from typing import Any

from lfx.graph import Graph
from lfx.run._defaults import apply_run_defaults

from lfx_runner.values import plain

MAX_CHAIN = 12
INPUT_TYPES = (("ChatInput", "input_value"), ("TextInput", "input_value"), ("Webhook", "data"))


def run_flow(request: Mapping[str, Any]) -> dict[str, Any]:
    """Run `request["flow"]` (nodes and edges) and return output, outputs, nodes, metrics and failure.

    Never raises for a failing flow: the failure is the chain of exceptions, outermost first, and the node.
    """
    started = time.perf_counter()
    run = _Run(request["flow"], request.get("text"), request.get("session"))
    failure: dict[str, Any] | None = None
    try:
        asyncio.run(run.execute())
    except (Exception, SystemExit, KeyboardInterrupt, asyncio.CancelledError) as error:  # noqa: BLE001 - a run's result
        failure = {"node": run.failed_node(error), "chain": exception_chain(error)}
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)
    nodes = run.node_values() if failure is None or request.get("want_nodes") else {}
    return {
        "output": run.output(nodes) if failure is None else None,
        "outputs": run.outputs(nodes) if failure is None else {},
        "nodes": nodes if request.get("want_nodes") else {},
        "metrics": {"seconds": seconds, "peak_mb": round(peak, 1), **run.usage()},
        "failure": failure,
    }


def exception_chain(error: BaseException) -> list[dict[str, str]]:
    """The exception, what caused it and so on, outermost first: class name, message, and how each was linked."""
    chain: list[dict[str, str]] = []
    current: BaseException | None = error
    link = "raised"
    seen: set[int] = set()
    while current is not None and len(chain) < MAX_CHAIN and id(current) not in seen:
        seen.add(id(current))
        kind = type(current)
        chain.append({"type": f"{kind.__module__}.{kind.__qualname__}", "message": _text_of(current), "link": link})
        if isinstance(current, BaseExceptionGroup):
            current, link = current.exceptions[0], "cause"
        elif current.__cause__ is not None:
            current, link = current.__cause__, "cause"
        else:
            current, link = (None if current.__suppress_context__ else current.__context__), "context"
    return chain


def _text_of(error: BaseException) -> str:
    try:
        return str(error)[:4000]
    except Exception:  # noqa: BLE001 - an exception's own __str__ may fail
        return ""


class _Run:
    """One flow, from its JSON to its results."""

    def __init__(self, flow: Mapping[str, Any], text: str | None, session: str | None) -> None:
        self._flow = flow
        self._text = text
        self._session = session or uuid.uuid4().hex
        self._graph: Graph | None = None
        self._building: list[str] = []

    async def execute(self) -> None:
        graph = Graph.from_payload(dict(self._flow), flow_id=str(uuid.uuid4()), instantiate_components=False)
        for vertex in graph.vertices:
            self._building = [vertex.id]
            vertex.instantiate_component(graph.user_id)
        self._building = []
        graph._set_cache_to_vertices_in_cycle()  # lfx does both after instantiating
        graph._set_cache_if_listen_notify_components()
        self._graph = graph
        self._watch(graph)
        apply_run_defaults(graph, session_id=self._session, user_id=None)
        self._set_input(graph)
        await graph.arun(
            inputs=[{}], inputs_components=[[]], types=["chat"], outputs=[], session_id=self._session
        )  # fmt: skip

    def _set_input(self, graph: Graph) -> None:
        """Give the text to the chat inputs, or else the text inputs, or else the webhooks."""
        if self._text is None:
            return
        for kind, field in INPUT_TYPES:
            vertices = [vertex for vertex in graph.vertices if vertex.data.get("type") == kind]
            for vertex in vertices:
                vertex.update_raw_params({field: self._text}, overwrite=True)
            if vertices:
                return

    def _watch(self, graph: Graph) -> None:
        """Remember which nodes failed to build."""
        build = graph.build_vertex

        async def build_vertex(vertex_id: str, **options: Any) -> Any:
            try:
                return await build(vertex_id, **options)
            except BaseException:
                self._building.append(vertex_id)
                raise

        graph.build_vertex = build_vertex

    def failed_node(self, error: BaseException) -> str | None:
        """The id of the node that `error` came from, where that is known."""
        if not self._building:
            return None
        first = self._building[0]
        if self._graph is None:
            return first
        wrapper = "Error building Component "
        names = [entry["message"] for entry in exception_chain(error) if entry["message"].startswith(wrapper)]
        if not names:
            return first
        # A node may fail while another one pulls its result: the innermost wrapper names it.
        inner = names[-1][len(wrapper) :].partition(":")[0].strip()
        named = [vertex.id for vertex in self._graph.vertices if vertex.display_name == inner]
        return first if first in named or len(named) != 1 else named[0]

    def node_values(self) -> dict[str, Any]:
        """What each node that ran gave: one value, or several by output name."""
        values: dict[str, Any] = {}
        for vertex in self._graph.vertices if self._graph is not None else ():
            results = {name: value for name, value in vertex.results.items() if name != "component_as_tool"}
            if not vertex.built or not (results := results or dict(vertex.results)):
                continue
            if len(results) == 1:
                values[vertex.id] = plain(next(iter(results.values())))
            else:
                values[vertex.id] = {name: plain(value) for name, value in results.items()}
        return values

    def outputs(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values of the output nodes and of every node that nothing follows."""
        if self._graph is None:
            return {}
        sources = {edge.source_id for edge in self._graph.edges}
        return {
            vertex.id: values[vertex.id]
            for vertex in self._graph.vertices
            if vertex.id in values and (vertex.is_output or vertex.id not in sources)
        }

    def output(self, values: Mapping[str, Any]) -> str | None:
        """The text of the chat output that ran; of several, in the flow's order, one text a paragraph."""
        if self._graph is None:
            return None
        texts = [
            value if isinstance(value, str) else str(value)
            for vertex in self._graph.vertices
            if vertex.data.get("type") == "ChatOutput" and (value := values.get(vertex.id)) is not None
        ]
        return "\n\n".join(texts) if texts else None

    def usage(self) -> dict[str, int]:
        """Tokens that the nodes reported, and how many nodes reported any."""
        spent = [
            vertex.result.token_usage
            for vertex in (self._graph.vertices if self._graph is not None else ())
            if vertex.result is not None and vertex.result.token_usage is not None
        ]
        return {
            "input_tokens": sum(usage.input_tokens or 0 for usage in spent),
            "output_tokens": sum(usage.output_tokens or 0 for usage in spent),
            "model_calls": len(spent),
        }
