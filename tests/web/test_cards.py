"""The cards of the panel: what a flow needs, runs, errors, proposals, the selection, earlier messages."""

import re
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from agent.models.scripted import call
from flows.catalogue import Catalogue
from tests.shared.flow_texts import AGENT, ECHO
from tests.shared.scripted_assistant import ScriptedModel, Step, assistant
from tests.shared.stand_ins import SUM, ComponentRunner, StandInRunner, ran
from tests.web.conftest import Look, looking
from tests.web.states import BUILD, PLAN, built, empty, planned, proposed
from tests.web.test_input import asked, reported

pytestmark = pytest.mark.anyio
AGENT_BUILT: tuple[Step, ...] = ("build_flow", [call("build_flow", 1, spec=AGENT)], "Built.")


def who(catalogue: Catalogue, *script: Step) -> Any:
    return assistant(catalogue, ScriptedModel(*script), StandInRunner(results=[ran("hello")] * 6))


async def needing(look: Look) -> None:
    await empty(look)
    await look.ask("Build an agent")
    await look.page.get_by_role("button", name="Put on the canvas").click()
    await look.page.get_by_role("region", name="What the flow still needs").wait_for()


async def in_view(page: Page) -> bool:
    """Whether every component lies inside the canvas."""
    return await page.evaluate(
        """() => { const area = document.querySelector('.canvas').getBoundingClientRect();
        return [...document.querySelectorAll('.react-flow__node')].every((node) => {
          const box = node.getBoundingClientRect();
          return box.left >= area.left && box.right <= area.right && box.top >= area.top && box.bottom <= area.bottom;
        }); }"""
    )


async def test_what_a_flow_needs_is_settled_on_the_spot(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, who(catalogue, *AGENT_BUILT)) as look:
        await needing(look)
        card = look.page.get_by_role("region", name="What the flow still needs")
        await expect(card).to_contain_text("A model")
        await card.get_by_role("button", name="Set up a model").click()
        await card.get_by_label(re.compile("^ANTHROPIC_API_KEY")).fill("sk-ant-a-key-of-this-test-1234")
        await card.get_by_role("button", name="Save: Anthropic").click()
        await expect(card).to_have_count(0)
        assert (await look.live.client.get("/api/v1/models")).json()["default"].startswith("anthropic:")


@pytest.mark.parity(
    "ADR-030",
    "base-scenario-empty-state-dialog",
    "base-term-provider-dialog",
    "base-smoke-configure-dialog",
    "term-provider-dialog",
)
async def test_providers_are_set_up_in_a_dialog_of_the_panel(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, who(catalogue)) as look:
        await empty(look)
        place = look.page.url
        opener = look.page.get_by_role("button", name="use a language model")
        await opener.click()
        dialog = look.page.get_by_role("dialog", name="Model providers")
        await dialog.get_by_label(re.compile("^OPENAI_API_KEY")).first.fill("sk-a-key-of-this-test-1234")
        await dialog.get_by_role("button", name="Save: OpenAI", exact=True).click()
        await expect(dialog.get_by_role("listitem").first).to_contain_text("Ready to use")
        await look.page.keyboard.press("Escape")
        await expect(dialog).to_have_count(0)
        await expect(look.page.get_by_role("combobox", name="Model")).to_be_visible()
        await expect(opener).to_have_count(0)
        assert look.page.url == place


@pytest.mark.parity("base-smoke-model-dropdown", "smoke-model-shown")
async def test_the_choice_of_a_model_shows_names(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, who(catalogue)) as look:
        key = {"values": {"OPENAI_API_KEY": "sk-a-key-of-this-test-1234"}}
        (await look.live.client.put("/api/v1/providers/openai", json=key)).raise_for_status()
        await look.page.reload()
        await empty(look)
        shown = await look.page.get_by_role("combobox", name="Model").locator("option").all_inner_texts()
        assert len(shown) > 1
        assert not [one for one in shown if set(one) & set('{}[]"')]


async def test_what_is_selected_goes_along_with_the_message_unless_it_is_left_out(
    browser: Browser, catalogue: Catalogue
) -> None:
    model = ScriptedModel(*BUILD, "question", "It takes the message.", "question", "Yes.")
    async with looking(browser, assistant(catalogue, model, StandInRunner(results=[ran("hello")] * 6))) as look:
        await built(look)
        chips = look.page.get_by_role("list", name="Sent along")
        await expect(chips).to_contain_text("Chat Input")
        await look.ask("What does this do?")
        await expect(look.page.locator(".message.user .mention").last).to_have_text("Chat Input")
        assert any("'ChatInput-" in prompt for prompt in model.prompts)
        await chips.get_by_role("button", name="Do not send the selection along").click()
        await expect(chips).to_have_count(0)
        await look.ask("And now?")
        assert "'ChatInput-" not in model.prompts[-1].rpartition("And now?")[2]


