"""Which models are there: every provider and why it is configured or not, and whether a model really answers."""

import asyncio
from collections.abc import Mapping
from time import perf_counter
from typing import Literal

from pydantic import BaseModel, ConfigDict

from agent.errors import ModelChoiceError, explain
from agent.models.clients import Clients
from agent.models.providers import PROVIDERS, ModelChoice, ProviderInfo, address_refusal, choose
from agent.turn.result import TurnError

PROBE = "Answer with the word ok."
"""What a tested model is asked."""

PROBE_TOKENS = 256
"""The most tokens that a tested model may answer with; enough for one that thinks first."""

PROBE_SECONDS = 30.0
"""How long a tested model may take."""


class VariableSource(BaseModel):
    """A variable that a provider reads, and where its value comes from; never the value."""

    model_config = ConfigDict(frozen=True)

    name: str
    source: Literal["stored", "environment"]


class ProviderStatus(BaseModel):
    """One provider.

    Attributes:
        name: its prefix in `provider:name`.
        display_name: its name for people.
        configured: whether it can serve.
        why: what makes it available, or what to set.
        variables: its variables that have a value.
        models: the models that it offers by itself, preferred first; empty where only the account knows the names.
        default: whether it serves what names no model.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    display_name: str
    configured: bool
    why: str
    variables: list[VariableSource]
    models: list[str]
    default: bool


class Overview(BaseModel):
    """Every provider, and the default.

    Attributes:
        default: the model that serves what names none, as `provider:name`, or `demo`; None if it is unavailable.
        error: why the default is unavailable.
        providers: all providers, in the order in which a default is chosen.
    """

    model_config = ConfigDict(frozen=True)

    default: str | None
    error: TurnError | None = None
    providers: list[ProviderStatus]


class ModelTest(BaseModel):
    """Whether a model answered a tiny request.

    Attributes:
        model: as `provider:name`.
        ok: whether it answered.
        answered_by: the name that its provider gave to what answered.
        seconds: how long it took.
        error: why it did not answer.
    """

    model_config = ConfigDict(frozen=True)

    model: str
    ok: bool
    answered_by: str | None = None
    seconds: float
    error: TurnError | None = None


def overview(
    default: str | None, environment: Mapping[str, str], stored: Mapping[str, frozenset[str]] | None = None
) -> Overview:
    """Say which providers are configured, why, and which model is the default.

    Args:
        default: the configured model, as in `WIREWRIGHT_MODEL`.
        environment: the variables, the stored ones among them.
        stored: the names of the stored variables, by provider.
    """
    choice, error = None, None
    try:
        choice = choose(None, default, environment)
    except ModelChoiceError as refused:
        error = refused.error
    own = None if choice is None else choice.provider
    return Overview(
        default=None if choice is None else ":".join((choice.provider, *choice.names[:1])),
        error=error,
        providers=[
            _status(info, environment, (stored or {}).get(info.name, frozenset()), default=info.name == own)
            for info in PROVIDERS.values()
        ],
    )


def _status(
    info: ProviderInfo, environment: Mapping[str, str], stored: frozenset[str], *, default: bool
) -> ProviderStatus:
    given = [name for name in info.variables if environment.get(name, "").strip()]
    configured = info.available(environment)
    refusal = address_refusal(info, environment)
    if refusal is not None:
        why = f"{refusal.message} {refusal.fix}"
    elif configured:
        complete = next(names for names in info.variable_sets if set(names) <= set(given))
        why = f"{' and '.join(complete)} {'is' if len(complete) == 1 else 'are'} set"
    else:
        closest = max(info.variable_sets, key=lambda names: len(set(names) & set(given)))
        why = f"set {' and '.join(name for name in closest if name not in given)}"
    return ProviderStatus(
        name=info.name,
        display_name=info.title,
        configured=configured,
        why=why,
        variables=[VariableSource(name=name, source="stored" if name in stored else "environment") for name in given],
        models=list(info.models),
        default=default,
    )


def models_to_test(found: Overview) -> list[str]:
    """The default, and the newest model of every other configured provider that offers one by itself."""
    own = [] if found.default is None or ":" not in found.default else [found.default]
    others = [f"{one.name}:{one.models[0]}" for one in found.providers if one.configured and one.models]
    return list(dict.fromkeys([*own, *(name for name in others if own == [] or not _same_provider(name, own[0]))]))


def _same_provider(one: str, other: str) -> bool:
    return one.partition(":")[0] == other.partition(":")[0]


async def try_models(names: list[str], clients: Clients, environment: Mapping[str, str]) -> list[ModelTest]:
    """Send each model one tiny request, all at the same time.

    Args:
        names: models as `provider:name`; a provider alone is its newest model.
        clients: connects to the models.
        environment: the variables of the providers.
    """
    return list(await asyncio.gather(*(_tested(name, clients, environment) for name in names)))


async def _tested(name: str, clients: Clients, environment: Mapping[str, str]) -> ModelTest:
    from pydantic_ai import ModelRequest
    from pydantic_ai.direct import model_request
    from pydantic_ai.settings import ModelSettings

    started = perf_counter()
    provider, shown = name.partition(":")[0], name
    try:
        choice = choose(name, None, environment)
        if choice.is_demo:
            error = TurnError(code="no_model", message="The demo planner is not a language model.", fix="Name a model.")
            return ModelTest(model=name, ok=False, seconds=0.0, error=error)
        provider, first = choice.provider, choice.names[0]
        shown = f"{provider}:{first}"
        model = await clients.models(ModelChoice(provider=provider, names=(first,)))
        async with asyncio.timeout(PROBE_SECONDS):
            response = await model_request(
                model,
                [ModelRequest.user_text_prompt(PROBE)],
                model_settings=ModelSettings(max_tokens=PROBE_TOKENS),
            )
    except TimeoutError:
        message = f"{shown} did not answer within {PROBE_SECONDS:g} s."
        error = TurnError(code="model_timeout", message=message, fix="Try again.")
    except Exception as failure:  # noqa: BLE001  (whatever a provider's client raises is this model's result)
        error = explain(failure, provider, [])
    else:
        seconds = round(perf_counter() - started, 3)
        return ModelTest(model=shown, ok=True, answered_by=response.model_name, seconds=seconds)
    return ModelTest(model=shown, ok=False, seconds=round(perf_counter() - started, 3), error=error)
