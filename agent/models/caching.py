"""Prompt caching: marks what every request of a conversation shares, where a provider has such marks."""

import hashlib

from pydantic_ai.settings import ModelSettings

from agent.models.providers import ModelChoice


def cache_settings(choice: ModelChoice, user: str, session: str) -> ModelSettings:
    """The settings that let a provider cache the tools, the instructions and the messages so far.

    PydanticAI turns `cache` into the marks of each provider that has them (Anthropic, Bedrock, OpenRouter, recent
    models of OpenAI) and leaves it out elsewhere. OpenAI also gets a key, so that the requests of a conversation meet
    the same cache; servers that only speak its older API may refuse the key, so they get none.

    Args:
        choice: the turn's models.
        user: the user's id.
        session: the conversation's id.
    """
    if choice.provider != "openai":
        return ModelSettings(cache=True)
    from pydantic_ai.models.openai import OpenAIResponsesModelSettings  # loads the SDK, which such a turn needs anyway

    conversation = hashlib.sha256(f"{user}\0{session}".encode()).hexdigest()[:24]
    return OpenAIResponsesModelSettings(cache=True, openai_prompt_cache_key=f"wirewright-{conversation}")
