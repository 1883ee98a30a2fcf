"""The commands inside a conversation, typed or from a pipe."""

import json
from pathlib import Path

import pytest

from agent.assistant import Assistant
from agent.settings import AssistantSettings
from cli.chat.conversation import ChatSession
from cli.chat.lines import EndOfInput, Lines, Unanswered
from cli.chat.partners.local import LocalPartner
from flows.catalogue import Catalogue
from flows.document import Flow
from tests.shared.flow_texts import ECHO, LOUDER, flow_of
from tests.shared.scripted_assistant import ScriptedModel
from tests.shared.stand_ins import StandInRunner

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("excerpt")]


class Typed(Lines):
    """Lines that a person types, and answers to questions; None turns away from one."""

    def __init__(self, *lines: str, answers: tuple[str | None, ...] = (), interactive: bool = True) -> None:
        super().__init__()
        self.interactive = interactive
        self.questions: list[str] = []
        self._left, self._answers = list(lines), list(answers)

    async def next(self, prompt: str) -> str:
        """The next line."""
        if not self._left:
            raise EndOfInput
        return self._left.pop(0)

    async def ask(self, prompt: str) -> str:
        """The next answer."""
        self.questions.append(prompt)
        answer = self._answers.pop(0)
        if answer is None:
            raise Unanswered
        return answer


@pytest.fixture
def assistant(catalogue: Catalogue) -> Assistant:
    return Assistant(AssistantSettings(model="demo"), StandInRunner(), catalogue=catalogue)


@pytest.fixture
def canvas(catalogue: Catalogue) -> Flow:
    return flow_of(LOUDER, catalogue)


@pytest.fixture
def echo(tmp_path: Path) -> Path:
    path = tmp_path / "echo flow.txt"
    path.write_text(ECHO)
    return path


async def test_a_flow_is_loaded_and_what_it_replaced_is_put_back_by_undo(
    assistant: Assistant, canvas: Flow, echo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    conversation = ChatSession(canvas=canvas, target=tmp_path / "kept.json")
    await conversation.hold(LocalPartner(assistant), Typed(f"/flow {echo}"))
    assert conversation.canvas is not None
    assert [node.type for node in conversation.canvas.nodes] == ["ChatInput", "ChatOutput"]
    assert json.loads((tmp_path / "kept.json").read_text())["name"] == "Echo"
    await conversation.hold(LocalPartner(assistant), Typed("/undo"))
    assert conversation.canvas == canvas
    assert json.loads((tmp_path / "kept.json").read_text()) == canvas.to_json()
    assert "“Echo” is on the canvas (2 nodes). /undo puts back what was there." in capsys.readouterr().err


async def test_flow_without_a_path_draws_the_canvas(
    assistant: Assistant, canvas: Flow, capsys: pytest.CaptureFixture[str]
) -> None:
    await ChatSession(canvas=canvas).hold(LocalPartner(assistant), Typed("/flow"))
    await ChatSession().hold(LocalPartner(assistant), Typed("/flow"))
    out = capsys.readouterr().out
    assert "[ChatInput] -message-> Prompt Template.text" in out
    assert out.endswith("The canvas is empty.\n")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/flow nope.json", "nope.json does not exist. Name an existing file"),
        ("/save", "/save needs the name of a file."),
        ("/save no/such/folder/x.json", "The directory of no/such/folder/x.json does not exist."),
        ("/file", "/file needs the path of a file."),
        ("/file nope.txt", "nope.txt does not exist."),
        ("/flow ~nobody-here/x", "~nobody-here/x does not exist."),
        ("/model openai:gpt-6-luna", "Provider 'openai' is not configured. Available providers: demo only."),
        ("/model nobody:x", "Unknown provider: nobody."),
    ],
)
async def test_what_cannot_be_done_is_said_and_the_conversation_goes_on(
    assistant: Assistant, canvas: Flow, capsys: pytest.CaptureFixture[str], line: str, said: str
) -> None:
    conversation = ChatSession(canvas=canvas, model="demo")
    assert await conversation.hold(LocalPartner(assistant), Typed(line, "/show"))
    output = capsys.readouterr()
    assert said in output.err
    assert "[ChatInput]" in output.out
    assert (conversation.canvas, conversation.model) == (canvas, "demo")


