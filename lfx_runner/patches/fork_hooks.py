"""Leaves out what a library registers to be called at every fork.

`filelock` looks through its locks before and after each fork, in both processes. The template holds none, and the
library finds out by itself that it is in another process when a lock is used there.
"""

import os
import sys
from collections.abc import Callable
from typing import Any

LEFT_OUT = "filelock"


def install() -> None:
    """Ignore the hooks that this library registers from now on."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork = _without(os.register_at_fork)


def _without(register: Callable[..., None]) -> Callable[..., None]:
    def registered(**hooks: Any) -> None:
        caller = sys._getframe(1).f_globals.get("__name__", "")
        if caller.partition(".")[0] != LEFT_OUT:
            register(**hooks)

    return registered
