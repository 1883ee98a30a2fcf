"""Prometheus metrics, counted from the log events of the process.

The names are those that dashboards of Langflow's own assistant use.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import TypeAlias

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from runtime.install.release import release
from runtime.telemetry import LOGGER, event_fields
from server.jobs.standing import Standing

Fields: TypeAlias = Mapping[str, object]

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4

MAX_LABEL_LENGTH = 60
"""Characters of a label's value that are kept."""
MAX_LABEL_VALUES = 60
"""How many values a label may have; further ones are counted as `other`."""

MAX_USERS = 10_000
"""Users whose setting is remembered for a gauge; the one that was sampled least recently is forgotten."""
LARGE_FLOW = 50
"""Components beyond which a flow counts as large."""

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
_MILLISECONDS = (1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 60_000)


class Metrics(logging.Handler):
    """Counts log events while attached, and writes the metrics in Prometheus' format."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._registry = CollectorRegistry()
        self._exported: dict[str, frozenset[str]] = {}
        self._skipping: OrderedDict[str, None] = OrderedDict()
        self._values: dict[str, set[str]] = {}
        self._valid = (0, 0)
        counters = {name: self._counter(name) for name in dict.fromkeys(_PLAIN.values())}
        self._plain = {event: counters[name] for event, name in _PLAIN.items()}
        self._labelled = {
            event: (self._counter(name, label), label, field) for event, (name, label, field) in _LABELLED.items()
        }
        self._requests = self._counter("assistant_requests")
        self._skipping_requests = self._counter("assistant_skip_all_requests")
        self._by_intent = self._counter("assistant_requests_by_intent", "intent")
        self._build_flow = self._counter("assistant_intent_build_flow")
        self._usage = self._counter("assistant_provider_usage", "provider")
        self._tokens = self._counter("assistant_tokens", "phase", "direction")
        self._tools = self._counter("mcp_tool_invocations", "tool", "success")
        self._cleared = self._counter("assistant_session_reset_components_cleared")
        self._seconds = self._histogram("assistant_generation_duration_seconds", _SECONDS)
        self._tool_time = self._histogram("mcp_tool_duration_ms", _MILLISECONDS, "tool")
        self._overlay = self._histogram("assistant_user_component_overlay_entries", (0, 1, 2, 5, 10, 20, 30, 50, 100))
        self._attempts = self._histogram("assistant_validation_attempts", (1, 2, 3, 4, 5))
        self._apply = self._histogram("assistant_flow_apply_duration_ms", _MILLISECONDS, "size")
        self._tasks = self._histogram("assistant_build_tasks_per_message", (0, 1, 2, 5, 10, 20, 50, 100))
        self._skip_all = self._gauge("assistant_skip_all_enabled_count")
        self._answered = self._counter("server_requests", "method", "route", "status")
        self._answer_time = self._histogram("server_request_duration_seconds", _SECONDS, "route")
        self._gauge("wirewright_build_info", "release").labels(release()).set(1)
        self._jobs_queued = self._gauge("wirewright_jobs_queued", "queue")
        self._workers = self._gauge("wirewright_workers", "queue")
        self._sessions = self._gauge("assistant_conversation_buffer_sessions")
        self._rate = self._gauge("assistant_validation_success_rate")
        self._rules: Mapping[str, Callable[[Fields], None]] = {
            "assistant.request.started": self._on_started,
            "assistant.request.completed": self._on_completed,
            "assistant.tokens.phase": self._on_tokens,
            "assistant.conversation_buffer.turn_recorded": self._on_recorded,
            "assistant.session.reset": lambda fields: self._cleared.inc(_number(fields, "components_cleared")),
            "assistant.user_component.overlay": lambda fields: self._overlay.observe(_number(fields, "entries")),
            "assistant.validation.success": self._on_valid,
            "flow_builder.tool.finished": self._on_tool,
            "assistant.flow.applied": self._on_applied,
            "assistant.build_tasks.listed": lambda fields: self._tasks.observe(_number(fields, "tasks")),
            "assistant.skip_all.sampled": self._on_skip_all,
            "server.request.finished": self._on_answered,
        }

    def emit(self, record: logging.LogRecord) -> None:
        """Count one event."""
        fields = event_fields(record)
        if record.msg in self._plain:
            self._plain[record.msg].inc(_number(fields, "count") if "count" in fields else 1)
        if record.msg in self._labelled:
            counter, label, field = self._labelled[record.msg]
            counter.labels(self._label(label, fields, field)).inc()
        if record.msg in self._rules:
            self._rules[record.msg](fields)

    def attach(self) -> None:
        """Begin to count."""
        logging.getLogger(LOGGER).addHandler(self)

    def detach(self) -> None:
        """Stop counting."""
        logging.getLogger(LOGGER).removeHandler(self)

    def show_standing(self, standing: Standing | None) -> None:
        """Export how many jobs wait and how many workers are there; None when nobody knows."""
        self._jobs_queued.clear()
        self._workers.clear()
        if standing is not None:
            for queue, count in standing.queued.items():
                self._jobs_queued.labels(queue).set(count)
                self._workers.labels(queue).set(standing.workers[queue])

    def text(self) -> bytes:
        """The metrics in Prometheus' text format."""
        return generate_latest(self._registry)

    @property
    def exported(self) -> Mapping[str, frozenset[str]]:
        """The labels of every time series that is exported, by its name as queries write it."""
        return self._exported

    def _counter(self, name: str, *labels: str) -> Counter:
        self._exported[f"{name}_total"] = frozenset(labels)
        return Counter(name, _description(name), labels, registry=self._registry)

    def _histogram(self, name: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        self._exported |= {f"{name}_{part}": frozenset(labels) for part in ("sum", "count")}
        self._exported[f"{name}_bucket"] = frozenset({*labels, "le"})
        return Histogram(name, _description(name), labels, buckets=buckets, registry=self._registry)

    def _gauge(self, name: str, *labels: str) -> Gauge:
        self._exported[name] = frozenset(labels)
        return Gauge(name, _description(name), labels, registry=self._registry)

    def _label(self, kind: str, fields: Fields, field: str) -> str:
        """A label's value, of bounded length and from a bounded set: what a model makes up must not fill the memory."""
        value = str(fields.get(field, "") or "none")[:MAX_LABEL_LENGTH]
        values = self._values.setdefault(kind, set())
        if value not in values:
            if len(values) >= MAX_LABEL_VALUES:
                return "other"
            values.add(value)
        return value

    def _on_started(self, fields: Fields) -> None:
        self._requests.inc()
        if fields.get("apply") == "always":
            self._skipping_requests.inc()
        self._usage.labels(self._label("provider", fields, "provider")).inc()

    def _on_completed(self, fields: Fields) -> None:
        intent = self._label("intent", fields, "intent")
        self._by_intent.labels(intent).inc()
        if intent == "build_flow":
            self._build_flow.inc()
        self._seconds.observe(_number(fields, "duration_ms") / 1000)

    def _on_tokens(self, fields: Fields) -> None:
        phase = self._label("phase", fields, "phase")
        for direction in ("input", "output"):
            self._tokens.labels(phase, direction).inc(_number(fields, direction))

    def _on_tool(self, fields: Fields) -> None:
        tool = self._label("tool", fields, "tool_name")
        self._tools.labels(tool, "true" if fields.get("success") else "false").inc()
        self._tool_time.labels(tool).observe(_number(fields, "duration_ms"))

    def _on_applied(self, fields: Fields) -> None:
        size = "large" if _number(fields, "node_count") > LARGE_FLOW else "small"
        self._apply.labels(size).observe(_number(fields, "duration_ms"))

    def _on_skip_all(self, fields: Fields) -> None:
        user = str(fields.get("user_id", ""))
        self._skipping.pop(user, None)
        if fields.get("enabled"):
            self._skipping[user] = None
            if len(self._skipping) > MAX_USERS:
                self._skipping.popitem(last=False)
        self._skip_all.set(len(self._skipping))

    def _on_answered(self, fields: Fields) -> None:
        route = str(fields.get("route"))  # the path of a route of ours, or `none`
        self._answered.labels(str(fields.get("method")), route, str(fields.get("status"))).inc()
        self._answer_time.labels(route).observe(_number(fields, "duration_ms") / 1000)

    def _on_recorded(self, fields: Fields) -> None:
        if "sessions" in fields:
            self._sessions.set(_number(fields, "sessions"))

    def _on_valid(self, fields: Fields) -> None:
        attempts = _number(fields, "attempts")
        self._attempts.observe(attempts)
        first, every = self._valid
        self._valid = (first + (attempts <= 1), every + 1)
        self._rate.set(self._valid[0] / self._valid[1])


_LABELLED: Mapping[str, tuple[str, str, str]] = {
    "assistant.flow.error": ("assistant_errors", "type", "error_type"),
    "assistant.model_fallback": ("assistant_model_fallback", "provider", "provider"),
    "assistant.run.finished": ("assistant_flow_runs", "outcome", "outcome"),
    "assistant.tool_cache.hit": ("assistant_tool_cache_hit", "tool", "tool"),
    "assistant.tool_cache.miss": ("assistant_tool_cache_miss", "tool", "tool"),
    "assistant.conversation_buffer.turn_skipped": (
        "assistant_conversation_buffer_turn_skipped",
        "reason",
        "reason",
    ),
    "assistant.user_component.register_refused": ("assistant_user_component_register_refused", "reason", "reason"),
    "assistant.user_component.overlay_skipped": ("assistant_user_component_overlay_skipped", "reason", "reason"),
    "flow_builder.action.emitted": ("assistant_flow_update_events", "action", "action"),
}
"""Events counted by one field: the counter's name, its label, and the field."""

_PLAIN: Mapping[str, str] = {
    "assistant.request.cancelled": "assistant_cancellations",
    "assistant.plan.proposed": "assistant_plan_proposal",
    "assistant.plan.continued": "assistant_plan_continue",
    "assistant.plan.dismissed": "assistant_plan_dismiss",
    "assistant.plan.reset": "assistant_plan_reset",
    "assistant.plan.refining.send": "assistant_plan_refinement_send",
    "assistant.plan.replan": "assistant_plan_replan",
    "assistant.tool_cache.eviction": "assistant_tool_cache_eviction",
    "assistant.conversation_buffer.turn_recorded": "assistant_conversation_buffer_turn_recorded",
    "assistant.conversation_buffer.session_evicted": "assistant_conversation_buffer_session_evicted",
    "assistant.user_component.registered": "assistant_user_component_registered",
    "assistant.session.reset": "assistant_session_reset",
    "assistant.skip_all.toggled": "assistant_skip_all_toggle",
    "assistant.skip_all.toggles": "assistant_skip_all_toggle",
    "assistant.skip_all.auto_approved": "assistant_skip_all_auto_approve",
    "assistant.input_history.recall": "assistant_input_history_recall",
    "assistant.input_history.recalls": "assistant_input_history_recall",
    "flow_builder.proposal.ready": "assistant_flow_proposal_ready",
    "flow_builder.proposal.continued": "assistant_flow_proposal_continue",
    "flow_builder.proposal.dismissed": "assistant_flow_proposal_dismiss",
    "flow_builder.spec.orphan": "assistant_flow_orphan_rejection",
    "flow_builder.text_fallback": "assistant_flow_text_fallback",
}
"""Events that are only counted, and the counters' names; Prometheus adds `_total`."""


def _description(name: str) -> str:
    """The help text of a metric."""
    return f"{name.removeprefix('assistant_').replace('_', ' ').capitalize()}."


def _number(fields: Fields, field: str) -> float:
    value = fields.get(field)
    return float(value) if isinstance(value, int | float) else 0.0
