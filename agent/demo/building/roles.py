"""Parts of a flow by the words that people use for what they do in it: the input, the model, the prompt, the output."""

import re
from collections.abc import Iterator, Mapping, Sequence

from agent.demo.plan import CannotPlan
from agent.demo.reading import Reading
from agent.demo.replies import reply
from flows.document import Edge, Flow, Node

_ROLES: Mapping[str, Sequence[str]] = {
    "the_input": ("ChatInput", "TextInput"),
    "the_output": ("ChatOutput", "TextOutput"),
    "the_model": ("LanguageModelComponent",),
    "the_prompt": ("Prompt Template",),
}
"""The concepts of the vocabulary, and the component types that each stands for."""
_AROUND = ("add", "remove", "between", "please", "filler", "joins", "this_flow")
_SHORT_WORD, _SHORT_UNSPACED = 4, 3
_WORD = re.compile(r"[^\W\d_]+")
_IDEOGRAPH = re.compile(r"[ァ-ヺ一-鿿]")
_BETWEEN = 2


def removed_role(reading: Reading, flow: Flow) -> Node | None:
    """The one part of a flow that a message removes by its role, when it says nothing else.

    Args:
        reading: the message: "togli il modello", "モデルを削除して".
        flow: the flow on the canvas.
    """
    if not reading.has("remove") or reading.has("add", "except") or not _says_only_roles(reading):
        return None
    said = list(_said(reading))
    nodes = _playing(said[0][1], flow) if len(said) == 1 else []
    return nodes[0] if len(nodes) == 1 else None


def prompt_between(reading: Reading, flow: Flow) -> str | None:
    """The addition of a prompt between two parts of a flow as a fragment of spec text; None for any other message.

    Args:
        reading: the message: "Füge zwischen Eingabe und Modell einen Prompt ein".
        flow: the flow on the canvas.

    Raises:
        CannotPlan: one of the parts is not on the canvas or there more than once, or nothing connects them.
    """
    if not (reading.has("add") and reading.has("between")) or reading.quotes or not _says_only_roles(reading):
        return None
    said = list(_said(reading))
    ends = [(word, role) for word, role in said if role != "the_prompt"]
    if len(ends) != _BETWEEN or len(said) == len(ends):
        return None
    found = [_playing(role, flow) for _, role in ends]
    edge = None
    if all(len(nodes) == 1 for nodes in found):
        first, second = found[0][0], found[1][0]
        edge = edge_on_the_way(flow, first, second) or edge_on_the_way(flow, second, first)
    if edge is None:
        raise CannotPlan(reply("no_place", reading.language, why=", ".join(word for word, _ in ends)))
    name = next(one for one in ("Prompt", *(f"Prompt{n}" for n in range(2, len(flow.nodes) + 3))) if not flow.node(one))
    return "\n".join(
        [
            *("nodes:", f"  {name}: Prompt Template"),
            *("edges:", f"  {edge.source}.{edge.source_port} -> {name}.text"),
            f"  {name}.prompt -> {edge.target}.{edge.target_port}",
            *("config:", f'  {name}.template: "{{text}}"'),
        ]
    )


def edge_on_the_way(flow: Flow, source: Node, target: Node) -> Edge | None:
    """The last connection on the way from one part of a flow to another, or None when no way or several lead there.

    Args:
        flow: the flow.
        source: where the way begins.
        target: where it ends.
    """
    behind: set[str] = set()
    waiting = [source.id]
    while waiting:
        node = waiting.pop()
        if node not in behind:
            behind.add(node)
            waiting += [edge.target for edge in flow.edges if edge.source == node]
    edges = [edge for edge in flow.edges if edge.target == target.id and edge.source in behind]
    direct = [edge for edge in edges if edge.source == source.id]
    fitting = direct or edges
    return fitting[0] if len(fitting) == 1 else None


def _playing(role: str, flow: Flow) -> list[Node]:
    return [node for node in flow.nodes if node.type in _ROLES[role]]


def _said(reading: Reading) -> Iterator[tuple[str, str]]:
    """The words of a message that name a role, in their order, each with the role; each role once."""
    spans = sorted((match.start(), match[0], role) for role in _ROLES for match in reading.spans(role))
    first = {role: word for _, word, role in reversed(spans)}
    for role in dict.fromkeys(role for _, _, role in spans):
        yield first[role], role


def _says_only_roles(reading: Reading) -> bool:
    """Whether a message names roles and an order, and nothing that would be lost."""
    rest = reading.folded
    for concept in (*_ROLES, *_AROUND):
        for match in reading.spans(concept):
            rest = rest[: match.start()] + " " * len(match[0]) + rest[match.end() :]
    if reading.language in ("ja", "zh"):
        return len(_IDEOGRAPH.findall(rest)) < _SHORT_UNSPACED
    return all(len(word) < _SHORT_WORD for word in _WORD.findall(rest))
