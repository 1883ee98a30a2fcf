"""Settling: what becomes of a proposal."""

import pytest

from agent.turn.settle import settle
from flows.catalogue import Catalogue
from flows.document import Flow
from flows.spec import build
from tests.shared.flow_texts import ECHO


def flow(catalogue: Catalogue) -> Flow:
    built = build(ECHO, catalogue).flow
    assert built is not None
    return built


def test_nothing_proposed_settles_to_nothing(catalogue: Catalogue) -> None:
    canvas = flow(catalogue)
    assert settle(canvas, None, agreed=True).kind == "none"
    assert settle(canvas, None, agreed=True).canvas is canvas


@pytest.mark.parity("ADR-MCP-004", "term-reconcile")
def test_a_proposal_that_was_not_run_is_offered_and_the_canvas_stays(catalogue: Catalogue) -> None:
    settled = settle(Flow.empty(), flow(catalogue), agreed=False)
    assert (settled.kind, settled.canvas, settled.proposal) == ("offered", Flow.empty(), flow(catalogue))


@pytest.mark.parity("term-reconcile")
def test_a_proposal_that_was_run_fills_an_empty_canvas(catalogue: Catalogue) -> None:
    settled = settle(Flow.empty(), flow(catalogue), agreed=True)
    assert (settled.kind, settled.canvas) == ("applied", flow(catalogue))


@pytest.mark.parity("term-merge-flow", "smoke-proposal-add")
def test_a_proposal_that_was_run_joins_the_existing_flow(catalogue: Catalogue) -> None:
    canvas = flow(catalogue)
    settled = settle(canvas, flow(catalogue), agreed=True)
    assert settled.kind == "applied"
    assert settled.canvas.nodes[: len(canvas.nodes)] == canvas.nodes
    assert len(settled.canvas.nodes) == 2 * len(canvas.nodes)
    assert len({node.id for node in settled.canvas.nodes}) == 2 * len(canvas.nodes)
