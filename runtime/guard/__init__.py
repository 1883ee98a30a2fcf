"""What may run: a flow is read here before anything in it is executed."""

from runtime.guard.admission import refuse, runnable
from runtime.guard.executed import ExecutedField, executed_fields
from runtime.guard.source import scan
from runtime.guard.violations import Rule, Violation

__all__ = ["ExecutedField", "Rule", "Violation", "executed_fields", "refuse", "runnable", "scan"]
