"""The model that a request names."""

from __future__ import annotations

from agent.assistant import Assistant
from agent.models.providers import DEMO, PROVIDERS
from flows.fields.model_providers import prefix_of
from runtime.files.folders import LOCAL_USER
from server.errors import ApiError

_NAMES_WITH_COLONS = frozenset({"ollama", "openai-compatible"})
"""Providers whose own model names may look like another provider's, such as Ollama's `mistral:7b`."""


async def wanted_model(
    assistant: Assistant, provider: str | None, name: str | None, user: str = LOCAL_USER
) -> str | None:
    """The model that a request names, as `provider:name`, a provider alone, `demo`, or None for the default.

    Args:
        assistant: knows the default provider.
        provider: the request's `provider`; case does not matter.
        name: the request's `model_name`; alone, it is a model of the default provider, or `provider:name` itself.
        user: whose default provider it is.

    Raises:
        ApiError: 400, the two do not fit together.
        ModelChoiceError: the default itself is unavailable.
    """
    provider, name = (provider or "").strip().lower(), (name or "").strip()
    if not name:
        return provider or None
    if provider == DEMO or (not provider and name == DEMO):
        if name == DEMO:
            return DEMO
        raise ApiError(400, "unknown_model", "The demo planner has no models.", "Leave model_name out.", "$.model_name")
    named, prefix = _named(name), prefix_of(provider) or provider
    if named is not None and prefix and prefix not in {named[0], *_NAMES_WITH_COLONS}:
        message = f"model_name is a model of {named[0]}, but provider is {prefix[:60]}."
        raise ApiError(400, "model_mismatch", message, "Send one of the two, or make them agree.", "$.model_name")
    if prefix:
        return f"{prefix}:{named[1] if named is not None and named[0] == prefix else name}"
    if named is not None:
        return ":".join(named)
    default = await assistant.choose(None, user)
    if default.is_demo:
        raise ApiError(
            400,
            "no_provider",
            "No model provider is configured, so model_name needs a provider.",
            "Set a provider's API key and name the provider, or leave model_name out to use the demo planner.",
            "$.model_name",
        )
    return f"{default.provider}:{name}"


def _named(name: str) -> tuple[str, str] | None:
    """The provider and the model of a name written `provider:name`; None for a name alone."""
    provider, sign, model = name.partition(":")
    prefix = prefix_of(provider)
    if prefix is None or prefix not in PROVIDERS or not (sign and model.strip()):
        return None
    return prefix, model.strip()
