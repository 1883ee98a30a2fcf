"""Where Wirewright keeps what it writes."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_data_path


def data_folder() -> Path:
    """The folder for everything that is kept: `WIREWRIGHT_DATA`, else the platform's own place for a user's data."""
    chosen = os.environ.get("WIREWRIGHT_DATA")
    return Path(chosen).expanduser() if chosen else user_data_path("wirewright", appauthor=False)


def cache_folder() -> Path:
    """The folder for what can be made again: `WIREWRIGHT_CACHE`, else `cache` inside the data folder."""
    chosen = os.environ.get("WIREWRIGHT_CACHE")
    return Path(chosen).expanduser() if chosen else data_folder() / "cache"


def catalogue_file(cache: Path | None = None) -> Path:
    """The component catalogue that the engine exports into the cache folder."""
    return (cache or cache_folder()) / "catalogue.json"
