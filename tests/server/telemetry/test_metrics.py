"""Figures for Prometheus: counted from what happens, bounded, and without content."""

import asyncio
import logging
import socket

import httpx
import pytest
from inline_snapshot import snapshot

from agent.conversation.in_process import ProcessMemory
from agent.models.scripted import call
from flows.catalogue import Catalogue
from runtime.install.release import release
from runtime.telemetry import event_fields, log_event
from server.app import create_app
from server.serve import CannotServe, HttpServer, address, bound, serve
from server.settings import ServerSettings
from server.telemetry.logs import JsonFormatter, PlainFormatter
from server.telemetry.metrics import MAX_LABEL_VALUES, Metrics
from tests.server.live import ASSIST, serving
from tests.shared.scripted_assistant import ScriptedModel, assistant


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


def figures(text: str) -> dict[str, float]:
    lines = [line.rsplit(" ", 1) for line in text.splitlines() if line and not line.startswith("#")]
    return {name: float(value) for name, value in lines if not name.rsplit("{")[0].endswith("_created")}


def counted(metrics: Metrics, name: str, **fields: object) -> dict[str, float]:
    metrics.attach()
    try:
        log_event(name, **fields)
    finally:
        metrics.detach()
    log_event(name, **fields)  # not attached: not counted
    return figures(metrics.text().decode())


@pytest.mark.parametrize(
    ("event", "fields", "figure"),
    [
        ("assistant.request.started", {"provider": "openai"}, "assistant_requests_total"),
        ("assistant.request.started", {"provider": "openai"}, 'assistant_provider_usage_total{provider="openai"}'),
        (
            "assistant.request.completed",
            {"intent": "question", "duration_ms": 5},
            'assistant_requests_by_intent_total{intent="question"}',
        ),
        ("assistant.request.completed", {"intent": "build_flow"}, "assistant_intent_build_flow_total"),
        ("assistant.request.completed", {"duration_ms": 9}, "assistant_generation_duration_seconds_count"),
        ("assistant.request.cancelled", {}, "assistant_cancellations_total"),
        ("assistant.flow.error", {"error_type": "auth"}, 'assistant_errors_total{type="auth"}'),
        ("flow_builder.proposal.ready", {}, "assistant_flow_proposal_ready_total"),
        ("flow_builder.action.emitted", {"action": "connect"}, 'assistant_flow_update_events_total{action="connect"}'),
        ("flow_builder.spec.orphan", {}, "assistant_flow_orphan_rejection_total"),
        (
            "flow_builder.tool.finished",
            {"tool_name": "build_flow", "success": True, "duration_ms": 3},
            'mcp_tool_invocations_total{success="true",tool="build_flow"}',
        ),
        (
            "flow_builder.tool.finished",
            {"tool_name": "build_flow", "success": False, "duration_ms": 3},
            'mcp_tool_duration_ms_count{tool="build_flow"}',
        ),
        ("assistant.plan.proposed", {}, "assistant_plan_proposal_total"),
        ("assistant.plan.continued", {}, "assistant_plan_continue_total"),
        ("assistant.plan.dismissed", {}, "assistant_plan_dismiss_total"),
        ("assistant.plan.replan", {}, "assistant_plan_replan_total"),
        ("assistant.tool_cache.hit", {"tool": "describe"}, 'assistant_tool_cache_hit_total{tool="describe"}'),
        ("assistant.tool_cache.miss", {"tool": "describe"}, 'assistant_tool_cache_miss_total{tool="describe"}'),
        ("assistant.conversation_buffer.turn_recorded", {}, "assistant_conversation_buffer_turn_recorded_total"),
        ("assistant.conversation_buffer.turn_recorded", {"sessions": 1}, "assistant_conversation_buffer_sessions"),
        (
            "assistant.conversation_buffer.turn_skipped",
            {"reason": "empty_response"},
            'assistant_conversation_buffer_turn_skipped_total{reason="empty_response"}',
        ),
        (
            "assistant.conversation_buffer.session_evicted",
            {},
            "assistant_conversation_buffer_session_evicted_total",
        ),
        ("assistant.user_component.registered", {}, "assistant_user_component_registered_total"),
        (
            "assistant.user_component.register_refused",
            {"reason": "unsafe_class_name"},
            'assistant_user_component_register_refused_total{reason="unsafe_class_name"}',
        ),
        ("assistant.user_component.overlay", {"entries": 2}, "assistant_user_component_overlay_entries_count"),
        ("assistant.session.reset", {"components_cleared": 1}, "assistant_session_reset_components_cleared_total"),
        ("assistant.session.reset", {}, "assistant_session_reset_total"),
        ("assistant.validation.success", {"attempts": 1}, "assistant_validation_success_rate"),
        ("assistant.validation.success", {"attempts": 1}, "assistant_validation_attempts_count"),
        ("assistant.model_fallback", {"provider": "openai"}, 'assistant_model_fallback_total{provider="openai"}'),
    ],
)
def test_an_event_is_counted_once_while_the_figures_are_attached(
    metrics: Metrics, event: str, fields: dict[str, object], figure: str
) -> None:
    assert counted(metrics, event, **fields)[figure] == 1


