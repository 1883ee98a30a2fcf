"""What a client may do without asking, what its user is asked about, and what becomes of a client that cannot ask."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from agent.assistant import Assistant
from flows.catalogue import Catalogue
from runtime.accounts.scopes import scopes_of
from runtime.accounts.user import LOCAL, User
from runtime.files.store import UserFiles
from server.mcp.consent.permissions import UnknownPermission, standing_mandate
from server.settings import ServerSettings
from server.store.sql import SqlFlowStore
from tests.server.mcp.clients import WITH_SESSIONS, WITHOUT, Talk, talking, text_of
from tests.shared.flow_texts import ECHO, LOUDER, flow_of
from tests.shared.scripted_assistant import assistant
from tests.shared.stand_ins import ComponentRunner, StandInRunner

pytestmark = pytest.mark.anyio
BOTH = pytest.mark.parametrize("mode", [WITH_SESSIONS, WITHOUT])

REACHES = """name: Reader
nodes:
  url: URLComponent
  answer: ChatOutput
edges:
  url.page_results -> answer.input_value
config:
  url.urls: ["https://attacker.example.net/x"]
"""


async def store_of(who: Assistant) -> SqlFlowStore:
    """The flows of the first user."""
    await who.database.open()
    return SqlFlowStore(who.database, LOCAL.id)


@asynccontextmanager
async def of_the_user(
    catalogue: Catalogue, mode: str, *, spec: str = LOUDER, runner: StandInRunner | None = None, **more: Any
) -> AsyncGenerator[tuple[Talk, str, SqlFlowStore]]:
    """A client of a user who has a flow."""
    who = assistant(catalogue, runner=runner)
    store = await store_of(who)
    flow = (await store.add(flow_of(spec, catalogue))).id
    async with talking(who, mode, **more) as talk:
        yield talk, flow, store


def prompt_of(flow: Any) -> str:
    """The id of a flow's prompt."""
    return next(node.id for node in flow.components if node.type == "Prompt Template")


@BOTH
@pytest.mark.parametrize("agrees", [True, False])
async def test_a_removal_is_asked_and_done_only_with_a_yes(mode: str, agrees: bool, catalogue: Catalogue) -> None:
    async with of_the_user(catalogue, mode, answers=agrees) as (talk, flow, store):
        before = await store.get(flow)
        prompt = prompt_of(before.flow)
        result = await talk.call("remove_component", flow_id=flow, component_id=prompt)
        after = await store.get(flow)
        assert [f"Remove {prompt}" in question for question in talk.questions] == [True]
        if agrees:
            assert not result.is_error
            assert after.flow.node(prompt) is None
        else:
            assert "the user said no" in text_of(result)
            assert after == before


@BOTH
async def test_a_text_of_the_users_is_replaced_only_with_a_yes_that_shows_both_texts(
    mode: str, catalogue: Catalogue
) -> None:
    async with of_the_user(catalogue, mode, answers=True) as (talk, flow, store):
        prompt = prompt_of((await store.get(flow)).flow)
        values = {"template": "Whisper it: {text}"}
        await talk.give("configure_component", flow_id=flow, component_id=prompt, values=values)
        (question,) = talk.questions
        assert "Say it louder" in question
        assert "Whisper it" in question
        node = (await store.get(flow)).flow.node(prompt)
        assert node is not None
        assert node.value("template") == "Whisper it: {text}"


