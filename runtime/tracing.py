"""Spans for traces, which logfire sends; a process that has no use for logfire does not import it."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol


class Span(Protocol):
    """What code sets on a span."""

    def set_attribute(self, key: str, value: Any, /) -> None:
        """Set one attribute."""

    def set_attributes(self, attributes: dict[str, Any], /) -> None:
        """Set several attributes."""

    def record_exception(self, exception: BaseException, /) -> None:
        """Record a failure."""


class NoSpan:
    """A span that nobody receives."""

    def set_attribute(self, key: str, value: Any, /) -> None:
        """Set nothing."""

    def set_attributes(self, attributes: dict[str, Any], /) -> None:
        """Set nothing."""

    def record_exception(self, exception: BaseException, /) -> None:
        """Record nothing."""


def span(name: str, **attributes: Any) -> AbstractContextManager[Span]:
    """A span of logfire, or none in a process that has not imported it: nobody can have configured it there.

    Args:
        name: its name.
        **attributes: its first attributes.
    """
    if sys.modules.get("logfire") is None:
        return nullcontext(NoSpan())
    import logfire

    return logfire.span(name, **attributes)


def disable_logfire() -> None:
    """Import PydanticAI without logfire, which is a third of its import, for a process that sends no traces.

    Its graphs can make spans of their own with logfire, and do without where it is not installed: they are imported as
    if that were so. `import logfire` itself works afterwards. Does nothing once either is imported.
    """
    if "pydantic_ai" in sys.modules or "logfire" in sys.modules:
        return
    sys.modules["logfire"] = None  # pyright: ignore[reportArgumentType]  (so the import system marks what is missing)
    try:
        import pydantic_ai  # noqa: F401  # pyright: ignore[reportUnusedImport]
    finally:
        del sys.modules["logfire"]
