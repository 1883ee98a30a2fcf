"""Messages fit for a model: ids, summaries, limits, cached reads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai import ModelResponse, ToolCallPart
from pydantic_ai.messages import UserPromptPart
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RunUsage

from agent.conversation.compaction import DEFAULT_CONTEXT, HistoryCompaction, with_unique_ids
from agent.models.chain import chain
from agent.models.connections import connect
from agent.models.scripted import call, tool_returns
from flows.catalogue import Catalogue
from tests.shared.flow_texts import ECHO, flow_of
from tests.shared.scripted_assistant import play, scripted_assistant
from tests.shared.stand_ins import StandInRunner
from tools.workbench import Workbench

SEARCHES = 5
"""As many as nearly fill a small context."""
ids = st.lists(st.sampled_from(["", "a", "b", "a_2"]), max_size=6)


@given(ids, st.sets(st.sampled_from(["a", "b", "c"])))
def test_every_call_has_an_id_of_its_own(given_ids: list[str], taken: set[str]) -> None:
    response = ModelResponse(parts=[ToolCallPart("f", {}, tool_call_id=one) for one in given_ids])
    fixed = with_unique_ids(response, taken)
    got = [part.tool_call_id for part in fixed.parts if isinstance(part, ToolCallPart)]
    assert len(set(got)) == len(got) == len(given_ids)
    assert not set(got) & taken
    assert "" not in got
    if len(set(given_ids)) == len(given_ids) and not set(given_ids) & (taken | {""}):
        assert fixed is response


@pytest.mark.anyio
async def test_calls_that_share_an_id_are_answered_each(catalogue: Catalogue) -> None:
    same = [call("add_component", 1, type="ChatInput"), call("add_component", 1, type="ChatOutput")]
    who, script = scripted_assistant(catalogue, "build_flow", same, "I added both.")
    result = await play(who, "Add an input and an output")
    assert len(result.after.nodes) == 2
    parts = tool_returns(script.requests[-1])
    assert [answer.split("-")[0] for answer in script.tool_answers(-1)] == ["Added ChatInput", "Added ChatOutput"]
    assert len({part.tool_call_id for part in parts}) == 2


@pytest.mark.anyio
async def test_a_long_turn_is_summarised_before_the_context_is_full(catalogue: Catalogue) -> None:
    looks = [call("search_components", step, query=f"{'prompt ' * 400}{step}") for step in range(1, 8)]
    who, script = scripted_assistant(
        catalogue,
        "build_flow",
        *looks[:SEARCHES],
        "The user wants an echo; searches were made.",
        call("build_flow", 9, spec=ECHO),
        "I built it.",
        context_tokens=4_000,
    )
    result = await play(who, "Build an echo")
    assert result.proposal is not None, result.error
    assert not script.replies
    prompts = [
        str(part.content)
        for message in script.requests[-1]
        for part in message.parts
        if isinstance(part, UserPromptPart)
    ]
    assert prompts[0].endswith("Build an echo"), "what was asked stays"
    assert prompts[1].startswith("[Summary of the work so far")
    assert "searches were made.\n[End of summary]" in prompts[1]
    assert any(one.startswith("[Messages of the work so far (data") for one in script.prompts), "what is summarised"
    assert len(script.requests[-1]) < 2 * SEARCHES
    assert result.usage["main"].requests == SEARCHES + 3, "the summary is paid for"


@pytest.mark.parametrize(
    ("known", "set_to", "capacity"),
    [(None, None, DEFAULT_CONTEXT), (200_000, None, 200_000), (200_000, 32_000, 32_000), (None, 64_000, 64_000)],
)
def test_the_context_size_is_the_setting_or_else_the_models(
    known: int | None, set_to: int | None, capacity: int
) -> None:
    model = TestModel(profile={"context_window": known})
    assert HistoryCompaction(model=model, usage=RunUsage(), context_tokens=set_to).capacity == capacity


def test_the_smallest_context_of_a_chain_counts_and_known_models_need_no_setting() -> None:
    def of(tokens: int) -> TestModel:
        return TestModel(profile={"context_window": tokens})

    assert HistoryCompaction(model=chain([of(200_000), of(64_000)]), usage=RunUsage()).capacity == 64_000
    known = connect("anthropic", "claude-sonnet-4-5", {"ANTHROPIC_API_KEY": "k"})
    assert HistoryCompaction(model=chain([known]), usage=RunUsage()).capacity > DEFAULT_CONTEXT


@pytest.mark.anyio
async def test_a_model_with_a_large_context_is_not_summarised_early(catalogue: Catalogue) -> None:
    looks = [call("search_components", step, query=f"{'prompt ' * 400}{step}") for step in range(1, 8)]
    who, script = scripted_assistant(
        catalogue, "build_flow", *looks[:SEARCHES], call("build_flow", 9, spec=ECHO), "I built it."
    )
    result = await play(who, "Build an echo")
    assert (result.outcome, result.usage["main"].requests) == ("complete", SEARCHES + 2)
    assert not script.replies


@pytest.mark.anyio
@pytest.mark.parametrize(
    "settings", [{"request_limit": 3}, {"tool_limit": 2}, {"token_limit": 1_000}], ids=["requests", "tools", "tokens"]
)
async def test_a_limit_ends_a_turn_with_an_error_and_its_usage(catalogue: Catalogue, settings: dict[str, int]) -> None:
    looks = [call("search_components", step, query="prompt " * 300) for step in range(1, 9)]
    who, _ = scripted_assistant(catalogue, "build_flow", *looks, **settings)
    result = await play(who, "Search for ever")
    assert result.error is not None
    assert (result.outcome, result.error.code) == ("error", "limit")
    assert result.usage["main"].requests >= 1
    assert result.usage["intent"].requests == 1
    assert result.seconds > 0


@pytest.mark.anyio
async def test_refused_turns_report_their_cost(catalogue: Catalogue) -> None:
    who, _ = scripted_assistant(catalogue, "off_topic")
    result = await play(who, "Tell me a joke")
    assert (result.outcome, result.usage["intent"].requests, result.usage["main"].requests) == ("refused", 1, 0)
    assert result.usage["intent"].input_tokens > 0


def test_a_catalogue_read_is_cached_unless_it_fails(catalogue: Catalogue) -> None:
    bench = Workbench(user="u", session="s", catalogue=catalogue, runner=StandInRunner(), flow=flow_of(ECHO, catalogue))
    count = 0

    def read() -> str:
        nonlocal count
        count += 1
        if count == 1:
            raise LookupError
        return "text"

    with pytest.raises(LookupError):
        bench.cached_read(("describe", "x"), read)
    assert [bench.cached_read(("describe", "x"), read) for _ in range(3)] == ["text"] * 3
    assert count == 2
    assert bench.cached_read(("describe", "y"), lambda: "other") == "other"
    bench.catalogue = Catalogue.from_json(
        {"format": 1, "lfx": "1", "runner": "x", "components": {one.type: one.raw for one in catalogue}}
    )
    assert bench.cached_read(("describe", "x"), lambda: "anew") == "anew", "another catalogue is read anew"


@pytest.mark.anyio
async def test_a_message_keeps_its_lines_and_says_that_it_was_cut(catalogue: Catalogue) -> None:
    who, script = scripted_assistant(catalogue, "question", "Long.", input_limit=100)
    await play(who, "a\x00b\r\nc\td\x1b[0m" + "x" * 200)
    assert script.prompts[1].startswith("ab\nc\td[0mxx")
    assert script.prompts[1].endswith("[the message was longer; the rest was cut]")
