"""Turns that survive the death of their process: what of them is done once, and how another process goes on."""
