"""The removals that a message asks for: once a turn has read text from elsewhere, it removes nothing else."""

import re
from collections.abc import Collection, Iterable, Mapping

from flows.document import Flow

INSTRUCTION_WORDS = 6
"""From this many words on, the name of a flow or a component may be an instruction."""

_WORD = re.compile(r"[^\W_]+")
_NAME_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_FILLERS = frozenset({"and", "component", "for", "from", "the", "with"})
_UNSPECIFIC = re.compile(
    r"\b(?:all|another|anything|after|before|between|else|every\w*|instead|other\w*|rest|unused|whatever|whole"
    r"|clean\w*|correct\w*|debug\w*|fix\w*|improve\w*|mend\w*|only|rebuild\w*|redo\w*|repair\w*|rework\w*|simpl\w+|tidy)\b",
    re.IGNORECASE,
)
"""Words that leave it to the assistant what to remove."""
_REMOVES = re.compile(
    r"\b(?:change\w*|clear\w*|cut\w*|delet\w+|detach\w*|disconnect\w*|drop\w*|edit\w*|empt\w+|eras\w+|exchang\w+"
    r"|get\s+rid|leave\s+out|mov\w+|overwrit\w+|put|remov\w+|renew\w*|replac\w+|rewir\w+|rewrit\w+|skip\w*|swap\w*|switch\w*"
    r"|take\w*|throw\w*|turn|unlink\w*|unplug\w*|updat\w+|use|without)\b",
    re.IGNORECASE,
)
"""Words that ask to remove or replace something."""


def has_long_names(flow: Flow) -> bool:
    """Whether a name on the canvas, which a prompt shows, is long enough to be an instruction."""
    names = [flow.name, *(node.display_name for node in flow.nodes)]
    return any(len(_WORD.findall(name)) >= INSTRUCTION_WORDS for name in names)


def allows_removal(targets: Collection[str], request: str, names: Mapping[str, Collection[str]]) -> bool:
    """Whether a message may ask to remove or replace one of the targets.

    It may when it names one of them better than anything else, when it leaves open what to remove, or when it asks for
    a removal and names nothing that exists.

    Args:
        targets: keys of `names`.
        request: the message and its translation.
        names: everything that exists, by key, with the words that could name it.
    """
    if _UNSPECIFIC.search(request):
        return True
    words = {_singular(word) for word in _WORD.findall(request)}
    hits = {key: words & set(known) for key, known in names.items()}
    best = {key for key, hit in hits.items() if hit and not any(hit < other for other in hits.values())}
    if best:
        return not best.isdisjoint(targets)
    return _REMOVES.search(request) is not None


def node_names(flow: Flow) -> dict[str, set[str]]:
    """The words that could name each component of a flow, by its id."""
    return {node.id: name_words([node.type, node.display_name, node.id]) for node in flow.nodes if not node.is_note}


def name_words(texts: Iterable[str]) -> set[str]:
    """The words in names such as `ChatOutput` or `notes/to-do.md`, in lower case and without plural endings."""
    words = [word for text in texts for word in _WORD.findall(text)]
    found = {_singular(part) for word in words for part in (word, *_NAME_PART.findall(word))}
    return {word for word in found if len(word) > 2} - _FILLERS


def _singular(word: str) -> str:
    lower = word.lower()
    return lower[:-1] if len(lower) > 3 and lower.endswith("s") and not lower.endswith("ss") else lower
