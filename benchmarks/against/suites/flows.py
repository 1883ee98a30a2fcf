"""The flow layer from Python: loading the catalogue, building, checking, searching and scanning.

All of it only computes. So its processor time is compared, which the load of a shared machine hardly changes.
"""

from benchmarks.against.process import asking, worker
from benchmarks.against.suite import Metric, Suite
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


SUITE = Suite(
    open=worker,
    generations=4,
    metrics=(
        Metric(name="catalogue-load", unit="ms cpu", measure=asking("load", best_of=3), rounds=16, target=30),
        Metric(name="build-10", unit="ms cpu", measure=asking("build", spec=chain(10), best_of=20), rounds=16),
        Metric(name="build-100", unit="ms cpu", measure=asking("build", spec=chain(100), best_of=5), rounds=16),
        Metric(name="build-1000", unit="ms cpu", measure=asking("build", spec=chain(1_000)), rounds=12),
        Metric(
            name="check-1000",
            unit="ms cpu",
            measure=asking("check", spec=chain(1_000), best_of=2),
            rounds=12,
            margin=0.05,
        ),
        Metric(name="search", unit="ms cpu", measure=asking("search", queries=QUERIES), rounds=12, target=1),
        Metric(name="scan", unit="ms cpu", measure=asking("scan", specs=SCANNED, best_of=3), rounds=12),
    ),
)
