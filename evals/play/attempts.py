"""Playing: scenarios in, attempts out. Failures of the player, and of the harness, are recorded in the attempt."""

import asyncio
import contextlib
import json
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter

from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded, TurnError, TurnResult
from evals.analysis.cost import Ceiling
from evals.attempt import AgentIdentity, Attempt, Key, StopReason, tokens_of
from evals.behaviours.expansion import BadInputs
from evals.behaviours.outcomes import Behaviour
from evals.behaviours.own_runs import EngineCrashed, own_runs
from evals.behaviours.running import Engine, compare_behaviours, learn_probes
from evals.behaviours.written import FILE_CHARACTERS
from evals.play.addresses import with_addresses, with_other_addresses
from evals.play.environment import PlayEnvironment
from evals.play.flow_models import with_models
from evals.play.probes import PROBE_SECONDS, open_rerun, run_probes
from evals.play.simulated_user import SimulatedUser
from evals.play.stub_services import serve
from evals.play.user_components import UserComponentType, make_user_components, save_user_components
from evals.play.workers import for_each
from evals.players.player import (
    Agent,
    AgentFailed,
    ClosableAgent,
    IdentifiedAgent,
    Player,
    Unplayable,
    WithoutEngine,
)
from evals.scenario import Scenario
from evals.scenarios.flows import BadFlow, read_named
from evals.user_evaluators import UserEvaluator, with_user_scores
from flows.document import Flow
from flows.fields.keys import without_keys
from runtime.components.store import UserComponentError
from runtime.files.names import FileRefused
from runtime.files.store import UserFiles
from runtime.options import RunOptions
from runtime.results import RunResult
from tools.workbench import wait_for_runner

ATTEMPT_SECONDS = 120.0
"""How long the turns of one attempt may take together."""

ATTEMPT_TOKENS = 500_000
"""How many tokens the models of one attempt may take before it is stopped."""

READY_SECONDS = 120.0
"""How long probes wait for an engine that is not ready yet."""

REASON_CHARACTERS = 300
"""How much of an exception of the agent is recorded."""

APPROVALS = 8
"""How many requests for approval one message may lead to before the attempt continues."""

OnAttempt = Callable[[Attempt], Awaitable[None]]


class HarnessError(Exception):
    """The harness cannot play an attempt; the message is what the attempt records."""


@dataclass(frozen=True, kw_only=True)
class AttemptLimits:
    """The limits of one attempt; reaching one ends it, and what was played until then is scored.

    Attributes:
        seconds: for its turns together.
        tokens: of the models that play, in and out; checked after every turn.
    """

    seconds: float = ATTEMPT_SECONDS
    tokens: int = ATTEMPT_TOKENS


async def play(
    scenarios: Sequence[Scenario],
    player: Player,
    environment: PlayEnvironment,
    *,
    repeats: int = 1,
    concurrency: int = 2,
    limits: AttemptLimits | None = None,
    ceiling: Ceiling | None = None,
    skip: Collection[Key] = (),
    evaluators: Sequence[UserEvaluator] = (),
    on_attempt: OnAttempt | None = None,
) -> list[Attempt]:
    """Play every scenario.

    Args:
        concurrency: how many attempts run at the same time.
        ceiling: what all of them may cost; once it is reached, no further attempt begins.
        evaluators: of the user's own; their scores are recorded in the attempts.
        skip: the keys of attempts that exist already, as when a play is resumed.

    Returns:
        The attempts that were played, by scenario and repeat, in the given order.
    """
    wanted = [
        (scenario, repeat)
        for scenario in scenarios
        for repeat in range(repeats)
        if Key(scenario.id, scenario.digest, repeat, player.name, environment.versions) not in skip
    ]
    done: dict[tuple[str, int], Attempt] = {}

    async def play_one(item: tuple[Scenario, int]) -> None:
        scenario, repeat = item
        if ceiling is not None and ceiling.reached:
            return
        played = await play_attempt(scenario, player, environment, repeat=repeat, limits=limits)
        attempt = await asyncio.to_thread(with_user_scores, scenario, played, environment.catalogue, evaluators)
        done[scenario.id, repeat] = attempt
        if ceiling is not None:
            ceiling.count(attempt)
        if on_attempt is not None:
            await on_attempt(attempt)

    await for_each(wanted, play_one, concurrency)
    return [done[scenario.id, repeat] for scenario, repeat in wanted if (scenario.id, repeat) in done]


