"""The hosts that a flow, an input or a component's source names, and which of them the user has to be asked about."""

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress

from flows.catalogue import Catalogue
from flows.document import Flow, Node
from flows.json_values import Json, as_object
from tools.mandate import name_words
from tools.workbench import Workbench

_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://(?:[^\s/@\"'<>]*@)?(\[[^\]\s]+\]|[^\s/:?#\"'<>\\)\],;]+)", re.IGNORECASE)
_DOMAIN = re.compile(r"(?:[a-z0-9-]+\.)+(?:[a-z]{2,}|xn--[a-z0-9-]+)", re.IGNORECASE)
_OTHER_SCRIPT = re.compile(r"(?:[^\W_](?:[\w-]*[^\W_])?\.)+[^\W_]{2,}")
_BARE = re.compile(r"(?://)?(?:[^\s/@]*@)?(\[[^\]\s]+\]|[^\s/:?#@]+)(?::\d+)?(?:[/?#].*)?", re.DOTALL)
_ADDRESS = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}|\[[0-9a-f:.]+\]", re.IGNORECASE)
_ADDRESS_FIELD = re.compile(r"url|uri|host|endpoint|server|webhook|domain", re.IGNORECASE)
_SECOND_LEVEL = frozenset({"ac", "co", "com", "edu", "gov", "net", "org"})


def is_asked_about(bench: Workbench, host: str) -> bool:
    """Whether sending to a host has to be asked: it may come from others' text, and the user has not named it.

    Args:
        bench: knows whether others' text was read, in this turn or in those that its prompt quotes.
        host: in lower case.
    """
    foreign = host in bench.foreign_hosts or bench.tainted
    return foreign and host not in bench.allowed_hosts and not _is_named(bench, host)


def is_run_asked_about(bench: Workbench, host: str) -> bool:
    """Whether a run that sends to a host has to be asked; where the operator has runs ask, it always has.

    Args:
        bench: the workbench.
        host: in lower case.
    """
    if bench.host_rule == "ask":
        return host not in bench.allowed_hosts
    return is_asked_about(bench, host)


def added_hosts(bench: Workbench, flow: Flow) -> list[str]:
    """The hosts that a changed or new flow names and that stood in none before.

    Args:
        bench: has the canvas and the proposal before the change.
        flow: the flow after it.
    """
    before = {host for one in (bench.initial_flow, bench.flow, bench.current) for host in _known(bench, one)}
    return [host for host in flow_hosts(flow, bench.catalogue) if host not in before]


def run_hosts(bench: Workbench, text: str | None) -> list[str]:
    """The hosts that a run would send to, but for those that its flow already named when the turn began.

    A host that was in the flow then belongs to the user's own: it counts only when they did not ask for a run, or when
    an earlier turn took it from others' text. Where the operator has runs ask for hosts, every host counts.

    Args:
        bench: the workbench.
        text: the run's input.
    """
    found = dict.fromkeys((*flow_hosts(bench.current, bench.catalogue), *hosts_in(text or "")))
    if bench.host_rule == "ask":
        return list(found)
    own = (_known(bench, bench.initial_flow) | _offered(bench)) if bench.mandate.asks("run") else set[str]()
    return [host for host in found if host not in own or host in bench.foreign_hosts]


def only_hosts(bench: Workbench) -> frozenset[str] | None:
    """What a run is limited to once others' text was read: the hosts that the user has named, approved, or has a flow
    for that they ask to run. None while nothing was read, which leaves it to the operator.

    What a run really reaches is compared with these, so it does not matter how a text spells a host.

    Args:
        bench: the workbench, after the run's known hosts were asked about.
    """
    if not (bench.tainted or bench.foreign_hosts):
        return None
    own = (_known(bench, bench.initial_flow) | _offered(bench)) if bench.mandate.asks("run") else set[str]()
    named = _named(bench)
    return frozenset((*bench.allowed_hosts, *(own - bench.foreign_hosts), *named, *(f"*.{one}" for one in named)))


def hosts_to_ask(bench: Workbench) -> frozenset[str]:
    """The hosts of the current flow that later turns must ask about: those that came from others' text, unnamed."""
    own = _known(bench, bench.initial_flow) | _offered(bench)
    found = flow_hosts(bench.current, bench.catalogue)
    left = {host for host in found if host in bench.foreign_hosts or host not in own}
    return frozenset(host for host in left if is_asked_about(bench, host))


def _known(bench: Workbench, flow: Flow) -> set[str]:
    return set(flow_hosts(flow, bench.catalogue))


def _offered(bench: Workbench) -> set[str]:
    """The hosts of the proposals that earlier turns made."""
    return {host for flow in bench.offers.values() for host in flow_hosts(flow, bench.catalogue)}


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
            yield from hosts_in(held)
            if _ADDRESS_FIELD.search(name):
                yield from bare_hosts(held)


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


def bare_hosts(text: str) -> list[str]:
    """The host of an address that is written without its scheme, in lower case; none when the text is no address."""
    found = _BARE.fullmatch(text.strip())
    host = "" if found is None else found[1].rstrip(".")
    is_host = any(kind.fullmatch(host) for kind in (_DOMAIN, _OTHER_SCRIPT, _ADDRESS))
    return [_as_looked_up(host)] if is_host else []


def hosts_in(text: str) -> list[str]:
    """The hosts of the addresses in a text, in lower case, and in the form in which they are looked up."""
    return list(dict.fromkeys(_as_looked_up(host) for host in _URL.findall(text)))


def _as_looked_up(host: str) -> str:
    """A host as it reaches a name server: a name in another script than Latin is encoded (`xn--…`)."""
    host = host.lower().rstrip(".")
    if not host.isascii():
        with suppress(UnicodeError):
            return host.encode("idna").decode("ascii")
    return host


def _is_named(bench: Workbench, host: str) -> bool:
    """Whether the user's words name a host, a domain that it is in, or whose it is ("Slack")."""
    named = _named(bench)
    if any(host == one or host.endswith(f".{one}") for one in named):
        return True
    whose = name_words([_owner(host)])
    targets = bench.mandate.effects.get("reach", ())
    return any(name_words([target]) & whose for target in targets if "." not in target)


def _named(bench: Workbench) -> set[str]:
    """The hosts that the user's words spell out; the name of one of their files is none."""
    files = {part for path, _ in bench.attached for part in (path.lower(), path.lower().rpartition("/")[2])}
    return set(_named_in("\n".join((bench.request_text, *bench.mandate.effects.get("reach", ()))))) - files


def _named_in(text: str) -> Iterable[str]:
    words = text.lower()
    addresses: Collection[str] = _ADDRESS.findall(words)
    others = (_as_looked_up(found) for found in _OTHER_SCRIPT.findall(words) if not found.isascii())
    return [*hosts_in(words), *_DOMAIN.findall(words), *others, *addresses]


def _owner(host: str) -> str:
    """The part of a host that says whose it is: `slack` of `hooks.slack.com`."""
    labels = host.split(".")[:-1]
    while len(labels) > 1 and labels[-1] in _SECOND_LEVEL:
        labels.pop()
    return labels[-1] if labels else host
