"""Encoders of a turn's events, one contract a module."""
