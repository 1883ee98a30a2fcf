"""What else an approval would do: the entries of a call that its question does not show by itself."""

from collections.abc import Collection, Iterator, Mapping

from flows.document import Flow
from flows.edits import Edit
from flows.edits.references import find_component
from flows.spec.fragment import parse_fragment
from flows.spec.parse import SpecEdge
from tools.approvals import Approval
from tools.replies import clip

TEXT_LIMIT = 300
"""How many characters of a value are shown."""


def along(text: str, flow: Flow, lines: Collection[int], question: Approval, names: Mapping[str, str]) -> list[str]:
    """The entries of a fragment that are carried out once a question is approved, for people; its own subject left out.

    Args:
        text: the fragment.
        flow: the flow that it changes.
        lines: where the entries begin that are carried out.
        question: what is asked.
        names: ids by other names.
    """
    return [told for line, told in sorted(_entries(text, flow, question, names)) if line in lines]


def ends_along(edit: Edit, question: Approval) -> list[str]:
    """The connections that end with an edit because their ports go, for people, but for those that a question names."""
    named = question.targets if question.kind == "removal" else []
    return [f"Disconnect {edge}" for edge in dict.fromkeys(edit.lost) if edge not in named]


def _entries(text: str, flow: Flow, question: Approval, names: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    fragment, _ = parse_fragment(text)
    spec = fragment.spec
    fields = _fields(question)
    targets = question.targets if question.kind == "removal" else []

    def meant(name: str) -> str:
        node = find_component(flow, name, names)
        return name if node is None else node.id

    for node in spec.nodes:
        yield node.line, f"Put {node.type} in place of {node.id}" if flow.node(meant(node.id)) else f"Add {node.id}"
    for value in spec.values:
        if (meant(value.node), value.field) not in fields:
            yield value.line, f"{value.node}.{value.field}: {clip(value.text, TEXT_LIMIT)}"
    for name in fragment.names:
        yield name.line, f"Rename {name.node} to {name.name}"
    for edge in spec.edges:
        yield edge.line, f"Connect {_ends(edge)}"
    for gone in fragment.removed:
        if meant(gone.node) not in targets:
            yield gone.line, f"Remove {gone.node}"
    for cut in fragment.cut:
        if not any(meant(cut.source) in target and meant(cut.target) in target for target in targets):
            yield cut.line, f"Disconnect {_ends(cut)}"


def _fields(question: Approval) -> set[tuple[str, str]]:
    """The fields whose values a question shows."""
    if question.kind == "edit":
        return {(edit.node, edit.field) for edit in question.edits}
    if question.kind == "secret":
        node, _, field = question.variable.rpartition(".")
        return {(node, field)}
    return set()


def _ends(edge: SpecEdge) -> str:
    ends = ((edge.source, edge.source_port), (edge.target, edge.target_port))
    source, target = (name if port is None else f"{name}.{port}" for name, port in ends)
    return f"{source} -> {target}"