@BOTH
@pytest.mark.parametrize("tool", ["configure_component", "update_flow_component_field", "batch"])
async def test_a_text_is_approved_with_other_words(mode: str, tool: str, catalogue: Catalogue) -> None:
    async with of_the_user(catalogue, mode, answers="Sing it: {text}") as (talk, flow, store):
        prompt = prompt_of((await store.get(flow)).flow)
        one = {"flow_id": flow, "component_id": prompt}
        values: dict[str, Any] = {**one, "values": {"template": "Whisper it: {text}", "tool_placeholder": ""}}
        match tool:
            case "batch":
                action = {"tool": "configure_component", "args": values}
                await talk.give(tool, actions=[{"tool": "create_flow", "args": {"name": "N"}}, action])
            case "configure_component":
                await talk.give(tool, **values)
            case _:
                await talk.give(tool, **one, field_name="template", new_value="Whisper it: {text}")
        node = (await store.get(flow)).flow.node(prompt)
        assert node is not None
        assert node.value("template") == "Sing it: {text}"
        assert len(talk.questions) == 1


@BOTH
async def test_words_where_no_text_is_asked_about_are_a_plain_yes(mode: str, catalogue: Catalogue) -> None:
    async with of_the_user(catalogue, mode, answers="Sing it") as (talk, flow, store):
        prompt = prompt_of((await store.get(flow)).flow)
        await talk.give("edit_flow", flow_id=flow, changes=f"config:\n  {prompt}.template: Other {{text}}\n")
        node = (await store.get(flow)).flow.node(prompt)
        assert node is not None
        assert node.value("template") == "Other {text}"
        await talk.give("remove_component", flow_id=flow, component_id=prompt)
        assert (await store.get(flow)).flow.node(prompt) is None


@BOTH
async def test_an_edit_that_asks_about_a_part_of_it_changes_nothing_before_the_yes(
    mode: str, catalogue: Catalogue
) -> None:
    async with of_the_user(catalogue, mode) as (talk, flow, store):
        before = await store.get(flow)
        prompt = prompt_of(before.flow)
        changes = f"nodes:\n  extra: ChatOutput\nconfig:\n  {prompt}.template: Other {{text}}\n"
        said = await talk.refuse("edit_flow", flow_id=flow, changes=changes)
        assert "needs the user's approval" in said
        assert await store.get(flow) == before
    async with of_the_user(catalogue, mode, answers=True) as (talk, flow, store):
        prompt = prompt_of((await store.get(flow)).flow)
        changes = f"nodes:\n  extra: ChatOutput\nconfig:\n  {prompt}.template: Other {{text}}\n"
        await talk.give("edit_flow", flow_id=flow, changes=changes)
        after = await store.get(flow)
        assert len(talk.questions) == 1
        assert (len(after.flow.nodes), after.entry.version) == (4, 2)


@BOTH
async def test_what_a_client_adds_to_a_users_flow_is_its_own_and_the_rest_stays_the_users(
    mode: str, catalogue: Catalogue
) -> None:
    async with of_the_user(catalogue, mode) as (talk, flow, store):
        await talk.give("add_component", flow_id=flow, type="ChatOutput", values={"sender_name": "Ada"})
        added = (await store.get(flow)).flow.components[-1].id
        await talk.give("configure_component", flow_id=flow, component_id=added, values={"sender_name": "Eve"})
        await talk.give("remove_component", flow_id=flow, component_id=added)
        prompt = prompt_of((await store.get(flow)).flow)
        assert "approval" in await talk.refuse("remove_component", flow_id=flow, component_id=prompt)


async def test_once_somebody_else_has_stored_the_flow_all_of_it_is_the_users(catalogue: Catalogue) -> None:
    async with of_the_user(catalogue, WITH_SESSIONS) as (talk, flow, store):
        await talk.give("add_component", flow_id=flow, type="ChatOutput")
        stored = await store.get(flow)
        added = stored.flow.components[-1].id
        await store.replace(flow, stored.flow, stored.entry.version)
        assert "approval" in await talk.refuse("remove_component", flow_id=flow, component_id=added)


@BOTH
async def test_a_client_that_cannot_ask_is_refused_with_the_ways_to_allow_it(mode: str, catalogue: Catalogue) -> None:
    async with of_the_user(catalogue, mode) as (talk, flow, store):
        prompt = prompt_of((await store.get(flow)).flow)
        said = await talk.refuse("remove_component", flow_id=flow, component_id=prompt)
        assert f"Remove {prompt}" in said
        assert "`wirewright mcp --allow remove`" in said
        assert "`Wirewright-Allow: remove`" in said
        assert "approval" in await talk.refuse("delete_flow", flow_id=flow)
        assert (await store.get(flow)).entry.version == 1


