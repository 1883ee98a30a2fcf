"""Files in a turn: attached to the message, named in a flow, read and written by its runs on the real engine."""

from pathlib import Path

import pytest

from agent.assistant import Assistant
from agent.models.scripted import call
from flows.catalogue import Catalogue
from runtime.files.folders import LOCAL_USER
from runtime.files.store import UserFiles
from runtime.runner import Runner
from server.settings import ServerSettings
from tests.shared import documents
from tests.shared.scripted_assistant import ScriptedModel, play, play_all
from tools.events import FileWritten

pytestmark = [pytest.mark.anyio, pytest.mark.engine]

READS = """name: Reads
nodes:
  F: File
  O: ChatOutput
edges:
  F.message -> O.input_value
config:
  F.path: {path}
"""
WRITES = """name: Writes
nodes:
  I: ChatInput
  W: SaveToFile
  O: ChatOutput
edges:
  I.message -> W.input
  W.message -> O.input_value
config:
  W.file_name: report
  W.local_format: {kind}
"""


@pytest.fixture
def files(data_folder: Path) -> UserFiles:
    return UserFiles(data_folder, LOCAL_USER)


async def test_an_attached_file_is_framed_named_and_read(
    engine: Runner, catalogue: Catalogue, files: UserFiles
) -> None:
    files.write_bytes("handbook.pdf", documents.pdf("The office opens at nine"))
    model = ScriptedModel(
        "build_flow", call("build_flow", 1, spec=READS.format(path="[handbook.pdf]")), call("run_flow", 2), "Done."
    )
    who = Assistant(ServerSettings(), engine, catalogue=catalogue, model=model)

    result = await play(who, "Build a flow that shows this document, and run it", files=("handbook.pdf",))

    [run] = result.runs
    assert run.output == "The office opens at nine"
    assert "handbook.pdf (" in model.prompts[1]
    assert "handbook.pdf" not in model.prompts[0], "the classifier sees the user's words alone"
    await who.aclose()


async def test_an_invented_path_is_a_fault_that_lists_the_users_files(
    engine: Runner, catalogue: Catalogue, files: UserFiles
) -> None:
    files.write("hours.txt", "Open from nine")
    model = ScriptedModel(
        "build_flow",
        call("build_flow", 1, spec=READS.format(path="[/path/to/document.pdf]")),
        call("build_flow", 2, spec=READS.format(path="[hours.txt]")),
        "Built it.",
    )
    who = Assistant(ServerSettings(), engine, catalogue=catalogue, model=model)

    result = await play(who, "Build a flow that shows my opening hours")

    assert "You have no file '/path/to/document.pdf'. Your files: hours.txt." in str(model.requests[2])
    assert result.proposal is not None
    assert result.caveats == []
    await who.aclose()


async def test_the_demo_planner_names_the_attached_file(engine: Runner, catalogue: Catalogue, files: UserFiles) -> None:
    files.write("sales.csv", "region,amount\nnorth,10\n")
    who = Assistant(ServerSettings(model="demo"), engine, catalogue=catalogue)
    text = "Build a flow that reads this file and shows its text, then run it"

    result = await play(who, text, files=("sales.csv",))

    [run] = result.runs
    assert "north,10" in str(run.output)
    await who.aclose()


async def test_a_file_node_without_a_file_is_tried_with_a_sample_and_says_so(
    engine: Runner, catalogue: Catalogue
) -> None:
    model = ScriptedModel("build_flow", call("build_flow", 1, spec=READS.format(path="[]")), "Built it.")
    who = Assistant(ServerSettings(), engine, catalogue=catalogue, model=model)

    result = await play(who, "Build a flow that reads a document and shows it")

    assert result.proposal is not None
    assert [caveat for caveat in result.caveats if "small sample file" in caveat]
    await who.aclose()


async def test_a_flow_that_does_not_name_the_attached_file_is_corrected(
    engine: Runner, catalogue: Catalogue, files: UserFiles
) -> None:
    files.write("hours.txt", "Open from nine")
    model = ScriptedModel(
        "build_flow",
        call("build_flow", 1, spec=READS.format(path="[]")),
        call("build_flow", 2, spec=READS.format(path="[hours.txt]")),
        "Built it.",
    )
    who = Assistant(ServerSettings(), engine, catalogue=catalogue, model=model)

    result = await play(who, "Build a flow that shows this document", files=("hours.txt",))

    assert "the user's file hours.txt" in str(model.requests[2])
    assert result.caveats == []
    await who.aclose()


@pytest.mark.parametrize(
    ("kind", "name", "content"), [("txt", "report.txt", "All is well."), ("json", "report.json", None)]
)
async def test_what_a_run_writes_is_an_event_and_a_file(
    engine: Runner, catalogue: Catalogue, files: UserFiles, kind: str, name: str, content: str | None
) -> None:
    model = ScriptedModel(
        "build_flow",
        call("build_flow", 1, spec=WRITES.format(kind=kind)),
        call("run_flow", 2, input="All is well."),
        "Done.",
    )
    who = Assistant(ServerSettings(), engine, catalogue=catalogue, model=model)

    events, result = await play_all(who, "Build a flow that writes a report, and run it with All is well.")

    [written] = [event for event in events if isinstance(event, FileWritten)]
    assert (written.change.path, written.change.change, written.by_run) == (name, "created", True)
    assert written.content == files.read(name)
    assert content in (None, written.content)
    assert [change.path for change in result.files] == [name]
    await who.aclose()


async def test_a_file_that_the_assistant_wrote_is_read_by_a_flow(
    engine: Runner, catalogue: Catalogue, files: UserFiles
) -> None:
    model = ScriptedModel(
        "build_flow",
        call("write_file", 1, path="hours.md", content="Open from nine"),
        call("build_flow", 2, spec=READS.format(path="[hours.md]")),
        call("run_flow", 3),
        "Done.",
    )
    who = Assistant(ServerSettings(), engine, catalogue=catalogue, model=model)

    result = await play(who, "Write hours.md with 'Open from nine', build a flow that shows the file and run it")

    assert [run.output for run in result.runs] == ["Open from nine"]
    await who.aclose()
