"""Where everything is measured: with the checkout's own runner, and a folder for data that is gone afterwards."""

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent


@contextmanager
def settings() -> Generator[None]:
    """Set the environment of a measurement, and of the servers that it starts."""
    os.environ.setdefault("LOGFIRE_IGNORE_NO_CONFIG", "1")
    os.environ.setdefault("WIREWRIGHT_CACHE", str(ROOT / ".cache" / "wirewright"))
    with tempfile.TemporaryDirectory() as data:
        os.environ["WIREWRIGHT_DATA"] = data
        yield
