"""Whether it is known what something is: what outside code hands back may be whatever it was given before."""

from __future__ import annotations

import re

from runtime.guard.values import Atom, Ref, Text, Unknown

_CONSTRUCTED = re.compile(r"@?[\w.]*\b[A-Z]\w*\(\)")
"""An instance of an outside class, as its constructor gives it."""
_KEEPS_NOTHING = (
    *("httpx.", "requests.", "aiohttp.", "urllib.", "http.", "openai.", "bs4.", "lxml.", "xml.", "html.", "email."),
    *("re.", "regex.", "datetime.", "zoneinfo.", "time.", "decimal.", "fractions.", "ipaddress.", "uuid."),
    *("hashlib.", "hmac.", "secrets.", "base64.", "binascii.", "zlib.", "gzip.", "struct.", "math.", "difflib."),
    *("csv.", "io.", "zipfile.", "tarfile.", "sqlite3.", "openpyxl.", "pypdf.", "PIL.", "yaml.", "tomllib.", "ast."),
    *("os.", "pathlib.", "tempfile.", "logging.", "loguru.", "string.", "textwrap.", "mimetypes.", "ssl.", "jwt."),
    *("statistics.", "lfx.running.", "lfx.services.", "lfx.log."),
)
"""Outside modules that hand back nothing but what they make themselves."""


_MAKES_TEXT = re.compile(
    r"(?:base64|binascii|codecs|zlib|gzip|bz2|lzma|quopri|json|orjson|re|regex|html)\.|urllib\.parse\."
)
"""Modules that make texts of texts and bytes, which do not stand in the source then."""


def makes_text(atom: Atom) -> bool:
    """Whether outside code may have made a text of it."""
    return isinstance(atom, Ref) and atom.is_instance and _MAKES_TEXT.match(atom.path) is not None


_PLAIN = re.compile(r"(?:datetime|time|zoneinfo|math|cmath|decimal|fractions|statistics|random|calendar|locale)\.")
"""Modules whose instances lead to nothing: numbers, dates and texts."""
_DATA = re.compile(
    r"(?:httpx|requests|aiohttp|pandas)\..*\.(?:(?:json|to_\w+)\(\)|text|status|status_code|shape)"
    r"(?:\(\)|\[\]|\.get|\.items|\.values)*"
)
"""Answers and tables as data."""
_FORMATS = ("langchain", "pandas.DataFrame().style")
"""What has a `format` of its own that fills in no attributes."""


def is_plain(atom: Ref) -> bool:
    """Whether no attribute of something of outside leads to a module; those of functions and classes do."""
    if not atom.is_instance:
        return atom.path.startswith("@")
    made = makes_text(atom) and atom.path.endswith((")", "]")) and not _CONSTRUCTED.fullmatch(atom.path)
    return made or _PLAIN.match(atom.path) is not None or _DATA.fullmatch(atom.path) is not None


def may_be_text(atom: Atom) -> bool:
    """Whether something may be a text that does not stand in the source."""
    match atom:
        case Text() | Unknown():
            return atom != Unknown("step")
        case Ref(path):
            return atom.is_instance and not _CONSTRUCTED.fullmatch(path) and not path.startswith(_FORMATS)
        case _:
            return False


def is_anything(atom: Atom) -> bool:
    """Whether something may be any object that the source has made, or that was made for it."""
    match atom:
        case Unknown(kind):
            return kind != "step"
        case Ref(path):
            return atom.is_instance and not (_CONSTRUCTED.fullmatch(path) or path.startswith(_KEEPS_NOTHING))
        case _:
            return False
