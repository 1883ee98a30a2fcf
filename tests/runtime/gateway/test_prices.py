"""What the tokens of a flow cost, as far as the prices of the models that it names are known."""

from collections.abc import Callable

import pytest

from flows.catalogue import Catalogue
from flows.document import Flow, Json
from runtime.gateway.models import ASSISTANT
from runtime.gateway.prices import price_of
from tests.runtime.conftest import MakeFlow

FlowWith = Callable[..., Flow]
SMALL, LARGE = "openai:gpt-4o-mini", "openai:gpt-4o"
OWN: list[Json] = [{"provider": "My Provider", "name": "own"}]


@pytest.fixture
def flow_with(make_flow: MakeFlow) -> FlowWith:
    """Makes flows whose components have these models."""
    return lambda *models: make_flow(
        {f"Model-{at}": ("LanguageModelComponent", {"model": model}) for at, model in enumerate(models)}
    )


def test_tokens_cost_what_the_model_costs_that_the_flow_names(flow_with: FlowWith, catalogue: Catalogue) -> None:
    price = price_of(flow_with(SMALL), catalogue, None)
    assert price(1_000_000, 0) == pytest.approx(0.15)
    assert price(0, 1_000_000) == pytest.approx(0.60)
    assert price_of(flow_with(ASSISTANT), catalogue, SMALL)(1_000_000, 0) == pytest.approx(0.15)


def test_the_dearest_of_several_models_counts(flow_with: FlowWith, catalogue: Catalogue) -> None:
    both, large = (price_of(flow_with(*models), catalogue, None) for models in ((SMALL, LARGE), (LARGE,)))
    assert both(1_000, 1_000) == large(1_000, 1_000)


@pytest.mark.parametrize("models", [(OWN,), (SMALL, OWN), (ASSISTANT,)])
def test_nothing_is_said_where_a_price_is_not_known(
    models: tuple[Json, ...], flow_with: FlowWith, catalogue: Catalogue
) -> None:
    price = price_of(flow_with(*models), catalogue, None)
    assert price(1_000, 1_000) is None
    assert price(0, 0) == 0, "no tokens cost nothing"
