"""Exact rules for requests in English, and in four more languages by their keywords."""
