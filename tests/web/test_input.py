"""The message field: earlier inputs by arrow keys, skipping approvals, and what is reported of it."""

import asyncio

import pytest
from playwright.async_api import Browser, Locator, expect

from agent.models.scripted import call
from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.web.conftest import Look, looking
from tests.web.states import BUILD, empty

pytestmark = pytest.mark.anyio
ANSWERS = ("question", "One.", "question", "Two.", "question", "Three.")


async def asked(look: Look, *texts: str) -> Locator:
    """The message field after some messages."""
    await empty(look)
    for text in texts:
        await look.ask(text)
    return look.page.get_by_role("textbox", name="Message to the assistant")


@pytest.mark.parity("scenario-input-up", "smoke-input-up", "term-input-history")
async def test_up_recalls_the_last_message(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel(*ANSWERS))) as look:
        box = await asked(look, "First?", "Second?")
        await box.press("ArrowUp")
        await expect(box).to_have_value("Second?")


@pytest.mark.parity("scenario-input-older", "smoke-input-walk", "term-use-input-history")
async def test_up_and_down_walk_through_the_messages(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel(*ANSWERS))) as look:
        box = await asked(look, "First?", "Second?")
        for key, value in (
            ("ArrowUp", "Second?"),
            ("ArrowUp", "First?"),
            ("ArrowUp", "First?"),
            ("ArrowDown", "Second?"),
        ):
            await box.press("Home")
            await box.press(key)
            await expect(box).to_have_value(value)


@pytest.mark.parity("scenario-input-down", "smoke-input-draft")
async def test_down_returns_to_what_was_being_written(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel(*ANSWERS))) as look:
        box = await asked(look, "First?")
        await box.fill("half a thought")
        await box.press("ArrowUp")
        await expect(box).to_have_value("First?")
        await box.press("ArrowDown")
        await expect(box).to_have_value("half a thought")


@pytest.mark.parity("scenario-input-multiline", "smoke-input-multiline", "term-cursor-gated-recall")
async def test_inside_several_lines_the_arrows_move_the_cursor(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel(*ANSWERS))) as look:
        box = await asked(look, "First?")
        await box.press_sequentially("one")
        await box.press("Shift+Enter")
        await box.press_sequentially("two")
        await box.press("ArrowUp")
        await expect(box).to_have_value("one\ntwo")
        await box.press("ArrowUp")
        await expect(box).to_have_value("First?")


@pytest.mark.parity("scenario-input-dedup", "smoke-input-dedup", "smoke-input-reload")
async def test_repeated_messages_are_kept_once_and_survive_a_reload(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel(*ANSWERS))) as look:
        box = await asked(look, "First?", "First?")
        await look.page.reload()
        for _ in range(3):
            await box.press("Home")
            await box.press("ArrowUp")
            await expect(box).to_have_value("First?")
        assert await look.page.evaluate("JSON.parse(localStorage['wirewright.inputs'])") == ["First?"]


BLOCKED = "Storage.prototype.getItem = Storage.prototype.setItem = () => { throw new Error('blocked'); }"


@pytest.mark.parity("scenario-input-degrades", "failure-input-storage", "failure-skip-all-storage")
async def test_a_browser_that_stores_nothing_works_and_says_so(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel(*ANSWERS))) as look:
        await look.page.add_init_script(BLOCKED)
        await look.page.reload()
        box = await asked(look, "First?")
        await expect(look.page.get_by_role("log")).to_contain_text("One.")
        await expect(look.page.get_by_role("log")).to_contain_text("This browser stores nothing")
        await box.press("ArrowUp")
        await expect(box).to_have_value("")


@pytest.mark.parity("failure-input-value", "failure-skip-all-value", "smoke-private-browsing")
async def test_what_another_version_stored_is_ignored(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel(*ANSWERS))) as look:
        await look.page.evaluate(
            "localStorage['wirewright.inputs'] = localStorage['wirewright.skip-all'] = '{not json'"
        )
        await look.page.reload()
        await asked(look, "First?")
        await expect(look.page.get_by_role("log")).to_contain_text("One.")
        await expect(look.page.get_by_role("checkbox", name="Apply plans and edits")).not_to_be_checked()


@pytest.mark.parity("ADR-MCP-021", "assistant_input_history_recall_total", "assistant.input_history.recall")
async def test_a_recall_is_reported(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel(*ANSWERS))) as look:
        box = await asked(look, "First?")
        await box.press("ArrowUp")
        await reported(look, "assistant_input_history_recall_total 1.0")


