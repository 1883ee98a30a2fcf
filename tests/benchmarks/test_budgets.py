"""What a turn sends to its model stays within its budget of characters."""

import pytest

from benchmarks.budgets import TRAJECTORIES, Trajectory, characters
from runtime.runner import Runner

pytestmark = [pytest.mark.anyio, pytest.mark.engine]


@pytest.fixture(autouse=True)
def own_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """The trajectories set these; they are put back afterwards."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-scripted")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")


@pytest.mark.parametrize("trajectory", TRAJECTORIES, ids=lambda one: one.name)
async def test_a_trajectory_stays_within_its_budget(
    trajectory: Trajectory, engine: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    sent = await characters(trajectory, engine)
    assert sum(sent) <= trajectory.budget, sent
