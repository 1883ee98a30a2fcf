"""What runs may use and reach, as the environment says."""

import pytest
from pydantic import ValidationError

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


def test_the_hosts_of_runs_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIREWRIGHT_RUN_HOSTS", " db.example.com:5432, 10.0.0.0/8 ,,*.corp.example")
    monkeypatch.setenv("WIREWRIGHT_RUN_NETWORK", "ask")
    settings = AssistantSettings()
    assert settings.run_hosts == ("db.example.com:5432", "10.0.0.0/8", "*.corp.example")
    assert settings.run_network == "ask"


@pytest.mark.parametrize("given", ["http://a.org/", "a.org:99999", "two words"])
def test_what_is_no_host_is_refused_and_quoted(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("WIREWRIGHT_RUN_HOSTS", f"ok.example.com,{given}")
    with pytest.raises(ValidationError, match="run_hosts") as refused:
        AssistantSettings()
    assert given in str(refused.value)
