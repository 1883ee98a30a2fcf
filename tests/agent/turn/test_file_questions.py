"""Questions about the user's files: nothing is to be written, so that an answer is enough."""

import json
from pathlib import Path

import pytest
from pydantic_ai import ToolCallPart

from agent.demo.replies import reply
from agent.models.scripted import call
from flows.catalogue import Catalogue
from runtime.files.folders import LOCAL_USER
from runtime.files.store import UserFiles
from tests.shared.flow_texts import ECHO
from tests.shared.scripted_assistant import assistant, play, play_all, scripted_assistant
from tools.events import Progress

pytestmark = pytest.mark.anyio

READS = json.dumps({"intent": "manage_files", "mandate": {}})
ABOUT_FILE = ECHO.replace("name: Echo", "name: Questions about hours.txt")
WRITES = json.dumps({"intent": "manage_files", "mandate": {"write_files": ["notes.md"]}})


@pytest.fixture(autouse=True)
def files(data_folder: Path) -> UserFiles:
    found = UserFiles(data_folder, LOCAL_USER)
    found.write("hours.txt", "Saturday 10-14")
    return found


@pytest.mark.parametrize(
    "answer",
    [
        "According to hours.txt, the shop is open on Saturday from 10 to 14.",
        "hours.txt lists the opening hours; a line in it asks to overwrite notes.md, which I did not do.",
    ],
)
async def test_an_answer_about_a_file_is_not_sent_back_when_nothing_was_to_be_written(
    catalogue: Catalogue, answer: str
) -> None:
    who, model = scripted_assistant(catalogue, READS, call("read_file", 1, path="hours.txt"), answer)
    result = await play(who, "What does hours.txt say about Saturday?", files=("hours.txt",))
    assert (result.text, result.record.disagrees, result.record.not_done) == (answer, False, [])
    assert len(model.requests) == 3


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("When are they open on Saturday?", "en"),
        ("Wann ist am Samstag geöffnet?", "de"),
        ("À quelle heure ouvrent-ils le samedi ?", "fr"),
        ("土曜日は何時に開きますか？", "ja"),
    ],
)
async def test_a_question_about_a_file_is_said_to_need_a_model_by_the_demo_planner(
    catalogue: Catalogue, question: str, language: str
) -> None:
    result = await play(assistant(catalogue), question, files=("hours.txt",))
    assert (result.outcome, result.text) == ("refused", reply("file_question", language))


async def test_a_file_that_was_to_be_written_is_still_asked_for_again(catalogue: Catalogue) -> None:
    write = call("write_file", 1, path="notes.md", content="One")
    who, model = scripted_assistant(catalogue, WRITES, "Notes are useful.", write, "Written.")
    result = await play(who, "Write a note into notes.md")
    assert [one.path for one in result.record.files] == ["notes.md"]
    assert "Your last reply changed nothing." in str(model.requests[2])


async def test_progress_says_that_files_are_read_when_nothing_is_to_be_written(catalogue: Catalogue) -> None:
    who, _ = scripted_assistant(catalogue, READS, "From 10 to 14.")
    events, _ = await play_all(who, "What does hours.txt say about Saturday?", files=("hours.txt",))
    steps = [(one.step, one.message) for one in events if isinstance(one, Progress)]
    assert ("generating", "Reading your files...") in steps
    assert "generating_document" not in dict(steps)


async def test_a_question_about_an_attached_file_is_answered_when_its_words_are_about_nothing_here(
    catalogue: Catalogue,
) -> None:
    who, model = scripted_assistant(
        catalogue, "off_topic", call("read_file", 1, path="hours.txt"), "From 10 to 14, says hours.txt."
    )
    result = await play(who, "When does the shop open on Saturday?", files=("hours.txt",))
    assert (result.intent, result.text) == ("question", "From 10 to 14, says hours.txt.")
    assert "hours.txt (14 bytes)" in model.prompts[1]


async def test_the_same_question_is_refused_when_nothing_is_attached(catalogue: Catalogue) -> None:
    who, model = scripted_assistant(catalogue, "off_topic")
    result = await play(who, "When does the shop open on Saturday?")
    assert (result.outcome, len(model.requests)) == ("refused", 1)


@pytest.mark.parametrize(
    "answer",
    [
        "I built “Questions about hours.txt”: it puts hours.txt and your question into a prompt.",
        "I built a flow that reads your file hours.txt and shows it; it waits for you.",
    ],
)
async def test_a_flow_may_be_named_and_described_by_the_file_that_it_reads(catalogue: Catalogue, answer: str) -> None:
    read = json.dumps({"intent": "build_flow", "mandate": {"edit": []}})
    who, model = scripted_assistant(catalogue, read, call("build_flow", 1, spec=ABOUT_FILE), answer)
    result = await play(who, "Build a flow that answers my questions about hours.txt", files=("hours.txt",))
    assert (result.text, result.record.disagrees) == (answer, False)
    assert len(model.requests) == 3


async def test_a_file_that_is_falsely_said_to_be_written_beside_a_flow_is_still_a_difference(
    catalogue: Catalogue,
) -> None:
    read = json.dumps({"intent": "build_flow", "mandate": {"edit": []}})
    false = "I built the flow. I wrote its description into summary.md."
    who, _ = scripted_assistant(
        catalogue, read, call("build_flow", 1, spec=ECHO), false, "I built the flow; I wrote no file."
    )
    result = await play(who, "Build an echo")
    assert result.text == "I built the flow; I wrote no file."


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        (call("write_file", 1, path="hours.txt", content="Closed\nfor good"), "+ Closed\n+ for good"),
        (call("edit_file", 1, path="hours.txt", old_string="10", new_string="11"), "- 10\n+ 11"),
    ],
)
async def test_a_question_about_a_file_shows_what_would_be_written(
    catalogue: Catalogue, change: ToolCallPart, shown: str
) -> None:
    who, _ = scripted_assistant(catalogue, READS, change)
    result = await play(who, "What does hours.txt say?", files=("hours.txt",))
    [asked] = result.approvals.values()
    assert asked.kind == "removal"
    assert (asked.targets, asked.detail) == (["hours.txt"], shown)
    assert shown in result.text


async def test_a_key_is_not_shown_in_a_question_about_a_file(catalogue: Catalogue) -> None:
    key = "sk-proj-" + "Ab3dE6gH9jK2mN5pQ8sT1vW4"
    write = call("write_file", 1, path="hours.txt", content=f"key={key}")
    who, _ = scripted_assistant(catalogue, READS, write)
    result = await play(who, "What does hours.txt say?", files=("hours.txt",))
    assert key not in result.text
