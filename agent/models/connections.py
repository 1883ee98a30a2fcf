"""From a choice to a client: the models of a provider, with its SDK's own retries off, since the chain decides.

Imports a provider's SDK only when one of its models is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from agent.errors import ModelChoiceError
from agent.models.providers import PROVIDERS

if TYPE_CHECKING:
    from pydantic_ai.embeddings import EmbeddingModel
    from pydantic_ai.models import Model
    from pydantic_ai.providers import Provider

SECONDS = 180.0
"""How long Bedrock may be silent; the other providers' clients have PydanticAI's limits."""

OPENAI = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com"
GROQ = "https://api.groq.com"

_KEYLESS = "no-key"
"""What is sent to a server that asks for no key, because the SDK insists on one."""

_KINDS = {"openai-compatible": "openai-chat"}
"""PydanticAI's name for the wire, where it is not the provider's own."""


def connect(
    provider: str,
    name: str,
    environment: Mapping[str, str] | None = None,
    *,
    client: Callable[[], Provider[Any]] | None = None,
) -> Model:
    """A model of an available provider.

    Args:
        provider: a name of `PROVIDERS`.
        name: the model's name.
        environment: where its key and address are looked for; the process's own when None.
        client: gives what the model speaks through; None makes a client of its own.

    Raises:
        ModelChoiceError: the provider cannot have a model of this name.
    """
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model

    try:
        kind = _KINDS.get(provider, provider)
        return infer_model(f"{kind}:{name}", lambda _: client() if client else client_of(provider, environment))
    except (UserError, ValueError):
        title = PROVIDERS[provider].title
        raise ModelChoiceError.of(
            "unknown_model", f"{title} has no model of the name {name[:80]!r}.", "Check the model's name."
        ) from None


def connect_embedding(provider: str, name: str, environment: Mapping[str, str] | None = None) -> EmbeddingModel:
    """An embedding model of an available provider.

    Args:
        provider: a name of `PROVIDERS`.
        name: the model's name.
        environment: where its key and address are looked for; the process's own when None.

    Raises:
        ModelChoiceError: the provider makes no embeddings.
    """
    from pydantic_ai.embeddings import infer_embedding_model
    from pydantic_ai.exceptions import UserError

    kind = "openai" if provider in {"openai-chat", "openai-compatible"} else provider
    try:
        return infer_embedding_model(f"{kind}:{name}", provider_factory=lambda _: client_of(provider, environment))
    except (ValueError, UserError):  # PydanticAI knows no embeddings of this provider
        raise ModelChoiceError.of(
            "no_embeddings", f"{provider} makes no embeddings.", "Choose an embedding model of another provider."
        ) from None


def client_of(name: str, environment: Mapping[str, str] | None) -> Provider[Any]:
    """The client of a provider, which any of its models can speak through.

    Args:
        name: a name of `PROVIDERS`, which is available.
        environment: where its key and address are looked for; the process's own when None.
    """
    values = os.environ if environment is None else environment
    return _PROVIDERS[name]({key: value.strip() for key, value in values.items() if value.strip()})


def _without_retries(provider: Provider[Any]) -> Provider[Any]:
    """A provider whose SDK does not try again on its own."""
    provider.client.max_retries = 0
    return provider


def _openai(values: Mapping[str, str]) -> Provider[Any]:
    from pydantic_ai.providers.openai import OpenAIProvider

    address = values.get("OPENAI_BASE_URL") or OPENAI
    return _without_retries(OpenAIProvider(api_key=values.get("OPENAI_API_KEY") or _KEYLESS, base_url=address))


def _compatible(values: Mapping[str, str]) -> Provider[Any]:
    from pydantic_ai.providers.openai import OpenAIProvider

    key = values.get("OPENAI_COMPATIBLE_API_KEY") or _KEYLESS
    return _without_retries(OpenAIProvider(api_key=key, base_url=values["OPENAI_COMPATIBLE_BASE_URL"]))


def _openrouter(values: Mapping[str, str]) -> Provider[Any]:
    from pydantic_ai.providers.openrouter import OpenRouterProvider

    provider = OpenRouterProvider(api_key=values["OPENROUTER_API_KEY"])
    if "OPENROUTER_BASE_URL" in values:
        provider.client.base_url = values["OPENROUTER_BASE_URL"]
    return _without_retries(provider)


def _ollama(values: Mapping[str, str]) -> Provider[Any]:
    from pydantic_ai.providers.ollama import OllamaProvider

    key = values.get("OLLAMA_API_KEY") or _KEYLESS
    return _without_retries(OllamaProvider(api_key=key, base_url=values["OLLAMA_BASE_URL"]))


def _azure(values: Mapping[str, str]) -> Provider[Any]:
    from pydantic_ai.providers.azure import AzureProvider

    endpoint, key = values["AZURE_OPENAI_ENDPOINT"].rstrip("/"), values["AZURE_OPENAI_API_KEY"]
    version = values.get("OPENAI_API_VERSION")
    if version and not endpoint.endswith("/v1"):
        return _without_retries(AzureProvider(azure_endpoint=endpoint, api_key=key, api_version=version))
    address = (
        endpoint if endpoint.endswith("/v1") else f"{endpoint}/openai/v1"
    )  # every resource has it, without a version
    return _without_retries(AzureProvider(azure_endpoint=address, api_key=key))


def _anthropic(values: Mapping[str, str]) -> Provider[Any]:
    from pydantic_ai.providers.anthropic import AnthropicProvider

    address = values.get("ANTHROPIC_BASE_URL") or ANTHROPIC
    return _without_retries(AnthropicProvider(api_key=values["ANTHROPIC_API_KEY"], base_url=address))


def _google(values: Mapping[str, str]) -> Provider[Any]:
    from pydantic_ai.providers.google import GoogleProvider

    key = values.get("GOOGLE_API_KEY") or values["GEMINI_API_KEY"]
    return GoogleProvider(api_key=key, base_url=values.get("GOOGLE_GEMINI_BASE_URL"))


def _groq(values: Mapping[str, str]) -> Provider[Any]:
    from pydantic_ai.providers.groq import GroqProvider

    return _without_retries(GroqProvider(api_key=values["GROQ_API_KEY"], base_url=values.get("GROQ_BASE_URL") or GROQ))


def _mistral(values: Mapping[str, str]) -> Provider[Any]:
    from pydantic_ai.providers.mistral import MistralProvider

    return MistralProvider(api_key=values["MISTRAL_API_KEY"], base_url=values.get("MISTRAL_BASE_URL"))


def _bedrock(values: Mapping[str, str]) -> Provider[Any]:
    from pydantic_ai.providers.bedrock import BedrockProvider

    region = values.get("AWS_REGION") or values["AWS_DEFAULT_REGION"]
    base_url = values.get("AWS_ENDPOINT_URL_BEDROCK_RUNTIME")
    token = values.get("AWS_BEARER_TOKEN_BEDROCK")
    if token:
        return BedrockProvider(api_key=token, region_name=region, base_url=base_url, aws_read_timeout=SECONDS)
    return BedrockProvider(
        aws_access_key_id=values["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=values["AWS_SECRET_ACCESS_KEY"],
        aws_session_token=values.get("AWS_SESSION_TOKEN"),
        region_name=region,
        base_url=base_url,
        aws_read_timeout=SECONDS,
    )


_PROVIDERS: Mapping[str, Callable[[Mapping[str, str]], Provider[Any]]] = {
    "openai": _openai,
    "openai-chat": _openai,
    "anthropic": _anthropic,
    "google": _google,
    "groq": _groq,
    "mistral": _mistral,
    "openrouter": _openrouter,
    "azure": _azure,
    "bedrock": _bedrock,
    "ollama": _ollama,
    "openai-compatible": _compatible,
}
