"""The services of scenarios: what they answer, how late, how often they fail; and models inside flows."""

import httpx
import pytest

from evals.play.flow_models import NO_ANSWER, rule_models, with_models
from evals.play.stub_services import serve
from evals.scenario import ModelRule
from evals.service import Route, Service
from flows.document import Flow
from runtime.options import RunOptions
from tests.shared.stand_ins import StandInRunner

pytestmark = pytest.mark.anyio


async def get(url: str, method: str = "GET", **options: object) -> httpx.Response:
    """One request."""
    async with httpx.AsyncClient(trust_env=False, timeout=10) as client:
        return await client.request(method, url, **options)


async def test_a_service_answers_by_path_and_method() -> None:
    routes = (
        Route(path="/a", json={"n": 1}),
        Route(path="/b", text="plain", status=201),
        Route(method="POST", text="took"),
    )
    async with serve((Service(name="x", routes=routes),)) as addresses:
        base = addresses["x"]
        assert (await get(f"{base}/a?q=1")).json() == {"n": 1}
        plain = await get(f"{base}/b")
        assert (plain.status_code, plain.text) == (201, "plain")
        assert (await get(f"{base}/anything", "POST", json={"a": "b" * 1000})).text == "took"
        assert (await get(f"{base}/else")).status_code == 404


async def test_the_first_requests_fail_and_every_serving_starts_over() -> None:
    service = Service(name="x", routes=(Route(text="here", failures=2, latency=1),))
    for _ in range(2):
        async with serve((service,)) as addresses:
            codes = [(await get(addresses["x"])).status_code for _ in range(3)]
            assert codes == [503, 503, 200]


async def test_a_service_that_drops_gives_no_answer() -> None:
    async with serve((Service(name="x", routes=(Route(drops=True),)),)) as addresses:
        with pytest.raises(httpx.HTTPError):
            await get(addresses["x"])


async def test_a_service_is_gone_afterwards_even_when_a_request_is_still_waiting() -> None:
    async with serve((Service(name="x", routes=(Route(latency=60_000),)),)) as addresses:
        base = addresses["x"]
        client = httpx.AsyncClient(trust_env=False)
        with pytest.raises(httpx.ReadTimeout):
            await client.get(base, timeout=0.2)
        await client.aclose()
    with pytest.raises(httpx.ConnectError):
        await get(base)


async def test_what_is_not_http_gets_no_answer() -> None:
    import asyncio

    async with serve((Service(name="x", routes=(Route(text="here"),)),)) as addresses:
        host, port = addresses["x"].removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"nonsense\r\n\r\n")
        assert await reader.read() == b""
        writer.close()
        assert (await get(addresses["x"])).text == "here"


@pytest.mark.parametrize(("text", "answer"), [("a pirate song", "Arr."), ("hello", "Hi."), ("x", NO_ANSWER)])
async def test_a_model_answers_by_the_first_rule_that_fits(text: str, answer: str) -> None:
    from pydantic_ai import Agent

    rules = (ModelRule(when="(?i)PIRATE", say="Arr."), ModelRule(when="hello", say="Hi."))
    run = await Agent(rule_models(rules).resolve("any:name")).run(text)
    assert run.output == answer


async def test_the_runs_of_a_scenario_call_its_own_models() -> None:
    runner = StandInRunner()
    assert with_models(runner, ()) is runner
    wrapped = with_models(runner, (ModelRule(say="x"),))
    await wrapped.execute(Flow.empty(), "text", RunOptions())
    assert runner.models[-1] is not None
    assert (wrapped.state, await wrapped.ready(1)) == ("ready", True)
