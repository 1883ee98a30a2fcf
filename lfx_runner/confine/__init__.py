"""Confinement of a run: Landlock, seccomp and limits."""
