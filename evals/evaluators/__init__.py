"""Evaluators: each a pure function of a case, one file and one rule each."""

from evals.case import Case, Evaluator, Score

__all__ = ["Case", "Evaluator", "Score"]
