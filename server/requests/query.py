"""Reading a request's query: whole numbers within limits."""

from starlette.requests import Request

from server.errors import ApiError


def number(request: Request, name: str, default: int, least: int, most: int) -> int:
    """A whole number of the query.

    Args:
        request: the request.
        name: the parameter.
        default: what stands for a missing one.
        least: the smallest that may be asked for.
        most: the largest.

    Raises:
        ApiError: 422, it is no such number.
    """
    given = request.query_params.get(name)
    if given is None:
        return default
    if not is_number(given) or not least <= int(given) <= most:
        limits = f"Send a whole number from {least} to {most}."
        raise ApiError(422, "invalid_request", f"{name} is not a number that it can be.", limits, f"?{name}")
    return int(given)


def is_number(text: str) -> bool:
    """Whether a text is a whole number of a sensible length."""
    return text.isascii() and text.isdecimal() and len(text) < 19
