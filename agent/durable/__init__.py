"""Durable turns: each of their steps runs once, and another process resumes them after a crash."""
