"""Which models answer inside the flows of a play whose scenario scripts none."""

import pytest

from agent.settings import AssistantSettings
from cli.eval.play.environment import models_of_play
from runtime.gateway.models import ASSISTANT, ModelUnavailable


@pytest.fixture(autouse=True)
def configured(monkeypatch: pytest.MonkeyPatch) -> None:
    """One provider, whose server offers any model."""
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    monkeypatch.setenv("OPENAI_COMPATIBLE_BASE_URL", "http://127.0.0.1:9/v1")


def test_a_model_that_plays_also_answers_inside_flows() -> None:
    models = models_of_play(AssistantSettings(), "openai-compatible:granite")
    assert models.resolve(ASSISTANT).model_name == "granite"
    assert models_of_play(AssistantSettings(model="demo"), "openai-compatible:own").own == "openai-compatible:own"


@pytest.mark.parametrize("player", ["demo", "oracle", "script", "replay:openai:journal.jsonl", None])
def test_with_any_other_player_the_configured_model_answers(player: str | None) -> None:
    settings = AssistantSettings(model="openai-compatible:granite")
    assert models_of_play(settings, player).resolve(ASSISTANT).model_name == "granite"
    with pytest.raises(ModelUnavailable):
        models_of_play(AssistantSettings(), player).resolve(ASSISTANT)
