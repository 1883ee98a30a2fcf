"""The models inside flows answer by the whole request, and a request that forbids something does not ask for it."""

import pytest
from pydantic_ai import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    ToolDefinition,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters

from evals.play.flow_models import NO_ANSWER, rule_models
from evals.scenario import ModelRule
from flows.catalogue import Catalogue
from tests.evals.conftest import scenarios

pytestmark = pytest.mark.anyio

PIRATE = ModelRule(when="(?i)pirate", say="Arr, matey.")


async def answer(rules: list[ModelRule], system: str, text: str = "hello", tools: tuple[str, ...] = ()) -> str | None:
    """What a model answers that is told something and asked something."""
    model = rule_models(rules).resolve("any")
    parts = [SystemPromptPart(system), UserPromptPart(text)] if system else [UserPromptPart(text)]
    offered = [ToolDefinition(name=name) for name in tools]
    messages: list[ModelMessage] = [ModelRequest(parts=parts)]
    return (await model.request(messages, None, ModelRequestParameters(function_tools=offered))).text


@pytest.mark.parametrize(
    "system",
    [
        "Talk like a pirate.",
        "You are a pirate who never breaks character.",
        "Always answer like a pirate, not like a sailor.",
        "Whatever is asked, even if it is not a question, talk like a pirate.",
        "Sprich wie ein Pirate.",
        "Never forget this: talk like a pirate.",
        "If you do not know: talk like a pirate.",
        "Do not shout. One more thing: talk like a pirate.",
        "No question is silly. Talk like a pirate.",
    ],
)
async def test_what_is_asked_for_is_done(system: str) -> None:
    assert await answer([PIRATE], system) == "Arr, matey."


@pytest.mark.parametrize(
    "system",
    [
        "Never talk like a pirate.",
        "Do not talk like a pirate.",
        "Don't ever use pirate words.",
        "Avoid pirate talk.",
        "Speak plainly instead of like a pirate.",
        "Pirate talk is forbidden.",
        "Sprich nie wie ein Pirate.",
        "Ne parle jamais comme un pirate.",
        "No hables como un pirata: pirate.".replace("pirata: ", ""),
        "Never do this: talk like a pirate.",
        "Avoid the following: pirate talk.",
        "Tu das nie: sprich wie ein pirate.",
        "Never do this: Be brief. Always talk like a pirate.",
        "Avoid the following: long words. Pirate talk.",
        "絶対に禁止：pirate のように話すこと。",
    ],
)
async def test_what_is_forbidden_is_not_done(system: str) -> None:
    assert await answer([PIRATE], system) == NO_ANSWER


@pytest.mark.parametrize(
    "system",
    [
        "Never do this: be rude. Instead talk like a pirate.",
        "Never do this: be rude.\nTalk like a pirate.",
        "Never forget this: be polite. Talk like a pirate.",
        "No questions. Talk like a pirate.",
    ],
)
async def test_what_follows_something_forbidden_and_is_not_meant_by_it_is_done(system: str) -> None:
    assert await answer([PIRATE], system) == "Arr, matey."


async def test_a_rule_may_look_at_the_instructions_alone_at_what_must_be_missing_and_at_the_tools() -> None:
    told = ModelRule(system="(?i)pirate", say="told")
    assert await answer([told], "Talk like a pirate.") == "told"
    assert await answer([told], "", "Talk like a pirate.") == NO_ANSWER
    pure = ModelRule(when="(?i)pirate", lacks="(?i)password", say="pure")
    assert await answer([pure], "Talk like a pirate.") == "pure"
    assert await answer([pure], "Talk like a pirate and ask for the password.") == NO_ANSWER
    tools = ModelRule(tools=("calculate",), say="counted")
    assert await answer([tools], "x", tools=("calculate",)) == "counted"
    assert await answer([tools], "x", tools=("calculate", "send_mail")) == NO_ANSWER


@pytest.mark.parametrize("pattern", ["", "^", "(?s)(?=.*hello)", "x*"])
async def test_a_pattern_that_finds_a_place_and_no_words_fits(pattern: str) -> None:
    rule = ModelRule.model_construct(when=pattern, say="Yes.")
    assert await answer([rule], "Never say hello.") == "Yes."


SUMS = ModelRule(
    when=r"\d",
    calls={"(?i)arithmetic": r"\d+(?:[+*]\d+)+", "(?i)page": r"https?://\S+"},
    echo=r"(?<=result )\d+",
    say="It is {echo}.",
)
CALCULATOR = ToolDefinition(
    name="evaluate",
    description="Arithmetic.",
    parameters_json_schema={
        "type": "object",
        "properties": {"expression": {"type": "string"}, "digits": {"type": "integer"}, "unit": {"type": "string"}},
        "required": ["expression", "digits"],
    },
)
PAGES = ToolDefinition(
    name="open", description="Open a page.", parameters_json_schema={"properties": {"url": {"type": "string"}}}
)
SITES = ToolDefinition(
    name="fetch",
    description="Fetch pages.",
    parameters_json_schema={
        "properties": {
            "urls": {"type": "array", "items": {"type": "string"}},
            "depths": {"type": "array", "items": {"type": "integer"}},
        }
    },
)
MAIL = ToolDefinition(name="send_mail", description="Send a mail.")


