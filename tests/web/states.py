"""The states of the page that are looked at: how a test gets there."""

import re
from collections.abc import Awaitable, Callable

from agent.models.scripted import call
from tests.server.live import FLOWS
from tests.shared.flow_texts import AGENT, ECHO
from tests.shared.scripted_assistant import Step
from tests.web.conftest import Look

BUILD: tuple[Step, ...] = ("build_flow", [call("build_flow", 1, spec=ECHO)], "I built an echo. See **here**: `hello`.")
PLAN: tuple[Step, ...] = ("build_flow", [call("propose_plan", 1, markdown="1. Take the message.\n2. Answer with it.")])


async def flows(look: Look) -> None:
    """The list of flows, with one in it."""
    await look.live.client.post("/api/v1/flows", json={"name": "Mine", "data": {"nodes": [], "edges": []}})
    await look.page.reload()
    await look.page.get_by_role("link", name="Mine").wait_for()


async def empty(look: Look) -> None:
    """A new flow."""
    await look.page.get_by_role("button", name="New flow").click()
    await look.page.get_by_text("Ask the assistant for a flow").wait_for(state="attached")
    await look.page.get_by_role("textbox", name="Message to the assistant").wait_for()


async def proposed(look: Look) -> None:
    """A flow that waits to be put on the canvas."""
    await empty(look)
    await look.ask("Build an echo")
    await look.page.get_by_role("button", name="Put on the canvas").wait_for()


async def built(look: Look) -> None:
    """A flow on the canvas, a node of it selected."""
    await proposed(look)
    await look.page.get_by_role("button", name="Put on the canvas").click()
    await look.page.locator(".react-flow__edge").wait_for(state="attached")
    await look.page.get_by_role("article", name="Chat Input").locator("header").click()
    await look.page.get_by_role("button", name="Connect to…").wait_for()


async def traced(look: Look) -> None:
    """A tool's call, opened."""
    await proposed(look)
    await look.page.get_by_text("build flow").click()


async def planned(look: Look) -> None:
    """A plan that waits for an answer."""
    await empty(look)
    await look.ask("Plan an echo")
    await look.page.get_by_role("region", name="Plan").wait_for()


async def refining(look: Look) -> None:
    """A plan that is being changed."""
    await planned(look)
    await look.page.get_by_role("region", name="Plan").get_by_role("button", name="Change").click()


async def palette(look: Look) -> None:
    """The components that can be added."""
    await empty(look)
    await look.page.get_by_role("button", name="Add component").click()
    await look.page.get_by_role("searchbox", name="Search").fill("chat")
    await look.page.get_by_role("button", name="Chat Input").first.wait_for()


async def connecting(look: Look) -> None:
    """The targets that an output fits."""
    await built(look)
    await look.page.get_by_role("button", name="Connect to…").click()
    await look.page.get_by_role("dialog").wait_for()


async def trying(look: Look) -> None:
    """A chat with the flow, which has answered."""
    await built(look)
    await look.side("Assistant")
    await look.page.get_by_role("tab", name="Try the flow").click()
    box = look.page.get_by_role("textbox", name="Input of the run")
    await box.fill("hello")
    await box.press("Enter")
    await look.page.get_by_role("log", name="Try the flow").get_by_text("hello").nth(1).wait_for()


async def providers(look: Look) -> None:
    """The providers of models."""
    await look.page.goto(f"{look.base}/#/providers")
    await look.page.get_by_text("Default model").wait_for()


async def variables(look: Look) -> None:
    """The user's variables."""
    await look.live.client.put("/api/v1/variables/SEARCH_KEY", json={"value": "s3cret"})
    await look.page.goto(f"{look.base}/#/variables")
    await look.page.get_by_text("SEARCH_KEY").wait_for()


async def files(look: Look) -> None:
    """The user's files."""
    await look.live.client.post("/api/v1/files", files={"file": ("hours.txt", b"nine to five")})
    await look.page.goto(f"{look.base}/#/files")
    await look.page.get_by_text("hours.txt").wait_for()


async def preferences(look: Look) -> None:
    """What this browser remembers."""
    await look.page.goto(f"{look.base}/#/settings")
    await look.page.get_by_label("Language").wait_for()


async def usage(look: Look) -> None:
    """What was used."""
    await look.live.client.post("/api/v1/agentic/assist", json={"input_value": "Which?"})
    await look.page.goto(f"{look.base}/#/usage")
    await look.page.get_by_role("columnheader", name="Model").wait_for()


async def jobs(look: Look) -> None:
    """A turn that waits for the user, a job that failed, and a batch."""
    await planned(look)
    flow_id = look.page.url.rpartition("/")[2]
    hook = (await look.live.client.post(f"{FLOWS}/{flow_id}/schedules", json={"kind": "webhook"})).json()
    await look.live.stranger.post(hook["url"], headers={"Authorization": f"Bearer {hook['token']}"}, json={})
    await look.live.client.post(f"{FLOWS}/{flow_id}/batch", json={"inputs": ["a", "b", "c"], "id": "b"})
    await look.page.goto(f"{look.base}/#/jobs")
    await look.page.get_by_text("Waits for you").wait_for()
    await look.page.get_by_text("3 of 3").wait_for()
    await look.page.get_by_text(re.compile("^(Done|Failed)$")).and_(look.page.locator(".badge")).first.wait_for()


