"""What the page measures: a closed list of metrics and log events, each with bounded values."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

CLIENT_METRICS_PATH: Final = "/api/v1/agentic/client-metrics"
"""The path at which the page reports them."""

MAX_ITEMS: Final = 100
"""Metrics, and events, of one request."""


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, defer_build=True)


class ApplyDuration(_Closed):
    """How long the page took to put an accepted proposal on the canvas.

    Attributes:
        value: milliseconds.
        nodes: the components of the flow.
    """

    name: Literal["assistant_flow_apply_duration_ms"]
    value: float = Field(ge=0, le=3_600_000)
    nodes: int = Field(ge=0, le=100_000)


class BuildTasks(_Closed):
    """How many changes a finished message of the assistant lists."""

    name: Literal["assistant_build_tasks_per_message"]
    value: int = Field(ge=0, le=100_000)


class SkipAllSample(_Closed):
    """Whether the user skips all approvals, sampled when a session starts: 1 or 0."""

    name: Literal["assistant_skip_all_enabled_count"]
    value: Literal[0, 1]


class ClientCount(_Closed):
    """How often something happened in the page since it last reported."""

    name: Literal[
        "assistant_flow_proposal_continue_total",
        "assistant_flow_proposal_dismiss_total",
        "assistant_plan_reset_total",
        "assistant_skip_all_toggle_total",
        "assistant_skip_all_auto_approve_total",
        "assistant_input_history_recall_total",
    ]
    value: int = Field(default=1, ge=1, le=1_000)


class SkipAllToggled(_Closed):
    """The user has switched skipping of approvals on or off; counted as `assistant_skip_all_toggle_total`."""

    name: Literal["assistant.skip_all.toggled"]
    enabled: bool
    session_id: str | None = Field(default=None, max_length=200)


class InputRecalled(_Closed):
    """An arrow key recalled an earlier input; counted as `assistant_input_history_recall_total`."""

    name: Literal["assistant.input_history.recall"]
    direction: Literal["up", "down"]
    pointer: int = Field(default=0, ge=-1, le=100_000)


ClientMetric: TypeAlias = Annotated[
    ApplyDuration | BuildTasks | SkipAllSample | ClientCount, Field(discriminator="name")
]
ClientEvent: TypeAlias = Annotated[SkipAllToggled | InputRecalled, Field(discriminator="name")]


class ClientMetricsRequest(_Closed):
    """What the page has measured since it last reported.

    Attributes:
        metrics: figures.
        events: lines for the log; each is counted, so its metric is not sent as well.
    """

    metrics: list[ClientMetric] = Field(default_factory=list[ClientMetric], max_length=MAX_ITEMS)
    events: list[ClientEvent] = Field(default_factory=list[ClientEvent], max_length=MAX_ITEMS)
