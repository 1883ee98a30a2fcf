"""Installing bundles: asked for before anything is built, done once approved, and said honestly when it fails."""

import asyncio

import pytest
from pydantic_ai import ToolApproved, ToolCallPart, ToolDenied

from agent.assistant import Assistant
from agent.models.scripted import call
from agent.turn.request import Answer, TurnRequest
from agent.turn.result import TurnEnded, TurnResult
from flows.catalogue import Catalogue
from runtime.install.errors import InstallError
from server.settings import ServerSettings
from tests.shared.scripted_assistant import ScriptedModel
from tests.shared.shelf import AWAY, SPEC, index_of, shelf_of
from tests.shared.stand_ins import StandInRunner
from tools.consent import install
from tools.events import Progress

pytestmark = pytest.mark.anyio


def opened(catalogue: Catalogue, shelf: StandInRunner, *replies: str | ToolCallPart) -> tuple[Assistant, ScriptedModel]:
    """An assistant for which Shout comes with a bundle."""
    model = ScriptedModel(*replies)
    who = Assistant(ServerSettings(), shelf, catalogue=catalogue, model=model, bundles=index_of(catalogue))
    return who, model


async def say(who: Assistant, text: str, answers: dict[str, Answer] | None = None) -> tuple[TurnResult, list[str]]:
    """A turn's result, and its progress messages."""
    told: list[str] = []
    async with who.turn(TurnRequest(text=text, session="install", answers=answers or {})) as events:
        async for event in events:
            if isinstance(event, Progress):
                told.append(event.message)
            if isinstance(event, TurnEnded):
                return event.result, told
    raise AssertionError("no result")


BUILD = call("build_flow", 1, spec=SPEC)


async def test_a_build_waits_for_consent_when_a_bundle_is_missing(catalogue: Catalogue) -> None:
    shelf = shelf_of(catalogue)
    who, _ = opened(catalogue, shelf, "build_flow", BUILD)
    result, _ = await say(who, "Shout what I write")
    (approval,) = result.approvals.values()
    assert approval.kind == "install"
    assert (approval.bundle, approval.packages, approval.size_mb) == ("shelf", ["lfx-shelf"], 7.2)
    assert "Shout" in result.text
    assert "7 MB" in result.text
    assert shelf.installed == []
    assert [one.status for one in result.record.installs] == ["proposed"]
    assert result.proposal is None


@pytest.mark.parametrize("reply", ["yes", "ja", "by id"])
async def test_the_turn_builds_on_with_the_new_types_when_it_is_approved(catalogue: Catalogue, reply: str) -> None:
    shelf = shelf_of(catalogue)
    who, model = opened(catalogue, shelf, "build_flow", BUILD, "It shouts.")
    waiting, _ = await say(who, "Shout what I write")
    if reply == "by id":
        result, told = await say(who, "", dict.fromkeys(waiting.approvals, ToolApproved()))
    else:
        result, told = await say(who, reply)
    assert shelf.installed == [["lfx-shelf"]]
    assert result.proposal is not None
    assert AWAY in [node.type for node in result.proposal.nodes]
    assert [(one.bundle, one.status) for one in result.record.installs] == [("shelf", "installed")]
    assert {"Installing shelf...", "Resolving lfx-shelf", "shelf is installed."} <= set(told)
    assert "Built 'Loud'" in model.tool_answers(-1)[-1]
    assert AWAY in await who.catalogue(), "other conversations have it too"


async def test_nothing_is_installed_when_the_user_says_no(catalogue: Catalogue) -> None:
    shelf = shelf_of(catalogue)
    again = call("build_flow", 2, spec=SPEC)
    who, model = opened(catalogue, shelf, "build_flow", BUILD, again, "Then not.")
    waiting, _ = await say(who, "Shout what I write")
    result, _ = await say(who, "", dict.fromkeys(waiting.approvals, ToolDenied("not on this machine")))
    assert (result.outcome, shelf.installed, result.proposal) == ("complete", [], None)
    assert [one.status for one in result.record.installs] == ["denied"]
    assert "the user said no to shelf" in model.tool_answers(-1)[-1], "the same is not asked twice"


