"""What keeps a stored flow from being run, found once for as long as the flow stays parsed."""

from __future__ import annotations

from typing import Final
from weakref import WeakKeyDictionary

from flows.catalogue import Catalogue
from flows.checks import check
from flows.document import Flow
from flows.faults import Fault

_KNOWN: Final[WeakKeyDictionary[Flow, tuple[Catalogue, tuple[Fault, ...]]]] = WeakKeyDictionary()
"""The errors of flows that somebody still has, with the catalogue by which they were found."""


def errors_of(flow: Flow, catalogue: Catalogue) -> tuple[Fault, ...]:
    """The faults for which a flow is not run.

    Args:
        flow: the flow.
        catalogue: the component types.
    """
    known = _KNOWN.get(flow)
    if known is None or known[0] is not catalogue:
        known = _KNOWN[flow] = catalogue, tuple(fault for fault in check(flow, catalogue) if fault.is_error)
    return known[1]
