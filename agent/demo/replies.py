"""What the planner says, in the user's language: the texts of `replies.yaml`."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from agent.language.shipped_yaml import load_shipped

DECLINES = (
    "danger",
    "secret",
    "off_topic",
    "unable",
    "which_change",
    "which_model",
    "no_place",
    "empty",
    "stopped",
    "about_flow",
    "try_it",
    "file_question",
)
"""The replies that say that nothing was done."""


def reply(key: str, language: str, /, **values: object) -> str:
    """A reply; a hole named `abilities` is filled with what the planner can do.

    Args:
        key: its name.
        language: its language.
        **values: what fills its holes.
    """
    texts = _replies()[key]
    if "{abilities}" in texts[language]:
        values = {"abilities": _replies()["abilities"][language], **values}
    return texts[language].format(**values).strip()


@cache
def _replies() -> Mapping[str, Mapping[str, str]]:
    return load_shipped(Path(__file__).with_name("replies.yaml").read_text(encoding="utf-8"))
