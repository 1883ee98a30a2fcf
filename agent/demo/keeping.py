""" "Remove everything except the prompt": everything else is removed, and what is named stays."""

import re

from pydantic import JsonValue

from agent.demo.exact.changes import removals
from agent.demo.exact.names import node_named
from agent.demo.plan import CannotPlan, Step
from agent.demo.reading import Reading
from agent.demo.words import fold, found, vocabulary
from flows.document import Flow, Node
from tools.workbench import Workbench

_SIGNS = " ,.;:!?'\"«»“”„「」『』。，、；：！？"
_COMMA = re.compile(r"[,，、]")


def keeping_step(reading: Reading, bench: Workbench) -> Step | None:
    """The removal of everything except what a message names; None for a message that asks for something else.

    Args:
        reading: the message.
        bench: what the turn works on.
    """
    names = _kept_names(reading)
    if names is None:
        return None

    def arguments() -> dict[str, JsonValue]:
        flow = bench.current
        kept = {node.id for name in names for node in _meant(name, flow)}
        gone = [node for node in flow.nodes if node.id not in kept]
        if not kept:
            raise CannotPlan("Which component do you mean?")
        if not gone:
            raise CannotPlan("There is nothing else on the canvas.")
        return {"changes": removals(gone, flow, bench.catalogue)}

    return "edit_flow", arguments


def _kept_names(reading: Reading) -> list[str] | None:
    """The names of what stays, as they were written; None when a message does not remove all but something."""
    exceptions = reading.spans("except")
    everything = reading.has("clear") or (reading.has("remove") and (reading.has("all") or reading.language == "ja"))
    if not exceptions or not everything:
        return None
    first = exceptions[0]
    if reading.language == "ja":
        said = reading.message[: first.start()]
    else:
        said = reading.message[first.end() :]
        if reading.language == "zh":
            ends = [
                match.start() for concept in ("except", "all") for match in found(vocabulary()[concept], said, "zh")
            ]
            said = said[: min(ends, default=len(said))]
    for match in reversed(found(vocabulary()["please"], fold(said), reading.language)):
        said = said[: match.start()] + said[match.end() :]
    joints = [match.span() for match in found(vocabulary()["joins"], fold(said), reading.language)]
    joints += [match.span() for match in _COMMA.finditer(said)]
    names: list[str] = []
    start = 0
    for begin, end in [*sorted(joints), (len(said), len(said))]:
        names.append(said[start:begin].strip(_SIGNS))
        start = max(start, end)
    return [name for name in names if name]


def _meant(name: str, flow: Flow) -> list[Node]:
    """The nodes that a name has the longest name of, or the one that it means.

    Raises:
        CannotPlan: none fits, or several do.
    """
    said = fold(name)
    fitting: dict[str, int] = {}
    for node in flow.nodes:
        lengths = [len(one) for one in (node.id, node.display_name, node.type) if one and fold(one) in said]
        if lengths:
            fitting[node.id] = max(lengths)
    longest = max(fitting.values(), default=0)
    chosen = [node for node in flow.nodes if fitting.get(node.id) == longest]
    return chosen or [node_named(name, flow)]
