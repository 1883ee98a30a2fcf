"""Providers of language models: our prefix of each, its name in a stored flow, and other spellings of that name."""

from __future__ import annotations

from collections.abc import Mapping

STORED: Mapping[str, str] = {
    "openai": "OpenAI",
    "openai-chat": "OpenAI",
    "anthropic": "Anthropic",
    "google": "Google Generative AI",
    "groq": "Groq",
    "mistral": "Mistral",
    "openrouter": "OpenRouter",
    "azure": "Azure OpenAI",
    "bedrock": "Amazon Bedrock",
    "ollama": "Ollama",
    "openai-compatible": "OpenAI-compatible server",
    "watsonx": "IBM WatsonX",
}
"""The provider that a model field stores, by prefix. Two prefixes that name one provider lead back to the first."""

KNOWN_TO_LANGFLOW = frozenset(
    {"OpenAI", "Anthropic", "Google Generative AI", "Groq", "OpenRouter", "Azure OpenAI", "Ollama", "IBM WatsonX"}
)
"""The providers whose models Langflow's own model fields offer."""

_SPELLINGS: Mapping[str, str] = {
    "gemini": "google",
    "mistralai": "mistral",
    "mistral ai": "mistral",
    "open router": "openrouter",
    "azure openai": "azure",
    "azure ai foundry": "azure",
    "amazon bedrock": "bedrock",
    "aws bedrock": "bedrock",
    "openai compatible": "openai-compatible",
    "ibm watsonx.ai": "watsonx",
}
_PREFIXES: Mapping[str, str] = {
    **{name.lower(): prefix for prefix, name in reversed(STORED.items())},
    **_SPELLINGS,
    **{prefix: prefix for prefix in STORED},
}


def prefix_of(provider: str) -> str | None:
    """The prefix of a provider, however its name is spelt; None for an unknown one.

    Args:
        provider: a prefix, Langflow's name, or another spelling; case and surrounding space do not matter.
    """
    return _PREFIXES.get(" ".join(provider.split()).lower())


def stored_provider(provider: str) -> str:
    """The provider as a model field stores it; an unknown one stays as it is written."""
    prefix = prefix_of(provider)
    return provider.strip() if prefix is None else STORED[prefix]


def split_model(name: str) -> tuple[str, str] | None:
    """Split `provider:name` or `provider/name` into the prefix and the model's name; None for anything else.

    Args:
        name: such as `openai:gpt-4o-mini`, `OpenAI/gpt-4o-mini` or `openrouter:openai/gpt-4o-mini`.
    """
    for sign in (":", "/"):
        provider, found, rest = name.partition(sign)
        prefix = prefix_of(provider)
        if found and rest.strip() and prefix is not None:
            return prefix, rest.strip()
    return None
