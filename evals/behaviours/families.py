"""The declaration of a scenario's inputs: families of texts and files, from which they are generated."""

from __future__ import annotations

import operator
import re
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evals.expectation import Strict, Text

ENOUGH: Final = 8
"""The fewest inputs of a scenario."""

Trait: TypeAlias = Literal[
    "word",
    "sentence",
    "capitals",
    "digits",
    "punctuation",
    "braces",
    "language",
    "lines",
    "long",
    "spaces",
    "empty",
    "match",
    "no match",
    "near miss",
    "several matches",
    "every character",
    "other case",
    "inside a word",
    "number",
    "at the border",
    "no number",
    "items",
    "odd items",
    "length",
    "file",
    "earlier messages",
    "given",
]
"""What an input tries."""


class Input(BaseModel):
    """One input of a flow.

    Attributes:
        trait: what it tries.
        text: what is typed.
        earlier: what was typed before it in the same session, in order.
        files: the user's files that differ from the scenario's, content by path.
    """

    model_config = ConfigDict(frozen=True)

    trait: Trait
    text: str
    earlier: Annotated[tuple[str, ...], Field(exclude_if=operator.not_)] = ()
    files: Annotated[dict[str, str], Field(exclude_if=operator.not_)] = Field(default_factory=dict[str, str])

    def __str__(self) -> str:
        shown = repr(self.text if len(self.text) <= SHOWN else f"{self.text[:SHOWN]}…")
        before = f" after {', '.join(map(repr, self.earlier))}" if self.earlier else ""
        given = f" with {', '.join(self.files)}" if self.files else ""
        return f"{shown}{before}{given} ({self.trait})"


SHOWN: Final = 80
"""Characters of an input that a reason shows."""


class Texts(Strict):
    """Texts of every kind: words, sentences, capitals, digits, punctuation, languages, several lines, long ones."""

    kind: Literal["texts"]


class Given(Strict):
    """Texts by hand."""

    kind: Literal["given"]
    texts: Annotated[tuple[str, ...], Field(min_length=1)]


class NumbersAround(Strict):
    """Numbers below, at and above a border, by fractions and far away, negative, with decimals; and no number.

    Attributes:
        border: the number at which the flow's answer changes.
    """

    kind: Literal["numbers_around"]
    border: float


class LengthsAround(Strict):
    """Texts that are shorter than a length, exactly as long, and longer.

    Attributes:
        length: in characters.
    """

    kind: Literal["lengths_around"]
    length: Annotated[int, Field(ge=1)]


class Matches(Strict):
    """Sentences with a match, with several, with none, and with a text that almost matches; of a pattern, also with
    every digit and letter that a match may have.

    Attributes:
        examples: texts that match.
        pattern: the pattern that decides what matches; None for the examples themselves.
        exact: whether the request leaves open neither the case of letters nor matches inside words.
    """

    kind: Literal["matches"]
    examples: Annotated[tuple[Text, ...], Field(min_length=1)]
    pattern: Text | None = None
    exact: bool = False

    @model_validator(mode="after")
    def _check(self) -> Matches:
        if self.pattern is None:
            return self
        found = _compiled(self.pattern, "pattern")
        for example in self.examples:
            if found.search(example) is None:
                raise ValueError(f"the example {example!r} does not match the pattern")
        return self


class Lists(Strict):
    """Lists of one item and of several, with empty items and a separator at the end.

    Attributes:
        separator: what stands between two items.
        items: items to choose from; without any, words.
    """

    kind: Literal["lists"]
    separator: Text = "\n"
    items: tuple[Text, ...] = ()


class Files(Strict):
    """Other contents of one of the user's files.

    Attributes:
        path: the file.
        contents: what it holds instead; without any, texts of every kind.
        text: what is typed.
    """

    kind: Literal["files"]
    path: Text
    contents: tuple[str, ...] = ()
    text: str = "Go on."


class Conversations(Strict):
    """Messages that follow others in the same session.

    Attributes:
        messages: conversations; the last message of each is compared.
    """

    kind: Literal["conversations"]
    messages: Annotated[tuple[Annotated[tuple[str, ...], Field(min_length=2)], ...], Field(min_length=1)]


Family: TypeAlias = Annotated[
    Texts | Given | NumbersAround | LengthsAround | Matches | Lists | Files | Conversations,
    Field(discriminator="kind"),
]


class Inputs(Strict):
    """The inputs on which the flow that was left and the reference are compared.

    Attributes:
        derive: whether families are derived from the reference flow: texts of every kind, and what its conditions,
            patterns, numbers and separators suggest.
        families: families of inputs, beside those that are derived.
        without: traits that are left out, because the request leaves open what becomes of them.
        seed: another seed gives other inputs.
        compare: what must be equal: the outputs, or their lines in any order (`lines`).
        free: parts of an output, as patterns, in which the flows may differ.
        part: the part of an output that matters, as a pattern: only its first match in each is compared.
        branches: patterns that tell the branches of the flow apart; with any, an output must only be of the same
            branch as the reference's.
    """

    derive: Annotated[bool, Field(exclude_if=operator.not_)] = False
    families: Annotated[tuple[Family, ...], Field(exclude_if=operator.not_)] = ()
    without: Annotated[tuple[Trait, ...], Field(exclude_if=operator.not_)] = ()
    seed: Annotated[int, Field(exclude_if=operator.not_)] = 0
    compare: Annotated[Literal["outputs", "lines"], Field(exclude_if=lambda compare: compare == "outputs")] = "outputs"
    free: Annotated[tuple[Text, ...], Field(exclude_if=operator.not_)] = ()
    part: Annotated[Text | None, Field(exclude_if=operator.not_)] = None
    branches: Annotated[tuple[Text, ...], Field(exclude_if=operator.not_)] = ()

    @model_validator(mode="after")
    def _check(self) -> Inputs:
        if not self.derive and not self.families:
            raise ValueError("name families of inputs (families), or have them derived from the reference (derive)")
        part = () if self.part is None else (self.part,)
        for name, patterns in (("free", self.free), ("part", part), ("branches", self.branches)):
            for pattern in patterns:
                _compiled(pattern, name)
        if self.branches and (self.free or part):
            raise ValueError("with branches, nothing else is compared: leave out free and part")
        return self


def _compiled(pattern: str, name: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{name} is not a regular expression: {error}") from None
