"""Bundles of a conversation: component types of the engine that are not installed until the user consents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from evals.play.environment import PlayEnvironment
from flows.bundles import Bundle, BundleIndex
from flows.catalogue import Catalogue
from tools.workbench import FlowRunner

SIZE_MB = 12.0
"""How large the download of every such bundle is said to be."""


def without_bundles(environment: PlayEnvironment, bundles: Mapping[str, Sequence[str]]) -> PlayEnvironment:
    """An environment in which these types are not installed, but can be.

    Args:
        environment: the environment; without bundles it is returned as it is.
        bundles: the types of each bundle.
    """
    if not bundles:
        return environment
    whole = environment.catalogue
    by_type = {
        one: Bundle(name=name, requirement=f"lfx-{name}", size_mb=SIZE_MB)
        for name, types in bundles.items()
        for one in types
    }
    away = Catalogue({one.type: one for one in whole if one.type in by_type}, version=whole.version)
    here = Catalogue({one.type: one for one in whole if one.type not in by_type}, version=whole.version)
    runner = cast("FlowRunner", _AddsBundles(environment.runner, whole))
    return replace(environment, catalogue=here, runner=runner, bundles=BundleIndex(by_type, away))


class _AddsBundles:
    """A runner that has everything from the start, and says so when it is asked to install; the rest is delegated."""

    def __init__(self, runner: FlowRunner, whole: Catalogue) -> None:
        self._runner = runner
        self._whole = whole

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runner, name)

    async def add_bundles(self, requirements: Sequence[str], progress: Callable[[str], None]) -> Catalogue:
        """Say that the packages are installed, and return every type."""
        progress(f"Installing the flow engine: {len(requirements)} packages installed")
        return self._whole