def test_the_values_of_a_label_are_bounded(metrics: Metrics) -> None:
    metrics.attach()
    try:
        for number in range(MAX_LABEL_VALUES * 3):
            log_event("flow_builder.tool.finished", tool_name=f"made-up-{number}" + "x" * 500, success=False)
    finally:
        metrics.detach()
    names = [name for name in figures(metrics.text().decode()) if name.startswith("mcp_tool_invocations_total")]
    assert len(names) == MAX_LABEL_VALUES + 1
    assert max(map(len, names)) < 200


@pytest.mark.anyio
async def test_requests_are_counted_by_route_and_never_by_what_was_asked_for(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        for number in range(MAX_LABEL_VALUES * 2):
            await live.client.get(f"/api/v1/flows/made-up-{number}")
            await live.client.get(f"/nowhere/{number}")
        found = figures((await live.client.get("/metrics")).text)
    asked = {name: value for name, value in found.items() if name.startswith("server_requests_total")}
    assert asked == {
        'server_requests_total{method="GET",route="/api/v1/flows/{flow_id}",status="404"}': MAX_LABEL_VALUES * 2,
        'server_requests_total{method="GET",route="none",status="404"}': MAX_LABEL_VALUES * 2,
    }
    assert found[f'wirewright_build_info{{release="{release()}"}}'] == 1


@pytest.mark.anyio
async def test_the_metrics_are_read_without_a_token_on_a_port_of_their_own_and_nothing_else_is(
    catalogue: Catalogue,
) -> None:
    settings, stop, listening = ServerSettings(), asyncio.Event(), asyncio.Event()
    app = create_app(settings, assistant=assistant(catalogue), stopping=stop)
    listener, metrics = bound("127.0.0.1", 0), bound("127.0.0.1", 0)
    port = metrics.getsockname()[1]
    server = HttpServer(app, stop, listening.set, settings, metrics)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    await listening.wait()
    async with httpx.AsyncClient(base_url=address(metrics), trust_env=False) as prometheus:
        shown = await prometheus.get("/metrics")
        assert (shown.status_code, shown.headers["content-type"][:10]) == (200, "text/plain")
        assert "assistant_requests_total" in shown.text
        assert (await prometheus.get("/api/v1/flows")).status_code == 404
        assert (await prometheus.post("/metrics")).status_code == 405
    async with httpx.AsyncClient(base_url=address(listener), trust_env=False) as stranger:
        assert (await stranger.get("/metrics")).status_code == 401
    server.stop()
    await serving
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", port), 5).close()


def test_a_port_for_metrics_that_is_taken_is_reported_with_its_setting() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        with pytest.raises(CannotServe) as refused:
            serve(ServerSettings(port=0, metrics_port=taken.getsockname()[1]))
        assert "WIREWRIGHT_METRICS_PORT" in refused.value.fix


@pytest.mark.anyio
async def test_a_turn_shows_in_the_metrics_and_its_text_does_not(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue, ScriptedModel("question", "It echoes zebras."))) as live:
        reply = await live.client.post(ASSIST, json={"input_value": "What about zebras?", "session_id": "s"})
        assert reply.status_code == 200
        shown = await live.client.get("/metrics")
    assert shown.headers["content-type"].startswith("text/plain; version=0.0.4")
    found = figures(shown.text)
    assert found["assistant_requests_total"] == 1
    assert found['assistant_requests_by_intent_total{intent="question"}'] == 1
    assert found['assistant_tokens_total{direction="output",phase="main"}'] > 0
    assert "zebra" not in shown.text


def test_the_fields_of_an_event_stand_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    log_event("assistant.tokens.phase", phase="main", total=3, level="x", nothing=None)
    record = caplog.records[-1]
    assert record.levelno == logging.INFO
    assert '"message": "assistant.tokens.phase", "phase": "main", "total": 3, "level_": "x"' in JsonFormatter().format(
        record
    )
    assert PlainFormatter("%(message)s").format(record) == "assistant.tokens.phase phase=main total=3 level=x"


