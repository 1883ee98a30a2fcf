"""What messages hold: Markdown that loads nothing, steps, pictures of flows, figures of runs, and files."""

import pytest
from playwright.async_api import Browser, expect

from agent.models.scripted import call
from flows.catalogue import Catalogue
from runtime.results import ModelUsage, RunMetrics, RunResult
from tests.shared.flow_texts import ECHO, flow_of
from tests.shared.scripted_assistant import ScriptedModel, assistant
from tests.shared.stand_ins import StandInRunner, ran
from tests.web.canvas.conftest import opened
from tests.web.conftest import looking
from tests.web.states import BUILD, empty, proposed

pytestmark = pytest.mark.anyio
HOSTILE = (
    "**Bold**, [a link](https://elsewhere.example/), [a trap](javascript:alert(1)), "
    "![a picture](https://elsewhere.example/p.png), <img src=https://elsewhere.example/q.png onerror=alert(1)>"
)
DROP = """([selector, name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  for (const kind of ["dragover", "drop"])
    document.querySelector(selector).dispatchEvent(
      new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));
}"""
BOXES = """() => ["#message", ".canvas", ".tabs", ".message.user .said"].map((one) => {
  const log = document.querySelector(".panel .log");
  const at = document.querySelector(one), box = at.getBoundingClientRect();
  return [one, box.x, box.y + (log.contains(at) ? log.scrollTop : 0), box.width, box.height];
})"""
"""Where things stand; in the log, from its beginning."""


async def test_markdown_of_an_answer_is_drawn_and_loads_nothing(browser: Browser, catalogue: Catalogue) -> None:
    async with looking(browser, assistant(catalogue, ScriptedModel("question", HOSTILE))) as look:
        look.page.on("dialog", lambda dialog: look.problems.append(dialog.message))
        await empty(look)
        await look.ask("Which?")  # the test fails on any request to another place
        answer = look.page.locator(".message.assistant .markdown")
        await expect(answer.locator("strong")).to_have_text("Bold")
        await expect(answer.get_by_role("link", name="a link")).to_have_attribute("rel", "noopener noreferrer nofollow")
        await expect(answer.get_by_role("link", name="a trap")).to_have_count(0)
        await expect(answer).to_contain_text("a trap")
        await expect(answer).to_contain_text("a picture")
        await expect(answer.locator("img")).to_have_count(0)


async def test_an_answer_is_shown_while_it_is_written_and_moves_nothing(browser: Browser, catalogue: Catalogue) -> None:
    model = ScriptedModel("question", "\n\n".join(f"Line {number}." for number in range(30)), blocks_at=1)
    async with looking(browser, assistant(catalogue, model)) as look:
        await empty(look)
        box = look.page.get_by_role("textbox", name="Message to the assistant")
        await box.fill("Which?")
        await box.press("Enter")
        await model.blocked.wait()
        await expect(look.page.locator(".message .status")).not_to_be_empty()
        before = await look.page.evaluate(BOXES)
        model.released.set()
        await expect(look.page.get_by_role("log")).to_contain_text("Line 0.")
        assert await look.page.evaluate(BOXES) == before
        await expect(look.page.get_by_role("log")).to_contain_text("Line 29.")
        await look.page.get_by_role("log").and_(look.page.locator("[aria-busy=false]")).wait_for()
        assert await look.page.evaluate(BOXES) == before
        await expect(look.page.locator(".message .status")).to_have_count(0)


async def test_the_steps_of_a_task_are_listed_with_how_far_each_is(browser: Browser, catalogue: Catalogue) -> None:
    todos = [{"content": "Read it", "status": "completed"}, {"content": "Build it", "status": "in_progress"}]
    steps = [call("write_todos", 1, todos=[*todos, {"content": "Run it", "status": "pending"}])]
    async with looking(browser, assistant(catalogue, ScriptedModel("build_flow", steps, "On it."))) as look:
        await empty(look)
        await look.ask("Build an echo, keep a to-do list")
        steps_shown = look.page.get_by_role("list", name="Steps").get_by_role("listitem")
        await expect(steps_shown).to_have_text(["Read it done", "Build it under way", "Run it not begun"])


async def test_a_proposal_has_a_picture_of_its_flow(browser: Browser, catalogue: Catalogue) -> None:
    who = assistant(catalogue, ScriptedModel(*BUILD), StandInRunner(results=[ran("hello")] * 4))
    async with looking(browser, who) as look:
        await proposed(look)
        picture = look.page.get_by_role("region", name="Proposed flow: Echo").locator(".picture")
        await expect(picture.locator("rect")).to_have_count(2)
        await expect(picture.locator("path")).to_have_count(1)
        await expect(picture.locator("text")).to_have_text(["Chat Input", "Chat Output"])


