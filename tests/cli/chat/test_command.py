"""`wirewright chat`: a conversation with approvals answered in place, by a person or from a pipe."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from pydantic_ai import TextPart, ToolCallPart

from agent.assistant import Assistant
from agent.models.scripted import call, tool_returns
from agent.prompts.frames import unframed
from agent.settings import AssistantSettings
from cli.chat.conversation import ChatSession
from cli.chat.lines import EndOfInput, Lines
from cli.chat.partners.local import LocalPartner
from flows.catalogue import Catalogue
from flows.document import Flow
from tests.cli.conftest import Wirewright
from tests.shared.flow_texts import ECHO, LOUDER, flow_of, node_id
from tests.shared.scripted_assistant import ScriptedModel
from tests.shared.shelf import SPEC, index_of, shelf_of
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = pytest.mark.anyio


class Typed(Lines):
    """Lines that are known beforehand; remembers the prompts."""

    def __init__(self, *lines: str) -> None:
        super().__init__()
        self._left = list(lines)
        self.prompts: list[str] = []

    async def next(self, prompt: str) -> str:
        """The next of them."""
        self.prompts.append(prompt)
        if not self._left:
            raise EndOfInput
        return self._left.pop(0)


def assistant(catalogue: Catalogue, *replies: Sequence[ToolCallPart | TextPart] | str) -> Assistant:
    return Assistant(
        AssistantSettings(), StandInRunner(results=[ran("done")]), catalogue=catalogue, model=ScriptedModel(*replies)
    )


@pytest.fixture
def canvas(catalogue: Catalogue) -> Flow:
    return flow_of(LOUDER, catalogue)


def prompt_of(flow: Flow) -> str:
    return node_id(flow, "Prompt Template")


async def test_an_offered_flow_is_put_on_the_canvas_when_the_user_says_so(catalogue: Catalogue, tmp_path: Path) -> None:
    target = tmp_path / "echo.json"
    conversation = ChatSession(target=target)
    lines = Typed("Build an echo", "y")
    replies = ["build_flow", [call("build_flow", 1, spec=ECHO)], "Have a look."]
    assert await conversation.hold(LocalPartner(assistant(catalogue, *replies)), lines)
    assert conversation.canvas is not None
    assert [node.type for node in conversation.canvas.nodes] == ["ChatInput", "ChatOutput"]
    assert json.loads(target.read_text())["name"] == "Echo"
    assert lines.prompts == ["> ", "Put it on the canvas? [y/N] ", "> "]


@pytest.mark.parametrize(("reply", "installed"), [("y", [["lfx-shelf"]]), ("n", []), ("", [])])
async def test_a_bundle_is_installed_only_when_the_user_says_so(
    catalogue: Catalogue, capsys: pytest.CaptureFixture[str], reply: str, installed: list[list[str]]
) -> None:
    shelf = shelf_of(catalogue)
    replies = ["build_flow", call("build_flow", 1, spec=SPEC), "Have a look."]
    who = Assistant(
        AssistantSettings(), shelf, catalogue=catalogue, model=ScriptedModel(*replies), bundles=index_of(catalogue)
    )
    await ChatSession(approve_all=True).hold(LocalPartner(who), Typed("Shout what I write", reply, "y"))
    assert shelf.installed == installed, "--yes covers no installation"
    assert "Install shelf: lfx-shelf (7 MB)" in capsys.readouterr().err


async def test_a_flow_that_is_turned_down_leaves_the_canvas_as_it_is(catalogue: Catalogue, canvas: Flow) -> None:
    conversation = ChatSession(canvas=canvas)
    replies = ["build_flow", [call("build_flow", 1, spec=ECHO)], "Have a look."]
    await conversation.hold(LocalPartner(assistant(catalogue, *replies)), Typed("Build an echo beside it", "n"))
    assert conversation.canvas == canvas


async def test_an_edit_is_asked_about_and_done_when_approved(
    catalogue: Catalogue, canvas: Flow, capsys: pytest.CaptureFixture[str]
) -> None:
    node = prompt_of(canvas)
    change = call("configure_component", 1, component_id=node, values={"template": "Whisper: {text}"})
    for said, template in (("y", "Whisper: {text}"), ("too quiet", "Say it louder: {text}\n")):
        conversation = ChatSession(canvas=canvas)
        lines = Typed("Make it whisper", said)
        read = [] if said == "y" else ['{"intent": "build_flow", "reply": "deny"}']
        await conversation.hold(
            LocalPartner(assistant(catalogue, "build_flow", [change], *read, "Done as you said.")), lines
        )
        assert conversation.canvas is not None
        found = conversation.canvas.node(node)
        assert found is not None
        assert str(found.value("template")).strip() == template.strip()
        assert lines.prompts[1] == "Go ahead? [y/N, or why not] "
    assert "+ Whisper: {text}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("reply", "denial"), [("n", "The user said no. Nothing"), ("too quiet", "The user said no: too quiet. Nothing")]
)
async def test_the_model_reads_a_denial_once(reply: str, denial: str, catalogue: Catalogue, canvas: Flow) -> None:
    change = call("configure_component", 1, component_id=prompt_of(canvas), values={"template": "Whisper: {text}"})
    read = [] if reply == "n" else ["I cannot say"]
    model = ScriptedModel("build_flow", [change], *read, "Understood.")
    who = Assistant(AssistantSettings(), StandInRunner(), catalogue=catalogue, model=model)
    await ChatSession(canvas=canvas).hold(LocalPartner(who), Typed("Make it whisper", reply))
    assert [part for part in tool_returns(model.requests[-1]) if unframed(str(part.content)).startswith(denial)]


@pytest.mark.parametrize("reply", ["ja, mach", "sí, adelante", "はい", "sounds good"])
async def test_a_yes_in_any_language_is_a_yes(reply: str, catalogue: Catalogue, canvas: Flow) -> None:
    change = call("configure_component", 1, component_id=prompt_of(canvas), values={"template": "Whisper: {text}"})
    conversation = ChatSession(canvas=canvas)
    await conversation.hold(
        LocalPartner(assistant(catalogue, "build_flow", [change], "Done.")), Typed("Make it whisper", reply)
    )
    assert "Whisper: {text}" in str(conversation.canvas)


async def test_a_reply_that_wants_it_differently_is_done_so(catalogue: Catalogue, canvas: Flow) -> None:
    first, second = (
        call("configure_component", step, component_id=prompt_of(canvas), values={"template": text})
        for step, text in enumerate(("Whisper: {text}", "Sing: {text}"), 1)
    )
    read = '{"intent": "build_flow", "reply": "change"}'
    conversation = ChatSession(canvas=canvas)
    who = assistant(catalogue, "build_flow", [first], read, [second], "It sings.")
    lines = Typed("Make it whisper", "ok but make it Sing: {text}")
    await conversation.hold(LocalPartner(who), lines)
    assert "Sing: {text}" in str(conversation.canvas)
    assert lines.prompts.count("Go ahead? [y/N, or why not] ") == 1, "what the user has dictated is not asked again"


async def test_the_first_of_two_questions_is_answered_before_words_answer_the_second(
    catalogue: Catalogue, canvas: Flow
) -> None:
    change = call("configure_component", 1, component_id=prompt_of(canvas), values={"template": "Whisper: {text}"})
    name = call("configure_component", 2, component_id=node_id(canvas, "ChatOutput"), values={"sender_name": "Ada"})
    read = '{"intent": "build_flow", "reply": "deny"}'
    conversation = ChatSession(canvas=canvas)
    who = assistant(catalogue, "build_flow", [change, name], read, "Half of it.")
    await conversation.hold(LocalPartner(who), Typed("Whisper, Ada", "y", "the name is fine as it is"))
    assert "Whisper: {text}" in str(conversation.canvas)
    assert "Ada" not in str(conversation.canvas)


async def test_the_conversation_is_kept_until_it_is_reset(
    catalogue: Catalogue, capsys: pytest.CaptureFixture[str]
) -> None:
    who = assistant(catalogue, "question", "First.", "question", "Second.")
    conversation = ChatSession()
    await conversation.hold(
        LocalPartner(who), Typed("What is it?", "And then?", "/show", "/reset", "/nope", "/quit", "never read")
    )
    output = capsys.readouterr()
    assert output.out.splitlines() == ["First.", "Second.", "The canvas is empty."]
    assert "The conversation and the components created for you are deleted." in output.err
    assert "Unknown command: /nope." in output.err
    assert (await who.memory.load("local", conversation.session)).turns == []


async def test_a_failed_turn_is_reported_and_the_conversation_goes_on(
    catalogue: Catalogue, capsys: pytest.CaptureFixture[str]
) -> None:
    conversation = ChatSession(model="nobody:model")
    who = Assistant(AssistantSettings(), StandInRunner(), catalogue=catalogue)
    assert not await conversation.hold(LocalPartner(who), Typed("Hello"))
    assert "Unknown provider: nobody." in capsys.readouterr().err


async def test_an_interruption_stops_the_turn_and_not_the_conversation(
    catalogue: Catalogue, capsys: pytest.CaptureFixture[str]
) -> None:
    blocked = ScriptedModel("question", "Never said.", blocks_at=1)
    who = Assistant(AssistantSettings(), StandInRunner(), catalogue=catalogue, model=blocked)
    lines = Typed("What is it?", "/show")
    holding = asyncio.ensure_future(ChatSession().hold(LocalPartner(who), lines))
    await blocked.blocked.wait()
    lines.interrupt()
    assert await holding
    assert blocked.cancelled.is_set()
    output = capsys.readouterr()
    assert "Stopped." in output.err
    assert "The canvas is empty." in output.out


async def test_ending_the_input_lets_no_more_lines_come(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = Lines()
    lines.end()
    with pytest.raises(EndOfInput):
        await lines.next("> ")


def test_messages_may_be_piped_in(wirewright: Wirewright, runner: StandInRunner) -> None:
    done = wirewright("chat", "--model", "demo", stdin=b"What does the Chat Input do?\n/show\n")
    assert done.code == 0
    assert "The canvas is empty." in done.out
    assert "Chat Input" in done.out


@pytest.mark.parametrize("option", [(), ("--json",)])
def test_the_end_of_the_input_at_a_question_is_no_answer(
    wirewright: Wirewright, runner: StandInRunner, louder_json: Path, tmp_path: Path, option: tuple[str, ...]
) -> None:
    target = tmp_path / "kept.json"
    change = b"Change the prompt to 'Whisper it: {text}'\n"
    done = wirewright("chat", "--model", "demo", "--flow", louder_json, "--out", target, *option, stdin=change)
    assert done.code == 3
    assert "Whisper" not in (target.read_text() if target.exists() else "")
    assert "it still waits for your answer" in done.err
    [resume] = [line.removeprefix("Go on with: wirewright ") for line in done.err.splitlines() if "--resume" in line]
    again = wirewright(*resume.split(), "--model", "demo", "--out", target, stdin=b"y\n")
    assert again.code == 0
    assert "Whisper it: {text}" in target.read_text()


def test_a_key_is_not_kept_and_nothing_is_built_when_the_input_ends_at_the_question(
    wirewright: Wirewright, runner: StandInRunner
) -> None:
    message = b"Build a chatbot with the key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD\n"
    done = wirewright("chat", "--model", "demo", stdin=message)
    assert done.code == 3
    assert "Chatbot" not in done.out
    assert wirewright("variables", "list", "--json").json["variables"] == []


def test_a_flow_that_is_offered_goes_on_waiting_when_the_input_ends(
    wirewright: Wirewright, runner: StandInRunner
) -> None:
    done = wirewright("chat", "--model", "demo", stdin=b"Build an echo flow\nwhy?\n")
    assert done.code == 3
    assert "the flow is only proposed" in done.out
    assert done.err.count("it still waits for your answer") == 1


async def test_an_offer_is_made_again_after_a_question_about_it(catalogue: Catalogue, tmp_path: Path) -> None:
    who = Assistant(AssistantSettings(model="demo"), StandInRunner(), catalogue=catalogue)
    conversation, lines = ChatSession(target=tmp_path / "echo.json"), Typed("Build an echo flow", "why?", "y")
    assert await conversation.hold(LocalPartner(who), lines)
    assert lines.prompts.count("Put it on the canvas? [y/N] ") == 2
    assert conversation.canvas is not None


def test_a_flow_to_work_on_is_read_first(wirewright: Wirewright, runner: StandInRunner, louder_json: Path) -> None:
    done = wirewright("chat", "--model", "demo", "--flow", louder_json, stdin=b"/show\n")
    assert (done.code, "ChatOutput" in done.out) == (0, True)


@pytest.mark.parametrize(
    "arguments", [("--flow", "-"), ("--flow", "missing.json"), ("--model", "openai:x"), ("--out", "no/such/folder/x")]
)
def test_unusable_options_are_refused_before_any_message_is_read(
    wirewright: Wirewright, excerpt: Path, arguments: tuple[str, ...]
) -> None:
    done = wirewright("chat", *arguments, stdin=b"/show\n")
    assert (done.code, done.out) == (2, "")
    assert done.err


def test_standard_input_must_be_text(wirewright: Wirewright, runner: StandInRunner) -> None:
    done = wirewright("chat", "--model", "demo", stdin=b"\xff\xfe\n")
    assert (done.code, done.out) == (2, "")
    assert "UTF-8" in done.err


async def test_a_conversation_prints_lines_of_json_with_the_json_option(
    catalogue: Catalogue, canvas: Flow, capsys: pytest.CaptureFixture[str]
) -> None:
    edit = call("configure_component", 1, component_id=prompt_of(canvas), values={"template": "Whisper: {text}"})
    conversation = ChatSession(canvas=canvas, as_json=True)
    who = assistant(catalogue, "build_flow", [edit], "I changed the prompt.", "question", "It whispers.")
    assert await conversation.hold(LocalPartner(who), Typed("Have it whisper", "y", "/show", "What does it do?"))
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    ended = [event for event in events if event["event"] == "complete"]
    assert [len(event["data"].get("approvals", [])) for event in ended] == [1, 0, 0]
    assert [event["data"]["result"] for event in ended[1:]] == ["I changed the prompt.", "It whispers."]
    [shown] = [event for event in events if event["event"] == "canvas"]
    assert shown["flow"] == (conversation.canvas or canvas).to_json()
    assert "Whisper: {text}" in json.dumps(shown)


async def test_a_stopped_turn_ends_with_a_cancelled_line_with_the_json_option(
    catalogue: Catalogue, capsys: pytest.CaptureFixture[str]
) -> None:
    blocked, lines = ScriptedModel("question", "Never said.", blocks_at=1), Typed("What is it?")
    who = Assistant(AssistantSettings(), StandInRunner(), catalogue=catalogue, model=blocked)
    talking = asyncio.create_task(ChatSession(as_json=True).hold(LocalPartner(who), lines))
    await blocked.blocked.wait()
    lines.interrupt()
    assert await talking
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert events[-1]["event"] == "cancelled"


async def test_an_attached_file_goes_with_the_next_message_alone(catalogue: Catalogue, tmp_path: Path) -> None:
    (tmp_path / "hours.txt").write_text("Open from nine")
    model = ScriptedModel("question", "At nine.", "question", "Yes.")
    who = Assistant(AssistantSettings(), StandInRunner(), catalogue=catalogue, model=model)
    lines = Typed(f"/file {tmp_path / 'nope.txt'}", f"/file {tmp_path / 'hours.txt'}", "When is it open?", "Sure?")
    assert await ChatSession().hold(LocalPartner(who), lines)
    assert "hours.txt (14 bytes)" in model.prompts[1]
    assert "hours.txt (14 bytes)" not in model.prompts[3]
    assert "(Attached: hours.txt)" in model.prompts[3], "what was attached stays in the history"
