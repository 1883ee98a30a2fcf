"""Conversations of several turns: their steps, what must be true after each, and the courses that must fail."""
