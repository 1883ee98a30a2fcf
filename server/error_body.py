"""The body of every error reply."""

from flows.document import JsonObject
from runtime.telemetry import context_fields


def error_json(code: str, message: str, fix: str = "", where: str | None = None) -> JsonObject:
    """The body of an error reply, with the id of the request that it answers.

    Args:
        code: a stable name of the kind of error.
        message: what is wrong.
        fix: what the client can do.
        where: the place in the request, such as a JSON path.
    """
    error: JsonObject = {"code": code, "message": message, "fix": fix, "where": where}
    request_id = context_fields().get("request_id")
    return {"error": error if request_id is None else {**error, "request_id": request_id}}
