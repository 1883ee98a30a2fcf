"""This checkout beside another commit, by turns in one run, through public surfaces alone.

Modules may have moved between the two. So nothing of either side is imported here: a side is its command, its HTTP
server, and its Python face in a process of its own interpreter.
"""
