"""Turns a component's source into a component type: the guard reads it, then a confined process creates it."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable
from weakref import WeakKeyDictionary

from flows.catalogue import Catalogue
from flows.component_type import ComponentType
from flows.document import JsonObject
from flows.faults import Fault
from flows.json_values import as_list, as_object, as_text, texts
from flows.search.limits import USERS
from runtime.components.rules import Outline, read_outline
from runtime.engine.component_results import MAX_DESCRIPTION, ComponentDescription, ComponentFailure
from runtime.guard.trust import is_trusted

CACHE_SIZE = 512
"""How many inspections are cached, so that a component is not created at every turn."""


@runtime_checkable
class DescribesComponents(Protocol):
    """Creates components from their sources: the runner."""

    async def describe_component(self, source: str, name: str) -> ComponentDescription | ComponentFailure:
        """Create the class `name` of `source` in a confined process; a failure is a value."""
        ...


@dataclass(frozen=True)
class Inspection:
    """The result of inspecting a source.

    Attributes:
        component: the component type; None if one of the faults is an error.
        faults: what is wrong with the source, by line; with warnings it can still be used.
        name: the component's class, if one was found.
        lasting: whether another inspection would give the same; after a crash of the engine it may not.
    """

    component: ComponentType | None
    faults: tuple[Fault, ...] = ()
    name: str | None = None
    lasting: bool = True

    @property
    def errors(self) -> tuple[Fault, ...]:
        """The faults that are errors."""
        return tuple(fault for fault in self.faults if fault.is_error)


_inspections: WeakKeyDictionary[DescribesComponents, OrderedDict[str, Inspection]] = WeakKeyDictionary()
"""Inspections by the source's digest, for each runner: another engine may create something else."""


async def inspect(source: str, runner: DescribesComponents) -> Inspection:
    """Return the component type of a source, or every reason why it defines none.

    Only a source that passes the guard and the rules is executed, in a confined process of the engine without a
    network. Lasting results are cached.
    """
    digest = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest() + str(is_trusted(source))
    cached = _inspections.setdefault(runner, OrderedDict())
    if (known := cached.get(digest)) is not None:
        cached.move_to_end(digest)
        return known
    found = await _inspect(source, runner)
    if found.lasting:
        cached[digest] = found
        while len(cached) > CACHE_SIZE:
            cached.popitem(last=False)
    return found


async def _inspect(source: str, runner: DescribesComponents) -> Inspection:
    outline, faults = await asyncio.to_thread(read_outline, source)
    name = None if outline is None else outline.name
    if outline is None or faults:
        return Inspection(None, _sorted(faults), name)
    described = await runner.describe_component(source, outline.name)
    if isinstance(described, ComponentFailure):
        line = described.line or outline.line_of_import(described.message) or outline.line
        fault = Fault(code=described.code, message=described.message, fix=described.fix, line=line)
        return Inspection(None, (fault,), name, lasting=described.code == "code")
    faults = _check(described, outline)
    if any(fault.is_error for fault in faults):
        return Inspection(None, _sorted(faults), name)
    return Inspection(_component_type(described, outline.name, source), _sorted(faults), name)


def name_taken(name: str) -> Fault:
    """The fault of a component with the name of a built-in one."""
    message = f"{name!r} is the name of a built-in component, which takes precedence."
    return Fault(code="name_taken", message=message, fix="Choose another class name.")


def is_taken(catalogue: Catalogue, name: str) -> bool:
    """Whether a built-in component has this name."""
    return bool(catalogue.with_components([ComponentType(name, {})]).shadowed)


def _check(described: ComponentDescription, outline: Outline) -> list[Fault]:
    """The faults of a component that could be created."""
    faults: list[Fault] = []
    if len(json.dumps(described.node, ensure_ascii=False)) > MAX_DESCRIPTION:
        message = f"The component's inputs and outputs take more than {MAX_DESCRIPTION // 1024:,} kB."
        return [Fault(code="too_large", message=message, fix="Shorten its texts and options.", line=outline.line)]
    outputs = [as_object(output) for output in as_list(described.node.get("outputs"))]
    if not outputs and not described.own_outputs:
        fix = 'Give the class outputs = [Output(name="result", display_name="Result", method="build_result")].'
        faults.append(_at(outline.line, "no_outputs", "The component has no outputs.", fix))
    for output in outputs:
        name, method = as_text(output.get("name")), as_text(output.get("method"))
        line = outline.line_of("Output", name=name) or outline.line_of("Output", method=method) or outline.line
        if method in described.without_method:
            message = f"The output {name!r} names the method {method!r}, which the class does not have."
            faults.append(_at(line, "no_method", message, f"Define it: def {method}(self) -> Message: ..."))
        elif name == "component_as_tool" or method == "to_toolkit":
            message = f"The output {name!r} ({method}) has a name that the engine reserves for tools."
            faults.append(_at(line, "reserved", message, "Name it after its value, such as item, price or result."))
        elif not texts(output.get("types")):
            place = outline.line_of_method(method) or line
            message = f"The output {name!r} has no type, so nothing can be connected to it."
            fix = f"Say what {method} returns: def {method}(self) -> Message: (or Data, DataFrame, str ...)."
            faults.append(replace(_at(place, "no_type", message, fix), severity="warning"))
    if not as_text(described.node.get("display_name")).strip() or not outline.sets("display_name"):
        message, fix = "The component has no display_name.", 'Give the class display_name = "Word Counter".'
        faults.append(replace(_at(outline.line, "no_display_name", message, fix), severity="warning"))
    if not as_text(described.node.get("description")).strip():
        message = "The component has no description, by which it is found and by which agents choose it."
        fix = 'Give the class description = "Counts the words of a text.".'
        faults.append(replace(_at(outline.line, "no_description", message, fix), severity="warning"))
    return faults


def _component_type(described: ComponentDescription, name: str, source: str) -> ComponentType:
    template = as_object(described.node.get("template"))
    code: JsonObject = {**as_object(template.get("code")), "type": "code", "value": source}
    raw: JsonObject = {**described.node, "template": {**template, "code": code}, "category": USERS}
    if not as_text(raw.get("display_name")).strip():
        raw["display_name"] = name
    if described.own_name:
        raw["name"] = described.own_name
    return ComponentType(name, raw, described.choices, described.lacking)


def _at(line: int | None, code: str, message: str, fix: str) -> Fault:
    return Fault(code=code, message=message, fix=fix, line=line)


def _sorted(faults: list[Fault]) -> tuple[Fault, ...]:
    return tuple(sorted(faults, key=lambda fault: (fault.line or 0, fault.code)))
