"""Code in a flow: a built-in's own is trusted to the letter, anything else is read, and two names are reserved."""

import json

import pytest

from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.guard import refuse, scan
from tests.shared.flow_texts import flow_of

FETCH = "name: Fetch\nnodes:\n  u: URLComponent\n  b: ChatOutput\nedges:\n  u.page_results -> b.input_value\n"
OWN = """
from lfx.custom import Component
from lfx.io import Output
from lfx.schema.message import Message


class Price(Component):
    description = "Tells a price."
    outputs = [Output(display_name="Price", name="{name}", method="{method}")]

    def {method}(self) -> Message:
        return Message(text="3")
"""


@pytest.mark.parity("smoke-builtin-runs", "base-smoke-url-component")
def test_a_built_in_that_does_what_others_may_not_is_admitted(catalogue: Catalogue) -> None:
    flow = flow_of(FETCH, catalogue)
    assert scan(flow.nodes[0].code or "") != [], "the same source from anybody else would be refused"
    assert refuse(flow, catalogue) is None


@pytest.mark.parity("smoke-builtin-changed")
def test_one_changed_character_in_a_built_in_is_refused(catalogue: Catalogue) -> None:
    document = flow_of(FETCH, catalogue).to_json()
    code = document["data"]["nodes"][0]["data"]["node"]["template"]["code"]
    code["value"] = code["value"].replace("import", "import ", 1)
    error = refuse(Flow.from_json(document), catalogue)
    assert error is not None
    assert (error.code, error.node) == ("refused", document["data"]["nodes"][0]["id"])


@pytest.mark.parity("smoke-builtin-no-catalogue")
def test_nothing_is_trusted_without_a_catalogue_to_compare_with(catalogue: Catalogue) -> None:
    error = refuse(flow_of(FETCH, catalogue), Catalogue({}))
    assert error is not None
    assert error.code == "refused"


@pytest.mark.parity("base-term-reserved-output", "base-scenario-reserved-output", "term-reserved-output")
@pytest.mark.parametrize(
    ("name", "method"), [("component_as_tool", "get_price"), ("price", "to_toolkit")], ids=["name", "method"]
)
def test_a_reserved_name_is_refused_with_a_better_one(name: str, method: str) -> None:
    (violation,) = scan(OWN.replace("{name}", name).replace("{method}", method))
    assert violation.rule == "reserved"
    assert "reserved" in violation.message
    assert "item, price or result" in violation.fix


@pytest.mark.parity("base-smoke-reserved-output")
def test_the_same_component_passes_under_a_name_of_its_own() -> None:
    assert scan(OWN.replace("{name}", "price").replace("{method}", "get_price")) == []
    refused = scan(OWN.replace("{name}", "component_as_tool").replace("{method}", "get_price"))
    assert [json.loads(json.dumps(found.to_json()))["rule"] for found in refused] == ["reserved"]
