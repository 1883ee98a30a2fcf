"""What a run may reach."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from runtime.egress.addresses import Address, is_public, read_address
from runtime.egress.hosts import NamedHost, names
from runtime.results import RunError

HostRule: TypeAlias = Literal["allow", "ask", "deny"]
"""Whether a user's run may reach public hosts: all, those that the user approves, or none but what the operator names.
"""

VARIABLE = "WIREWRIGHT_RUN_HOSTS"


class HostRefused(Exception):
    """A run may not reach a host, or it cannot be reached.

    Attributes:
        error: what to tell the user.
        status: what the proxy answers.
        unapproved: whether it is refused only because nobody has approved it for the run.
    """

    def __init__(self, error: RunError, status: int = 403, *, unapproved: bool = False) -> None:
        super().__init__(error.message)
        self.error = error
        self.status = status
        self.unapproved = unapproved


@dataclass(frozen=True, kw_only=True)
class EgressPolicy:
    """What one run may reach.

    Attributes:
        rule: whether a user's run may reach public hosts.
        named: what the operator names; a user's run may reach it wherever it is.
        approved: what the user has approved for this run.
        only: what the run is limited to, whatever else would allow more; None for no such limit.
        verification: whether this is a verification run, which reaches only what is approved.
    """

    rule: HostRule = "allow"
    named: Collection[NamedHost] = ()
    approved: Collection[NamedHost] = ()
    only: Collection[NamedHost] | None = None
    verification: bool = False

    def check_name(self, host: str, port: int) -> None:
        """Check a host by how it is written, before it is looked up: a look-up can tell others something, too.

        Raises:
            HostRefused: the run may not reach it, whatever its address is.
        """
        where, approved = place(host, port), names(self.approved, host, port)
        if self.verification and not approved:
            raise HostRefused(
                _refused(f"A verification run may not reach {where}: it has not been approved.", "Run the flow itself.")
            )
        by_rule = self.rule == "allow" or names(self.named, host, port)
        if not by_rule and self.rule == "deny":
            raise HostRefused(
                _refused(
                    f"The run may not reach {where}: runs reach only what the operator names.",
                    f"The operator can name it: {VARIABLE}={where}.",
                )
            )
        if not (by_rule or approved):
            raise HostRefused(
                _refused(
                    f"The run may not reach {where}: it has not been approved.",
                    f"Approve it for the run, or have the operator name it: {VARIABLE}={where}.",
                ),
                unapproved=True,
            )
        if self.only is not None and not names(self.only, host, port):
            if (literal := read_address(host)) is not None:
                self.allowed_addresses(host, port, [literal])
            raise HostRefused(
                _refused(
                    f"The run may not reach {where}: nobody has named or approved it, and others' text was read.",
                    "Approve it for the run, or name it in the message.",
                ),
                unapproved=True,
            )

    def allowed_addresses(self, host: str, port: int, addresses: Sequence[Address]) -> Sequence[Address]:
        """Those of a host's addresses that may be connected to, without looking anything up again.

        Args:
            host: the host, as it is written.
            port: the port.
            addresses: what it has been resolved to.

        Raises:
            HostRefused: none is public, and the operator has named neither one of them nor the host.
        """
        if any(each.has_name(host, port) for each in self.named):
            return addresses
        found = [one for one in addresses if is_public(one) or any(each.has_address(one, port) for each in self.named)]
        if not found:
            raise HostRefused(
                _refused(
                    f"The run may not reach {place(host, port)}: its address is one of this machine or of a private "
                    "network.",
                    f"Use a public address, or have the operator name it: {VARIABLE}={place(host, port)}.",
                )
            )
        return found


def place(host: str, port: int) -> str:
    """A host and port as they are written."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _refused(message: str, fix: str) -> RunError:
    return RunError(code="refused", message=message, fix=fix)
