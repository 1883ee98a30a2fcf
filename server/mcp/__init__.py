"""MCP: the assistant's tools for other people's assistants, over HTTP and over standard input and output."""
