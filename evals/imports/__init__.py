"""Importers: other people's tasks as scenarios of ours."""