@pytest.mark.parity("ADR-022")
async def test_an_accepted_flow_comes_into_view(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, who(catalogue, *BUILD)) as look:
        await proposed(look)
        await look.page.get_by_role("button", name="Put on the canvas").click()
        await expect(look.page.locator(".react-flow__node")).to_have_count(2)
        for _ in range(40):
            if await in_view(look.page):
                break
            await look.page.wait_for_timeout(100)
        assert await in_view(look.page)


@pytest.mark.parity("term-apply-mode", "smoke-proposal-buttons")
async def test_a_second_proposal_can_be_put_beside_what_is_there(browser: Browser, catalogue: Catalogue) -> None:
    again = ("build_flow", [call("build_flow", 2, spec=ECHO.replace("Echo", "Second"))], "Another.")
    async with looking(browser, who(catalogue, *BUILD, *again)) as look:
        await built(look)
        await look.ask("Build another echo")
        card = look.page.get_by_role("region", name="Proposed flow: Second")
        await expect(card.get_by_role("button")).to_have_text(["Add beside it", "Replace 2 nodes", "Dismiss"])
        await card.get_by_role("button", name="Add beside it").click()
        await expect(look.page.locator(".react-flow__node")).to_have_count(4)
        await expect(look.page.locator(".react-flow__edge")).to_have_count(2)
        await expect(card).to_contain_text("Approved")


@pytest.mark.parity("smoke-proposal-replace")
async def test_replacing_leaves_only_the_proposal(browser: Browser, catalogue: Catalogue) -> None:
    again = ("build_flow", [call("build_flow", 2, spec=AGENT)], "Another.")
    async with looking(browser, who(catalogue, *BUILD, *again)) as look:
        await built(look)
        await look.ask("Build an agent instead")
        await look.page.get_by_role("button", name="Replace 2 nodes").click()
        await expect(look.page.locator(".react-flow__node")).to_have_count(3)
        await expect(look.page.get_by_role("article", name="Agent", exact=True)).to_be_visible()
        await expect(look.page.locator(".saving")).to_have_text("Saved")
        card = look.page.get_by_role("region", name="Proposed flow: ").last
        await expect(card).to_contain_text("On the canvas instead")
        await expect(look.page.get_by_role("log")).to_contain_text("It is on the canvas now.")
        await look.page.get_by_role("button", name="Undo").click()
        await expect(look.page.locator(".react-flow__node")).to_have_count(2)
        await expect(look.page.locator(".saving")).to_have_text("Saved")
        await look.page.reload()
        await expect(card).to_contain_text("On the canvas instead")


@pytest.mark.parity("scenario-skip-all-set-flow")
async def test_skipping_puts_a_whole_flow_on_the_canvas(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, who(catalogue, *BUILD)) as look:
        await asked(look, "/skip-all", "Build an echo")
        await expect(look.page.locator(".react-flow__node")).to_have_count(2)
        await expect(look.page.get_by_role("button", name="Put on the canvas")).to_have_count(0)


@pytest.mark.parity("term-reset-plan", "assistant_plan_reset_total", "scenario-plan-dismiss", "smoke-plan-dismiss")
async def test_a_dismissed_plan_is_reported_and_asks_no_more(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, who(catalogue, *PLAN, "Then not.")) as look:
        await planned(look)
        plan = look.page.get_by_role("region", name="Plan")
        await expect(plan).to_contain_text("Nothing is done before you agree.")
        await plan.get_by_role("button", name="Dismiss").click()
        await expect(plan.get_by_role("button")).to_have_count(0)
        await reported(look, "assistant_plan_reset_total 1.0")


@pytest.mark.parity("scenario-build-task-dedup")
async def test_a_change_that_is_made_again_is_one_row(browser: Browser, catalogue: Catalogue) -> None:
    twice = [
        call("add_component", 1, type="ChatInput"),
        call("configure_component", 2, component_id="ChatInput-1", values={"input_value": "one"}),
    ]

    def configured(number: int, value: str) -> Any:
        def reply(messages: Any, info: Any) -> Any:
            found = re.search(r"ChatInput-\w+", str(messages))
            assert found is not None
            return [call("configure_component", number, component_id=found[0], values={"input_value": value})]

        return reply

    script = ("build_flow", twice[:1], configured(2, "one"), configured(3, "two"), "Done.")
    async with looking(browser, who(catalogue, *script)) as look:
        await asked(look, "Add an input, and set its text")
        rows = await look.page.locator(".changes li").all_inner_texts()
        assert len(rows) == len(set(rows))


