"""Building flows of 10, 100 and 1,000 nodes from spec text, beside the engine's own builder; and checking 1,000."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.engine import Engine, line
from benchmarks.specs import chain
from flows.catalogue import Catalogue
from flows.checks import check
from flows.diff import diff
from flows.document import Flow
from flows.fingerprints import fingerprint
from flows.layout.layers import layout
from flows.spec import build

ROUNDS = {10: 20, 100: 6, 1_000: 1}
"""How many turns each side has with a flow of so many nodes."""
BURST = {10: 20, 100: 4, 1_000: 1}
"""How often a flow is built in one turn, of which the fastest counts: the others were disturbed by something else."""
WARM = {10: 15, 100: 3, 1_000: 1}
"""Turns before those that count, for both sides, until neither gets faster any more."""
IMPORTS = 15


def measure(catalogue: Catalogue, lfx: Engine) -> list[str]:
    """Build by turns and compare the medians of each turn's fastest; then what grows with a flow, and the import."""
    lines: list[str] = []
    each: dict[int, float] = {}
    for nodes, rounds in ROUNDS.items():
        text = chain(nodes)
        build(text, catalogue)
        lfx.do(do="build", spec=text)
        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(rounds + WARM[nodes]):
            ours.append(min(timed(partial(_document, text, catalogue)) for _ in range(BURST[nodes])))
            theirs.append(min(lfx.do(do="build", spec=text) for _ in range(BURST[nodes])))
        ours, theirs = ours[WARM[nodes] :], theirs[WARM[nodes] :]
        each[nodes] = median(ours) / nodes
        target = "target: at most 0.5" if nodes == 10 else "target: at most 1"
        lines.append(line(f"spec build of {nodes:,} nodes, to JSON", ours, theirs, target))
    growth = each[1_000] / each[10]
    lines.append(
        f"build, for each node: {each[10]:.3f} ms of 10, {each[1_000]:.3f} ms of 1,000 (ratio {growth:.2f},"
        " target: under 1.5)"
    )
    return [*lines, *whole(catalogue), imported()]


def whole(catalogue: Catalogue) -> list[str]:
    """What is done to a whole flow: of 100 and of 1,000 nodes, read afresh each time."""

    def changed(flow: Flow) -> object:
        return diff(flow, Flow.from_json({**flow.to_json(), "name": "Other"}))

    works = {
        "check": lambda flow: check(flow, catalogue),
        "layout": layout,
        "fingerprint": fingerprint,
        "diff": changed,
    }
    documents = {nodes: made(chain(nodes), catalogue).to_json() for nodes in (100, 1_000)}
    lines: list[str] = []
    for name, work in works.items():
        small, large = (_median_on_fresh(work, document) for document in documents.values())
        lines.append(f"{name:<12} of 100 nodes {small:7.2f} ms, of 1,000 {large:8.2f} ms (ratio {large / small:.1f})")
    return lines


def _median_on_fresh(work: Callable[[Flow], object], document: dict[str, Any]) -> float:
    flows = [Flow.from_json(document) for _ in range(7)]
    return median(timed(partial(work, flow)) for flow in flows)


def imported() -> str:
    """`import flows`, and everything that it offers, each time in a process of its own, from compiled files."""
    lines = ["from time import perf_counter", "began = perf_counter()", "import flows", "alone = perf_counter()"]
    lines += ["for name in flows.__all__: getattr(flows, name)", "whole = perf_counter()"]
    lines += ["print((alone - began) * 1000, (whole - began) * 1000)"]
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    runs: list[list[float]] = []
    with tempfile.TemporaryDirectory() as compiled:
        environment = {**kept, "PYDANTIC_DISABLE_PLUGINS": "__all__", "PYTHONPYCACHEPREFIX": compiled}
        for _ in range(IMPORTS):
            command = [sys.executable, "-c", "\n".join(lines)]
            done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
            runs.append([float(figure) for figure in done.stdout.split()])
    alone, every = (median(run[at] for run in runs[1:]) for at in (0, 1))
    return f"import flows: {alone:.0f} ms, with every public name {every:.0f} ms (target: under 150)"


def _document(text: str, catalogue: Catalogue) -> object:
    return made(text, catalogue).to_json()


def made(text: str, catalogue: Catalogue) -> Flow:
    """The flow of a spec that must build."""
    flow = build(text, catalogue).flow
    assert flow is not None
    return flow


def timed(work: Callable[[], object]) -> float:
    """How many milliseconds something takes."""
    started = perf_counter()
    work()
    return (perf_counter() - started) * 1000
