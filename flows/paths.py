"""Where Wirewright keeps what it writes."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def data_folder() -> Path:
    """Return the folder for everything that is kept: `WIREWRIGHT_DATA`, else the platform's own place for data."""
    chosen = os.environ.get("WIREWRIGHT_DATA")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "wirewright"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "wirewright"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "wirewright"


def cache_folder() -> Path:
    """Return the folder for what can be made again: `WIREWRIGHT_CACHE`, else `cache` inside the data folder."""
    chosen = os.environ.get("WIREWRIGHT_CACHE")
    return Path(chosen).expanduser() if chosen else data_folder() / "cache"
