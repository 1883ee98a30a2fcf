"""The options of one run: its limits, network, models, values and event callback."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Protocol, TypeAlias

from flows.document import Flow, Json
from runtime.files.store import UserFiles
from runtime.gateway.models import Models
from runtime.run_events import EVENT_KINDS, EventKind, RunEvent
from runtime.sessions.memory import SessionMemory

if TYPE_CHECKING:
    from runtime.results import RunResult

P = ParamSpec("P")

Network: TypeAlias = Literal["gateway-only", "open"]
"""What a run may reach: the model gateway and approved hosts alone (nothing, if it has neither), or what the operator
allows. Either reaches hosts through the egress proxy."""

Tweaks: TypeAlias = Mapping[str, Mapping[str, Json]]
"""Values for one run, by node id and field name."""

OnEvent: TypeAlias = Callable[[RunEvent], None]
"""Called on the event loop with each event of a run, in order and before its result; it must not block."""


class KeepsVariables(Protocol):
    """Keeps the variables of a user."""

    async def values(self) -> Mapping[str, str]:
        """The values of all variables, by name.

        Raises:
            StoreUnavailable: they cannot be read.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The options of one run."""

    run_id: str | None = None
    """The id of the run; None for a new one."""
    timeout: float = 60.0
    """Seconds that the run itself may take; waiting for its turn does not count."""
    session: str | None = None
    """The session id that the flow sees; None for a new one."""
    memory: SessionMemory | None = None
    """The messages of the session, which the run reads and adds to; None for those that the runner itself keeps. A
    run without a session, and a verification run, has none."""
    want_nodes: bool = False
    """Whether the result has every node's value, and not only those of the outputs."""
    network: Network = "open"
    """What the run may reach; `gateway-only` makes it a verification run, into which no variable enters."""
    models: Models | None = None
    """What the flow may call; None for the runner's own models."""
    tweaks: Tweaks | None = None
    """Values that replace those of the flow, for this run only."""
    on_event: OnEvent | None = None
    """Called with each event of the run; None requests no events from the engine."""
    event_kinds: Collection[EventKind] = EVENT_KINDS
    """The kinds of events that `on_event` is called with; others are not sent by the run's process."""
    hosts: Collection[str] = ()
    """The hosts that the user has approved for this run, as `host` or `host:port`; a verification run reaches no
    others."""
    only_hosts: Collection[str] | None = None
    """The hosts that the run is limited to, `*.domain` for all below one, beside what else may refuse it; None for no
    further limit. It allows nothing that is refused otherwise."""
    max_iterations: int | None = None
    """How many times one node may run before the run ends with an error of code `limit`; None for 1,000."""
    allow_variables: Collection[str] | None = None
    """Names of the variables that may enter the run; None for those that the runner allows."""

    variables: KeepsVariables | None = None
    """The variables that the user keeps: they enter where a secret field names them. None for none."""

    files: UserFiles | None = None
    """The user's files: the run may read those that its nodes name, and what it writes is kept among them.

    None for no files. A verification run keeps nothing."""

    @property
    def session_name(self) -> str | None:
        """The session id without spaces around it; None if none was given."""
        return (self.session or "").strip() or None

    @property
    def verification(self) -> bool:
        """Whether this is a verification run."""
        return self.network != "open"


class BoundRun(Protocol[P]):
    """Runs a flow, with options as keywords."""

    async def __call__(self, flow: Flow, text: str | None = None, *args: P.args, **options: P.kwargs) -> RunResult:
        """Run `flow` with `text` as its input."""
        ...


class RunMethod(Protocol[P]):
    """A method that runs a flow, with options as keywords."""

    def __get__(self, instance: Any, owner: type | None = None, /) -> BoundRun[P]:
        """The method of an instance."""
        ...


def takes(options: Callable[P, RunOptions]) -> Callable[[Callable[..., Any]], RunMethod[P]]:
    """Let a method that runs a flow take the fields of its options as keywords, which so are declared once.

    Args:
        options: makes the options of the keywords: `RunOptions`.
    """

    def decorate(method: Callable[..., Any]) -> RunMethod[P]:
        plain, keywords = signature(method), signature(options).parameters.values()
        own = [each for each in plain.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
        vars(method)["__signature__"] = plain.replace(parameters=[*own, *keywords])
        found: Any = method
        return found

    return decorate
