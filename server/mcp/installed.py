"""Whether MCP can be spoken: the package `mcp` is an extra, and nothing but MCP imports it."""

from __future__ import annotations

from importlib.util import find_spec

MESSAGE = "MCP needs the package `mcp`, which is not installed."
FIX = "Install it: uv pip install 'wirewright[mcp]'."


def is_installed() -> bool:
    """Whether the package is there; it is not imported."""
    return find_spec("mcp") is not None and find_spec("mcp_types") is not None
