"""The release of this installation: its version, and the commit that its wheel was built from when that was known."""

from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Final

COMMIT_FILE: Final = "commit.txt"
"""Stands beside this module in a wheel; the build writes it, so that no git is needed here."""


@cache
def version() -> str:
    """The version of this installation, read once: finding it takes longer than many a request."""
    return metadata.version("wirewright")


@cache
def release() -> str:
    """The id of the release, such as `0.1.0+4deb441b0c2d`; the version alone in a checkout."""
    try:
        commit = Path(__file__).with_name(COMMIT_FILE).read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return version()
    return f"{version()}+{commit}" if commit else version()
