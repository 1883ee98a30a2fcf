"""Points the models of a flow at the gateway before it runs, whatever provider a node names, and drops its keys."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flows.catalogue import Catalogue
from flows.component_type import ComponentType
from flows.document import Json, JsonObject
from flows.fields.model_values import CONNECTED, canonical_model
from flows.fields.secrets import looks_secret
from flows.json_values import as_list, as_object, as_text, object_at, texts
from runtime.gateway.models import ASSISTANT, ModelUnavailable
from runtime.guard.admission import find
from runtime.results import RunError, RunFailed

if TYPE_CHECKING:
    from runtime.gateway.accounts import RunAccount

PROVIDERS: Mapping[str, str] = {
    "openai": "openai",
    "anthropic": "anthropic",
    "google": "google",
    "google generative ai": "google",
    "groq": "groq",
    "mistral": "mistral",
    "mistralai": "mistral",
    "ollama": "ollama",
    "openrouter": "openrouter",
    "azure ai foundry": "azure",
    "ibm watsonx": "watsonx",
    "ibm watsonx.ai": "watsonx",
}
"""PydanticAI's prefixes for the providers as lfx names them; any other provider keeps its name, in small letters."""

ADDRESSES = frozenset({"api_base", "base_url", "ollama_base_url", "base_url_ibm_watsonx", "project_id"})
"""Fields that say where a provider is: emptied, so that a client takes the gateway's address."""

_MODEL_TYPES = frozenset({"LanguageModel", "Embeddings"})
_CALLS_NO_MODEL = frozenset({"LangChainFakeEmbeddings"})


@dataclass(frozen=True)
class Dedicated:
    """A component of a single provider that can be pointed at the gateway: the names of its fields."""

    provider: str
    model: str
    key: str
    address: str


DEDICATED: Mapping[str, Dedicated] = {
    "OpenAIModelComponent": Dedicated("openai", "model_name", "api_key", "openai_api_base"),
    "OpenAIEmbeddingsComponent": Dedicated("openai", "model", "openai_api_key", "openai_api_base"),
}
"""By class name; others that give a model are refused, since their clients speak another protocol."""

_Given = Mapping[tuple[str, str], Json]
"""Values that a group's own fields give to those of the nodes inside, by node and field."""


def uses_models(data: JsonObject, catalogue: Catalogue) -> bool:
    """Whether any node, those inside groups included, calls a model or gives one."""
    for raw in map(as_object, as_list(data.get("nodes"))):
        definition = object_at(raw, "data", "node")
        if any(as_object(entry).get("type") == "model" for entry in object_at(definition, "template").values()):
            return True
        known = find(catalogue, as_text(object_at(raw, "data").get("type")))
        if known is not None and known.type not in _CALLS_NO_MODEL and _gives(known):
            return True
        if uses_models(object_at(definition, "flow", "data"), catalogue):
            return True
    return False


def point_at_gateway(data: JsonObject, catalogue: Catalogue, account: RunAccount, url: str) -> JsonObject:
    """The same nodes and edges with every model behind the gateway.

    Each model that a node names is asked for once, so that an unavailable one is found before anything runs; the
    account's keys are good for these names only.

    Args:
        data: nodes and edges that were admitted.
        catalogue: says which types give models.
        account: the run's; gives each node its key.
        url: the gateway's base URL.

    Raises:
        RunFailed: a model is unavailable, or a component's models cannot go through the gateway.
    """
    nodes, _ = _Rewriting(catalogue, account, url).nodes(as_list(data.get("nodes")), None, {})
    return {**data, "nodes": nodes}


