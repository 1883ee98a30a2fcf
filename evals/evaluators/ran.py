"""Ran: does the resulting flow run, and did the user's own run give what was expected?"""

from evals.attempt import Attempt
from evals.evaluators import Score
from evals.scenario import Scenario


def ran(scenario: Scenario, attempt: Attempt) -> Score:
    """True when no probe ended in an error and the last run of the last turn met the scenario's `run`.

    Not scored when there was nothing to run.
    """
    failed = next((probe.error for probe in attempt.probes if probe.error), None)
    if failed is not None:
        return Score(name="ran", value=False, reason=f"a probe failed ({failed.code}): {failed.message}")
    if scenario.run is not None:
        runs = attempt.turns[-1].runs
        if not runs:
            return Score(name="ran", value=False, reason="the run that was asked for was not made")
        error = runs[-1].error
        if error is not None:
            return Score(name="ran", value=False, reason=f"the user's run failed ({error.code}): {error.message}")
        if not scenario.run.met_by(runs[-1].output):
            reason = f"the user's run gave {runs[-1].output!r}, expected {scenario.run}"
            return Score(name="ran", value=False, reason=reason)
    if not attempt.probes:
        return Score(name="ran", value=None, reason="there was no flow to run")
    return Score(name="ran", value=True, reason="every run ended without an error")
