"""Failures to find the address of a host, said in plain words."""

import re
from collections.abc import Sequence

from runtime.results import RunError

_UNKNOWN = re.compile(
    r"name or service not known|nodename nor servname|no address associated with hostname|getaddrinfo failed"
    r"|name does not resolve|\[errno -(?:2|5)\]",
    re.IGNORECASE,
)
_NO_ANSWER = re.compile(r"temporary failure in name resolution|\[errno -3\]", re.IGNORECASE)
_FAILED = re.compile(r"dns resolution failed|failed to resolve|nameresolutionerror", re.IGNORECASE)
_HOST = re.compile(
    r"resolution failed for '?(?P<failed>[\w.-]*\w)|failed to resolve '(?P<quoted>[^']+)'|\bhost='(?P<pool>[^']+)'"
    r"|connect to host (?P<client>[\w.-]*\w)|https?://(?:[^/\s@]*@)?(?P<url>[\w.-]*\w)",
    re.IGNORECASE,
)
_FIX = "Check the address for typing errors, and that this machine has a network, then try again."


def unknown_host(messages: Sequence[str], node: str | None) -> RunError | None:
    """The error for a host whose address cannot be found; None when the messages tell of something else.

    Args:
        messages: those of the exceptions, outermost first.
        node: the node that failed.
    """
    text = "\n".join(messages)
    if _NO_ANSWER.search(text):
        why = "nobody answers what its address is, as without a network"
    elif _UNKNOWN.search(text) or _FAILED.search(text):
        why = "there is no host of that name"
    else:
        return None
    found = _HOST.search(text)
    name = "" if found is None else next(filter(None, found.groups()), "")
    host = f"The host {name[:253]}" if name else "A host that the flow calls"
    return RunError(code="external", message=f"{host} could not be reached: {why}.", fix=_FIX, node=node)
