"""Replacements for what libraries do slowly in every run; the results are the same."""
