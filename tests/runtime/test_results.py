"""The shape of a run's outcome."""

from inline_snapshot import snapshot

from runtime.results import RunError, RunMetrics, RunResult


def test_a_result_is_ok_and_prints_every_key_when_it_has_no_error() -> None:
    result = RunResult(
        run_id="r", output="hi", outputs={"a": "hi"}, metrics=RunMetrics(seconds=0.5, input_tokens=2, output_tokens=3)
    )
    assert result.ok
    assert result.to_json() == snapshot(
        {
            "ok": True,
            "run_id": "r",
            "output": "hi",
            "outputs": {"a": "hi"},
            "nodes": {},
            "types": {},
            "metrics": {
                "seconds": 0.5,
                "input_tokens": 2,
                "output_tokens": 3,
                "total_tokens": 5,
                "model_calls": 0,
                "peak_mb": 0,
            },
            "usage": {},
            "error": None,
        }
    )


def test_a_result_is_not_ok_when_it_has_an_error() -> None:
    error = RunError(code="timeout", message="too long", node="n")
    result = RunResult(run_id="r", output=None, outputs={}, metrics=RunMetrics(seconds=1), error=error)
    assert not result.ok
    assert result.to_json()["error"] == {"code": "timeout", "message": "too long", "fix": "", "node": "n"}
