"""The kinds of approval that the original's clients do not know: asked in words, answered by id or in words."""

from typing import Any

import pytest

from agent.contract.endings import ending, turn_result
from agent.contract.events import EVENTS
from agent.models.scripted import call
from agent.turn.request import TurnRequest
from agent.turn.result import TurnResult
from cli.output.questions import format_question
from flows.catalogue import Catalogue
from flows.document import Flow
from server.streams.signals import EDITS_APPROVED, PLAN_APPROVED
from tests.server.live import ASSIST, STREAM, Live, events, serving
from tests.shared.consents import CONSENTS, offer_consents
from tests.shared.scripted_assistant import ScriptedModel, assistant

pytestmark = pytest.mark.anyio
ASKED = {
    "install": "May I install chroma: lfx-chroma (212 MB)?",
    "removal": "May I remove or overwrite notes.md?",
    "outbound": "May I send data to api.example.com?",
    "secret": "May I use the secret OPENAI_API_KEY?",
}


@pytest.fixture(autouse=True)
def _consents(monkeypatch: pytest.MonkeyPatch) -> None:
    offer_consents(monkeypatch)


async def data(live: Live, **request: object) -> dict[str, Any]:
    """What the complete event of a streamed turn says."""
    found = await events(live.client, session_id="s", **request)
    assert found[-1]["event"] == "complete", found[-1]
    return found[-1]["data"]


def do(kind: str) -> list[Any]:
    return [call("do_with_consent", 1, kind=kind)]


@pytest.mark.parametrize("kind", list(CONSENTS))
async def test_a_consent_is_asked_in_words_with_its_own_fields_and_given_by_id(kind: str, catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", do(kind), "It is done.")
    async with serving(assistant(catalogue, model)) as live:
        asked = await data(live, input_value="Please do it")
        assert ASKED[kind] in asked["result"]
        [approval] = asked["approvals"]
        assert approval == {"id": approval["id"], **CONSENTS[kind].model_dump(mode="json")}
        done = await data(live, approvals={approval["id"]: {"decision": "approve"}})
    assert model.tool_answers(-1) == [f"Done: {kind} it."]
    assert "approvals" not in done


@pytest.mark.parametrize("path", [ASSIST, STREAM])
@pytest.mark.parametrize(("text", "answer"), [("ja, mach", "Done: install it."), ("いいえ", "The user said no.")])
async def test_a_consent_is_given_or_refused_in_words(path: str, text: str, answer: str, catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", do("install"), "I see.", "I see.")
    async with serving(assistant(catalogue, model)) as live:
        for said in ("Please do it", text):
            response = await live.client.post(path, json={"input_value": said, "session_id": "s"})
            assert response.status_code == 200
    assert model.tool_answers(2)[-1].startswith(answer)


@pytest.mark.parametrize("signal", [PLAN_APPROVED, EDITS_APPROVED])
@pytest.mark.parametrize("kind", list(CONSENTS))
async def test_the_fixed_messages_never_give_consent(kind: str, signal: str, catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", do(kind), "It is done.")
    async with serving(assistant(catalogue, model)) as live:
        await data(live, input_value="Please do it")
        refused = await live.client.post(ASSIST, json={"input_value": signal, "session_id": "s"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "nothing_pending")
    assert len(model.replies) == 1, "nothing went on"


@pytest.mark.parametrize("kind", list(CONSENTS))
def test_a_consent_survives_the_wire_and_is_shown_in_a_terminal(kind: str) -> None:
    result = TurnResult(
        outcome="pending",
        intent="build_flow",
        text="?",
        before=Flow.empty(),
        after=Flow.empty(),
        approvals={"call_1": CONSENTS[kind]},
        seconds=0.1,
    )
    sent = EVENTS.validate_json(ending(result, "s").model_dump_json())
    assert sent.event == "complete"
    assert turn_result(TurnRequest(text="x"), sent).approvals == result.approvals
    assert CONSENTS[kind].title in format_question(CONSENTS[kind])
