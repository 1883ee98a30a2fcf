"""Why something with a Langflow server could not be done."""

from __future__ import annotations


class LangflowError(Exception):
    """A Langflow server, or what is kept of it here, refuses what was asked. No text holds a key.

    Attributes:
        code: a stable name of the kind of failure.
        message: what is wrong.
        fix: what to do about it.
    """

    def __init__(self, code: str, message: str, fix: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.fix = fix
