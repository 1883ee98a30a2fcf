"""Points every model of a flow at the gateway before it runs, whatever provider a node names, and drops its keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from flows.catalogue import Catalogue
from flows.component_type import ComponentType
from flows.document import Json, JsonObject
from flows.fields.model_providers import prefix_of
from flows.fields.model_values import CONNECTED, canonical_model
from flows.fields.secrets import VARIABLE_NAME, looks_secret
from flows.json_values import as_object, as_text, object_at, texts
from runtime.gateway.models import ASSISTANT, ModelUnavailable
from runtime.guard.admission import find
from runtime.node_json import (
    definition_of,
    every_node,
    group_data,
    kind_of,
    nodes_in,
    with_definition,
    with_group_nodes,
    with_values,
)
from runtime.results import RunError, RunFailed

ADDRESSES = frozenset({"api_base", "base_url", "ollama_base_url", "base_url_ibm_watsonx", "project_id"})
"""Fields with the address of a provider; they are emptied, so that a client uses the gateway's address."""


class Account(Protocol):
    """Gives the nodes of a run their keys, and resolves the models that they name."""

    @property
    def allowed_models(self) -> set[str]:
        """The models that the run may call."""
        ...

    def key(self, node: str, /) -> str:
        """The key of a node."""
        ...

    def model(self, name: str, /) -> object:
        """A model; raises `ModelUnavailable`."""
        ...

    def embedding(self, name: str, /) -> object:
        """An embedding model; raises `ModelUnavailable`."""
        ...


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
"""By class name; others that provide a model are refused, since their clients speak another protocol."""

_Place = tuple[str, str]
"""A node and a field."""
_Given = Mapping[_Place, Json]
"""Values that the fields of a group give to those of the nodes inside."""


def uses_models(data: JsonObject, catalogue: Catalogue) -> bool:
    """Whether any node, including those inside groups, calls a model or provides one."""
    return any(
        _model_fields(object_at(definition_of(node), "template")) or _provides_model(find(catalogue, kind_of(node)))
        for node in every_node(data)
    )


def point_at_gateway(data: JsonObject, catalogue: Catalogue, account: Account, url: str) -> JsonObject:
    """The same nodes and edges with every model call going to the gateway.

    Each model that a node names is resolved once, so that an unavailable one is found before anything runs, and
    becomes one of those that the account allows.

    Args:
        data: nodes and edges that were admitted.
        catalogue: the component types; they tell which ones provide models.
        account: the run's; gives each node its key.
        url: the gateway's base URL.

    Raises:
        RunFailed: a model is unavailable, or the models of a component cannot go through the gateway.
    """
    nodes, _ = _Rewriter(catalogue, account, url).nodes(nodes_in(data), None, {})
    return {**data, "nodes": nodes}


