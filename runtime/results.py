"""What a run returns: its outputs, metrics, events and errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from flows.document import Json, JsonObject

RunErrorCode: TypeAlias = Literal[
    "code",
    "wiring",
    "missing_input",
    "missing_model",
    "missing_key",
    "missing_package",
    "external",
    "timeout",
    "limit",
    "refused",
    "crash",
]


RunEventKind: TypeAlias = Literal["node_started", "node_finished", "token", "cut"]


@dataclass(frozen=True, kw_only=True)
class RunEvent:
    """An event of a run that is under way.

    Attributes:
        kind: a node started or finished, or wrote a piece of text; `cut` is the last event of a run with too many.
        node: the node's id.
        text: the piece of text of a `token`.
        iteration: how many times the node has started, this time included; more than 1 in a loop.
        seconds: how long the node took, when it finished.
        ok: whether the node finished without an error.
    """

    kind: RunEventKind
    node: str = ""
    text: str = ""
    iteration: int = 1
    seconds: float = 0.0
    ok: bool = True

    def to_json(self) -> JsonObject:
        """Return the event as a JSON object with the parts that its kind has."""
        match self.kind:
            case "node_started":
                return {"event": self.kind, "node": self.node, "iteration": self.iteration}
            case "node_finished":
                return {
                    "event": self.kind,
                    "node": self.node,
                    "iteration": self.iteration,
                    "seconds": self.seconds,
                    "ok": self.ok,
                }
            case "token":
                return {"event": self.kind, "node": self.node, "text": self.text}
            case "cut":
                return {"event": self.kind}


@dataclass(frozen=True, kw_only=True)
class RunMetrics:
    """What a run used: wall-clock seconds of building and running, tokens, model calls, peak memory in MB."""

    seconds: float
    input_tokens: int = 0
    output_tokens: int = 0
    model_calls: int = 0
    peak_mb: float = 0

    @property
    def total_tokens(self) -> int:
        """Tokens in and out together."""
        return self.input_tokens + self.output_tokens

    def to_json(self) -> JsonObject:
        """Return the metrics as a JSON object, with the total of tokens."""
        return {
            "seconds": self.seconds,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "total_tokens": self.total_tokens,
            "model_calls": self.model_calls,
            "peak_mb": self.peak_mb,
        }


@dataclass(frozen=True, kw_only=True)
class ModelUsage:
    """What model calls used: tokens in and out, and the number of answered calls."""

    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0

    @property
    def total_tokens(self) -> int:
        """Tokens in and out together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: ModelUsage) -> ModelUsage:
        """Return the sum of both."""
        return ModelUsage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            calls=self.calls + other.calls,
        )

    def to_json(self) -> JsonObject:
        """Return the usage as a JSON object."""
        return {"input_tokens": self.input_tokens, "output_tokens": self.output_tokens, "calls": self.calls}


@dataclass(frozen=True, kw_only=True)
class RunError:
    """Why a run failed: a code, what happened, what to do, and the id of the node where that is known."""

    code: RunErrorCode
    message: str
    fix: str = ""
    node: str | None = None

    def to_json(self) -> JsonObject:
        """Return the error as a JSON object with every key present."""
        return {"code": self.code, "message": self.message, "fix": self.fix, "node": self.node}


BUSY = RunError(
    code="limit",
    message="Too many runs are waiting for their turn; this one was not started.",
    fix="Try again in a few seconds.",
)
"""The error of a run that was turned away."""

ENGINE_CLOSED = RunError(
    code="crash", message="The flow engine was shut down.", fix="Start it again, then run the flow."
)
"""The error of a run whose runner was closed."""


class RunFailed(Exception):
    """A run has no result of its own: it was refused, or it ended before it gave one.

    Attributes:
        error: what its result says.
        seconds: how long it ran.
    """

    def __init__(self, error: RunError, seconds: float = 0.0) -> None:
        super().__init__(error.message)
        self.error = error
        self.seconds = seconds


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """The outcome of one run.

    Keys of `outputs`, `nodes` and `types` are node ids; several outputs of a node are an object by port. `types` gives
    the type that each value in the other two had in the flow: `Message`, `Data`, `DataFrame`, `Text`, `Number`, …
    """

    run_id: str
    output: str | None
    outputs: Mapping[str, Json]
    metrics: RunMetrics
    nodes: Mapping[str, Json] = field(default_factory=dict[str, Json])
    error: RunError | None = None
    types: Mapping[str, Json] = field(default_factory=dict[str, Json])
    usage: Mapping[str, ModelUsage] = field(default_factory=dict[str, ModelUsage])
    """What the model calls of each node used, by node id; the key is empty for calls that name no node."""

    @classmethod
    def failed(cls, run_id: str, failure: RunFailed) -> RunResult:
        """The result of a run that gave nothing but an error."""
        metrics = RunMetrics(seconds=failure.seconds)
        return cls(run_id=run_id, output=None, outputs={}, metrics=metrics, error=failure.error)

    @property
    def busy(self) -> bool:
        """Whether the run was turned away because too many wait; it may work later."""
        return self.error == BUSY

    @property
    def ok(self) -> bool:
        """Whether the flow ran to its end without an error."""
        return self.error is None

    def to_json(self) -> JsonObject:
        """Return the result as a JSON object, in the shape that `flow run --json` prints, with the run's id."""
        return {
            "ok": self.ok,
            "run_id": self.run_id,
            "output": self.output,
            "outputs": dict(self.outputs),
            "nodes": dict(self.nodes),
            "types": dict(self.types),
            "metrics": self.metrics.to_json(),
            "usage": {node: usage.to_json() for node, usage in self.usage.items()},
            "error": None if self.error is None else self.error.to_json(),
        }

    @classmethod
    def from_json(cls, obj: Mapping[str, Any]) -> RunResult:
        """Read the result that `to_json` wrote.

        Raises:
            KeyError, TypeError: a part is missing or of another type.
        """
        figures = {name: value for name, value in obj["metrics"].items() if name != "total_tokens"}
        return cls(
            run_id=obj["run_id"],
            output=obj["output"],
            outputs=obj["outputs"],
            nodes=obj["nodes"],
            types=obj.get("types", {}),
            metrics=RunMetrics(**figures),
            error=None if obj["error"] is None else RunError(**obj["error"]),
            usage={node: ModelUsage(**usage) for node, usage in obj.get("usage", {}).items()},
        )
