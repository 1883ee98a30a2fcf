"""A user's turn, from request to result, with a scripted model and a stand-in engine."""

from pathlib import Path

import pytest
from pydantic_ai import PartStartEvent, TextPart
from pydantic_ai.models.test import TestModel

from agent.assistant import Assistant
from agent.errors import ModelChoiceError
from agent.models.scripted import call, tool_returns
from agent.prompts.framing import CUT, sanitise
from agent.settings import AssistantSettings
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEvent, TurnResult
from flows.catalogue import Catalogue
from runtime.results import RunError
from tests.shared.flow_texts import ECHO
from tests.shared.scripted_assistant import ScriptedModel, assistant, play, play_all, scripted_assistant
from tests.shared.stand_ins import StandInRunner, ran
from tools.events import FlowPreview, FlowUpdate, Progress

pytestmark = pytest.mark.anyio


async def test_the_first_event_comes_before_any_model_request(catalogue: Catalogue) -> None:
    who = assistant(catalogue, ScriptedModel(AssertionError("asked")))
    async with who.turn(TurnRequest(text="Build an echo")) as stream:
        assert isinstance(await anext(stream), Progress)


@pytest.mark.parity("ADR-MCP-038", "ADR-MCP-039", "scenario-build-run-lands")
async def test_a_flow_that_was_built_and_run_is_applied(catalogue: Catalogue) -> None:
    runner = StandInRunner(results=[ran("probe"), ran("hello")])
    who = assistant(
        catalogue,
        ScriptedModel(
            "build_flow", call("build_flow", 1, spec=ECHO), call("run_flow", 2, input="hello"), "Built and ran it."
        ),
        runner,
    )
    events, result = await play_all(who, "Build an echo and run it with hello")
    assert (result.outcome, result.intent, result.text) == ("complete", "build_flow", "Built and ran it.")
    assert [run.output for run in result.runs] == ["hello"], "the verification run is not the user's"
    assert [text for _, text in runner.asked] == ["hello", "hello"]
    assert runner.networks == ["gateway-only", "open"], "a verification run reaches nothing"
    assert result.proposal is None
    assert len(result.after.nodes) == 2
    assert [action.kind for action in result.actions] == ["set_flow"]
    assert result.faults == []
    updates = [event for event in events if isinstance(event, FlowUpdate)]
    assert [update.applied for update in updates] == [False, True]
    assert any(isinstance(event, FlowPreview) for event in events)


@pytest.mark.parity("term-working-flow", "term-flow-proposal-ready")
async def test_a_flow_that_was_only_built_is_offered(catalogue: Catalogue) -> None:
    who = assistant(catalogue, ScriptedModel("build_flow", call("build_flow", 1, spec=ECHO), "Have a look."))
    events, result = await play_all(who, "Build an echo")
    assert result.after.is_empty
    assert result.proposal is not None
    assert result.flow is result.proposal
    assert result.runs == []
    assert any(isinstance(event, Progress) and event.step == "flow_proposal_ready" for event in events)


async def test_edits_go_live_and_each_is_an_action(catalogue: Catalogue) -> None:
    who = assistant(
        catalogue,
        ScriptedModel(
            "build_flow",
            call("add_component", 1, type="ChatInput"),
            call("add_component", 2, type="ChatOutput"),
            "Added.",
        ),
    )
    events, result = await play_all(who, "Add a chat input and a chat output")
    assert [action.kind for action in result.actions] == ["add_component", "add_component"]
    assert [event.applied for event in events if isinstance(event, FlowUpdate)] == [True, True]
    assert [node.type for node in result.after.nodes] == ["ChatInput", "ChatOutput"]


async def test_text_is_held_in_turns_that_act_and_streamed_in_questions(catalogue: Catalogue) -> None:
    def texts(events: list[TurnEvent]) -> list[TurnEvent]:
        return [e for e in events if isinstance(e, PartStartEvent) and isinstance(e.part, TextPart)]

    acting, _ = await play_all(
        assistant(catalogue, ScriptedModel("build_flow", "Nothing to do here.")), "Change nothing"
    )
    asking, result = await play_all(assistant(catalogue, ScriptedModel("question", "A chat input.")), "What is it?")
    assert texts(acting) == []
    assert len(texts(asking)) == 1
    assert (result.intent, result.text) == ("question", "A chat input.")


