"""`wirewright mcp`: what a client that starts a program gets, on this machine and through to a server."""

import os
import sys
from pathlib import Path

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

from flows.catalogue import Catalogue
from server.store.flows import FlowEntry
from tests.cli.conftest import Wirewright
from tests.server.live import FLOWS, serving
from tests.server.mcp.clients import WITH_SESSIONS, WITHOUT, Talk
from tests.shared.flow_texts import ECHO, LOUDER, flow_of
from tests.shared.scripted_assistant import assistant
from tests.shared.stand_ins import StandInRunner


def started(command: Path, *arguments: str, **variables: str) -> StdioServerParameters:
    """What a client starts."""
    return StdioServerParameters(command=str(command), args=["mcp", *arguments], env={**os.environ, **variables})


@pytest.mark.anyio
@pytest.mark.engine
@pytest.mark.parametrize("mode", [WITH_SESSIONS, WITHOUT])
async def test_a_client_that_starts_the_command_builds_and_runs_a_flow(
    mode: str, wirewright_command: Path, warm_engine: None, tmp_path: Path
) -> None:
    program = started(wirewright_command, WIREWRIGHT_DATA=str(tmp_path))
    async with Client(stdio_client(program, errlog=sys.stderr), mode=mode) as client:
        talk = Talk(client)
        flow = (await talk.give("create_flow_from_spec", spec=ECHO, probes={"hi": "hi"}))["flow"]
        assert (await talk.give("run_flow", flow_id=flow["id"], input="hello"))["run"]["output"] == "hello"
        (content,) = (await client.read_resource(flow["uri"])).contents
        assert isinstance(content, types.TextResourceContents)
        assert "ChatInput" in content.text


@pytest.mark.anyio
@pytest.mark.parametrize("mode", [WITH_SESSIONS, WITHOUT])
async def test_a_server_is_reached_through_the_command(
    mode: str, wirewright_command: Path, catalogue: Catalogue, tmp_path: Path
) -> None:
    runner, asked = StandInRunner(), list[str]()

    async def answer(_: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"approve": True})

    async with serving(assistant(catalogue, runner=runner)) as live:
        louder = flow_of(LOUDER, catalogue)
        stored = FlowEntry(**(await live.client.post(FLOWS, json=louder.to_json())).json())
        prompt = next(node.id for node in louder.components if node.type == "Prompt Template")
        program = started(
            wirewright_command,
            *("--server", str(live.client.base_url).rstrip("/"), "--tools", "canvas", "--allow", "edit"),
            WIREWRIGHT_DATA=str(tmp_path),
            WIREWRIGHT_TOKEN=live.client.headers["Authorization"].removeprefix("Bearer "),
        )
        async with Client(stdio_client(program, errlog=sys.stderr), mode=mode, elicitation_callback=answer) as client:
            talk = Talk(client)
            assert "search_templates" not in {tool.name for tool in (await client.list_tools()).tools}
            flow = (await talk.give("create_flow_from_spec", spec=ECHO))["flow"]["id"]
            assert "Building the flow..." in talk.progress
            assert (await live.client.get(f"{FLOWS}/{flow}")).status_code == 200
            values = {"template": "Whisper: {text}"}
            await talk.give("configure_component", flow_id=stored.id, component_id=prompt, values=values)
            assert asked == []
            await talk.give("remove_component", flow_id=stored.id, component_id=prompt)
            assert len(asked) == 1
            with pytest.raises(MCPError, match="Unknown tool"):
                await client.call_tool("nothing", {})


def test_a_permission_that_there_is_none_of_is_bad_usage(wirewright: Wirewright) -> None:
    done = wirewright("mcp", "--allow", "everything")
    assert done.code == 2
    assert "reach:HOST" in done.err


def test_without_the_package_the_command_says_what_to_install(
    wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.mcp.installed.find_spec", lambda name: None)
    done = wirewright("mcp")
    assert done.code == 1
    assert "wirewright[mcp]" in done.err


def test_a_server_without_a_token_is_refused_before_anything_is_read(wirewright: Wirewright) -> None:
    done = wirewright("mcp", "--server", "http://127.0.0.1:1")
    assert done.code != 0
    assert "wirewright login" in done.err
