"""Tweaks: values for one run in place of those that the flow holds, checked like any other edit."""

from __future__ import annotations

from flows.catalogue import Catalogue
from flows.document import Flow
from flows.edits import EditError, configure
from runtime.options import Tweaks
from runtime.results import RunError, RunFailed


def apply_tweaks(flow: Flow, catalogue: Catalogue, tweaks: Tweaks) -> Flow:
    """Return the flow with the tweaks applied. It must still be admitted: a tweak may change code.

    Raises:
        RunFailed: there is no such node or field, or a value is wrong.
    """
    for node, values in tweaks.items():
        try:
            flow = configure(flow, catalogue, node, dict(values)).flow
        except EditError as error:
            fault = error.faults[0]
            message = f"The tweak is refused: {fault.message}"
            raise RunFailed(RunError(code="refused", message=message, fix=fault.fix, node=node)) from None
    return flow
