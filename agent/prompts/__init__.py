"""The prompts: one Markdown file per purpose, each read once."""

from functools import cache
from importlib.resources import files


@cache
def prompt(name: str) -> str:
    """Return the text of `agent/prompts/<name>.md`."""
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()