@pytest.mark.parametrize("text", ["User confirmed the plan.", "Continue with the changes."])
async def test_nothing_is_installed_when_another_message_comes(catalogue: Catalogue, text: str) -> None:
    shelf = shelf_of(catalogue)
    who, _ = opened(catalogue, shelf, "build_flow", BUILD, "off_topic", "I wait.", "I wait.")
    await say(who, "Shout what I write")
    await say(who, text)
    assert shelf.installed == []


async def test_the_failure_is_told_and_recorded_when_it_cannot_be_installed(catalogue: Catalogue) -> None:
    offline = InstallError("The packages cannot be downloaded.", "Check the network.")
    shelf = shelf_of(catalogue, error=offline)
    again = call("build_flow", 2, spec=SPEC)
    who, model = opened(catalogue, shelf, "build_flow", BUILD, again, "It could not be installed.")
    await say(who, "Shout what I write")
    result, _ = await say(who, "yes")
    assert [one.status for one in result.record.installs] == ["failed"]
    assert result.proposal is None
    first, second = model.tool_answers(-2)[-1], model.tool_answers(-1)[-1]
    assert "The packages cannot be downloaded. Check the network." in first
    assert "has failed already" in second
    assert len(shelf.installed) == 1
    assert AWAY not in await who.catalogue()


async def test_the_installation_ends_when_it_takes_too_long(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install, "INSTALL_SECONDS", 0.2)
    shelf = shelf_of(catalogue, hangs_installing=True)
    who, model = opened(catalogue, shelf, "build_flow", BUILD, "It took too long.")
    await say(who, "Shout what I write")
    result, _ = await say(who, "yes")
    assert shelf.stopped.is_set()
    assert "it takes longer than" in model.tool_answers(-1)[-1]
    assert [one.status for one in result.record.installs] == ["failed"]


async def test_the_installation_ends_when_the_turn_is_left(catalogue: Catalogue) -> None:
    shelf = shelf_of(catalogue, hangs_installing=True)
    who, _ = opened(catalogue, shelf, "build_flow", BUILD, "Done.")
    await say(who, "Shout what I write")
    async with who.turn(TurnRequest(text="yes", session="install")) as events:
        async for event in events:
            if isinstance(event, Progress) and event.message == "Resolving lfx-shelf":
                break
    async with asyncio.timeout(5):
        await shelf.stopped.wait()


async def test_a_wrong_spec_is_corrected_before_the_user_is_asked(catalogue: Catalogue) -> None:
    shelf = shelf_of(catalogue)
    wrong = call("build_flow", 1, spec=SPEC.replace("shout.dataframe", "shout.nowhere"))
    who, model = opened(catalogue, shelf, "build_flow", wrong, call("build_flow", 2, spec=SPEC))
    result, _ = await say(who, "Shout what I write")
    assert "nowhere" in str(model.requests[-1][-1])
    assert [one.kind for one in result.approvals.values()] == ["install"]


async def test_a_correction_that_waits_for_consent_goes_on_with_the_spec_that_it_corrects(catalogue: Catalogue) -> None:
    shelf = shelf_of(catalogue)
    wrong = call("build_flow", 1, spec=SPEC.replace("shout.dataframe", "shout.nowhere"))
    correction = call("build_flow", 2, spec="correction:\nedges:\n  shout.dataframe -> answer.input_value")
    who, model = opened(catalogue, shelf, "build_flow", wrong, correction, "It shouts.")
    waiting, _ = await say(who, "Shout what I write")
    assert [one.kind for one in waiting.approvals.values()] == ["install"]
    result, _ = await say(who, "yes")
    assert "Built 'Loud'" in model.tool_answers(-1)[-1]
    assert result.proposal is not None
    assert len(result.proposal.nodes) == 3


