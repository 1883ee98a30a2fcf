"""A warm echo run in a child of its own, beside one in the engine's process."""

from time import perf_counter

from benchmarks.engine import Engine, line
from flows.catalogue import Catalogue
from flows.spec import build
from runtime.runner import Runner

ECHO = "name: Echo\nnodes:\n  a: ChatInput\n  b: ChatOutput\nedges:\n  a.message -> b.input_value\n"
ROUNDS = 60


async def measure(runner: Runner, catalogue: Catalogue, lfx: Engine) -> str:
    """Run by turns and compare the medians; ours is measured from call to result."""
    flow = build(ECHO, catalogue).flow
    assert flow is not None
    payload = flow.to_json()
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(ROUNDS):
        started = perf_counter()
        result = await runner.run(flow, "hello")
        ours.append((perf_counter() - started) * 1000)
        assert result.output == "hello", result.error
        theirs.append(lfx.do(do="run", flow=payload, text="hello"))
    return line("warm echo run, in its own child and in process", ours[10:], theirs[10:], "target: at most 2")
