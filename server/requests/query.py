"""Reading a request's query: whole numbers within limits."""

from starlette.requests import Request

from server.errors import ApiError


def number(request: Request, name: str, default: int, least: int, most: int) -> int:
    """A whole number from the query.

    Args:
        request: the request.
        name: the parameter.
        default: the value when the parameter is missing.
        least: the smallest value allowed.
        most: the largest value allowed.

    Raises:
        ApiError: 422, it is not such a number.
    """
    given = request.query_params.get(name)
    if given is None:
        return default
    if not is_number(given) or not least <= int(given) <= most:
        limits = f"Send a whole number from {least} to {most}."
        raise ApiError(422, "invalid_request", f"{name} is not a whole number within its limits.", limits, f"?{name}")
    return int(given)


def is_number(text: str) -> bool:
    """Whether a text is a whole number of a sensible length."""
    return text.isascii() and text.isdecimal() and len(text) < 19
