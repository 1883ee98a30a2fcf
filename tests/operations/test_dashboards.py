"""Dashboards and alert rules ask for what the server exports, and hold what the specifications list."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from runtime.components.store import SKIPPED
from runtime.jobs.job import QUEUES
from runtime.telemetry import log_event
from server.telemetry.metrics import LARGE_FLOW, Metrics
from tools.toolsets.discover import discover_tools

FOLDER = Path(__file__).parents[2] / "docs" / "operations"
EXPORTED = Metrics().exported
WORDS = frozenset({"by", "ignoring", "group_left", "and", "or", "on", "unless"})

NO_COUNTERPART = {
    "assistant_flow_tail_update_buffered_total": "nothing is buffered: edits after a build change the proposal itself",
}
"""Metrics of the specifications that are not exported, and why."""

USAGE = {
    "Turns": ["assistant_requests_total"],
    "Intent distribution": ["assistant_requests_by_intent_total"],
    "Builds": ["assistant_intent_build_flow_total"],
    "Turns by provider": ["assistant_provider_usage_total"],
    "Tokens by phase": ["assistant_tokens_total"],
    "Action mix per turn": ["assistant_flow_update_events_total"],
    "Proposals: continue and dismiss": [
        "assistant_flow_proposal_ready_total",
        "assistant_flow_proposal_continue_total",
        "assistant_flow_proposal_dismiss_total",
    ],
    "Plans: continue and dismiss": ["assistant_plan_continue_total", "assistant_plan_dismiss_total"],
    "Plan funnel": [
        "assistant_plan_proposal_total",
        "assistant_plan_continue_total",
        "assistant_plan_dismiss_total",
        "assistant_plan_refinement_send_total",
        "assistant_plan_replan_total",
        "assistant_plan_reset_total",
    ],
    "Top failing tools": ["mcp_tool_invocations_total"],
    "Skip-all adoption": ["assistant_skip_all_requests_total", "assistant_requests_total"],
    "Users with skip-all": ["assistant_skip_all_enabled_count", "assistant_skip_all_toggle_total"],
    "Sessions reset, components cleared": [
        "assistant_session_reset_total",
        "assistant_session_reset_components_cleared_total",
    ],
    "Components registered": ["assistant_user_component_registered_total"],
    "Inputs recalled": ["assistant_input_history_recall_total"],
}
HEALTH = {
    "Duration of turns, P95": ["assistant_generation_duration_seconds_bucket"],
    "Errors a minute": ["assistant_errors_total"],
    "Cancelled turns": ["assistant_cancellations_total"],
    "Validation attempts, P95": ["assistant_validation_attempts_bucket"],
    "Validations that pass the first time": ["assistant_validation_success_rate"],
    "Orphan rejection rate": ["assistant_flow_orphan_rejection_total", "assistant_intent_build_flow_total"],
    "Tail-update buffering": [],
    "Tool P95 latency": ["mcp_tool_duration_ms_bucket"],
    "Text-fallback frequency": ["assistant_flow_text_fallback_total"],
    "Tool-cache hit ratio per tool": ["assistant_tool_cache_hit_total", "assistant_tool_cache_miss_total"],
    "Tool-cache evictions": ["assistant_tool_cache_eviction_total"],
    "Conversation-buffer eviction rate": ["assistant_conversation_buffer_session_evicted_total"],
    "Conversation-buffer sessions": ["assistant_conversation_buffer_sessions"],
    "Conversation turns recorded and skipped": [
        "assistant_conversation_buffer_turn_recorded_total",
        "assistant_conversation_buffer_turn_skipped_total",
    ],
    "Skip-all approvals against plans": [
        "assistant_skip_all_auto_approve_total",
        "assistant_plan_proposal_total",
    ],
    "Time to apply a proposal, P95": ["assistant_flow_apply_duration_ms_bucket"],
    "Build tasks per message, P95": ["assistant_build_tasks_per_message_bucket"],
    "Components refused": ["assistant_user_component_register_refused_total"],
    "User components in a turn, P95": ["assistant_user_component_overlay_entries_bucket"],
    "User components skipped": ["assistant_user_component_overlay_skipped_total"],
}
"""The panels that the specifications list or whose metrics they give, with what each shows."""

THRESHOLDS = [
    # the specification of the assistant
    ("assistant_generation_duration_seconds", "P95 > 60s", "SlowTurns", "> 60", "Duration of turns, P95"),
    ("assistant_validation_attempts", "P95 > 2", "ManyValidationAttempts", "> 2", "Validation attempts, P95"),
    (
        "assistant_validation_success_rate",
        "< 70%",
        "FewFirstValidations",
        "< 0.7",
        "Validations that pass the first time",
    ),
    ("assistant_errors_total", "> 10/min", "ManyErrors", "> 10", "Errors a minute"),
    ("assistant_cancellations_total", "> 20% of requests", "ManyCancellations", "> 0.2", "Cancelled turns"),
    # the specification of its flow builder
    (
        "assistant_flow_proposal_continue_total",
        "continue rate < 50%",
        "FewProposalsContinued",
        "< 0.5",
        "Proposals: share that is continued",
    ),
    (
        "assistant_flow_orphan_rejection_total",
        "> 5% of builds",
        "ManyOrphanRejections",
        "> 0.05",
        "Orphan rejection rate",
    ),
    ("assistant_flow_text_fallback_total", "> 0", "FlowsInText", "> 0", "Text-fallback frequency"),
    ("mcp_tool_duration_ms", "P95 > 5s", "SlowTool", "> 5000", "Tool P95 latency"),
    (
        "assistant_flow_apply_duration_ms",
        "P95 > 500ms with >50 nodes",
        "SlowApply",
        "> 500",
        "Time to apply a proposal, P95",
    ),
    ("assistant_plan_reset_total", "reset/dismiss > 0.7", "PlansGivenUp", "> 0.7", "Plans: reset after dismissal"),
    ("assistant_tool_cache_hit_total", "hit ratio < 10%", "UselessToolCache", "< 0.1", None),
    (
        "assistant_tool_cache_hit_total",
        "target ≥ 30% for describe_component",
        "FewDescriptionsCached",
        "< 0.3",
        "Tool-cache hit ratio per tool",
    ),
    ("assistant_tool_cache_eviction_total", "non-zero", "ToolCacheEvictions", "> 0", "Tool-cache evictions"),
    ("assistant_build_tasks_per_message", "P95 > 20", "LongTaskLists", "> 20", "Build tasks per message, P95"),
    (
        "assistant_user_component_overlay_entries",
        "P95 > 30",
        "ManyUserComponents",
        "> 30",
        "User components in a turn, P95",
    ),
    (
        "assistant_user_component_overlay_skipped_total",
        "non-zero parse_error",
        "UnreadableUserComponents",
        "> 0",
        "User components skipped",
    ),
]
"""Each threshold of the specifications: the metric, the words, our alert, how its rule ends, and the panel with it."""


SIGNALS = [
    ("assistant_flow_update_events_total", "Spike in set_flow on edit-mode runs", "Action mix per turn"),
    ("assistant_conversation_buffer_sessions", "growing past it indicates a leak", "Conversation-buffer sessions"),
    (
        "assistant_conversation_buffer_session_evicted_total",
        "High rate means heavy concurrent usage",
        "Conversation-buffer eviction rate",
    ),
    (
        "assistant_conversation_buffer_turn_skipped_total",
        "Spike in empty_response",
        "Conversation turns recorded and skipped",
    ),
    ("assistant_user_component_register_refused_total", "High refusal rate", "Components refused"),
]
"""What the specifications say without a number: the metric, the words, and the panel whose description says it."""


def dashboard(name: str) -> dict[str, dict[str, Any]]:
    """The panels of a dashboard by title."""
    document = json.loads((FOLDER / f"grafana-{name}.json").read_text())
    panels: list[dict[str, Any]] = document["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert len({panel["title"] for panel in panels}) == len(panels)
    return {panel["title"]: panel for panel in panels}


PANELS = {**dashboard("usage"), **dashboard("health")}
ALERTS: dict[str, dict[str, Any]] = {
    rule["alert"]: rule
    for group in yaml.safe_load((FOLDER / "prometheus-alerts.yaml").read_text())["groups"]
    for rule in group["rules"]
}
QUERIES = [
    *(target["expr"] for panel in PANELS.values() for target in panel.get("targets", [])),
    *(rule["expr"] for rule in ALERTS.values()),
]


def unknown(query: str) -> list[str]:
    """What a query asks for and the server does not export: metrics, and labels of metrics."""
    plain = re.sub(r'"(?:[^"\\]|\\.)*"', '""', query)
    grouped = {
        label.strip()
        for names in re.findall(r"\b(?:by|ignoring|on|without)\s*\(([^)]*)\)", plain)
        for label in names.split(",")
    }
    plain = re.sub(r"\b(?:by|ignoring|on|without)\s*\([^)]*\)", "", re.sub(r"\[[^\]]*\]", "", plain))
    found: list[str] = []
    metrics: list[str] = []
    for name, opened, selected in re.findall(r"([a-zA-Z_]\w*)\s*(?:(\()|\{([^}]*)\})?", plain):
        if opened or name in WORDS:
            continue
        metrics.append(name)
        if name not in EXPORTED:
            found.append(name)
            continue
        labels = re.findall(r"(\w+)\s*[=!]", selected)
        found += [f"{name}{{{label}}}" for label in labels if label not in EXPORTED[name]]
    known = {label for name in metrics for label in EXPORTED.get(name, ())}
    return found + sorted(f"by {label}" for label in grouped - known) + ([] if metrics else ["nothing"])


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_asks_for_what_is_exported(query: str) -> None:
    assert unknown(query) == []


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("sum(rate(assistant_request_total[5m]))", ["assistant_request_total"]),
        ('rate(assistant_errors_total{kind="x"}[5m])', ["assistant_errors_total{kind}"]),
        ("sum by (toool) (rate(mcp_tool_duration_ms_bucket[5m]))", ["by toool"]),
        ("assistant_generation_duration_seconds", ["assistant_generation_duration_seconds"]),
        ("vector(1)", ["nothing"]),
    ],
)
def test_a_query_that_asks_for_something_else_is_found(query: str, found: list[str]) -> None:
    assert unknown(query) == found


def test_what_is_said_to_be_exported_is_exported() -> None:
    shown = Metrics().text().decode()
    for name in EXPORTED:
        family = re.sub(r"_(bucket|sum|count)$", "", name)
        assert re.search(rf"^# TYPE ({name}|{family}) ", shown, re.MULTILINE), name
    for line in shown.splitlines():
        if not line.startswith("#"):
            name, _, labels = line.partition(" ")[0].partition("{")
            if not name.endswith("_created"):
                assert set(re.findall(r"(\w+)=", labels)) <= EXPORTED[name], name


def test_the_alert_names_and_labels_are_in_order() -> None:
    assert len(ALERTS) == sum(
        len(group["rules"]) for group in yaml.safe_load((FOLDER / "prometheus-alerts.yaml").read_text())["groups"]
    )
    for name, rule in ALERTS.items():
        assert re.fullmatch(r"[A-Z][A-Za-z]+", name)
        assert rule["labels"]["severity"] in {"info", "warning", "critical"}
        assert rule["annotations"]["summary"].endswith(".")
        for label in re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]):
            assert re.search(rf"by \([^)]*\b{label}\b", rule["expr"]), name


def test_the_manual_says_what_to_do_about_each_alert() -> None:
    rows = re.findall(r"^\| ([A-Z][\w, ]+) \| .+ \|$", (FOLDER / "README.md").read_text(), re.MULTILINE)
    assert {name for row in rows for name in row.split(", ")} == set(ALERTS)


@pytest.mark.parametrize(("name", "panels"), [("usage", USAGE), ("health", HEALTH)])
def test_a_dashboard_has_the_panels_of_the_specifications(name: str, panels: dict[str, list[str]]) -> None:
    found = dashboard(name)
    for title, metrics in panels.items():
        queries = " ".join(target["expr"] for target in found[title].get("targets", []))
        assert [metric for metric in metrics if metric not in queries] == [], title
        assert metrics or found[title]["type"] == "text"


def test_every_metric_that_the_specifications_name_is_on_a_panel_or_has_a_reason() -> None:
    rows = yaml.safe_load((FOLDER.parents[1] / "tests" / "parity" / "rows.yaml").read_text())
    named: set[str] = {row["id"] for row in rows if row["kind"] == "metric"}
    shown = " ".join(target["expr"] for panel in PANELS.values() for target in panel.get("targets", []))
    missing = {name for name in named if name not in shown}
    assert missing == set(NO_COUNTERPART)
    for name in missing:
        assert any(name in panel.get("options", {}).get("content", "") for panel in PANELS.values()), name


@pytest.mark.parametrize(
    ("metric", "words", "alert", "end", "panel"), THRESHOLDS, ids=[f"{row[0]} {row[1]}" for row in THRESHOLDS]
)
def test_a_threshold_of_the_specifications_is_an_alert_and_a_line_on_its_panel(
    metric: str, words: str, alert: str, end: str, panel: str | None
) -> None:
    expression: str = ALERTS[alert]["expr"]
    condition = expression.split(" and ")[0]
    assert metric in condition
    assert condition.endswith(end)
    assert ("0.95" in condition) == words.startswith("P95")
    bound = float(end.split()[1])
    if words.startswith("P95"):
        assert metric in {name.removesuffix("_bucket") for name in EXPORTED}
        assert bound in bounds(metric), "the quantile is exact at a bound of a bucket"
    if panel is not None:
        steps = PANELS[panel]["fieldConfig"]["defaults"]["thresholds"]["steps"]
        assert [step["value"] for step in steps] == [None, bound]
        assert steps[1]["color"] == ("red" if end.startswith(">") else "green")


@pytest.mark.parametrize(("metric", "words", "panel"), SIGNALS, ids=[row[0] for row in SIGNALS])
def test_what_the_specifications_watch_without_a_number_is_explained_on_its_panel(
    metric: str, words: str, panel: str
) -> None:
    assert metric in " ".join(target["expr"] for target in PANELS[panel]["targets"])
    assert len(PANELS[panel]["description"]) > len(words) // 2


def unit(query: str) -> set[str]:
    """The units in which the result of a query can be shown."""
    quantile = re.search(r"histogram_quantile\(.*?(\w+)_bucket", query)
    if quantile is not None:
        found = re.search(r"_(seconds|ms)$", quantile[1])
        return {"short" if found is None else {"seconds": "s", "ms": "ms"}[found[1]]}
    if " / " in query or query.endswith("_rate)"):
        return {"short"} if "group_left" in query else {"percentunit"}
    is_a_second = "rate(" in query and not query.startswith("60 * ")
    requests = re.search(r"rate\((\w*requests\w*|assistant_(intent_build_flow|provider_usage)_total)\[", query)
    return {"reqps" if requests else "cps"} if is_a_second else {"short"}


@pytest.mark.parametrize("title", [title for title, panel in PANELS.items() if panel.get("targets")])
def test_a_panel_shows_the_unit_of_what_it_asks_for(title: str) -> None:
    panel = PANELS[title]
    for target in panel["targets"]:
        assert panel["fieldConfig"]["defaults"]["unit"] in unit(target["expr"]), target["expr"]


def kinds() -> dict[str, str]:
    """Whether a metric is a counter, a gauge or a histogram, by the name of its time series."""
    shown = re.findall(r"^# TYPE (\w+) (\w+)$", Metrics().text().decode(), re.MULTILINE)
    found = dict(shown)
    return {name: found.get(name) or found[re.sub(r"_(bucket|sum|count)$", "", name)] for name in EXPORTED}


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_treats_counters_as_counters_and_gauges_as_gauges(query: str) -> None:
    rising = set(re.findall(r"(?:rate|increase)\((\w+)", query))
    asked = {name for name in re.findall(r"[a-zA-Z_]\w*", query) if name in EXPORTED}
    assert rising == {name for name in asked if kinds()[name] != "gauge"}


def shown(label: str) -> set[str]:
    """The values of a label after an event of each kind."""
    metrics = Metrics()
    metrics.attach()
    try:
        for success in (True, False):
            log_event("flow_builder.tool.finished", tool_name="x", success=success, duration_ms=1)
        for count in (LARGE_FLOW, LARGE_FLOW + 1):
            log_event("assistant.flow.applied", node_count=count, duration_ms=1)
    finally:
        metrics.detach()
    return set(re.findall(rf'\b{label}="([^"]*)"', metrics.text().decode()))


VALUES = {
    "success": shown("success"),
    "size": shown("size"),
    "tool": set(discover_tools.tools),
    "reason": set(SKIPPED.values()),
    "queue": set(QUEUES),
}
"""The values of labels that queries choose."""


def test_a_query_chooses_values_that_labels_have() -> None:
    chosen = [found for query in QUERIES for found in re.findall(r'(\w+)="([^"]*)"', query)]
    assert {label for label, _ in chosen} == set(VALUES)
    assert [(label, value) for label, value in chosen if value not in VALUES[label]] == []


def bounds(metric: str) -> set[float]:
    """The bounds of the buckets of a histogram that has been given one value for each label."""
    metrics = Metrics()
    metrics.attach()
    try:
        log_event("flow_builder.tool.finished", tool_name="x", success=True, duration_ms=1)
        log_event("assistant.flow.applied", node_count=60, duration_ms=1)
    finally:
        metrics.detach()
    lines = metrics.text().decode().splitlines()
    found = [re.search(r'le="([^"]+)"', line) for line in lines if line.startswith(f"{metric}_bucket")]
    return {float(match[1]) for match in found if match is not None}
