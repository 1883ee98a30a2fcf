"""The mandate of a turn: what the user's own words ask for. `tools.consent.rules` compares it with what calls do."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Literal, TypeAlias, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, field_validator

Effect: TypeAlias = Literal[
    "edit",
    "replace_text",
    "remove",
    "undo",
    "run",
    "write_files",
    "overwrite_files",
    "write_components",
    "install",
    "reach",
]
"""A kind of effect: change the flow, replace a text, remove something, go back, run, write a new or an existing file,
write components, install packages, reach out to hosts."""

EVERYTHING = "*"
"""The target that means everything of a kind."""

TARGET_LIMIT = 100
"""The maximum length of a target in characters."""

_ONE_AT_A_TIME = frozenset[Effect]({"remove", "overwrite_files", "install"})
"""Kinds of which a message that names nothing means one thing, such as "remove it"."""

_WORD = re.compile(r"[^\W_]+")
_NAME_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_IN_TYPES = frozenset({"and", "component", "for", "from", "the", "with"})
"""Words of the catalogue's names that tell no component from another."""


class Mandate(BaseModel):
    """The kinds of effect that a message asks for; one that could not be read covers nothing.

    Attributes:
        effects: what each of them concerns, in English or as the user named it; nothing when the message does not say.
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

    def asks(self, effect: Effect) -> bool:
        """Whether the message asks for an effect at all."""
        return effect in self.effects

    def covers(self, effect: Effect, key: str, names: Mapping[str, Collection[str]]) -> bool:
        """Whether the message asks for an effect on something.

        Args:
            effect: the kind of effect.
            key: what it concerns, a key of `names`.
            names: everything that exists, by key, with the words that could name it.
        """
        return self.is_open(effect) or self.names(effect, key, names)

    def names(self, effect: Effect, key: str, names: Mapping[str, Collection[str]]) -> bool:
        """Whether the message asks for an effect on something and names it better than anything else."""
        return any(key in best_named(target, names) for target in self.effects.get(effect, ()))

    def is_open(self, effect: Effect) -> bool:
        """Whether the message asks for an effect on everything, or on whatever the assistant chooses."""
        targets = self.effects.get(effect)
        if targets is None:
            return False
        return EVERYTHING in targets or (not targets and effect not in _ONE_AT_A_TIME)

    def unclear(self, effect: Effect, names: Mapping[str, Collection[str]]) -> int:
        """How many things the message means that their names do not tell, such as "the last step"."""
        targets = self.effects.get(effect)
        if targets == () and effect in _ONE_AT_A_TIME:
            return 1
        return sum(one != EVERYTHING and not best_named(one, names) for one in targets or ())


def best_named(text: str, names: Mapping[str, Collection[str]]) -> set[str]:
    """The keys that a text names better than any other: `chat input` names the input and not the output."""
    whole = text.casefold()
    if whole in names:
        return {whole}
    words = {_singular(word) for word in _WORD.findall(text)} | name_words([text])
    hits = {key: _named(words, whole, known) for key, known in names.items()}
    return {key for key, hit in hits.items() if hit and not any(hit < other for other in hits.values())}


def name_words(texts: Iterable[str]) -> set[str]:
    """The words in names such as `ChatOutput` or `notes/to-do.md`, in lower case and without plural endings."""
    words = [word for text in texts for word in _WORD.findall(text)]
    found = {_singular(part) for word in words for part in (word, *_NAME_PART.findall(word))}
    return {word for word in found if len(word) > 2 or not word.isascii()} - _IN_TYPES


def _named(words: Collection[str], whole: str, known: Collection[str]) -> set[str]:
    """The words of a name that a text has; a script without spaces has no words, so there any place counts."""
    return {one for one in known if one in words or (not one.isascii() and one in whole)}


def _singular(word: str) -> str:
    lower = word.casefold()
    return lower[:-1] if len(lower) > 3 and lower.isascii() and lower.endswith("s") and lower[-2] != "s" else lower
