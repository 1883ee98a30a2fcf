"""The harness: scripts run in Node with the real clients at hand."""

from pathlib import Path

import pytest

from tests.conformance.clients import Clients

pytestmark = pytest.mark.anyio


async def test_a_script_finds_the_clients_and_its_lines_are_read_as_json(clients: Clients, tmp_path: Path) -> None:
    script = tmp_path / "names.mjs"
    script.write_text(
        'import { HttpAgent } from "@ag-ui/client"; import { HttpAgent as Old } from "@ag-ui/client-0";\n'
        'import { DefaultChatTransport } from "ai"; import { useChat } from "@ai-sdk/react";\n'
        'import { Client } from "@modelcontextprotocol/sdk/client/index.js";\n'
        "const found = [HttpAgent, Old, DefaultChatTransport, useChat, Client];\n"
        "console.log(JSON.stringify(found.map((one) => typeof one)));\n"
        "console.log(JSON.stringify({ argument: process.argv[2], variable: process.env.GIVEN }));\n"
    )
    written = await clients.run(script, "first", GIVEN="second")
    assert written == [["function"] * 5, {"argument": "first", "variable": "second"}]


async def test_what_a_failing_script_says_is_in_the_failure(clients: Clients, tmp_path: Path) -> None:
    script = tmp_path / "fails.mjs"
    script.write_text('throw new Error("no such thing");\n')
    with pytest.raises(AssertionError, match="no such thing"):
        await clients.run(script)
