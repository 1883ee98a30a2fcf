"""Playing: scenarios in, attempts out. A failing player is an attempt; a failing harness is an attempt that says so."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from time import perf_counter

from agent.turn import TurnEnded, TurnRequest, TurnResult
from evals.attempt import Attempt
from evals.players import Player, Stage, Turns, Unplayable
from evals.scenario import Scenario
from flows.document import Flow
from flows.spec import build
from runtime.results import RunResult
from tools.workbench import obstacle

ATTEMPT_SECONDS = 120.0
"""How long one attempt may take, its probes included."""

PROBE_SECONDS = 30.0
"""How long one probe may take."""

OnAttempt = Callable[[Attempt], Awaitable[None]]


class HarnessError(Exception):
    """The harness cannot play an attempt; the message is what the attempt records."""


async def play(
    scenarios: Sequence[Scenario],
    player: Player,
    stage: Stage,
    *,
    repeats: int = 1,
    concurrency: int = 2,
    seconds: float = ATTEMPT_SECONDS,
    on_attempt: OnAttempt | None = None,
) -> list[Attempt]:
    """Play every scenario.

    Args:
        scenarios: what is played.
        player: who plays.
        stage: what it is played on.
        repeats: how often each scenario is played.
        concurrency: how many attempts run at the same time.
        seconds: how long one attempt may take.
        on_attempt: told of every attempt as it ends.

    Returns:
        The attempts, by scenario and repeat, in the order given.
    """
    waiting = iter([(scenario, repeat) for scenario in scenarios for repeat in range(repeats)])
    done: dict[tuple[str, int], Attempt] = {}

    async def work() -> None:
        for scenario, repeat in waiting:
            attempt = await attempted(scenario, player, stage, repeat=repeat, seconds=seconds)
            done[scenario.id, repeat] = attempt
            if on_attempt is not None:
                await on_attempt(attempt)

    async with asyncio.TaskGroup() as workers:
        for _ in range(max(1, concurrency)):
            workers.create_task(work())
    return [done[scenario.id, repeat] for scenario in scenarios for repeat in range(repeats)]


async def attempted(
    scenario: Scenario, player: Player, stage: Stage, *, repeat: int = 0, seconds: float = ATTEMPT_SECONDS
) -> Attempt:
    """Play a scenario once; whatever goes wrong in the harness is a value of the attempt."""
    started = perf_counter()
    turns: list[TurnResult] = []
    probes: list[RunResult] = []
    problem: str | None = None
    try:
        async with asyncio.timeout(seconds):
            await _play(scenario, player.seat(scenario, stage), stage, f"{scenario.id}-{repeat}", turns, probes)
    except TimeoutError:
        problem = f"not done within {seconds:g} seconds"
    except (HarnessError, Unplayable) as error:
        problem = str(error)
    except Exception as error:  # noqa: BLE001  (the boundary of an attempt: the others are still played)
        problem = f"{type(error).__name__}: {error}"
    return Attempt(
        scenario=scenario.id,
        digest=scenario.digest,
        repeat=repeat,
        player=player.name,
        build=stage.build,
        turns=turns,
        probes=probes,
        seconds=perf_counter() - started,
        harness_error=problem,
    )


async def _play(
    scenario: Scenario, seat: Turns, stage: Stage, session: str, turns: list[TurnResult], probes: list[RunResult]
) -> None:
    canvas = _canvas(scenario, stage)
    for number, prompt in enumerate(scenario.prompts):
        flow = turns[-1].flow if turns else canvas
        request = TurnRequest(text=prompt, session=session, user="eval", flow=None if flow.is_empty else flow)
        turns.append(await _turn(seat, request, number))
    flow = turns[-1].flow
    if flow.is_empty:
        return
    unavailable = await obstacle(stage.runner, ATTEMPT_SECONDS)
    if unavailable is not None:
        raise HarnessError(f"no probe was run: {unavailable.message}")
    for probe in scenario.probes:
        probes.append(await stage.runner.run(flow, probe.input, timeout=PROBE_SECONDS))  # noqa: PERF401  (kept when a later one fails)


async def _turn(seat: Turns, request: TurnRequest, number: int) -> TurnResult:
    result: TurnResult | None = None
    async with seat.turn(request) as events:
        async for event in events:
            if isinstance(event, TurnEnded):
                result = event.result
    if result is None:
        raise HarnessError(f"turn {number + 1} ended without a result")
    return result


def _canvas(scenario: Scenario, stage: Stage) -> Flow:
    if scenario.canvas is None:
        return Flow.empty()
    built = build(scenario.canvas, stage.catalogue)
    if built.flow is None:
        faults = "; ".join(fault.message for fault in built.faults)
        raise HarnessError(f"the starting canvas does not build: {faults}")
    return built.flow
