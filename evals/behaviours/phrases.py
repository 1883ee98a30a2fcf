"""The words and sentences from which inputs are made."""

from __future__ import annotations

from typing import Final

WORDS: Final = (
    "apple", "river", "lamp", "winter", "paper", "garden", "music", "stone", "candle", "violin", "harbor", "pepper",
)  # fmt: skip
"""Plain words in lower case."""

SENTENCES: Final = (
    "The train to the coast leaves at noon.",
    "My sister paints boats in the evening.",
    "We could not find the blue umbrella.",
    "Bring bread, olives and two lemons.",
    "The lake was calm after the storm.",
    "Somebody left the window open again.",
)

LANGUAGES: Final = (
    "Der Bäcker grüßt den müden Fuchs.",
    "Où est passé le garçon à vélo ?",
    "¿Dónde está el niño pequeño?",
    "今日は天気がいいですね。",
    "Привет, как дела?",
    "مرحبا كيف حالك",
    "Zażółć gęślą jaźń.",
    "O coração não é só razão.",
)

PUNCTUATION: Final = (
    "Well... (really?) yes; no: \"maybe\" & 'so' - 100%!",
    "a/b, c\\d; e|f <g> #h @i ~j ^k *l*",
    "It's 'fine' -- isn't it?! [sic] $5 + €6",
)

CAPITALS: Final = ("Mixed CASE Words Everywhere", "iPhone and NASA in USA", "camelCase And UPPER lower")

NUMBERS_IN_TEXT: Final = (
    "Order 1042 has 3 items for 17.50 in all.",
    "In 1999 there were 12 of 250 left.",
    "Call 555 0199 before 8 or after 21.",
)
"""Sentences with numbers in digits."""
