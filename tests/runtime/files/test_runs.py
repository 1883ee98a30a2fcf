"""Files that enter a run and leave it, on the real engine."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic_ai import BinaryContent, ModelMessage, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from flows.catalogue import Catalogue
from flows.document import Flow, Json
from runtime.files.samples import sample
from runtime.files.store import UserFiles
from runtime.gateway.models import Models
from runtime.runner import Runner
from tests.runtime.conftest import MakeFlow
from tests.shared import documents
from tests.shared.flow_texts import MODEL, flow_of

pytestmark = [pytest.mark.engine, pytest.mark.anyio]


@pytest.fixture
def files(tmp_path: Path) -> UserFiles:
    return UserFiles(tmp_path / "data", "ada")


@pytest.fixture
def reading(make_flow: MakeFlow) -> Callable[..., Flow]:
    """A flow whose Read File names something and whose chat output shows the content."""

    def make(path: object) -> Flow:
        return make_flow(
            {"File-a": ("File", {"path": path}), "ChatOutput-b": "ChatOutput"},
            [("File-a", "message", "ChatOutput-b", "input_value")],
        )

    return make


@pytest.mark.parametrize("path", ["notes.txt", "office/hours/notes.txt"])
async def test_a_run_reads_the_file_that_a_node_names(
    runner: Runner, files: UserFiles, reading: Callable[..., Flow], path: str
) -> None:
    files.write(path, "The office opens at nine.")

    result = await runner.run(reading([path]), files=files)

    assert (result.error, result.output) == (None, "The office opens at nine.")
    assert result.files == ()
    assert files.read(path) == "The office opens at nine."


@pytest.mark.parametrize("name", ["empty.json", "blank.json", "empty.pdf", "empty.xlsx"])
async def test_an_empty_file_that_a_node_parses_is_said_to_be_empty(
    runner: Runner, files: UserFiles, reading: Callable[..., Flow], name: str
) -> None:
    files.write(name, "  \n" if name == "blank.json" else "")

    result = await runner.run(reading([name]), files=files)

    assert result.error is not None
    assert (result.error.code, result.error.message) == ("missing_input", f"The file {name} is empty.")


async def test_a_run_writes_into_the_users_files(runner: Runner, files: UserFiles, make_flow: MakeFlow) -> None:
    result = await runner.run(saving(make_flow, "report"), "All is well.", files=files)

    assert result.error is None
    assert [(file.path, file.size, file.new) for file in result.files] == [("report.txt", 12, True)]
    assert files.read("report.txt") == "All is well."
    assert "wirewright-" not in json.dumps(result.to_json())


async def test_what_a_run_writes_replaces_the_file_of_the_same_name(
    runner: Runner, files: UserFiles, make_flow: MakeFlow
) -> None:
    files.write("log.txt", "first")

    result = await runner.run(saving(make_flow, "log", append_mode=True), "second", files=files)

    assert [(file.path, file.new) for file in result.files] == [("log.txt", False)]
    assert files.read("log.txt").split() == ["first", "second"]


async def test_a_verification_run_keeps_nothing(runner: Runner, files: UserFiles, make_flow: MakeFlow) -> None:
    result = await runner.run(saving(make_flow, "report"), "text", files=files, network="gateway-only")

    assert (result.error, result.files, files.listing()) == (None, (), [])


async def test_a_verification_run_reads_a_sample_when_no_file_is_named(
    runner: Runner, files: UserFiles, reading: Callable[..., Flow]
) -> None:
    verified = await runner.run(reading([]), files=files, network="gateway-only")
    asked = await runner.run(reading([]), files=files)

    assert verified.error is None
    assert "sample" in (verified.output or "")
    assert asked.error is not None
    assert (asked.error.code, asked.error.node) == ("missing_input", "File-a")


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../other/secret.txt", "nope.txt", "~/x.txt", "link.txt", "notes.txt/.."]
)
async def test_what_is_not_one_of_the_users_files_is_refused_at_its_node(
    runner: Runner, files: UserFiles, reading: Callable[..., Flow], path: str, tmp_path: Path
) -> None:
    files.write("notes.txt", "mine")
    other = UserFiles(tmp_path / "data", "eve")
    other.write("secret.txt", "hers")
    home = next(folder for folder in (tmp_path / "data" / "users").iterdir() if (folder / "notes.txt").exists())
    (home / "link.txt").symlink_to(next((tmp_path / "data" / "users").rglob("secret.txt")))

    for network in ("open", "gateway-only"):
        result = await runner.run(reading([path]), files=files, network=network)
        assert result.error is not None
        assert (result.error.code, result.error.node) == ("missing_input", "File-a")
        assert "Your files: notes.txt." in result.error.message
        assert str(tmp_path) not in json.dumps(result.to_json())


async def test_a_run_sees_no_file_that_its_nodes_do_not_name(
    runner: Runner, files: UserFiles, make_flow: MakeFlow
) -> None:
    files.write("docs/a.txt", "one")
    files.write("private.txt", "mine")

    result = await runner.run(make_flow({"Directory-a": ("Directory", {"path": "docs"})}), files=files)

    assert json.dumps(result.to_json()).count("mine") == 0
    assert result.outputs == {"Directory-a": [{"file_path": "docs/a.txt", "text": "one", "encoding": "ascii"}]}


async def test_a_file_that_needs_a_missing_parser_is_refused_with_a_way_out(
    runner: Runner, files: UserFiles, reading: Callable[..., Flow]
) -> None:
    files.write_bytes("photo.png", sample("png"))

    result = await runner.run(reading(["photo.png"]), files=files)

    assert result.error is not None
    assert (result.error.code, result.error.node) == ("missing_package", "File-a")
    assert "chat input" in result.error.fix


async def test_a_pdf_and_a_workbook_are_read(runner: Runner, files: UserFiles, reading: Callable[..., Flow]) -> None:
    files.write_bytes("hours.pdf", documents.pdf("Open from nine"))
    files.write_bytes("hours.xlsx", documents.workbook([["day", "opens"], ["Monday", "9"]]))

    pdf = await runner.run(reading(["hours.pdf"]), files=files)
    workbook = await runner.run(reading(["hours.xlsx"]), files=files)

    assert (pdf.error, pdf.output) == (None, "Open from nine")
    assert (workbook.error, (workbook.output or "").split()) == (None, ["day,opens", "Monday,9"])
    assert workbook.files == ()


def saving(make_flow: MakeFlow, name: str, **values: Json) -> Flow:
    """A flow that writes its chat input into a text file."""
    fields = {"file_name": name, "local_format": "txt", **values}
    return make_flow(
        {"ChatInput-a": "ChatInput", "SaveToFile-b": ("SaveToFile", fields)},
        [("ChatInput-a", "message", "SaveToFile-b", "input")],
    )


async def test_a_model_sees_the_image_that_comes_with_the_chat_input(
    runner: Runner, files: UserFiles, installed_catalogue: Catalogue
) -> None:
    files.write_bytes("photo.png", sample("png"))
    flow = flow_of(f"{MODEL}config:\n  m.model: gpt-x\n  a.files: photo.png\n", installed_catalogue)
    seen: list[BinaryContent] = []

    def look(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        for message in messages:
            for part in message.parts:
                if isinstance(part, UserPromptPart) and not isinstance(part.content, str):
                    seen.extend(piece for piece in part.content if isinstance(piece, BinaryContent))
        return ModelResponse(parts=[TextPart("a white pixel")])

    models = Models(resolve=lambda _: FunctionModel(look))
    result = await runner.run(flow, "What is this?", files=files, models=models)

    assert (result.error, result.output) == (None, "a white pixel")
    assert [(piece.data, piece.media_type) for piece in seen] == [(sample("png"), "image/png")]
