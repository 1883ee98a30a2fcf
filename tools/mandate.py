"""What a user's own words call for: the rule that others' text, once read, cannot have what stands taken away."""

import re
from collections.abc import Collection, Iterable, Mapping

from flows.document import Flow, Node

SPEECH = 6
"""Words from which on the name of a flow or of a component may be telling someone to do something."""

_WORD = re.compile(r"[^\W_]+")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_FILLERS = frozenset({"and", "component", "for", "from", "the", "with"})
_OPEN = re.compile(
    r"\b(?:all|another|anything|after|before|between|else|every\w*|instead|other\w*|rest|unused|whatever|whole"
    r"|clean\w*|correct\w*|debug\w*|fix\w*|improve\w*|mend\w*|only|rebuild\w*|redo\w*|repair\w*|rework\w*|simpl\w+|tidy)\b",
    re.IGNORECASE,
)
"""Words that leave it to the assistant what has to go."""
_TAKES = re.compile(
    r"\b(?:change\w*|clear\w*|cut\w*|delet\w+|detach\w*|disconnect\w*|drop\w*|edit\w*|empt\w+|eras\w+|exchang\w+"
    r"|get\s+rid|leave\s+out|mov\w+|overwrit\w+|put|remov\w+|renew\w*|replac\w+|rewir\w+|rewrit\w+|skip\w*|swap\w*|switch\w*"
    r"|take\w*|throw\w*|turn|unlink\w*|unplug\w*|updat\w+|use|without)\b",
    re.IGNORECASE,
)
"""Words that ask for something to be taken away or put in another's place."""


def has_long_names(flow: Flow) -> bool:
    """Whether a name on the canvas, which a prompt shows, is long enough to be telling someone to do something."""
    names = [flow.name, *(node.display_name for node in flow.nodes)]
    return any(len(_WORD.findall(name)) >= SPEECH for name in names)


def allows_removal(wanted: Collection[str], words: str, named: Mapping[str, Collection[str]]) -> bool:
    """Whether a message may mean that one of these goes or is replaced.

    It does when it names one of them better than anything else, when it leaves open what has to go, or when it asks
    for something to go and names nothing that is there.

    Args:
        wanted: keys of `named`.
        words: the message, and its translation.
        named: what is there: the words that could name it, by key.
    """
    if _OPEN.search(words):
        return True
    said = {_plain(word) for word in _WORD.findall(words)}
    hits = {key: said & set(names) for key, names in named.items()}
    best = {key for key, hit in hits.items() if hit and not any(hit < other for other in hits.values())}
    if best:
        return not best.isdisjoint(wanted)
    return _TAKES.search(words) is not None


def node_names(flow: Flow) -> dict[str, set[str]]:
    """The words that could name each component of a flow, by its id."""
    return {node.id: _names(node) for node in flow.nodes if not node.is_note}


def name_words(texts: Iterable[str]) -> set[str]:
    """The words in names such as `ChatOutput` or `notes/to-do.md`, in lower case and without a plural's end."""
    found = {_plain(part) for text in texts for word in _WORD.findall(text) for part in [word, *_PARTS.findall(word)]}
    return {word for word in found if len(word) > 2} - _FILLERS


def _names(node: Node) -> set[str]:
    return name_words([node.type, node.display_name, node.id])


def _plain(word: str) -> str:
    lower = word.lower()
    return lower[:-1] if len(lower) > 3 and lower.endswith("s") and not lower.endswith("ss") else lower
