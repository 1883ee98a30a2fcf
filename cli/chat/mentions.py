"""Mentions: `@` before a component on the canvas or one of the user's files."""

import re
from collections.abc import Iterable, Sequence

from flows.document import Flow

MENTION = re.compile(r"(?:(?<=\s)|^)@")
"""Where a mention begins."""


def read_mentions(text: str, canvas: Flow | None, files: Iterable[str]) -> tuple[str, Sequence[str]]:
    """A message with its mentions resolved: ids in quotes, which the assistant looks up, and the files it is about.

    Args:
        text: the message.
        canvas: the flow on the canvas.
        files: the user's files.

    Returns:
        The message for the assistant, and the mentioned files. What is neither a component nor a file stays as it is.
    """
    nodes = () if canvas is None else (node.id for node in canvas.nodes)
    known = {**dict.fromkeys(files, False), **dict.fromkeys(nodes, True)}
    names = sorted(known, key=len, reverse=True)
    parts, found, end = list[str](), list[str](), 0
    for mention in MENTION.finditer(text):
        name = next((name for name in names if _stands_at(text, name, mention.end())), None)
        if name is None or mention.start() < end:
            continue
        parts += [text[end : mention.start()], f"'{name}'" if known[name] else name]
        end = mention.end() + len(name)
        if not known[name]:
            found.append(name)
    return "".join([*parts, text[end:]]), tuple(dict.fromkeys(found))


def _stands_at(text: str, name: str, start: int) -> bool:
    after = text[start + len(name) : start + len(name) + 1]
    return text.startswith(name, start) and not (after.isalnum() or after in {"_", "-"})
