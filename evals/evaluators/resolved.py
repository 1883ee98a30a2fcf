"""Resolved: does the resulting flow do what was asked for?"""

from evals.attempt import Attempt
from evals.evaluators import Score
from evals.scenario import Scenario


def resolved(scenario: Scenario, attempt: Attempt) -> Score:
    """True when every probe of the scenario was run on the resulting flow and gave what it must."""
    for number, probe in enumerate(scenario.probes):
        if number >= len(attempt.probes):
            return Score(name="resolved", value=False, reason=f"probe {number + 1} was not run: there was no flow")
        output = attempt.probes[number].output
        if not probe.met_by(output):
            reason = f"probe {number + 1} ({probe.input!r}) gave {output!r}, expected {probe}"
            return Score(name="resolved", value=False, reason=reason)
    return Score(name="resolved", value=True, reason=f"all {len(scenario.probes)} probes passed")
