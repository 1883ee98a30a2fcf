"""Approvals over HTTP: what a client is asked, how it answers, and the two fixed messages of the original."""

import logging

import pytest
from pydantic_ai import ToolCallPart

from agent.models.scripted import call
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.components.store import clear, names, save
from runtime.files.folders import LOCAL_USER
from server.settings import ServerSettings
from server.streams.signals import EDITS_APPROVED, PLAN_APPROVED
from tests.server.live import ASSIST, FLOWS, events, serving
from tests.shared.flow_texts import ECHO, LOUDER, flow_of, node_id
from tests.shared.scripted_assistant import ScriptedModel, assistant

pytestmark = pytest.mark.anyio
PLAN = "1. Read\n2. Answer"
RESET = "/api/v1/agentic/sessions/reset"


@pytest.fixture
def canvas(catalogue: Catalogue) -> Flow:
    return flow_of(LOUDER, catalogue)


def whisper(canvas: Flow, field: str = "template", step: int = 1) -> ToolCallPart:
    """A change of the prompt template's text."""
    node = node_id(canvas, "Prompt Template")
    return call("configure_component", step, component_id=node, values={field: "Whisper: {text}"})


def test_the_fixed_messages_are_the_original_s_to_the_byte() -> None:
    assert PLAN_APPROVED == "User approved the plan. Proceed with the build."
    assert EDITS_APPROVED == (
        "The proposed canvas edits were applied. Continue with the remaining steps of my previous request (for "
        "example, running the flow). If editing was the entire request, just confirm briefly."
    )


async def test_a_text_edit_is_asked_and_approved_by_id(catalogue: Catalogue, canvas: Flow) -> None:
    model = ScriptedModel("build_flow", [whisper(canvas)], "I changed the prompt.")
    async with serving(assistant(catalogue, model)) as live:
        asked = await events(live.client, input_value="Whisper", session_id="s", flow=canvas.to_json())
        data = asked[-1]["data"]
        [approval] = data["approvals"]
        edit = next(event for event in asked if event.get("action") == "edit_field")
        done = await events(
            live.client, session_id="s", flow=canvas.to_json(), approvals={approval["id"]: {"decision": "approve"}}
        )
    assert (approval["kind"], approval["field"], approval["old_value"], approval["new_value"]) == (
        "edit",
        "template",
        "Say it louder: {text}",
        "Whisper: {text}",
    )
    assert data["continuation_expected"] is False, "nothing else was asked for"
    assert (edit["id"], edit["component_type"], edit["patch"][0]["op"]) == (
        approval["id"],
        "Prompt Template",
        "replace",
    )
    assert (done[-1]["data"]["result"], done[-1]["data"]["actions"]) == ("I changed the prompt.", 1)
    assert "approvals" not in done[-1]["data"]
    assert "Whisper: {text}" in str(done[-1]["data"]["flow"])


async def test_a_patch_leads_to_the_field_that_is_changed(catalogue: Catalogue, canvas: Flow) -> None:
    model = ScriptedModel("build_flow", [whisper(canvas)])
    async with serving(assistant(catalogue, model)) as live:
        asked = await events(live.client, input_value="Whisper", session_id="s", flow=canvas.to_json())
    [patch] = next(event for event in asked if event.get("action") == "edit_field")["patch"]
    value: object = canvas.to_json()
    for step in patch["path"].strip("/").split("/"):
        value = value[int(step)] if isinstance(value, list) else value[step]
    assert value == "Say it louder: {text}"


