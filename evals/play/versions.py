"""The versions that an attempt is played on, as hashes of their files."""

from __future__ import annotations

import hashlib
from pathlib import Path

import agent.prompts
import tools
from evals.attempt import Versions


def versions(lfx: str) -> Versions:
    """The versions of prompts, tools and engine."""
    return Versions(prompts=_hash(agent.prompts.__file__, "*.md"), tools=_hash(tools.__file__, "*.py"), lfx=lfx)


def _hash(module: str | None, pattern: str) -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(module or ".").parent.rglob(pattern)):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]
