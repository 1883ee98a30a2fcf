"""Splitting names and sentences into words, and reducing words to stems without case and accents."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+")
_BETWEEN = re.compile(r"[\W_]+")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# fmt: off
_WHOLE = frozenset({
    "address", "after", "author", "embed", "error", "every", "folder", "header", "letter", "need", "never",
    "news", "number", "order", "other", "over", "paper", "process", "seed", "server", "speed", "status",
    "timer", "under", "user", "whether",
})
# fmt: on
_SINGULARS = (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("zes", "z"))
_NOUNS = (("ification", "ify"), ("version", "vert"))
_VERBS = ("ing", "ed")
_ENDINGS = ("ization", "isation", "izer", "iser", "izing", "ising", "ize", "ise")
_MAKERS = ("ational", "ation", "ator", "ating", "ated", "ative", "ate")
_DOERS = ("er", "or")


def fold(text: str) -> str:
    """Return the text in lower case and without accents."""
    if text.isascii():
        return text.lower()
    split = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(letter for letter in split if not unicodedata.combining(letter)).casefold()
    return unicodedata.normalize("NFKD", bare)  # decomposition may yield a capital whose lower case has several letters


def plain(name: str) -> str:
    """Return the letters and digits of a name, so that `Chat Input`, `chat_input` and `ChatInput` are equal."""
    return _BETWEEN.sub("", fold(name))


def humps(name: str) -> list[str]:
    """Return the parts of a name in camel case: `ChatInput` is `Chat` and `Input`."""
    return _HUMPS.split(name)


def words(text: str) -> list[str]:
    """Return the words of a text or a name; a name in camel case (`ChatInput`) gives its parts and itself."""
    if text.islower():
        return _WORD.findall(fold(text))
    found: list[str] = []
    for word in _WORD.findall(text):
        parts = [word] if word.islower() or word.isupper() else humps(word)
        found += [fold(part) for part in parts]
        if len(parts) > 1:
            found.append(fold(word))
    return found


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return the stem of an English word: `splitters` and `splitting` are `split`."""
    if len(word) < 4 or word in _WHOLE or not word.isalpha():
        return word
    for ending, put in _SINGULARS:
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return stem(word.removesuffix(ending) + put)
    if word.endswith("s") and word[-2] not in "sui":
        word = word[:-1]
        if word in _WHOLE:
            return word
    for ending, put in _NOUNS:
        if word.endswith(ending):
            return word.removesuffix(ending) + put
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word.removesuffix(ending) + "iz"
    for ending in _MAKERS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word.removesuffix(ending)
    return _without_verb_ending(word)


def _without_verb_ending(word: str) -> str:
    for ending in (*_VERBS, *_DOERS):
        root = word.removesuffix(ending)
        if root != word and len(root) >= 3 and any(letter in "aeiouy" for letter in root):
            if root[-1] == root[-2] and root[-1] in "bdgmnprt":
                return root[:-1]
            return _bare(root)
    if word.endswith("ion") and len(word) > 6 and word[-4] in "ts":
        return word.removesuffix("ion")
    for ending, kept in (("ional", ""), ("val", "v")):
        if word.endswith(ending) and len(word) > 7:
            return word.removesuffix(ending) + kept
    return _bare(word.removesuffix("ly") if len(word) > 5 else word)


def _bare(root: str) -> str:
    if root.endswith("e") and len(root) > 3:
        return root[:-1]
    return f"{root[:-1]}y" if root.endswith("i") and len(root) > 3 else root
