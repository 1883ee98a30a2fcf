"""The versions that an attempt is played on, as hashes of their files."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path

import agent.prompts
import evals.evaluators
import tools
from evals.attempt import Origin, Versions


def versions(lfx: str) -> Versions:
    """The versions of prompts, tools and engine."""
    return Versions(prompts=_hash(agent.prompts.__file__, "*.md"), tools=_hash(tools.__file__, "*.py"), lfx=lfx)


def origin() -> Origin:
    """What a journal says of an attempt that ends now."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    return Origin(at=at, harness=metadata.version("wirewright"), graders=_graders())


@cache
def _graders() -> str:
    return _hash(evals.evaluators.__file__, "*.py")


def _hash(module: str | None, pattern: str) -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(module or ".").parent.rglob(pattern)):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]
