"""Runs one flow with lfx in the current process and returns its results as plain JSON."""

import asyncio
import resource
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lfx.graph import Graph
from lfx.run._defaults import apply_run_defaults

from lfx_runner.memory import Memory, use
from lfx_runner.node_events import MAX_ITERATIONS, Emit, Tokens, Watch, watch_with
from lfx_runner.results import logs
from lfx_runner.results.values import Converter
from lfx_runner.stores.files import USER

MAX_CHAIN = 12
INPUT_TYPES = (("ChatInput", "input_value"), ("TextInput", "input_value"), ("Webhook", "data"))


def run_flow(request: Mapping[str, Any], emit: Emit | None = None) -> dict[str, Any]:
    """Run `request["flow"]` (nodes and edges) and return output, outputs, nodes, their types, metrics and failure.

    A request with the `messages` of its session gets back what the run changed of them.
    `emit` is called with each event of the kinds in `request["events"]`. A failing flow does not raise: its failure is
    the chain of exceptions, outermost first, and the node.
    """
    started = time.perf_counter()
    wanted = frozenset(request.get("events") or ())
    watch = Watch(emit if wanted else None, wanted, request.get("max_iterations") or MAX_ITERATIONS)
    messages = request.get("messages")
    session = request.get("session") or uuid.uuid4().hex
    memory = Memory(session, messages or [], frozenset(_chat_inputs(request["flow"])))
    use(memory)
    run = _Run(request["flow"], request.get("text"), session, watch)
    watch_with(watch)
    logs.restart()
    failure: dict[str, Any] | None = None
    try:
        asyncio.run(run.execute())
    except (Exception, SystemExit, KeyboardInterrupt, asyncio.CancelledError) as error:  # noqa: BLE001 - a run's result
        failure = {"node": run.failed_node(error), "chain": exception_chain(error)}
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)
    want_nodes = bool(request.get("want_nodes"))
    nodes, kinds = dict[str, Any](), dict[str, Any]()
    if failure is None or want_nodes:
        try:
            nodes, kinds = run.node_values(Converter().plain), run.node_values(Converter().kind_of)
        except Exception as error:  # noqa: BLE001 - a value may raise whatever it likes when it is looked at
            nodes, failure = {}, failure or {"node": None, "chain": exception_chain(error)}
    return {
        "output": run.output(nodes) if failure is None else None,
        "outputs": run.outputs(nodes) if failure is None else {},
        "nodes": nodes if want_nodes else {},
        "types": kinds if want_nodes else run.outputs(kinds),
        "metrics": {"seconds": seconds, "peak_mb": round(peak, 1), **run.usage()},
        "messages": None if messages is None else memory.changes(),
        "dropped_log_lines": logs.dropped_lines(),
        "failure": failure,
    }


def _chat_inputs(flow: Mapping[str, Any]) -> Iterator[str]:
    """The ids of the chat inputs, also of those inside groups."""
    for node in flow.get("nodes") or ():
        data = node.get("data") or {}
        if data.get("type") == "ChatInput":
            yield str(node.get("id"))
        group = (data.get("node") or {}).get("flow")
        if isinstance(group, dict):
            yield from _chat_inputs(group.get("data") or {})


def exception_chain(error: BaseException) -> list[dict[str, str]]:
    """The exception and its causes, outermost first: class name, message, and the link to the exception before."""
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
    except Exception:  # noqa: BLE001 - the exception's __str__ may fail
        return ""


class _Run:
    """One flow, from its JSON to its results."""

    def __init__(self, flow: Mapping[str, Any], text: str | None, session: str, watch: Watch) -> None:
        self._flow = flow
        self._text = text
        self._session = session
        self._watch = watch
        self._graph: Graph | None = None
        self._building: list[str] = []

    async def execute(self) -> None:
        self._watch.set_flow(self._flow)
        graph = Graph.from_payload(
            dict(self._flow),
            flow_id=str(uuid.uuid4()),
            user_id=USER,
            instantiate_components=False,
            emit_extension_events=False,  # it would try for ten seconds to write them to a file that no run may write
        )
        for vertex in graph.vertices:
            self._building = [vertex.id]
            vertex.instantiate_component(graph.user_id)
        self._building = []
        graph._set_cache_to_vertices_in_cycle()  # as lfx does after instantiating
        graph._set_cache_if_listen_notify_components()
        self._graph = graph
        apply_run_defaults(graph, session_id=self._session, user_id=USER)
        self._set_input(graph)
        await graph.arun(
            inputs=[{}],
            inputs_components=[[]],
            types=["chat"],
            outputs=[],
            session_id=self._session,
            event_manager=Tokens(self._watch) if self._watch.wanted else None,
        )

    def _set_input(self, graph: Graph) -> None:
        """Set the text on the chat inputs, or else the text inputs, or else the webhooks.

        Of several text inputs, those that have a value or are connected keep it.
        """
        if self._text is None:
            return
        for kind, field in INPUT_TYPES:
            vertices = [vertex for vertex in graph.vertices if vertex.data.get("type") == kind]
            for vertex in vertices:
                if kind != "TextInput" or len(vertices) == 1 or not (vertex.params.get(field) or vertex.incoming_edges):
                    vertex.update_raw_params({field: self._text}, overwrite=True)
            if vertices:
                return

    def failed_node(self, error: BaseException) -> str | None:
        """The id of the node that raised `error`, if it is known."""
        failed = self._building or self._watch.failed
        if not failed:
            return None
        first = failed[0]
        if self._graph is None:
            return self._watch.outermost_node(first)
        wrapper = "Error building Component "
        names = [entry["message"] for entry in exception_chain(error) if entry["message"].startswith(wrapper)]
        if not names:
            return self._watch.outermost_node(first)
        # A node may fail while another one requests its result: the innermost wrapper names it.
        inner = names[-1][len(wrapper) :].partition(":")[0].strip()
        named = [vertex.id for vertex in self._graph.vertices if vertex.display_name == inner]
        return self._watch.outermost_node(named[0] if len(named) == 1 and named[0] not in failed else first)

    def node_values(self, form: Callable[[Any], Any]) -> dict[str, Any]:
        """The values of each node that ran, converted by `form`: one value, or several by output name."""
        values: dict[str, Any] = {}
        for vertex in self._graph.vertices if self._graph is not None else ():
            results = {name: value for name, value in vertex.results.items() if name != "component_as_tool"}
            if not vertex.built or not (results := results or dict(vertex.results)):
                continue
            if len(results) == 1:
                values[vertex.id] = form(next(iter(results.values())))
            else:
                values[vertex.id] = {name: form(value) for name, value in results.items()}
        return values

    def outputs(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values of the output nodes and of every node without outgoing edges."""
        if self._graph is None:
            return {}
        sources = {edge.source_id for edge in self._graph.edges}
        return {
            vertex.id: values[vertex.id]
            for vertex in self._graph.vertices
            if vertex.id in values and (vertex.is_output or vertex.id not in sources)
        }

    def output(self, values: Mapping[str, Any]) -> str | None:
        """The text of the chat output that ran; of several, one paragraph each, in the flow's order."""
        if self._graph is None:
            return None
        texts = [
            value if isinstance(value, str) else str(value)
            for vertex in self._graph.vertices
            if vertex.data.get("type") == "ChatOutput" and (value := values.get(vertex.id)) is not None
        ]
        return "\n\n".join(texts) if texts else None

    def usage(self) -> dict[str, int]:
        """The tokens that the nodes reported, and how many nodes reported any."""
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
