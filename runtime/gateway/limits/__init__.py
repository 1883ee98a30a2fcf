"""Limits of what a provider may take: time to wait for, and bytes to read."""
