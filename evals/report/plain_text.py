"""A scenario and the attempts at it as lines of text, for a person at a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from evals.attempt import Attempt, Score
from evals.behaviours.outcomes import agree
from evals.expectation import Expect
from evals.oracles.tool_calls import calls_of
from evals.report.summary import mark
from evals.scenario import Scenario
from evals.score import DECIDING, Verdict
from flows.document import Flow, FlowFormatError
from flows.spec import to_spec

LINE = 200
"""Characters of a tool call's argument that stands on one line."""


def scenario_lines(scenario: Scenario) -> Iterator[str]:
    """What the user wants, what is right, and everything that an attempt is held to."""
    yield f"{scenario.id}: {scenario.about}"
    yield f"{scenario.split}{', open' if scenario.open else ''}; {', '.join(scenario.tags) or 'no tags'}"
    if scenario.canvas is not None:
        yield from ("", "On the canvas:", *_indented(_spec(scenario.canvas)))
    for turn in scenario.turns:
        if turn.edit is not None:
            yield from ("", "The user makes of the canvas:", *_indented(_spec(turn.edit)))
        yield from ("", f"The user ({turn.should}):", *_indented(turn.say))
        if turn.run is not None:
            given = "as it is" if turn.run.input is None else f"with {turn.run.input!r}"
            yield f"  A run {given} must give {turn.run}"
        for answer in turn.answer:
            yield f"  The answer must be: {answer}"
    if scenario.reference is not None:
        yield from ("", "Right:", *_indented(_spec(scenario.reference)))
    yield ""
    yield from (f"Wrong: {wrong.because}" for wrong in scenario.wrong)
    yield from (
        f"Probe: {'as it is' if probe.input is None else repr(probe.input)} must give {probe}"
        for probe in scenario.probes
    )
    if scenario.inputs is not None:
        yield "Inputs: on all of them the flow must give what the reference gives"
    yield from _expected(scenario.expect)
    yield from (f"For a judge: {criterion}" for criterion in scenario.criteria)


def attempt_lines(scenario: Scenario, attempt: Attempt, verdict: Verdict) -> Iterator[str]:
    """What was done, what came of it, and every score: those that decide first."""
    yield from ("", f"{attempt.player} #{attempt.repeat + 1}: {_result(verdict)}")
    yield from (f"  {line}" for line in _circumstances(attempt, verdict))
    if attempt.harness_error is not None:
        yield f"  harness: {attempt.harness_error}"
    for turn in attempt.turns:
        for call in calls_of(turn):
            yield f"  {call.tool}{'' if call.accepted else ' (refused)'}"
            yield from _arguments(call.arguments)
        for run in turn.runs:
            account = ", by its own account" if run.untrusted_code else ""
            yield f"  ran{account}: {run.output!r}{f' ({run.error.message})' if run.error else ''}"
        yield f"  {turn.outcome}{f' ({turn.error.message})' if turn.error is not None else ''}:"
        yield from _indented(turn.text, "    ")
    if attempt.flow is not None and not attempt.flow.is_empty:
        yield from ("  The flow at the end:", *_indented(to_spec(attempt.flow), "    "))
    different = [
        one for one in attempt.behaviours if scenario.inputs and not agree(scenario.inputs, one.given, one.wanted)
    ]
    if different:
        yield f"  The first input on which it differs from the reference: {different[0].input}"
        yield f"    it gives       {different[0].given}"
        yield f"    the reference  {different[0].wanted}"
    decides = DECIDING | verdict.required.keys()
    yield from _scores("  Decides:", [score for score in verdict.scores if score.name in decides])
    yield from _scores(
        "  Grades, which decide nothing:", [score for score in verdict.scores if score.name not in decides]
    )


def _result(verdict: Verdict) -> str:
    if verdict.passed is None:
        return "not judged"
    failed = ", ".join(score.name for score in verdict.failures)
    return "passed" if verdict.passed else f"failed, because of {failed}"


def _circumstances(attempt: Attempt, verdict: Verdict) -> Iterator[str]:
    origin, measured = attempt.origin, verdict.measured
    if attempt.agent is not None:
        yield f"agent {attempt.agent}"
    if origin is not None and origin.at:
        pack = f" with the pack {origin.pack}" if origin.pack else ""
        yield f"played {origin.at}{pack}, harness {origin.harness}, lfx {attempt.versions.lfx or 'unknown'}"
    figures = [f"{measured.seconds:.2f} s"]
    figures += [] if measured.tokens is None else [f"{measured.tokens:,} tokens"]
    figures += [] if measured.cost is None else [f"${measured.cost:.4f}"]
    yield ", ".join(figures)


def _scores(head: str, scores: Sequence[Score]) -> Iterator[str]:
    if not scores:
        return
    width = max(len(score.name) for score in scores)
    yield head
    for score in scores:
        yield f"    {score.name:{width}}  {mark(score.value).plain:4}  {score.reason}"


def _arguments(given: dict[str, Any]) -> Iterator[str]:
    for name, value in given.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if "\n" in text.strip() or len(text) > LINE:
            yield from (f"    {name}:", *_indented(text, "      "))
        else:
            yield f"    {name}: {text.strip()}"


def _expected(expect: Expect) -> Iterator[str]:
    yield from (f"Must have: {name}" for name in expect.types)
    yield from (f"Must have one of: {', '.join(names)}" for names in expect.one_of)
    yield from (f"Must not have: {name}" for name in expect.absent)
    yield from (f"Must connect: {wire}" for wire in expect.edges)
    yield from (f"Field {place} must be: {rule}" for place, rule in expect.fields.items())
    yield from (f"Must stay: {name}" for name in expect.kept)
    yield from (f"Must not call: {tool}" for tool in expect.no_tools)
    yield from (f"Must call: {tool}" for tool in expect.tools)
    yield from (f"File {path} must be: {rule}" for path, rule in expect.files.items())


def _spec(text: str) -> str:
    """A flow as spec text; what is no JSON, or no flow, stays as it is."""
    if not text.lstrip().startswith("{"):
        return text
    try:
        return to_spec(Flow.from_json(json.loads(text)))
    except (FlowFormatError, ValueError):
        return text


def _indented(text: str, by: str = "  ") -> list[str]:
    return [f"{by}{line}" for line in text.rstrip().splitlines()]
