"""Comparing flows: matching their nodes, and the facts they share."""
