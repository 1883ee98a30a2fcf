"""Tells who watches that stored flows have changed, in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Watch: TypeAlias = Callable[[str, bool], None]
"""Called with the id of a flow, and whether the list of flows has changed too; must not raise or wait."""


class FlowChanges:
    """Who watches the flows of which user."""

    def __init__(self) -> None:
        self._watching: dict[str, dict[object, Watch]] = {}

    def watch(self, user: str, watch: Watch) -> Callable[[], None]:
        """Call a function whenever one of a user's flows is stored or removed; returns what ends that.

        Args:
            user: the user's id.
            watch: the function.
        """
        token = object()
        self._watching.setdefault(user, {})[token] = watch

        def end() -> None:
            watching = self._watching.get(user, {})
            watching.pop(token, None)
            if not watching:
                self._watching.pop(user, None)

        return end

    def tell(self, user: str, flow_id: str, *, listed: bool) -> None:
        """Tell those who watch.

        Args:
            user: whose flow it is.
            flow_id: the flow.
            listed: whether a list of flows, which has their names and versions, is different now.
        """
        for watch in list(self._watching.get(user, {}).values()):
            watch(flow_id, listed)