@pytest.mark.parity("scenario-off-topic-bypass")
async def test_a_question_has_no_tools_that_change_or_run(catalogue: Catalogue) -> None:
    who, script = scripted_assistant(catalogue, "question", "It splits a text.")
    await play(who, "What does a parser do?")
    reading = {"search_components", "describe_component", "list_templates", "read_manual"}
    assert script.tools == [set(), reading]


@pytest.mark.parity("base-term-off-topic", "scenario-off-topic-bypass", "smoke-off-topic")
async def test_an_off_topic_message_is_refused_without_the_main_model(catalogue: Catalogue) -> None:
    result = await play(assistant(catalogue, ScriptedModel("off_topic")), "Tell me a joke")
    assert (result.outcome, result.intent) == ("refused", "off_topic")
    assert "Wirewright" in result.text
    assert result.usage["intent"].requests == 1
    assert result.usage["main"].requests == 0


async def test_a_spec_with_faults_is_a_retry_that_names_their_places(catalogue: Catalogue) -> None:
    wrong = call("build_flow", 1, spec=ECHO.replace("ChatOutput", "ChatOutputt"))
    who, script = scripted_assistant(catalogue, "build_flow", wrong, call("build_flow", 2, spec=ECHO), "Done.")
    result = await play(who, "Build an echo")
    assert result.proposal is not None
    last = [tool_returns(messages)[-1:] for messages in script.requests]
    heard = [str(part.content) for parts in last for part in parts if part.outcome == "retried"]
    assert len(heard) == 1
    assert "line 4" in heard[0]
    assert "ChatOutput" in heard[0]


async def test_a_model_that_repeats_its_mistake_is_stopped(catalogue: Catalogue) -> None:
    wrong = ECHO.replace("ChatOutput", "Nonsense")
    who = assistant(
        catalogue,
        ScriptedModel(
            "build_flow", call("build_flow", 1, spec=wrong), call("build_flow", 2, spec=wrong), "I could not build it."
        ),
    )
    result = await play(who, "Build an echo")
    assert (result.outcome, result.text) == ("complete", "I could not build it.")
    assert result.proposal is None
    assert result.after.is_empty


async def test_a_cause_outside_the_flow_becomes_a_caveat(catalogue: Catalogue) -> None:
    missing = ran(error=RunError(code="missing_model", message="No model is set."))
    who = assistant(
        catalogue,
        ScriptedModel("build_flow", call("build_flow", 1, spec=ECHO), "Built."),
        StandInRunner(results=[missing]),
    )
    result = await play(who, "Build an echo")
    assert result.proposal is not None
    assert result.caveats == ["It was checked but could not be run to the end: No model is set."]
    assert result.runs == []


async def test_a_fault_of_the_flow_is_a_retry(catalogue: Catalogue) -> None:
    broken = ran(error=RunError(code="missing_input", message="A pattern is needed.", node="b"))
    runner = StandInRunner(results=[broken, ran("ok")])
    other = ECHO + "config:\n  b.sender_name: Ada\n"
    who = assistant(
        catalogue,
        ScriptedModel("build_flow", call("build_flow", 1, spec=ECHO), call("build_flow", 2, spec=other), "Ok."),
        runner,
    )
    result = await play(who, "Build an echo")
    assert result.proposal is not None
    assert len(runner.asked) == 2


async def test_a_flow_is_built_but_not_run_when_the_engine_is_unavailable(catalogue: Catalogue) -> None:
    runner = StandInRunner(failure=RunError(code="crash", message="The flow engine could not be installed."))
    runner.state = "failed"
    who = assistant(
        catalogue,
        ScriptedModel("build_flow", call("build_flow", 1, spec=ECHO), call("run_flow", 2, input="x"), "Not run."),
        runner,
    )
    result = await play(who, "Build an echo and run it")
    assert result.proposal is not None
    assert result.runs == []
    assert result.caveats == ["It was checked but not run: The flow engine could not be installed."]


