"""Completion in `chat`, and the mentions that it writes."""

from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from cli.chat.completion import Completions, completes_while_typing
from cli.chat.mentions import read_mentions
from flows.catalogue import Catalogue
from flows.document import Flow
from tests.shared.flow_texts import LOUDER, flow_of, node_id


@pytest.fixture
def canvas(catalogue: Catalogue) -> Flow:
    return flow_of(LOUDER, catalogue)


def completed(text: str, canvas: Flow | None = None) -> list[str]:
    """What a text becomes with each of its completions."""
    completions = Completions(lambda: canvas, lambda: ["openai:gpt-6-luna", "demo"], lambda: ["hours.txt", "a/b.csv"])
    found = completions.get_completions(Document(text), CompleteEvent(completion_requested=True))
    return [text[: len(text) + one.start_position] + one.text for one in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/f", ["/flow ", "/file ", "/forget"]),
        ("/nope", []),
        ("/model ", ["/model openai:gpt-6-luna", "/model demo"]),
        ("/model luna", ["/model openai:gpt-6-luna"]),
        ("/show ", []),
        ("see @h", ["see @hours.txt"]),
        ("mail me@h", []),
        ("@", ["@hours.txt", "@a/b.csv"]),
        ("hello", []),
        ("/f\nsecond", []),
    ],
)
def test_commands_models_and_files_are_completed(text: str, expected: list[str]) -> None:
    assert completed(text) == expected


@pytest.mark.parametrize("command", ["/file", "/flow", "/save"])
def test_paths_of_this_machine_are_completed(command: str, tmp_path: Path) -> None:
    (tmp_path / "my notes.txt").touch()
    (tmp_path / "my folder").mkdir()
    assert sorted(completed(f"{command} {tmp_path}/my")) == [
        f"{command} {tmp_path}/my folder",
        f"{command} {tmp_path}/my notes.txt",
    ]


def test_components_on_the_canvas_are_completed_by_id_or_name(canvas: Flow) -> None:
    prompt = node_id(canvas, "Prompt Template")
    assert completed("Shorten @prom", canvas) == [f"Shorten @{prompt}"]
    assert completed("@CHAT OUT", canvas) == [], "a mention that is being typed has no spaces"
    assert len(completed("@chat", canvas)) == 2


@pytest.mark.parametrize(("text", "shown"), [("/", True), ("a @", True), ("a", False), ("/x\ny", False), ("", False)])
def test_the_menu_comes_up_by_itself_for_commands_and_mentions_alone(text: str, shown: bool) -> None:
    assert completes_while_typing(text) is shown


def test_mentions_are_resolved_to_ids_and_files(canvas: Flow) -> None:
    prompt = node_id(canvas, "Prompt Template")
    files = ["hours.txt", "hours.txt.old"]
    text = f"Does @{prompt}, read @hours.txt.old or @hours.txt? Ask me@hours.txt or @nobody; @{prompt}x"
    assert read_mentions(text, canvas, files) == (
        f"Does '{prompt}', read hours.txt.old or hours.txt? Ask me@hours.txt or @nobody; @{prompt}x",
        ("hours.txt.old", "hours.txt"),
    )
    assert read_mentions("@hours.txt", None, []) == ("@hours.txt", ())
