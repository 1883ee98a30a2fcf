"""Lists page by page: what a client asks for, and the shape in which every list is answered."""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from starlette.requests import Request

from agent.contract.problems import reason
from server.errors import ApiError
from server.requests.query import is_number

Q = TypeVar("Q", bound=BaseModel)

QUERY_LIMIT = 200
"""Characters of a search; the rest is not read."""


def clean_text(text: str) -> str:
    """A text that every database and encoding can hold: without zero bytes and halves of characters."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _whole(given: object) -> object:
    if isinstance(given, str):
        if not is_number(given):
            raise ValueError("not a whole number within its limits")
        return int(given)
    return given


def _searched(given: object) -> object:
    return clean_text(given).strip()[:QUERY_LIMIT] if isinstance(given, str) else given


WholeNumber = Annotated[int, BeforeValidator(_whole)]
"""A whole number in an address: decimal digits and nothing else."""

SearchText = Annotated[str, BeforeValidator(_searched)]
"""What a list is searched for; empty for everything."""


class PageQuery(BaseModel):
    """Asks for a page of a list.

    Attributes:
        limit: how many entries at most.
        offset: how many entries come before them.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    limit: WholeNumber = Field(default=50, ge=1, le=200)
    offset: WholeNumber = Field(default=0, ge=0, le=2**31)


class SearchQuery(PageQuery):
    """Asks for a page of what a search finds.

    Attributes:
        q: what is searched for; empty for everything.
    """

    q: SearchText = ""


def queried(model: type[Q], request: Request) -> Q:
    """What the query of an address asks for.

    Raises:
        ApiError: 422, naming the first parameter that is wrong.
    """
    try:
        return model.model_validate(dict(request.query_params))
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
        name = ".".join(str(step) for step in problem["loc"])
        message = f"{name}: {reason(problem)}."
        raise ApiError(422, "invalid_request", message, "Correct this parameter.", f"?{name}") from None


def paging(request: Request, asked: PageQuery, total: int) -> dict[str, int | str | None]:
    """What a page says beside its entries: the fields of `Page`.

    Args:
        request: asks for the page; its other parameters stand in the next page's address as well.
        asked: its query.
        total: how many entries there are in all.
    """
    following = asked.offset + asked.limit
    address = request.url.include_query_params(limit=asked.limit, offset=following)
    after = f"{address.path}?{address.query}" if following < total else None
    return {"total": total, "limit": asked.limit, "offset": asked.offset, "next": after}
