"""The places that errors name, in the words of the protocol that the client speaks."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager

from server.errors import ApiError


@contextmanager
def named_as(places: Mapping[str, str]) -> Generator[None]:
    """Rename where the errors that are raised inside say that something is wrong.

    Args:
        places: for a place of the request for a turn, the place in what the client has sent.

    Raises:
        ApiError: what is raised inside, with the client's own place.
    """
    try:
        yield
    except ApiError as refused:
        refused.where = _place(refused.where, places)
        raise


def _place(where: str | None, places: Mapping[str, str]) -> str | None:
    if where is None:
        return None
    end = next((at for at, sign in enumerate(where) if at > 1 and sign in ".["), len(where))
    known = places.get(where[:end])
    return where if known is None else f"{known}{where[end:]}"
