"""A user's document from the command line: the flow is built, ingests the file, runs on the real engine and answers.

The model and the embeddings are one provider on loopback, in its wire format.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal

from runtime.install.environment import RunnerEnvironment
from scripts.scripted_provider import Reply, ScriptedProvider
from tests import documents
from tests.cli.conftest import Wirewright

pytestmark = pytest.mark.engine

OPENS = "The office opens at nine."


def answer(body: dict[str, Any]) -> Reply:
    """The assistant builds the template with the file, and runs it; the model of the flow quotes what it is given."""
    said = str(body["messages"][-1]["content"])
    if "pieces of a document" in said:
        return Reply(text=next(line for line in said.splitlines() if line.startswith("- ")).removeprefix("- "))
    if "build_flow" not in {tool["function"]["name"] for tool in body.get("tools") or ()}:
        return Reply(text="build_flow")
    results = [str(message["content"]) for message in body["messages"] if message["role"] == "tool"]
    steps = [
        Reply(calls=(("build_flow", {"spec": "template: rag\nconfig:\n  document.path: handbook.pdf"}),)),
        Reply(calls=(("run_flow", {"input": "When does the office open?"}),)),
        Reply(text=f"It says: {OPENS}"),
    ]
    return steps[len(results)]


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedProvider]:
    """The provider, which is the only one configured."""
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    made = ScriptedProvider(answer, lambda text: [float("open" in text.lower()) + 0.01, 0.5])
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(made.serve()) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-loopback")
        monkeypatch.setenv("WIREWRIGHT_MODEL", "openai-chat:words")
        yield made


def test_a_document_is_ingested_and_answered_from(
    wirewright: Wirewright, provider: ScriptedProvider, runner_environment: RunnerEnvironment, tmp_path: Path
) -> None:
    document = tmp_path / "handbook.pdf"
    document.write_bytes(documents.pdf(OPENS))

    done = wirewright(
        "ask", "--file", document, "Answer questions about this document, then ask it when the office opens", "--json"
    )

    assert done.code == 0, done
    last = json.loads(done.out.splitlines()[-1])
    assert last["event"] == "complete"
    assert last["data"]["run"]["output"] == OPENS
    assert last["data"]["result"].endswith(OPENS)
    assert ("vectors.json", "created") in {(one["path"], one["change"]) for one in last["data"]["record"]["files"]}
    assert provider.embedded[-2:] == [[OPENS], ["When does the office open?"]]  # after those of the verification
    assert {one["path"] for one in wirewright("files", "list", "--json").json["files"]} == {
        "handbook.pdf",
        "vectors.json",
    }
