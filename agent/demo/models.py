"""Models that a message names, and the one that a built flow gets when it names none."""

import re

MODEL = "openai:gpt-4o-mini"
"""The model that a built flow names when the user names none; a key for it is the user's to set."""

_NAMED = re.compile(
    r"\b(?P<provider>openai|anthropic|google|groq|mistral|ollama)[:/](?P<model>[\w.:-]*\w)"
    r"|\b(?P<bare>(?:gpt|o\d|claude|gemini|mistral|llama)-?[\d][\w.:-]*\w|(?:claude|gemini|mistral)-[\w.-]*\w)",
    re.IGNORECASE,
)
_HOMES = {"gpt": "openai", "o": "openai", "claude": "anthropic", "gemini": "google", "mistral": "mistral"}


def model_named(text: str) -> str | None:
    """The model that a text names, as `provider:name`, or None."""
    said = _NAMED.search(text)
    if said is None:
        return None
    if said["provider"]:
        return f"{said['provider'].lower()}:{said['model']}"
    bare = said["bare"].lower()
    home = next((provider for start, provider in _HOMES.items() if bare.startswith(start)), None)
    return None if home is None else f"{home}:{bare}"
