"""Why the flow engine could not be installed."""


class InstallError(Exception):
    """The flow engine could not be installed: `message` says why, `fix` what to do."""

    def __init__(self, message: str, fix: str) -> None:
        """Neither part may hold a path or a secret."""
        super().__init__(f"{message} {fix}")
        self.message = message
        self.fix = fix
