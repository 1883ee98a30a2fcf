"""The keyboard is where it was once something that opened over the page or in it is closed again.

Everything that opens is in `OPENED`; a guard finds what is missing in it.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest
from playwright.async_api import Browser, Locator, expect

from flows.catalogue import Catalogue
from scripts.page import ROOT
from tests.shared.scripted_assistant import ScriptedModel, Step, assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.web.conftest import Look, looking
from tests.web.states import BUILD, PLAN, built, conversations, empty, planned, proposed, trying

pytestmark = pytest.mark.anyio
OPENS = re.compile(r'autoFocus|<Dialog\b|<dialog\b|role="(?:listbox|menu|dialog|alertdialog)"|popover=')
"""What the source of something that opens and takes the keyboard, or is led by it, has in it."""


@dataclass(frozen=True)
class Opened:
    """Something that opens.

    Attributes:
        script: what the assistant's model says until then.
        reach: brings the page to where it can be opened; returns what has the keyboard then.
        inside: what stands in it when it is open.
        keys: opens it.
        closers: each closes it: a key, or the name of a button.
    """

    script: tuple[Step, ...]
    reach: Callable[[Look], Awaitable[Locator]]
    inside: str
    keys: tuple[str, ...] = ("Enter",)
    closers: tuple[str, ...] = ("Escape", "Close")


def button(state: Callable[[Look], Awaitable[None]], name: str, at: int = 0) -> Callable[[Look], Awaitable[Locator]]:
    """Reach a state, and a button of it."""

    async def reach(look: Look) -> Locator:
        await state(look)
        return look.page.get_by_role("button", name=name, exact=True).nth(at)

    return reach


async def message(look: Look) -> Locator:
    """The message field of a new flow."""
    await empty(look)
    return look.page.get_by_role("textbox", name="Message to the assistant")


async def component(look: Look) -> Locator:
    """A component of a flow."""
    await built(look)
    return look.page.locator(".react-flow__node").filter(has=look.page.get_by_role("article", name="Chat Input"))


async def note(look: Look) -> Locator:
    """A note that nobody writes."""
    await empty(look)
    await look.page.get_by_role("button", name="Add note").click()
    await look.page.get_by_role("textbox", name="Note").press("Escape")
    return look.page.locator(".react-flow__node-note")


async def sessions(look: Look) -> None:
    """A flow that was not tried yet."""
    await built(look)
    await look.page.get_by_role("tab", name="Try the flow").click()


async def said(look: Look) -> None:
    """A message that was answered."""
    await empty(look)
    await look.ask("Which?")


DIALOG = "dialog[open]"
OPENED: dict[str, Opened] = {
    "assistant/ConversationsDialog.tsx": Opened(BUILD, button(proposed, "Conversations"), DIALOG),
    "assistant/SessionsDialog.tsx": Opened(BUILD, button(sessions, "Sessions"), DIALOG),
    "assistant/ProvidersDialog.tsx": Opened((), button(empty, "use a language model"), DIALOG),
    "assistant/Suggestions.tsx": Opened((), message, "[role=listbox]", ("/",), ("Escape",)),
    "assistant/MessageItem.tsx": Opened(
        ("question", "One."), button(said, "Edit this message"), "form.edit", closers=("Escape", "Cancel")
    ),
    "assistant/QuestionCard.tsx": Opened(PLAN, button(planned, "Change"), ".question form"),
    "canvas/RevisionsDialog.tsx": Opened(BUILD, button(built, "Revisions"), DIALOG),
    "canvas/Palette.tsx": Opened((), button(empty, "Add component"), DIALOG),
    "canvas/ConnectDialog.tsx": Opened(BUILD, button(built, "Connect to…"), DIALOG),
    "canvas/fields/FieldDialog.tsx": Opened(
        BUILD, button(built, "Larger editor"), DIALOG, closers=("Escape", "Close", "Cancel", "Apply")
    ),
    "canvas/Title.tsx": Opened(BUILD, component, "input.rename", ("F2",), ("Escape", "Enter")),
    "canvas/NoteNode.tsx": Opened((), note, ".note textarea", ("F2",), ("Escape", "Control+Enter")),
}
ELSEWHERE = {
    "ui/Dialog.tsx": "test_a_dialog_gives_the_keyboard_back_when_something_in_it_was_chosen",
    "views/SignInAgain.tsx": "test_the_keyboard_is_where_it_was_after_signing_in_again",
    "canvas/Canvas.tsx": "test_connections_show_what_they_carried_short_and_whole",
}
"""What needs a test of its own, and that test."""
KEYS = frozenset({"Escape", "Enter", "Control+Enter"})


def test_everything_that_opens_is_in_the_table() -> None:
    source = ROOT / "web" / "src"
    found = {path.relative_to(source).as_posix() for path in source.rglob("*.tsx") if OPENS.search(path.read_text())}
    assert found == OPENED.keys() | ELSEWHERE.keys()
    tests = "".join(path.read_text() for path in (ROOT / "tests" / "web").rglob("test_*.py"))
    assert [name for name in ELSEWHERE.values() if f"def {name}(" not in tests] == []


@pytest.mark.parametrize(("name", "closer"), [(name, closer) for name, one in OPENED.items() for closer in one.closers])
async def test_the_keyboard_is_where_it_was_when_something_is_closed(
    name: str, closer: str, browser: Browser, catalogue: Catalogue
) -> None:
    one = OPENED[name]
    who = assistant(catalogue, ScriptedModel(*one.script), StandInRunner(results=[ran("hello")] * 4))
    async with looking(browser, who) as look:
        opener = await one.reach(look)
        await opener.focus()
        await expect(opener).to_be_focused()
        for key in one.keys:
            await look.page.keyboard.press(key)
        inside = look.page.locator(one.inside)
        await expect(inside).to_be_visible()
        if closer in KEYS:
            await look.page.keyboard.press(closer)
        else:
            await inside.get_by_role("button", name=closer, exact=True).first.click()
        await expect(inside).to_have_count(0)
        await expect(opener).to_be_focused()


async def test_the_keyboard_stays_near_what_is_gone_when_a_dialog_is_closed(
    browser: Browser, catalogue: Catalogue
) -> None:
    """A key is stored in the dialog of providers, whose button is another one then."""
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        await empty(look)
        await page.get_by_role("button", name="use a language model").press("Enter")
        card = page.get_by_role("dialog").locator("li.card", has=page.get_by_text("Groq", exact=True))
        await card.get_by_label("GROQ_API_KEY").fill("gsk-of-this-test-1234")
        await card.get_by_role("button", name="Save: Groq").click()
        await expect(card).to_contain_text("Ready to use")
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await expect(page.locator(".panel .bar :focus")).to_have_count(1)


async def test_a_dialog_gives_the_keyboard_back_when_something_in_it_was_chosen(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel(*BUILD))) as look:
        await conversations(look)
        await look.page.get_by_role("dialog").get_by_role("button", name="Build an echo").first.press("Enter")
        await expect(look.page.get_by_role("button", name="Conversations", exact=True)).to_be_focused()


async def test_a_notice_that_is_closed_gives_the_keyboard_back(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(
        browser, assistant(catalogue, ScriptedModel(*BUILD), StandInRunner(results=[ran("hello")]))
    ) as look:
        await trying(look)
        save = look.page.get_by_role("button", name="Save as a test")
        await save.press("Enter")
        await look.page.locator(".notice").get_by_role("button", name="Close").click()
        await expect(look.page.locator(".notice")).to_have_count(0)
        await expect(save).to_be_focused()


async def test_the_keyboard_is_where_it_was_after_signing_in_again(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue)) as look:
        page = look.page
        box = await message(look)
        await page.context.clear_cookies()
        await box.fill("half a mess")
        await page.evaluate("fetch('/api/v1/flows')")
        await box.press("Enter")
        door = page.get_by_role("dialog", name="Sign in")
        await door.get_by_label("Token").fill(look.live.client.headers["Authorization"].removeprefix("Bearer "))
        await door.get_by_role("button", name="Sign in").click()
        await expect(door).to_have_count(0)
        await expect(box).to_be_focused()
        look.problems.clear()  # the console tells of what was refused
