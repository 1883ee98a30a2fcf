"""Conversations: what is remembered between turns."""
