"""How MCP reaches the server: over HTTP, and over standard input and output."""
