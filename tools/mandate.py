"""The mandate of a turn: what the user's own words ask for. `tools.consent.rules` compares it with what calls do."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Literal, TypeAlias, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, field_validator

from flows.catalogue import Catalogue
from flows.describe.texts import set_texts
from flows.document import Flow

Effect: TypeAlias = Literal[
    "edit", "replace_text", "remove", "run", "write_files", "overwrite_files", "write_components", "reach"
]
"""A kind of effect: change the flow, replace a text, remove something, run, write a new or an existing file, write
components, reach out to hosts."""

TARGET_LIMIT = 100
"""The maximum length of a name in characters."""

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

_TAKES_OUT = re.compile(
    r"\b(?:delet\w+|detach\w*|disconnect\w*|drop\w*|eras\w+|exchang\w+|get\s+rid|instead|leave\s+out|remov\w+|replac\w+"
    r"|rewir\w+|skip\w*|swap\w*|take\b.*\b(?:away|off|out)|throw\w*|turn\b.*\binto|unlink\w*|unplug\w*|without)\b",
    re.IGNORECASE,
)
"""Words that can only mean that something goes."""
_NOT = re.compile(r"\b(?:do\s+not|don['’]?t|keep\w*|leave\b.*\balone|never|not|without\s+\w+ing)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[.;,:!?\n]+|\b(?:and|but|then)\b", re.IGNORECASE)
_EVERYTHING = re.compile(
    r"\b(?:all|alles?|anything|else|every\w*|others?|rest|todos?|todas?|tout(?:es)?|tous|tudo|tutt[aeio]|unused|whole)\b"
    r"|全部|所有|すべて|全て",
    re.IGNORECASE,
)
"""Words that mean everything of a kind."""


class Mandate(BaseModel):
    """The kinds of effect that a message asks for; one that could not be read covers nothing.

    Attributes:
        effects: what each of them concerns, in the user's words; nothing when the message does not say.
    """

    model_config = ConfigDict(frozen=True)

    effects: Mapping[Effect, tuple[str, ...]] = Field(default_factory=dict[Effect, tuple[str, ...]])

    @field_validator("effects", mode="before")
    @classmethod
    def _readable(cls, given: object) -> object:
        """Only what is readable: known kinds, each with a list of names."""
        if not isinstance(given, Mapping):
            return {}
        found: dict[str, tuple[str, ...]] = {}
        for kind, named in cast("Mapping[object, object]", given).items():
            if kind in get_args(Effect) and isinstance(named, list | tuple):
                targets = list(cast("Iterable[object]", named))
                words = [one.strip() for one in targets if isinstance(one, str) and one.strip()]
                if len(words) == len(targets):
                    found[str(kind)] = tuple(word[:TARGET_LIMIT] for word in words)
        return found

    def __or__(self, other: "Mandate") -> "Mandate":
        """What one of two messages asks for."""
        merged = dict(self.effects)
        for effect, targets in other.effects.items():
            both = effect not in merged or (merged[effect] and targets)
            merged[effect] = (*merged.get(effect, ()), *targets) if both else ()
        return Mandate(effects=merged)

    @property
    def is_read(self) -> bool:
        """Whether the classifier has named any effect at all."""
        return bool(self.effects)

    def covers(self, effect: Effect, key: str, names: Mapping[str, Collection[str]]) -> bool:
        """Whether the message asks for an effect on something; one that names nothing concerns everything of its kind.

        Args:
            effect: the kind of effect.
            key: what it concerns, a key of `names`.
            names: everything that exists, by key, with the words that could name it.
        """
        targets = self.effects.get(effect)
        if targets is None:
            return False
        return self.is_open(effect) or any(key in best_named(target, names) for target in targets)

    def is_open(self, effect: Effect) -> bool:
        """Whether the message asks for an effect and leaves open on what, or asks for it on everything."""
        targets = self.effects.get(effect)
        return targets is not None and (not targets or any(_EVERYTHING.search(target) for target in targets))

    def unclear(self, effect: Effect, names: Mapping[str, Collection[str]]) -> int:
        """How many things the message means that their names do not tell, such as "the last step"."""
        return sum(not best_named(target, names) for target in self.effects.get(effect, ()))


def has_long_names(flow: Flow) -> bool:
    """Whether a name on the canvas, which a prompt shows, is long enough to be an instruction."""
    names = [flow.name, *(node.display_name for node in flow.nodes)]
    return any(len(_WORD.findall(name)) >= INSTRUCTION_WORDS for name in names)


def has_long_texts(flow: Flow, catalogue: Catalogue) -> bool:
    """Whether a text on the canvas, which a prompt shows, is long enough to be an instruction."""
    texts = [text for values in set_texts(flow, catalogue).values() for text in values.values()]
    return any(len(_WORD.findall(text)) >= INSTRUCTION_WORDS for text in texts)


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
    best = best_named(request, names)
    if best:
        return not best.isdisjoint(targets)
    return _REMOVES.search(request) is not None


def best_named(text: str, names: Mapping[str, Collection[str]]) -> set[str]:
    """The keys that a text names better than any other: `chat input` names the input and not the output."""
    if text.casefold() in names:
        return {text.casefold()}
    words = {_singular(word) for word in _WORD.findall(text)} | name_words([text])
    hits = {key: words & set(known) for key, known in names.items()}
    return {key for key, hit in hits.items() if hit and not any(hit < other for other in hits.values())}


def taken_out(request: str, names: Mapping[str, Collection[str]]) -> set[str]:
    """What a message plainly asks to take out or exchange, clause by clause.

    Args:
        request: the message and its translation, in English.
        names: everything that exists, by key, with the words that could name it.
    """
    clauses = [one for one in _CLAUSE.split(request) if one and _TAKES_OUT.search(one) and not _NOT.search(one)]
    return {key for clause in clauses for key in best_named(clause, names)}


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
