"""What a route takes and gives, declared beside it, for the description of the API."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pydantic import BaseModel
from starlette.endpoints import HTTPEndpoint
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
        media_type: what the reply is; `text/event-stream` for a stream of the model's objects.
    """

    reply: type[BaseModel] | Any = None
    body: type[BaseModel] | Any = None
    query: type[BaseModel] | None = None
    status: int = 200
    media_type: str = "application/json"


def operation(
    reply: Any = None,
    *,
    body: Any = None,
    query: type[BaseModel] | None = None,
    status: int | None = None,
    media_type: str = "application/json",
) -> Callable[[F], F]:
    """Declare what an endpoint takes and gives; the arguments are the fields of `Operation`.

    The status is 204 where nothing is answered, unless it is given.
    """
    known = Operation(
        reply=reply,
        body=body,
        query=query,
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
        endpoint: Any = route.endpoint
        if isinstance(endpoint, type) and issubclass(endpoint, HTTPEndpoint):
            for method in ("get", "post", "put", "patch", "delete"):
                if (function := getattr(endpoint, method, None)) is not None:
                    yield route.path, method.upper(), vars(function).get(_NAME)
            continue
        for method in sorted(route.methods or ()):
            if method != "HEAD":
                yield route.path, method, vars(endpoint).get(_NAME)
