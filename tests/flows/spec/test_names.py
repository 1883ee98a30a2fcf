"""Ids of a spec become display names, unless they only number their nodes."""

import pytest

from flows.catalogue import Catalogue
from flows.spec.names import display_name


@pytest.mark.parametrize(
    ("spec_id", "shown"),
    [
        ("complaints", "Complaints"),
        ("compare_prices", "Compare prices"),
        ("tone_router", "Tone router"),
        ("nodes_of_ohio", "Nodes of ohio"),
        ("a", None),
        ("A1", None),
        ("node_3", None),
        ("comp2", None),
        ("component", None),
        ("step 4", None),
        ("ChatOutput", None),
        ("chat_output2", None),
        ("ChatOutput-kYIhk", None),
    ],
)
def test_an_id_that_says_something_is_shown(spec_id: str, shown: str | None, catalogue: Catalogue) -> None:
    component = catalogue.get("ChatOutput")
    assert component is not None
    assert display_name(spec_id, component) == shown