async def test_a_no_is_remembered_in_the_conversation(catalogue: Catalogue) -> None:
    shelf = shelf_of(catalogue)
    replies = ("build_flow", BUILD, "Then not.", "build_flow", call("build_flow", 2, spec=SPEC), "It is not there.")
    who, model = opened(catalogue, shelf, *replies)
    await say(who, "Shout what I write")
    await say(who, "no")
    result, _ = await say(who, "Make it louder anyhow")
    assert (result.outcome, dict(result.approvals)) == ("complete", {})
    assert "the user said no to shelf" in model.tool_answers(-1)[-1]
    assert result.record.installs == [], "it was not asked about in this turn"


INSTALL = '{"intent": "build_flow", "mandate": {"edit": [], "install": %s}}'


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Use Shout after all", "build_flow"),
        ("OK, install it", INSTALL % "[]"),
        ("The bundle shelf, please", "build_flow"),
    ],
)
async def test_a_user_who_asks_for_what_they_refused_is_asked_again(catalogue: Catalogue, text: str, read: str) -> None:
    shelf = shelf_of(catalogue)
    replies = ("build_flow", BUILD, "Then not.", read, call("build_flow", 2, spec=SPEC), "It shouts.", "Done.")
    who, _ = opened(catalogue, shelf, *replies)
    await say(who, "Shout what I write")
    await say(who, "no")
    result, _ = await say(who, text)
    assert [one.kind for one in result.approvals.values()] == ["install"]
    await say(who, "yes")
    assert shelf.installed == [["lfx-shelf"]]


async def test_a_bundle_that_the_message_names_is_installed_without_a_question(catalogue: Catalogue) -> None:
    shelf = shelf_of(catalogue)
    who, _ = opened(catalogue, shelf, INSTALL % '["shelf"]', BUILD, "It shouts.")
    result, _ = await say(who, "Install the shelf bundle and shout what I write")
    assert (result.outcome, dict(result.approvals), shelf.installed) == ("complete", {}, [["lfx-shelf"]])


async def test_a_command_is_named_when_nothing_can_be_installed_from_here(catalogue: Catalogue) -> None:
    who, model = opened(catalogue, StandInRunner(), "build_flow", BUILD, "Install it first.")
    result, _ = await say(who, "Shout what I write")
    assert result.outcome == "complete"
    assert "wirewright runner install --with lfx-shelf" in model.tool_answers(-1)[-1]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("edit_flow", {"changes": f"nodes:\n  S: {AWAY}"}),
        ("add_component", {"type": AWAY}),
        ("run_flow", {"input": "hi"}),
    ],
)
async def test_every_tool_that_uses_a_type_asks_for_its_bundle(
    catalogue: Catalogue, tool: str, arguments: dict[str, str]
) -> None:
    from flows.spec import build

    shelf = shelf_of(catalogue)
    assert shelf.whole is not None
    intent = "run_flow" if tool == "run_flow" else "build_flow"
    who, _ = opened(catalogue, shelf, intent, ToolCallPart(tool, arguments, "call-1"), "Done.")
    canvas = build(SPEC, shelf.whole).flow
    assert canvas is not None
    request = TurnRequest(text="Shout", session="install", flow=canvas if tool == "run_flow" else None)
    result: TurnResult | None = None
    async with who.turn(request) as events:
        async for event in events:
            result = event.result if isinstance(event, TurnEnded) else result
    assert result is not None
    assert [one.kind for one in result.approvals.values()] == ["install"]
    assert shelf.installed == []


async def test_a_description_says_that_the_type_is_not_installed(catalogue: Catalogue) -> None:
    shelf = shelf_of(catalogue)
    look = call("describe_component", 1, type=AWAY)
    who, model = opened(catalogue, shelf, "question", look, "It shouts.")
    await say(who, "What does Shout do?")
    answer = model.tool_answers(-1)[-1]
    assert answer.startswith("Not installed; building with one asks the user first (bundle shelf, 7 MB).")
    assert "data_inputs" in answer
