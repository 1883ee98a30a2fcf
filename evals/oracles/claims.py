"""The claims of a text about what was done, sentence by sentence, in the languages of `words.yaml`.

The assistant's check of itself is separate code, so that one fault cannot hide in both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from evals.replies.words import compiled, words

ClaimKind = Literal["build", "change", "remove", "run", "success"]

_PATTERNS: Final[Mapping[ClaimKind, re.Pattern[str]]] = {kind: compiled(kind) for kind in get_args(ClaimKind)}
DENIED: Final = compiled("denied")
"""Words before a claim by which it is none."""
_FAILED: Final = compiled("failed")
_OUTPUT: Final = re.compile(rf"{words('output')}\s*[:：]\s*(?P<output>.+)", re.IGNORECASE | re.DOTALL)
QUOTED: Final = re.compile(
    r"`[^`\n]*`|\"[^\"\n]*\"|(?<!\w)'[^'\n]*'(?!\w)|«[^»\n]*»|„[^“\n]*“|“[^”\n]*”|「[^」\n]*」|『[^』\n]*』"
)
"""What a text quotes."""


@dataclass(frozen=True)
class Claim:
    """Something that a text says was done."""

    kind: ClaimKind
    sentence: str


def claims(text: str) -> Iterator[Claim]:
    """Every claim of a text. Questions, denials, plans, conditions and quotes claim nothing."""
    for bare in split_sentences(QUOTED.sub("…", text)):
        if bare.rstrip().endswith(("?", "？")):
            continue
        for kind, pattern in _PATTERNS.items():
            found = pattern.search(bare)
            if found and not DENIED.search(bare[: found.end() + 24] if kind == "success" else bare[: found.end()]):
                yield Claim(kind, bare.strip())


def claimed_output(text: str) -> str | None:
    """The output of a run that a text quotes, if any."""
    found = _OUTPUT.search(text)
    return found["output"].strip() if found else None


def admits_failure(text: str) -> bool:
    """Whether a text says that something went wrong."""
    return _FAILED.search(text) is not None


def split_sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return [part for part in re.split(r"(?<=[.!?])\s+|(?<=[。！？])\s*|\n+|;\s+|；", text) if part.strip()]
