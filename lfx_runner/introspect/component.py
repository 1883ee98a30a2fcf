"""Creates a component from its source, in a process of its own, and describes its fields, outputs and choices."""

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from lfx.custom import utils
from lfx.custom.custom_component.component import Component
from lfx.field_typing.constants import DEFAULT_IMPORT_STRING

from lfx_runner.execute import exception_chain
from lfx_runner.introspect.catalogue import account_fields
from lfx_runner.introspect.options import rules_of
from lfx_runner.introspect.refresh import plain
from lfx_runner.introspect.requirements import missing_packages

CHOICE_SECONDS = 5.0
"""Seconds that examining its options may take."""
_LINES_BEFORE = DEFAULT_IMPORT_STRING.count("\n") + 1
"""How many lines the engine adds before a component's source."""
_WARM = """
from lfx.custom import Component
from lfx.io import MessageTextInput, Output
from lfx.schema.message import Message


class Warm(Component):
    display_name = "Warm"
    inputs = [MessageTextInput(name="text", display_name="Text")]
    outputs = [Output(name="result", display_name="Result", method="give")]

    def give(self) -> Message:
        return Message(text=self.text)
"""


def describe(request: Mapping[str, Any]) -> dict[str, Any]:
    """The component whose source is `request["source"]` and whose class is `request["class"]`.

    A failing source does not raise: its failure is the chain of exceptions, outermost first, and the line.
    """
    try:
        return {"described": _described(request["source"], request["class"]), "failure": None}
    except (Exception, SystemExit, KeyboardInterrupt, asyncio.CancelledError) as error:  # noqa: BLE001 - the result
        cause = _cause(error)
        return {"described": None, "failure": {"chain": exception_chain(cause), "line": _line(cause)}}


def _described(source: str, name: str) -> dict[str, Any]:
    template, component = utils.build_custom_component_template(Component(_code=source), class_name=name)
    node = plain(template)
    node["template"].setdefault("code", {})["value"] = source
    methods = [output.get("method") for output in node.get("outputs") or []]
    # Its top-level imports are installed, or creating it would have failed; lfx provides `langflow` under that name.
    missing = missing_packages({name: node}).get(name, {}).get("sometimes", [])
    sometimes = [package for package in missing if package != "langflow"]
    return {
        "node": node,
        "name": plain(getattr(type(component), "name", None)),
        "without_method": [method for method in methods if not callable(getattr(component, str(method), None))],
        "own_outputs": getattr(type(component), "update_outputs", None) is not Component.update_outputs,
        "choices": _choices(node),
        "lacking": {"always": [], "sometimes": sometimes} if sometimes else {},
    }


def _choices(node: dict[str, Any]) -> Any:
    try:
        return rules_of(node, account_fields(), time.monotonic() + CHOICE_SECONDS)
    except Exception:  # noqa: BLE001 - raised by the component's refresh: its choices are unknown
        return None


def _cause(error: BaseException) -> BaseException:
    """The exception behind the HTTP errors in which the engine wraps those of a component."""
    while type(error).__name__ == "HTTPException" and error.__cause__ is not None:
        error = error.__cause__
    return error


def _line(error: BaseException) -> int | None:
    """The innermost line of the component's source in the tracebacks of an exception and its causes."""
    found: int | None = None
    current: BaseException | None = error
    for _ in range(8):
        if current is None:
            break
        trace = current.__traceback__
        while trace is not None:
            number = (trace.tb_lineno or 0) - _LINES_BEFORE
            if trace.tb_frame.f_code.co_filename == "<string>" and number > 0:
                found = number
            trace = trace.tb_next
        current = current.__cause__
    return found


def warm_up() -> None:
    """Import and use what describing needs, so that a forked process need not."""
    if describe({"source": _WARM, "class": "Warm"})["failure"] is not None:
        raise RuntimeError("a plain component could not be described")
