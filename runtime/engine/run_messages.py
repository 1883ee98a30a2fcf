"""The words exchanged with the engine about one run: its request as a line, its answer as a `RunResult`."""

from __future__ import annotations

import json

from flows.document import Json, JsonObject
from flows.json_values import as_list, as_object, as_text
from runtime.failures import from_chain
from runtime.results import BUSY, RunError, RunEvent, RunMetrics, RunResult

MAX_REQUEST = 30 * 1024 * 1024
"""Bytes of the largest flow that is run."""
SHRINK = "Make the flow smaller, or leave out values that are not JSON."
CLOSED = RunError(code="crash", message="The flow engine was shut down.", fix="Start it again, then run the flow.")


def encoded(message: JsonObject) -> bytes:
    """One line; ValueError when it is too large or not JSON."""
    try:
        line = json.dumps(message, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n"
    except (ValueError, TypeError, RecursionError):
        raise ValueError("it holds something that JSON cannot say") from None
    if len(line) > MAX_REQUEST:
        raise ValueError(f"it takes more than {MAX_REQUEST // (1024 * 1024)} MB")
    return line


def failed(run_id: str, error: RunError, seconds: float = 0.0) -> RunResult:
    """The result of a run that gave nothing but an error."""
    return RunResult(run_id=run_id, output=None, outputs={}, metrics=RunMetrics(seconds=seconds), error=error)


def ended(code: str, limit: float, detail: str = "") -> RunError:
    """What to say about a run that ended without a result of its own."""
    if code == "timeout":
        message = f"The run took longer than {limit:g} s and was stopped."
        return RunError(code="timeout", message=message, fix="Give it more time, or less to do.")
    if code == "busy":
        return BUSY
    if code == "limit":
        return RunError(code="limit", message=detail, fix="Give the flow less to do at once.")
    message = detail or "The flow engine ended while it ran the flow."
    return RunError(code="crash", message=message, fix="Run it again; if it happens again, look at what its nodes do.")


def result_of(run_id: str, message: JsonObject, limit: float) -> RunResult:
    """The outcome that an answer of the engine says."""
    if message.get("type") != "result":
        code, detail = message.get("code"), message.get("message")
        text = detail if isinstance(detail, str) else ""
        seconds = limit if code == "timeout" else _number(message.get("seconds"))
        error = ended(code if isinstance(code, str) else "crash", limit, text)
        metrics = RunMetrics(seconds=seconds, peak_mb=_number(message.get("peak_mb")))
        return RunResult(run_id=run_id, output=None, outputs={}, metrics=metrics, error=error)
    figures = as_object(message.get("metrics"))
    failure = as_object(message.get("failure"))
    node = failure.get("node")
    error = from_chain(as_list(failure.get("chain")), node if isinstance(node, str) else None) if failure else None
    output = message.get("output")
    return RunResult(
        run_id=run_id,
        output=output if isinstance(output, str) else None,
        outputs=as_object(message.get("outputs")),
        nodes=as_object(message.get("nodes")),
        types=as_object(message.get("types")),
        metrics=RunMetrics(
            seconds=_number(figures.get("seconds")),
            input_tokens=int(_number(figures.get("input_tokens"))),
            output_tokens=int(_number(figures.get("output_tokens"))),
            model_calls=int(_number(figures.get("model_calls"))),
            peak_mb=_number(figures.get("peak_mb")),
        ),
        error=error,
    )


def event_of(message: JsonObject) -> RunEvent | None:
    """The event that the engine tells, or None for a kind that is not known here."""
    node, iteration = as_text(message.get("node")), int(_number(message.get("iteration")))
    match message.get("kind"):
        case "node_started":
            return RunEvent(kind="node_started", node=node, iteration=iteration)
        case "node_finished":
            seconds, ok = _number(message.get("seconds")), message.get("ok") is True
            return RunEvent(kind="node_finished", node=node, iteration=iteration, seconds=seconds, ok=ok)
        case "token":
            return RunEvent(kind="token", node=node, text=as_text(message.get("text")))
        case "cut":
            return RunEvent(kind="cut")
        case _:
            return None


def _number(value: Json) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