@pytest.mark.parity("base-scenario-new-session-id")
async def test_a_conversation_keeps_its_id_until_a_new_one_begins(browser: Browser, catalogue: Catalogue) -> None:
    model = ScriptedModel("question", "One.", "question", "Two.", "question", "Three.")
    async with looking(browser, assistant(catalogue, model)) as look:
        sent: list[str] = []

        def note(request: Any) -> None:
            if request.url.endswith("/assist/stream"):
                sent.append(request.post_data_json["session_id"])

        look.page.on("request", note)
        await asked(look, "First?", "Second?")
        await look.page.get_by_role("button", name="New conversation").click()
        await expect(look.page.locator(".message")).to_have_count(0)
        await look.ask("Third?")
        assert sent[0] == sent[1] != sent[2]


@pytest.mark.parity(
    "scenario-load-session-keeps",
    "smoke-component-saved-session",
    "scenario-reset-on-mount",
    "scenario-reset-on-new-session",
    "term-fire-session-reset",
)
async def test_opening_a_conversation_deletes_nothing(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, who(catalogue, "question", "One.", "question", "Two.")) as look:
        resets: list[str] = []
        look.page.on("request", lambda request: resets.append(request.url) if "sessions/reset" in request.url else None)
        await asked(look, "First?")
        await look.page.get_by_role("button", name="New conversation").click()
        await look.ask("Second?")
        await look.page.get_by_role("button", name="Conversations").click()
        listed = look.page.get_by_role("dialog").get_by_role("listitem")
        await expect(listed.filter(has_text="First?")).to_contain_text("One.")  # what was said last
        await look.page.get_by_role("dialog").get_by_role("button", name=re.compile("First")).first.click()
        await expect(look.page.get_by_role("log")).to_contain_text("One.")
        await expect(look.page.get_by_role("log")).not_to_contain_text("Two.")
        assert resets == []


@pytest.mark.parity("base-term-assistant-message", "base-term-reasoning-ui")
async def test_a_message_of_the_assistant_has_its_parts_in_order(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, who(catalogue, *BUILD)) as look:
        await proposed(look)
        parts = await look.page.locator(".message.assistant > *").evaluate_all("all => all.map((one) => one.className)")
        assert parts[0].split()[0] == "tool", "the first step is one that happened"
        assert "card" in parts
        assert parts[-1] == "figures"


async def test_the_last_message_is_edited_and_sent_again(browser: Browser, catalogue: Catalogue) -> None:
    model = ScriptedModel("question", "One.", "question", "Two.")
    async with looking(browser, assistant(catalogue, model)) as look:
        await asked(look, "Which?")
        await look.page.get_by_role("button", name="Edit this message").click()
        field = look.page.get_by_role("textbox", name="Edit this message")
        await expect(field).to_be_focused()
        await field.fill("Which one?")
        await field.press("Enter")
        await expect(look.page.get_by_role("log")).to_contain_text("Two.")
        await expect(look.page.get_by_role("log")).not_to_contain_text("One.")
        await expect(look.page.locator(".message.user .said")).to_have_text(["Which one?"])


async def test_a_stopped_turn_says_what_it_had_done(browser: Browser, catalogue: Catalogue) -> None:
    model = ScriptedModel("build_flow", [call("add_component", 1, type="ChatInput")], "Added.", blocks_at=2)
    async with looking(browser, assistant(catalogue, model)) as look:
        await empty(look)
        box = look.page.get_by_role("textbox", name="Message to the assistant")
        await box.fill("Add an input")
        await box.press("Enter")
        await model.blocked.wait()
        await look.page.get_by_role("button", name="Stop").click()
        card = look.page.get_by_role("region", name="Stopped")
        await expect(card).to_contain_text("which is kept")
        await expect(look.page.locator(".react-flow__node")).to_have_count(1)
        await look.page.reload()
        await expect(look.page.locator(".react-flow__node")).to_have_count(1)


