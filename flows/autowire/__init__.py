"""Inferring connections from types and roles."""
