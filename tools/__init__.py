"""What the agent can do: one toolset a file, and what tools emit and ask."""