async def unsaid(look: Look) -> None:
    """A chat with a flow that was given no message."""
    await built(look)
    await look.side("Assistant")
    await look.page.get_by_role("tab", name="Try the flow").click()
    await look.page.get_by_role("textbox", name="Input of the run").press("Enter")
    await look.page.get_by_text("Write a message first").wait_for()


async def evaluations(look: Look) -> None:
    """No evaluations yet."""
    await look.page.goto(f"{look.base}/#/evaluations")
    await look.page.get_by_text("No evaluations here").wait_for()


async def users(look: Look) -> None:
    """The users, one of them just added."""
    await look.page.goto(f"{look.base}/#/users")
    await look.page.get_by_label("Name", exact=True).fill("ada")
    await look.page.get_by_role("button", name="Add a user").click()
    await look.page.get_by_role("group", name="Token of ada").wait_for()
    await look.page.get_by_role("row", name="ada").wait_for()


async def needing(look: Look) -> None:
    """A flow without a model that could answer."""
    await empty(look)
    await look.ask("Build an agent")
    await look.page.get_by_role("button", name="Put on the canvas").click()
    await look.side("Assistant")
    await look.page.get_by_role("region", name="What the flow still needs").wait_for()


async def setting_up(look: Look) -> None:
    """The providers in a dialog of the panel."""
    await empty(look)
    await look.page.get_by_role("button", name="use a language model").click()
    await look.page.get_by_role("dialog").get_by_text("Default model").wait_for()


async def testing(look: Look) -> None:
    """The tests of a flow, one of which fails."""
    await built(look)
    flow = look.page.url.rpartition("/")[2]
    tests = [{"input": "hi", "equals": "hello"}, {"name": "polite", "input": "hi", "contains": "sir"}]
    await look.live.client.put(f"/api/v1/flows/{flow}/tests", json={"tests": tests})
    await look.side("Assistant")
    await look.page.get_by_role("tab", name="Tests").click()
    await look.page.get_by_role("button", name="Run the tests").click()
    await look.page.get_by_text("1 of 2 passed").wait_for()


async def no_tests(look: Look) -> None:
    """A flow without tests."""
    await empty(look)
    await look.page.get_by_role("tab", name="Tests").click()
    await look.page.get_by_text("A test is an input").wait_for()


async def failed(look: Look) -> None:
    """A turn that failed, its details opened."""
    await empty(look)
    await look.ask("Which?")
    await look.page.get_by_role("region", name="The turn failed").get_by_text("Details").click()


async def editing(look: Look) -> None:
    """A message that is being edited."""
    await empty(look)
    await look.ask("Which?")
    await look.page.get_by_role("button", name="Edit this message").click()


async def written(look: Look) -> None:
    """A file that was written, opened."""
    await empty(look)
    await look.ask("Write notes.md")
    await look.page.get_by_text("Open", exact=True).click()


async def suggesting(look: Look) -> None:
    """The commands that what is written may become."""
    await empty(look)
    await look.page.get_by_role("textbox", name="Message to the assistant").press_sequentially("/")
    await look.page.get_by_role("listbox").wait_for()


async def conversations(look: Look) -> None:
    """The conversations about a flow."""
    await proposed(look)
    await look.page.get_by_role("button", name="Conversations").click()
    await look.page.get_by_role("dialog").get_by_text("Build an echo").first.wait_for()


async def revisions(look: Look) -> None:
    """The versions of a flow, one of them opened."""
    await built(look)
    await look.page.get_by_role("button", name="Revisions").click()
    await look.page.get_by_role("dialog").get_by_text("Assistant").click()
    await look.page.get_by_role("dialog").get_by_role("listitem").nth(1).wait_for()


async def signed_out(look: Look) -> None:
    """A browser that the server does not know."""
    await look.page.context.clear_cookies()
    await look.page.reload()
    await look.page.get_by_role("button", name="Sign in").wait_for()
    look.problems.clear()  # the console says that the server asks for a token


State = tuple[tuple[Step, ...], Callable[[Look], Awaitable[None]]]
STATES: dict[str, State] = {
    "flows": ((), flows),
    "empty": ((), empty),
    "proposed": (BUILD, proposed),
    "built": (BUILD, built),
    "traced": (BUILD, traced),
    "planned": (PLAN, planned),
    "refining": (PLAN, refining),
    "palette": ((), palette),
    "connecting": (BUILD, connecting),
    "trying": (BUILD, trying),
    "preferences": ((), preferences),
    "providers": ((), providers),
    "variables": ((), variables),
    "files": ((), files),
    "usage": (("question", "One."), usage),
    "evaluations": ((), evaluations),
    "jobs": (PLAN, jobs),
    "unsaid": (BUILD, unsaid),
    "users": ((), users),
    "needing": (("build_flow", [call("build_flow", 1, spec=AGENT)], "I built a helper."), needing),
    "setting_up": ((), setting_up),
    "testing": (BUILD, testing),
    "no_tests": ((), no_tests),
    "failed": ((RuntimeError("inside"),), failed),
    "editing": (("question", "This one."), editing),
    "written": (
        ("manage_files", [call("write_file", 1, path="notes.md", content="# Nine to five")], "Written."),
        written,
    ),
    "suggesting": ((), suggesting),
    "conversations": (BUILD, conversations),
    "revisions": (BUILD, revisions),
    "signed_out": ((), signed_out),
}
"""By name: what the model answers, and the way there."""
