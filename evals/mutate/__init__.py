"""Mutation testing of the evaluators: they must detect faults that are seeded into passing attempts."""
