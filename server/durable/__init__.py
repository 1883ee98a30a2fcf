"""Turns of a server that another process goes on with when this one dies."""
