"""Honesty: what an answer claims, compared with what was done."""
