"""Asking for consent: exactly what was asked is done, once, and a call may ask for several things in turn."""

import pytest
from pydantic_ai import RunContext, ToolApproved

from agent.models.scripted import call, tool_returns
from agent.toolsets.cached import Toolset
from agent.turn import act
from flows.catalogue import Catalogue
from tests.shared.scripted_assistant import play, scripted_assistant
from tools.approvals import InstallApproval, OutboundApproval, RemovalApproval
from tools.consent.ask import Given, ask
from tools.workbench import Workbench

pytestmark = pytest.mark.anyio


def removal(*targets: str) -> RemovalApproval:
    return RemovalApproval(title="Remove", targets=list(targets))


def test_an_approval_covers_what_it_asked_and_nothing_more() -> None:
    given = Given((removal("a", "b"),))
    assert given.covers(removal("a"))
    assert not given.covers(removal("a", "c"))
    assert not given.covers(OutboundApproval(title="Send", hosts=["a"]))
    assert not Given().covers(removal())


def test_arguments_that_the_user_has_chosen_are_approved_for_the_kind_that_was_asked() -> None:
    given = Given((removal("a"),), changed=True)
    assert given.covers(removal("c"))
    assert not given.covers(InstallApproval(title="Install", bundle="a"))


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a turn's tool `wipe(name)` removes; it asks about the name and then about what is behind it."""
    behind = ["cellar"]

    async def wipe(ctx: RunContext[Workbench], name: str) -> str:
        """Wipe something.

        Args:
            name: what.
        """
        ask(ctx, removal(name))
        ask(ctx, OutboundApproval(title="Send", hosts=behind[:]))
        behind.append("gone")
        return f"Wiped {name}."

    tools, chosen = Toolset([wipe], sequential=True, id="wiping"), act.tools_for
    monkeypatch.setattr(act, "tools_for", lambda *args: [*chosen(*args), tools])
    return behind


async def test_a_call_asks_for_one_thing_after_another_and_keeps_what_was_approved(
    catalogue: Catalogue, world: list[str]
) -> None:
    who, script = scripted_assistant(catalogue, "build_flow", call("wipe", 1, name="attic"), "I wiped it.", "I did.")
    first = await play(who, "Please wipe the attic")
    [(call_id, question)] = first.approvals.items()
    assert (question.kind, first.outcome) == ("removal", "pending")
    second = await play(who, "", answers={call_id: ToolApproved()})
    assert [one.kind for one in second.approvals.values()] == ["outbound"]
    assert world == ["cellar"]
    result = await play(who, "", answers={call_id: ToolApproved()})
    assert (result.outcome, world) == ("complete", ["cellar", "gone"])
    assert "Wiped attic." in str(tool_returns(script.requests[-1])[-1].content)


async def test_a_call_asks_again_when_what_it_would_do_has_changed(catalogue: Catalogue, world: list[str]) -> None:
    who, _ = scripted_assistant(catalogue, "build_flow", call("wipe", 1, name="attic"), "I wiped it.", "I did.")
    first = await play(who, "Please wipe the attic")
    await play(who, "", answers=dict.fromkeys(first.approvals, ToolApproved()))
    world[:] = ["another"]
    again = await play(who, "", answers=dict.fromkeys(first.approvals, ToolApproved()))
    assert [one.model_dump()["hosts"] for one in again.approvals.values()] == [["another"]]