@dataclass
class _Rewriting:
    catalogue: Catalogue
    account: RunAccount
    url: str
    asked: set[tuple[str, bool]] = field(default_factory=set[tuple[str, bool]])

    def nodes(
        self, nodes: Sequence[Json], shown: str | None, given: _Given
    ) -> tuple[list[Json], dict[tuple[str, str], Json]]:
        """The nodes, and every value that was written, by node and field."""
        written: dict[tuple[str, str], Json] = {}
        made: list[Json] = []
        for raw in map(as_object, nodes):
            own = as_text(raw.get("id")) or as_text(object_at(raw, "data").get("id"))
            definition = object_at(raw, "data", "node")
            template = object_at(definition, "template")
            values = {name: given[own, name] for name in template if (own, name) in given}
            inner = object_at(definition, "flow")
            if inner:
                changes, definition = self._group(template, values, definition, shown or own)
            else:
                changes = self._changes(raw, template, values, shown or own)
            written |= {(own, name): value for name, value in changes.items()}
            made.append(_with(raw, definition, changes))
        return made, written

    def _group(
        self, template: JsonObject, values: Mapping[str, Json], definition: JsonObject, shown: str
    ) -> tuple[dict[str, Json], JsonObject]:
        """A group: its fields replace those of the nodes inside, so what is written there is written here as well."""
        proxies = {
            name: (as_text(proxy.get("id")), as_text(proxy.get("field")))
            for name, entry in template.items()
            if (proxy := object_at(entry, "proxy"))
        }
        given = {
            place: values[name] if name in values else as_object(template[name]).get("value")
            for name, place in proxies.items()
        }
        flow = object_at(definition, "flow")
        data = object_at(flow, "data")
        nodes, written = self.nodes(as_list(data.get("nodes")), shown, given)
        changes = {name: written[place] for name, place in proxies.items() if place in written}
        return changes, {**definition, "flow": {**flow, "data": {**data, "nodes": nodes}}}

    def _changes(
        self, raw: JsonObject, template: JsonObject, values: Mapping[str, Json], shown: str
    ) -> dict[str, Json]:
        """New values of a node's fields; none for a node that asks no model."""
        models = [name for name, entry in template.items() if as_object(entry).get("type") == "model"]
        known = find(self.catalogue, as_text(object_at(raw, "data").get("type")))
        gives = known is not None and _gives(known)
        if not models and (known is None or not gives or known.type in _CALLS_NO_MODEL):
            return {}
        emptied = [name for name, entry in template.items() if _secret(as_object(entry)) or name in ADDRESSES]
        changes: dict[str, Json] = dict.fromkeys(emptied, "")
        key = self.account.key(shown)
        if not models:
            assert known is not None  # noqa: S101 - it gives models
            return {**changes, **self._dedicated(known, template, values, key, shown)}
        for name in models:
            entry = as_object(template[name])
            value = values.get(name, entry.get("value"))
            if value == CONNECTED:
                continue
            wanted = _wanted(value, shown)
            variable = _variable(template, values, "api_key")
            self._ask(wanted, shown, embedding=entry.get("model_type") == "embedding", variable=variable)
            changes[name] = [{"provider": "OpenAI", "name": wanted, "metadata": {}}]
        return {**changes, "api_key": key}

    def _dedicated(
        self, known: ComponentType, template: JsonObject, values: Mapping[str, Json], key: str, shown: str
    ) -> dict[str, Json]:
        made = as_text(object_at(known.raw, "metadata").get("component_class_name"))
        fields = DEDICATED.get(made)
        if fields is None:
            message = f"{known.display_name!r} calls its provider itself, which the model gateway cannot stand in for."
            fix = "Put a Language Model or Embedding Model component in its place, and choose the provider there."
            raise RunFailed(RunError(code="refused", message=message, fix=fix, node=shown))
        value = values.get(fields.model, as_object(template.get(fields.model)).get("value"))
        wanted = f"{fields.provider}:{as_text(value)}"
        embedding = any("Embeddings" in texts(output.get("types")) for output in known.outputs)
        self._ask(wanted, shown, embedding=embedding, variable=_variable(template, values, fields.key))
        return {
            fields.model: wanted,
            fields.key: key,
            fields.address: self.url,
            **{name: "" for name in template if name.endswith("_proxy")},
        }

    def _ask(self, name: str, shown: str, *, embedding: bool, variable: str | None) -> None:
        """Check that a model is available, and allow the run's keys to call it.

        `variable` is the variable that the node names for its key; the error about a missing key names it.
        """
        if (name, embedding) in self.asked:
            return
        try:
            self.account.embedding(name) if embedding else self.account.model(name)
        except ModelUnavailable as missing:
            message = missing.message
            if missing.code == "missing_key" and variable is not None and variable not in missing.fix:
                message = f"The key of {shown} is the variable {variable}, which gives none here. {message}"
            raise RunFailed(RunError(code=missing.code, message=message, fix=missing.fix, node=shown)) from None
        except Exception as failure:  # whatever a provider's client raises when it is made
            from runtime.gateway.errors import explain  # with PydanticAI, which flows without models do without

            raise RunFailed(explain(failure, name).error(shown)) from failure
        self.asked.add((name, embedding))
        self.account.names.add(name)


def _gives(known: ComponentType) -> bool:
    return any(_MODEL_TYPES & set(texts(output.get("types"))) for output in known.outputs)


def _variable(template: JsonObject, values: Mapping[str, Json], name: str) -> str | None:
    """The name of the stored variable that a key field asks for, as the flow has it; None for a typed-in key."""
    entry = as_object(template.get(name))
    value = values.get(name, entry.get("value"))
    if not isinstance(value, str) or entry.get("load_from_db") is not True or looks_secret(value):
        return None
    return value if re.fullmatch(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+", value) else None  # what is typed in rarely looks so


def _secret(entry: JsonObject) -> bool:
    return entry.get("password") is True or entry.get("_input_type") == "SecretStrInput"


def _wanted(value: Json, shown: str) -> str:
    """The name of a chosen model as the gateway is asked for it; a node without a choice asks for the assistant's."""
    try:
        chosen = canonical_model(value)
    except ValueError as error:
        message = f"The model of {shown} {error}."
        fix = 'Choose one, such as [{"provider": "OpenAI", "name": "gpt-4o-mini"}].'
        raise RunFailed(RunError(code="missing_model", message=message, fix=fix, node=shown)) from None
    if not isinstance(chosen, list) or not chosen:
        return ASSISTANT
    first = as_object(chosen[0])
    provider, name = as_text(first.get("provider")).strip().lower(), as_text(first.get("name"))
    if name == ASSISTANT:
        return ASSISTANT
    return f"{PROVIDERS.get(provider, provider.replace(' ', '-'))}:{name}"


def _with(raw: JsonObject, definition: JsonObject, changes: Mapping[str, Json]) -> JsonObject:
    """A node with changed values; what stays the same is shared."""
    if not changes and definition is object_at(raw, "data", "node"):
        return raw
    template = dict(object_at(definition, "template"))
    for name, value in changes.items():
        entry = as_object(template.get(name)) or {"name": name, "type": "str", "show": True}
        template[name] = {**entry, "value": value, "load_from_db": False}
    data = object_at(raw, "data")
    return {**raw, "data": {**data, "node": {**definition, "template": template}}}
