"""What the log of runs keeps of a run: texts without the keys in them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, TypeAlias

from flows.document import JsonObject
from flows.fields.keys import without_keys
from runtime.results import RunResult
from runtime.sessions.keys import clean_key

TEXT_LIMIT: Final = 20_000
"""Characters of an input, an output or an error that are kept."""

RunSource: TypeAlias = Literal["assistant", "http", "cli", "mcp", "schedule", "webhook"]
"""Who ran it: the assistant in a turn, a request of the HTTP API, the command line, a client over MCP, or what runs a
flow by itself: a schedule, or a webhook."""

RunState: TypeAlias = Literal["running", "succeeded", "failed", "cancelled", "interrupted"]
"""How a run stands: it goes on, it ended by itself, someone ended it, or the process that had it ended."""

INTERRUPTED: Final = "The run was interrupted, because what ran it has ended. Run it again."
"""What is said of a run that was interrupted."""

_ENDED_EARLY: Final[dict[RunState, str]] = {"cancelled": "The run was cancelled.", "interrupted": INTERRUPTED}


@dataclass(frozen=True, kw_only=True)
class RunEntry:
    """One run of a flow.

    Attributes:
        id: the run's id.
        flow: the id of the stored flow, or the key of another one.
        name: the name of the flow.
        session: the session's id; empty without one.
        source: who ran it.
        input: the text that it was given; None for the values as configured.
        output: the chat output; None if there was none.
        error: why it failed, in words for the user; None if it did not.
        seconds: wall-clock duration.
        input_tokens: what its model calls read.
        output_tokens: what they wrote.
        at: when it ended, ISO 8601 in UTC; while it runs, when it began.
        state: how it stands.
        started_at: when it began; empty where that is not known.
    """

    id: str
    flow: str
    name: str
    session: str = ""
    source: RunSource
    input: str | None
    output: str | None
    error: str | None
    seconds: float
    input_tokens: int
    output_tokens: int
    at: str = field(default_factory=lambda: datetime.now(UTC).isoformat())
    state: RunState = "succeeded"
    started_at: str = ""

    @classmethod
    def begun(
        cls, run: str, text: str | None, *, flow: str, name: str, source: RunSource, session: str | None = None
    ) -> RunEntry:
        """The entry of a run that has just begun.

        Args:
            run: the run's id.
            text: what it is given.
            flow: the id of the stored flow, or the key of another one.
            name: the name of the flow.
            source: who runs it.
            session: the session's id.
        """
        now = datetime.now(UTC).isoformat()
        return cls(
            id=clean_key(run),
            flow=clean_key(flow),
            name=_kept(name)[:200],
            session=clean_key(session or ""),
            source=source,
            input=None if text is None else _kept(without_keys(text[: 2 * TEXT_LIMIT])),
            output=None,
            error=None,
            seconds=0.0,
            input_tokens=0,
            output_tokens=0,
            at=now,
            state="running",
            started_at=now,
        )

    def ended(self, result: RunResult) -> RunEntry:
        """The entry of this run with what came of it."""
        error = None if result.error is None else f"{result.error.message} {result.error.fix}".strip()
        return replace(
            self,
            output=None if result.output is None else _kept(without_keys(result.output[: 2 * TEXT_LIMIT])),
            error=None if error is None else _kept(without_keys(error[: 2 * TEXT_LIMIT])),
            seconds=round(result.metrics.seconds, 3),
            input_tokens=result.metrics.input_tokens,
            output_tokens=result.metrics.output_tokens,
            at=datetime.now(UTC).isoformat(),
            state="succeeded" if error is None else "failed",
        )

    def ended_early(self, state: RunState) -> RunEntry:
        """The entry of this run when it ended before it gave anything.

        Args:
            state: `cancelled` or `interrupted`.
        """
        now = datetime.now(UTC)
        began = datetime.fromisoformat(self.started_at)
        seconds = round(max(0.0, (now - began).total_seconds()), 3)
        return replace(self, error=_ENDED_EARLY[state], seconds=seconds, at=now.isoformat(), state=state)

    @classmethod
    def of(
        cls, result: RunResult, text: str | None, *, flow: str, name: str, source: RunSource, session: str | None = None
    ) -> RunEntry:
        """The entry of a run.

        Args:
            result: what came of it.
            text: what it was given.
            flow: the id of the stored flow, or the key of another one.
            name: the name of the flow.
            source: who ran it.
            session: the session's id.
        """
        begun = cls.begun(result.run_id, text, flow=flow, name=name, source=source, session=session)
        began = datetime.now(UTC) - timedelta(seconds=max(0.0, result.metrics.seconds))
        return replace(begun.ended(result), started_at=began.isoformat())

    def to_json(self) -> JsonObject:
        """The entry as a JSON object."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class LoggedRun:
    """A run as it is stored.

    Attributes:
        owner: the user.
        entry: what lists show.
        detail: what it gave beside its output, as JSON; None for nothing.
        result: the same before it is written as JSON.
        begun: whether it may be stored already, as one that goes on.
    """

    owner: str
    entry: RunEntry
    detail: str | None = None
    result: RunResult | None = None
    begun: bool = False


def _kept(text: str) -> str:
    clean = text.replace("\0", "").encode("utf-8", "replace").decode()
    return clean if len(clean) <= TEXT_LIMIT else f"{clean[:TEXT_LIMIT]}…"
