"""The smallest fix of an attempt whose flow does not do what it must."""

from __future__ import annotations

from evals.attempt import Attempt
from evals.case import Case
from evals.evaluators.resolved import missed
from evals.players import Stage
from evals.probing import benched
from evals.reading import read_flow
from evals.scenario import Scenario
from evals.smallest import TRIES, SmallestFix, smallest_fix
from evals.unmet import unmet
from flows.checks import check
from flows.document import Flow


async def fix_of(scenario: Scenario, attempt: Attempt, stage: Stage, *, tries: int = TRIES) -> SmallestFix | None:
    """The fewest changes of the flow that an attempt left with which it passes its probes, expectations and checks.

    Args:
        scenario: as its file says it.
        attempt: what was played.
        stage: what probes run on.
        tries: how many flows to try at most.

    Returns:
        The fix; None when the flow is right as it is, was never made, or has no right one to compare with.
    """
    async with benched(scenario, attempt, stage) as bench:
        texts = [text for text in (bench.scenario.reference, *bench.scenario.alternatives) if text is not None]
        made = bench.attempt.flow
        if made is None or made.is_empty or not texts:
            return None

        async def passes(flow: Flow) -> bool:
            tried = await bench.with_flow(flow)
            case = Case(bench.scenario, tried, stage.catalogue)
            return (
                not any(fault.is_error for fault in check(flow, stage.catalogue))
                and not any(missed(probe, runs) for probe, runs in case.probed)
                and next(iter(unmet(case)), None) is None
            )

        if await passes(made):
            return None
        right = [read_flow(text, stage.catalogue) for text in texts]
        return await smallest_fix(made, right, stage.catalogue, passes, tries=tries)
