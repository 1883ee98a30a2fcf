"""Fills in the user's variables that secret fields of a flow name.

A value enters a run only in a secret field of a component type of the catalogue, if the user allowed the variable, if
the whole flow is catalogue code, and never in a verification run. Keys of language models never enter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from flows.catalogue import Catalogue
from flows.document import Json, JsonObject
from flows.fields.secrets import is_secret
from flows.json_values import as_text, object_at
from runtime.files.flow_files import NO_FILES, GivenFiles
from runtime.guard.admission import find, same_code
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
from runtime.results import RunResult

Lookup = Callable[[str], str | None]
"""Returns a variable's value, or None if it is not set."""

MIN_LENGTH = 4
"""Characters of the shortest value that may enter; a shorter one could not be removed from the results."""
MIN_LITERAL = 8
"""Characters of the shortest literal value of a secret field that is removed from the results."""
MODEL_KEYS = re.compile(
    r"(?i)(?:.*_)?(?:openai|anthropic|claude|google|gemini|vertex(?:ai)?|groq|mistral(?:ai)?|cohere|azure_openai|azure_ai"
    r"|deepseek|xai|grok|openrouter|together|fireworks|perplexity|huggingface(?:hub)?|nvidia|watsonx|sambanova|ollama"
    r"|cerebras|moonshot|bedrock)(?:_api)?_?(?:key|token|api_token)"
)
"""Names of keys to language models, which no run needs because model calls go through the gateway."""
_INTERNAL = re.compile(r"(?i)(?:wirewright|langflow|lfx|logfire)_.*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_GENERIC = frozenset({"api_key", "apikey", "key", "token", "access_token", "auth_token", "secret", "password"})
_CAUSED_BY_WITHHELD = frozenset({"missing_key", "missing_input", "external", "code"})


@dataclass(frozen=True)
class Withheld:
    """A variable that a node names and that did not enter the run, with the reason and a fix."""

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
        files: the files that the run may read.
    """

    data: JsonObject
    secrets: frozenset[str] = frozenset()
    withheld: tuple[Withheld, ...] = ()
    files: GivenFiles = NO_FILES

    def explain(self, result: RunResult) -> RunResult:
        """The result; a withheld variable of the failed node becomes the cause of its error where that is likely."""
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
    own: Mapping[str, str]
    """The variables that the user keeps, which every run of the user may have."""
    refusal: str
    """Why no variable may enter this run; empty if they may."""
    secrets: set[str] = field(default_factory=set[str])
    withheld: list[Withheld] = field(default_factory=list[Withheld])

    def fill(self, node: JsonObject, outer: str | None = None) -> JsonObject:
        """The node with its secret fields filled in; `outer` is the group that it is inside of."""
        shown, definition = outer or as_text(node.get("id")), definition_of(node)
        if group := group_data(definition):
            inner: list[Json] = [self.fill(each, shown) for each in nodes_in(group)]
            return with_definition(node, with_group_nodes(definition, inner))
        values = self._values(kind_of(node), object_at(definition, "template"), shown)
        return with_definition(node, with_values(definition, values)) if values else node

    def _values(self, kind: str, template: JsonObject, node: str) -> dict[str, Json]:
        """Values for the fields that the catalogue declares secret; what the flow says about them does not count."""
        known = find(self.catalogue, kind)
        values: dict[str, Json] = {}
        for name, declared in known.template.items() if known is not None else ():
            entry = template.get(name)
            if is_secret(declared) and isinstance(entry, dict):
                value = self._value(kind, node, name, entry)
                if value is not None:
                    values[name] = value
        return values

    def _value(self, kind: str, node: str, name: str, entry: JsonObject) -> str | None:
        """The variable's value for a field; None for a field with a literal value or without a variable."""
        value = entry.get("value")
        named = entry.get("load_from_db") is True and isinstance(value, str) and _NAME.fullmatch(value) is not None
        if isinstance(value, str) and value and not named:
            if len(value) >= MIN_LITERAL:
                self.secrets.add(value)
            return None
        variable = self._look_up(as_text(value) if named else conventional_name(kind, name), node, named=named)
        if variable is not None:
            self.secrets.add(variable)
        return variable

    def _look_up(self, variable: str, node: str, *, named: bool) -> str | None:
        """The variable's value if it may enter. One that only a convention names is not reported as withheld."""
        if MODEL_KEYS.fullmatch(variable) or _INTERNAL.fullmatch(variable):
            return None
        if self.refusal:
            reason = f"{self.refusal}, so {variable} was kept out of it."
            fix = "Run the flow itself, not a verification run, with component code of the catalogue only."
        elif variable not in self.own and variable not in self.allowed:
            reason = f"The variable {variable} is not allowed in runs."
            fix = f"{_keep(variable)}, or set WIREWRIGHT_RUN_VARIABLES={variable}, and {variable} itself."
        else:
            value = self.own.get(variable) or self.lookup(variable)
            if value is not None and len(value) >= MIN_LENGTH:
                return value
            reason = f"The variable {variable} is not set." if not value else f"The value of {variable} is too short."
            fix = f"{_keep(variable)}, or set it in the environment of Wirewright."
        if named:
            self.withheld.append(Withheld(node, variable, reason, fix))
        return None


def fill_variables(
    data: JsonObject,
    catalogue: Catalogue,
    allowed: Collection[str],
    lookup: Lookup,
    *,
    verification: bool,
    own: Mapping[str, str] | None = None,
) -> FilledFlow:
    """Fill in the variables that secret fields name and that may enter.

    Args:
        data: nodes and edges that were admitted.
        catalogue: the component types; they say which fields are secret.
        allowed: the names of the variables that the user allowed.
        lookup: returns their values.
        verification: whether this is a verification run, into which none enters.
        own: the values of the variables that the user keeps, which need no other permission.
    """
    if verification:
        refusal = "This is a verification run"
    elif not all(_is_catalogue_code(node, catalogue) for node in every_node(data)):
        refusal = "The flow runs code that is not the catalogue's"
    else:
        refusal = ""
    filler = _VariableFiller(catalogue, allowed, lookup, own or {}, refusal)
    filled: list[Json] = [filler.fill(node) for node in nodes_in(data)]
    return FilledFlow({**data, "nodes": filled}, frozenset(filler.secrets), tuple(filler.withheld))


def conventional_name(kind: str, name: str) -> str:
    """The environment variable of a secret field by convention.

    The field's name in capitals if it names its service (`serper_api_key`: `SERPER_API_KEY`); otherwise the component
    type's name comes first (`api_key` of SearchAPI: `SEARCHAPI_API_KEY`).
    """
    if name.lower() not in _GENERIC:
        return name.upper()
    owner = kind.rpartition(":")[2].partition("@")[0] if kind.startswith("ext:") else kind
    owner = re.sub(r"(?:Component|Tool|Model|Embeddings)$", "", owner)
    return f"{re.sub(r'[^A-Za-z0-9]+', '_', owner).upper()}_{name.upper()}"


def _keep(variable: str) -> str:
    return f"Keep it with `wirewright variables set {variable}`"


def _is_catalogue_code(node: JsonObject, catalogue: Catalogue) -> bool:
    """Whether a node runs the code of its component type; a group runs none."""
    if group_data(definition_of(node)):
        return True
    known = find(catalogue, kind_of(node))
    code = object_at(definition_of(node), "template", "code").get("value")
    return known is not None and isinstance(code, str) and same_code(code, known.code)
