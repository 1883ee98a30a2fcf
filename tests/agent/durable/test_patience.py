"""A step waits for a database that does not answer, and for nothing else."""

import pytest

from agent.conversation.failures import store_failures
from agent.durable import patience
from agent.durable.patience import patient
from agent.errors import AssistantUnavailable
from agent.turn.result import TurnError
from runtime.database.errors import StoreUnavailable

pytestmark = pytest.mark.anyio
GONE = StoreUnavailable("The database is not reachable.", "Start it.")


class Failing:
    """Work that fails some times."""

    def __init__(self, times: int, *, told: bool = False) -> None:
        self.tries, self.times, self.told = 0, times, told

    async def __call__(self) -> int:
        """Try it."""
        self.tries += 1
        if self.tries > self.times:
            return self.tries
        if not self.told:
            raise GONE
        with store_failures():
            raise GONE


@pytest.mark.parametrize("told", [False, True])
async def test_work_is_tried_until_the_database_answers(told: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "RETRY_SECONDS", 0.0)
    assert await patient(Failing(3, told=told)) == 4


async def test_work_that_fails_for_too_long_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "PATIENCE_SECONDS", -1.0)
    work = Failing(3)
    with pytest.raises(StoreUnavailable):
        await patient(work)
    assert work.tries == 1


async def test_what_is_no_failure_of_the_database_is_not_tried_again() -> None:
    tries: list[int] = []

    async def refused() -> None:
        tries.append(1)
        raise AssistantUnavailable(TurnError(code="flow_not_found", message="It was removed.", fix="Name another."))

    with pytest.raises(AssistantUnavailable):
        await patient(refused)
    assert len(tries) == 1
