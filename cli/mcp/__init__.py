"""MCP on the command line: this machine's flows, or those of a server, for a client that starts a program."""
