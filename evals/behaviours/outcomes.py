"""What flows gave on the same input, and whether it is the same."""

from __future__ import annotations

import json
import operator
import re
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from evals.behaviours.families import Input, Inputs
from runtime.results import RunResult

CHARACTERS: Final = 4_000
"""How much of an output is kept."""
SHOWN: Final = 100
"""Characters of an output that a reason shows."""


class Outcome(BaseModel):
    """What one run gave.

    Attributes:
        outputs: the texts of the outputs that were reached, sorted: which of two comes first says nothing.
        unanswered: whether none of them is an answer in the chat.
        error: the code of the error in which it ended.
    """

    model_config = ConfigDict(frozen=True)

    outputs: Annotated[tuple[str, ...], Field(exclude_if=operator.not_)] = ()
    unanswered: Annotated[bool, Field(exclude_if=operator.not_)] = False
    error: Annotated[str | None, Field(exclude_if=operator.not_)] = None

    @classmethod
    def of(cls, result: RunResult) -> Outcome:
        """The outcome of a run."""
        if result.error is not None:
            return cls(error=result.error.code)
        texts = (
            value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
            for value in result.outputs.values()
            if value is not None
        )
        outputs = tuple(sorted(text[:CHARACTERS] for text in texts))
        return cls(outputs=outputs, unanswered=bool(outputs) and result.output is None)

    def __str__(self) -> str:
        if self.error is not None:
            return f"the error {self.error!r}"
        shown = (repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}…") for text in self.outputs)
        return f"{' and '.join(shown) or 'nothing'}{', but not in the chat' if self.unanswered else ''}"


class Behaviour(BaseModel):
    """One input, with what the flow that was left gave on it and what the reference gives.

    Attributes:
        given: by the flow that was left.
        wanted: by the reference.
    """

    model_config = ConfigDict(frozen=True)

    input: Input
    given: Outcome
    wanted: Outcome

    def __str__(self) -> str:
        return f"for {self.input} it gives {self.given}, and the reference {self.wanted}"


def agree(declared: Inputs, given: Outcome, wanted: Outcome) -> bool:
    """Whether two outcomes are the same by what the scenario compares; a reference that fails says nothing."""
    if wanted.error is not None:
        return True
    if given.error is not None or given.unanswered != wanted.unanswered:
        return False
    if declared.branches:
        return _branches(declared, given) == _branches(declared, wanted)
    return _compared(declared, given) == _compared(declared, wanted)


def _compared(declared: Inputs, outcome: Outcome) -> list[str]:
    texts = list(outcome.outputs)
    for pattern in declared.free:
        texts = [re.sub(pattern, "", text) for text in texts]
    if declared.part is not None:
        found = (re.search(declared.part, text) for text in texts)
        texts = ["" if part is None else part.group() for part in found]
    if declared.compare == "lines":
        texts = [line.strip() for text in texts for line in text.splitlines() if line.strip()]
    return sorted(texts)


def _branches(declared: Inputs, outcome: Outcome) -> list[list[str]]:
    """For each output, the patterns of branches that it matches."""
    return sorted([pattern for pattern in declared.branches if re.search(pattern, text)] for text in outcome.outputs)
