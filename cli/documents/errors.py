"""The document of a command that cannot do its work."""

from typing_extensions import TypedDict


class ErrorObject(TypedDict):
    """What is wrong: a stable code, the message, what to do, and the argument, file or place that it is about."""

    code: str
    message: str
    fix: str
    where: str | None


class Failed(TypedDict):
    """A command that could not do its work, or that was called wrongly."""

    error: ErrorObject
