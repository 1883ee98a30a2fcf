"""The versions that an attempt is played on, as hashes of their files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path

import agent.prompts
import evals.behaviours
import evals.case
import evals.evaluators
import evals.expectation
import evals.oracles
import evals.replies
import evals.score
import tools
from evals.attempt import Origin, Versions
from evals.user_evaluators import UserEvaluator


def versions(lfx: str) -> Versions:
    """The versions of prompts, tools and engine."""
    return Versions(prompts=_hash(agent.prompts.__file__, "*.md"), tools=_hash(tools.__file__, "*.py"), lfx=lfx)


def origin(pack: str = "", evaluators: Iterable[UserEvaluator] = ()) -> Origin:
    """What a journal says of an attempt that ends now.

    Args:
        pack: the name, version and digest of the pack of scenarios; empty without one.
        evaluators: of the user's own.
    """
    at = datetime.now(UTC).isoformat(timespec="seconds")
    own = {one.name: one.version for one in evaluators}
    return Origin(at=at, harness=metadata.version("wirewright"), graders=_graders(), pack=pack, evaluators=own)


@cache
def _graders() -> str:
    """A hash of the evaluators and of what they decide by, which shares a folder with them or is a module beside."""
    folders = (evals.evaluators, evals.oracles, evals.behaviours)
    modules = (evals.case.__file__, evals.expectation.__file__, evals.score.__file__)
    digest = hashlib.sha256()
    for folder in folders:
        digest.update(_hash(folder.__file__, "*.py").encode())
    digest.update(_hash(evals.replies.__file__, "*.*y*").encode())
    for module in modules:
        digest.update(Path(module or "").read_bytes())
    return digest.hexdigest()[:12]


def _hash(module: str | None, pattern: str) -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(module or ".").parent.rglob(pattern)):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]