async def test_a_denial_keeps_the_text_and_changed_arguments_are_taken(catalogue: Catalogue, canvas: Flow) -> None:
    model = ScriptedModel(
        "build_flow", [whisper(canvas)], "I left it.", "build_flow", [whisper(canvas)], "I changed it."
    )
    node = node_id(canvas, "Prompt Template")
    async with serving(assistant(catalogue, model)) as live:
        for decision, expected in (
            ({"decision": "deny", "reason": "no"}, "Say it louder: {text}"),
            (
                {"decision": "approve", "args": {"component_id": node, "values": {"template": "Sing: {text}"}}},
                "Sing: {text}",
            ),
        ):
            body = {"input_value": "Whisper", "session_id": "s", "flow": canvas.to_json()}
            asked = (await live.client.post(ASSIST, json=body)).json()
            answer = {**body, "input_value": "", "approvals": {asked["approvals"][0]["id"]: decision}}
            done = (await live.client.post(ASSIST, json=answer)).json()
            prompt = Flow.from_json(done["flow"]).node(node)
            assert prompt is not None
            assert prompt.value("template") == expected


async def test_the_edit_message_approves_what_waits_and_the_rest_is_done(catalogue: Catalogue, canvas: Flow) -> None:
    add = call("add_component", 2, type="ChatOutput")
    model = ScriptedModel("build_flow", [whisper(canvas)], [add], "I changed the prompt and added an output.")
    async with serving(assistant(catalogue, model)) as live:
        first = {"input_value": "Change the prompt to a whisper and add a chat output", "session_id": "s"}
        asked = await events(live.client, **first, flow=canvas.to_json())
        done = await events(live.client, input_value=f"  {EDITS_APPROVED}\n", session_id="s", flow=canvas.to_json())
    assert asked[-1]["data"]["continuation_expected"] is True
    assert done[-1]["data"]["result"] == "I changed the prompt and added an output."
    kinds = [event["action"] for event in done if event["event"] == "flow_update"]
    assert kinds == ["configure", "add_component"]


async def test_the_client_may_have_applied_the_edit_itself(catalogue: Catalogue, canvas: Flow) -> None:
    from flows.edits import configure

    node = node_id(canvas, "Prompt Template")
    applied = configure(canvas, catalogue, node, {"template": "Whisper: {text}"}).flow
    model = ScriptedModel("build_flow", [whisper(canvas)], "It is done.")
    async with serving(assistant(catalogue, model)) as live:
        await events(live.client, input_value="Whisper", session_id="s", flow=canvas.to_json())
        done = await events(live.client, input_value=EDITS_APPROVED, session_id="s", flow=applied.to_json())
    assert (done[-1]["event"], done[-1]["data"]["actions"]) == ("complete", 0)


async def test_the_plan_message_carries_out_the_plan_without_a_classifier(
    catalogue: Catalogue, caplog: pytest.LogCaptureFixture
) -> None:
    replies = [
        "build_flow",
        [call("propose_plan", 1, markdown=PLAN)],
        [call("build_flow", 2, spec=ECHO)],
        "I built it.",
    ]
    async with serving(assistant(catalogue, ScriptedModel(*replies))) as live:
        asked = await events(live.client, input_value="Build something large", session_id="s")
        with caplog.at_level(logging.INFO):
            done = await events(live.client, input_value=PLAN_APPROVED, session_id="s")
    assert "intent.build_flow.deterministic" in [record.msg for record in caplog.records]
    plan = next(event for event in asked if event.get("action") == "propose_plan")
    assert plan["markdown"] == asked[-1]["data"]["approvals"][0]["markdown"] == PLAN
    assert asked[-1]["data"]["continuation_expected"] is False
    assert done[-1]["data"]["result"] == "I built it."
    assert [event["step"] for event in done if event["event"] == "progress"][-1] == "flow_proposal_ready"


async def test_a_message_that_only_begins_like_one_is_a_message(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue, ScriptedModel("question", "Which plan?"))) as live:
        done = await events(live.client, input_value=f"{PLAN_APPROVED} Really.", session_id="s")
    assert done[-1]["data"]["result"] == "Which plan?"


