"""What a user allows an MCP client once and for all, in its configuration: a mandate, as a message would give one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from flows.faults import did_you_mean
from tools.mandate import EVERYTHING, Effect, Mandate

PERMISSIONS: Final[Mapping[str, tuple[Effect, ...]]] = {
    "edit": ("edit", "replace_text"),
    "remove": ("remove",),
    "overwrite_files": ("overwrite_files",),
    "write_components": ("write_components",),
    "install": ("install",),
    "reach": ("reach",),
}
"""What can be allowed, and the effects that it covers: `reach` goes with a host, as `reach:api.example.org`."""


class UnknownPermission(ValueError):
    """A permission that there is none of.

    Attributes:
        message: what is wrong.
        fix: what can be allowed.
    """

    def __init__(self, given: str) -> None:
        self.message = f"{given[:60]!r} cannot be allowed."
        listed = ", ".join("reach:HOST" if name == "reach" else name for name in PERMISSIONS)
        self.fix = f"{did_you_mean(given, PERMISSIONS)} Allow any of: {listed}.".strip()
        super().__init__(f"{self.message} {self.fix}")


def standing_mandate(words: Iterable[str]) -> Mandate:
    """The mandate that permissions amount to; none at all for no words.

    Args:
        words: names of `PERMISSIONS`, each of them alone or several separated by commas.

    Raises:
        UnknownPermission: one is no permission, or `reach` has no host.
    """
    effects: dict[Effect, tuple[str, ...]] = {}
    for word in (part.strip() for one in words for part in one.split(",")):
        if not word:
            continue
        name, _, host = word.partition(":")
        if name not in PERMISSIONS or (name == "reach") != bool(host):
            raise UnknownPermission(word)
        for effect in PERMISSIONS[name]:
            effects[effect] = (*effects.get(effect, ()), host) if host else (EVERYTHING,)
    return Mandate(effects=effects)


def permission_for(kind: str, hosts: Iterable[str] = ()) -> str:
    """The permission that would have answered a question; empty when there is none.

    Args:
        kind: the kind of the question, as in `tools.approvals`.
        hosts: the hosts that it is about.
    """
    if kind == "outbound":
        return ",".join(f"reach:{host}" for host in hosts)
    return {"edit": "edit", "removal": "remove", "install": "install", "plan": "write_components"}.get(kind, "")