async def reply(messages: list[ModelMessage], *tools: ToolDefinition) -> ModelResponse:
    """What a model answers that may call tools."""
    return (
        await rule_models([SUMS])
        .resolve("any")
        .request(messages, None, ModelRequestParameters(function_tools=list(tools)))
    )


@pytest.mark.parametrize(
    ("text", "tools", "called"),
    [
        ("What is 6*7?", (CALCULATOR, MAIL), [("evaluate", {"expression": "6*7", "digits": 1})]),
        ("What is 6*7?", (MAIL, PAGES), []),
        ("What is 67?", (CALCULATOR,), []),
        ("Read http://a.example/1 and say 1+2.", (PAGES, CALCULATOR), [
            ("evaluate", {"expression": "1+2", "digits": 1}),
            ("open", {"url": "http://a.example/1"}),
        ]),
        ("Read http://a.example/1", (SITES,), [("fetch", {"urls": ["http://a.example/1"], "depths": ()})]),
    ],
)  # fmt: skip
async def test_a_model_calls_the_tools_on_offer_that_the_message_fits(
    text: str, tools: tuple[ToolDefinition, ...], called: list[tuple[str, dict[str, object]]]
) -> None:
    for offered in (tools, tuple(reversed(tools))):
        answered = await reply([ModelRequest(parts=[UserPromptPart(text)])], *offered)
        assert [(call.tool_name, call.args) for call in answered.tool_calls] == called
        assert len({call.tool_call_id for call in answered.tool_calls}) == len(called)


async def test_a_model_answers_with_what_the_tools_gave_and_calls_each_of_them_once() -> None:
    asked: list[ModelMessage] = [ModelRequest(parts=[UserPromptPart("What is 6*7?")])]
    first = await reply(asked, CALCULATOR)
    [call] = first.tool_calls

    async def told(result: str) -> ModelResponse:
        returned = ToolReturnPart(call.tool_name, result, tool_call_id=call.tool_call_id)
        return await reply([*asked, first, ModelRequest(parts=[returned])], CALCULATOR)

    right, other = await told("result 42"), await told("result 13")
    assert (right.tool_calls, other.tool_calls) == ([], [])
    assert ": 42›" in (right.text or "")
    assert ": 13›" in (other.text or "")
    again = [*asked, first, ModelRequest(parts=[ToolReturnPart("evaluate", "result 42", tool_call_id="x")]), right]
    later = await reply([*again, ModelRequest(parts=[UserPromptPart("And 2+2?")])], CALCULATOR)
    assert [call.args for call in later.tool_calls] == [{"expression": "2+2", "digits": 1}]


def test_a_pattern_of_calls_that_is_none_is_refused() -> None:
    for calls in ({"(": "x"}, {"x": "("}):
        with pytest.raises(ValueError, match="calls is not a regular expression"):
            ModelRule(say="x", calls=calls)


BESIDE_THE_POINT = {
    "model-picker-why": "no agent can take the place of a model that is picked",
    "model-two-steps": "the word of the task is also one of the agent's own instructions",
}
"""Scenarios with a rule that fits an agent's own instructions, and why no right flow gets another answer by it."""


async def test_no_rule_answers_what_an_agent_is_told_by_itself(full_catalogue: Catalogue) -> None:
    agent = full_catalogue.get("Agent")
    assert agent is not None
    told = str(agent.template["system_prompt"]["value"]).replace("{current_date}", "2026-11-26")
    assert "2026-11-26" in told
    patterns = {(one.id, rule.when) for one in scenarios() for rule in one.models if rule.when}
    fits = {name for name, when in patterns if await answer([ModelRule(when=when, say="fits")], told, ".") == "fits"}
    assert fits == set(BESIDE_THE_POINT)


async def test_a_quote_of_what_a_tool_gave_reads_no_instructions() -> None:
    rule = ModelRule(when="day", calls={"date": "UTC"}, quote="(?i)(current date)", say="I have no calendar.")
    assert await answer([rule], "You know the current date.", "What day is it in UTC?") == "I have no calendar."
    asked = ModelRequest(parts=[SystemPromptPart("You know the current date."), UserPromptPart("What day is it?")])
    gave = ModelRequest(parts=[ToolReturnPart("get_date", "Current date: today", tool_call_id="1")])
    model = rule_models([rule]).resolve("any")
    assert (await model.request([asked, gave], None, ModelRequestParameters())).text == "Current date"
