"""The headers of MCP over HTTP."""

from __future__ import annotations

from typing import Final

SESSION_HEADER: Final = "Mcp-Session-Id"
"""Names a session."""

PERMISSION_HEADER: Final = "Wirewright-Allow"
"""Says what a client's configuration allows for good."""

REQUEST_HEADERS: Final = (SESSION_HEADER, "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", PERMISSION_HEADER)
"""The headers of requests that pages of other origins may send."""
