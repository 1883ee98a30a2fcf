"""What is done to a flow grows with its nodes and not faster; counted in calls, as times are no test."""

import gc
import sys
from collections.abc import Callable, Iterator
from functools import cache

import pytest

from benchmarks.specs import chain
from flows.catalogue import Catalogue
from flows.checks import check
from flows.diff import diff
from flows.document import Flow
from flows.fingerprints import fingerprint
from flows.gc_pause import collection_paused
from flows.layout.layers import layout
from flows.spec import build, to_spec


@pytest.fixture
def collecting() -> Iterator[None]:
    """Leave the collector as it was."""
    was = gc.isenabled()
    yield
    (gc.enable if was else gc.disable)()


@cache
def flow_of(nodes: int, catalogue: Catalogue) -> Flow:
    flow = build(chain(nodes), catalogue).flow
    assert flow is not None
    return Flow.from_json(flow.to_json())


def calls(work: Callable[[], object]) -> int:
    """How many Python functions a piece of work calls."""
    count = 0

    def counted(_frame: object, _event: str, _argument: object) -> None:
        nonlocal count
        count += 1

    before = sys.gettrace()
    sys.settrace(counted)  # called only for calls of Python functions, as it returns no tracer of their lines
    try:
        work()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("name", ["build", "check", "layout", "fingerprint", "diff", "to_spec"])
def test_a_node_costs_as_much_in_a_large_flow_as_in_a_small_one(name: str, catalogue: Catalogue):
    def work(nodes: int) -> Callable[[], object]:
        if name == "build":
            return lambda: build(chain(nodes), catalogue)
        flow = flow_of(nodes, catalogue)
        return {
            "check": lambda: check(flow, catalogue),
            "layout": lambda: layout(flow),
            "fingerprint": lambda: fingerprint(flow),
            "diff": lambda: diff(Flow.empty(), flow),
            "to_spec": lambda: to_spec(flow, catalogue),
        }[name]

    work(20)()
    small, large = calls(work(50)) / 50, calls(work(1_000)) / 1_000
    assert large < small * 1.2, (small, large)


def test_the_collector_is_as_it_was_after_a_build(catalogue: Catalogue, collecting: None):
    for switch in (gc.disable, gc.enable):
        switch()
        before = gc.isenabled()
        for text in (chain(10), "nodes:\n  A: Nothing\n", ""):
            build(text, catalogue)
            assert gc.isenabled() is before
        with pytest.raises(ValueError, match="nodes"):
            Flow.from_json({})
        assert gc.isenabled() is before


def test_the_collector_runs_again_when_the_work_fails(collecting: None):
    gc.enable()
    with pytest.raises(RuntimeError), collection_paused():
        assert not gc.isenabled()
        raise RuntimeError
    assert gc.isenabled()
