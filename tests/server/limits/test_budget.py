"""What a user may use in a day and in a turn: counted in UTC, refused until midnight, and never another user's."""

from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import httpx
import pytest

from agent.models.providers import ModelChoice
from agent.models.scripted import call
from agent.turn.request import TurnRequest
from agent.turn.services import CanvasStore
from agent.turn.stream import TurnStream
from flows.catalogue import Catalogue
from flows.document import JsonObject
from runtime.usage.entry import Usage
from runtime.usage.log import UsageLog
from server.errors import ApiError
from server.limits.budget import tokens_left
from server.settings import ServerSettings
from tests.databases.secrets import opened
from tests.server.limits.conftest import Calendar, user
from tests.server.live import ASSIST, FLOWS, STREAM, events, serving
from tests.shared.scripted_assistant import ScriptedModel, assistant

pytestmark = pytest.mark.anyio
ASKS = {"input_value": "Hello"}
REPLIES = ("off_topic", "No.") * 4


@pytest.mark.parametrize(
    ("settings", "used", "code"),
    [
        (ServerSettings(day_tokens=1_000), Usage.of(input_tokens=900, output_tokens=100), "tokens_used_up"),
        (ServerSettings(day_cost=0.5), Usage.of(input_tokens=1, cost=Decimal("0.5")), "cost_used_up"),
    ],
)
async def test_a_budget_that_is_used_up_is_there_again_at_midnight_and_not_a_second_before(
    settings: ServerSettings, used: Usage, code: str, catalogue: Catalogue, echo: JsonObject
) -> None:
    clock, who = Calendar(), assistant(catalogue, ScriptedModel(*REPLIES))
    who.usage_log.clock = clock
    async with serving(who, settings) as live, user(live, "eve") as eve:
        flow = (await live.client.post(FLOWS, json=echo)).json()["id"]
        who.usage_log.record("local", {"m": used})
        addresses = (ASSIST, STREAM, f"{FLOWS}/{flow}/run")

        async def asked() -> list[httpx.Response]:
            return [await live.client.post(address, json=ASKS) for address in addresses]

        replies = await asked()
        assert [(reply.status_code, reply.json()["error"]["code"]) for reply in replies] == [(429, code)] * 3
        (wait,) = {int(reply.headers["retry-after"]) for reply in replies}
        assert wait == 5_400, "an hour and a half, but for half a second"
        assert (await eve.post(ASSIST, json=ASKS)).status_code == 200, "another user's budget is not hers"
        clock.now += timedelta(seconds=wait - 1)
        assert {reply.status_code for reply in await asked()} == {429}
        clock.now += timedelta(seconds=1)
        assert {reply.status_code for reply in await asked()} == {200}


async def test_an_unknown_price_is_not_guessed(catalogue: Catalogue) -> None:
    who = assistant(catalogue, ScriptedModel(*REPLIES))
    async with serving(who, ServerSettings(day_cost=0.01)) as live:
        who.usage_log.record("local", {"m": Usage.of(input_tokens=10**9)})
        assert (await live.client.post(ASSIST, json=ASKS)).status_code == 200


async def test_a_turn_may_use_what_its_user_may_and_what_is_left_of_the_day(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = ServerSettings.model_validate({"token_limits": "Ada=5000, eve=1000", "day_tokens": 3_000})
    seen: list[int | None] = []
    who = assistant(catalogue, ScriptedModel(*REPLIES))
    turn = who.turn

    def noted(request: TurnRequest, store: CanvasStore | None = None, choice: ModelChoice | None = None) -> TurnStream:
        seen.append(request.token_limit)
        return turn(request, store, choice)

    monkeypatch.setattr(who, "turn", noted)
    async with serving(who, settings) as live, user(live, "ada") as ada, user(live, "eve") as eve:
        for client in (ada, eve, live.client):
            await client.post(ASSIST, json=ASKS)
    assert seen == [3_000, 1_000, 3_000]


async def test_a_turn_beyond_its_budget_ends_with_a_typed_event(catalogue: Catalogue) -> None:
    model = ScriptedModel(
        "manage_files", call("list_files", 1), "word " * 2_000, "manage_files", call("list_files", 2), "word " * 2_000
    )
    settings = ServerSettings.model_validate({"token_limits": "local=1000"})
    async with serving(assistant(catalogue, model), settings) as live:
        streamed = await events(live.client, input_value="Why? " * 2_000)
        whole = await live.client.post(ASSIST, json={"input_value": "Why? " * 2_000})
    assert (streamed[-1]["event"], streamed[-1]["code"]) == ("error", "limit")
    assert (whole.status_code, whole.json()["error"]["code"]) == (422, "limit")


@pytest.mark.parametrize("given", ["ada", "=5", "ada=many", "ada=5"])
def test_a_budget_that_cannot_be_read_is_refused_at_the_start(given: str) -> None:
    with pytest.raises(ValueError, match="token_limits"):
        ServerSettings.model_validate({"token_limits": given})


async def test_what_is_used_at_one_server_counts_at_another(database_url: str, tmp_path: Path) -> None:
    limits = ServerSettings(day_tokens=1_000)
    async with opened(database_url, tmp_path) as here, opened(database_url, tmp_path) as there:
        first, second = UsageLog(here), UsageLog(there)
        assert await tokens_left(second, limits, "ada") == 1_000
        first.record("ada", {"m": Usage.of(input_tokens=600)})
        await first.aclose()
        assert await tokens_left(second, limits, "ada") == 400
        first.record("ada", {"m": Usage.of(input_tokens=400)})
        await first.aclose()
        with pytest.raises(ApiError) as refused:
            await tokens_left(second, limits, "ada")
    assert refused.value.code == "tokens_used_up"
