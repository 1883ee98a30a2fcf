"""Retrieval on the real engine: texts ingested into the file vector store, found again, and answered from.

The model and the embeddings are a provider's on loopback, in its wire format, behind the gateway.
"""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import models as pydantic_models

from agent.models.flow_models import flow_models
from flows.catalogue import Catalogue
from flows.document import Flow, Json
from flows.edits import configure
from flows.spec import build
from flows.templates import template
from runtime.files.store import UserFiles
from runtime.gateway.models import Models
from runtime.install.environment import runner_source
from runtime.results import RunResult
from runtime.runner import Runner
from scripts.scripted_provider import Reply, ScriptedProvider
from tests.shared import documents

pytestmark = [pytest.mark.anyio, pytest.mark.engine]

SOURCE = (runner_source() / "components" / "file_vector_store.py").read_text(encoding="utf-8")
WORDS = ("open", "books", "seats", "cards")
HANDBOOK = """\
The library is open from nine to five.
Books may be kept for four weeks.
The reading room has forty seats.
Lost cards are replaced at the front desk."""


def by_words(text: str) -> list[float]:
    """The vector of a text: which of a few words it has."""
    return [float(word in text.lower()) + 0.01 for word in WORDS]


def repeat(body: dict[str, Any]) -> Reply:
    return Reply(text=body["messages"][-1]["content"])


@dataclass
class Library:
    """A library's flows, files and provider."""

    runner: Runner
    catalogue: Catalogue
    files: UserFiles
    provider: ScriptedProvider
    models: Models

    def flow(self, spec: str, values: Mapping[str, Mapping[str, Json]] | None = None) -> Flow:
        built = build(spec, self.catalogue)
        assert built.flow is not None, built.faults
        flow = built.flow
        for node, changed in (values or {}).items():
            flow = configure(flow, self.catalogue, built.ids[node], dict(changed)).flow
        return flow

    async def run(self, flow: Flow, text: str | None = None) -> RunResult:
        return await self.runner.run(flow, text, models=self.models, files=self.files)

    def kept(self, name: str = "vectors.json") -> list[str]:
        return [entry["text"] for entry in json.loads(self.files.read(name))["texts"]]


@pytest.fixture
async def library(
    runner: Runner, installed_catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Library]:
    monkeypatch.setattr(pydantic_models, "ALLOW_MODEL_REQUESTS", True)  # of the provider on loopback
    provider = ScriptedProvider(repeat, by_words)
    async with provider.serve() as url:
        environment = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "sk-loopback"}
        served = flow_models("openai-chat:words", environment=lambda: environment)
        yield Library(runner, installed_catalogue, UserFiles(tmp_path / "files", "ada"), provider, served)


def found(result: RunResult) -> list[str]:
    assert result.error is None
    assert result.output is not None
    return [line.removeprefix("- ") for line in result.output.splitlines() if line.startswith("- ")]


async def test_the_template_answers_from_the_users_file(library: Library) -> None:
    library.files.write("handbook.txt", HANDBOOK)
    values: dict[str, dict[str, Json]] = {
        "document": {"path": ["handbook.txt"]},
        "pieces": {"chunk_size": 60, "chunk_overlap": 0},
        "index": {"number_of_results": 2},
    }
    flow = library.flow(template("rag").spec, values)

    result = await library.run(flow, "When is it open?")

    assert (found(result)[0], len(found(result))) == ("The library is open from nine to five.", 2)
    assert result.output is not None
    assert result.output.endswith("Question: When is it open?")
    assert [(file.path, file.new) for file in result.files] == [("vectors.json", True)]
    assert library.kept() == HANDBOOK.split("\n")
    assert [len(texts) for texts in library.provider.embedded] == [4, 1]
    by_node = {node.partition("-")[0]: used for node, used in result.usage.items()}
    assert by_node["EmbeddingModel"].calls == 2
    assert by_node["EmbeddingModel"].input_tokens > 0
    assert result.metrics.model_calls == 3


