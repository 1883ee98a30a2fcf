"""Reading the classifier's answer."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RunUsage

from agent.language.intent import OUTPUT_TOKENS, Classification, classify, instructions, read_classification
from agent.turn.result import Intent
from tests.shared.scripted_assistant import ScriptedModel
from tools.mandate import Effect, Mandate, name_words


@pytest.mark.anyio
async def test_an_empty_message_asks_no_model() -> None:
    model = ScriptedModel(AssertionError("no model may be asked"))
    assert (await classify("  \n", model, RunUsage())).intent == "question"


@pytest.mark.anyio
@pytest.mark.parity("base-term-intent-tokens", "term-intent-tokens")
async def test_the_classifier_is_paid_for() -> None:
    usage = RunUsage()
    model = ScriptedModel("question")
    assert (await classify("What is a prompt?", model, usage)).intent == "question"
    assert usage.requests == 1
    assert usage.output_tokens > 0


@pytest.mark.parametrize(
    ("answer", "intent"),
    [
        ("action", "build_flow"),
        ("Question.", "question"),
        ('```json\n{"intent": "off_topic"}\n```', "off_topic"),
        ("This is off-topic, I think.", "off_topic"),
        ("The label is: off topic", "off_topic"),
        ("no idea", "build_flow"),
        ("", "build_flow"),
        ('{"intent": "generate_component", "english": "", "language": "en"}', "generate_component"),
        ('Sure!\n```json\n{"intent": "component then flow"}\n```', "component_then_flow"),
        ('{"intent": "build-flow", "english": "cut off in the mid', "build_flow"),
        ("intent: run_flow", "run_flow"),
        ("The user wants to manage files.", "manage_files"),
        ("They want to create a component", "generate_component"),
        ('{"intent": "nonsense"}', "build_flow"),
        ('{"intent": 7}', "build_flow"),
        ('["question"]', "question"),
    ],
)
def test_the_label_is_found_whatever_surrounds_it(answer: str, intent: str) -> None:
    assert read_classification(answer).intent == intent


def test_the_translation_and_the_wanted_model_come_with_the_intent() -> None:
    said = (
        '{"intent": "build_flow", "english": "Build a bot", "language": "pt", "model": "claude-x", "provider": "null"}'
    )
    read = read_classification(said)
    assert (read.english, read.language, read.model, read.provider) == ("Build a bot", "pt", "claude-x", None)


@given(st.text(max_size=200))
def test_every_answer_classifies(answer: str) -> None:
    assert read_classification(answer).intent in get_args(Intent)


@pytest.mark.anyio
@pytest.mark.parametrize(("name", "known"), [("gpt-4o", True), ("nobody-knows", False)])
async def test_the_price_of_a_classification_is_reported_if_known(name: str, *, known: bool) -> None:
    def plain(*_: object) -> ModelResponse:
        return ModelResponse(parts=[TextPart("question")], provider_name="openai")

    usage = RunUsage()
    await classify("What is a prompt?", FunctionModel(plain, model_name=name), usage)
    assert (usage.cost is not None) == known
    assert usage.cost != 0


@pytest.mark.anyio
async def test_an_answer_without_text_means_build_flow() -> None:
    usage = RunUsage()
    assert (await classify("Do it", FunctionModel(lambda *_: ModelResponse(parts=[])), usage)).intent == "build_flow"
    assert usage.requests == 1


@pytest.mark.anyio
async def test_a_classification_is_short_stateless_and_not_streamed() -> None:
    seen: list[tuple[int, int | None]] = []

    def plain(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append((len(messages), (info.model_settings or {}).get("max_tokens")))
        return ModelResponse(parts=[TextPart("question")])

    model = FunctionModel(plain)  # it cannot stream
    for _ in range(2):
        await classify("What is it?", model, RunUsage())
    assert seen == [(1, 300), (1, 300)]


def test_the_reply_and_the_mandate_come_with_the_intent() -> None:
    said = (
        'Here:\n```json\n{"intent": "build_flow", "reply": "Change", "reason": "call it Bob", '
        '"mandate": {"remove": ["the memory"], "reach": ["api.example.com"], "run": []}}\n```'
    )
    read = read_classification(said)
    assert (read.reply, read.reason) == ("change", "call it Bob")
    names = {"Memory-x1Y2z": name_words(["Message History", "Memory"]), "ChatOutput-x1Y2z": name_words(["ChatOutput"])}
    assert read.mandate.covers("remove", "Memory-x1Y2z", names)
    assert not read.mandate.covers("remove", "ChatOutput-x1Y2z", names)
    assert read.mandate.is_open("run")
    assert read.mandate.covers("reach", "api.example.com", {"api.example.com": {"api.example.com"}})
    assert not read.mandate.covers("overwrite_files", "notes.md", {"notes.md": {"note"}})


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "build_flow",
        '{"intent": "build_flow", "mandate": {"remove": ["mem',
        '{"intent": "build_flow", "mandate": "remove everything", "reply": 7}',
        '{"intent": "build_flow", "mandate": ["remove"], "reply": "yes and no"}',
        '{"intent": "build_flow", "mandate": {"remove": "memory", "demolish": []}, "reply": {}}',
        '{"intent": "build_flow", "mandate": {"remove": [{"all": true}]}}',
        '{"mandate": {"remove": []}, "reply": "approve"}',
    ],
)
def test_an_unreadable_mandate_covers_nothing_and_an_unreadable_reply_is_none(answer: str) -> None:
    read = read_classification(answer)
    assert not read.mandate.is_read
    assert not any(read.mandate.covers(effect, "a", {"a": {"a"}}) for effect in get_args(Effect))
    assert read.reply is None


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda a: st.lists(a) | st.dictionaries(st.text() | st.sampled_from(get_args(Effect)), a),
    )
)
def test_any_mandate_is_read_without_an_error(given_: object) -> None:
    said = {"intent": "build_flow", "mandate": given_, "reply": given_, "reason": given_}
    read = Classification.model_validate(said)
    assert set(read.mandate.effects) <= set(get_args(Effect))
    assert Classification.model_validate_json(read.model_dump_json()) == read


def test_the_classifier_is_told_the_kinds_of_question_that_wait() -> None:
    assert "`reply`" not in instructions()
    both = instructions(["removal", "edit", "edit"])
    assert both.startswith(instructions())
    assert "something to be removed or overwritten, a text to be replaced. " in both


def test_the_longest_usual_answer_fits_the_output_tokens() -> None:
    full = Classification(
        intent="component_then_flow",
        english="word " * 90,
        language="pt",
        model="claude-sonnet-4-5",
        provider="anthropic",
        reply="change",
        reason="call it something else",
        mandate=Mandate(effects={"remove": ("the old memory",), "write_components": (), "run": ("the flow",)}),
    )
    assert len(full.model_dump_json()) / 4 < OUTPUT_TOKENS
