"""Models over HTTP: which there are, and whether they answer."""

import pytest

from flows.catalogue import Catalogue
from server.settings import ServerSettings
from tests.server.live import serving
from tests.shared.scripted_assistant import assistant

pytestmark = pytest.mark.anyio
MODELS = "/api/v1/models"


async def test_every_provider_is_listed_with_what_it_needs(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        before = (await live.client.get(MODELS)).json()
        await live.client.put("/api/v1/providers/openai", json={"api_key": "sk-only-for-this-test-1234"})
        after = await live.client.get(MODELS)
    assert before["default"] == "demo"
    openai = next(one for one in after.json()["providers"] if one["name"] == "openai")
    assert (openai["configured"], openai["default"]) == (True, True)
    assert openai["variables"] == [{"name": "OPENAI_API_KEY", "source": "stored"}]
    assert "sk-only" not in after.text


async def test_a_test_says_which_models_answer_and_why_others_do_not(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        none = (await live.client.post(f"{MODELS}/test")).json()
        tested = (await live.client.post(f"{MODELS}/test", json={"models": ["demo", "nonsense:x"]})).json()
        many = await live.client.post(f"{MODELS}/test", json={"models": ["demo"] * 21})
    assert none == {"ok": False, "models": []}
    assert (tested["ok"], [one["ok"] for one in tested["models"]]) == (False, [False, False])
    assert tested["models"][0]["error"]["code"] == "no_model"
    assert many.status_code == 422


async def test_tests_count_among_the_turns_that_go_on(catalogue: Catalogue) -> None:
    settings = ServerSettings(user_turns=1)
    async with serving(assistant(catalogue), settings) as live:
        for _ in range(3):
            assert (await live.client.post(f"{MODELS}/test", json={"models": ["demo"]})).status_code == 200
