"""What flows gave on the same input, and whether it is the same."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Iterable, Mapping
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
        written: the texts that it wrote into the user's files, by path; only where the scenario expects files.
    """

    model_config = ConfigDict(frozen=True)

    outputs: Annotated[tuple[str, ...], Field(exclude_if=operator.not_)] = ()
    unanswered: Annotated[bool, Field(exclude_if=operator.not_)] = False
    error: Annotated[str | None, Field(exclude_if=operator.not_)] = None
    written: Annotated[dict[str, str], Field(exclude_if=operator.not_)] = Field(default_factory=dict[str, str])

    @classmethod
    def of(cls, result: RunResult, written: Mapping[str, str] | None = None) -> Outcome:
        """The outcome of a run.

        Args:
            written: what it wrote into the user's files, content by path.
        """
        if result.error is not None:
            return cls(error=result.error.code)
        texts = (
            value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
            for value in result.outputs.values()
            if value is not None
        )
        outputs = tuple(sorted(text[:CHARACTERS] for text in texts))
        kept = {path: text[:CHARACTERS] for path, text in sorted((written or {}).items())}
        return cls(outputs=outputs, unanswered=bool(outputs) and result.output is None, written=kept)

    def __str__(self) -> str:
        if self.error is not None:
            return f"the error {self.error!r}"
        shown = " and ".join(_shown(text) for text in self.outputs) or "nothing"
        files = "".join(f", and {_shown(text)} in {path}" for path, text in self.written.items())
        return f"{shown}{', but not in the chat' if self.unanswered else ''}{files}"


def _shown(text: str) -> str:
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}…")


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
    outputs = _compared(declared, given.outputs) == _compared(declared, wanted.outputs)
    return outputs and _freed(declared, given.written.values()) == _freed(declared, wanted.written.values())


def _freed(declared: Inputs, given: Iterable[str]) -> list[str]:
    """Texts without what may differ, in an order of their own: how files are called, probes and expectations say."""
    texts = list(given)
    for pattern in declared.free:
        texts = [re.sub(pattern, "", text) for text in texts]
    return sorted(texts)


def _compared(declared: Inputs, outputs: Iterable[str]) -> list[str]:
    texts = _freed(declared, outputs)
    if declared.part is not None:
        found = (re.search(declared.part, text) for text in texts)
        texts = ["" if part is None else part.group() for part in found]
    if declared.compare == "lines":
        texts = [line.strip() for text in texts for line in text.splitlines() if line.strip()]
    return sorted(texts)


def _branches(declared: Inputs, outcome: Outcome) -> list[list[str]]:
    """For each output, the patterns of branches that it matches."""
    return sorted([pattern for pattern in declared.branches if re.search(pattern, text)] for text in outcome.outputs)
