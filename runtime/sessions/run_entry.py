"""What the log of runs keeps of a run: texts without the keys in them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Final, Literal, TypeAlias

from flows.document import JsonObject
from flows.fields.keys import without_keys
from runtime.results import RunResult
from runtime.sessions.keys import clean_key

TEXT_LIMIT: Final = 20_000
"""Characters of an input, an output or an error that are kept."""

RunSource: TypeAlias = Literal["assistant", "http", "cli"]
"""Who ran it: the assistant in a turn, a request of the HTTP API, or the command line."""


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
        at: when it ended, ISO 8601 in UTC.
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
        error = None if result.error is None else f"{result.error.message} {result.error.fix}".strip()
        return cls(
            id=clean_key(result.run_id),
            flow=clean_key(flow),
            name=_kept(name)[:200],
            session=clean_key(session or ""),
            source=source,
            input=None if text is None else _kept(without_keys(text[: 2 * TEXT_LIMIT])),
            output=None if result.output is None else _kept(without_keys(result.output[: 2 * TEXT_LIMIT])),
            error=None if error is None else _kept(without_keys(error[: 2 * TEXT_LIMIT])),
            seconds=round(result.metrics.seconds, 3),
            input_tokens=result.metrics.input_tokens,
            output_tokens=result.metrics.output_tokens,
        )

    def to_json(self) -> JsonObject:
        """The entry as a JSON object."""
        return asdict(self)


def _kept(text: str) -> str:
    clean = text.replace("\0", "").encode("utf-8", "replace").decode()
    return clean if len(clean) <= TEXT_LIMIT else f"{clean[:TEXT_LIMIT]}…"
