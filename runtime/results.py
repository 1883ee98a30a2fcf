"""What a run gives back: outputs, figures and errors, as values."""

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


@dataclass(frozen=True, kw_only=True)
class RunMetrics:
    """What a run took: wall-clock seconds of building and running, tokens, model calls, peak memory in MB."""

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
        """Return the figures as a JSON object, the total included."""
        return {
            "seconds": self.seconds,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "total_tokens": self.total_tokens,
            "model_calls": self.model_calls,
            "peak_mb": self.peak_mb,
        }


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


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """The outcome of one run; keys of `outputs` and `nodes` are node ids, several outputs of a node are an object."""

    run_id: str
    output: str | None
    outputs: Mapping[str, Json]
    metrics: RunMetrics
    nodes: Mapping[str, Json] = field(default_factory=dict[str, Json])
    error: RunError | None = None

    @property
    def ok(self) -> bool:
        """Whether the flow ran to its end."""
        return self.error is None

    def to_json(self) -> JsonObject:
        """Return the result as a JSON object, in the shape that `flow run --json` prints, with the run's id."""
        return {
            "ok": self.ok,
            "run_id": self.run_id,
            "output": self.output,
            "outputs": dict(self.outputs),
            "nodes": dict(self.nodes),
            "metrics": self.metrics.to_json(),
            "error": None if self.error is None else self.error.to_json(),
        }

    @classmethod
    def from_json(cls, obj: Mapping[str, Any]) -> RunResult:
        """Read back what `to_json` wrote.

        Raises:
            KeyError, TypeError: when a part is missing or of another kind.
        """
        figures = {name: value for name, value in obj["metrics"].items() if name != "total_tokens"}
        return cls(
            run_id=obj["run_id"],
            output=obj["output"],
            outputs=obj["outputs"],
            nodes=obj["nodes"],
            metrics=RunMetrics(**figures),
            error=None if obj["error"] is None else RunError(**obj["error"]),
        )
