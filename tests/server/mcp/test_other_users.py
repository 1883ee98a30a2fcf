"""MCP as the wrong user: every tool, resource and prompt of the tables, at the names of what is another's."""

from contextlib import suppress
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from flows.catalogue import Catalogue
from flows.document import JsonObject
from runtime.accounts.scopes import scopes_of
from server.mcp.resources import TEMPLATES
from server.mcp.tools.table import single_tools
from tests.server.access.test_users import MARK, SESSION, client_of, everything, fill, model
from tests.server.live import Live, serving
from tests.server.mcp.clients import Talk, talking_http
from tests.shared.scripted_assistant import assistant
from tests.shared.stand_ins import StandInRunner, ran

pytestmark = [pytest.mark.anyio, pytest.mark.both_databases]


def made(part: Any, whole: dict[str, Any], value: str, name: str = "") -> Any:
    """A value that a schema allows, in which every text is the same one."""
    if "$ref" in part:
        part = whole["$defs"][part["$ref"].rpartition("/")[2]]
    if "const" in part or "enum" in part:
        return part.get("const", (part.get("enum") or [None])[0])
    for several in ("anyOf", "oneOf", "allOf"):
        if several in part:
            return made(part[several][0], whole, value, name)
    match part.get("type"):
        case "object":
            return {key: made(one, whole, value, key) for key, one in part.get("properties", {}).items()}
        case "array":
            return [made(part.get("items", {}), whole, value, name)]
        case "integer" | "number":
            return 1
        case "boolean":
            return False
        case _:
            return value


async def read(talk: Talk, uri: str) -> str:
    """What a resource holds, or why it cannot be read."""
    try:
        return str(await talk.client.read_resource(uri))
    except MCPError as refused:
        return str(refused)


async def test_no_tool_resource_or_prompt_has_anything_of_another_user(catalogue: Catalogue, echo: JsonObject) -> None:
    async with (
        serving(assistant(catalogue, model(), StandInRunner(results=[ran(f"output {MARK}")] * 2))) as live,
        client_of(live, "ada") as ada,
    ):
        has = await fill(ada, echo)
        before = await everything(ada, has)
        names = (has.values["flow_id"], has.values["path"], has.values["run_id"], has.values["name"], SESSION)
        headers = {"Authorization": ada.headers["authorization"]}
        async with talking_http(live, headers=headers) as hers:
            seen = [await read(hers, uri) for uri in addresses(has.values)]
            assert sum(MARK in text for text in seen) == 4, "the flow in both forms, the run and the file are hers"
        async with talking_http(live, answers=True, headers=await headers_of_eve(live)) as eve:
            for tool in single_tools().values():
                for value in names:
                    given = {**made(tool.takes, tool.takes, value)}
                    for arguments in (given, {key: given[key] for key in tool.takes.get("required", [])}):
                        told = str(await eve.call(tool.name, **arguments))
                        assert MARK not in told, (tool.name, value, told)
            for uri in addresses(has.values):
                assert MARK not in await read(eve, uri), uri
            listed = await eve.client.list_resources()
            assert MARK not in str(listed)
            assert not [one for one in listed.resources if has.values["flow_id"] in str(one.uri)]
            for prompt in (await eve.client.list_prompts()).prompts:
                asked = {"request": "Change it", "flow_id": has.values["flow_id"]}
                with suppress(MCPError):
                    assert MARK not in str(await eve.client.get_prompt(prompt.name, asked))
        assert await everything(ada, has) == before, "nothing of Ada's has changed"


def addresses(values: dict[str, str]) -> list[str]:
    """The address of something of Ada's in every form there is."""
    return [form.replace("{+path}", "{path}").format(**values) for form in TEMPLATES]


async def headers_of_eve(live: Live) -> dict[str, str]:
    """The token of another user, whose client may do everything unasked."""
    assert live.access.users is not None
    _, token = await live.access.users.add("eve", scopes_of(["build", "run"]))
    return {"Authorization": f"Bearer {token}"}
