"""Tweaks: values for one run in place of those that the flow holds, checked like any other change to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from flows.catalogue import Catalogue
from flows.document import Flow, Json
from flows.edits import EditError, configure
from runtime.results import RunError

Tweaks: TypeAlias = Mapping[str, Mapping[str, Json]]
"""Values by node id and field name."""


def tweaked(flow: Flow, catalogue: Catalogue, tweaks: Tweaks) -> Flow | RunError:
    """The flow with the tweaks in it, or the first reason why one cannot be: no such node or field, or a wrong value.

    What they make of the flow is admitted like any other flow: a tweak of code is as much other code as the code of
    the flow itself.
    """
    for node, values in tweaks.items():
        try:
            flow = configure(flow, catalogue, node, dict(values)).flow
        except EditError as error:
            fault = error.faults[0]
            return RunError(code="refused", message=f"The tweak is refused: {fault.message}", fix=fault.fix, node=node)
    return flow
