"""Which variables may enter runs, as the environment says."""

import pytest

from agent.settings import AssistantSettings


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ("", set[str]()),
        ("SERPAPI_API_KEY", {"SERPAPI_API_KEY"}),
        (" A_KEY, B_KEY ,,C ", {"A_KEY", "B_KEY", "C"}),
    ],
)
def test_the_names_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch, given: str, names: set[str]) -> None:
    monkeypatch.setenv("WIREWRIGHT_RUN_VARIABLES", given)
    assert AssistantSettings().run_variables == names
