"""What a file of a conversation may say, and where it says something else."""

from pathlib import Path

import pytest

from evals.conversations.loader import load_conversations
from evals.scenarios.loader import ScenarioError

GOOD = """id: one
about: Two questions.
steps:
- {say: What is a flow?, script: [{say: A graph.}]}
- {say: And an edge?, script: [{say: A line.}], expect: {outcome: complete}}
wrong:
- {because: nobody asks, step: 2, change: null}
"""


def fault(folder: Path, text: str) -> str:
    (folder / "one.yaml").write_text(text)
    with pytest.raises(ScenarioError) as raised:
        load_conversations(folder)
    return str(raised.value)


def test_a_wrong_course_changes_one_step_or_leaves_it_out(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(GOOD.replace("change: null", "change: {say: Why?}"))
    [conversation] = load_conversations(tmp_path)
    changed = conversation.along(conversation.wrong[0])
    assert [step.say for step in changed] == ["What is a flow?", "Why?"]
    assert changed[1].expect == conversation.steps[1].expect
    (tmp_path / "one.yaml").write_text(GOOD)
    [conversation] = load_conversations(tmp_path)
    assert conversation.along(conversation.wrong[0]) == conversation.steps[:1]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("step: 2", "step: 3", "there is no step 3"),
        ("change: null", "change: {expect: {}}", "never what is expected"),
        ("change: null", "change: {meanwhile: {say: Why?}}", "never what is expected of it"),
        ("change: null", "change: {sing: loudly}", "the changed step 2 cannot be read"),
        ("say: And an edge?", "say: ''", "give say or answers"),
        ("id: one", "id: two", "it must be the file's name"),
        ("outcome: complete", "outcome: happy", r"steps[1].expect.outcome"),
    ],
)
def test_a_fault_names_its_place(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    assert complaint in fault(tmp_path, GOOD.replace(old, new))


def test_a_folder_without_conversations_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="holds no conversations"):
        load_conversations(tmp_path)