async def test_a_second_run_embeds_only_what_is_new_and_forgets_what_is_gone(library: Library) -> None:
    library.files.write("handbook.txt", HANDBOOK)
    values: dict[str, dict[str, Json]] = {
        "document": {"path": ["handbook.txt"]},
        "pieces": {"chunk_size": 60, "chunk_overlap": 0},
    }
    flow = library.flow(template("rag").spec, values)
    await library.run(flow, "books?")
    library.files.write("handbook.txt", HANDBOOK.replace("four weeks", "two weeks"))
    library.provider.embedded.clear()

    result = await library.run(flow, "How long may I keep books?")

    assert found(result)[0] == "Books may be kept for two weeks."
    assert library.provider.embedded == [["Books may be kept for two weeks."], ["How long may I keep books?"]]
    assert "Books may be kept for four weeks." not in library.kept()


async def test_a_short_document_is_answered_from_whole_without_embeddings(library: Library) -> None:
    library.files.write("handbook.txt", HANDBOOK)
    flow = library.flow(template("document-questions").spec, {"document": {"path": ["handbook.txt"]}})

    result = await library.run(flow, "When is it open?")

    assert result.output is not None
    assert HANDBOOK in result.output
    assert result.output.endswith("Question: When is it open?")
    assert library.provider.embedded == []


async def test_the_template_reads_a_pdf(library: Library) -> None:
    library.files.write_bytes("handbook.pdf", documents.pdf("The office is open from nine to five."))
    flow = library.flow(template("rag").spec, {"document": {"path": ["handbook.pdf"]}})

    result = await library.run(flow, "When is it open?")

    assert found(result) == ["The office is open from nine to five."]


INGEST = """name: Ingest
nodes:
  text: TextInput
  pieces: SplitText
  vectors: EmbeddingModel
  index: FileVectorStore
edges:
  text.text -> pieces.data_inputs
  pieces.dataframe -> index.ingest_data
  vectors.embeddings -> index.embedding
config:
  pieces.chunk_size: 60
  pieces.chunk_overlap: 0
  index.file_name: library
"""
SEARCH = """name: Search
nodes:
  chat: ChatInput
  vectors: EmbeddingModel
  index: FileVectorStore
  found: ParserComponent
  answer: ChatOutput
edges:
  vectors.embeddings -> index.embedding
  chat.message -> index.search_query
  index.dataframe -> found.input_data
  found.parsed_text -> answer.input_value
config:
  index.file_name: library
  index.number_of_results: 1
  found.pattern: "- {text}"
"""


async def test_one_flow_finds_what_another_has_ingested_bit_by_bit(library: Library) -> None:
    ingest, search = library.flow(INGEST), library.flow(SEARCH)
    assert found(await library.run(search, "seats?")) == []
    for text in HANDBOOK.split("\n"):
        assert (await library.run(ingest, text)).error is None

    assert library.kept("library.json") == HANDBOOK.split("\n")
    assert found(await library.run(search, "How many seats are there?")) == ["The reading room has forty seats."]
    assert (await library.run(search, "cards?")).files == ()


async def test_another_embedding_model_embeds_everything_anew(library: Library) -> None:
    assert (await library.run(library.flow(INGEST), HANDBOOK)).error is None
    changed = library.flow(INGEST, {"vectors": {"model": "openai:text-embedding-other"}})
    library.provider.embedded.clear()

    assert (await library.run(changed, HANDBOOK)).error is None

    assert [len(texts) for texts in library.provider.embedded] == [4]


async def test_a_file_of_something_else_is_not_overwritten(library: Library) -> None:
    library.files.write("library.json", '{"mine": 1}')

    result = await library.run(library.flow(INGEST), HANDBOOK)

    assert result.error is not None
    assert "library.json is not a file of this vector store" in result.error.message
    assert library.files.read("library.json") == '{"mine": 1}'


async def test_a_path_outside_of_the_users_files_is_refused(library: Library) -> None:
    result = await library.run(library.flow(INGEST, {"index": {"file_name": "../x.json"}}), HANDBOOK)

    assert result.error is not None
    assert "is not the name of a file" in result.error.message


async def test_changed_code_of_the_store_has_to_pass_the_guard(library: Library) -> None:
    flow = library.flow(SEARCH)
    document = json.loads(json.dumps(flow.to_json()))
    node = next(node for node in document["data"]["nodes"] if node["data"]["type"] == "FileVectorStore")
    code = node["data"]["node"]["template"]["code"]
    assert code["value"] == SOURCE
    code["value"] = SOURCE.replace("return Path(name)", 'return Path("/etc/passwd")')

    result = await library.run(Flow.from_json(document), "cards?")

    assert result.error is not None
    assert (result.error.code, "is not run" in result.error.message) == ("refused", True)
