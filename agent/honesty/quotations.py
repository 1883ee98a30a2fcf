"""What an answer quotes: outputs that no run gave, and names."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from agent.honesty.acts import sentences
from agent.language.replies import plain_reply
from agent.language.requests import asks_to_place, rewind_language
from tools.effects import RunEffect

LETTERS = 3
"""A shorter quotation is no output."""

_QUOTE = re.compile(
    r"```.*?```|`[^`\n]+`|\"[^\"\n]+\"|“[^”\n]+”|„[^“”\n]+[“”]|«[^»\n]+»|「[^」\n]+」|『[^』\n]+』"
    r"|(?m:^\s*>.+(?:\n\s*>.+)*)",
    re.DOTALL,
)
_NAME = re.compile(r"[A-Z][A-Za-z]+(?: [A-Z][A-Za-z]+){1,2}|[\w./:-]*[_./:\d-][\w./:-]*|[A-Z0-9_]+|\w*[a-z][A-Z]\w*")
_TYPE = re.compile(r"`([A-Z]\w{2,})`")
_ARROW = re.compile(r"(?:→|⇒|->|=>|=)\s*$")


def plain(text: str) -> str:
    """A text as quotations are compared: its letters and digits in lower case."""
    return " ".join(re.findall(r"[\w]+", text.casefold()))


def unquoted(text: str) -> str:
    """A text without what it quotes."""
    return _QUOTE.sub(" ", text)


def quoted_types(sentence: str) -> list[str]:
    """The names between backquotes that look like component types."""
    return _TYPE.findall(sentence)


def is_type(name: str, known: Iterable[str]) -> bool:
    """Whether a name is one of a type, or of a component of that type."""
    return any(name == one or one.startswith(f"{name}-") for one in known)


def _is_command(words: str) -> bool:
    """Whether words are what the user may say next: yes or no, "go on", "undo"."""
    return plain_reply(words) is not None or rewind_language(words) is not None or asks_to_place(words)


def unsupported_quotes(answer: str, runs: Sequence[RunEffect], told: Callable[[], str]) -> Iterator[str]:
    """What an answer about runs that went well quotes although no run gave it and nobody wrote it.

    Args:
        answer: the answer.
        runs: the runs that were made for the user.
        told: returns what the answer may quote, as `plain` text; not called for an answer without quotations.
    """
    if not runs or runs[-1].error is not None:
        return
    outputs = [plain(run.output) for run in runs if run.output]
    quotes_output = any(output in plain(answer) for output in outputs)
    for sentence in sentences(answer):
        for quote in _QUOTE.finditer(sentence):
            before = sentence[: quote.start()]
            if (quotes_output and not _ARROW.search(before)) or "?" in sentence[quote.end() :]:
                continue
            inner = quote.group().strip('`"“”„«»「」『』> \n')
            written = plain(inner)
            if len(written) < LETTERS or _NAME.fullmatch(inner) or written in told() or _is_command(inner):
                continue
            if not any(len(output) >= LETTERS and output in written for output in outputs):
                yield inner
