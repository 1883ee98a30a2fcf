"""Ran: were the runs that the user asked for made, and did they give the expected results?"""

from evals.case import Case, Grade
from evals.expectation import RequestedRun
from runtime.results import RunResult


def ran(case: Case) -> Grade:
    """True if, for every message that asks for a run, the player's last run met the scenario's `run`, the harness's own
    run of the flow that the message led to did so too, and no probe that should succeed ended in an error.

    A player without an engine need not have made any run. Journals of version 0.1 have no runs of the harness. Not
    scored if there was nothing to run: no run was asked for, and no flow was made.
    """
    for number, turn in enumerate(case.scenario.turns):
        if turn.run is None:
            continue
        runs = [run for reply in case.attempt.replies(number) for run in reply.runs]
        if not runs and not case.attempt.without_engine:
            return False, f"message {number + 1}: the run that was asked for was not made"
        own = case.attempt.requested.get(number)
        replies = case.attempt.replies(number)
        if not replies or replies[-1].flow.is_empty:
            return False, f"message {number + 1}: there is no flow to run"
        for run in (*runs[-1:], *([] if own is None else [own])):
            if reason := run_failure(turn.run, run):
                return False, f"the user's run {reason}"
    for probe, runs in case.probed:
        failed = next((run.error for run in runs if run.error), None)
        if failed is not None and probe.error is None:
            return False, f"a probe failed ({failed.code}): {failed.message}"
    run_requested = any(turn.run for turn in case.scenario.turns)
    if not run_requested and (not case.attempt.probes or (case.change_expected and not case.changed)):
        return None, "there was nothing to run"
    return True, "every run gave what it must"


def run_failure(requested: RequestedRun, run: RunResult) -> str:
    """What is wrong with a requested run; empty if it ended as expected."""
    if requested.error is not None:
        ended = run.error is not None and run.error.code == requested.error
        return "" if ended else f"should have ended in {requested}"
    if run.error is not None:
        return f"failed ({run.error.code}): {run.error.message}"
    return "" if requested.met_by(run.output) else f"gave {run.output!r}, expected {requested}"
