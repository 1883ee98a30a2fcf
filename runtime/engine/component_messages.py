"""The words exchanged with the engine about one component's source: what it is made into, or why it cannot be made."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from flows.document import Json, JsonObject
from flows.json_values import as_list, as_object, as_text, texts
from runtime.engine.run_messages import ended
from runtime.failures import from_chain
from runtime.results import RunError

SECONDS = 20.0
"""How long making one component may take; an ordinary one takes a tenth of a second."""
MAX_MADE = 1024 * 1024
"""Bytes of the largest description of a component that is taken."""
MAX_NAME = 64
"""Characters of a component's own name that are kept."""

Unmade: TypeAlias = Literal["code", "timeout", "crash", "limit", "missing_package", "busy"]


@dataclass(frozen=True)
class Made:
    """A component as the engine made it; only what its own code says of it, so nothing here can be relied on.

    Attributes:
        node: its definition, as a node carries it.
        without_method: methods that its outputs name and that it does not have.
        own_outputs: whether it decides itself, while it is configured, which outputs it has.
        choices: what its options make of fields and outputs; None when the engine could not say.
        lacking: packages that it imports and that are not there.
        own_name: the name that it gives itself beside its class's.
    """

    node: JsonObject
    without_method: tuple[str, ...] = ()
    own_outputs: bool = False
    choices: JsonObject | None = None
    lacking: JsonObject = field(default_factory=dict[str, Json])
    own_name: str = ""


@dataclass(frozen=True)
class NotMade:
    """Why a source was not made into a component.

    Attributes:
        code: the kind of failure; `busy` and a `crash` without a line may have nothing to do with the source.
        message: what happened, without paths or traces.
        line: the line of the source where it happened, when that is known.
        fix: what to do.
    """

    code: Unmade
    message: str
    fix: str
    line: int | None = None


def made_of(message: JsonObject | RunError, limit: float) -> Made | NotMade:
    """The outcome that an answer of the engine says; `limit` is the time in seconds that it had."""
    if isinstance(message, RunError):
        return _ended(message.code, message.message, limit)
    if message.get("type") != "result":
        return _ended(as_text(message.get("code")), as_text(message.get("message")), limit)
    failure = as_object(message.get("failure"))
    if failure:
        return _failed(failure)
    found = as_object(message.get("described"))
    node = as_object(found.get("node"))
    if not isinstance(node.get("template"), dict) or not isinstance(node.get("outputs"), list):
        return NotMade("crash", "The engine gave back something that is no component.", _FIXES["crash"])
    choices = found.get("choices")
    return Made(
        node=node,
        without_method=tuple(texts(found.get("without_method"))),
        own_outputs=found.get("own_outputs") is True,
        choices=choices if isinstance(choices, dict) else None,
        lacking=as_object(found.get("lacking")),
        own_name=as_text(found.get("name"))[:MAX_NAME],
    )


_FIXES = {
    "timeout": "Do nothing slow while the class is defined: no loops, no waiting, no requests outside its methods.",
    "crash": "Do not end or disturb the process; do the work in the methods of the outputs.",
    "limit": "Do less while the class is defined; do the work in the methods of the outputs.",
    "busy": "Try again in a moment.",
}


def _ended(code: str, detail: str, limit: float) -> NotMade:
    if code == "timeout":
        return NotMade("timeout", f"The component was not made within {limit:g} s.", _FIXES["timeout"])
    if code in {"limit", "busy"}:
        kind: Unmade = "limit" if code == "limit" else "busy"
        return NotMade(kind, ended(code, limit, detail).message, _FIXES[code])
    detail = detail.replace("The run's process", "The process that made the component").replace(
        "before it gave a result", "before the component was made"
    )
    return NotMade("crash", detail or "The component could not be made.", _FIXES["crash"])


def _failed(failure: JsonObject) -> NotMade:
    error = from_chain(as_list(failure.get("chain")), None)
    given = failure.get("line")
    line = given if isinstance(given, int) and not isinstance(given, bool) and given > 0 else None
    message = _plain(error.message)
    if any(as_text(as_object(cause).get("type")) == "builtins.SystemExit" for cause in as_list(failure.get("chain"))):
        return NotMade("crash", "The source ends the process while the class is defined.", _FIXES["crash"], line)
    if _NO_MODULE.search(message):
        return NotMade("missing_package", message, _PACKAGES, line)
    if error.code == "limit":
        return NotMade("limit", message, _FIXES["limit"], line)
    fix = next((fix for pattern, fix in _ADVICE if pattern.search(message)), "Correct the source.")
    return NotMade("code", message, fix, line)


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
    (re.compile(r"overlapping names"), "Give every input and every output a name of its own."),
    (re.compile(r"does not have a method"), 'Give that Output the method that computes it: Output(…, method="name").'),
    (re.compile(r"has no attribute 'name'"), f"List inputs as objects of lfx.io: {_INPUTS}."),
)


def _plain(message: str) -> str:
    """A message without what the engine wraps around it."""
    found = _WRAPPED.match(message)
    if found is None:
        return message
    text = found["text"].strip().rstrip(",")
    if text[:1] in {"'", '"'} and text.endswith(text[:1]):
        text = text[1:-1]
    return f"{found['kind']}: {text}" if text else f"{found['kind']}."
