"""Ran: were the runs made that the user asked for, and did they give what they must?"""

from evals.case import Case, Score
from evals.expectation import RunAsked
from runtime.results import RunResult


def ran(case: Case) -> Score:
    """True when, for every message that asks for a run, the last run of its turns met the scenario's `run`, and no
    probe that should succeed ended in an error.

    Not scored when there was nothing to run: no run was asked for, and no flow was made.
    """
    for number, turn in enumerate(case.scenario.turns):
        if turn.run is None:
            continue
        runs = [run for reply in case.attempt.replies(number) for run in reply.runs]
        if not runs:
            return _score(value=False, reason=f"message {number + 1}: the run that was asked for was not made")
        if reason := run_failure(turn.run, runs[-1]):
            return _score(value=False, reason=f"the user's run {reason}")
    for probe, runs in case.probed:
        failed = next((run.error for run in runs if run.error), None)
        if failed is not None and probe.error is None:
            return _score(value=False, reason=f"a probe failed ({failed.code}): {failed.message}")
    asked = any(turn.run for turn in case.scenario.turns)
    if not asked and (not case.attempt.probes or (case.changes and not case.touched)):
        return _score(value=None, reason="there was nothing to run")
    return _score(value=True, reason="every run gave what it must")


def run_failure(asked: RunAsked, run: RunResult) -> str:
    """What is wrong with a run that was asked for; empty when it ended as it must."""
    if asked.error is not None:
        ended = run.error is not None and run.error.code == asked.error
        return "" if ended else f"should have ended in {asked}"
    if run.error is not None:
        return f"failed ({run.error.code}): {run.error.message}"
    return "" if asked.met_by(run.output) else f"gave {run.output!r}, expected {asked}"


def _score(*, value: bool | None, reason: str) -> Score:
    return Score(name="ran", value=value, reason=reason)
