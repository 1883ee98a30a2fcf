"""This checkout, alone or alternately with another commit, measured through public surfaces.

Modules may have moved between two commits, so nothing of either side is imported here: a side is its command, its HTTP
server, and its Python face in a process of its own interpreter.
"""
