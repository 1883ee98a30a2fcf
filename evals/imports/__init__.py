"""Importers: tasks of other benchmarks as scenarios."""
