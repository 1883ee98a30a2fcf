"""Storage of flows."""
