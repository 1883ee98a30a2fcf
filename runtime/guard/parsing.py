"""Python source to its tree, for one thread at a time.

In some releases of Python (3.11.7 is one), trees that two threads make at the same time share a counter, and now and
then one of them fails with "AST constructor recursion depth mismatch" (cpython issue 106905). Filters of warnings are
shared by all threads, too. What the parser warns of is of no concern here.
"""

import ast
import threading
import warnings

_one = threading.Lock()


def module_of(source: str) -> ast.Module:
    """The tree of a module.

    Raises:
        SyntaxError, ValueError, OverflowError, RecursionError, MemoryError: it cannot be parsed.
    """
    with _one, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def expression_of(source: str) -> ast.expr:
    """The tree of one expression; raises what `module_of` raises."""
    with _one, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source, mode="eval").body
