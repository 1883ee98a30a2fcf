"""The services of scenarios: what they answer, how late, how often they fail; and models inside flows."""

import re

import httpx
import pytest
from pydantic_ai import Agent, ModelRequest, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

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


async def test_a_route_answers_what_it_is_asked_for_in_the_query_or_the_body() -> None:
    routes = (Route(asked="red fox", text="a fox"), Route(method="POST", asked="owl", text="an owl"))
    async with serve((Service(name="x", routes=routes),)) as addresses:
        base = addresses["x"]
        assert (await get(f"{base}/draw?prompt=a+red%20fox")).text == "a fox"
        assert (await get(f"{base}/draw?prompt=fox")).status_code == 404
        assert (await get(f"{base}/red%20fox")).status_code == 404
        assert (await get(f"{base}/draw", "POST", json={"prompt": "an owl"})).text == "an owl"
    with pytest.raises(ValueError, match="not a regular expression"):
        Route(asked="(", text="x")


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


ECHOING = ModelRule(say="Done.", echo="fox|owl")


def answer_to(rules: tuple[ModelRule, ...], text: str) -> str:
    """What scripted models answer to one prompt."""
    model = rule_models(rules).resolve("any")
    return str(Agent(model).run_sync(text).output)


def test_an_echo_shows_what_reached_the_model_once_and_in_order() -> None:
    said = answer_to((ECHOING,), "The owl saw a fox, and the owl slept.")
    assert re.fullmatch(r"Done\. ‹[0-9a-f]{4}: owl; fox›", said)
    assert re.fullmatch(r"Done\. ‹[0-9a-f]{4}: ›", answer_to((ECHOING,), "Nobody."))
    assert answer_to((ECHOING,), "fox") == answer_to((ECHOING,), "fox")
    assert answer_to((ECHOING,), "fox a") != answer_to((ECHOING,), "fox b"), "the code tells calls apart"


def test_an_echo_stands_where_the_answer_wants_it() -> None:
    rule = ModelRule(say='{"animal": "{echo}"}', echo="fox")
    assert re.fullmatch(r'\{"animal": "‹[0-9a-f]{4}: fox›"\}', answer_to((rule,), "a fox"))


def test_a_quotation_is_a_part_of_the_prompt() -> None:
    rules = (ModelRule(say="NONE", quote=r'- "([^"]*taxi[^"]*)"'),)
    assert answer_to(rules, '- "vat invoice"\n- "taxi receipt"') == "taxi receipt"
    assert answer_to(rules, "nothing to choose") == "NONE"


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"echo": "("}, "echo is not a regular expression"),
        ({"when": "["}, "when is not a regular expression"),
        ({"quote": "taxi"}, "quote needs one group"),
    ],
)
def test_a_rule_whose_pattern_cannot_be_used_is_refused(rule: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ModelRule.model_validate({"say": "x"} | rule)


async def test_a_form_is_filled_in_with_the_echo_and_the_values_of_the_rule() -> None:
    schema = {
        "$defs": {"Card": {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}},
        "type": "object",
        "properties": {
            "cards": {"type": "array", "items": {"$ref": "#/$defs/Card"}},
            "sure": {"type": "boolean"},
            "kind": {"type": "string"},
        },
    }
    tool = ToolDefinition(name="Form", parameters_json_schema=schema)
    rule = ModelRule(say="Done.", echo="fox", form={"kind": "animal"})
    model = rule_models((rule,)).resolve("any")
    request = ModelRequest(parts=[UserPromptPart("a fox")])
    forced = ModelRequestParameters(function_tools=[tool], allow_text_output=False)
    (part,) = (await model.request([request], None, forced)).parts
    assert isinstance(part, ToolCallPart)
    filled = part.args_as_dict()
    assert (part.tool_name, filled["sure"], filled["kind"], filled["cards"][0]["age"]) == ("Form", True, "animal", 1)
    assert re.fullmatch(r"‹[0-9a-f]{4}: fox›", filled["cards"][0]["name"])
    free = ModelRequestParameters(function_tools=[tool])
    assert isinstance((await model.request([request], None, free)).parts[0], TextPart)
