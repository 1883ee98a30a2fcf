"""Ran: were the runs made that the user asked for, and did they give what they must?"""

from evals.case import Case, Score


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
        error = runs[-1].error
        if turn.run.error is not None:
            if error is None or error.code != turn.run.error:
                return _score(value=False, reason=f"the user's run should have ended in {turn.run}")
            continue
        if error is not None:
            return _score(value=False, reason=f"the user's run failed ({error.code}): {error.message}")
        if not turn.run.met_by(runs[-1].output):
            return _score(value=False, reason=f"the user's run gave {runs[-1].output!r}, expected {turn.run}")
    for probe, runs in case.probed:
        failed = next((run.error for run in runs if run.error), None)
        if failed is not None and probe.error is None:
            return _score(value=False, reason=f"a probe failed ({failed.code}): {failed.message}")
    asked = any(turn.run for turn in case.scenario.turns)
    if not asked and (not case.attempt.probes or (case.changes and not case.touched)):
        return _score(value=None, reason="there was nothing to run")
    return _score(value=True, reason="every run gave what it must")


def _score(*, value: bool | None, reason: str) -> Score:
    return Score(name="ran", value=value, reason=reason)
