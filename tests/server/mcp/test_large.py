"""What tools and resources tell of a flow with 300 components."""

from typing import Any, cast

import pytest
from mcp.shared.exceptions import MCPError

from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.accounts.user import LOCAL
from runtime.files.store import UserFiles
from server.mcp.answers import SHOWN_BYTES, shortened
from server.settings import ServerSettings
from tests.server.live import FLOWS, serving
from tests.server.mcp.clients import talking_http, text_of
from tests.shared.flow_texts import large_flow
from tests.shared.scripted_assistant import assistant

pytestmark = pytest.mark.anyio
WHOLE = {
    "get_flow_ascii_diagram": "whole flow",
    "get_flow_structure_summary": "whole flow",
    "visualize_flow_graph": "whole flow",
}
"""The tools that tell of all components, and what their answers say of the rest."""


async def test_what_is_told_of_a_flow_with_300_components_is_small_and_names_where_the_rest_is(
    catalogue: Catalogue,
) -> None:
    flow = large_flow(catalogue)
    settings = ServerSettings()
    async with serving(assistant(catalogue), settings) as live, talking_http(live) as talk:
        stored = (await live.client.post(FLOWS, json={"name": "Large", "flow": flow.to_json()})).json()["id"]
        for name, says in WHOLE.items():
            result = await talk.call(name, flow_id=stored)
            assert len(result.model_dump_json(by_alias=True)) < 20_000, name
            assert says in text_of(result), name
        loose = Flow.from_json({**flow.raw, "data": {**cast("dict[str, Any]", flow.raw["data"]), "edges": []}})
        apart = (await live.client.post(FLOWS, json={"name": "Apart", "flow": loose.to_json()})).json()["id"]
        checked = await talk.call("validate_flow", flow_id=apart)
        assert len(checked.model_dump_json(by_alias=True)) < 20_000
        assert "Mend these first" in text_of(checked)
        assert len((await talk.call("list_flows")).model_dump_json()) < 20_000
        added = await talk.call("add_component", flow_id=stored, type="ChatInput")
        assert len(added.model_dump_json()) < 2_000
        spec = (await talk.give("get_flow_text_representation", flow_id=stored))["text"]
        assert spec.count(": ChatOutput\n") == len(flow.components) // 3, "what is asked for is given whole"


async def test_a_resource_that_clients_cannot_take_is_an_error_that_says_where_it_is(catalogue: Catalogue) -> None:
    settings = ServerSettings()
    files = UserFiles(settings.data, LOCAL.id)
    files.write_bytes("big.bin", b"\xff" * 740_000)
    files.write_bytes("bigger.bin", b"\xff" * 740_001)
    files.write("big.txt", "word \n" * 200_000)
    async with serving(assistant(catalogue), settings) as live, talking_http(live) as talk:
        body = {"name": "Large", "flow": large_flow(catalogue).to_json()}
        stored = (await live.client.post(FLOWS, json=body)).json()["id"]
        with pytest.raises(MCPError, match=r"more than MCP clients take\. `wirewright flow export`"):
            await talk.client.read_resource(f"wirewright://flows/{stored}/json")
        assert (await talk.client.read_resource(f"wirewright://flows/{stored}")).contents
        assert (await talk.client.read_resource("wirewright://files/big.bin")).contents
        assert (await talk.client.read_resource("wirewright://files/big.txt")).contents
        with pytest.raises(MCPError, match="bytes"):
            await talk.client.read_resource("wirewright://files/bigger.bin")
        assert (await talk.give("list_flows"))["total"] == 1, "the session goes on"


def test_a_text_that_fits_is_told_whole() -> None:
    short = "one\ntwo"
    assert shortened(short, "More.") == short
    long = "\n".join(f"line {at} \ud800" for at in range(2_000))
    told = shortened(long, "Look there.").splitlines()
    assert long.startswith("\n".join(told[:-1]))
    assert sum(map(len, told)) <= SHOWN_BYTES
    assert told[-1] == f"... and {2_000 - len(told) + 1:,} lines more. Look there."