async def test_nothing_is_saved_from_an_empty_canvas(
    assistant: Assistant, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await ChatSession().hold(LocalPartner(assistant), Typed(f"/save {tmp_path / 'x.json'}"))
    assert "The canvas is empty" in capsys.readouterr().err
    assert not (tmp_path / "x.json").exists()


@pytest.mark.parametrize(("answer", "replaced"), [("y", True), ("n", False), (None, False)])
async def test_a_person_is_asked_before_a_file_of_others_is_replaced(
    assistant: Assistant, canvas: Flow, tmp_path: Path, answer: str | None, replaced: bool
) -> None:
    path = tmp_path / "notes.json"
    path.write_text("mine")
    lines = Typed(f"/save {path}", answers=(answer,))
    await ChatSession(canvas=canvas).hold(LocalPartner(assistant), lines)
    assert lines.questions == [f"{path} exists. Replace it? [y/N] "]
    assert (path.read_text() != "mine") is replaced


async def test_a_file_of_the_conversation_is_saved_again_without_a_question(
    assistant: Assistant, canvas: Flow, tmp_path: Path
) -> None:
    lines = Typed(f"/save {tmp_path / 'a.json'}", f"/flow {tmp_path / 'a.json'}", f"/save {tmp_path / 'a.json'}")
    await ChatSession(canvas=canvas).hold(LocalPartner(assistant), lines)
    assert lines.questions == []
    assert json.loads((tmp_path / "a.json").read_text()) == canvas.to_json()


async def test_a_pipe_is_asked_nothing_when_it_saves(assistant: Assistant, canvas: Flow, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("old")
    lines = Typed(f"/save {tmp_path / 'a.json'}", interactive=False)
    await ChatSession(canvas=canvas).hold(LocalPartner(assistant), lines)
    assert lines.questions == []
    assert json.loads((tmp_path / "a.json").read_text()) == canvas.to_json()


async def test_the_model_is_shown_and_changed_for_the_turns_that_follow(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "no-key")
    assistant = Assistant(AssistantSettings(model="demo"), StandInRunner(), catalogue=catalogue)
    conversation = ChatSession()
    await conversation.hold(LocalPartner(assistant), Typed("/model", "/model openai:gpt-6-luna"))
    assert conversation.model == "openai:gpt-6-luna"
    said = capsys.readouterr().err
    assert "The model is demo (the demo planner, not a language model)." in said
    assert "openai:gpt-6-luna" in next(line for line in said.splitlines() if line.startswith("Available: "))
    assert said.endswith("The model is openai:gpt-6-luna.\n")


async def test_mentions_of_a_person_reach_the_assistant_as_quoted_ids_and_files(
    catalogue: Catalogue, canvas: Flow, tmp_path: Path
) -> None:
    (tmp_path / "hours.txt").write_text("Open from nine")
    model = ScriptedModel("question", "It does.")
    assistant = Assistant(AssistantSettings(), StandInRunner(), catalogue=catalogue, model=model)
    node = canvas.nodes[1].id
    lines = Typed(f"/file {tmp_path / 'hours.txt'}", "/nope", f"Does @{node} read @hours.txt?")
    await ChatSession(canvas=canvas).hold(LocalPartner(assistant), lines)
    assert f"Does '{node}' read hours.txt?" in model.prompts[1]
    assert "hours.txt (14 bytes)" in model.prompts[1]


@pytest.mark.parametrize(
    ("line", "said"),
    [("/sve x.json", "Did you mean /save? /help"), ("/Help", "Did you mean /help?"), ("/zzzz", "/zzzz. /help lists")],
)
async def test_an_unknown_command_names_the_nearest_and_not_all_of_them(
    assistant: Assistant, canvas: Flow, capsys: pytest.CaptureFixture[str], line: str, said: str
) -> None:
    await ChatSession(canvas=canvas).hold(LocalPartner(assistant), Typed(line))
    shown = capsys.readouterr().err
    assert said in shown
    assert "/forget" not in shown


async def test_turning_away_from_a_question_leaves_it_waiting(
    assistant: Assistant, canvas: Flow, capsys: pytest.CaptureFixture[str]
) -> None:
    conversation = ChatSession(canvas=canvas)
    lines = Typed("Change the prompt to 'Whisper it: {text}'", answers=(None,))
    assert await conversation.hold(LocalPartner(assistant), lines)
    assert conversation.canvas == canvas
    assert len(await assistant.pending("local", conversation.session)) == 1
    assert "it still waits for your answer" in capsys.readouterr().err
    await conversation.hold(LocalPartner(assistant), Typed("yes"))
    assert "Whisper it: {text}" in str(conversation.canvas)


@pytest.mark.parametrize("word", ["go on", "mach weiter", "continuez", "続けて"])
@pytest.mark.parametrize(
    ("message", "changed"), [("Change the prompt to 'Whisper it: {text}'", "Whisper"), ("Build an echo flow", "Echo")]
)
async def test_going_on_after_turning_away_from_a_question_asks_it_again_and_is_no_yes(
    assistant: Assistant, canvas: Flow, word: str, message: str, changed: str
) -> None:
    conversation = ChatSession(canvas=canvas)
    lines = Typed(message, word, answers=(None, None))
    assert await conversation.hold(LocalPartner(assistant), lines)
    assert conversation.canvas == canvas
    assert len(lines.questions) == 2
    assert lines.questions[0] == lines.questions[1], "it is asked again"
    await conversation.hold(LocalPartner(assistant), Typed(word, answers=("y",)))
    assert conversation.canvas != canvas, changed


async def test_a_question_tells_its_lines_the_language_of_the_conversation(assistant: Assistant, canvas: Flow) -> None:
    lines = Typed("Bitte ändere den Prompt zu 'Flüstere es: {text}'", answers=(None,))
    await ChatSession(canvas=canvas).hold(LocalPartner(assistant), lines)
    assert lines.language == "de"
