"""Tables are shared out among the rounds of a soak: each round plays another share of their rows, and all the rest.

A table is many comparisons, each by itself: samples for the guard, scenarios with their right and wrong ends, what the
engine makes of every component type. Repeating all of it in every round would find what one round finds.
"""

import zlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Share:
    """One of `of` shares, by its number, from 0."""

    number: int
    of: int

    @classmethod
    def read(cls, text: str) -> "Share":
        """Read `K/N`: share number K, which may count on beyond N, of N.

        Raises:
            ValueError: saying what is wrong with it.
        """
        number, _, of = text.partition("/")
        if not (number.isdecimal() and of.isdecimal() and int(of) > 0):
            raise ValueError(f"{text!r} is no share; write K/N, as in 3/10")
        return cls(int(number) % int(of), int(of))

    def has(self, name: str) -> bool:
        """Whether a test belongs to it: every test belongs to one share of as many."""
        return zlib.crc32(name.encode()) % self.of == self.number
