"""The ids of operations: a verb and what it is done to, from the method and the path."""

from __future__ import annotations

from typing import Final

ACTIONS: Final = frozenset(
    (
        *("assist", "cancel", "configure", "duplicate", "import", "install"),
        *("reset", "restore", "rewind", "run", "stream", "update"),
    )
)
"""Last parts of paths that are verbs."""

_SEVERAL: Final = frozenset({"files", "client-metrics"})
"""What one request makes several of."""

_VERBS: Final = {"GET": "get", "POST": "create", "PUT": "put", "PATCH": "change", "DELETE": "delete"}


def operation_id(method: str, path: str, *, is_list: bool = False) -> str:
    """The id of an operation, such as `restore_flow_revision` or `list_flows`.

    Args:
        method: the HTTP method.
        path: the path with its parameters in braces.
        is_list: whether it answers with a page of a list.
    """
    parts = [part for part in path.split("/") if part]
    words = [
        part.removesuffix("s") if _has_parameter(parts, index) else part
        for index, part in enumerate(parts)
        if not part.startswith("{") and part not in ("api", "v1", "agentic")
    ]
    last = words.pop() if words else "page"
    verb, _, rest = last.partition("-")
    if method == "POST" and verb in ACTIONS:
        words += [rest] if rest else []
        return "_".join([verb, *words]).replace("-", "_")
    if method == "POST" and last not in _SEVERAL:
        last = last.removesuffix("s")
    name = "_".join([*words, last])
    return f"{'list' if is_list else _VERBS[method]}_{name}".replace("-", "_").replace(".", "_")


def tag_of(path: str) -> str:
    """The group in which an operation is shown."""
    parts = [part for part in path.split("/") if part not in ("", "api", "v1")]
    if not path.startswith("/api/") or not parts:
        return "server"
    return "turns" if parts[0] == "agentic" else parts[0]


def _has_parameter(parts: list[str], index: int) -> bool:
    return index + 1 < len(parts) and parts[index + 1].startswith("{")