@pytest.mark.parity("scenario-skip-all-component")
@pytest.mark.parametrize("first", [(), ("/skip-all",)], ids=["asking", "skipping"])
async def test_a_written_component_shows_its_code(
    first: tuple[str, ...], browser: Browser, catalogue: Catalogue
) -> None:
    write = [call("generate_component", 1, source=SUM)]
    one = assistant(catalogue, ScriptedModel("generate_component", write, "Written."), ComponentRunner())
    async with looking(browser, one) as look:
        await asked(look, *first, "Write a component that adds numbers")
        card = look.page.get_by_role("region", name="Component: SumComponent")
        await expect(card.get_by_label("Code")).to_contain_text("class SumComponent")


@pytest.mark.parity("base-scenario-mention-scroll")
async def test_the_list_of_mentions_scrolls_with_the_chosen_entry(browser: Browser, catalogue: Catalogue) -> None:
    many = [call("add_component", number, type="ChatInput") for number in range(1, 13)]
    async with looking(browser, who(catalogue, "build_flow", many, "Added.")) as look:
        box = await asked(look, "Add twelve inputs")
        await box.press_sequentially("@")
        await expect(look.page.get_by_role("option")).to_have_count(12)
        await box.press("ArrowUp")
        await expect(look.page.get_by_role("option").last).to_have_attribute("aria-selected", "true")
        await expect(look.page.get_by_role("option").last).to_be_in_viewport(ratio=1)


@pytest.mark.parity("base-scenario-mention-fields")
async def test_a_dot_lists_the_fields_that_users_see(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, who(catalogue, *BUILD)) as look:
        await built(look)
        box = look.page.get_by_role("textbox", name="Message to the assistant")
        await box.press_sequentially("see @in")
        await box.press("Enter")
        await box.press_sequentially(".")
        texts = await look.page.get_by_role("option").all_inner_texts()
        assert texts
        assert not [text for text in texts if "_type" in text or ".code" in text]


LATE = """addEventListener("hashchange", (event) => {
  if (event.isLate) return;
  event.stopImmediatePropagation();
  setTimeout(() => dispatchEvent(Object.assign(new Event("hashchange"), { isLate: true })), 300);
}, true);"""


HOLD = """() => {
  const frame = requestAnimationFrame;
  const held = [];
  window.requestAnimationFrame = (drawn) => held.push(drawn);
  window.release_ = () => {
    window.requestAnimationFrame = frame;
    for (const drawn of held) frame(drawn);
    return new Promise((resolve) => frame(() => frame(() => resolve())));
  };
}"""
"""Nothing that waits for a frame goes on until `release_`: a busy machine that draws none for a while."""


async def test_keys_find_the_message_field_of_a_page_that_is_slow_to_turn(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, who(catalogue)) as look:
        await empty(look)
        await look.page.get_by_role("tab", name="Try the flow").click()
        await look.page.get_by_role("textbox", name="Input of the run").click()
        await look.page.evaluate(LATE)
        await look.page.keyboard.press("Alt+A")
        await expect(look.page.get_by_role("textbox", name="Message to the assistant")).to_be_focused()


async def test_the_keyboard_stays_where_the_user_turned_before_the_message_field_was_drawn(
    browser: Browser, catalogue: Catalogue
) -> None:
    async with looking(browser, who(catalogue)) as look:
        await empty(look)
        await look.page.get_by_role("tab", name="Try the flow").click()
        await look.page.get_by_role("textbox", name="Input of the run").click()
        await look.page.evaluate(HOLD)
        await look.page.keyboard.press("Alt+A")
        await look.page.get_by_role("link", name="All flows").focus()
        await expect(look.page.get_by_role("textbox", name="Message to the assistant")).to_be_visible()
        await look.page.evaluate("() => window.release_()")
        await expect(look.page.get_by_role("link", name="All flows")).to_be_focused()


@pytest.mark.parity("ADR-012")
async def test_the_keys_that_go_to_the_message_field_can_be_changed(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, who(catalogue)) as look:
        await look.page.goto(f"{look.base}/#/settings")
        await look.page.get_by_label("Keys that go to the message field").press("Control+Shift+K")
        await expect(look.page.get_by_label("Keys that go to the message field")).to_have_value("Ctrl+Shift+K")
        await look.page.get_by_role("link", name="All flows").click()
        await empty(look)
        await look.page.get_by_role("tab", name="Try the flow").click()
        await look.page.keyboard.press("Alt+A")
        await expect(look.page.get_by_role("textbox", name="Input of the run")).to_be_visible()
        await look.page.keyboard.press("Control+Shift+K")
        await expect(look.page.get_by_role("textbox", name="Message to the assistant")).to_be_focused()
