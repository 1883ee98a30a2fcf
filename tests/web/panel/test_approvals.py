"""Approvals of every kind in the panel: why they are asked, what they would do, and what comes of an answer."""

import pytest
from playwright.async_api import Browser, Locator, expect

from agent.models.scripted import call
from flows.catalogue import Catalogue
from tests.server.live import events
from tests.server.streams.test_client_tools import WHERE
from tests.shared.consents import CONSENTS, offer_consents
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.web.conftest import Look, looking
from tests.web.states import empty

pytestmark = pytest.mark.anyio
ALLOW = {"install": "Install", "removal": "Remove", "outbound": "Allow", "secret": "Allow"}
WHY = {
    "install": "Packages run as code on this server, for everyone.",
    "removal": "What is removed or overwritten is yours.",
    "outbound": "What is sent there leaves this server.",
    "secret": "Keys are used only with your consent. The value is never shown to the model.",
}
TELLS = {
    "install": ["lfx-chroma", "212"],
    "removal": ["notes.md", "It has 12 lines."],
    "outbound": ["api.example.com"],
    "secret": ["OPENAI_API_KEY", "It begins with sk-12."],
}


@pytest.fixture(autouse=True)
def _consents(monkeypatch: pytest.MonkeyPatch) -> None:
    offer_consents(monkeypatch)


def scripted(kind: str, *answers: str) -> ScriptedModel:
    return ScriptedModel("build_flow", [call("do_with_consent", 1, kind=kind)], *answers)


async def asked(look: Look, kind: str) -> Locator:
    """Have something asked about; returns its card."""
    await empty(look)
    await look.ask("Please do it")
    card = look.page.get_by_role("region", name=CONSENTS[kind].title)
    await expect(card).to_be_visible()
    return card


@pytest.mark.parametrize("kind", list(CONSENTS))
async def test_an_approval_says_why_it_is_asked_and_is_given(kind: str, browser: Browser, catalogue: Catalogue) -> None:
    model = scripted(kind, "It is done.")
    async with looking(browser, assistant(catalogue, model)) as look:
        card = await asked(look, kind)
        for told in (WHY[kind], *TELLS[kind]):
            await expect(card).to_contain_text(told)
        await card.get_by_role("button", name=ALLOW[kind], exact=True).click()
        await expect(card.locator(".outcome")).to_have_text("Approved")
        await expect(look.page.get_by_role("log")).to_contain_text("It is done.")
        await expect(card.get_by_role("button")).to_have_count(0)
        await look.page.reload()
        await expect(card.locator(".outcome")).to_have_text("Approved")
    assert model.tool_answers(-1) == [f"Done: {kind} it."]


@pytest.mark.parametrize("kind", list(CONSENTS))
async def test_an_approval_is_refused_or_answered_with_other_words(
    kind: str, browser: Browser, catalogue: Catalogue
) -> None:
    model = scripted(kind, "I left it.")
    async with looking(browser, assistant(catalogue, model)) as look:
        card = await asked(look, kind)
        await card.get_by_role("button", name="Change").click()
        field = card.get_by_role("textbox", name="Change")
        await expect(field).to_be_focused()
        await field.press("Escape")
        await expect(card.get_by_role("button", name=ALLOW[kind], exact=True)).to_be_visible()
        await card.get_by_role("button", name="Change").click()
        await field.fill("Take another one")
        await field.press("Enter")
        await expect(card.locator(".outcome")).to_have_text("Denied")
        await expect(look.page.get_by_role("log")).to_contain_text("I left it.")
    assert "Take another one" in " ".join(model.tool_answers(-1))


async def test_a_tool_of_another_application_is_shown_and_can_only_be_done_without(
    browser: Browser, catalogue: Catalogue
) -> None:
    where = call("get_location", 1, exact=True)
    model = ScriptedModel("question", "Hello.", "question", [where], "Then without it.")
    async with looking(browser, assistant(catalogue, model)) as look:
        page = look.page
        await empty(look)
        await look.ask("Hello?")
        [talk] = (await look.live.client.get("/api/v1/conversations")).json()["conversations"]
        await events(look.live.client, input_value="Where am I?", session_id=talk["id"], tools=[WHERE])
        await page.reload()
        card = page.get_by_role("region", name="The assistant calls get_location.")
        await expect(card).to_contain_text("Only the application that offers this tool can use it.")
        await card.get_by_text("get location", exact=True).click()
        await expect(card.get_by_label("Given")).to_contain_text('"exact": true')
        await expect(card.get_by_role("button")).to_have_text(["Change", "Deny"])
        await card.get_by_role("button", name="Deny").click()
        await expect(card.locator(".outcome")).to_have_text("Denied")
        await expect(page.get_by_role("log")).to_contain_text("Then without it.")
