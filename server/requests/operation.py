"""What a route takes and gives, declared beside it, for the description of the API."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar, get_args

from pydantic import BaseModel
from starlette.routing import Route

from agent.contract.model import Page
from server.requests.deferred import Deferred

F = TypeVar("F", bound=Callable[..., Any])

_NAME: Final = "operation"


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One method of one address.

    Attributes:
        reply: the model of the JSON that it answers with; None for none.
        body: the model of the JSON that it takes; None for none.
        query: the model of the address's query; None for none.
        status: the status when it succeeds.
        also: the models of other replies that say it succeeded, by status.
        media_type: what the reply is; `text/event-stream` for a stream of the model's objects.
        events: the model of the events that are streamed instead when the request asks for a stream; None for none.
        headers: the headers that a reply has which says it succeeded, beside those of every reply.
        takes: the headers that change what is done, beside those that every route takes.
        errors: the statuses of its own errors, beside those that follow from what it takes.
        body_types: the media types of the body.
        body_optional: whether the body may be left out.
        described: whether the description of the API has it; another protocol is described elsewhere.
    """

    reply: type[BaseModel] | Any = None
    body: type[BaseModel] | Any = None
    query: type[BaseModel] | None = None
    status: int = 200
    also: Mapping[int, Any] = field(default_factory=dict[int, Any])
    media_type: str = "application/json"
    events: Any = None
    headers: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    errors: tuple[int, ...] = ()
    body_types: tuple[str, ...] = ("application/json",)
    body_optional: bool = False
    described: bool = True


def operation(
    reply: Any = None,
    *,
    body: Any = None,
    query: type[BaseModel] | None = None,
    status: int | None = None,
    also: Mapping[int, Any] | None = None,
    media_type: str = "application/json",
    events: Any = None,
    headers: tuple[str, ...] = (),
    takes: tuple[str, ...] = (),
    errors: tuple[int, ...] = (),
    body_types: tuple[str, ...] = ("application/json",),
    body_optional: bool = False,
    described: bool = True,
) -> Callable[[F], F]:
    """Declare what an endpoint takes and gives; the arguments are the fields of `Operation`.

    The status is 204 where nothing is answered, unless it is given.
    """
    known = Operation(
        reply=reply,
        body=body,
        query=query,
        also=also or {},
        status=status or (204 if reply is None and media_type == "application/json" else 200),
        media_type=media_type,
        events=events,
        headers=headers,
        takes=takes,
        errors=errors,
        body_types=body_types,
        body_optional=body_optional,
        described=described,
    )

    def declare(endpoint: F) -> F:
        vars(endpoint)[_NAME] = known
        return endpoint

    return declare


def operations(routes: Iterable[Route]) -> Iterator[tuple[str, str, Operation | None]]:
    """The path and the method of everything that routes serve, and what it declares; None if it declares nothing.

    Args:
        routes: the routes, before they are wrapped by middleware.
    """
    for path, method, function in functions(routes):
        yield path, method, declared(function)


def functions(routes: Iterable[Route]) -> Iterator[tuple[str, str, object]]:
    """The path and the method of everything that routes serve, and the function that answers, which is imported for it.

    Args:
        routes: the routes.
    """
    for route in routes:
        endpoint = route.endpoint.endpoint if isinstance(route.endpoint, Deferred) else route.endpoint
        if isinstance(endpoint, type):
            for method in ("get", "post", "put", "patch", "delete"):
                function: object = getattr(endpoint, method, None)
                if function is not None:
                    yield route.path, method.upper(), function
            continue
        for method in sorted(route.methods or ()):
            if method != "HEAD":
                yield route.path, method, endpoint


def is_page(operation: Operation) -> bool:
    """Whether a route answers with a page of a list."""
    models = get_args(operation.reply) or (operation.reply,)
    return all(isinstance(model, type) and issubclass(model, Page) for model in models)


def declared(endpoint: object) -> Operation | None:
    """What the function of a route declares; None if it declares nothing."""
    found: object = getattr(endpoint, _NAME, None)
    return found if isinstance(found, Operation) else None
