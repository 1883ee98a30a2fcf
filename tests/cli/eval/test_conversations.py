"""`wirewright eval conversations`: what it plays, what it prints, and what it refuses."""

import re
from pathlib import Path

import pytest

from evals.conversations.loader import load_conversations
from tests.cli.conftest import Wirewright

MANUAL = Path(__file__).parents[3] / "docs" / "evaluations.md"


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """A folder with the manual's example."""
    text = MANUAL.read_text(encoding="utf-8").partition("## Conversations")[2]
    block = re.search(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert block is not None
    (tmp_path / "edited-then-undone.yaml").write_text(block[1], encoding="utf-8")
    return tmp_path


@pytest.mark.engine
def test_a_conversation_holds_and_its_wrong_courses_fail(
    wirewright: Wirewright, example: Path, warm_engine: None
) -> None:
    done = wirewright("eval", "conversations", "--in", example, "--json")
    assert done.code == 0, done.out
    assert (done.json["ok"], done.json["passed"], done.json["failed"]) == (True, 1, 0)
    [row] = done.json["conversations"]
    assert (row["id"], row["faults"], row["passed_wrongly"]) == ("edited-then-undone", [], [])


@pytest.mark.engine
def test_the_command_fails_when_a_conversation_or_no_wrong_course_does(
    wirewright: Wirewright, example: Path, warm_engine: None
) -> None:
    path = example / "edited-then-undone.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("waiting: [edit]", "waiting: [plan]"), encoding="utf-8")
    blind = text.replace("edited-then-undone", "blind").replace("record: {changes: [{kind: changed}]}", "record: {}")
    (example / "blind.yaml").write_text(blind.replace("outcome: complete, record", "record"), encoding="utf-8")

    done = wirewright("eval", "conversations", "--in", example)

    assert done.code == 1
    assert re.search(r"^failed .* edited-then-undone$", done.out, re.MULTILINE)
    assert "step 1: " in done.out
    assert "a wrong course did not fail: the edit was denied and not done" in done.out
    assert done.out.endswith("0 of 2 conversations passed\n")


@pytest.mark.parametrize(
    ("arguments", "where"),
    [(["nope"], "ID"), (["--tag", "nope"], "--tag"), (["--in", "nowhere"], "--in"), (["--in", "."], "--in")],
)
def test_what_cannot_be_played_is_bad_usage(
    wirewright: Wirewright, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], where: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = wirewright("eval", "conversations", *arguments, "--json")
    assert (done.code, done.json["error"]["where"]) == (2, where)


def test_every_key_of_a_conversation_file_is_in_the_manual() -> None:
    [conversation, *_] = load_conversations()
    text = MANUAL.read_text(encoding="utf-8").partition("## Conversations")[2].partition("\n## ")[0]
    step = conversation.steps[0]
    for model in (conversation, step, step.expect, step.reading, conversation.wrong[0]):
        missing = [name for name in type(model).model_fields if f"`{name}`" not in text]
        assert missing == [], type(model).__name__
