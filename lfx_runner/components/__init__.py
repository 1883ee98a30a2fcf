"""Wirewright's own component types, beside those of lfx.

Each module is one component. It is not imported but read: its source is exported with the catalogue and travels with
every flow that uses it, so it may import nothing of Wirewright.
"""
