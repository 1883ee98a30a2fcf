"""The tools over MCP, one kind a file."""
