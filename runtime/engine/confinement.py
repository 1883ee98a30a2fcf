"""What must confine a run before it is given a flow, and the refusal where this machine lacks it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast, get_args

from flows.document import JsonObject
from flows.json_values import as_list
from runtime.results import RunError

ConfinementRule: TypeAlias = Literal["required", "available"]
"""Whether a run needs all of `REQUIRED`, or makes do with what the machine has."""

VARIABLE: Final = "WIREWRIGHT_RUN_CONFINEMENT"
"""The operator's rule; read from the process's environment alone."""

LANDLOCK: Final = 4
"""The oldest Landlock that confines a run: 3 keeps it from cutting files short, 4 to the ports that it may use."""

REQUIRED: Final = {
    "files": "file system",
    "privileges": "privileges",
    "system calls": "system calls",
    "ports": "network of other runs",
}
"""The parts of the confinement that no run goes without, and the names that the status gives them."""

STILL_WORKS: Final = "Building, checking and searching work here."
FIX: Final = (
    "Run flows on Linux 6.7 or newer with Landlock and seccomp, on another system in a virtual machine. "
    f"Or set {VARIABLE}=available in the environment: flows then run with what this machine has. {STILL_WORKS}"
)

CANNOT_FORK: Final = RunError(
    code="refused",
    message="Flows do not run on this system: it cannot fork, but every flow runs in a process of its own.",
    fix=f"Run flows on Linux, or on Windows in WSL. {STILL_WORKS}",
)
"""Why no flow runs on Windows, whatever the rule."""

UNTRIED: Final = RunError(
    code="crash",
    message="Whether runs can be confined on this machine is not known: the process that tries it did not answer.",
    fix="Try again; a run tries it, too.",
)
"""What is known when the trial failed."""


@dataclass(frozen=True, kw_only=True)
class Confinement:
    """What holds of a run's confinement, as the process that confines itself reports it.

    Attributes:
        held: the parts that hold.
        landlock: the version of Landlock that the kernel has; 0 for none.
    """

    held: frozenset[str] = frozenset()
    landlock: int = 0

    @classmethod
    def read(cls, message: JsonObject) -> Confinement:
        """Read a report; what it does not name does not hold."""
        version = message.get("landlock")
        return cls(
            held=frozenset(part for part in as_list(message.get("held")) if isinstance(part, str)),
            landlock=version if isinstance(version, int) else 0,
        )

    @property
    def missing(self) -> tuple[str, ...]:
        """The required protections that do not hold, by the names of the status."""
        return tuple(name for part, name in REQUIRED.items() if part not in self.held)

    def refusal(self, rule: ConfinementRule) -> RunError | None:
        """Why no flow runs with this confinement under a rule; None when flows run."""
        if rule == "available" or not self.missing:
            return None
        message = f"Flows do not run on this machine, because its kernel lacks what confines them: {self._lacks()}."
        if 0 < self.landlock < LANDLOCK:
            message += f" Its Landlock is version {self.landlock}."
        return RunError(code="refused", message=message, fix=FIX)

    def _lacks(self) -> str:
        """What the kernel lacks, by its names: the same in every language."""
        wanted = {f"Landlock {LANDLOCK}": ("files", "ports"), "seccomp": ("system calls",), "capset": ("privileges",)}
        return ", ".join(name for name, parts in wanted.items() if not self.held.issuperset(parts))


def can_fork() -> bool:
    """Whether this system can fork, without which no flow runs here: each runs in a process of its own."""
    return hasattr(os, "fork")


def rule_of_environment() -> ConfinementRule:
    """The operator's rule; anything but a rule is the strict one."""
    wanted = os.environ.get(VARIABLE, "").strip()
    return cast("ConfinementRule", wanted) if wanted in get_args(ConfinementRule) else "required"
