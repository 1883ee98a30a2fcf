"""The values that `--tweak NODE.FIELD=VALUE` gives for one run, checked against the flow before anything starts."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cli.errors import BadUsage

if TYPE_CHECKING:
    from cli.flow.source import LoadedFlow
    from flows.catalogue import Catalogue
    from flows.document import Json, Node

Tweaks = dict[str, dict[str, "Json"]]
"""Values by node id and field name."""

_FIX = "Write NODE.FIELD=VALUE, such as --tweak prompt.template=Hello."


@dataclass(frozen=True)
class Tweak:
    """A value for one run, as it was written.

    Attributes:
        node: an id, or a display name.
        field: the name of the field.
        value: the value; text is left for the field to read.
    """

    node: str
    field: str
    value: "Json"


def read_tweaks(given: Iterable[str]) -> list[Tweak]:
    """The tweaks in arguments.

    Raises:
        BadUsage: one of them has another form.
    """
    found: list[Tweak] = []
    for each in given:
        place, equals, value = each.partition("=")
        node, dot, field = place.rpartition(".")
        if not (equals and dot and node.strip() and field.strip()):
            raise _refused(f"{each!r} is not a tweak.", _FIX)
        found.append(Tweak(node.strip(), field.strip(), _value(value)))
    return found


def checked_tweaks(tweaks: Sequence[Tweak], loaded: "LoadedFlow", catalogue: "Catalogue") -> Tweaks:
    """The tweaks by the ids of the flow's nodes, each of which can be set.

    Args:
        tweaks: what was written; a node is named by its id, the id in spec text, its display name, or its type.
        loaded: the flow, which is not changed.
        catalogue: the component types.

    Raises:
        BadUsage: a node or a field is unknown, a display name is ambiguous, or a value is not one of its field's.
    """
    from flows.edits import EditError, configure

    found = placed_tweaks(tweaks, loaded)
    flow = loaded.flow
    if flow is None:
        return {}
    for node_id, values in found.items():
        try:
            flow = configure(flow, catalogue, node_id, values).flow
        except EditError as error:
            fault = loaded.placed(error.faults[0])
            raise _refused(fault.message, fault.fix) from None
    return found


def placed_tweaks(tweaks: Sequence[Tweak], loaded: "LoadedFlow") -> Tweaks:
    """The tweaks by the ids of the flow's nodes, whose values nobody has checked.

    Args:
        tweaks: what was written.
        loaded: the flow.

    Raises:
        BadUsage: a node is unknown, or a display name is ambiguous.
    """
    found: Tweaks = {}
    for tweak in tweaks:
        node = named_node(tweak.node, loaded)
        found.setdefault(node.id, {})[_field(tweak.field, node)] = tweak.value
    return found


def named_node(name: str, loaded: "LoadedFlow") -> "Node":
    """The node of a name, by the closest kind of name that fits: exactly as written first, then whatever its case.

    A name is an id as the source writes it, the flow's own id, a display name, or the type, if no other node has it.

    Raises:
        BadUsage: there is none, or more than one.
    """
    nodes = [] if loaded.flow is None else [node for node in loaded.flow.nodes if not node.is_note]
    names: dict[str, tuple[str, ...]] = {
        node.id: (loaded.name(node.id), node.id, node.display_name or "", node.type) for node in nodes
    }
    for same in (str, str.casefold):
        for kind in range(4):
            fitting = [node for node in nodes if same(names[node.id][kind]) == same(name)]
            if len(fitting) == 1:
                return fitting[0]
            if fitting:
                ids = ", ".join(loaded.name(node.id) for node in fitting)
                raise _refused(f"{len(fitting)} nodes are called {name!r}.", f"Name one by its id: {ids}.")
    from flows.faults import did_you_mean

    known = dict.fromkeys(loaded.name(node.id) for node in nodes)
    fix = did_you_mean(name, known, otherwise="its nodes are")
    raise _refused(f"The flow has no node {name!r}.", fix)


def _field(name: str, node: "Node") -> str:
    """The field of a name, whatever its case; an unknown one stays as it is and is refused by the edit."""
    fields: Mapping[str, object] = node.template
    if name in fields:
        return name
    fitting = [field for field in fields if field.casefold() == name.casefold()]
    return fitting[0] if len(fitting) == 1 else name


def _value(text: str) -> "Json":
    """A JSON list or object as such; any other text as it is, for the field to read."""
    read: Callable[[str], Json] = json.loads
    if text.lstrip()[:1] in {"[", "{"}:
        try:
            return read(text)
        except ValueError:
            return text
    return text


def _refused(message: str, fix: str) -> BadUsage:
    return BadUsage("bad_tweak", message, fix=fix, where="--tweak")
