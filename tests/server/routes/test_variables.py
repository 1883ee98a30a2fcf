"""The user's variables over real HTTP: set, listed and removed, and never given back."""

import httpx
import pytest

from flows.catalogue import Catalogue
from tests.server.live import ASSIST, serving
from tests.shared.scripted_assistant import scripted_assistant

pytestmark = [pytest.mark.anyio, pytest.mark.both_databases]
VARIABLES = "/api/v1/variables"
KEY = "sk-proj-Ab3dEf6hIj9kLm2nOp5qRs8t"


def code(reply: httpx.Response) -> tuple[int, str]:
    return reply.status_code, reply.json()["error"]["code"]


async def test_variables_are_set_listed_and_removed(catalogue: Catalogue) -> None:
    who, _ = scripted_assistant(catalogue)
    async with serving(who) as live:
        replies = [await live.client.put(f"{VARIABLES}/SERPER_API_KEY", json={"value": KEY})]
        replies.append(await live.client.get(VARIABLES))
        assert replies[1].json()["variables"] == [{"name": "SERPER_API_KEY"}]
        assert (await live.client.delete(f"{VARIABLES}/SERPER_API_KEY")).status_code == 204
        assert code(await live.client.delete(f"{VARIABLES}/SERPER_API_KEY")) == (404, "variable_not_found")
        assert all(KEY not in reply.text for reply in replies)


@pytest.mark.parametrize("body", [{"value": ""}, {"value": [KEY]}, {"valeu": KEY}, {"value": f"{KEY}\n{KEY}"}, {}])
async def test_a_refusal_never_repeats_what_was_sent(catalogue: Catalogue, body: dict[str, object]) -> None:
    who, _ = scripted_assistant(catalogue)
    async with serving(who) as live:
        for reply in (
            await live.client.put(f"{VARIABLES}/A", json=body),
            await live.client.put(f"{VARIABLES}/{KEY}", json={"value": "x"}),
            await live.client.delete(f"{VARIABLES}/{KEY}"),
        ):
            assert reply.status_code == 422
            assert KEY not in reply.text


async def test_a_typed_key_is_kept_by_id_and_stands_nowhere_else(catalogue: Catalogue) -> None:
    who, model = scripted_assistant(catalogue, '{"intent": "question"}', "Set it in the field.")
    async with serving(who) as live:
        asked = await live.client.post(ASSIST, json={"input_value": f"Use my key {KEY}", "session_id": "s"})
        [question] = asked.json()["approvals"]
        assert (question["kind"], question["variable"], question["use"]) == ("secret", "OPENAI_API_KEY", "keep")
        assert "OPENAI_API_KEY" in asked.json()["result"]
        answers = {question["id"]: {"decision": "approve"}}
        kept = await live.client.post(ASSIST, json={"approvals": answers, "session_id": "s"})
        assert (await live.client.get(VARIABLES)).json()["total"] == 1
    assert KEY not in asked.text + kept.text + str(model.requests)


async def test_a_file_whose_name_looks_like_a_key_is_refused_without_its_name(catalogue: Catalogue) -> None:
    who, _ = scripted_assistant(catalogue)
    async with serving(who) as live:
        reply = await live.client.post("/api/v1/files", files=[("file", (f"{KEY}.txt", b"x"))])
    assert code(reply) == (422, "file_refused")
    assert KEY not in reply.text
