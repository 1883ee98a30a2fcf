"""Oracles: matching flows, and reading the claims, questions and tool calls of an attempt."""
