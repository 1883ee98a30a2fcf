"""Edits: each judges what is asked, and returns the new flow with the actions that lead to it, or changes nothing."""