async def test_flow_proposal_ready_comes_only_with_an_offered_proposal(catalogue: Catalogue, canvas: Flow) -> None:
    add = call("add_component", 1, type="ChatOutput")
    async with serving(assistant(catalogue, ScriptedModel("build_flow", [add], "I added it."))) as live:
        found = await events(live.client, input_value="Add an output", flow=canvas.to_json())
    assert "flow_proposal_ready" not in [event.get("step") for event in found]
    assert "flow_ran" not in str([event.get("action") for event in found])


@pytest.mark.parametrize("message", [PLAN_APPROVED, EDITS_APPROVED])
async def test_a_fixed_message_with_nothing_pending_is_refused(catalogue: Catalogue, message: str) -> None:
    async with serving(assistant(catalogue, ScriptedModel())) as live:
        reply = await live.client.post(ASSIST, json={"input_value": message, "session_id": "s"})
    assert (reply.status_code, reply.json()["error"]["code"]) == (409, "nothing_pending")


@pytest.mark.parametrize(
    ("approvals", "status"),
    [
        ({"x": {"decision": "approve"}}, 409),
        ({"x": {"decision": "maybe"}}, 422),
        ({"x": "approve"}, 422),
        ([], 422),
    ],
)
async def test_answers_that_cannot_be_taken_are_refused(catalogue: Catalogue, approvals: object, status: int) -> None:
    async with serving(assistant(catalogue, ScriptedModel())) as live:
        reply = await live.client.post(ASSIST, json={"session_id": "s", "approvals": approvals})
    assert reply.status_code == status, reply.text


async def test_a_request_without_message_and_answers_is_refused(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue, ScriptedModel())) as live:
        reply = await live.client.post(ASSIST, json={"session_id": "s"})
    assert (reply.status_code, reply.json()["error"]["where"]) == (422, "$.input_value")


async def test_a_reset_forgets_the_conversation(catalogue: Catalogue, canvas: Flow) -> None:
    model = ScriptedModel("build_flow", [whisper(canvas)])
    async with serving(assistant(catalogue, model)) as live:
        asked = await events(live.client, input_value="Whisper", session_id="s", flow=canvas.to_json())
        reset = await live.client.post(RESET, json={"session_id": "s"})
        again = await live.client.post(RESET, json={"session_id": "s"})
        late = await live.client.post(
            ASSIST,
            json={"session_id": "s", "approvals": {asked[-1]["data"]["approvals"][0]["id"]: {"decision": "approve"}}},
        )
        empty = await live.client.post(RESET, json={})
    assert (reset.status_code, again.status_code) == (200, 200)
    assert reset.json() == {"status": "ok", "components_cleared": 0, "session_id": "s"}
    assert late.status_code == 409
    assert empty.json() == {"status": "ok", "components_cleared": 0, "session_id": None}


async def test_a_stored_flow_gets_the_approved_change_as_one_version(catalogue: Catalogue, canvas: Flow) -> None:
    model = ScriptedModel("build_flow", [whisper(canvas)], "I changed the prompt.")
    async with serving(assistant(catalogue, model)) as live:
        stored = (await live.client.post(FLOWS, json=canvas.to_json())).json()
        asked = await events(live.client, input_value="Whisper", session_id="s", flow_id=stored["id"])
        assert asked[-1]["data"]["version"] == stored["version"]
        answers = {asked[-1]["data"]["approvals"][0]["id"]: {"decision": "approve"}}
        done = await events(live.client, session_id="s", flow_id=stored["id"], approvals=answers)
    assert done[-1]["data"]["version"] == stored["version"] + 1


