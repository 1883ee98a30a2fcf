"""What a turn took, under its answer: tokens, seconds, dollars and the model; what is not known is left out."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any

import pytest
from playwright.async_api import Browser, expect
from pydantic_ai.models import StreamedResponse

from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.web.conftest import looking
from tests.web.states import empty

pytestmark = pytest.mark.anyio


class Priced(ScriptedModel):
    """A scripted model each of whose answers costs so many dollars; None where nobody knows."""

    def __init__(self, *replies: str, dollars: str | None) -> None:
        super().__init__(*replies)
        self.dollars = None if dollars is None else Decimal(dollars)

    async def request(self, *given: Any, **more: Any) -> Any:
        response = await super().request(*given, **more)
        response.usage.cost = self.dollars
        return response

    @asynccontextmanager
    async def request_stream(self, *given: Any, **more: Any) -> AsyncGenerator[StreamedResponse]:
        async with super().request_stream(*given, **more) as response:
            response.usage.cost = self.dollars
            yield response


@pytest.mark.parametrize(("dollars", "told"), [("0.0125", "$0.025"), ("1.5", "$3"), (None, None)])
async def test_a_turn_says_what_it_cost(
    dollars: str | None, told: str | None, browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue, Priced("question", "One.", dollars=dollars))) as look:
        await empty(look)
        await look.ask("Which?")
        figures = look.page.locator(".message.assistant .figures")
        await expect(figures).to_contain_text("tokens")
        parts = (await figures.inner_text()).split(" · ")
        assert [part for part in parts if "$" in part] == ([] if told is None else [told])
        assert parts[1].endswith(" s")
        assert parts[-1] == "scripted"
