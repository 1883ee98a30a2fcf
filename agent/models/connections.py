"""Connects to the models of a provider, without its SDK's own retries, since the chain decides about those.

A provider's SDK is imported only when one of its models is used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from agent.errors import ModelChoiceError
from agent.models.http_clients import http_client_for
from agent.models.providers import PROVIDERS

if TYPE_CHECKING:
    from pydantic_ai.embeddings import EmbeddingModel
    from pydantic_ai.models import Model
    from pydantic_ai.providers import Provider

BEDROCK_SECONDS = 180.0
"""The read timeout of Bedrock; PydanticAI sets those of the other providers."""

OPENAI = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com"
GROQ = "https://api.groq.com"

NO_KEY = "no-key"
"""The key sent to a server that needs none, because the SDKs require one."""

_CHAT = frozenset({"openai-chat", "openrouter", "azure", "ollama"})
"""PydanticAI's names of providers that speak OpenAI's Chat Completions, for which it makes up how an answer ended."""

_KINDS = {"openai-compatible": "openai-chat"}
"""PydanticAI's names of providers, where they differ from ours."""


def connect(
    provider: str,
    name: str,
    environment: Mapping[str, str] | None = None,
    *,
    client: Callable[[], Provider[Any]] | None = None,
) -> Model:
    """Connect to a model of an available provider.

    Args:
        provider: a name of `PROVIDERS`.
        name: the model's name.
        environment: holds its key and address; None uses the process's own.
        client: returns the client to use, whose maker closes it; None makes one, which closes its connections whenever
            the block of the model (`async with`) is left.

    Raises:
        ModelChoiceError: the provider cannot have a model of this name.
    """
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model

    from agent.models.complete import CompleteAnswers

    try:
        kind = _KINDS.get(provider, provider)
        own = None if client else http_client_for(provider)
        model = infer_model(f"{kind}:{name}", lambda _: client() if client else client_of(provider, environment, own))
    except (UserError, ValueError):
        title = PROVIDERS[provider].title
        raise ModelChoiceError.of(
            "unknown_model", f"{title} has no model named {name[:80]!r}.", "Check the model's name."
        ) from None
    if kind in _CHAT:
        finished = {**model.profile, "openai_chat_streaming_requires_finish_reason": True}
        vars(model)["profile"] = finished  # where its cached property is kept
    return CompleteAnswers(model, own)


def connect_embedding(provider: str, name: str, environment: Mapping[str, str] | None = None) -> EmbeddingModel:
    """Connect to an embedding model of an available provider.

    Args:
        provider: a name of `PROVIDERS`.
        name: the model's name.
        environment: holds its key and address; None uses the process's own.

    Raises:
        ModelChoiceError: the provider has no embedding models.
    """
    from pydantic_ai.embeddings import infer_embedding_model
    from pydantic_ai.exceptions import UserError

    kind = "openai" if provider in {"openai-chat", "openai-compatible"} else provider
    try:
        http_client = http_client_for(provider)
        return infer_embedding_model(
            f"{kind}:{name}", provider_factory=lambda _: client_of(provider, environment, http_client)
        )
    except (ValueError, UserError):  # PydanticAI has no embeddings of this provider
        raise ModelChoiceError.of(
            "no_embeddings",
            f"{provider} does not provide embeddings.",
            "Choose an embedding model of another provider.",
        ) from None


def client_of(name: str, environment: Mapping[str, str] | None, http_client: Any) -> Provider[Any]:
    """Make the client of a provider, which all of its models share.

    Args:
        name: a name of `PROVIDERS`, which must be available.
        environment: holds its key and address; None uses the process's own.
        http_client: sends its requests; one of `http_client_for`, made for this provider, which the caller closes.
    """
    from pydantic_ai.providers import infer_provider_class

    values = os.environ if environment is None else environment
    values = {key: value.strip() for key, value in values.items() if value.strip()}
    make: Callable[..., Provider[Any]] = infer_provider_class(_KINDS.get(name, name))
    ours = {} if http_client is None else {"http_client": http_client}
    provider = make(**_ARGUMENTS[name](values), **ours)
    if name == "openrouter" and "OPENROUTER_BASE_URL" in values:
        provider.client.base_url = values["OPENROUTER_BASE_URL"]
    if hasattr(provider.client, "max_retries"):  # SDKs that retry by themselves
        provider.client.max_retries = 0
    return provider


def _azure(values: Mapping[str, str]) -> dict[str, Any]:
    endpoint, version = values["AZURE_OPENAI_ENDPOINT"].rstrip("/"), values.get("OPENAI_API_VERSION")
    arguments = {"api_key": values["AZURE_OPENAI_API_KEY"]}
    if endpoint.endswith("/v1"):
        return {**arguments, "azure_endpoint": endpoint}
    if version:
        return {**arguments, "azure_endpoint": endpoint, "api_version": version}
    return {**arguments, "azure_endpoint": f"{endpoint}/openai/v1"}  # every resource has this address


def _bedrock(values: Mapping[str, str]) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "region_name": values.get("AWS_REGION") or values["AWS_DEFAULT_REGION"],
        "base_url": values.get("AWS_ENDPOINT_URL_BEDROCK_RUNTIME"),
        "aws_read_timeout": BEDROCK_SECONDS,
    }
    if "AWS_BEARER_TOKEN_BEDROCK" in values:
        return {**arguments, "api_key": values["AWS_BEARER_TOKEN_BEDROCK"]}
    # PydanticAI and boto3 would take a bearer token of the process's environment instead of the keys.
    import boto3
    from botocore.config import Config

    session: Any = boto3.Session(
        aws_access_key_id=values["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=values["AWS_SECRET_ACCESS_KEY"],
        aws_session_token=values.get("AWS_SESSION_TOKEN"),
        region_name=arguments["region_name"],
    )
    config = Config(read_timeout=BEDROCK_SECONDS, signature_version="v4")
    return {"bedrock_client": session.client("bedrock-runtime", config=config, endpoint_url=arguments["base_url"])}


def _google(values: Mapping[str, str]) -> dict[str, Any]:
    key = values.get("GOOGLE_API_KEY") or values["GEMINI_API_KEY"]
    return {"api_key": key, "base_url": values.get("GOOGLE_GEMINI_BASE_URL")}


def _key_and_address(prefix: str, address: str | None = None) -> Callable[[Mapping[str, str]], dict[str, Any]]:
    """Read `…_API_KEY` and `…_BASE_URL`; a missing key is sent as `NO_KEY`."""
    return lambda values: {
        "api_key": values.get(f"{prefix}_API_KEY", NO_KEY),
        "base_url": values.get(f"{prefix}_BASE_URL", address),
    }


_ARGUMENTS: Mapping[str, Callable[[Mapping[str, str]], dict[str, Any]]] = {
    "openai": _key_and_address("OPENAI", OPENAI),
    "openai-chat": _key_and_address("OPENAI", OPENAI),
    "anthropic": _key_and_address("ANTHROPIC", ANTHROPIC),
    "google": _google,
    "groq": _key_and_address("GROQ", GROQ),
    "mistral": _key_and_address("MISTRAL"),
    "openrouter": lambda values: {"api_key": values["OPENROUTER_API_KEY"]},
    "azure": _azure,
    "bedrock": _bedrock,
    "ollama": _key_and_address("OLLAMA"),
    "openai-compatible": _key_and_address("OPENAI_COMPATIBLE"),
}
