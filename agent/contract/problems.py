"""Why a value was refused, in words for its sender: as the validator says it, without the validator's own terms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pydantic_core import ErrorDetails

_WORDS: Final[Mapping[str, str]] = {
    "model_type": "This should be an object",
    "model_attributes_type": "This should be an object",
    "dataclass_type": "This should be an object",
    "dict_type": "This should be an object",
    "list_type": "This should be an array",
    "tuple_type": "This should be an array",
}
_OWN: Final = re.compile(r"^(?:Value error|Assertion failed), | after validation\b")


def reason(problem: ErrorDetails) -> str:
    """Why a value was refused.

    Args:
        problem: what pydantic says of it.
    """
    known = _WORDS.get(problem["type"])
    return _OWN.sub("", problem["msg"]) if known is None else known
