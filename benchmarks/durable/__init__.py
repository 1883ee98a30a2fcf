"""Durable turns: what they cost beside plain ones, on a server and on workers."""
