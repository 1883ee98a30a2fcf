"""Descriptions of components and flows in text."""
