"""A user's document from the command line: the flow is built, ingests the file, runs on the real engine and answers.

The model and the embeddings are one provider on loopback, in its wire format. The second run of a session remembers the
first, with `ask` and in `chat`.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal

from scripts.scripted_provider import ScriptedProvider
from tests.cli.conftest import Wirewright
from tests.shared import handbook
from tests.shared.handbook import AGAIN, OPENS, REMEMBERED, REQUEST

pytestmark = pytest.mark.engine


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedProvider]:
    """The provider, which is the only one configured."""
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)
    made = handbook.provider()
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(made.serve()) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-loopback")
        monkeypatch.setenv("WIREWRIGHT_MODEL", "openai-chat:words")
        yield made


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "handbook.pdf"
    path.write_bytes(handbook.PDF)
    return path


def test_a_document_is_ingested_and_answered_from_and_a_second_run_remembers(
    wirewright: Wirewright,
    provider: ScriptedProvider,
    warm_engine: None,
    document: Path,
    tmp_path: Path,
) -> None:
    flow = tmp_path / "flow.json"
    done = wirewright("ask", "--file", document, "--session", "talk", "--out", flow, REQUEST, "--json")

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

    again = wirewright("ask", "--flow", flow, "--session", "talk", AGAIN, "--json")
    assert json.loads(again.out.splitlines()[-1])["data"]["run"]["output"] == REMEMBERED
    other = wirewright("ask", "--flow", flow, "--session", "other", AGAIN, "--json")
    assert json.loads(other.out.splitlines()[-1])["data"]["run"]["output"] == "Nothing was asked before."


@pytest.mark.usefixtures("provider", "warm_engine")
def test_a_document_attached_in_a_chat_is_answered_from_and_a_second_run_remembers(
    wirewright: Wirewright, document: Path
) -> None:
    done = wirewright("chat", "--json", stdin=f"/file {document}\n{REQUEST}\n{AGAIN}\n".encode())
    assert done.code == 0, done.err
    outputs = [line["data"]["run"]["output"] for line in done.lines if line["event"] == "complete"]
    assert outputs == [OPENS, REMEMBERED]
