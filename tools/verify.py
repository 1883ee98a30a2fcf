"""Verification: a flow is checked, and run with a probe input, before anyone is told that it works."""

import re
from dataclasses import dataclass, replace

from flows.catalogue import Catalogue
from flows.document import Flow
from flows.faults import Fault
from runtime.gateway.models import Budget
from runtime.options import RunOptions
from runtime.results import RunResult
from tools.replies import errors
from tools.workbench import Emits, Workbench

PROBE = "hello"
"""What a verification run types into the chat."""

PROBE_SECONDS = 30.0
"""How long a verification run may take."""

PROBE_BUDGET = Budget(calls=20, tokens=100_000)
"""What the models of a flow may take while it is verified."""

MENDABLE = frozenset({"code", "wiring", "missing_input"})
"""Run errors that another spec can mend; anything else has a cause outside the flow and becomes a caveat."""


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What verifying a flow showed.

    Attributes:
        faults: structural errors; the flow was not run when there are any.
        run: the probe run, when there was one.
        caveat: why the flow could not be run to the end, in words for the user.
    """

    faults: tuple[Fault, ...] = ()
    run: RunResult | None = None
    caveat: str | None = None

    @property
    def mendable(self) -> str | None:
        """What the model should mend, or None when nothing is left for it to do."""
        if self.caveat is not None or self.run is None or self.run.error is None:
            return None
        if self.run.error.code not in MENDABLE:
            return None
        error = self.run.error
        where = f"{error.node}: " if error.node else ""
        return f"- {where}{error.message}{f' Fix: {error.fix}' if error.fix else ''}"


async def verify(ctx: Emits, bench: Workbench, flow: Flow) -> Verification:
    """Check a flow and run it once with a probe, within the budget of a verification.

    Args:
        ctx: takes the progress while the runner is being prepared.
        bench: the turn's catalogue, runner and models; it counts what the run's models took.
        flow: what was built.
    """
    found = errors(bench.check(flow))
    if found:
        return Verification(faults=found)
    unavailable = await bench.runner_obstacle(ctx)
    if unavailable is not None:
        return Verification(caveat=f"It was checked but not run: {unavailable.message}")
    models = bench.models and replace(bench.models, budget=PROBE_BUDGET)
    options = RunOptions(timeout=PROBE_SECONDS, network="gateway-only", models=models)
    run = await bench.runner.execute(flow, PROBE, options)
    bench.count(run)
    if run.error is None:
        return Verification(run=run)
    if run.error.code not in MENDABLE:
        return Verification(run=run, caveat=f"It was checked but could not be run to the end: {run.error.message}")
    apart = ", ".join(sorted({node.display_name for node in flow.nodes if _reaches_out(node.type, bench.catalogue)}))
    if run.error.code == "code" and apart:
        return Verification(run=run, caveat=_APART.format(apart=apart, message=run.error.message))
    return Verification(run=run)


_REACHING = re.compile(
    r"^\s*(?:import|from)\s+(?:requests|httpx|aiohttp|urllib\.request)\b|\bMCP\w*Client\b", re.MULTILINE
)
_APART = (
    "It was checked, and run as far as it goes without the network, which {apart} needs: what follows had nothing real "
    "to work on ({message})"
)


def _reaches_out(type: str, catalogue: Catalogue) -> bool:
    """Whether a component calls addresses outside, which a verification run does not let it reach."""
    known = catalogue.get(type)
    return known is not None and _REACHING.search(known.code) is not None
