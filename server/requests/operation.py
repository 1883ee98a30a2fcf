"""What a route takes and gives, declared beside it, for the description of the API."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from pydantic import BaseModel
from starlette.routing import Route

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
    """

    reply: type[BaseModel] | Any = None
    body: type[BaseModel] | Any = None
    query: type[BaseModel] | None = None
    status: int = 200
    also: Mapping[int, Any] = field(default_factory=dict[int, Any])
    media_type: str = "application/json"


def operation(
    reply: Any = None,
    *,
    body: Any = None,
    query: type[BaseModel] | None = None,
    status: int | None = None,
    also: Mapping[int, Any] | None = None,
    media_type: str = "application/json",
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
    for route in routes:
        if isinstance(route.endpoint, type):
            for method in ("get", "post", "put", "patch", "delete"):
                function: object = getattr(route.endpoint, method, None)
                if function is not None:
                    yield route.path, method.upper(), _declared(function)
            continue
        for method in sorted(route.methods or ()):
            if method != "HEAD":
                yield route.path, method, _declared(route.endpoint)


def _declared(endpoint: object) -> Operation | None:
    found: object = vars(endpoint).get(_NAME)
    return found if isinstance(found, Operation) else None