async def play_attempt(
    scenario: Scenario,
    player: Player,
    environment: PlayEnvironment,
    *,
    repeat: int = 0,
    limits: AttemptLimits | None = None,
) -> Attempt:
    """Play a scenario once.

    Whatever goes wrong in the agent ends the attempt with a turn whose outcome is `error`, and the attempt fails; what
    goes wrong in the harness, its own runs of the flow among it, is recorded as `harness_error`, and the attempt is not
    judged.
    """
    started = perf_counter()
    record = _Record()
    problem: str | None = None
    try:
        await _play(scenario, player, replace(environment, repeat=repeat), record, _limits(limits, environment))
    except (HarnessError, EngineCrashed, Unplayable, BadFlow, BadInputs) as error:
        problem = str(error)
    except Exception as error:  # noqa: BLE001  (other attempts are still played)
        problem = f"{type(error).__name__}: {error}"
    return Attempt(
        scenario=scenario.id,
        digest=scenario.digest,
        repeat=repeat,
        player=player.name,
        versions=environment.versions,
        seconds=perf_counter() - started,
        harness_error=problem,
        without_engine=isinstance(player, WithoutEngine),
        **vars(record),
    )


@dataclass
class _Record:
    """The fields of an `Attempt` so far."""

    services: dict[str, str] = field(default_factory=dict[str, str])
    turns: list[TurnResult] = field(default_factory=list[TurnResult])
    asked: list[int] = field(default_factory=list[int])
    components: list[UserComponentType] = field(default_factory=list[UserComponentType])
    files: dict[str, str] = field(default_factory=dict[str, str])
    requested: dict[int, RunResult] = field(default_factory=dict[int, RunResult])
    probes: list[RunResult] = field(default_factory=list[RunResult])
    written: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    behaviours: list[Behaviour] = field(default_factory=list[Behaviour])
    agent: AgentIdentity | None = None
    stopped: StopReason | None = None

    def add(self, message: int, result: TurnResult) -> None:
        """Add the result of a turn that belongs to a message, by its number from 0."""
        self.asked.append(message)
        self.turns.append(result)


async def _play(
    scenario: Scenario, player: Player, environment: PlayEnvironment, record: _Record, limits: AttemptLimits
) -> None:
    given, plain = scenario, environment
    async with serve(scenario.services) as addresses:
        record.services, digest = addresses, scenario.digest
        scenario = with_addresses(scenario, addresses)
        modelled = with_models(environment.runner, scenario.models)
        runner = environment.runner if scenario.keyless else modelled
        made = await make_user_components(scenario.components, environment.runner)
        record.components = list(made.types)
        environment = replace(environment, runner=runner, digest=digest, services=addresses, user_components=made)
        user = f"eval-{secrets.token_hex(4)}"  # nothing is shared with an earlier play
        await asyncio.to_thread(_set_up_user, scenario, environment.settings.data, user)
        try:
            async with asyncio.timeout(limits.seconds):
                agent = player.prepare(scenario, environment)
                async with _closing(agent):
                    try:
                        await _turns(scenario, agent, user, environment, record, limits)
                    finally:
                        record.agent = agent.identity if isinstance(agent, IdentifiedAgent) else None
        except TimeoutError:
            record.stopped = "timeout"
        record.files = await asyncio.to_thread(_expected_files, scenario, UserFiles(environment.settings.data, user))
        if record.stopped is None:
            plain = replace(plain, runner=own_runs(plain.runner))
            await _probes(scenario, replace(environment, runner=own_runs(modelled)), record)
            engine = Engine(runner=plain.runner, catalogue=environment.component_types, known=plain.behaviours)
            learn_probes(given, record.turns[-1].flow, record.probes, engine)
            record.behaviours = await compare_behaviours(given, record.turns[-1].flow, engine, addresses)
            await _requested(given, plain, record, UserFiles(environment.settings.data, user))


def _limits(given: AttemptLimits | None, environment: PlayEnvironment) -> AttemptLimits:
    limits = given or AttemptLimits()
    return replace(limits, seconds=limits.seconds * environment.patience)


@contextlib.asynccontextmanager
async def _closing(agent: Agent) -> AsyncGenerator[None]:
    """Close what an agent has opened, such as the database of what its runs remember."""
    try:
        yield
    finally:
        if isinstance(agent, ClosableAgent):
            await agent.aclose()


async def _turns(
    scenario: Scenario, agent: Agent, name: str, environment: PlayEnvironment, record: _Record, limits: AttemptLimits
) -> None:
    user = SimulatedUser(scenario, secrets.token_hex(8), name, environment.user_components.sources)
    canvases, started = _canvases(scenario, environment), perf_counter()
    for number, canvas in enumerate(canvases):
        request = user.message(number, record.turns[-1].flow if canvas is None else canvas)
        for _ in range(APPROVALS + 1):
            try:
                result = await _turn(agent, request)
            except AgentFailed as failed:
                record.add(number, _broken_off(request, "agent_failed", str(failed)))
                return
            except asyncio.CancelledError:
                record.add(number, _broken_off(request, "timeout", "the time was up"))
                raise
            record.add(number, result)
            if perf_counter() - started > limits.seconds:
                raise TimeoutError  # an agent that blocks the event loop is not interrupted, but it is late
            if (tokens_of(record.turns) or 0) > limits.tokens:
                record.stopped = "tokens"
                return
            if result.outcome != "pending" or not result.approvals:
                break
            request = user.approval_answers(result)


