"""Evaluators: each a pure function of a case, one file and one rule each."""
