"""What the page reports: a closed list of metrics and events, bounded in values, in number and in rate."""

import logging
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.contract.client_metrics import CLIENT_METRICS_PATH, MAX_ITEMS, ClientEvent, ClientMetric
from flows.catalogue import Catalogue
from runtime.accounts.scopes import scopes_of
from runtime.telemetry import LOGGER, event_fields
from server.routes.metrics import COUNTED
from server.telemetry.client_reports import ITEMS, USERS, WINDOW_SECONDS, ClientReports
from server.telemetry.metrics import MAX_USERS, Metrics
from tests.server.live import Live, serving
from tests.shared.scripted_assistant import assistant

pytestmark = pytest.mark.anyio

METRICS: dict[str, tuple[dict[str, Any], dict[str, float]]] = {
    "assistant_flow_apply_duration_ms": (
        {"value": 300, "nodes": 51},
        {
            'assistant_flow_apply_duration_ms_count{size="large"}': 1,
            'assistant_flow_apply_duration_ms_sum{size="large"}': 300,
        },
    ),
    "assistant_build_tasks_per_message": ({"value": 21}, {"assistant_build_tasks_per_message_sum": 21}),
    "assistant_skip_all_enabled_count": ({"value": 1}, {"assistant_skip_all_enabled_count": 1}),
    **{name: ({"value": 3}, {name: 3}) for name in COUNTED},
}
"""A report of each metric, and the figures that it makes."""

EVENTS: dict[str, tuple[dict[str, Any], str]] = {
    "assistant.skip_all.toggled": ({"enabled": True, "session_id": "s"}, "assistant_skip_all_toggle_total"),
    "assistant.input_history.recall": ({"direction": "up", "pointer": 2}, "assistant_input_history_recall_total"),
}
"""A report of each event, and the counter that it makes."""


async def figures(live: Live) -> dict[str, float]:
    """What is exported."""
    lines = [line.rpartition(" ") for line in (await live.client.get("/metrics")).text.splitlines()]
    return {name: float(value) for name, _, value in lines if not name.startswith("#")}


@pytest.mark.parametrize("name", METRICS)
async def test_each_metric_of_the_page_is_counted(name: str, catalogue: Catalogue) -> None:
    fields, expected = METRICS[name]
    async with serving(assistant(catalogue)) as live:
        reply = await live.client.post(CLIENT_METRICS_PATH, json={"metrics": [{"name": name, **fields}]})
        assert (reply.status_code, reply.json()) == (202, {"accepted": 1})
        assert (await figures(live)).items() >= expected.items()


@pytest.mark.parametrize("name", EVENTS)
async def test_each_event_of_the_page_is_logged_and_counted(
    name: str, catalogue: Catalogue, caplog: pytest.LogCaptureFixture
) -> None:
    fields, counter = EVENTS[name]
    caplog.set_level(logging.INFO, logger=LOGGER)
    async with serving(assistant(catalogue)) as live:
        reply = await live.client.post(CLIENT_METRICS_PATH, json={"events": [{"name": name, **fields}]})
        assert reply.status_code == 202
        assert (await figures(live))[counter] == 1
    assert [event_fields(record) for record in caplog.records if record.getMessage() == name] == [fields]


def test_the_tables_hold_the_whole_closed_list() -> None:
    def listed(union: object) -> set[str]:
        members = get_args(get_args(union)[0])
        return {name for member in members for name in get_args(member.model_fields["name"].annotation)}

    assert listed(ClientMetric) == set(METRICS)
    assert listed(ClientEvent) == set(EVENTS)


NOT_SENT = {
    "assistant_skip_all_toggle_total": "the event is sent, which is counted",
    "assistant_input_history_recall_total": "the event is sent, which is counted",
    "assistant_skip_all_auto_approve_total": "the server approves, and counts it itself",
}
"""What is on the list and the page does not send, and why."""


def test_the_page_sends_the_whole_list_or_there_is_a_reason() -> None:
    """tests/web shows that each of them arrives."""
    web = Path(__file__).parents[3] / "web" / "src"
    texts = [path.read_text() for path in web.rglob("*.ts*") if path.name != "openapi.ts"]
    named = re.compile(r"""(?:measured|happened)\(\{\s*name: (?:"([^"]+)"|`([^`]+)`)""")
    calls = [plain or computed for text in texts for plain, computed in named.findall(text)]
    sent = {known for known in {**METRICS, **EVENTS} for name in calls if re.fullmatch(_pattern(name), known)}
    assert {*METRICS, *EVENTS} - sent == set(NOT_SENT)
    assert all(any(re.fullmatch(_pattern(name), known) for known in {**METRICS, **EVENTS}) for name in calls)


def _pattern(name: str) -> str:
    """What a name in the page's code can become: a part that is computed is any word."""
    return re.sub(r"\\\$\\\{.*?\\\}", r"\\w+", re.escape(name))