async def reported(look: Look, *lines: str) -> None:
    """Wait until the server's metrics have some lines; what they are is reported within seconds."""
    for _ in range(300):
        text = (await look.live.client.get("/metrics")).text
        if all(line in text for line in lines):
            return
        await asyncio.sleep(0.05)
    names = tuple(line.partition(" ")[0].partition("{")[0] for line in lines)
    raise AssertionError([line for line in text.splitlines() if line.startswith(names)])


@pytest.mark.parity(
    "scenario-skip-all-command",
    "smoke-skip-all-on",
    "smoke-skip-all-reload",
    "scenario-skip-all-badge",
    "term-skip-all-badge",
)
async def test_skip_all_is_kept_across_a_reload(browser: Browser, catalogue: Catalogue) -> None:
    model = ScriptedModel()
    async with looking(browser, assistant(catalogue, model)) as look:
        await asked(look, "/skip-all")
        skips = look.page.get_by_role("checkbox", name="Apply plans and edits")
        await expect(skips).to_be_checked()
        await expect(look.page.get_by_role("log")).to_contain_text("applied without asking")
        await look.page.reload()
        await expect(skips).to_be_checked()
        assert model.requests == [], "nothing was asked of the assistant"


@pytest.mark.parity("scenario-skip-all-exact", "smoke-skip-all-exact", "term-skip-all-command")
async def test_a_message_that_begins_like_a_command_is_a_message(browser: Browser, catalogue: Catalogue) -> None:
    model = ScriptedModel(*ANSWERS)
    async with looking(browser, assistant(catalogue, model)) as look:
        await asked(look, "/skip-all please")
        await expect(look.page.get_by_role("log")).to_contain_text("One.")
        assert "/skip-all please" in model.prompts[0]
        await expect(look.page.get_by_role("checkbox", name="Apply plans and edits")).not_to_be_checked()


@pytest.mark.parity("smoke-skip-all-off", "ADR-MCP-016", "term-skip-all-preference")
async def test_skip_all_is_turned_off_again(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel())) as look:
        await asked(look, "/skip-all", "/skip-all")
        await expect(look.page.get_by_role("checkbox", name="Apply plans and edits")).not_to_be_checked()
        await expect(look.page.get_by_role("log")).to_contain_text("wait for your approval again")


@pytest.mark.parity("assistant_skip_all_toggle_total", "assistant.skip_all.toggled", "assistant_skip_all_enabled_count")
async def test_skipping_is_reported(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel())) as look:
        await asked(look, "/skip-all")
        await look.page.reload()
        await reported(look, "assistant_skip_all_toggle_total 1.0", "assistant_skip_all_enabled_count 1.0")


@pytest.mark.parity(
    "scenario-skip-all-plan",
    "smoke-skip-all-build",
    "term-skip-approval-gate",
    "ADR-MCP-017",
    "term-auto-approve-plan-ref",
)
async def test_skipping_builds_a_plan_without_a_card(browser: Browser, catalogue: Catalogue) -> None:
    plan = [call("propose_plan", 1, markdown="1. Echo"), call("add_component", 2, type="ChatInput")]
    model = ScriptedModel("build_flow", plan, "Added it.")
    async with looking(browser, assistant(catalogue, model, StandInRunner(results=[ran("hello")] * 3))) as look:
        await asked(look, "/skip-all", "Plan an input and add it")
        await expect(look.page.locator(".react-flow__node")).to_have_count(1)
        await expect(look.page.get_by_role("region", name="Plan")).to_have_count(0)


@pytest.mark.parity(
    "assistant_flow_proposal_continue_total",
    "assistant_flow_apply_duration_ms",
    "scenario-continue-applies",
    "smoke-build-continue",
    "term-continue-gate",
)
async def test_accepting_puts_exactly_the_proposed_flow_on_the_canvas(browser: Browser, catalogue: Catalogue) -> None:
    who = assistant(catalogue, ScriptedModel(*BUILD), StandInRunner(results=[ran("hello")] * 3))
    async with looking(browser, who) as look:
        await asked(look, "Build an echo")
        await look.page.get_by_role("button", name="Put on the canvas").click()
        await expect(look.page.locator(".react-flow__node")).to_have_count(2)
        await expect(look.page.locator(".react-flow__edge")).to_have_count(1)
        drawn = 'assistant_flow_apply_duration_ms_count{size="small"} 1.0'
        await reported(look, "assistant_flow_proposal_continue_total 1.0", drawn)


