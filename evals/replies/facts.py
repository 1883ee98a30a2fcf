"""The facts that an answer must state: declared values, with which everything of their kind in the answer agrees."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator
from typing import Annotated, Final

from pydantic import Field, model_validator

from evals.expectation import Strict, Text
from evals.replies.clauses import denies, is_denied, own_words, sentences
from evals.replies.numbers import counted

_UNSPACED: Final = re.compile(r"[\u3005\u3040-\u30ff\u3400-\u9fff]")
_Several = Annotated[tuple[Text, ...], Field(exclude_if=operator.not_)]


class StatedFact(Strict):
    """A fact that an answer must state, in whatever words.

    Attributes:
        number: a number; every number that counts the same thing, or stands alone, must be it.
        of: what the number counts, in the words in which it may be named: `prompt templates`, `templates`.
        value: a value, as text. With signs of code in it, capitals count.
        also: other ways to write the value.
        rivals: values of the same kind: none of them may be stated too, unless it is denied.
        denied: whether the answer must say that there is no such thing, or that it is not so.
    """

    number: Annotated[float | None, Field(exclude_if=lambda number: number is None)] = None
    of: _Several = ()
    value: Annotated[Text | None, Field(exclude_if=operator.not_)] = None
    also: _Several = ()
    rivals: _Several = ()
    denied: Annotated[bool, Field(exclude_if=operator.not_)] = False

    @model_validator(mode="after")
    def _check(self) -> StatedFact:
        if (self.number is None) == (self.value is None):
            raise ValueError("give either number or value")
        if self.number is None and self.of:
            raise ValueError("of says what a number counts: give the number")
        if self.number is not None and (self.also or self.rivals or self.denied):
            raise ValueError("a number has neither also, rivals nor denied")
        if self.denied and self.rivals:
            raise ValueError("what is denied has no rivals")
        return self

    def fault(self, answer: str, message: str = "") -> str:
        """Why an answer does not state the fact; empty if it does.

        Args:
            answer: the answer's text.
            message: the user's message: what the answer only repeats of it states nothing.
        """
        own = own_words(answer, message)
        if self.number is not None:
            return self._number_fault(own, self.number)
        return self._denial_fault(own) if self.denied else self._value_fault(own)

    def __str__(self) -> str:
        if self.number is not None:
            return f"{self.number:g} {self.of[0] if self.of else ''}".strip()
        return f"no {self.value!r}" if self.denied else repr(self.value)

    @property
    def example(self) -> str:
        """The fact in a few words, for a right answer that nobody wrote."""
        return f"{self}." if self.number is not None else f"{'not ' if self.denied else ''}{self.value}"

    def _number_fault(self, answer: str, wanted: float) -> str:
        found = counted(answer, self.of)
        if not any(value == wanted and not denied for value, denied in found):
            return f"it does not say that there are {self}"
        other = next((value for value, denied in found if (value == wanted) == denied), None)
        return "" if other is None else f"it says {wanted:g} and {other:g}" if other != wanted else f"it denies {self}"

    def _value_fault(self, answer: str) -> str:
        mentions = [is_denied(answer, *span) for name in self._names() for span in _mentions(answer, name)]
        if not any(not denied for denied in mentions):
            return f"it does not state {self}"
        if sum(mentions) >= len(mentions) - sum(mentions):
            return f"it states {self} and denies it"
        rival = next(
            (name for name in self.rivals if any(not is_denied(answer, *at) for at in _mentions(answer, name))), None
        )
        return "" if rival is None else f"it states {self} and also {rival!r}"

    def _denial_fault(self, answer: str) -> str:
        parts = sentences(answer)
        named = [at for at, part in enumerate(parts) if any(any(_mentions(part, name)) for name in self._names())]
        if not named:
            return f"it does not speak of {self.value!r}"
        around = {near for at in named for near in (at - 1, at, at + 1) if 0 <= near < len(parts)}
        return "" if any(denies(parts[at]) for at in around) else f"it does not say that there is {self}"

    def _names(self) -> tuple[str, ...]:
        return (*(() if self.value is None else (self.value,)), *self.also)


def _mentions(text: str, value: str) -> Iterator[tuple[int, int]]:
    """Where a value stands in a text, as a word of its own where its language separates words."""
    begin = r"(?<!\w)" if _separated(value[0]) else ""
    end = r"(?!\w)" if _separated(value[-1]) else ""
    flags = 0 if re.search(r"[\[\]{}\\^$<>=#]", value) else re.IGNORECASE
    for found in re.finditer(f"{begin}{re.escape(value)}{end}", text, flags):
        yield found.span()


def _separated(sign: str) -> bool:
    return sign.isalnum() and not _UNSPACED.match(sign)
