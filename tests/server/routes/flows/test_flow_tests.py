"""The saved tests of a stored flow, over HTTP."""

from typing import Any

import httpx
import pytest

from flows.catalogue import Catalogue
from flows.document import JsonObject
from runtime.options import RunOptions
from server.flow_tests.kept import file_of
from tests.server.live import FLOWS, serving
from tests.shared.scripted_assistant import assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio
TWO: list[dict[str, Any]] = [{"input": "hi", "equals": "hello"}, {"name": "polite", "input": "hi", "contains": "sir"}]


async def add(client: httpx.AsyncClient, echo: JsonObject) -> str:
    return f"{FLOWS}/{(await client.post(FLOWS, json=echo)).json()['id']}"


async def test_tests_are_kept_and_run_and_a_failure_says_what_came_instead(
    catalogue: Catalogue, echo: JsonObject
) -> None:
    runner = StandInRunner(results=[ran("hello")] * 2)
    async with serving(assistant(catalogue, runner=runner)) as live:
        flow = await add(live.client, echo)
        assert (await live.client.get(f"{flow}/tests")).json() == {"tests": [], "models": []}
        assert (await live.client.post(f"{flow}/tests/run")).json() == {"ok": True, "tests": []}
        (await live.client.put(f"{flow}/tests", json={"tests": TWO})).raise_for_status()
        assert (await live.client.get(f"{flow}/tests")).json()["tests"] == TWO
        tested = (await live.client.post(f"{flow}/tests/run")).json()
        assert [one["passed"] for one in tested["tests"]] == [True, False]
        assert tested["ok"] is False
        assert tested["tests"][1]["output"] == "hello"
        assert "sir" in tested["tests"][1]["reason"]
        assert [text for _, text in runner.asked] == ["hi", "hi"]
        usage = (await live.client.get("/api/v1/usage")).json()
        assert usage["total"]["runs"] == 2


async def test_they_are_a_file_of_the_user_that_is_gone_without_tests(catalogue: Catalogue, echo: JsonObject) -> None:
    async with serving(assistant(catalogue)) as live:
        flow = await add(live.client, echo)
        path = f"/api/v1/files/{file_of(flow.rpartition('/')[2])}"
        (await live.client.put(f"{flow}/tests", json={"tests": TWO})).raise_for_status()
        assert "polite" in (await live.client.get(path)).text
        for _ in range(2):
            (await live.client.put(f"{flow}/tests", json={"tests": []})).raise_for_status()
        assert (await live.client.get(path)).status_code == 404


@pytest.mark.parametrize(
    "test", [{"input": "hi"}, {"input": "hi", "equals": "a", "contains": "b"}, {"imput": "hi", "equals": "a"}]
)
async def test_a_test_that_says_nothing_is_refused(test: JsonObject, catalogue: Catalogue, echo: JsonObject) -> None:
    async with serving(assistant(catalogue)) as live:
        flow = await add(live.client, echo)
        refused = await live.client.put(f"{flow}/tests", json={"tests": [test]})
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "invalid_tests")
        assert refused.json()["error"]["where"] == "$.tests[0]"


async def test_a_test_of_a_node_that_is_not_there_fails_alone(catalogue: Catalogue, echo: JsonObject) -> None:
    async with serving(assistant(catalogue, runner=StandInRunner(results=[ran("hello")]))) as live:
        flow = await add(live.client, echo)
        tests = [{"input": "hi", "node": "nobody", "equals": "a"}, *TWO[:1]]
        (await live.client.put(f"{flow}/tests", json={"tests": tests})).raise_for_status()
        tested = (await live.client.post(f"{flow}/tests/run")).json()["tests"]
        assert [(one["passed"], one["error"]) for one in tested] == [(False, "invalid_test"), (True, None)]


async def test_a_session_of_tests_is_new_each_time(catalogue: Catalogue, echo: JsonObject) -> None:
    sessions: list[str | None] = []

    class Noting(StandInRunner):
        async def execute(self, flow: Any, text: str | None, options: RunOptions) -> Any:
            sessions.append(options.session)
            return await super().execute(flow, text, options)

    async with serving(assistant(catalogue, runner=Noting(results=[ran("hello")]))) as live:
        flow = await add(live.client, echo)
        tests = [{**TWO[0], "session": "one"}, {**TWO[0], "session": "one", "name": "again"}]
        (await live.client.put(f"{flow}/tests", json={"tests": tests})).raise_for_status()
        for _ in range(2):
            (await live.client.post(f"{flow}/tests/run")).raise_for_status()
    assert sessions[0] == sessions[1] != sessions[2] == sessions[3]
