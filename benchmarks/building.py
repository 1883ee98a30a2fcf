"""Building flows of 10, 100 and 1,000 nodes from spec text, beside the engine's own builder."""

from statistics import median
from time import perf_counter

from benchmarks.against.process import Worker
from benchmarks.direct_lfx import line
from benchmarks.specs import built, chain
from flows.catalogue import Catalogue

ROUNDS = {10: 20, 100: 6, 1_000: 1}
"""How many rounds count, by the number of nodes."""
WARM = {10: 15, 100: 3, 1_000: 1}
"""Rounds before those that count, for both sides, until neither gets faster any more."""
BURST = {10: 20, 100: 4, 1_000: 1}
"""How often a flow is built in one round, of which the fastest counts: the others were disturbed by something else."""


async def measure(catalogue: Catalogue, lfx: Worker) -> list[str]:
    """Build alternately and compare the medians of each round's fastest; then how the time grows with the flow."""
    lines: list[str] = []
    each: dict[int, float] = {}
    for nodes, rounds in ROUNDS.items():
        spec = chain(nodes)
        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(WARM[nodes] + rounds):
            ours.append(min(_build(spec, catalogue) for _ in range(BURST[nodes])))
            theirs.append(min([await lfx.ask("build", spec=spec) for _ in range(BURST[nodes])]))
        ours, theirs = ours[WARM[nodes] :], theirs[WARM[nodes] :]
        each[nodes] = median(ours) / nodes
        target = "target: at most 0.5" if nodes == 10 else "target: at most 1"
        lines.append(line(f"spec build of {nodes:,} nodes, to JSON", ours, theirs, target))
    growth = each[1_000] / each[10]
    per_node = f"{each[10]:.3f} ms of 10, {each[1_000]:.3f} ms of 1,000"
    return [*lines, f"build, for each node: {per_node} (ratio {growth:.2f}, target: under 1.5)"]


def _build(spec: str, catalogue: Catalogue) -> float:
    started = perf_counter()
    built(spec, catalogue).to_json()
    return (perf_counter() - started) * 1000
