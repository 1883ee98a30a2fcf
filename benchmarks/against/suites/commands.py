"""The command line: the wall time of a command from start to end."""

import tempfile
from pathlib import Path
from time import perf_counter

from benchmarks.against.process import output_of
from benchmarks.against.side import Side
from benchmarks.against.suite import Metric, Suite
from benchmarks.against.suites.imports import opened
from benchmarks.specs import chain


async def flow_check(side: Side) -> float:
    """`wirewright flow check` of a flow of ten nodes."""
    with tempfile.TemporaryDirectory() as folder:
        flow = Path(folder) / "chain.flow"
        flow.write_text(chain(10), encoding="utf-8")
        started = perf_counter()
        await output_of(side, str(side.wirewright), "flow", "check", str(flow))
        return (perf_counter() - started) * 1000


SUITE = Suite(open=opened, metrics=(Metric(name="flow-check", unit="ms", measure=flow_check, rounds=14),))
