"""The documents of runs of flows, and of the sessions that they remember."""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from evals.flow_tests.running import TestedFlow
from flows.faults import Fault
from runtime.results import RunError, RunFile, RunHost, RunMetrics
from runtime.sessions.entry import SessionEntry
from runtime.sessions.messages import Message


class Ran(TypedDict):
    """What a run gave: the chat output's text, all outputs by node, figures, and why it failed.

    `types`, `files`, `hosts` and `missing_protections` are there when something is in them, `faults` when the flow was
    not run because of them.
    """

    ok: bool
    output: str | None
    outputs: dict[str, Any]
    types: NotRequired[dict[str, Any]]
    metrics: RunMetrics
    error: RunError | None
    files: NotRequired[list[RunFile]]
    hosts: NotRequired[list[RunHost]]
    missing_protections: NotRequired[list[str]]
    faults: NotRequired[list[Fault]]


class Tested(TypedDict):
    """What became of the tests of a flow, in their order; `ok` when all of them passed."""

    ok: bool
    tests: list[TestedFlow]


class SessionList(TypedDict):
    """The sessions of a flow, last used first."""

    sessions: list[SessionEntry]


class SessionMessages(TypedDict):
    """The messages of a session, oldest first."""

    session: str
    messages: list[Message]


class Working(TypedDict):
    """A worker takes jobs."""

    event: Literal["working"]
    worker: str
    queues: list[str]
    places: int


class Batched(TypedDict):
    """A batch as it ended: how many inputs there are, and what came of them; `id` is empty on this machine."""

    ok: bool
    id: str
    total: int
    done: int
    failed: int
    waiting: int
    tokens: int
    reason: str
    out: str
