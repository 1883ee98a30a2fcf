"""The manual that the assistant answers questions about itself from: one Markdown file a topic."""

from functools import cache
from importlib.resources import files

TOPICS = ("flows", "changing", "running", "approvals", "files", "components", "models", "command")
"""What there is to read."""


@cache
def page(topic: str) -> str:
    """One topic.

    Args:
        topic: one of `TOPICS`.

    Raises:
        KeyError: there is no such topic.
    """
    if topic not in TOPICS:
        raise KeyError(topic)
    return files(__name__).joinpath(f"{topic}.md").read_text(encoding="utf-8").strip()
