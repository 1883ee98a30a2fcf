"""Conversations over HTTP."""
