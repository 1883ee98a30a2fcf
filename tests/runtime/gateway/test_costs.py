"""What the calls of a run cost: as their provider says or by the list of prices, and unknown when a part of it is."""

from decimal import Decimal
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai import ModelResponse
from pydantic_ai.embeddings import EmbeddingResult
from pydantic_ai.usage import RequestUsage

from runtime.gateway.prices import cost_of
from runtime.results import ModelUsage, RunMetrics, RunResult
from runtime.usage.runs import usage_of_run

TOKENS = RequestUsage(input_tokens=1_000_000, output_tokens=1_000_000)
USAGES = st.lists(st.tuples(st.integers(0, 3), st.none() | st.integers(0, 1000)))


def answer(model: str | None, provider: str | None = "openai", usage: RequestUsage = TOKENS) -> ModelResponse:
    return ModelResponse(parts=[], usage=usage, model_name=model, provider_name=provider)


def test_an_answer_costs_what_the_list_of_prices_says() -> None:
    assert cost_of(answer("gpt-4o-mini")) == pytest.approx(0.75)
    vectors = EmbeddingResult(
        embeddings=[[1.0]],
        inputs=["hello"],
        input_type="document",
        model_name="text-embedding-3-small",
        provider_name="openai",
        usage=RequestUsage(input_tokens=1_000_000),
    )
    assert cost_of(vectors) == pytest.approx(0.02)


def test_what_a_provider_says_counts_more_than_the_list() -> None:
    said = RequestUsage(input_tokens=10, output_tokens=10, cost=Decimal("0.5"))
    assert cost_of(answer("gpt-4o-mini", usage=said)) == 0.5


@pytest.mark.parametrize(
    "unknown",
    [
        answer("a-model-of-nobody"),
        answer("gpt-4o-mini", "nobody"),
        answer(None),
        answer("gpt-4o-mini", usage=RequestUsage(input_tokens=1, unmeasured_requests=1)),
    ],
)
def test_what_nobody_knows_is_not_guessed(unknown: ModelResponse) -> None:
    assert cost_of(unknown) is None


@given(USAGES)
def test_a_sum_is_known_exactly_when_each_part_with_a_call_is(parts: list[tuple[int, int | None]]) -> None:
    usages = [ModelUsage(calls=calls, cost=None if not calls or cost is None else float(cost)) for calls, cost in parts]
    total = reduce(ModelUsage.__add__, usages, ModelUsage())
    costs = [usage.cost for usage in usages if usage.calls]
    known = [cost for cost in costs if cost is not None]
    assert total.cost == (sum(known) if known and len(known) == len(costs) else None)


def test_the_usage_of_a_run_has_its_cost() -> None:
    def run(cost: float | None) -> RunResult:
        metrics = RunMetrics(seconds=1, input_tokens=5, output_tokens=5, model_calls=1, cost=cost)
        return RunResult(run_id="run", output="", outputs={}, metrics=metrics)

    [known], [unknown] = usage_of_run(run(0.25)).values(), usage_of_run(run(None)).values()
    assert known.cost == 0.25
    assert unknown.cost is None
    assert "cost" not in RunMetrics(seconds=1).to_json()
    assert RunResult.from_json(run(0.25).to_json()).metrics.cost == 0.25
