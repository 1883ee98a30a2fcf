"""The assistant: one agent, its prompts, its models, and a user's turn."""
