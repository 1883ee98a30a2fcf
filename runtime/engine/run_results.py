"""Reads the results and events of runs from the engine's messages."""

from __future__ import annotations

from flows.document import Json, JsonObject
from flows.json_values import as_list, as_object, as_text
from runtime.failures import error_from_chain
from runtime.results import BUSY, RunError, RunMetrics, RunResult
from runtime.run_events import EventsCut, NodeFinished, NodeStarted, NodeToken, RunEvent


def ended_without_result(code: str, limit: float, detail: str = "") -> RunError:
    """The error of a run that the engine ended; `limit` is its time limit in seconds, `detail` the engine's message."""
    if code == "timeout":
        message = f"The run took longer than {limit:g} s and was stopped."
        return RunError(code="timeout", message=message, fix="Give it more time, or less to do.")
    if code == "busy":
        return BUSY
    if code == "limit":
        return RunError(code="limit", message=detail, fix="Give the flow less to do at once.")
    message = detail or "The flow engine ended while it ran the flow."
    return RunError(code="crash", message=message, fix="Run it again; if it happens again, look at what its nodes do.")


def read_result(run_id: str, message: JsonObject, limit: float) -> RunResult:
    """The result in the engine's answer; `limit` is the run's time limit in seconds."""
    missing = tuple(as_text(name) for name in as_list(message.get("missing_protections")))
    refused = {name: int(_number(count)) for name, count in as_object(message.get("refused_calls")).items()}
    if message.get("type") != "result":
        code = as_text(message.get("code"))
        seconds = limit if code == "timeout" else _number(message.get("seconds"))
        error = ended_without_result(code, limit, as_text(message.get("message")))
        metrics = RunMetrics(seconds=seconds, peak_mb=_number(message.get("peak_mb")))
        return RunResult(
            run_id=run_id,
            output=None,
            outputs={},
            metrics=metrics,
            error=error,
            refused_calls=tuple(refused),
            refused_call_counts=refused,
            missing_protections=missing,
        )
    figures = as_object(message.get("metrics"))
    failure = as_object(message.get("failure"))
    error = error_from_chain(as_list(failure.get("chain")), as_text(failure.get("node")) or None) if failure else None
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
        refused_calls=tuple(refused),
        refused_call_counts=refused,
        missing_protections=missing,
        dropped_log_lines=max(0, int(_number(message.get("dropped_log_lines")))),
    )


def read_event(message: JsonObject) -> RunEvent | None:
    """The event in an engine's message, or None if its kind is unknown."""
    node, iteration = as_text(message.get("node")), int(_number(message.get("iteration")))
    match message.get("kind"):
        case "node_started":
            return NodeStarted(node=node, iteration=iteration)
        case "node_finished":
            seconds, ok = _number(message.get("seconds")), message.get("ok") is True
            return NodeFinished(node=node, iteration=iteration, seconds=seconds, ok=ok)
        case "token":
            return NodeToken(node=node, text=as_text(message.get("text")))
        case "cut":
            return EventsCut()
        case _:
            return None


def _number(value: Json) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
