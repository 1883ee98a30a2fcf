"""What is stored of MCP clients: the calls that wait for their users, and what they have made."""
