"""Stored flows over HTTP."""