async def test_a_first_turn_says_that_it_waits_for_the_engine_to_be_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.assistant.shipped_catalogue", lambda _: None)
    runner = StandInRunner(failure=RunError(code="crash", message="It could not be installed.", fix="Try again."))
    who = Assistant(AssistantSettings(model="demo", cache=tmp_path), runner)
    events, result = await play_all(who, "What does the chat input do?")
    assert [event.step for event in events if isinstance(event, Progress)][-1] == "preparing_runner"
    assert result.error is not None
    assert (result.error.code, result.error.message) == ("catalogue_missing", "It could not be installed.")


async def test_a_failing_model_ends_the_turn_with_an_error_that_says_nothing_private(catalogue: Catalogue) -> None:
    who = assistant(catalogue, ScriptedModel(ValueError("/srv/secret/path sk-12345")))
    result = await play(who, "Build an echo")
    assert result.outcome == "error"
    assert result.error is not None
    assert result.error.code == "internal"
    assert "secret" not in result.model_dump_json()


async def test_actions_before_a_failure_are_kept(catalogue: Catalogue) -> None:
    who, _ = scripted_assistant(catalogue, "build_flow", call("add_component", 1, type="ChatInput"), ValueError("gone"))
    result = await play(who, "Add a chat input")
    assert result.outcome == "error"
    assert [node.type for node in result.after.nodes] == ["ChatInput"]


async def test_too_many_steps_end_the_turn_clearly(catalogue: Catalogue) -> None:
    searches = [call("search_components", step, query="chat") for step in range(1, 10)]
    who, _ = scripted_assistant(catalogue, "build_flow", *searches, request_limit=3)
    result = await play(who, "Search for ever")
    assert result.error is not None
    assert result.error.code == "limit"


async def test_a_result_survives_a_json_round_trip(catalogue: Catalogue) -> None:
    who = assistant(
        catalogue,
        ScriptedModel("build_flow", call("build_flow", 1, spec=ECHO), call("run_flow", 2, input="hi"), "Done."),
    )
    result = await play(who, "Build an echo and run it with hi")
    assert TurnResult.model_validate_json(result.model_dump_json()) == result


async def test_leaving_a_turn_cancels_its_run(catalogue: Catalogue) -> None:
    runner = StandInRunner(hangs=True)
    who = assistant(catalogue, ScriptedModel("build_flow", call("build_flow", 1, spec=ECHO)), runner)
    async with who.turn(TurnRequest(text="Build an echo")) as stream:
        async for _ in stream:
            if runner.running.is_set():
                break
            if runner.asked:
                break
        await runner.running.wait()
    assert runner.cancelled.is_set()


@pytest.mark.parity("term-flow-builder-tools")
async def test_every_tool_can_be_called_by_a_model_that_knows_only_its_schema(catalogue: Catalogue) -> None:
    who = assistant(catalogue, TestModel(custom_output_text="build_flow"))
    result = await play(who, "Do anything")
    assert result.outcome in {"complete", "pending", "error"}


async def test_an_unavailable_model_is_refused_before_the_turn(catalogue: Catalogue) -> None:
    who = Assistant(AssistantSettings(), StandInRunner(), catalogue=catalogue)
    async with who.turn(TurnRequest(text="hi", model="nobody:x")) as events:
        with pytest.raises(ModelChoiceError):
            await anext(events)


def test_a_message_loses_control_characters_keeps_lines_and_says_when_it_is_cut() -> None:
    assert sanitise("a\x00b\nc\td\x1b[0m", 100) == "ab\nc\td[0m"
    assert sanitise("x" * 10, 4) == "xxxx" + CUT


def test_the_prompts_are_package_data() -> None:
    import agent.prompts

    folder = Path(agent.prompts.__file__).parent
    assert {path.stem for path in folder.glob("*.md")} >= {"builder", "question", "intent"}