def _canvases(scenario: Scenario, environment: PlayEnvironment) -> list[Flow | None]:
    """The canvas that the user sets before each message; None keeps the flow that the message before led to.

    Raises:
        BadFlow: naming the text that does not build, and why a component of the scenario is left out.
    """
    try:
        edits = [
            None
            if turn.edit is None
            else read_named(f"the edit before message {number}", turn.edit, environment.component_types)
            for number, turn in enumerate(scenario.turns, start=1)
        ]
        canvas = (
            Flow.empty()
            if scenario.canvas is None
            else read_named("the canvas", scenario.canvas, environment.component_types)
        )
    except BadFlow as bad:
        raise BadFlow(
            " ".join([str(bad), *(f"(own component: {fault.message})" for fault in environment.user_components.faults)])
        ) from None
    return [edits[0] or canvas, *edits[1:]]


def _set_up_user(scenario: Scenario, data: Path, user: str) -> None:
    """Give the user the scenario's files and components."""
    try:
        save_user_components(scenario.components, data, user)
    except UserComponentError as refused:
        raise HarnessError(f"a component of the scenario cannot be saved: {refused.message}") from None
    folder = UserFiles(data, user)
    for path, content in scenario.files.items():
        try:
            folder.write(path, content)
        except FileRefused as refused:
            raise HarnessError(f"the file {path} of the scenario cannot be written: {refused}") from None


def _expected_files(scenario: Scenario, folder: UserFiles) -> dict[str, str]:
    """The content of the files that the scenario has expectations of; missing files and binary ones are left out."""
    found: dict[str, str] = {}
    for path in scenario.expect.files:
        with contextlib.suppress(FileRefused):
            found[path] = folder.read(path)[:FILE_CHARACTERS]
    return found


async def _turn(agent: Agent, request: TurnRequest) -> TurnResult:
    """The result of a turn.

    Raises:
        AgentFailed: it raised an exception, or ended without a result.
        Unplayable: the player cannot continue, for a reason of its own.
    """
    result: TurnResult | None = None
    try:
        async with agent.turn(request) as events:
            async for event in events:
                if isinstance(event, TurnEnded):
                    result = event.result
    except (AgentFailed, Unplayable):
        raise
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise  # the time is up, or the play is stopped
        raise AgentFailed("it raised CancelledError") from error
    except (KeyboardInterrupt, GeneratorExit):
        raise  # the play is stopped
    except BaseException as error:  # what an agent's library raises need not be an Exception, and is the agent's
        raise AgentFailed(f"it raised {type(error).__name__}: {_error_text(error)}") from error
    if result is None:
        raise AgentFailed("it ended without a result")
    return result


def _error_text(error: BaseException) -> str:
    """The words of an agent's exception, without keys; its class may be the agent's too."""
    try:
        return without_keys(str(error))[:REASON_CHARACTERS]
    except Exception:  # noqa: BLE001  (whatever `__str__` raises)
        return "(it does not say what)"


def _broken_off(request: TurnRequest, code: str, message: str) -> TurnResult:
    """The result of a turn that its agent did not bring to an end: the canvas is as it was."""
    canvas = request.flow or Flow.empty()
    error = TurnError(code=code, message=message)
    return TurnResult(
        outcome="error", intent="build_flow", text="", before=canvas, after=canvas, seconds=0, error=error
    )


async def _requested(scenario: Scenario, environment: PlayEnvironment, record: _Record, files: UserFiles) -> None:
    """Make the runs that messages ask for, from a fresh start: services that count their failures begin anew."""
    if not any(turn.run for turn in scenario.turns):
        return
    played = Attempt(scenario=scenario.id, digest=scenario.digest, player="", **vars(record))
    async with open_rerun(scenario, played, environment) as rerun:
        results = await rerun.requested_runs(rerun.attempt, RunOptions(timeout=PROBE_SECONDS, files=files))
        for number, result in results.items():
            text = json.dumps(result.to_json(), ensure_ascii=False)
            there = with_other_addresses(text, rerun.attempt.services, record.services)
            record.requested[number] = RunResult.from_json(json.loads(there))


async def _probes(scenario: Scenario, environment: PlayEnvironment, record: _Record) -> None:
    flow = record.turns[-1].flow
    if flow.is_empty or not scenario.probes:
        return
    unavailable = await wait_for_runner(environment.runner, READY_SECONDS)
    if unavailable is not None:
        raise HarnessError(f"no probe was run: {unavailable.message}")
    made = await run_probes(scenario, flow, environment.runner, RunOptions(timeout=PROBE_SECONDS))
    record.probes, record.written = made.results, made.written
