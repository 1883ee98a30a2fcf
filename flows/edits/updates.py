"""Components of an earlier engine: which of a flow's are stale, and the edit that updates them.

Langflow writes into each component the module that it comes from and a hash of its code. Code that still has this hash
is the engine's own, of whatever version; code that somebody has made or edited is not, and is never replaced.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from flows.actions import FlowAction
from flows.catalogue import Catalogue
from flows.component_type import ComponentTypes
from flows.document import Flow, JsonObject, Node
from flows.edits.replace import replace_component
from flows.json_values import as_object, as_text

_ENGINE_MODULES: Final = ("lfx.", "lfx_", "langflow.components.")
_DIGITS: Final = 12


@dataclass(frozen=True, kw_only=True)
class StaleComponent:
    """A component whose code is the one of another version of the engine.

    Attributes:
        node: its id.
        type: its type.
        code: the hash of its code.
        current: the hash of the code of this engine.
    """

    node: str
    type: str
    code: str
    current: str

    def to_json(self) -> JsonObject:
        """The component as a JSON object."""
        return {"node": self.node, "type": self.type, "code": self.code, "current": self.current}


@dataclass(frozen=True)
class ComponentUpdate:
    """What an update changes.

    Attributes:
        flow: the flow with the code of this engine.
        actions: what changes it so.
        updated: the components that were stale.
        lost: values and edges that could not be kept.
    """

    flow: Flow
    actions: tuple[FlowAction, ...]
    updated: tuple[StaleComponent, ...]
    lost: tuple[str, ...]


def code_hash(code: str) -> str:
    """The hash by which Langflow knows a component's code."""
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def engine_codes(flow: Flow) -> dict[str, list[str]]:
    """The hashes of the engine's own code in a flow, by type."""
    found: dict[str, set[str]] = {}
    for node in flow.nodes:
        if is_engines_own(node):
            found.setdefault(node.type, set()).add(code_hash(node.code))
    return {kind: sorted(codes) for kind, codes in sorted(found.items())}


def stale_types(codes: Mapping[str, Collection[str]], catalogue: ComponentTypes) -> list[str]:
    """The types of which a flow has the code of another version of the engine.

    Args:
        codes: what `engine_codes` gave.
        catalogue: the component types of this engine.
    """
    current = {kind: component.code for kind in codes if (component := catalogue.get(kind)) is not None}
    return [kind for kind, code in current.items() if code and set(codes[kind]) != {code_hash(code)}]


def stale_components(flow: Flow, catalogue: ComponentTypes) -> list[StaleComponent]:
    """The components of a flow whose code is the one of another version of the engine.

    Args:
        flow: the flow.
        catalogue: the component types of this engine.
    """
    found: list[StaleComponent] = []
    for node in flow.nodes:
        component = catalogue.get(node.type)
        if component is None or not component.code or not is_engines_own(node):
            continue
        if node.code.strip() != component.code.strip():
            hashes = {"code": code_hash(node.code), "current": code_hash(component.code)}
            found.append(StaleComponent(node=node.id, type=component.type, **hashes))
    return found


def update_components(flow: Flow, catalogue: Catalogue) -> ComponentUpdate:
    """Give each stale component the code of this engine, keeping its id, place, values and edges where they fit.

    Law: after it, no component is stale, and components that somebody has made or edited are as before.

    Args:
        flow: the flow.
        catalogue: the component types of this engine.
    """
    stale = stale_components(flow, catalogue)
    actions: list[FlowAction] = []
    lost: list[str] = []
    for one in stale:
        edit = replace_component(flow, catalogue, one.node, one.type)
        flow = edit.flow
        actions += edit.actions
        lost += edit.lost
    return ComponentUpdate(flow, tuple(actions), tuple(stale), tuple(lost))


def is_engines_own(node: Node) -> bool:
    """Whether a component's code is what some version of the engine has shipped."""
    told = as_object(node.definition.get("metadata"))
    if not node.code or node.definition.get("edited") is True:
        return False
    named = as_text(told.get("module")).startswith(_ENGINE_MODULES)
    return named and as_text(told.get("code_hash")) == code_hash(node.code)
