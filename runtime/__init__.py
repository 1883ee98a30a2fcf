"""Running flows: the runner's environment and client, and what may be executed at all."""
