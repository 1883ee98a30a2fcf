"""The manual of MCP does what it says: its tables are the code's, and its examples work."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from cli.main import command_line
from flows.catalogue import Catalogue
from server.mcp.consent.permissions import PERMISSIONS, standing_mandate
from server.mcp.perform import TOOLS
from server.mcp.resources import TEMPLATES
from server.mcp.tools.table import LANGFLOWS
from tests.server.live import serving
from tests.server.mcp.clients import talking, talking_http
from tests.shared.scripted_assistant import assistant

PAGE = (Path(__file__).parents[3] / "docs" / "mcp.md").read_text()
EXAMPLES: list[dict[str, Any]] = [
    json.loads(block) for block in re.findall(r"^```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
]
SERVERS: list[dict[str, Any]] = [
    servers["wirewright"] for one in EXAMPLES if (servers := one.get("mcpServers", one.get("servers")))
]


def rows(heading: str) -> list[list[str]]:
    """The rows of the table under a heading."""
    section = PAGE.split(f"{heading}\n", 1)[1].split("\n#", 1)[0]
    found = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| `")]
    return found or [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")][2:]


def test_the_table_of_tools_is_that_of_the_code() -> None:
    assert {name.strip("`"): (of, scope) for name, _, of, scope in rows("## Tools")} == {
        name: (", ".join(sorted(tool.group)), tool.scope) for name, tool in TOOLS.items()
    }


def test_the_table_of_langflows_tools_is_that_of_the_code() -> None:
    kinds = {"canvas server": "canvas", "system server": "system", "assistant's toolkit": "toolkit"}
    named = [(kinds[kind], theirs.strip("`"), here.strip("`")) for kind, theirs, here in rows("### Langflow's tools")]
    assert named == [
        (kind, theirs, here or "none") for kind, tools in LANGFLOWS.items() for theirs, here in tools.items()
    ]


def test_every_permission_and_resource_is_named() -> None:
    assert all(f"`{name}`" in PAGE or f"`{name}:HOST`" in PAGE for name in PERMISSIONS)
    assert all(f"`{uri}`" in PAGE for uri in TEMPLATES)


def test_the_configurations_start_commands_that_there_are() -> None:
    started = [one["args"] for one in SERVERS if one.get("command") == "wirewright"]
    assert len(started) == 4
    for name, *arguments in started:
        command: Any = get_command(command_line(name))
        context = command.make_context("wirewright", [name, *arguments], resilient_parsing=True)
        given = command.commands[name].make_context(name, arguments, parent=context).params
        assert standing_mandate(given["allow"] or []) is not None


@pytest.mark.anyio
async def test_the_configuration_for_http_reaches_a_server(catalogue: Catalogue) -> None:
    (over_http,) = [one for one in SERVERS if "url" in one]
    path = over_http["url"].removeprefix("http://127.0.0.1:7878")
    async with serving(assistant(catalogue)) as live:
        token = live.client.headers["Authorization"].removeprefix("Bearer ")
        headers = {name: value.replace("TOKEN", token) for name, value in over_http["headers"].items()}
        async with talking_http(live, path=path, headers=headers) as talk:
            assert (await talk.give("list_flows"))["total"] == 0


@pytest.mark.anyio
async def test_the_batch_does_what_it_says(catalogue: Catalogue) -> None:
    (batch,) = [one for one in EXAMPLES if "actions" in one]
    async with talking(assistant(catalogue)) as talk:
        assert (await talk.give("batch", **batch))["ok"]
