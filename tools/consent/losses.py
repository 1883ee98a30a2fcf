"""What an edit takes from the user: components, connections and texts that were there when the turn began."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from flows.actions import AddComponent, FlowAction, RemoveComponent
from flows.catalogue import Catalogue
from flows.document import Edge, Flow
from flows.edits import Edit
from flows.json_values import as_object
from tools.approvals import is_free_text


@dataclass(frozen=True)
class HiddenText:
    """A text of the user's that a new connection replaces whenever the flow runs."""

    node: str
    field: str
    text: str
    edge: str


@dataclass(frozen=True)
class Rewired:
    """A connection that gives way to another one into the same input.

    Attributes:
        edge: the old connection.
        source: where the new one begins.
    """

    edge: Edge
    source: str


@dataclass(frozen=True)
class Losses:
    """What an edit takes from the user.

    Attributes:
        removed: ids of the components that go.
        replaced: ids of those whose place another type takes.
        cut: connections that go while both ends stay.
        rewired: connections that give way to another one into the same input.
    """

    removed: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    cut: tuple[Edge, ...] = ()
    rewired: tuple[Rewired, ...] = ()


def losses(initial: Flow, before: Flow, edit: Edit) -> Losses:
    """What an edit takes.

    A connection that is kept through other components, or that ends because its port does, is not lost: something was
    put in between, or its field was set.

    Args:
        initial: the canvas when the turn began.
        before: the flow that is edited.
        edit: the edit.
    """
    after = edit.flow
    gone = [node.id for node in initial.components if before.node(node.id) and not after.node(node.id)]
    replaced = _replaced(edit.actions, before, after)
    old, left = {edge.text for edge in initial.edges}, {edge.text for edge in after.edges}
    lost = [
        edge
        for edge in before.edges
        if edge.text in old - left - set(edit.lost) and after.node(edge.source) and after.node(edge.target)
    ]
    lost = [edge for edge in lost if not _leads(after, edge.source, edge.target)]
    taken = {(edge.target, edge.target_port): edge.source for edge in after.edges}
    return Losses(
        removed=tuple(node for node in gone if node not in replaced),
        replaced=tuple(node for node in gone if node in replaced),
        cut=tuple(edge for edge in lost if (edge.target, edge.target_port) not in taken),
        rewired=tuple(
            Rewired(edge, source) for edge in lost if (source := taken.get((edge.target, edge.target_port))) is not None
        ),
    )


def hidden_texts(initial: Flow, before: Flow, after: Flow, catalogue: Catalogue) -> list[HiddenText]:
    """The texts of the user's that new connections replace.

    Args:
        initial: the canvas when the turn began.
        before: the flow that is edited.
        after: the flow after the edit.
        catalogue: says which texts are only defaults.
    """
    known = {edge.text for edge in before.edges}
    joined = {(edge.target, edge.target_port) for edge in before.edges}
    found: dict[tuple[str, str], HiddenText] = {}
    for edge in after.edges:
        place, node, now = (edge.target, edge.target_port), initial.node(edge.target), after.node(edge.target)
        field = None if node is None else node.field(edge.target_port)
        if edge.text in known or place in joined or node is None or now is None or field is None:
            continue
        component = catalogue.get(node.type)
        default = None if component is None else as_object(component.template.get(edge.target_port)).get("value")
        text = field.get("value")
        if isinstance(text, str) and text != default and is_free_text(field) and now.value(edge.target_port) == text:
            found.setdefault(place, HiddenText(*place, text, edge.text))
    return list(found.values())


def _replaced(actions: Iterable[FlowAction], before: Flow, after: Flow) -> set[str]:
    """The ids of components that the next action puts another in the place of, joined to one of their neighbours.

    Being added where something was removed is not enough: a removal beside an addition is a removal.
    """
    found = set[str]()
    for one, then in pairwise(actions):
        if isinstance(one, RemoveComponent) and isinstance(then, AddComponent) and then.index == one.index:
            old, new = str(one.node.get("id")), str(then.node.get("id"))
            neighbours = _neighbours(before, old)
            if not neighbours or neighbours & _neighbours(after, new):
                found.add(old)
    return found


def _neighbours(flow: Flow, node: str) -> set[tuple[str, str]]:
    """The components that one is joined to, each with the direction."""
    into = {("from", edge.source) for edge in flow.edges if edge.target == node}
    return into | {("to", edge.target) for edge in flow.edges if edge.source == node}


def _leads(flow: Flow, source: str, target: str) -> bool:
    """Whether one component leads to another, through others or not."""
    reached, ahead = set[str](), [source]
    while ahead:
        found = {edge.target for edge in flow.edges if edge.source in ahead} - reached
        reached |= found
        ahead = list(found)
    return target in reached
