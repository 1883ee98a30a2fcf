"""Where Wirewright keeps what it writes."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_data_path


def data_folder() -> Path:
    """Return the folder for everything that is kept: `WIREWRIGHT_DATA`, else the platform's own place for user data."""
    chosen = os.environ.get("WIREWRIGHT_DATA")
    return Path(chosen).expanduser() if chosen else user_data_path("wirewright", appauthor=False)


def cache_folder() -> Path:
    """Return the folder for what can be made again: `WIREWRIGHT_CACHE`, else `cache` inside the data folder."""
    chosen = os.environ.get("WIREWRIGHT_CACHE")
    return Path(chosen).expanduser() if chosen else data_folder() / "cache"
