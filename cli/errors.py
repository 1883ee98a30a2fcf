"""How a command ends early: bad usage (exit 2) and work that cannot be done (exit 1)."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cli.documents.errors import ErrorObject

DONE = 0
FAILED = 1
USAGE_ERROR = 2
WAITING = 3
INTERRUPTED = 130


class CommandError(Exception):
    """A command cannot continue.

    Attributes:
        code: a stable name of the kind of failure.
        message: what is wrong, in words for the user.
        fix: what to do about it.
        where: an argument, or a file as the user named it with a line or a JSON path.
        exit_code: 1 for work that failed, 2 for bad usage.
    """

    exit_code = FAILED

    def __init__(self, code: str, message: str, *, fix: str = "", where: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.fix = fix
        self.where = where

    def to_json(self) -> "ErrorObject":
        """The failure as the object under `error`."""
        return {"code": self.code, "message": self.message, "fix": self.fix, "where": self.where}


class BadUsage(CommandError):
    """The command was called wrongly: an unknown option, a file that cannot be read, a document that is not a flow."""

    exit_code = USAGE_ERROR
