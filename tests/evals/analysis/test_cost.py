"""What attempts cost, and the ceiling that stops a play."""

from decimal import Decimal

import pytest
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.usage import RequestUsage, RunUsage

from agent.turn.request import TurnRequest
from agent.turn.result import TurnResult
from evals.analysis.cost import Ceiling, cost, priced, total
from evals.attempt import Attempt
from evals.play.attempts import play
from evals.play.environment import PlayEnvironment
from evals.players.function import FunctionPlayer
from evals.score import score_attempt
from flows.catalogue import Catalogue
from flows.document import Flow
from scripts.cassettes import WIRES, cassettes, played, wire_of
from tests.evals.conftest import scenario_named

EMPTY = Flow.empty()
WIRE = "anthropic_build_and_run"


def turn(usage: dict[str, RunUsage], answers: list[RequestUsage] | None = None) -> TurnResult:
    """A turn that took something."""
    messages = [
        ModelResponse(parts=[TextPart("done")], usage=one, model_name="m", provider_name="openai")
        for one in answers or []
    ]
    return TurnResult(
        outcome="complete",
        intent="question",
        text="done",
        before=EMPTY,
        after=EMPTY,
        usage=usage,
        messages=list(messages),
        seconds=0.1,
    )


def spent(tokens: int, dollars: str | None) -> RunUsage:
    """Tokens, and what they cost."""
    return RunUsage(requests=1, input_tokens=tokens, cost=None if dollars is None else Decimal(dollars))


def attempt(*turns: TurnResult) -> Attempt:
    """An attempt of these turns."""
    return Attempt(scenario="echo", digest="d", player="openai:m", turns=list(turns), asked=list(range(len(turns))))


def test_the_cost_is_that_of_all_phases_and_turns_but_not_of_the_flows_own_models() -> None:
    first = turn({"intent": spent(10, "0.001"), "main": spent(100, "0.02"), "flow": spent(9, "5")})
    both = attempt(first, turn({"intent": RunUsage(), "main": spent(50, "0.01")}))
    assert cost(both) == pytest.approx(0.031)
    assert cost(Attempt.model_validate_json(both.model_dump_json())) == cost(both)


def test_an_unknown_price_is_none_and_never_zero() -> None:
    assert cost(attempt(turn({"main": spent(10, None)}))) is None
    assert cost(attempt(turn({"intent": spent(1, "0.1"), "main": spent(10, None)}))) is None
    assert cost(attempt(turn({}))) is None
    unpriced = RequestUsage(input_tokens=7)
    known = RequestUsage(input_tokens=3, cost=Decimal("0.1"))
    assert cost(attempt(turn({"main": spent(10, "0.1")}, [known, unpriced]))) is None
    assert cost(attempt(turn({"main": spent(10, "0.1")}, [known]))) == pytest.approx(0.1)


def test_a_sum_with_an_unknown_part_is_unknown() -> None:
    assert total([0.1, 0.2]) == pytest.approx(0.3)
    assert total([0.1, None]) is None
    assert total([]) is None


@pytest.mark.parametrize(
    ("model", "known"),
    [("anthropic:claude-sonnet-4-6", True), ("anthropic", True), ("openai:gpt-nonesuch", False), ("demo", False)],
)
def test_it_is_known_before_playing_whether_a_model_has_a_price(model: str, known: bool) -> None:
    assert priced(model) is known


@pytest.mark.engine
@pytest.mark.anyio
async def test_what_a_real_provider_s_answers_cost_is_known(monkeypatch: pytest.MonkeyPatch, warm_engine: None) -> None:
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    for variable in {variable for wire in WIRES.values() for variable in wire.environment}:
        monkeypatch.setenv(variable, "")
    with cassettes().use_cassette(f"{WIRE}.yaml"):
        result = await played(wire=wire_of(WIRE))
    spent = {phase: usage.cost for phase, usage in result.usage.items()}
    assert set(spent) == {"intent", "main"}
    assert cost(attempt(result)) == pytest.approx(float(sum(part for part in spent.values() if part)))
    assert all(part is not None and part > 0 for part in spent.values())


def test_a_verdict_carries_the_cost_as_a_measurement(catalogue: Catalogue) -> None:
    scenario = scenario_named("question-count")
    one = attempt(turn({"main": spent(100, "0.25")})).model_copy(update={"scenario": scenario.id})
    assert score_attempt(scenario, one, catalogue).measured.cost == pytest.approx(0.25)


@pytest.mark.anyio
async def test_nothing_more_begins_once_the_ceiling_is_reached(environment: PlayEnvironment) -> None:
    async def answer(_: TurnRequest) -> TurnResult:
        return turn({"main": spent(1_000, "0.4")})

    echo, player = scenario_named("echo"), FunctionPlayer(answer, "python:dear")
    ceiling = Ceiling(1.0)
    first = await play([echo], player, environment, repeats=5, concurrency=1, ceiling=ceiling)
    assert [one.repeat for one in first] == [0, 1, 2]
    assert ceiling.spent == pytest.approx(1.2)
    keys = {one.key for one in first}
    rest = await play([echo], player, environment, repeats=5, concurrency=1, ceiling=Ceiling(9), skip=keys)
    assert [one.repeat for one in rest] == [3, 4]


@pytest.mark.anyio
async def test_a_ceiling_that_is_reached_already_plays_nothing(environment: PlayEnvironment) -> None:
    async def answer(_: TurnRequest) -> TurnResult:
        raise AssertionError

    assert await play([scenario_named("echo")], FunctionPlayer(answer, "x"), environment, ceiling=Ceiling(0)) == []
