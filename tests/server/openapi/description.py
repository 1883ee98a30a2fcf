"""The description of the API, for tests that compare with it what a server answers."""

import re
from functools import cache
from typing import Any

from starlette.routing import Route

from server.access.auth import Access
from server.app import create_app
from server.openapi.document import openapi
from server.settings import ServerSettings

OF_OTHERS = frozenset({200, 202, 400, 404, 405, 413, 415, 503})
"""What a route may answer with that another protocol describes."""


@cache
def document() -> dict[str, Any]:
    """The description of this version."""
    app = create_app(ServerSettings(), access=Access("t" * 43))
    return openapi((route for route in app.routes if isinstance(route, Route)), "0.1.0")


def described(method: str, route: Route) -> frozenset[int]:
    """The statuses that the description has for a method of a route; 405 for one that the route does not have."""
    methods = document()["paths"].get(re.sub(r":\w+\}", "}", route.path))
    if methods is None:
        return OF_OTHERS
    known = methods.get("get" if method == "HEAD" else method.lower())
    return frozenset({405}) if known is None else frozenset(map(int, known["responses"]))
