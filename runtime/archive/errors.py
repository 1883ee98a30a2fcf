"""Why an archive cannot be written, read or restored, for the user."""


class ArchiveError(Exception):
    """An archive cannot be used.

    Attributes:
        code: a stable name of the kind of failure.
        message: what is wrong.
        fix: what to do.
    """

    def __init__(self, code: str, message: str, fix: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.fix = fix


def not_an_archive(kind: str) -> ArchiveError:
    """The error for a file that is something else, or damaged.

    Args:
        kind: the command that writes such archives.
    """
    return ArchiveError("bad_archive", "it is damaged, or is not such an archive.", f"Name a file of: {kind}")
