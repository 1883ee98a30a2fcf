"""Reads descriptions of components from the engine's messages, or why a component could not be created."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from flows.document import Json, JsonObject
from flows.json_values import as_list, as_object, as_text, texts
from runtime.engine.run_results import ended_without_result
from runtime.failures import error_from_chain
from runtime.results import BUSY, RunError

DESCRIBE_SECONDS = 20.0
"""Seconds that creating and describing one component may take; usually it takes a tenth of a second."""
MAX_DESCRIPTION = 1024 * 1024
"""Bytes of the largest description that is accepted."""
MAX_NAME = 64
"""Characters of a component's `name` that are kept."""

ComponentFailureCode: TypeAlias = Literal["code", "timeout", "crash", "limit", "missing_package", "busy"]


@dataclass(frozen=True)
class ComponentDescription:
    """A component as the engine created it. Everything here comes from the component's code and cannot be trusted.

    Attributes:
        node: its definition, as in a node.
        without_method: methods that its outputs name and that it does not have.
        own_outputs: whether it changes its outputs while it is configured.
        choices: how each of its options changes fields and outputs; None if that is unknown.
        lacking: packages that it imports and that are not installed.
        own_name: its `name`, if it differs from the name of its class.
    """

    node: JsonObject
    without_method: tuple[str, ...] = ()
    own_outputs: bool = False
    choices: JsonObject | None = None
    lacking: JsonObject = field(default_factory=dict[str, Json])
    own_name: str = ""


@dataclass(frozen=True)
class ComponentFailure:
    """Why a component could not be created.

    Attributes:
        code: the kind of failure; `busy` and a `crash` without a line may have nothing to do with the source.
        message: what happened, without paths or traces.
        line: the line of the source, if it is known.
        fix: what to do.
    """

    code: ComponentFailureCode
    message: str
    fix: str
    line: int | None = None


def read_component(message: JsonObject, limit: float) -> ComponentDescription | ComponentFailure:
    """The description in the engine's answer; `limit` is the time limit in seconds."""
    if message.get("type") != "result":
        return _ended(as_text(message.get("code")), as_text(message.get("message")), limit)
    failure = as_object(message.get("failure"))
    if failure:
        return _failed(failure)
    found = as_object(message.get("described"))
    node = as_object(found.get("node"))
    if not isinstance(node.get("template"), dict) or not isinstance(node.get("outputs"), list):
        return ComponentFailure("crash", "The engine returned something that is not a component.", _FIXES["crash"])
    choices = found.get("choices")
    return ComponentDescription(
        node=node,
        without_method=tuple(texts(found.get("without_method"))),
        own_outputs=found.get("own_outputs") is True,
        choices=choices if isinstance(choices, dict) else None,
        lacking=as_object(found.get("lacking")),
        own_name=as_text(found.get("name"))[:MAX_NAME],
    )


def read_failure(error: RunError, limit: float) -> ComponentFailure:
    """The failure of a request without an answer; `limit` is the time limit in seconds."""
    if error == BUSY:
        return ComponentFailure("busy", error.message, error.fix)
    if error.code == "timeout" or error == ended_without_result("crash", limit):
        return _ended(error.code, error.message, limit)
    return ComponentFailure("crash", error.message, error.fix)


_FIXES = {
    "timeout": "Do nothing slow while the class is defined: no loops, no waiting, no requests outside its methods.",
    "crash": "Do not end or disturb the process; do the work in the methods of the outputs.",
    "limit": "Do less while the class is defined; do the work in the methods of the outputs.",
    "busy": "Try again in a moment.",
}


def _ended(code: str, detail: str, limit: float) -> ComponentFailure:
    if code == "timeout":
        return ComponentFailure("timeout", f"The component was not created within {limit:g} s.", _FIXES["timeout"])
    if code in {"limit", "busy"}:
        kind: ComponentFailureCode = "limit" if code == "limit" else "busy"
        return ComponentFailure(kind, ended_without_result(code, limit, detail).message, _FIXES[code])
    detail = detail.replace("The run's process", "The process that created the component").replace(
        "before it gave a result", "before the component was created"
    )
    return ComponentFailure("crash", detail or "The component could not be created.", _FIXES["crash"])


def _failed(failure: JsonObject) -> ComponentFailure:
    error = error_from_chain(as_list(failure.get("chain")), None)
    number = failure.get("line")
    line = number if isinstance(number, int) and not isinstance(number, bool) and number > 0 else None
    message = _plain(error.message)
    if any(as_text(as_object(cause).get("type")) == "builtins.SystemExit" for cause in as_list(failure.get("chain"))):
        return ComponentFailure(
            "crash", "The source ends the process while the class is defined.", _FIXES["crash"], line
        )
    if _NO_MODULE.search(message):
        return ComponentFailure("missing_package", message, _PACKAGES, line)
    if error.code == "limit":
        return ComponentFailure("limit", message, _FIXES["limit"], line)
    fix = next((fix for pattern, fix in _ADVICE if pattern.search(message)), "Correct the source.")
    return ComponentFailure("code", message, fix, line)


_WRAPPED = re.compile(r"^Error creating class\. (?P<kind>\w+)\((?P<text>.*)\)\.$", re.DOTALL)
_NO_MODULE = re.compile(r"No module named|Module \S+ not found")
_PACKAGES = "Use the standard library or a package that the engine has, such as httpx, requests, pandas or pydantic."
_INPUTS = (
    "MessageTextInput, MultilineInput, IntInput, FloatInput, BoolInput, DropdownInput, SecretStrInput, DataInput, "
    "HandleInput, FileInput, TableInput"
)
_ADVICE = (
    (
        re.compile(r"Cannot import name", re.IGNORECASE),
        "Import what exists: Component from lfx.custom; Output and inputs from lfx.io; Message, Data from lfx.schema.",
    ),
    (re.compile(r"Extra inputs are not permitted"), "Leave that argument out, or correct its name."),
    (re.compile(r"Name error|is not defined"), "Define or import that name at the top of the source."),
    (re.compile(r"overlapping names"), "Give every input and output a different name."),
    (re.compile(r"does not have a method"), 'Give that Output the method that computes it: Output(…, method="name").'),
    (re.compile(r"has no attribute 'name'"), f"List inputs as objects of lfx.io: {_INPUTS}."),
)


def _plain(message: str) -> str:
    """A message without the engine's wrapping."""
    found = _WRAPPED.match(message)
    if found is None:
        return message
    text = found["text"].strip().rstrip(",")
    if text[:1] in {"'", '"'} and text.endswith(text[:1]):
        text = text[1:-1]
    return f"{found['kind']}: {text}" if text else f"{found['kind']}."
