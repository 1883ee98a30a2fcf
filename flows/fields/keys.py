"""Keys and passwords inside ordinary text: where they stand, and which variable would hold them."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from flows.fields.key_shapes import NOT_KEPT, SHAPED, variable_of
from flows.json_values import Json

REMOVED: Final = "[a key that was removed]"
"""What stands in place of a key."""

_KEY_WORDS = (
    r"api[ _-]?(?:key|token|schlüssel)|apikey|(?:access|auth|bearer|bot|secret|private|account|subscription)[ _-]?"
    r"(?:key|token)|client[ _-]?secret|chave(?:\s+de\s+api)?|clave(?:\s+de\s+api)?|clé(?:\s+d['’]api)?|schlüssel"
    r"|chiave(?:\s+api)?|(?:api\s?)?キー|(?:api\s?)?密钥"
)
_LOGIN_WORDS = (
    r"password|passwd|passwort|kennwort|senha|contraseña|mot\s+de\s+passe|parola\s+d['’]ordine|パスワード|密码"
)
_IS = r"\s*(?:is|é|es|ist|est|lautet|は|是|:|：|=>|=)\s*[\"'`]?"
_NAMED = re.compile(
    rf"(?:{_KEY_WORDS}|{_LOGIN_WORDS}|\btoken)[\"'`]?(?:{_IS}|\s+[\"'`]?)"
    r"(?P<key>(?=[^\s\"'`]{0,120}\d)(?=[^\s\"'`]{0,120}[A-Za-z])[\w.+/=~-]{16,})"
    rf"|(?:{_LOGIN_WORDS})[\"'`]?{_IS}"
    r"(?P<password>(?=[^\s\"'`]{0,100}\d)(?=[^\s\"'`]{0,100}[A-Za-z])[^\s\"'`,;]{8,})",
    re.IGNORECASE,
)
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]+")
_TOKEN = re.compile(r"(?<![\w./+=@:-])[\w+/=-]{32,120}(?![\w/+=@-]|\.\w)")
_NOT_SECRET = re.compile(
    r"(?:\bid|\bids|identifier|hash|sha\d*|md5|checksum|digest|etag|nonce|commit|revision|address|wallet|integrity|base64"
    r"|cursor|signature|fingerprint)\W{0,3}(?:\w{1,3}\W{1,3})?$",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[a-z]{6,}")
_DIGIT = re.compile(r"\d")
_ENTROPY: Final = 4.2
"""Bits for each character from which a text without a known shape counts as random."""
_CHANGES: Final = 0.35
"""Share of the neighbouring characters of such a text that differ in kind."""
_SUGGESTION = re.compile(
    r"(?:\b(?P<owner>(?!(?:secret|private|access|account)[ _-]?key)[A-Za-z][A-Za-z0-9]{1,29})(?:['’]s)?[\s_.-]+)?"
    r"(?P<kind>api[ _-]?key|apikey|access[ _-]?key|access[ _-]?token|api[ _-]?token|auth[ _-]?token|bot[ _-]?token"
    r"|(?:secret|private|account|subscription)[ _-]?key|client[ _-]?secret|token|password|secret|key)(?![a-z])",
    re.IGNORECASE,
)
_NO_OWNER = frozenset({
    "a", "an", "the", "my", "your", "our", "his", "her", "its", "this", "that", "these", "use", "using", "with", "and",
    "or", "for", "is", "set", "new", "api", "as", "own", "put", "here",
})  # fmt: skip


@dataclass(frozen=True)
class FoundKey:
    """A key in a text.

    Attributes:
        start: where it begins.
        end: where it ends.
        variable: the variable that would hold it; empty when it is nothing that a field takes as it stands.
        value: the key.
    """

    start: int
    end: int
    variable: str
    value: str = field(repr=False)


def find_keys(text: str) -> list[FoundKey]:
    """The keys in a text, in order: those of a known shape, those that are named as one, and long random texts.

    Args:
        text: what someone has written.
    """
    found = [FoundKey(*one.span(), variable_of(one), one.group()) for one in SHAPED.finditer(text)]
    if not _DIGIT.search(text):  # as in most messages; the others have some
        return found
    for one in _NAMED.finditer(text):
        group = "key" if one.group("key") is not None else "password"
        if not _VARIABLE.fullmatch(one.group(group)):
            _add(found, text, *one.span(group))
    for one in _TOKEN.finditer(text):
        if _is_random(one.group()) and not _NOT_SECRET.search(text[max(0, one.start() - 40) : one.start()]):
            _add(found, text, *one.span())
    return sorted(found, key=lambda each: each.start)


def without_keys(text: str, replacement: Callable[[FoundKey], str] = lambda _: REMOVED) -> str:
    """A text without the keys in it.

    Args:
        text: what someone has written.
        replacement: returns what stands in place of one.
    """
    parts, end = list[str](), 0
    for one in find_keys(text):
        parts += [text[end : one.start], replacement(one)]
        end = one.end
    return "".join([*parts, text[end:]])


def json_without_keys(value: Json) -> Json:
    """A JSON value without the keys in its texts and names."""
    match value:
        case str():
            return without_keys(value)
        case list():
            return [json_without_keys(item) for item in value]
        case dict():
            return {without_keys(name): json_without_keys(item) for name, item in value.items()}
        case _:
            return value


def _add(found: list[FoundKey], text: str, start: int, end: int) -> None:
    """Add a key, unless one that is found already overlaps it."""
    if all(end <= one.start or one.end <= start for one in found) and REMOVED not in text[start:end]:
        found.append(FoundKey(start, end, _suggested(text[max(0, start - 80) : start]), text[start:end]))


def _suggested(before: str) -> str:
    """A name for what follows a text, such as `SERPER_API_KEY` after "my Serper API key is"."""
    named = list(_SUGGESTION.finditer(before))
    if not named:
        return "API_KEY"
    owner, kind = named[-1].group("owner") or "", re.sub(r"[ -]", "_", named[-1].group("kind")).upper()
    kind = {"APIKEY": "API_KEY", "KEY": "API_KEY"}.get(kind, kind)
    return kind if not owner or owner.lower() in _NO_OWNER else f"{owner.upper()}_{kind}"


def _is_random(token: str) -> bool:
    """Whether a text looks drawn at random: no words, no hexadecimal number, many kinds of character, mixed."""
    if token in (token.lower(), token.upper()):  # such as a UUID: what follows would read each of its characters
        return False
    kinds = ["u" if one.isupper() else "l" if one.islower() else "d" if one.isdigit() else "o" for one in token]
    if min(kinds.count("u"), kinds.count("l")) < 4 or kinds.count("d") < 3 or _WORDS.search(token):
        return False
    if kinds.count("o") > len(token) / 8:
        return False
    changes = sum(one != other for one, other in itertools.pairwise(kinds)) / (len(token) - 1)
    entropy = -sum(count / len(token) * math.log2(count / len(token)) for count in Counter(token).values())
    return changes >= _CHANGES and entropy >= _ENTROPY


__all__ = ["NOT_KEPT", "REMOVED", "FoundKey", "find_keys", "json_without_keys", "without_keys"]
