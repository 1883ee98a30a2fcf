"""The manual from which the assistant answers questions about itself: one Markdown file per topic."""

from functools import cache
from importlib.resources import files
from typing import Literal, TypeAlias, get_args

Topic: TypeAlias = Literal["flows", "changing", "running", "approvals", "files", "components", "models", "command"]

TOPICS: tuple[Topic, ...] = get_args(Topic)
"""Every topic that has a page."""


@cache
def page(topic: str) -> str:
    """Return the page of a topic.

    Raises:
        KeyError: there is no such topic.
    """
    if topic not in TOPICS:
        raise KeyError(topic)
    return files(__name__).joinpath(f"{topic}.md").read_text(encoding="utf-8").strip()
