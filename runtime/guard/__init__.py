"""What may run: a flow is read here before anything in it is executed."""

from typing import TYPE_CHECKING

from runtime.guard.admission import refuse, runnable
from runtime.guard.executed import ExecutedField, executed_fields
from runtime.guard.violations import Rule, Violation

if TYPE_CHECKING:
    from runtime.guard.source import scan

__all__ = ["ExecutedField", "Rule", "Violation", "executed_fields", "refuse", "runnable", "scan"]


def __getattr__(name: str) -> object:
    """Import what reads sources when it is first asked for: most processes read none.

    Raises:
        AttributeError: it is no name of the guard's.
    """
    if name != "scan":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from runtime.guard.source import scan

    globals()[name] = scan
    return scan
