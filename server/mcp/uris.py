"""The addresses of resources over MCP."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, unquote

SCHEME: Final = "wirewright://"

KINDS: Final = ("flows", "templates", "runs", "files", "components")
"""What resources there are, in the order in which they are listed."""


def flow_uri(flow_id: str, form: str = "") -> str:
    """The resource of a flow.

    Args:
        flow_id: the flow.
        form: empty for what models read, `json` for Langflow's export.
    """
    return f"{SCHEME}flows/{quote(flow_id, safe='')}" + (f"/{form}" if form else "")


def run_uri(run_id: str) -> str:
    """The resource of a run."""
    return f"{SCHEME}runs/{quote(run_id, safe='')}"


def file_uri(path: str) -> str:
    """The resource of one of the user's files."""
    return f"{SCHEME}files/{quote(path)}"


def template_uri(name: str) -> str:
    """The resource of a starter flow."""
    return f"{SCHEME}templates/{quote(name, safe='')}"


def split_uri(uri: str) -> tuple[str, str] | None:
    """The kind of a resource and its name; None for an address of another form."""
    rest = uri.removeprefix(SCHEME)
    kind, _, name = rest.partition("/")
    if rest == uri or kind not in KINDS or not name:
        return None
    return kind, unquote(name)
