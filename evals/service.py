"""The HTTP services that the flows of a scenario may call."""

import re
from typing import Annotated, Literal

from pydantic import Field, JsonValue, StringConstraints, model_validator

from evals.expectation import Slug, Strict


class Route(Strict):
    """A service's response to one kind of request.

    Attributes:
        path: the path, without the query; `*` is any.
        method: the HTTP method.
        asked: a pattern that the decoded query or the body must have; None for any request.
        status: the status code.
        json: the body as a JSON value.
        text: the body as plain text.
        latency: milliseconds before the response.
        failures: how many requests are answered with 503 first.
        drops: whether the connection is closed without a response.
    """

    path: Annotated[str, StringConstraints(pattern=r"^(/\S*|\*)$")] = "*"
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "GET"
    asked: Annotated[str | None, Field(min_length=1, exclude_if=lambda asked: asked is None)] = None
    status: Annotated[int, Field(ge=200, le=599)] = 200
    body: JsonValue = Field(default=None, alias="json")
    text: str | None = None
    latency: Annotated[int, Field(ge=0, le=60_000)] = 0
    failures: Annotated[int, Field(ge=0)] = 0
    drops: bool = False

    @model_validator(mode="after")
    def _one_body(self) -> "Route":
        if self.text is not None and self.body is not None:
            raise ValueError("give json or text, not both")
        try:
            re.compile(self.asked or "")
        except re.error as error:
            raise ValueError(f"asked is not a regular expression: {error}") from None
        return self


class Service(Strict):
    """An HTTP service on loopback with fixed responses.

    Attributes:
        name: its name in the scenario's texts: `{{service:NAME}}` is its address.
        routes: its responses; the first match is used, and anything else is 404.
    """

    name: Slug
    routes: Annotated[tuple[Route, ...], Field(min_length=1)]
