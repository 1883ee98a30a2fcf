"""Reading a request's query: whole numbers within limits."""

from starlette.requests import Request

from server.errors import ApiError


def number(request: Request, name: str, default: int, minimum: int, maximum: int) -> int:
    """A whole number from the query.

    Args:
        request: the request.
        name: the parameter.
        default: the value when the parameter is missing.
        minimum: the smallest value allowed.
        maximum: the largest value allowed.

    Raises:
        ApiError: 422, it is not such a number.
    """
    given = request.query_params.get(name)
    if given is None:
        return default
    if not is_number(given) or not minimum <= int(given) <= maximum:
        limits = f"Send a whole number from {minimum} to {maximum}."
        raise ApiError(422, "invalid_request", f"{name} is not a whole number within its limits.", limits, f"?{name}")
    return int(given)


def is_number(text: str) -> bool:
    """Whether a text is a whole number of a sensible length."""
    return text.isascii() and text.isdecimal() and len(text) < 19
