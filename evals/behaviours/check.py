"""Whether a scenario's inputs are good: right flows agree on all of them, and wrong ones differ on one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from evals.behaviours.derivation import inputs_of
from evals.behaviours.expansion import BadInputs
from evals.behaviours.families import ENOUGH
from evals.behaviours.outcomes import agree
from evals.behaviours.running import Engine, compare_behaviours, outcomes
from evals.scenario import Scenario
from evals.scenarios.flows import read_named


async def check_inputs(scenario: Scenario, engine: Engine) -> list[str]:
    """The faults of a scenario's inputs, in words; none if it declares none.

    Wrong results that behave like the reference are no fault when they are listed (`alike` of the scenario's wrong
    result).
    """
    return [fault async for fault in _faults(scenario, engine)]


async def _faults(scenario: Scenario, engine: Engine) -> AsyncIterator[str]:
    if scenario.inputs is None or scenario.reference is None:
        return
    try:
        inputs = await asyncio.to_thread(inputs_of, scenario, engine.catalogue)
    except BadInputs as bad:
        yield str(bad)
        return
    reference = read_named("the reference", scenario.reference, engine.catalogue)
    wanted = await outcomes(scenario, reference, inputs, engine)
    usable = [(each, outcome) for each, outcome in zip(inputs, wanted, strict=True) if outcome.error is None]
    if len(usable) < ENOUGH:
        failed = next(outcome for outcome in wanted if outcome.error is not None)
        yield f"the reference gives something on {len(usable)} inputs only, on others {failed}"
    for name, text in scenario.right[1:]:
        given = await outcomes(scenario, read_named(name, text, engine.catalogue), inputs, engine)
        for each, one, other in zip(inputs, given, wanted, strict=True):
            if not agree(scenario.inputs, one, other):
                yield f"{name} differs: for {each} it gives {one}, and the reference {other}"
    for number, wrong in enumerate(scenario.wrong, start=1):
        if wrong.flow is None:
            continue
        flow = read_named(f"wrong {number}", wrong.flow, engine.catalogue)
        found = await compare_behaviours(scenario, flow, engine)
        alike = bool(found) and agree(scenario.inputs, found[-1].given, found[-1].wanted)
        if alike and wrong.alike is None:
            yield f"wrong {number} ({wrong.because}) gives what the reference gives on every input"
        if not alike and wrong.alike is not None:
            yield f"wrong {number} is said to behave alike ({wrong.alike}), and differs"