@pytest.mark.parity("scenario-plan-reset", "smoke-plan-reset")
async def test_a_plan_can_be_dropped_and_is_quoted_to_no_message(catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", call("propose_plan", 1, markdown=PLAN), "question", "No plan.")
    async with serving(assistant(catalogue, model)) as live:
        asked = await events(live.client, input_value="Build something large", session_id="s")
        dropped = await live.client.post(RESET, json={"session_id": "s", "what": "plan"})
        late = {asked[-1]["data"]["approvals"][0]["id"]: {"decision": "approve"}}
        refused = await live.client.post(ASSIST, json={"session_id": "s", "approvals": late})
        await events(live.client, input_value="Hm", session_id="s")
    assert (dropped.status_code, refused.status_code) == (200, 409)
    shown = str(model.requests[-1])
    assert "[Previous plan" not in shown
    assert "Build something large" in shown, "the history stays"


async def test_a_reset_removes_the_components_of_its_user_alone_and_counts_them(catalogue: Catalogue) -> None:
    who = assistant(catalogue, ScriptedModel())
    for user in (LOCAL_USER, "someone"):
        save(who.settings.data, user, "Doubler", "class Doubler: ...")
    async with serving(who) as live:
        first = await live.client.post(f"{RESET}?session_id=s", json={"user_id": "someone"})
        again = await live.client.post(RESET, json={"session_id": "s"})
        wrong = await live.client.post(RESET, json={"session_id": "s", "what": "everything"})
    assert first.json() == {"status": "ok", "components_cleared": 1, "session_id": "s"}
    assert again.json() == {"status": "ok", "components_cleared": 0, "session_id": "s"}
    assert wrong.status_code == 422
    assert clear(who.settings.data, "someone") == 1


@pytest.mark.parity("smoke-component-reload")
async def test_a_reset_keeps_components_that_a_stored_flow_uses(catalogue: Catalogue, canvas: Flow) -> None:
    who = assistant(catalogue, ScriptedModel())
    for name in ("Doubler", "Halver", "Do_bler"):
        save(who.settings.data, LOCAL_USER, name, f"class {name}: ...")
    document = canvas.to_json()
    document["data"]["nodes"][0]["data"]["type"] = "Doubler"  # type: ignore[index,call-overload]
    async with serving(who) as live:
        stored = (await live.client.post(FLOWS, json=document)).json()
        used = await live.client.post(RESET, json={"session_id": "s"})
        left = names(who.settings.data, LOCAL_USER)
        await live.client.delete(f"{FLOWS}/{stored['id']}")
        unused = await live.client.post(RESET, json={"session_id": "s"})
    assert (used.json()["components_cleared"], left) == (2, ["Doubler"])
    assert (unused.json()["components_cleared"], names(who.settings.data, LOCAL_USER)) == (1, [])


async def test_a_session_alone_can_be_reset(catalogue: Catalogue) -> None:
    model = ScriptedModel(*["question", "An answer."] * 3)
    who = assistant(catalogue, model)
    save(who.settings.data, LOCAL_USER, "Doubler", "class Doubler: ...")
    async with serving(who) as live:
        for session in ("one", "two"):
            await events(live.client, input_value="What?", session_id=session)
        reset = await live.client.post(RESET, json={"session_id": "one", "what": "session"})
        counts = [len((await who.memory.load(LOCAL_USER, session)).turns) for session in ("one", "two")]
    assert reset.json() == {"status": "ok", "components_cleared": 0, "session_id": "one"}
    assert counts == [0, 1]
    assert names(who.settings.data, LOCAL_USER) == ["Doubler"]


@pytest.mark.anyio
async def test_a_reset_reads_no_more_than_the_limit_and_needs_no_body(catalogue: Catalogue) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    async with serving(assistant(catalogue), ServerSettings(body_limit=2_000)) as live:
        large = await live.client.post(RESET, json={"session_id": "s", "padding": "x" * 3_000})
        named = await live.client.post(RESET, params={"session_id": "s"}, headers=form)
        foreign = await live.client.post(RESET, content=b"session_id=s", headers=form)
    assert (large.status_code, large.json()["error"]["code"]) == (413, "too_large")
    assert (named.status_code, named.json()["session_id"]) == (200, "s")
    assert foreign.status_code == 415