@BOTH
async def test_what_the_configuration_allows_is_done_without_a_question(mode: str, catalogue: Catalogue) -> None:
    async with of_the_user(catalogue, mode, allow=("edit,remove",)) as (talk, flow, store):
        prompt = prompt_of((await store.get(flow)).flow)
        values = {"template": "Whisper it: {text}"}
        await talk.give("configure_component", flow_id=flow, component_id=prompt, values=values)
        await talk.give("remove_component", flow_id=flow, component_id=prompt)
        await talk.give("delete_flow", flow_id=flow)
        assert (await talk.give("list_flows"))["total"] == 0


@BOTH
async def test_sending_out_is_asked_when_a_flow_is_built_and_when_it_is_run(mode: str, catalogue: Catalogue) -> None:
    runner = StandInRunner()
    async with talking(assistant(catalogue, runner=runner), mode) as talk:
        said = await talk.refuse("create_flow_from_spec", spec=REACHES)
        assert "attacker.example.net" in said
        assert "--allow reach:attacker.example.net" in said
        assert (await talk.give("list_flows"))["total"] == 0
        assert runner.asked == []
    async with talking(assistant(catalogue), mode, answers=True) as talk:
        flow = (await talk.give("create_flow_from_spec", spec=REACHES))["flow"]["id"]
        await talk.give("run_flow", flow_id=flow, input="hi")
        assert ["attacker.example.net" in question for question in talk.questions] == [True, True]
    async with talking(assistant(catalogue), mode, allow=("reach:attacker.example.net",)) as talk:
        flow = (await talk.give("create_flow_from_spec", spec=REACHES.replace("Reader", "Other")))["flow"]["id"]
        await talk.give("run_flow", flow_id=flow, input="hi")


@BOTH
async def test_a_file_of_the_users_is_overwritten_only_with_a_yes(mode: str, catalogue: Catalogue) -> None:
    who = assistant(catalogue)
    UserFiles(who.settings.data, LOCAL.id).write("notes.md", "mine")
    async with talking(who, mode) as talk:
        said = await talk.refuse("write_file", path="notes.md", content="theirs")
        assert "--allow overwrite_files" in said
        assert "mine" in (await talk.give("read_file", path="notes.md"))["text"]
        await talk.give("write_file", path="new.md", content="theirs")
    async with talking(assistant(catalogue), mode, answers=True) as talk:
        await talk.give("write_file", path="notes.md", content="theirs")
        assert "theirs" in (await talk.give("read_file", path="notes.md"))["text"]


async def test_a_new_component_is_asked_about_with_its_source(catalogue: Catalogue) -> None:
    source = "from lfx.custom import Component\n\n\nclass SumComponent(Component):\n    display_name = 'Sum'\n"
    async with talking(assistant(catalogue, runner=ComponentRunner()), answers=False) as talk:
        assert "the user said no" in await talk.refuse("generate_component", source=source)
    assert "class SumComponent" in talk.questions[0]


