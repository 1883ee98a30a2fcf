"""The hosts that a run would send to, as its flow and its input name them."""

import re
from collections.abc import Collection, Iterator

from flows.catalogue import Catalogue
from flows.document import Flow, Node
from flows.json_values import Json, as_object
from tools.mandate import name_words
from tools.workbench import Workbench

_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://(?:[^\s/@\"'<>]*@)?(\[[^\]\s]+\]|[^\s/:?#\"'<>\\)\],;]+)", re.IGNORECASE)
_DOMAIN = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}", re.IGNORECASE)
_ADDRESS_FIELD = re.compile(r"url|uri|host|endpoint|server|webhook|domain", re.IGNORECASE)
_SECOND_LEVEL = frozenset({"ac", "co", "com", "edu", "gov", "net", "org"})


def unasked_hosts(bench: Workbench, text: str | None) -> list[str]:
    """The hosts that a run would send to and that the user has not named.

    Before the turn has read others' text these are only the hosts that earlier turns took from it. Any other host that
    stood on the canvas when the turn began belongs to the user's own flow: it is asked about only when they did not ask
    for a run. Where the operator has runs ask for hosts, every host is asked about.

    Args:
        bench: the workbench.
        text: the run's input.
    """
    found = dict.fromkeys((*flow_hosts(bench.current, bench.catalogue), *_hosts(text or "")))
    if bench.host_rule == "ask":
        return [host for host in found if host not in bench.allowed_hosts]
    own = set(flow_hosts(bench.initial_flow, bench.catalogue)) if bench.run_asked else set[str]()
    return [host for host in found if _is_foreign(bench, host, own)]


def hosts_to_ask(bench: Workbench) -> frozenset[str]:
    """The hosts of the current flow that later turns must ask about: those that came from others' text, unnamed."""
    own = set(flow_hosts(bench.initial_flow, bench.catalogue))
    hosts = {host for host in flow_hosts(bench.current, bench.catalogue) if _is_foreign(bench, host, own)}
    return frozenset(hosts - bench.allowed_hosts)


def _is_foreign(bench: Workbench, host: str, own: Collection[str]) -> bool:
    """Whether a host may come from others' text: in an earlier turn, or in this one and not on the user's canvas."""
    known = host in bench.foreign_hosts
    return (known or (bench.tainted and host not in own)) and not _is_named(bench, host)


def flow_hosts(flow: Flow, catalogue: Catalogue) -> list[str]:
    """The hosts in the values of a flow's components, but for those that a type has by default."""
    found = (host for node in flow.components for host in _node_hosts(node, catalogue))
    return list(dict.fromkeys(found))


def _node_hosts(node: Node, catalogue: Catalogue) -> Iterator[str]:
    component = catalogue.get(node.type)
    for name, field in node.template.items():
        default = None if component is None else as_object(component.template.get(name)).get("value")
        value = field.get("value")
        if value == default:
            continue
        for held in _strings(value):
            yield from _hosts(held)
            bare = held.strip().partition("/")[0]
            if _ADDRESS_FIELD.search(name) and _DOMAIN.fullmatch(bare):
                yield bare.lower()


def _strings(value: Json) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for one in value:
                yield from _strings(one)
        case dict():
            for one in value.values():
                yield from _strings(one)
        case _:
            return


def _hosts(text: str) -> list[str]:
    return [host.lower().rstrip(".") for host in _URL.findall(text)]


def _is_named(bench: Workbench, host: str) -> bool:
    """Whether the user's words name a host, a domain that it is in, or whose it is ("Slack")."""
    words = bench.request_text.lower()
    named = [*_hosts(words), *(one.lower() for one in _DOMAIN.findall(words))]
    if any(host == one or host.endswith(f".{one}") for one in named):
        return True
    whose = name_words([_owner(host)])
    return any(name_words([target]) & whose for target in bench.mandate.effects.get("reach", ()) if "." not in target)


def _owner(host: str) -> str:
    """The part of a host that says whose it is: `slack` of `hooks.slack.com`."""
    labels = host.split(".")[:-1]
    while len(labels) > 1 and labels[-1] in _SECOND_LEVEL:
        labels.pop()
    return labels[-1] if labels else host
