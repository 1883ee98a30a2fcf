"""`wirewright chat` at a real terminal: whole screens at three widths, and what keys do.

`--update-surfaces` writes the screens again.
"""

import os
import re
import sys
from pathlib import Path

import pytest

from tests.cli.chat.conftest import Chat
from tests.cli.chat.terminal import Terminal, needs_tmux

pytestmark = [needs_tmux, pytest.mark.engine]

SCREENS = Path(__file__).parent / "snapshots"
WIDTHS = (60, 80, 200)
READY = r"^>$"
MENUS = {"completion menu"}
"""The screens whose words depend on the width, because a menu cuts its remarks."""

BUILD = "Build a flow that puts the chat input into the prompt 'Say it louder: {text}' and answers with it"
CHINESE = "请用中文写一个关于提示模板的简短说明，并告诉我它在流程中有什么用处，以及应该把它连接到哪些组件。"


def test_the_screens_of_a_conversation(
    chat: Chat, silent_provider: str, columns: int, request: pytest.FixtureRequest
) -> None:
    shown = screens(chat, silent_provider, columns)
    file = SCREENS / f"{columns}.txt"
    text = "".join(f"{f'== {name} ':=<{columns}}\n{screen}\n" for name, screen in shown.items())
    if request.config.getoption("--update-surfaces"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Take the screens at each width."""
    if "columns" in metafunc.fixturenames:
        metafunc.parametrize("columns", WIDTHS)


def screens(chat: Chat, provider: str, columns: int) -> dict[str, str]:
    """One conversation at a width: its screens by their names."""
    shown: dict[str, str] = {}
    model = {"OPENAI_API_KEY": "no-key", "OPENAI_BASE_URL": provider}
    with chat(columns=columns, **model) as terminal:

        def see(name: str, pattern: str = READY) -> None:
            shown[name] = terminal.wait_for(pattern)
            assert_no_debris(shown[name])

        def send(text: str) -> None:
            terminal.press("C-l")
            terminal.type(text)
            terminal.press("Enter")

        see("start")
        send("/help")
        see("/help", answered("/help"))
        terminal.press("C-l")
        terminal.type("/f")
        see("completion menu", "/forget")
        terminal.press("C-c")
        terminal.wait_for(r"^Ctrl-D leaves\.\n>$")
        send(BUILD)
        see("a build with its proposal", r"\[y/N\]$")
        terminal.type("y")
        terminal.press("Enter")
        terminal.wait_for(READY)
        terminal.press("C-l")
        terminal.type("Change the prompt to")
        terminal.press("M-Enter")
        terminal.type("'Whisper it: {text}'")
        terminal.press("C-j")
        terminal.type(CHINESE)
        see("several lines", "组件。")
        terminal.press("C-c")
        terminal.wait_for(READY)
        send("Change the prompt to 'Whisper it: {text}'")
        see("an approval with its difference", r"why not\]$")
        terminal.type("y")
        terminal.press("Enter")
        see("an approval that was given", answered("Change the prompt"))
        send("What does the Prompt Template do?")
        see("a long answer", answered("What does the Prompt"))
        send("/model openai-chat:gpt-6-luna")
        terminal.wait_for(answered("/model openai-chat"))
        send("Explain this flow")
        terminal.wait_for("Reading your request", still=False)
        terminal.press("C-c")
        see("Ctrl-C during a turn", r"^Stopped\.\n>$")
        terminal.press("C-d")
        assert terminal.exit_code() == 0
    return shown


def answered(message: str) -> str:
    """The pattern of a screen that begins with a message and ends with the next prompt."""
    return rf"(?s)\A> {re.escape(message)}.*^>\Z"


def assert_no_debris(screen: str) -> None:
    """No spinner, no escape sequence and no library's banner is left."""
    assert not re.search("[\u2800-\u28ff\x1b]|\\^\\[|WARNING|CPR", screen)


def test_words_are_the_same_at_every_width() -> None:
    def words(columns: int) -> list[list[str]]:
        parts = re.split(
            r"^== (.*?) =*\n", (SCREENS / f"{columns}.txt").read_text(encoding="utf-8"), flags=re.MULTILINE
        )
        named = zip(parts[1::2], parts[2::2], strict=True)
        return [[name, *text.split()] for name, text in named if name not in {*MENUS, "several lines"}]

    assert words(60) == words(80) == words(200)


def test_a_paste_is_one_message_and_history_outlives_the_session_without_keys(chat: Chat, data_folder: Path) -> None:
    with chat() as terminal:
        terminal.wait_for(READY)
        terminal.paste("/nope one\ntwo\nthree")
        assert terminal.wait_for("three$").endswith("> /nope one\n  two\n  three")
        terminal.press("Enter")
        assert terminal.wait_for(READY).count("Unknown command") == 1
        terminal.type("/nope sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEF")
        terminal.press("Enter")
        terminal.press("C-l")
        terminal.wait_for(r"\A>$")
        terminal.press("C-d")
        assert terminal.exit_code() == 0
    history = data_folder / "chat_history"
    assert history.stat().st_mode & 0o777 == 0o600
    assert "sk-proj" not in history.read_text()
    with chat() as terminal:
        terminal.wait_for(READY)
        terminal.press("Up")
        assert terminal.wait_for("removed").endswith("> /nope [a key that was removed]")
        terminal.press("Up")
        assert terminal.wait_for("three$").endswith("> /nope one\n  two\n  three")
        terminal.press("C-c")
        terminal.wait_for(READY)
        terminal.type("/quit")
        terminal.press("Enter")
        assert terminal.exit_code() == 0


COLOUR = re.compile("\x1b\\[[0-9;]*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])[;m]")


@pytest.mark.parametrize(("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_are_used_unless_no_color_is_set(
    chat: Chat, louder: Path, variables: dict[str, str], coloured: bool
) -> None:
    def seen(terminal: Terminal, pattern: str) -> bool:
        terminal.wait_for(pattern)
        return COLOUR.search(terminal.screen(escapes=True)) is not None

    with chat("--flow", louder, **variables) as terminal:
        terminal.wait_for(READY)
        terminal.type("/f")
        assert seen(terminal, "/forget") is coloured
        terminal.press("C-c")
        terminal.wait_for(r"leaves\.\n>$")
        terminal.type("Change the prompt to 'Whisper it: {text}'")
        terminal.press("Enter")
        assert seen(terminal, r"why not\]$") is coloured


def test_what_is_typed_ahead_answers_no_question_and_is_the_draft_of_the_next_message(chat: Chat) -> None:
    with chat() as terminal:
        terminal.wait_for(READY)
        terminal.type(BUILD)
        terminal.press("Enter")
        terminal.type("yesx")
        terminal.press("BSpace", "Enter")
        terminal.type("über")
        asked = terminal.wait_for(r"\[y/N\]$")
        assert asked.count("\nyes") == 0, "what was typed ahead is neither shown nor taken as an answer"
        terminal.type("n")
        terminal.press("Enter")
        terminal.wait_for(r"The canvas was not changed\.\n> yes\n  über$")
        terminal.press("C-c")
        terminal.wait_for(READY)
        terminal.type("What does the Prompt Template do?")
        terminal.press("Enter")
        terminal.type("/quit")
        terminal.press("Enter")
        assert terminal.exit_code() == 0


def test_a_second_tab_keeps_a_single_completion(chat: Chat) -> None:
    with chat() as terminal:
        terminal.wait_for(READY)
        terminal.type("/sh")
        terminal.wait_for("/show")
        for _ in range(3):
            terminal.press("Tab")
            terminal.wait_for(r"^> /show$")
        terminal.press("C-c", "C-d")
        assert terminal.exit_code() == 0


def test_a_start_is_said_and_what_is_typed_meanwhile_is_sent(tmp_path: Path, warm_engine: None) -> None:
    environment = {
        **{name: os.environ[name] for name in ("WIREWRIGHT_CACHE", "WIREWRIGHT_DATA")},
        "WIREWRIGHT_MODEL": "demo",
        "PYTHONPATH": str(Path(__file__).parents[3]),
    }
    waits = "import time; import wirewright; time.sleep(1); wirewright.main()"
    with Terminal(
        sys.executable, "-c", waits, "chat", columns=80, environment=environment, folder=tmp_path
    ) as terminal:
        terminal.type("What does the Chat Input do?")
        terminal.press("Enter")
        terminal.wait_for(r"^Starting\.\.\.$", still=False)
        terminal.type("/quit")
        terminal.press("Enter")
        assert terminal.exit_code() == 0
        screen = terminal.screen()
        assert "> What does the Chat Input do?\nChat Input (`ChatInput`)" in screen
        assert "Starting" not in screen
