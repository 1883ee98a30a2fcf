"""Turns that other processes take: queued for workers, followed by what is stored, and stopped."""
