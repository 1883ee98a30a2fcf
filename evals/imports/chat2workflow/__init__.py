"""The Chat2Workflow benchmark as scenarios."""
