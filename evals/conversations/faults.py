"""What is not as a step expects it: every difference in words, none when all is as it should be."""

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from agent.turn.result import TurnResult
from evals.conversations.course import EMPTY, After
from evals.expectation import Expectation
from evals.oracles.matching import match
from evals.oracles.scored_flow import scored_flow
from evals.scenarios.flows import read_named
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.files.names import FileRefused
from runtime.files.store import UserFiles

SHOWN = 300
"""How many characters of a text a fault quotes."""


def faults_of_turn(after: After, result: TurnResult, told: str, catalogue: Catalogue) -> Iterator[str]:
    """What of a turn's result is not as expected.

    Args:
        after: what is expected.
        result: of the turn.
        told: all that the models were sent in it.
        catalogue: the component types.
    """
    if after.outcome is not None and result.outcome != after.outcome:
        reason = "" if result.error is None else f": {result.error.message}"
        yield f"the outcome is {result.outcome}{reason}, not {after.outcome}"
    if after.proposal is not None:
        yield from flow_faults("the proposal", after.proposal, result.proposal or Flow.empty(), catalogue)
    kinds = tuple(one.kind for one in result.approvals.values())
    if after.waiting is not None and kinds != after.waiting:
        yield f"{', '.join(kinds) or 'nothing'} waits, not {', '.join(after.waiting) or 'nothing'}"
    if after.runs is not None:
        outputs = [run.output if run.error is None else f"error: {run.error.message}" for run in result.runs]
        if len(outputs) != len(after.runs):
            yield f"there were {len(outputs)} runs {outputs}, not {len(after.runs)}"
        for output, rule in zip(outputs, after.runs, strict=False):
            yield from _text_faults("the run's output", rule, output)
    yield from part_faults("the record", after.record, result.record.model_dump(mode="json"))
    for rule in after.answer:
        yield from _text_faults("the answer", rule, result.text)
    for rule in after.told:
        yield from _text_faults("what the models were sent", rule, told)
    code = None if result.error is None else result.error.code
    if after.error is not None and code != after.error:
        yield f"the error is {code}, not {after.error}"


def flow_faults(name: str, expected: str, found: Flow, catalogue: Catalogue) -> Iterator[str]:
    """How a flow differs from an expected one, whatever its ids, names and places.

    Args:
        name: what the flow is called in a fault.
        expected: its text, or `empty`.
        found: the flow.
        catalogue: the component types.
    """
    wanted = Flow.empty() if expected == EMPTY else read_named(f"the expectation of {name}", expected, catalogue)
    left, right = scored_flow(wanted, catalogue), scored_flow(found, catalogue)
    right = right.relabelled({theirs: ours for ours, theirs in match(left, right).items()})
    ours, theirs = {node.id: node for node in left.nodes}, {node.id: node for node in right.nodes}
    for node in ours.keys() - theirs.keys():
        yield f"{name} lacks {ours[node].type}"
    for node in theirs.keys() - ours.keys():
        yield f"{name} has {theirs[node].type}, which is not expected"
    for node in ours.keys() & theirs.keys():
        if dict(ours[node].values) != dict(theirs[node].values):
            yield f"{name} has {dict(theirs[node].values)} in {ours[node].type}, not {dict(ours[node].values)}"
    if left.edges != right.edges:
        yield f"{name} has {len(right.edges)} connections, of which {len(left.edges & right.edges)} are expected"


def file_faults(expected: Mapping[str, Expectation], folder: UserFiles) -> Iterator[str]:
    """What of the user's files is not as expected."""
    for path, rule in expected.items():
        try:
            content = folder.read(path)
        except FileRefused as refused:
            yield f"the file {path} cannot be read: {refused.message}"
        else:
            yield from _text_faults(f"the file {path}", rule, content)


def part_faults(name: str, expected: JsonValue, found: JsonValue) -> Iterator[str]:
    """What is expected and not found: of objects the given keys, of lists every item, of all else the value itself."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key, value in expected.items():
            if key not in found:
                yield f"{name} has no {key}"
            else:
                yield from part_faults(f"{name}.{key}", value, found[key])
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            yield f"{name} has {len(found)} items {str(found)[:SHOWN]}, not {len(expected)}"
        for index, (left, right) in enumerate(zip(expected, found, strict=False)):
            yield from part_faults(f"{name}[{index}]", left, right)
    elif expected != found:
        yield f"{name} is {str(found)[:SHOWN]!r}, not {expected!r}"


def _text_faults(name: str, rule: Expectation, found: str | None) -> Iterator[str]:
    if not rule.met_by(found):
        yield f"{name} is {str(found)[:SHOWN]!r}; expected: {rule}"
