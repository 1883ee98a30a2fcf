"""What a token allows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, TypeAlias, get_args

Scope: TypeAlias = Literal["read", "build", "run", "admin"]
"""`read` what one has, `build` and change it, `run` flows, and `admin`: what concerns every user."""

SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
EVERY_SCOPE: Final[frozenset[Scope]] = frozenset(SCOPES)
USUAL: Final[frozenset[Scope]] = frozenset({"read", "build", "run"})
"""The scopes of a user who was given none by name."""


class UnknownScope(ValueError):
    """A scope that does not exist.

    Attributes:
        message: what is wrong.
        fix: which scopes there are.
    """

    def __init__(self, name: str) -> None:
        self.message = f"There is no scope {name[:40]!r}."
        self.fix = f"Name some of: {', '.join(SCOPES)}."
        super().__init__(f"{self.message} {self.fix}")


def scopes_of(names: Iterable[str]) -> frozenset[Scope]:
    """The scopes of these names, with those that they include: each other one includes `read`, `admin` includes all.

    Args:
        names: names of scopes, at least one.

    Raises:
        UnknownScope: one of them does not exist, or there is none.
    """
    given = [name.strip().lower() for name in names]
    for name in given or [""]:
        if name not in EVERY_SCOPE:
            raise UnknownScope(name)
    if "admin" in given:
        return EVERY_SCOPE
    return frozenset({"read", *(scope for scope in SCOPES if scope in given)})