@pytest.mark.parity(
    "assistant_flow_proposal_dismiss_total",
    "scenario-dismiss-discards",
    "smoke-build-dismiss",
    "smoke-proposal-settled",
)
async def test_dismissing_leaves_the_canvas_empty_and_no_buttons(browser: Browser, catalogue: Catalogue) -> None:
    who = assistant(catalogue, ScriptedModel(*BUILD), StandInRunner(results=[ran("hello")] * 3))
    async with looking(browser, who) as look:
        await asked(look, "Build an echo")
        card = look.page.get_by_role("region", name="Proposed flow: Echo")
        await card.get_by_role("button", name="Dismiss").click()
        await expect(card.get_by_role("button")).to_have_count(0)
        await expect(look.page.locator(".react-flow__node")).to_have_count(0)
        await reported(look, "assistant_flow_proposal_dismiss_total 1.0")


TWO = [call("add_component", 1, type="ChatInput"), call("add_component", 2, type="ChatOutput")]


@pytest.mark.parity(
    "assistant_build_tasks_per_message", "scenario-build-tasks", "smoke-tasks-rows", "smoke-tasks-order"
)
async def test_changes_of_the_canvas_are_rows_of_the_message_in_their_order(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel("build_flow", TWO, "Added both."))) as look:
        await asked(look, "Add an input and an output")
        await expect(look.page.locator(".changes li")).to_have_text(["Added Chat Input", "Added Chat Output"])
        await reported(look, "assistant_build_tasks_per_message_count 1.0")


@pytest.mark.parity("scenario-build-tasks-without-set-flow", "smoke-tasks-no-set-flow", "term-build-task")
async def test_a_whole_flow_is_no_row(browser: Browser, catalogue: Catalogue) -> None:
    who = assistant(catalogue, ScriptedModel(*BUILD), StandInRunner(results=[ran("hello")] * 3))
    async with looking(browser, who) as look:
        await asked(look, "Build an echo")
        await look.page.get_by_role("button", name="Put on the canvas").click()
        await expect(look.page.locator(".react-flow__node")).to_have_count(2)
        await expect(look.page.locator(".changes li")).to_have_count(0)


@pytest.mark.parity("scenario-build-tasks-per-message", "term-assistant-build-tasks", "ADR-MCP-019")
async def test_each_message_lists_its_own_changes(browser: Browser, catalogue: Catalogue) -> None:
    model = ScriptedModel(
        "build_flow", TWO[:1], "One.", "build_flow", [call("add_component", 3, type="ChatOutput")], "Two."
    )
    async with looking(browser, assistant(catalogue, model)) as look:
        await asked(look, "Add an input", "Add an output")
        lists = look.page.locator(".changes")
        await expect(lists).to_have_count(2)
        await expect(lists.nth(1).locator("li")).to_have_text(["Added Chat Output"])
        await reported(look, "assistant_build_tasks_per_message_count 2.0")


@pytest.mark.parity("term-written-file", "scenario-open-file", "scenario-download-file", "term-assistant-file-card")
async def test_a_written_file_is_opened_in_its_place_and_downloaded(browser: Browser, catalogue: Catalogue) -> None:
    write = [call("write_file", 1, path="notes.md", content="# Nine to five")]
    async with looking(browser, assistant(catalogue, ScriptedModel("manage_files", write, "Written."))) as look:
        await asked(look, "Write notes.md")
        await look.page.get_by_text("Open", exact=True).click()
        card = look.page.get_by_role("region", name="notes.md")
        await expect(card.locator("pre")).to_have_text("# Nine to five")
        async with look.page.expect_download() as downloading:
            await card.get_by_role("link", name="Download: notes.md").click()
        assert (await (await downloading.value).path()).read_text() == "# Nine to five"


@pytest.mark.parity(
    "base-smoke-usage-badge", "base-scenario-usage-badge", "base-term-usage-badge", "smoke-usage-reopen"
)
async def test_each_reply_shows_what_it_took(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel(*ANSWERS))) as look:
        await asked(look, "First?", "Second?")
        await expect(look.page.locator(".figures")).to_have_count(2)
        await look.page.get_by_role("tab", name="Try the flow").click()
        await look.page.get_by_role("tab", name="Assistant").click()
        await expect(look.page.locator(".figures").first).to_contain_text("tokens")


async def test_a_message_that_may_hold_a_key_is_not_remembered_beyond_the_page(
    browser: Browser, catalogue: Catalogue
) -> None:
    key = "sk-proj-Abc123Def456Ghi789Jkl012"
    async with looking(browser, assistant(catalogue, ScriptedModel(*ANSWERS))) as look:
        box = await asked(look, "First?", f"What is {key}?", "The senha of it?")
        assert key not in str(await look.page.evaluate("JSON.stringify({...localStorage})"))
        for value in ("The senha of it?", f"What is {key}?", "First?"):
            await box.press("Home")
            await box.press("ArrowUp")
            await expect(box).to_have_value(value)
        await look.page.reload()
        await box.press("ArrowUp")
        await expect(box).to_have_value("First?")
