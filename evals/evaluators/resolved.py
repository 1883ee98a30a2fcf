"""Resolved: did the user get what was asked for?"""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Final

from evals.attempt import acted
from evals.case import Case, Grade
from evals.expectation import Probe
from evals.oracles.expectations import unmet_expectations
from evals.oracles.speech_acts import asked_about, refused
from evals.oracles.unread_input import input_is_unread
from evals.replies.inventory import canvas_texts, unasked_values
from evals.scenario import Turn
from runtime.results import RunResult

SHOWN: Final = 200
"""How much of a file a reason shows."""
SHOWN_VALUES: Final = 4
"""How many values of the canvas a reason shows."""


def resolved(case: Case) -> Grade:
    """True if every probe of the resulting flow gave the expected output (its counterfactual a different one), the
    scenario's expectations of the flow and of every answer hold, and the player asked back or refused where it should.

    An answer must state declared facts, a question must name what is open, a refusal what cannot be done. Runs that the
    user asked for count in `ran`. Always scored, as a player that shows nothing resolved nothing.
    """
    failure = next(_failures(case), None)
    return failure is None, failure or "everything that was asked for is so"


def _failures(case: Case) -> Iterator[str]:
    if case.change_expected and not case.changed:
        yield "the flow is as it was"
    if not case.scenario.open and input_is_unread(case):
        yield "what is typed leads nowhere"
    for number, ((probe, runs), files) in enumerate(zip(case.probed, case.probe_files, strict=True), start=1):
        if reason := probe_failure(probe, runs, files):
            yield f"probe {number} ({probe.input!r}) {reason}"
    yield from unmet_expectations(case)
    for number, turn in enumerate(case.scenario.turns):
        replies = case.attempt.replies(number)
        if not replies:
            yield f"message {number + 1} was not answered"
            return
        said = "\n".join(reply.text for reply in replies)
        yield from (
            f"the answer to message {number + 1} is not as expected: {fault}" for fault in _unsaid(case, turn, said)
        )
        made = case.attempt.without_engine or any(reply.runs for reply in replies)
        if turn.run is not None and not made:
            yield f"message {number + 1} asks for a run, and there was none"
        if turn.should != "act" and any(acted(reply) for reply in replies):
            yield f"message {number + 1} should not be acted on (it asks to {turn.should})"
        if turn.should == "ask" and not asked_about(case, number):
            yield f"message {number + 1} should be asked back about, with a question that names what is open"
        if turn.should == "refuse" and not refused(case, number):
            yield f"message {number + 1} should be declined, with a word about what"


def _unsaid(case: Case, turn: Turn, said: str) -> Iterator[str]:
    yield from (str(rule) for rule in turn.answer if not rule.met_by(said))
    if fault := turn.fact_fault(said):
        yield fault
    if turn.should == "answer":
        listed = unasked_values(said, turn.say, canvas_texts(case.before), turn.wanted)
        if listed:
            yield f"it lists what the canvas holds ({', '.join(listed[:SHOWN_VALUES])})"


def probe_failure(probe: Probe, runs: tuple[RunResult, ...], files: Mapping[str, str] | None = None) -> str:
    """Why a probe's runs are not as expected; empty if they are.

    Args:
        files: what the first run wrote into the user's files, content by path.
    """
    if len(runs) < len(probe.inputs):
        return "was not run: there was no flow"
    if probe.error is not None:
        error = runs[0].error
        return "" if error is not None and error.code == probe.error else f"should end in {probe}"
    output = runs[0].output
    if output is None and not probe.has_rule and not probe.also and probe.unlike is None:
        output = ""  # only files are expected
    unmet = next((rule for rule in (probe, *probe.also) if rule.has_rule and not rule.met_by(output)), None)
    if output is None or unmet is not None:
        return f"gave {output!r}, expected {unmet or probe}"
    for pattern, rule in probe.writes.items():
        found = {path: text for path, text in (files or {}).items() if fnmatchcase(path, pattern)}
        if not any(rule.met_by(text) for text in found.values()):
            shown = "; ".join(f"{path}: {text[:SHOWN]!r}" for path, text in found.items()) or "none"
            return f"should write a file {pattern} with {rule}; it wrote {shown}"
    if probe.unlike is not None and (runs[1].output is None or runs[1].output == output):
        return f"gave {output!r} as did {probe.unlike!r}: the output does not depend on the input"
    return ""