def figure_of(metrics: Metrics, name: str, **fields: object) -> set[str]:
    """The names of the figures that are not zero after an event."""
    return {figure.partition("{")[0] for figure, value in counted(metrics, name, **fields).items() if value}


@pytest.mark.parity("assistant_plan_continue_total", "assistant_plan_dismiss_total", "assistant_plan_replan_total")
def test_what_becomes_of_plans_is_counted(metrics: Metrics) -> None:
    assert "assistant_plan_continue_total" in figure_of(metrics, "assistant.plan.continued")
    assert "assistant_plan_dismiss_total" in figure_of(metrics, "assistant.plan.dismissed")
    assert "assistant_plan_replan_total" in figure_of(metrics, "assistant.plan.replan")


@pytest.mark.parity(
    "assistant_conversation_buffer_session_evicted_total",
    "assistant_conversation_buffer_turn_recorded_total",
    "assistant_conversation_buffer_turn_skipped_total",
)
def test_what_becomes_of_conversations_is_counted(metrics: Metrics) -> None:
    buffer = "assistant.conversation_buffer"
    assert f"{buffer.replace('.', '_')}_session_evicted_total" in figure_of(metrics, f"{buffer}.session_evicted")
    assert f"{buffer.replace('.', '_')}_turn_recorded_total" in figure_of(metrics, f"{buffer}.turn_recorded")
    skipped = figure_of(metrics, f"{buffer}.turn_skipped", reason="empty_response")
    assert f"{buffer.replace('.', '_')}_turn_skipped_total" in skipped


@pytest.mark.parity(
    "assistant_user_component_registered_total",
    "assistant_user_component_register_refused_total",
    "assistant_user_component_overlay_skipped_total",
)
def test_what_becomes_of_components_is_counted(metrics: Metrics) -> None:
    of = "assistant.user_component"
    assert "assistant_user_component_registered_total" in figure_of(metrics, f"{of}.registered")
    refused = figure_of(metrics, f"{of}.register_refused", reason="unsafe_class_name")
    assert "assistant_user_component_register_refused_total" in refused
    skipped = figure_of(metrics, f"{of}.overlay_skipped", reason="parse_error")
    assert "assistant_user_component_overlay_skipped_total" in skipped


@pytest.mark.anyio
@pytest.mark.parity("flow_builder.spec.orphan", "assistant_flow_orphan_rejection_total")
async def test_a_spec_that_is_refused_for_an_orphan_is_logged_and_counted(
    catalogue: Catalogue, caplog: pytest.LogCaptureFixture
) -> None:
    orphan = "nodes:\n  a: ChatInput\n  b: ChatOutput\n  c: Prompt Template\nedges:\n  a.message -> b.input_value\n"
    replies = ["build_flow", [call("build_flow", 1, spec=orphan)], "It cannot be built.", "It cannot be built."]
    async with serving(assistant(catalogue, ScriptedModel(*replies))) as live:
        await live.client.post(ASSIST, json={"input_value": "Build it", "session_id": "s"})
        found = figures((await live.client.get("/metrics")).text)
    assert found["assistant_flow_orphan_rejection_total"] == 1
    (line,) = [event_fields(record) for record in caplog.records if record.getMessage() == "flow_builder.spec.orphan"]
    assert line == {"orphan_node_ids": ["c"]}


@pytest.mark.anyio
@pytest.mark.parity("assistant.conversation_buffer.turn_recorded", "assistant.conversation_buffer.session_evicted")
async def test_a_remembered_turn_and_a_forgotten_conversation_are_logged(
    catalogue: Catalogue, caplog: pytest.LogCaptureFixture
) -> None:
    who = assistant(catalogue, ScriptedModel("question", "One.", "question", "Two."))
    who.memory = ProcessMemory(sessions=1)
    async with serving(who) as live:
        for session in ("first", "second"):
            await live.client.post(ASSIST, json={"input_value": "Why?", "session_id": session})
    told = {record.getMessage(): event_fields(record) for record in caplog.records}
    assert told["assistant.conversation_buffer.turn_recorded"] == snapshot(
        {
            "session_id": "second",
            "turn_index": 0,
            "user_length": 4,
            "assistant_length": 4,
            "sessions": 1,
        }
    )
    assert told["assistant.conversation_buffer.session_evicted"] == {
        "evicted_session_id": "first",
        "current_session_count": 1,
    }
