"""How much is loaded before the first view is there, and what only when it is opened."""

import gzip

import pytest
from playwright.async_api import Browser, expect

from benchmarks.page import SCRIPTS
from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import assistant
from tests.web.conftest import looking

pytestmark = pytest.mark.anyio
MOST = 200_000
"""Bytes of scripts, gzipped."""


async def test_the_first_view_loads_little_and_the_others_when_they_are_opened(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        await expect(look.page.get_by_role("heading", name="Templates")).to_be_visible()
        first: list[str] = await look.page.evaluate(SCRIPTS)
        bodies = [(await look.live.client.get(script)).content for script in first]
        assert 0 < sum(len(gzip.compress(body)) for body in bodies) <= MOST
        await look.page.get_by_role("link", name="Settings").click()
        await expect(look.page.get_by_role("heading", name="Settings").first).to_be_visible()
        later: list[str] = await look.page.evaluate(SCRIPTS)
        assert set(first) < set(later), "settings come with a script of their own"
