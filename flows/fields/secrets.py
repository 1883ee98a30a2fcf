"""Secrets: recognising fields and texts that contain them, and redacting them."""

from __future__ import annotations

import re

from flows.fields.key_shapes import SHAPED
from flows.json_values import Json, JsonObject, as_text

VARIABLE_NAME = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
"""What a secret field takes as the name of a variable; a key that was typed in rarely looks like this."""

REDACTED = "***REDACTED***"
_SECRET_NAME = re.compile(
    r"(?:^|[_-])(?:api[_-]?key|secret(?:[_-]?key)?|token|password|passwd|private[_-]?key|access[_-]?key|account[_-]?key"
    r"|credentials?|authorization)$",
    re.IGNORECASE,
)
_ASSIGNED = re.compile(
    r"""(?xi)
    (?P<name> (?:api[_-]?key|secret(?:[_-]?key)?|(?:access|auth|refresh)[_-]?token|\btoken|password|passwd
        |private[_-]?key|access[_-]?key|account[_-]?key) ["']? \s* [=:] \s* ["']?)
    (?P<value> (?=[^\s"'&;,{}<>]*\d) [^\s"'&;,{}<>]{6,})
    """
)
"""A secret identified by its name, such as `api_key=abc123`; variables and plain words have no digit."""


def is_secret(field: JsonObject) -> bool:
    """Return whether a field contains a secret, by its type or, for free text, by its name."""
    if field.get("password") is True or field.get("_input_type") == "SecretStrInput":
        return True
    name = field.get("name")
    return (
        field.get("type") == "str"
        and isinstance(name, str)
        and bool(_SECRET_NAME.search(name))
        and not field.get("options")
    )


def is_secret_name(name: str) -> bool:
    """Return whether a name is that of a secret, such as `api_key` or `Authorization`."""
    return _SECRET_NAME.search(name) is not None


def redact(value: Json) -> Json:
    """Return `value` with everything that looks like a secret replaced by `***REDACTED***`."""
    if isinstance(value, str):
        return _ASSIGNED.sub(rf"\g<name>{REDACTED}", SHAPED.sub(REDACTED, value))
    if isinstance(value, list):
        return [redact(item) for item in value]
    if isinstance(value, dict):
        named = as_text(value.get("key"))
        return {
            key: REDACTED
            if item and (_SECRET_NAME.search(key) or (key == "value" and _SECRET_NAME.search(named)))
            else redact(item)
            for key, item in value.items()
        }
    return value


def looks_secret(value: Json) -> bool:
    """Return whether anything inside `value` looks like a secret."""
    return redact(value) != value


def shown_value(field: JsonObject) -> Json:
    """Return a field's value for display: secrets redacted, the name of a stored variable kept."""
    value = field.get("value")
    if is_secret(field) and value:
        return value if field.get("load_from_db") is True and _is_variable_name(value) else REDACTED
    return redact(value)


def _is_variable_name(value: Json) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[A-Za-z_]\w{0,80}", value) is not None and not looks_secret(value)
