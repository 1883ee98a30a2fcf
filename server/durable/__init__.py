"""Durable turns of a server: another process resumes them when this one dies."""
