"""The user's variables in a run: which ones its secret fields name, and which of those may enter.

A value enters only where a secret field of a component type of the catalogue names it, when the user allowed it, in a
run of catalogue code only, and never in a verification run. Keys of language models never enter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace

from flows.catalogue import Catalogue
from flows.document import Json, JsonObject
from flows.fields.secrets import is_secret
from flows.json_values import as_list, as_object, as_text, object_at
from runtime.guard.admission import find, same_code
from runtime.results import RunResult

Lookup = Callable[[str], str | None]
"""Gives a variable's value, or None when it is not set."""

MIN_LENGTH = 4
"""Characters of the shortest value that counts as a secret; a shorter one could not be kept out of the results."""
MIN_LITERAL = 8
"""The same for what is written into a secret field itself, where it may be anything."""
MODEL_KEYS = re.compile(
    r"(?i)(?:.*_)?(?:openai|anthropic|claude|google|gemini|vertex(?:ai)?|groq|mistral(?:ai)?|cohere|azure_openai|azure_ai"
    r"|deepseek|xai|grok|openrouter|together|fireworks|perplexity|huggingface(?:hub)?|nvidia|watsonx|sambanova|ollama"
    r"|cerebras|moonshot|bedrock)(?:_api)?_?(?:key|token|api_token)"
)
"""Names of keys to language models: their calls go through the gateway, so no run needs one."""
_OURS = re.compile(r"(?i)(?:wirewright|langflow|lfx|logfire)_.*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_GENERIC = frozenset({"api_key", "apikey", "key", "token", "access_token", "auth_token", "secret", "password"})
_CAUSED_BY_WITHHELD = frozenset({"missing_key", "missing_input", "external", "code"})


@dataclass(frozen=True)
class Withheld:
    """A variable that a node names and that was kept out of the run, with the reason and what to do."""

    node: str
    name: str
    reason: str
    fix: str


@dataclass(frozen=True)
class FilledFlow:
    """The nodes and edges of a run with the values of variables filled in.

    Attributes:
        data: the nodes and edges.
        secrets: every secret that the run holds, those of the flow included; none may appear in its results.
        withheld: the variables that did not enter.
    """

    data: JsonObject
    secrets: frozenset[str] = frozenset()
    withheld: tuple[Withheld, ...] = ()

    def explain(self, result: RunResult) -> RunResult:
        """The result, with a variable of the failed node that was withheld as the cause where that is likely."""
        error = result.error
        if error is None or error.code not in _CAUSED_BY_WITHHELD:
            return result
        for each in self.withheld:
            if each.node == error.node:
                message = f"{error.message.rstrip('.')}. {each.reason}"
                return replace(result, error=replace(error, code="missing_key", message=message, fix=each.fix))
        return result


@dataclass
class _VariableFiller:
    catalogue: Catalogue
    allowed: Collection[str]
    lookup: Lookup
    barred: str
    """Why no variable may enter this run; empty when they may."""
    secrets: set[str] = field(default_factory=set[str])
    withheld: list[Withheld] = field(default_factory=list[Withheld])

    def node(self, raw: JsonObject, outer: str | None) -> JsonObject:
        shown = outer or as_text(raw.get("id"))
        definition = object_at(raw, "data", "node")
        group = object_at(definition, "flow", "data")
        if group:
            nodes: list[Json] = [self.node(inner, shown) for inner in map(as_object, as_list(group.get("nodes")))]
            flow: JsonObject = {**object_at(definition, "flow"), "data": {**group, "nodes": nodes}}
            return _with_definition(raw, {**definition, "flow": flow})
        kind = as_text(object_at(raw, "data").get("type"))
        template = object_at(definition, "template")
        changed: JsonObject = {}
        for name, secret in self._secret_fields(kind, template):
            if (fill_variables := self._field(kind, shown, name, secret)) is not None:
                changed[name] = fill_variables
        if not changed:
            return raw
        return _with_definition(raw, {**definition, "template": {**template, **changed}})

    def _secret_fields(self, kind: str, template: JsonObject) -> Iterator[tuple[str, JsonObject]]:
        """The fields that the catalogue says are secret; what the flow itself says about them does not count."""
        known = find(self.catalogue, kind)
        if known is None:
            return
        for name, definition in known.template.items():
            if is_secret(definition) and isinstance(template.get(name), dict):
                yield name, as_object(template[name])

    def _field(self, kind: str, node: str, name: str, found: JsonObject) -> JsonObject | None:
        value = found.get("value")
        by_name = found.get("load_from_db") is True and isinstance(value, str) and _NAME.fullmatch(value) is not None
        if isinstance(value, str) and value and not by_name:
            if len(value) >= MIN_LITERAL:
                self.secrets.add(value)
            return None
        variable = as_text(value) if by_name else conventional_name(kind, name)
        given = self._given(variable, node, named=by_name)
        if given is None:
            return None
        self.secrets.add(given)
        return {**found, "value": given, "load_from_db": False}

    def _given(self, variable: str, node: str, *, named: bool) -> str | None:
        """The variable's value if it may enter. One that is named by convention only is not reported as withheld."""
        if MODEL_KEYS.fullmatch(variable) or _OURS.fullmatch(variable):
            return None
        reason, fix = "", ""
        if self.barred:
            reason = f"{self.barred}, so {variable} was kept out of it."
            fix = "Run it for real, with component code of the catalogue only."
        elif variable not in self.allowed:
            reason = f"The variable {variable} is not allowed in runs."
            fix = f"Allow it: set WIREWRIGHT_RUN_VARIABLES={variable}, and {variable} itself."
        else:
            value = self.lookup(variable)
            if value is not None and len(value) >= MIN_LENGTH:
                return value
            reason = f"The variable {variable} is not set." if not value else f"The value of {variable} is too short."
            fix = f"Set {variable} in the environment of Wirewright."
        if named:
            self.withheld.append(Withheld(node, variable, reason, fix))
        return None


def fill_variables(
    data: JsonObject, catalogue: Catalogue, allowed: Collection[str], lookup: Lookup, *, verification: bool
) -> FilledFlow:
    """Fill in the variables that may enter where secret fields name them.

    Args:
        data: nodes and edges that were admitted.
        catalogue: the component types; they say which fields are secret.
        allowed: names of the variables that the user allowed.
        lookup: gives their values.
        verification: whether this is a verification run, into which none enters.
    """
    nodes = [as_object(node) for node in as_list(data.get("nodes"))]
    if verification:
        barred = "This is a verification run"
    elif not _is_catalogue_code(nodes, catalogue):
        barred = "The flow runs code that is not the catalogue's"
    else:
        barred = ""
    filler = _VariableFiller(catalogue, allowed, lookup, barred)
    filled: list[Json] = [filler.node(node, None) for node in nodes]
    return FilledFlow({**data, "nodes": filled}, frozenset(filler.secrets), tuple(filler.withheld))


def conventional_name(kind: str, name: str) -> str:
    """The environment variable that stands for a secret field by convention.

    A field's own name in capitals where it says whose it is (`serper_api_key`: `SERPER_API_KEY`), otherwise with the
    component type's before it (`api_key` of SearchAPI: `SEARCHAPI_API_KEY`).
    """
    if name.lower() not in _GENERIC:
        return name.upper()
    owner = kind.rpartition(":")[2].partition("@")[0] if kind.startswith("ext:") else kind
    owner = re.sub(r"(?:Component|Tool|Model|Embeddings)$", "", owner)
    return f"{re.sub(r'[^A-Za-z0-9]+', '_', owner).upper()}_{name.upper()}"


def _is_catalogue_code(nodes: list[JsonObject], catalogue: Catalogue) -> bool:
    for raw in nodes:
        definition = object_at(raw, "data", "node")
        group = object_at(definition, "flow", "data")
        if group:
            if not _is_catalogue_code([as_object(inner) for inner in as_list(group.get("nodes"))], catalogue):
                return False
            continue
        known = find(catalogue, as_text(object_at(raw, "data").get("type")))
        code = object_at(definition, "template", "code").get("value")
        if known is None or not isinstance(code, str) or not same_code(code, known.code):
            return False
    return True


def _with_definition(raw: JsonObject, definition: JsonObject) -> JsonObject:
    return {**raw, "data": {**object_at(raw, "data"), "node": definition}}
