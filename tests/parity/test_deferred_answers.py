"""What turns tell about their parts: cached reads, components, conversations and plans, in the log and at /metrics."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import ToolApproved, ToolDenied

from agent.conversation.memory import SESSIONS
from agent.models.scripted import call, last_prompt
from flows.catalogue import Catalogue
from runtime.components.store import load, save
from runtime.results import RunError
from runtime.telemetry import LOGGER, event_fields
from server.telemetry.metrics import Metrics
from tests.server.live import Live, events, serving
from tests.shared.flow_texts import ECHO, flow_of
from tests.shared.scripted_assistant import Reply, ScriptedModel, assistant, play
from tests.shared.stand_ins import SUM, ComponentRunner, ran

pytestmark = pytest.mark.anyio
DESCRIBE = [call("describe_component", 1, type="ChatInput")]
AGAIN = [call("describe_component", 2, type="ChatInput")]
OTHER = [call("describe_component", 3, type="ChatOutput")]
BROKEN = SUM.replace("class SumComponent(Component):", "class SumComponent(Component)")


class Watch:
    """The lines of the log and the figures while a test runs."""

    def __init__(self, told: pytest.LogCaptureFixture, metrics: Metrics) -> None:
        self._told = told
        self._metrics = metrics

    def lines(self, name: str) -> list[dict[str, Any]]:
        """The fields of every line of one name."""
        return [event_fields(record) for record in self._told.records if record.getMessage() == name]

    def figure(self, name: str) -> float:
        """One figure by name and labels."""
        pairs = [line.rpartition(" ") for line in self._metrics.text().decode().splitlines()]
        return next((float(value) for found, _, value in pairs if found == name), 0.0)


@pytest.fixture
def watch(caplog: pytest.LogCaptureFixture) -> Any:
    """Everything that is told."""
    caplog.set_level(logging.INFO, logger=LOGGER)
    metrics = Metrics()
    metrics.attach()
    yield Watch(caplog, metrics)
    metrics.detach()


async def asked(catalogue: Catalogue, *replies: Reply, texts: Sequence[str] = ("What is it?",)) -> ScriptedModel:
    """Turns of one session; questions, so that nothing else reads the catalogue."""
    model = ScriptedModel(*replies)
    who = assistant(catalogue, model, ComponentRunner())
    for text in texts:
        await play(who, text, session="s")
    return model


@pytest.mark.parity("assistant.tool_cache.hit", "assistant.tool_cache.miss")
async def test_cached_reads_are_reported(catalogue: Catalogue, watch: Watch) -> None:
    await asked(catalogue, "question", DESCRIBE, AGAIN, "So it is.")
    assert [line["tool"] for line in watch.lines("assistant.tool_cache.miss")] == ["describe_component"]
    (hit,) = watch.lines("assistant.tool_cache.hit")
    assert hit["tool"] == "describe_component"
    assert 0 < len(hit["key_hash"]) <= 16


@pytest.mark.parity("assistant_tool_cache_hit_total", "assistant_tool_cache_miss_total")
async def test_cached_reads_are_counted(catalogue: Catalogue, watch: Watch) -> None:
    await asked(catalogue, "question", DESCRIBE, AGAIN, OTHER, "So it is.")
    assert watch.figure('assistant_tool_cache_hit_total{tool="describe_component"}') == 1
    assert watch.figure('assistant_tool_cache_miss_total{tool="describe_component"}') == 2


def make(step: int, source: str = SUM) -> list[Any]:
    return [call("generate_component", step, source=source)]


@pytest.mark.parity("assistant.validation.success", "assistant.validation.failed")
async def test_a_component_that_passes_at_the_second_try_is_reported(catalogue: Catalogue, watch: Watch) -> None:
    await asked(catalogue, "generate_component", make(1, BROKEN), make(2), "Here.", texts=("create a component",))
    (failed,) = watch.lines("assistant.validation.failed")
    assert failed["attempt"] == 1
    assert "parse" in failed["error"]
    (passed,) = watch.lines("assistant.validation.success")
    assert (passed["class_name"], passed["attempts"]) == ("SumComponent", 2)


@pytest.mark.parity("assistant.validation.exhausted")
async def test_a_component_that_never_passes_is_reported_as_an_error(catalogue: Catalogue, watch: Watch) -> None:
    tries = [make(step, BROKEN + f"# {step}\n") for step in (1, 2, 3)]
    await asked(catalogue, "generate_component", *tries, "I could not.", "I could not.", texts=("create a component",))
    (line,) = watch.lines("assistant.validation.exhausted")
    assert line["attempts"] == 3
    assert line["error"]


@pytest.mark.parity(
    "assistant_validation_attempts", "assistant_validation_success_rate", "assistant_user_component_registered_total"
)
async def test_validations_are_counted(catalogue: Catalogue, watch: Watch) -> None:
    other = SUM.replace("SumComponent", "OtherSum")
    replies = ["generate_component", make(1, BROKEN), make(2), "Here.", "generate_component", make(3, other), "Here."]
    await asked(catalogue, *replies, texts=("create a component", "create another component"))
    assert watch.figure("assistant_validation_attempts_count") == 2
    assert watch.figure("assistant_validation_attempts_sum") == 3
    assert watch.figure("assistant_validation_success_rate") == 0.5
    assert watch.figure("assistant_user_component_registered_total") == 2


@pytest.mark.parity("assistant.conversation_buffer.turn_recorded", "assistant_conversation_buffer_turn_recorded_total")
async def test_a_turn_that_is_remembered_is_reported(catalogue: Catalogue, watch: Watch) -> None:
    await asked(catalogue, "question", "An answer.")
    (line,) = watch.lines("assistant.conversation_buffer.turn_recorded")
    assert (line["session_id"], line["user_length"], line["assistant_length"]) == ("s", 11, 10)
    assert watch.figure("assistant_conversation_buffer_turn_recorded_total") == 1


@pytest.mark.parity("assistant_conversation_buffer_turn_skipped_total")
async def test_a_turn_that_is_not_remembered_is_counted_by_its_reason(catalogue: Catalogue, watch: Watch) -> None:
    await play(assistant(catalogue, ScriptedModel(RuntimeError("broken"))), "Build an echo", session="s")
    assert watch.figure('assistant_conversation_buffer_turn_skipped_total{reason="empty_response"}') == 1


@pytest.mark.parity(
    "assistant.conversation_buffer.session_evicted",
    "assistant_conversation_buffer_session_evicted_total",
    "assistant_conversation_buffer_sessions",
)
async def test_a_session_that_is_forgotten_is_reported(catalogue: Catalogue, watch: Watch) -> None:
    who = assistant(catalogue)
    for number in range(SESSIONS + 1):
        await play(who, "What does Chat Input do?", session=f"s{number}")
    (line,) = watch.lines("assistant.conversation_buffer.session_evicted")
    assert (line["evicted_session_id"], line["current_session_count"]) == ("s0", SESSIONS)
    assert watch.figure("assistant_conversation_buffer_session_evicted_total") == 1
    assert watch.figure("assistant_conversation_buffer_sessions") == SESSIONS


@pytest.mark.parity("flow_builder.spec.orphan", "assistant_flow_orphan_rejection_total")
async def test_a_spec_with_an_orphan_is_reported(catalogue: Catalogue, watch: Watch) -> None:
    orphan = ECHO.replace("edges:", "  lonely: TextInput\nedges:")
    replies = [
        "build_flow",
        [call("build_flow", 1, spec=orphan)],
        [call("build_flow", 2, spec=ECHO)],
        "Here.",
    ]
    await asked(catalogue, *replies, texts=("Build an echo",))
    (line,) = watch.lines("flow_builder.spec.orphan")
    assert "lonely" in str(line["orphan_node_ids"])
    assert watch.figure("assistant_flow_orphan_rejection_total") == 1


PLAN = [call("propose_plan", 1, markdown="1. Echo")]


@pytest.mark.parity("assistant_plan_continue_total", "assistant_plan_dismiss_total")
async def test_answers_to_plans_are_counted(catalogue: Catalogue, watch: Watch) -> None:
    build = [call("build_flow", 2, spec=ECHO)]
    model = ScriptedModel("build_flow", PLAN, build, "Built.", "build_flow", PLAN, "As you like.")
    who = assistant(catalogue, model)
    for answer in (ToolApproved(), ToolDenied("No.")):
        waiting = await play(who, "Build a large thing", session="s")
        await play(who, session="s", answers=dict.fromkeys(waiting.approvals, answer))
    assert watch.figure("assistant_plan_continue_total") == 1
    assert watch.figure("assistant_plan_dismiss_total") == 1


@pytest.mark.parity("assistant.plan.refining.send", "assistant.plan.replan")
async def test_a_refinement_and_the_plan_it_leads_to_are_reported(catalogue: Catalogue, watch: Watch) -> None:
    again = [call("propose_plan", 2, markdown="1. Louder")]
    await asked(catalogue, "build_flow", PLAN, "build_flow", again, texts=("Build a large thing", "make it louder"))
    (sent,) = watch.lines("assistant.plan.refining.send")
    assert (sent["session_id"], sent["stash_length"], sent["refinement_length"]) == ("s", 7, 14)
    (line,) = watch.lines("assistant.plan.replan")
    assert line["session_id"] == "s"


@pytest.mark.parity("assistant_plan_refinement_send_total", "assistant_plan_replan_total")
async def test_refinements_and_new_plans_are_counted(catalogue: Catalogue, watch: Watch) -> None:
    again = [call("propose_plan", 2, markdown="1. Louder")]
    await asked(catalogue, "build_flow", PLAN, "build_flow", again, texts=("Build a large thing", "make it louder"))
    assert watch.figure("assistant_plan_refinement_send_total") == 1
    assert watch.figure("assistant_plan_replan_total") == 1


@pytest.mark.parity("assistant_user_component_overlay_entries")
async def test_a_users_components_in_a_turn_are_counted(catalogue: Catalogue, watch: Watch) -> None:
    replies = ["generate_component", make(1), "Here.", "question", "It is."]
    await asked(catalogue, *replies, texts=("create a component", "What is it?"))
    assert watch.figure("assistant_user_component_overlay_entries_sum") >= 1


async def test_a_later_conversation_is_told_of_the_users_own_components(catalogue: Catalogue) -> None:
    model = ScriptedModel("generate_component", make(1), "Here.", "question", "It adds.")
    async with serving(assistant(catalogue, model, ComponentRunner())) as live:
        await events(live.client, input_value="create a component", session_id="agentic_s1")
        await events(live.client, input_value="What adds numbers?", session_id="agentic_s2")
    assert "describe_component` knows them):\nSumComponent\n" in last_prompt(model.requests[-1])


async def reset(live: Live, session: str) -> dict[str, Any]:
    """The reply of a reset."""
    reply = await live.client.post("/api/v1/agentic/sessions/reset", json={"session_id": session})
    assert reply.status_code == 200
    return reply.json()


@pytest.mark.parity("ADR-MCP-027", "term-sessions-reset", "smoke-component-new-session")
async def test_a_reset_forgets_the_turns_and_wipes_the_components(catalogue: Catalogue) -> None:
    search = [call("search_components", 2, query="adds two numbers")]
    model = ScriptedModel("generate_component", make(1), "Here.", "question", search, "There is none.")
    async with serving(assistant(catalogue, model, ComponentRunner())) as live:
        await events(live.client, input_value="create a component", session_id="agentic_s1")
        told = await reset(live, "agentic_s1")
        assert told.items() >= {"status": "ok", "components_cleared": 1, "session_id": "agentic_s1"}.items()
        await events(live.client, input_value="What adds numbers?", session_id="agentic_s1")
    assert last_prompt(model.requests[4]) == "What adds numbers?"
    assert "SumComponent" not in model.tool_answers(5)[0]


@pytest.mark.parity("scenario-reset-idempotent", "assistant_session_reset_total")
async def test_a_reset_of_nothing_is_not_a_fault(catalogue: Catalogue, watch: Watch) -> None:
    async with serving(assistant(catalogue)) as live:
        for _ in range(2):
            told = await reset(live, "agentic_new")
            assert told.items() >= {"status": "ok", "components_cleared": 0, "session_id": "agentic_new"}.items()
    assert watch.figure("assistant_session_reset_total") == 2


@pytest.mark.parity("scenario-reset-only-own", "assistant_session_reset_components_cleared_total")
async def test_a_reset_wipes_the_callers_components_alone(
    catalogue: Catalogue, watch: Watch, data_folder: Path
) -> None:
    for user, name in (("local", "SumComponent"), ("local", "OtherSum"), ("bob", "BobSum")):
        save(data_folder, user, name, SUM.replace("SumComponent", name))
    async with serving(assistant(catalogue)) as live:
        body = {"session_id": "agentic_s1", "user_id": "bob", "user": "bob"}
        await live.client.post("/api/v1/agentic/sessions/reset?user_id=bob", json=body)
        assert (await reset(live, "agentic_s1"))["status"] == "ok"
    assert [component.type for component in (await load(data_folder, "local", ComponentRunner())).components] == []
    assert [component.type for component in (await load(data_folder, "bob", ComponentRunner())).components] == [
        "BobSum"
    ]
    assert watch.figure("assistant_session_reset_components_cleared_total") == 2


@pytest.mark.parity("intent.build_flow.deterministic", "smoke-plan-string", "term-plan-short-circuit")
async def test_a_plan_approved_by_the_fixed_message_is_reported_and_not_classified(
    catalogue: Catalogue, watch: Watch
) -> None:
    model = ScriptedModel("build_flow", PLAN, [call("build_flow", 2, spec=ECHO)], "Built.")
    async with serving(assistant(catalogue, model)) as live:
        for text in ("Build a large thing", "User approved the plan. Proceed with the build."):
            await events(live.client, input_value=text, session_id="agentic_s1")
    assert len(watch.lines("intent.build_flow.deterministic")) == 1
    assert sum("max_tokens" in settings for settings in model.request_settings) == 1


@pytest.mark.parity("base-term-component-code")
async def test_a_component_is_given_with_its_source_and_name(catalogue: Catalogue) -> None:
    model = ScriptedModel("generate_component", make(1), "Here.")
    async with serving(assistant(catalogue, model, ComponentRunner())) as live:
        found = await events(live.client, input_value="create a component")
    data = found[-1]["data"]
    assert (data["class_name"], data["component_code"].strip()) == ("SumComponent", SUM.strip())
    assert data["validated"] is True


@pytest.mark.parity("term-generating-document", "term-decide-progress-step")
@pytest.mark.parametrize(
    ("intent", "step", "label"),
    [
        ("build_flow", "generating_flow", "Generating flow..."),
        ("manage_files", "generating_document", "Generating document..."),
        ("component_then_flow", "orchestrating", "Orchestrating..."),
    ],
)
async def test_each_kind_of_request_has_its_step_and_label(
    intent: str, step: str, label: str, catalogue: Catalogue
) -> None:
    act = [call("write_file", 1, path="a.md", content="x")] if intent == "manage_files" else [DESCRIBE[0]]
    model = ScriptedModel(intent, act, "Done.", "Done.")
    async with serving(assistant(catalogue, model, ComponentRunner())) as live:
        found = await events(live.client, input_value="Please do it")
    assert [event["message"] for event in found if event.get("step") == step] == [label]


@pytest.mark.parity("assistant_user_component_register_refused_total")
async def test_a_component_that_is_not_kept_is_counted_by_its_reason(
    catalogue: Catalogue, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.components.store.MAX_COMPONENTS", 0)
    await asked(catalogue, "generate_component", make(1), "Here.", texts=("create a component",))
    assert watch.figure('assistant_user_component_register_refused_total{reason="too_many"}') == 1


@pytest.mark.parity("assistant_user_component_overlay_skipped_total")
@pytest.mark.parametrize(("content", "reason"), [(b"class Sum(", "parse_error"), (b"\xff", "read_error")])
async def test_a_damaged_component_is_counted_by_its_reason(
    content: bytes, reason: str, catalogue: Catalogue, watch: Watch, data_folder: Path
) -> None:
    save(data_folder, "local", "SumComponent", "class Sum(").write_bytes(content)
    await asked(catalogue, "question", "It is.")
    skipped = [line["reason"] for line in watch.lines("assistant.user_component.overlay_skipped")]
    assert skipped == [reason]
    assert watch.figure(f'assistant_user_component_overlay_skipped_total{{reason="{reason}"}}') == 1


@pytest.mark.parity("assistant.run_flow.blocked_unsafe_code")
async def test_a_run_that_is_refused_for_its_code_is_reported(catalogue: Catalogue, watch: Watch) -> None:
    refused = ran(error=RunError(code="refused", message="Refused to run: line 4 starts a process.", node="n"))
    model = ScriptedModel("run_flow", [call("run_flow", 1, input="hi")], "It was refused.")
    who = assistant(catalogue, model, ComponentRunner(results=[refused]))
    await play(who, "Run it with hi", session="s", flow=flow_of(ECHO, catalogue))
    (line,) = watch.lines("assistant.run_flow.blocked_unsafe_code")
    assert line["node"] == "n"
