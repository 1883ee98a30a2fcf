"""How often functions of the page are called, as the browser counts them: what a gesture draws anew, without times."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from playwright.async_api import CDPSession

from tests.web.conftest import Look

WRITTEN: Final = {
    "canvas": "`canvas ${",
    "component": "given nodrag nowheel",
    "connection": "wire-value nodrag",
    "toolbar": "className:`toolbar`",
    "selection": "selection row",
    "message field": "`skip`",
    "run bar": "run-bar failed",
    "ports": "Map.groupBy",
}
"""A text that stands in each of these functions, and is kept by the build; of those around it, the smallest counts."""


@dataclass
class Calls:
    """Counts calls in a page.

    Attributes:
        look: the page.
        session: Chromium's own protocol.
    """

    look: Look
    session: CDPSession

    async def taken(self) -> Mapping[str, int]:
        """The calls since the last time, by what the function draws."""
        found: Any = (await _sent(self.session, "Profiler.takePreciseCoverage"))["result"]
        counts = dict.fromkeys(WRITTEN, 0)
        for name, text in WRITTEN.items():
            sizes: list[tuple[int, int]] = []
            for script in found:
                if script["url"].startswith(self.look.base):
                    sizes += _around(script, await self._source(script["url"]), text)
            counts[name] = min(sizes)[1] if sizes else 0
        return counts

    async def _source(self, url: str) -> str:
        return (await self.look.live.client.get(url)).text


def _around(script: Any, source: str, text: str) -> list[tuple[int, int]]:
    """The sizes and calls of the functions that have a text in them."""
    found: list[tuple[int, int]] = []
    for function in script["functions"]:
        (whole, *_) = function["ranges"]
        if text in source[whole["startOffset"] : whole["endOffset"]]:
            found.append((whole["endOffset"] - whole["startOffset"], whole["count"]))
    return found


async def counting(look: Look) -> Calls:
    """Begin to count the calls of a page's functions."""
    session = await look.page.context.new_cdp_session(look.page)
    await _sent(session, "Profiler.enable")
    await _sent(session, "Profiler.startPreciseCoverage", callCount=True, detailed=False)
    return Calls(look, session)


async def _sent(session: CDPSession, method: str, **given: bool) -> Any:
    """The answer to a command of Chromium's protocol, which has no type."""
    # What Chromium answers has no type in Playwright.
    return await session.send(method, given)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
