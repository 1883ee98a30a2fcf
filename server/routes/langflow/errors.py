"""What a Langflow server refuses, as errors of the API."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Final

from runtime.keychain.user_variables import BadVariable
from runtime.langflow.errors import LangflowError
from server.errors import ApiError

STATUSES: Final = (404, 409, 422, 502, 504)
"""Those that the routes may answer with."""

_STATUS: Final[Mapping[str, int]] = {
    "not_connected": 404,
    "flow_not_there": 404,
    "flow_moved_on": 409,
    "flow_locked": 409,
    "name_taken": 409,
    "flow_ambiguous": 409,
    "cannot_run_there": 409,
    "unreadable_flow": 409,
    "bad_address": 422,
    "address_refused": 422,
    "bad_name": 422,
    "bad_key": 422,
    "key_refused": 422,
    "insecure_server": 422,
    "langflow_timeout": 504,
}
_FIXES: Final[Mapping[str, str]] = {
    "not_connected": "PUT /api/v1/langflow/{name} connects one; GET /api/v1/langflow lists them.",
    "flow_moved_on": "PUT …/langflow/read first, repeat the change, and send that; or send `overwrite`.",
    "key_refused": "Connect it again with another key: PUT /api/v1/langflow/{name}.",
    "flow_not_there": "It was removed there, or is another user's: GET /api/v1/langflow/{name}/flows.",
}


@contextmanager
def langflow_errors(where: str | None = None) -> Generator[None]:
    """Answer with what a Langflow server refuses.

    Args:
        where: the place in the request that names it.

    Raises:
        ApiError: it refuses something, or cannot be reached (502, 504).
    """
    try:
        yield
    except LangflowError as error:
        fix = _FIXES.get(error.code, error.fix)
        raise ApiError(_STATUS.get(error.code, 502), error.code, error.message, fix, where) from None
    except BadVariable as bad:
        raise ApiError(422, "invalid_variable", bad.message, bad.fix, where) from None
