"""Why the flow engine could not be installed."""

from __future__ import annotations


class InstallError(Exception):
    """The flow engine could not be installed: `message` says why, `fix` what to do, `temporary` whether it may pass."""

    def __init__(self, message: str, fix: str, *, temporary: bool = False) -> None:
        """Neither part may hold a path or a secret."""
        super().__init__(f"{message} {fix}")
        self.message = message
        self.fix = fix
        self.temporary = temporary

    @classmethod
    def not_writable(cls, error: OSError | None = None) -> InstallError:
        """The error for a folder that cannot be written."""
        reason = "" if error is None else f" ({error.strerror})"
        return cls(
            f"The flow engine's folder cannot be written{reason}.",
            "Set WIREWRIGHT_CACHE to a folder that can be written.",
        )