SMALL = {"name": "assistant_build_tasks_per_message", "value": 1}


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"metrics": [{"name": "assistant_requests_total", "value": 1}]}, "$.metrics.0"),
        ({"metrics": [{"name": "made_up", "value": 1}]}, "$.metrics.0"),
        ({"metrics": [{"value": 1}]}, "$.metrics.0"),
        ({"events": [{"name": "assistant.request.started"}]}, "$.events.0"),
        ({"metrics": [{**SMALL, "labels": {"user": "x"}}]}, "$.metrics.0"),
        ({"metrics": [{**SMALL, "value": -1}]}, "$.metrics.0"),
        ({"metrics": [{**SMALL, "value": 10**9}]}, "$.metrics.0"),
        ({"metrics": [{"name": "assistant_flow_apply_duration_ms", "value": 1}]}, "$.metrics.0"),
        ({"metrics": [{"name": "assistant_plan_reset_total", "value": 1.5}]}, "$.metrics.0"),
        ({"events": [{"name": "assistant.input_history.recall", "direction": "sideways"}]}, "$.events.0"),
        ({"events": [{"name": "assistant.skip_all.toggled", "enabled": True, "session_id": "x" * 201}]}, "$.events.0"),
        ({"metrics": [SMALL] * (MAX_ITEMS + 1)}, "$.metrics"),
        ({"others": []}, "$.others"),
    ],
)
async def test_what_is_not_on_the_list_is_refused_whole(body: dict[str, Any], where: str, catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        before = await figures(live)
        if isinstance(body.get("metrics"), list) and len(body["metrics"]) == 1:
            body = {**body, "metrics": [SMALL, *body["metrics"]]}
            where = where.replace(".0", ".1")
        reply = await live.client.post(CLIENT_METRICS_PATH, json=body)
        assert (reply.status_code, reply.json()["error"]["code"]) == (422, "invalid_request")
        assert reply.json()["error"]["where"].startswith(where)
        after = await figures(live)
    counted = {name for name in after if name.startswith("assistant_")}
    assert {name: after[name] for name in counted} == {name: before[name] for name in counted}


async def test_a_report_is_bounded_in_size(catalogue: Catalogue) -> None:
    async with serving(assistant(catalogue)) as live:
        reply = await live.client.post(CLIENT_METRICS_PATH, json={"metrics": [], "padding": "x" * 70_000})
    assert reply.status_code == 413


async def test_a_page_that_reports_too_much_is_told_how_long_to_wait_and_others_are_not_held_up(
    catalogue: Catalogue,
) -> None:
    async with serving(assistant(catalogue)) as live:
        assert live.access.users is not None
        _, token = await live.access.users.add("ada", scopes_of(("read",)))
        replies = [
            await live.client.post(CLIENT_METRICS_PATH, json={"metrics": [SMALL] * MAX_ITEMS})
            for _ in range(ITEMS // MAX_ITEMS + 1)
        ]
        assert [reply.status_code for reply in replies] == [202] * (ITEMS // MAX_ITEMS) + [429]
        assert 0 < int(replies[-1].headers["Retry-After"]) <= WINDOW_SECONDS
        other = await live.stranger.post(
            CLIENT_METRICS_PATH, json={"metrics": [SMALL]}, headers={"Authorization": f"Bearer {token}"}
        )
        assert other.status_code == 202, "a token that may only read reports as well"
        assert (await figures(live))["assistant_build_tasks_per_message_count"] == ITEMS + 1


@given(st.lists(st.tuples(st.floats(0, 30), st.integers(1, 100)), max_size=60))
def test_no_more_than_the_limit_is_taken_in_a_window_and_the_time_to_wait_is_true(
    reports: list[tuple[float, int]],
) -> None:
    now = 0.0
    limits = ClientReports(lambda: now)
    began, taken = 0.0, 0
    for passed, items in reports:
        now += passed
        if now - began >= WINDOW_SECONDS:
            began, taken = now, 0
        if not taken:
            began = now
        wait = limits.take("ada", items)
        assert wait == 0 or taken + items > ITEMS
        if wait:
            now += wait
            assert limits.take("ada", items) == 0
            began, taken = now, items
        else:
            taken += items
            assert taken <= ITEMS


def test_users_beyond_the_bound_are_forgotten_and_not_kept() -> None:
    limits, metrics = ClientReports(), Metrics()
    for number in range(USERS + 10):
        limits.take(f"user {number}", 1)
    assert limits.users == USERS
    for number in range(MAX_USERS + 10):
        record = logging.makeLogRecord({"msg": "assistant.skip_all.sampled"})
        record.fields = {"user_id": f"user {number}", "enabled": True}
        metrics.emit(record)
    assert f"assistant_skip_all_enabled_count {float(MAX_USERS)}" in metrics.text().decode()
