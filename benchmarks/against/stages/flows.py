"""The flow layer from Python: loading the catalogue, building, checking, searching and scanning.

All of it only computes. So its processor time is compared, which the load of a shared machine hardly changes.
"""

from functools import partial

from benchmarks.against.process import Worker, worker
from benchmarks.against.stage import Metric, Stage
from benchmarks.searching import labelled
from benchmarks.specs import chain

SCANNED = """name: Scanned
nodes:
  a: ChatInput
  p: Prompt Template
  g: Agent
  s: SplitText
  b: ChatOutput
edges:
  a.message -> p.text
  p.prompt -> g.input_value
  g.response -> s.data_inputs
  s.dataframe -> b.input_value
config:
  p.template: "Say it louder: {text}"
"""
"""A flow whose components' sources are scanned: short ones and long ones."""
QUERIES = [query for queries in labelled().values() for query in queries][::2]


async def load(worker: Worker) -> float:
    """Load the catalogue."""
    return await worker.ask("load", best_of=3)


async def build(worker: Worker, *, nodes: int, best_of: int) -> float:
    """Build a chain from spec text, to JSON."""
    return await worker.ask("build", spec=chain(nodes), best_of=best_of)


async def check(worker: Worker) -> float:
    """Check a chain that was just read."""
    return await worker.ask("check", spec=chain(1_000), best_of=2)


async def search(worker: Worker) -> float:
    """A query, on average over all labelled ones."""
    return await worker.ask("search", queries=QUERIES, best_of=1)


async def scan(worker: Worker) -> float:
    """Scan the source of a component."""
    return await worker.ask("scan", specs=SCANNED, best_of=3)


STAGE = Stage(
    open=worker,
    generations=4,
    metrics=(
        Metric(name="catalogue-load", unit="ms cpu", measure=load, rounds=16),
        Metric(name="build-10", unit="ms cpu", measure=partial(build, nodes=10, best_of=20), rounds=16),
        Metric(name="build-100", unit="ms cpu", measure=partial(build, nodes=100, best_of=5), rounds=16),
        Metric(name="build-1000", unit="ms cpu", measure=partial(build, nodes=1_000, best_of=1), rounds=12),
        Metric(name="check-1000", unit="ms cpu", measure=check, rounds=12, margin=0.05),
        Metric(name="search", unit="ms cpu", measure=search, rounds=12),
        Metric(name="scan", unit="ms cpu", measure=scan, rounds=12),
    ),
)