async def test_a_run_by_the_assistant_shows_its_output_and_figures(browser: Browser, catalogue: Catalogue) -> None:
    flow = flow_of(ECHO, catalogue)
    used = {next(iter(flow.nodes)).id: ModelUsage(input_tokens=1300, output_tokens=12, calls=2, cost=0.0012)}
    metrics = RunMetrics(seconds=1.5, input_tokens=1300, output_tokens=12, model_calls=2, cost=0.0012)
    result = RunResult(run_id="r", output="**hello**", outputs={"answer": "**hello**"}, metrics=metrics, usage=used)
    model = ScriptedModel("run_flow", [call("run_flow", 1, input="hello")], "It ran.")
    async with looking(browser, assistant(catalogue, model, StandInRunner(results=[result]))) as look:
        await opened(look, {**flow.to_json(), "name": "Echo"})
        await look.ask("Run it with hello")
        card = look.page.get_by_role("region", name="Run", exact=True)
        await expect(card.get_by_role("heading")).to_have_text("The flow ran")
        await expect(card.locator(".markdown strong")).to_have_text("hello")
        await expect(card.locator(".metrics dd")).to_have_text(["1.5 s", "1,300", "12", "2", "$0.0012", "Chat Input"])
        await expect(look.page.locator(".message.assistant .figures")).to_contain_text(" s")


async def test_a_turn_that_failed_is_tried_again(browser: Browser, catalogue: Catalogue) -> None:
    model = ScriptedModel(RuntimeError("broken"))
    async with looking(browser, assistant(catalogue, model)) as look:
        await empty(look)
        await look.ask("Which?")
        card = look.page.get_by_role("region", name="The turn failed")
        await expect(card).to_be_visible()
        model.replies[:] = ["question", "This one."]
        await card.get_by_role("button", name="Try again").click()
        await expect(look.page.get_by_role("log")).to_contain_text("This one.")
        await expect(card).to_have_count(0)
        await expect(look.page.locator(".message.user .said")).to_have_text(["Which?"])


async def test_a_file_that_is_dropped_on_the_message_field_goes_along(browser: Browser, catalogue: Catalogue) -> None:
    model = ScriptedModel("question", "Nine to five.")
    async with looking(browser, assistant(catalogue, model)) as look:
        await empty(look)
        await look.page.evaluate(DROP, [".composer", "hours.txt", "nine to five"])
        chips = look.page.get_by_role("list", name="Sent along")
        await expect(chips).to_contain_text("hours.txt")
        await look.ask("When?")
        await expect(look.page.locator(".message.user .chips")).to_have_text("hours.txt")
        await expect(chips).to_have_count(0)
        assert "hours.txt" in str(model.requests[-1])


async def test_a_call_of_a_tool_is_a_line_that_opens_to_what_it_was_given_and_answered(
    browser: Browser, catalogue: Catalogue
) -> None:
    added = [call("add_component", 1, type="ChatInput")]
    async with looking(browser, assistant(catalogue, ScriptedModel("build_flow", added, "Added."))) as look:
        await empty(look)
        await look.ask("Add an input")
        line = look.page.locator("details.tool").filter(has_text="add component")
        await expect(line.get_by_label("Given")).to_be_hidden()
        await line.locator("summary").press("Enter")
        await expect(line.get_by_label("Given")).to_have_text('{ "type": "ChatInput" }')
        await expect(line.get_by_label("Output")).to_contain_text("ChatInput")


async def test_a_proposal_stays_open_when_something_else_is_asked(browser: Browser, catalogue: Catalogue) -> None:
    model = ScriptedModel(*BUILD, "question", "It repeats what you say.")
    async with looking(browser, assistant(catalogue, model, StandInRunner(results=[ran("hello")] * 4))) as look:
        await proposed(look)
        await look.ask("What is an echo?")
        await expect(look.page.get_by_role("log")).to_contain_text("It repeats what you say.")
        card = look.page.get_by_role("region", name="Proposed flow: Echo")
        await card.get_by_role("button", name="Put on the canvas").click()
        await expect(look.page.locator(".react-flow__node:not(.ghost)")).to_have_count(2)


async def test_what_goes_on_in_one_conversation_is_not_shown_in_another(browser: Browser, catalogue: Catalogue) -> None:
    model = ScriptedModel("question", "The answer.", blocks_at=1)
    async with looking(browser, assistant(catalogue, model)) as look:
        await empty(look)
        box = look.page.get_by_role("textbox", name="Message to the assistant")
        await box.fill("Which?")
        await box.press("Enter")
        await model.blocked.wait()
        log = look.page.get_by_role("log")
        await expect(log.locator(".status")).to_have_count(1)
        await look.page.get_by_role("button", name="New conversation").click()
        await expect(log.locator(".status, .message")).to_have_count(0)
        await expect(log).to_have_attribute("aria-busy", "false")
        await look.page.get_by_role("button", name="Conversations", exact=True).click()
        await look.page.get_by_role("dialog", name="Conversations").wait_for()
        model.released.set()
