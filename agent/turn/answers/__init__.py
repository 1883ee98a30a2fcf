"""Answers to what a turn waits for: by id or in words."""
