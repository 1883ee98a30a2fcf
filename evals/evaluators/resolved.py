"""Resolved: did the user get what was asked for?"""

from collections.abc import Iterator

from evals.attempt import acted
from evals.case import Case, Grade
from evals.expectation import Probe
from evals.oracles.expectations import unmet_expectations
from evals.oracles.speech_acts import asked_about, refused
from evals.scenario import Turn
from runtime.results import RunResult


def resolved(case: Case) -> Grade:
    """True if every probe of the resulting flow gave the expected output (its counterfactual a different one), the
    scenario's expectations of the flow and of every answer hold, and the player asked back or refused where it should.

    An answer must state declared facts, a question must name what is open, a refusal what cannot be done. Runs that the
    user asked for count in `ran`. Always scored, as a player that shows nothing resolved nothing, unless nothing failed
    and only words could decide (`judged` of a turn).
    """
    failure = next(_failures(case), None)
    judged = next((turn.judged for turn in case.scenario.turns if turn.judged), None)
    if failure is None and judged is not None:
        return None, f"undecided: only a judge can say whether this is true: {judged}"
    return failure is None, failure or "everything that was asked for is so"


def _failures(case: Case) -> Iterator[str]:
    if case.change_expected and not case.changed:
        yield "the flow is as it was"
    for number, (probe, runs) in enumerate(case.probed, start=1):
        if reason := probe_failure(probe, runs):
            yield f"probe {number} ({probe.input!r}) {reason}"
    yield from unmet_expectations(case)
    for number, turn in enumerate(case.scenario.turns):
        replies = case.attempt.replies(number)
        if not replies:
            yield f"message {number + 1} was not answered"
            return
        said = "\n".join(reply.text for reply in replies)
        yield from (f"the answer to message {number + 1} is not as expected: {fault}" for fault in _unsaid(turn, said))
        made = case.attempt.without_engine or any(reply.runs for reply in replies)
        if turn.run is not None and not made:
            yield f"message {number + 1} asks for a run, and there was none"
        if turn.should != "act" and any(acted(reply) for reply in replies):
            yield f"message {number + 1} should not be acted on (it asks to {turn.should})"
        if turn.should == "ask" and not asked_about(case, number):
            yield f"message {number + 1} should be asked back about, with a question that names what is open"
        if turn.should == "refuse" and not refused(case, number):
            yield f"message {number + 1} should be declined, with a word about what"


def _unsaid(turn: Turn, said: str) -> Iterator[str]:
    yield from (str(rule) for rule in turn.answer if not rule.met_by(said))
    if fault := turn.fact_fault(said):
        yield fault


def probe_failure(probe: Probe, runs: tuple[RunResult, ...]) -> str:
    """Why a probe's runs are not as expected; empty if they are."""
    if len(runs) < len(probe.inputs):
        return "was not run: there was no flow"
    if probe.error is not None:
        error = runs[0].error
        return "" if error is not None and error.code == probe.error else f"should end in {probe}"
    output = runs[0].output
    if output is None or not probe.met_by(output):
        return f"gave {output!r}, expected {probe}"
    if probe.unlike is not None and (runs[1].output is None or runs[1].output == output):
        return f"gave {output!r} as did {probe.unlike!r}: the output does not depend on the input"
    return ""
