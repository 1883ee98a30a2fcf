"""Several tools in one call, with what the earlier ones gave."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.catalogue import Catalogue
from server.mcp.tools.batch import UnknownReference, resolved
from tests.server.mcp.clients import WITH_SESSIONS, WITHOUT, talking
from tests.shared.scripted_assistant import assistant

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.anyio
@pytest.mark.parametrize("mode", [WITH_SESSIONS, WITHOUT])
@pytest.mark.parity("term-batch-action")
async def test_results_are_passed_on_and_the_first_failure_ends_it(mode: str, catalogue: Catalogue) -> None:
    async with talking(assistant(catalogue), mode) as talk:
        found = await talk.give(
            "batch",
            actions=[
                {"tool": "create_flow", "args": {"name": "Mine"}},
                {"tool": "add_component", "args": {"flow_id": "$0.flow.id", "type": "ChatInput"}},
                {"tool": "add_component", "args": {"flow_id": "$0.flow.id", "type": "Nonsense"}},
                {"tool": "delete_flow", "args": {"flow_id": "$0.flow.id"}},
            ],
        )
        assert [one["ok"] for one in found["results"]] == [True, True, False]
        assert found["ok"] is False
        assert "1 action(s) after it were not tried" in found["text"]
        assert (await talk.give("list_flows"))["flows"][0]["version"] == 2
        for actions, said in (
            ([{"tool": "batch", "args": {"actions": []}}], "cannot hold a batch"),
            ([], "at least 1 item"),
            ([{"tool": "list_flows"}] * 51, "at most 50"),
        ):
            assert said in await talk.refuse("batch", actions=actions)
        unknown = await talk.give("batch", actions=[{"tool": "validate_flow", "args": {"flow_id": "$1.flow.id"}}])
        assert "$1.flow.id names a result" in unknown["results"][0]["result"]["text"]
        missing = await talk.give("batch", actions=[{"tool": "nothing"}])
        assert missing["ok"] is False


def test_a_reference_becomes_the_field_with_its_type() -> None:
    results: list[Any] = [{"flow": {"id": "f", "n": 3}, "ids": {"a": "x"}, "list": [1, {"b": True}]}]
    given_arguments: Any = {"x": "$0.flow.id", "y": ["$0.flow.n", "$0.list.1.b"], "z": "costs $0.flow.id", "w": "$0"}
    assert resolved(given_arguments, results) == {"x": "f", "y": [3, True], "z": "costs $0.flow.id", "w": "$0"}
    for wrong in ("$1.flow", "$0.nothing", "$0.list.7", "$0.flow.id.more"):
        with pytest.raises(UnknownReference):
            resolved(wrong, results)


@given(JSON)
def test_arguments_without_references_stay_as_they_are(value: Any) -> None:
    assert resolved(value, []) == value or "$" in str(value)
