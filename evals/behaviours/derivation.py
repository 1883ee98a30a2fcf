"""Families of inputs that a reference flow suggests: by its conditions, patterns, numbers and separators."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from evals.behaviours.expansion import expand
from evals.behaviours.families import (
    Conversations,
    Family,
    Given,
    Input,
    LengthsAround,
    Lists,
    Matches,
    NumbersAround,
    Texts,
)
from evals.scenario import Scenario
from evals.scenarios.flows import read_named
from flows.catalogue import Catalogue
from flows.document import Flow, Node

COMPARING = {"less than", "less than or equal", "greater than", "greater than or equal"}
"""Operators of a condition that compare numbers."""
EXAMPLES = 3
"""How many examples of a pattern are taken."""
SAMPLES = ("x123", "AB-1234", "kim@example.org", "#orange", "42", "-3.5", "a1b2", "now", "axc", "a.c")
"""Texts that many patterns match."""


def inputs_of(scenario: Scenario, catalogue: Catalogue) -> tuple[Input, ...]:
    """The inputs of a scenario; none if it declares none.

    Args:
        catalogue: with the scenario's own component types.

    Raises:
        BadInputs: its declaration gives too few.
        BadFlow: its reference does not build.
    """
    declared = scenario.inputs
    if declared is None:
        return ()
    derived: tuple[Family, ...] = ()
    if declared.derive and scenario.reference is not None:
        reference = read_named("the reference", scenario.reference, catalogue)
        canvas = None if scenario.canvas is None else read_named("the canvas", scenario.canvas, catalogue)
        derived = derive(scenario, reference, canvas)
    return expand(declared, (*declared.families, *derived), scenario.id)


def derive(scenario: Scenario, reference: Flow, canvas: Flow | None) -> tuple[Family, ...]:
    """The families that a reference flow suggests.

    The inputs that the scenario names are among them. Where a condition or pattern was on the canvas already, the case
    of letters and matches inside words count too: the request does not leave them open.
    """
    named = _named_inputs(scenario)
    found: list[Family] = [Given(kind="given", texts=tuple(named))] if named else []
    there = {node.type for node in canvas.components} if canvas is not None else set[str]()
    for node in reference.components:
        found.extend(_of_node(node, named, exact=node.type in there))
    for rule in scenario.models:
        examples = _examples(rule.when, named) if rule.when else []
        if rule.when and examples:
            found.append(Matches(kind="matches", examples=tuple(examples), pattern=rule.when))
    if any(node.type == "Memory" for node in reference.components):
        found.append(Conversations(kind="conversations", messages=_conversations(named)))
    return (*found, Texts(kind="texts"))


def _of_node(node: Node, named: Iterable[str], *, exact: bool) -> Iterator[Family]:
    match node.type:
        case "ConditionalRouter":
            yield from _of_condition(node, named, exact=exact or node.value("case_sensitive") is False)
        case "RegexExtractorComponent":
            yield from _of_pattern(str(node.value("pattern") or ""), named)
        case "Operations" | "TextOperations":
            yield from _of_operation(node, named)
        case "SplitText":
            yield Lists(kind="lists", separator=str(node.value("separator") or "\n"))
        case _:
            return


def _of_condition(node: Node, named: Iterable[str], *, exact: bool) -> Iterator[Family]:
    operator, text = str(node.value("operator")), str(node.value("match_text") or "")
    if not text:
        return
    if operator in COMPARING:
        try:
            yield NumbersAround(kind="numbers_around", border=float(text))
        except ValueError:
            yield Matches(kind="matches", examples=(text,), exact=exact)
    elif operator == "regex":
        yield from _of_pattern(text, named)
    else:
        yield Matches(kind="matches", examples=(text,), exact=exact)


def _of_operation(node: Node, named: Iterable[str]) -> Iterator[Family]:
    chosen = node.value("operation")
    operation = str(chosen[0].get("name") if isinstance(chosen, list) and isinstance(chosen[0], dict) else chosen)
    searched, head = node.value("search_pattern"), node.value("head_characters")
    if operation == "Text Replace" and isinstance(searched, str) and searched:
        if node.value("use_regex"):
            yield from _of_pattern(searched, named)
        else:
            yield Matches(kind="matches", examples=(searched,), exact=True)
    elif operation == "Text Head" and isinstance(head, int):
        yield LengthsAround(kind="lengths_around", length=head)


def _of_pattern(pattern: str, named: Iterable[str]) -> Iterator[Family]:
    examples = _examples(pattern, named)
    if examples:
        yield Matches(kind="matches", examples=tuple(examples), pattern=pattern)


def _examples(pattern: str, named: Iterable[str]) -> list[str]:
    """The parts that match of the inputs that the scenario names, else of common texts."""
    try:
        compiled = re.compile(pattern)
    except re.error:
        return []
    for texts in (named, SAMPLES):
        found = dict.fromkeys(match.group() for text in texts for match in compiled.finditer(text) if match.group())
        if found:
            return list(found)[:EXAMPLES]
    return []


def _named_inputs(scenario: Scenario) -> list[str]:
    """The inputs of its probes and requested runs, each once, in order."""
    runs = [turn.run for turn in scenario.turns if turn.run is not None]
    texts = [*(probe_input for probe in scenario.probes for probe_input in probe.inputs), *(run.input for run in runs)]
    return list(dict.fromkeys(text for text in texts if text))


def _conversations(named: list[str]) -> tuple[tuple[str, ...], ...]:
    first, last = named[0] if named else "My name is Kim.", "And what did I say?"
    return ((first, last), (first, "Go on.", last), ("Good day.", first, "Thanks.", last))
