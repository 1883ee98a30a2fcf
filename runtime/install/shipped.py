"""The component catalogue that ships with the package: what is known before the flow engine is installed.

It was exported by the engine of the lock file beside the runner (`python -m scripts.shipped_catalogue`). With another
lock file, or with bundles chosen, the engine would have other types: then there is none.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from functools import cache
from pathlib import Path

from flows.catalogue import Catalogue
from flows.json_values import Json, as_object, as_text
from runtime.install.bundles import chosen_bundles
from runtime.install.environment import runner_source
from runtime.install.errors import InstallError

FILE = Path(__file__).with_name("catalogue.json.gz")


def shipped_catalogue(folder: Path) -> Catalogue | None:
    """The shipped component types, or None when this installation's engine would have others.

    Args:
        folder: the cache folder, in which the bundles are chosen.
    """
    return None if chosen_bundles(folder) else _shipped()


def lock_digest(source: Path) -> str:
    """Identifies the lock file of the engine in the folder of the runner's source."""
    return hashlib.sha256((source / "uv.lock").read_bytes()).hexdigest()[:16]


def write_shipped(export: Path, target: Path, digest: str) -> None:
    """Write the file that ships from one that the engine exported; the same export gives the same bytes.

    Args:
        export: the exported catalogue.
        target: where it goes.
        digest: identifies the lock file of the engine that exported it.
    """
    found: Json = json.loads(export.read_text(encoding="utf-8"))
    contents = {**as_object(found), "runner": f"shipped-{digest}"}
    text = json.dumps(contents, ensure_ascii=False, separators=(",", ":"))
    target.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


@cache
def _shipped() -> Catalogue | None:
    try:
        found: Json = json.loads(gzip.decompress(FILE.read_bytes()))
        digest = lock_digest(runner_source())
    except (OSError, ValueError, InstallError):
        return None
    if as_text(as_object(found).get("runner")) != f"shipped-{digest}":
        return None
    return Catalogue.from_json(found)
