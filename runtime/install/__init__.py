"""Installing the flow engine's environment."""
