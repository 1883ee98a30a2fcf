"""What may run: a flow is read here before anything in it is executed."""

from runtime.guard.admission import refuse, runnable

__all__ = ["refuse", "runnable"]
