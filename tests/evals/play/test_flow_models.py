"""The models inside flows answer by the whole request, and a request that forbids something does not ask for it."""

import pytest
from pydantic_ai import ModelMessage, ModelRequest, SystemPromptPart, ToolDefinition, UserPromptPart
from pydantic_ai.models import ModelRequestParameters

from evals.play.flow_models import NO_ANSWER, rule_models
from evals.scenario import ModelRule

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
    ],
)
async def test_what_is_forbidden_is_not_done(system: str) -> None:
    assert await answer([PIRATE], system) == NO_ANSWER


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
