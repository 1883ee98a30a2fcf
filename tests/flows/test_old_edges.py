"""Edges as old versions wrote them: read and kept as they are, and refused just as the engine refuses them."""

from collections.abc import Callable
from typing import Any

import pytest

from flows.catalogue import Catalogue
from flows.checks import check
from flows.describe.summary import canvas_summary, describe_io
from flows.diff import diff
from flows.document import Flow
from flows.merge import merge
from flows.ports import handle_text
from flows.spec import build
from runtime.install.environment import RunnerEnvironment
from runtime.runner import Runner
from tests.shared.flow_texts import LOUDER

Edge = dict[str, Any]


def without_data(edge: Edge) -> None:
    del edge["data"]


def with_empty_data(edge: Edge) -> None:
    edge["data"] = {}


def without_output_name(edge: Edge) -> None:
    del edge["data"]["sourceHandle"]["name"]
    edge["sourceHandle"] = handle_text(edge["data"]["sourceHandle"])


def with_base_classes(edge: Edge) -> None:
    handle = edge["data"]["sourceHandle"]
    handle["baseClasses"] = handle.pop("output_types")
    without_output_name(edge)


def with_bars(edge: Edge) -> None:
    source, target = edge.pop("data").values()
    edge["sourceHandle"] = "|".join([source["dataType"], source["id"], *source["output_types"]])
    edge["targetHandle"] = "|".join([target["type"], target["fieldName"], target["id"]])


OLD: dict[Callable[[Edge], None], tuple[str, str]] = {
    without_data: ("bad_edge", "message"),
    with_empty_data: ("bad_edge", "message"),
    without_output_name: ("unknown_output", ""),
    with_base_classes: ("unknown_output", ""),
    with_bars: ("bad_edge", ""),
}
forms = pytest.mark.parametrize("form", OLD, ids=lambda form: form.__name__)


def written(form: Callable[[Edge], None], catalogue: Catalogue) -> dict[str, Any]:
    """The document of a prompt flow whose edges have an old form."""
    flow = build(LOUDER, catalogue).flow
    assert flow is not None
    document: dict[str, Any] = flow.to_json()
    for edge in document["data"]["edges"]:
        form(edge)
    return document


@forms
def test_old_edge_is_read_and_kept(form: Callable[[Edge], None], catalogue: Catalogue):
    document = written(form, catalogue)
    flow = Flow.from_json(document)
    assert flow.to_json() == document
    assert [edge.target_port for edge in flow.edges] == ["text", "input_value"]
    assert flow.edges[0].source_port == OLD[form][1]
    assert [port.type for port in describe_io(flow).inputs] == ["ChatInput"]
    assert f"-> {flow.edges[0].target}.text" in canvas_summary(flow)
    assert not diff(flow, Flow.from_json(document))


@forms
def test_old_edge_follows_its_nodes_when_flows_are_merged(form: Callable[[Edge], None], catalogue: Catalogue):
    flow = Flow.from_json(written(form, catalogue))
    merged = merge(flow, flow).flow
    count = len(flow.edges)
    for old, new in zip(flow.edges, merged.edges[count:], strict=True):
        assert old.raw.keys() == new.raw.keys()
        text = str(new.raw)
        assert old.source not in text
        assert old.target not in text
        assert (new.source_port, new.target_port) == (old.source_port, old.target_port)


@forms
def test_check_refuses_an_old_edge_once(form: Callable[[Edge], None], catalogue: Catalogue):
    flow = Flow.from_json(written(form, catalogue))
    found = [fault.code for fault in check(flow, catalogue) if fault.is_error]
    assert found == [OLD[form][0]] * len(flow.edges)


@pytest.mark.engine
@pytest.mark.anyio
async def test_the_engine_refuses_old_edges_too(engine: Runner, runner_environment: RunnerEnvironment) -> None:
    whole = Catalogue.load(runner_environment.catalogue)
    for form in OLD:
        result = await engine.run(Flow.from_json(written(form, whole)), "hello")
        assert (form.__name__, result.output, result.ok) == (form.__name__, None, False)
