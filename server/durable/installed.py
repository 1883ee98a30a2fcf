"""Whether turns can be durable: the package `dbos` is an extra, and nothing but what is durable imports it."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

MESSAGE: Final = "Durable turns need the package `dbos`, which is not installed."
FIX: Final = "Install it: uv pip install 'wirewright[durable]'. Or set WIREWRIGHT_DURABLE=0."


class DurableNotInstalled(Exception):
    """Turns cannot be durable; the message and the fix are for the user."""

    def __init__(self) -> None:
        super().__init__(f"{MESSAGE} {FIX}")
        self.message = MESSAGE
        self.fix = FIX


def is_installed() -> bool:
    """Whether the package is there; it is not imported."""
    return find_spec("dbos") is not None


def check_installed() -> None:
    """Refuse to make turns durable without the package.

    Raises:
        DurableNotInstalled: it is not there.
    """
    if not is_installed():
        raise DurableNotInstalled
