"""Players: the agents that are evaluated, and those that test the scenarios."""
