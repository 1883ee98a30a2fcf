"""Running flows: the runner's environment and client, and the guard that decides what may be executed."""
