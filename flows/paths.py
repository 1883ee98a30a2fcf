"""The folders that Wirewright writes to."""

from __future__ import annotations

import os
from pathlib import Path


def data_folder() -> Path:
    """Return the data folder: `WIREWRIGHT_DATA`, or the platform's folder for user data."""
    chosen = os.environ.get("WIREWRIGHT_DATA")
    return Path(chosen).expanduser() if chosen else platform_data_folder()


def platform_data_folder() -> Path:
    """Return the platform's folder for user data."""
    from platformdirs import user_data_path  # here, because it takes a tenth of the time to import the builder

    return user_data_path("wirewright", appauthor=False)


def cache_folder() -> Path:
    """Return the folder for what can be rebuilt: `WIREWRIGHT_CACHE`, or `cache` in the data folder."""
    chosen = os.environ.get("WIREWRIGHT_CACHE")
    return Path(chosen).expanduser() if chosen else data_folder() / "cache"