@dataclass
class _Rewriter:
    catalogue: Catalogue
    account: Account
    url: str
    checked: set[tuple[str, bool]] = field(default_factory=set[tuple[str, bool]])

    def nodes(
        self, nodes: Sequence[JsonObject], shown: str | None, given: _Given
    ) -> tuple[list[Json], dict[_Place, Json]]:
        """The changed nodes, and every value that was changed."""
        changed: dict[_Place, Json] = {}
        rewritten: list[Json] = []
        for node in nodes:
            node_id = as_text(node.get("id")) or as_text(object_at(node, "data").get("id"))
            definition = definition_of(node)
            template = object_at(definition, "template")
            values = {name: given[node_id, name] for name in template if (node_id, name) in given}
            if group_data(definition):
                changes, definition = self._group(template, values, definition, shown or node_id)
            else:
                changes = self._changes(kind_of(node), template, values, shown or node_id)
            changed |= {(node_id, name): value for name, value in changes.items()}
            rewritten.append(with_definition(node, with_values(definition, changes)))
        return rewritten, changed

    def _group(
        self, template: JsonObject, values: Mapping[str, Json], definition: JsonObject, shown: str
    ) -> tuple[dict[str, Json], JsonObject]:
        """A group: its fields replace those of the nodes inside, so what changes there changes here as well."""
        proxies = {
            name: (as_text(proxy.get("id")), as_text(proxy.get("field")))
            for name, entry in template.items()
            if (proxy := object_at(entry, "proxy"))
        }
        given = {
            place: values[name] if name in values else as_object(template[name]).get("value")
            for name, place in proxies.items()
        }
        nodes, changed = self.nodes(nodes_in(group_data(definition)), shown, given)
        changes = {name: changed[place] for name, place in proxies.items() if place in changed}
        return changes, with_group_nodes(definition, nodes)

    def _changes(self, kind: str, template: JsonObject, values: Mapping[str, Json], shown: str) -> dict[str, Json]:
        """New values of a node's fields; none for a node that calls no model."""
        models, known = _model_fields(template), find(self.catalogue, kind)
        if not models and not _provides_model(known):
            return {}
        emptied = [name for name, entry in template.items() if _secret(as_object(entry)) or name in ADDRESSES]
        changes: dict[str, Json] = dict.fromkeys(emptied, "")
        key = self.account.key(shown)
        if not models:
            assert known is not None  # noqa: S101 - it provides models
            return {**changes, **self._dedicated(known, template, values, key, shown)}
        for name in models:
            entry = as_object(template[name])
            value = values.get(name, entry.get("value"))
            if value == CONNECTED:
                continue
            model = _model_name(value, shown)
            variable = _variable(template, values, "api_key")
            self._allow(model, shown, embedding=entry.get("model_type") == "embedding", variable=variable)
            changes[name] = [{"provider": "OpenAI", "name": model, "metadata": {}}]
        return {**changes, "api_key": key}

    def _dedicated(
        self, known: ComponentType, template: JsonObject, values: Mapping[str, Json], key: str, shown: str
    ) -> dict[str, Json]:
        class_name = as_text(object_at(known.raw, "metadata").get("component_class_name"))
        fields = DEDICATED.get(class_name)
        if fields is None:
            message = f"{known.display_name!r} calls its provider itself, which the model gateway cannot stand in for."
            fix = "Put a Language Model or Embedding Model component in its place, and choose the provider there."
            raise RunFailed(RunError(code="refused", message=message, fix=fix, node=shown))
        value = values.get(fields.model, as_object(template.get(fields.model)).get("value"))
        model = f"{fields.provider}:{as_text(value)}"
        embedding = any("Embeddings" in texts(output.get("types")) for output in known.outputs)
        self._allow(model, shown, embedding=embedding, variable=_variable(template, values, fields.key))
        return {
            fields.model: model,
            fields.key: key,
            fields.address: self.url,
            **{name: "" for name in template if name.endswith("_proxy")},
        }

    def _allow(self, name: str, shown: str, *, embedding: bool, variable: str | None) -> None:
        """Check that a model is available, and allow the run's keys to call it.

        `variable` is the variable that the node names for its key; the error about a missing key names it.
        """
        if (name, embedding) in self.checked:
            return
        try:
            self.account.embedding(name) if embedding else self.account.model(name)
        except ModelUnavailable as missing:
            message = missing.message
            if missing.code == "missing_key" and variable is not None and variable not in missing.fix:
                message = f"The key of {shown} is the variable {variable}, which has no value here. {message}"
            raise RunFailed(RunError(code=missing.code, message=message, fix=missing.fix, node=shown)) from None
        except Exception as failure:  # whatever a provider's client raises when it is created
            from runtime.gateway.errors import explain  # imports PydanticAI, which flows without models do not need

            raise RunFailed(explain(failure, name).error(shown)) from failure
        self.checked.add((name, embedding))
        self.account.allowed_models.add(name)


def _model_fields(template: JsonObject) -> list[str]:
    return [name for name, entry in template.items() if as_object(entry).get("type") == "model"]


def _provides_model(known: ComponentType | None) -> bool:
    if known is None or known.type in _CALLS_NO_MODEL:
        return False
    return any(_MODEL_TYPES & set(texts(output.get("types"))) for output in known.outputs)


def _variable(template: JsonObject, values: Mapping[str, Json], name: str) -> str | None:
    """The name of the variable that a key field refers to; None for a key that was typed in."""
    entry = as_object(template.get(name))
    value = values.get(name, entry.get("value"))
    if not isinstance(value, str) or entry.get("load_from_db") is not True or looks_secret(value):
        return None
    return value if VARIABLE_NAME.fullmatch(value) else None


def _secret(entry: JsonObject) -> bool:
    return entry.get("password") is True or entry.get("_input_type") == "SecretStrInput"


def _model_name(value: Json, shown: str) -> str:
    """The gateway's name of a chosen model; without a choice it is the assistant's."""
    try:
        chosen = canonical_model(value)
    except ValueError as error:
        message = f"The model of {shown} {error}."
        fix = "Leave it empty for the assistant's own model, or choose one as provider:name."
        raise RunFailed(RunError(code="missing_model", message=message, fix=fix, node=shown)) from None
    if not isinstance(chosen, list) or not chosen:
        return ASSISTANT
    first = as_object(chosen[0])
    provider, name = as_text(first.get("provider")), as_text(first.get("name"))
    if name == ASSISTANT:
        return ASSISTANT
    return f"{prefix_of(provider) or provider.strip().lower().replace(' ', '-')}:{name}"
