"""The prompts, one Markdown file a purpose, read once."""

from functools import cache
from importlib.resources import files
from string import Template


@cache
def prompt(name: str) -> str:
    """The text of `agent/prompts/<name>.md`."""
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()


def filled(name: str, **values: str) -> str:
    """A prompt with its `$placeholders` filled in."""
    return Template(prompt(name)).substitute(values)
