"""One of the two sides: where its code, its interpreter and its cache are."""

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.script import MODEL

FOREIGN = ("_API_KEY", "_BASE_URL", "_TOKEN")
SEED = "0"
"""Of hashes, so that dictionaries and sets cost the same each time."""
DROPPED = ("PORT", "VIRTUAL_ENV", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE")


@dataclass(frozen=True, kw_only=True)
class Side:
    """A checkout with an environment of its own.

    Attributes:
        name: `ours` or `theirs`.
        root: the checkout.
        cache: where its flow engine and catalogue are.
        models: the base URL of the scripted model.
    """

    name: str
    root: Path
    cache: Path
    models: str = ""

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.root / ".venv" / "bin" / "python"

    @property
    def wirewright(self) -> Path:
        """Its command."""
        return self.root / ".venv" / "bin" / "wirewright"

    @contextmanager
    def environment(self) -> Generator[dict[str, str]]:
        """The environment of one of its processes, with a data folder that is gone afterwards."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("WIREWRIGHT_") and not name.endswith(FOREIGN) and name not in DROPPED
        }
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as data:
            yield kept | {
                "WIREWRIGHT_CACHE": str(self.cache),
                "WIREWRIGHT_DATA": data,
                "WIREWRIGHT_MODEL": MODEL,
                "OPENAI_API_KEY": "sk-scripted",
                "OPENAI_BASE_URL": self.models,
                "LOGFIRE_IGNORE_NO_CONFIG": "1",
                "PYTHONHASHSEED": SEED,
            }