async def test_the_yes_of_a_reply_is_good_once_for_the_same_call_of_the_same_user(catalogue: Catalogue) -> None:
    agreed = {"approval": types.ElicitResult(action="accept", content={"approve": True})}
    asked: list[types.InputRequiredResult] = []

    async def ask(talk: Talk, name: str, **arguments: Any) -> str:
        result = await talk.client.session.call_tool(name, arguments, allow_input_required=True)
        assert isinstance(result, types.InputRequiredResult), result
        asked.append(result)
        return result.request_state or ""

    async def reply(talk: Talk, state: str, name: str, **arguments: Any) -> Any:
        return await talk.client.session.call_tool(
            name, arguments, input_responses=agreed, request_state=state, allow_input_required=True
        )

    who = assistant(catalogue)
    store = await store_of(who)
    first, second = [(await store.add(flow_of(LOUDER, catalogue))).id for _ in range(2)]
    async with talking(who, WITHOUT, answers=True) as talk:
        for state in ("made-up", ""):
            with pytest.raises(MCPError, match="No such question"):
                await reply(talk, state, "delete_flow", flow_id=first)
        with pytest.raises(MCPError, match="Nothing was asked"):
            await talk.client.session.call_tool("delete_flow", {"flow_id": first}, input_responses=agreed)
        for name, arguments in (("delete_flow", {"flow_id": second}), ("validate_flow", {"flow_id": first})):
            state = await ask(talk, "delete_flow", flow_id=first)
            with pytest.raises(MCPError, match="No such question"):
                await reply(talk, state, name, **arguments)
        assert (await talk.give("list_flows"))["total"] == 2
        state = await ask(talk, "delete_flow", flow_id=first)
        assert not (await reply(talk, state, "delete_flow", flow_id=first)).is_error
        with pytest.raises(MCPError, match="No such question"):
            await reply(talk, state, "delete_flow", flow_id=first)
    (request,) = (asked[0].input_requests or {}).values()
    assert isinstance(request, types.ElicitRequest)


@BOTH
async def test_a_batch_asks_in_the_middle_and_goes_on_without_doing_anything_twice(
    mode: str, catalogue: Catalogue
) -> None:
    async with of_the_user(catalogue, mode, answers=True) as (talk, flow, store):
        prompt = prompt_of((await store.get(flow)).flow)
        actions = [
            {"tool": "create_flow", "args": {"name": "First"}},
            {"tool": "remove_component", "args": {"flow_id": flow, "component_id": prompt}},
            {"tool": "add_component", "args": {"flow_id": "$0.flow.id", "type": "ChatInput"}},
        ]
        found = await talk.give("batch", actions=actions)
        assert [one["ok"] for one in found["results"]] == [True, True, True]
        assert len(talk.questions) == 1
        listed = (await talk.give("list_flows"))["flows"]
        assert sorted(one["name"] for one in listed) == ["First", "Louder"]


@BOTH
async def test_a_no_in_a_batch_ends_it(mode: str, catalogue: Catalogue) -> None:
    async with of_the_user(catalogue, mode, answers=False) as (talk, flow, store):
        prompt = prompt_of((await store.get(flow)).flow)
        actions = [
            {"tool": "remove_component", "args": {"flow_id": flow, "component_id": prompt}},
            {"tool": "create_flow", "args": {"name": "After"}},
        ]
        result = await talk.call("batch", actions=actions)
        assert "said no" in text_of(result)
        assert (await talk.give("list_flows"))["total"] == 1


def test_a_permission_that_there_is_none_of_is_named_with_those_that_there_are() -> None:
    for word in ("everything", "reach", "edit:x"):
        with pytest.raises(UnknownPermission, match="reach:HOST"):
            standing_mandate([word])
    assert standing_mandate([]).effects == {}
    both = standing_mandate(["remove, reach:a.example.org", "reach:b.example.org"])
    assert both.effects == {"remove": ("*",), "reach": ("a.example.org", "b.example.org")}


async def test_an_install_is_for_those_who_may_install(catalogue: Catalogue) -> None:
    user = User(id="u1", name="ada", scopes=scopes_of(["read", "build"]), created_at="")
    spec = "nodes:\n  a: ChatInput\n  w: WikipediaComponent\n  b: ChatOutput\nedges:\n  w.dataframe -> b.input_value\n"
    async with talking(assistant(catalogue), user=user, settings=ServerSettings()) as talk:
        result = await talk.call("create_flow_from_spec", spec=spec)
        assert "Echo" not in text_of(result)
        assert ECHO
