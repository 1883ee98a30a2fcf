"""The component types that a server knows, as `wirewright components` asks for them."""

from cli.remote.connection import Server, segment
from server.routes.components import ComponentPage, WholeComponent

COMPONENTS = "/api/v1/components"
MOST = 200
"""Component types that a search finds at most."""


def found_by(server: Server, query: str, limit: int, **filters: str | None) -> ComponentPage:
    """The types that a search finds, best first.

    Args:
        server: the server.
        query: what they should do.
        limit: how many at most.
        filters: `accepts`, `produces` and `category`.
    """
    asked = {name: value for name, value in filters.items() if value}
    return server.read(ComponentPage, COMPONENTS, {"q": query, "limit": min(limit, MOST), **asked})


def described(server: Server, name: str) -> WholeComponent:
    """One type with its ports and fields."""
    return server.read(WholeComponent, f"{COMPONENTS}/{segment(name)}")
