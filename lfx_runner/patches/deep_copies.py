"""Deep copies that pass over texts and numbers without a call for each, as Python itself does from 3.14 on.

The engine copies the whole flow twice in every run, and each component's fields three times.
"""

import copy
from collections.abc import Callable
from typing import Any

ATOMIC = frozenset({type(None), int, float, bool, complex, bytes, str, type, type(Ellipsis), type(NotImplemented)})
"""Types whose values `copy.deepcopy` returns as they are."""


def install() -> None:
    """Have `copy.deepcopy` copy lists and dictionaries this way in this process."""
    dispatch: dict[type, Callable[..., Any]] = vars(copy)["_deepcopy_dispatch"]
    dispatch[dict], dispatch[list] = copy_dictionary, copy_list


def copy_dictionary(
    original: dict[Any, Any], memo: dict[int, Any], deepcopy: Callable[..., Any] = copy.deepcopy
) -> dict[Any, Any]:
    """A deep copy of a dictionary; `memo` has what was copied before."""
    made: dict[Any, Any] = {}
    memo[id(original)] = made
    for key, value in original.items():
        new = key if type(key) in ATOMIC else deepcopy(key, memo)
        made[new] = value if type(value) in ATOMIC else deepcopy(value, memo)
    return made


def copy_list(original: list[Any], memo: dict[int, Any], deepcopy: Callable[..., Any] = copy.deepcopy) -> list[Any]:
    """A deep copy of a list; `memo` has what was copied before."""
    made: list[Any] = []
    memo[id(original)] = made
    made.extend(value if type(value) in ATOMIC else deepcopy(value, memo) for value in original)
    return made
