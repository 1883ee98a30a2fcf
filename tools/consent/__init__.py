"""Consent: what tools do to what the user had, when it is asked about, and what was approved."""
