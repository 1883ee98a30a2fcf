"""`wirewright components`: one query in, one answer out, in order, whatever a line holds."""

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.cli.conftest import Wirewright

pytestmark = pytest.mark.usefixtures("excerpt")


def test_search_gives_matches_best_first(wirewright: Wirewright) -> None:
    done = wirewright("components", "search", "chat input", "--limit", "3", "--json")
    assert done.code == 0
    assert set(done.json) == {"query", "matches"}
    assert done.json["query"] == "chat input"
    matches = done.json["matches"]
    assert 1 <= len(matches) <= 3
    assert all(set(match) == {"type", "display_name", "score"} for match in matches)
    assert matches[0]["type"] == "ChatInput"
    assert [match["score"] for match in matches] == sorted((match["score"] for match in matches), reverse=True)


def test_search_and_describe_say_what_could_be_installed(wirewright: Wirewright) -> None:
    done = wirewright("components", "search", "send a slack message", "--json")
    assert set(done.json) >= {"query", "matches", "not_installed"}
    first = done.json["not_installed"][0]
    assert set(first) == {"type", "display_name", "bundle"}
    assert first["bundle"]["requirement"] == "lfx-slack"
    described = wirewright("components", "describe", first["type"], "--json")
    assert described.code == 0
    assert (described.json["installed"], described.json["bundle"]) == (False, first["bundle"])
    shown = wirewright("components", "describe", first["type"])
    assert "Install it: wirewright runner install --with lfx-slack" in shown.out


def test_matches_are_only_those_that_take_and_give_what_was_asked_for(wirewright: Wirewright) -> None:
    def types(*options: str) -> list[str]:
        done = wirewright("components", "search", "split text", "--json", *options)
        assert done.code == 0
        assert set(done.json) <= {"query", "matches", "nearest"}
        return [match["type"] for match in done.json["matches"]]

    assert "SplitText" in types()
    assert "SplitText" in types("--produces", "Table")
    assert "SplitText" not in types("--produces", "Tool")
    assert "SplitText" in types("--accepts", "message", "--category", "processing")
    assert set(types("--category", "input_output")) <= {"ChatInput", "ChatOutput"}


def test_what_no_component_does_is_said_beside_the_matches(wirewright: Wirewright) -> None:
    done = wirewright("components", "search", "send mail")
    assert "mail" in done.err.casefold()
    [limit] = wirewright("components", "search", "send mail", "--json").json["limits"]
    assert limit in done.err
    assert "limits" not in wirewright("components", "search", "split text", "--json").json


def test_legacy_components_are_ranked_when_they_are_asked_for(wirewright: Wirewright) -> None:
    def found(*options: str) -> set[str]:
        query = "concatenate two text sources"
        done = wirewright("components", "search", query, "--limit", "100", "--json", *options)
        return {match["type"] for match in done.json["matches"]}

    assert "CombineText" in found("--legacy")
    assert found() < found("--legacy")


def test_every_line_is_answered_in_order_when_queries_come_on_standard_input(wirewright: Wirewright) -> None:
    done = wirewright("components", "search", "-", "--limit", "1", "--json", stdin=b"prompt\n\r\nloop\r\nagent")
    assert done.code == 0
    assert [line["query"] for line in done.lines] == ["prompt", "", "loop", "agent"]
    assert done.lines[1]["matches"] == []
    assert [line["matches"][0]["type"] for line in done.lines if line["query"]] == [
        "Prompt Template",
        "LoopComponent",
        "Agent",
    ]


def test_a_line_that_is_not_text_gets_an_error_and_the_rest_goes_on(wirewright: Wirewright) -> None:
    done = wirewright("components", "search", "-", "--json", stdin=b"prompt\n\xff\xfe\nagent\n")
    assert done.code == 0
    assert [line["query"] for line in done.lines] == ["prompt", None, "agent"]
    assert done.lines[1] == snapshot(
        {
            "query": None,
            "matches": [],
            "error": {
                "code": "unreadable",
                "message": "The line is not UTF-8 text.",
                "fix": "Send UTF-8.",
                "where": "line 2",
            },
        }
    )


def test_a_missing_line_is_a_missing_answer(wirewright: Wirewright) -> None:
    assert wirewright("components", "search", "-", "--json").lines == []


def test_a_query_may_hold_line_ends_of_other_alphabets(wirewright: Wirewright) -> None:
    done = wirewright("components", "search", "-", "--json", stdin="a\u2028b\n".encode())
    assert [line["query"] for line in done.lines] == ["a\u2028b"]


def test_search_lists_types_with_what_they_do_for_a_person(wirewright: Wirewright) -> None:
    done = wirewright("components", "search", "prompt template", "--limit", "1")
    assert done.out.startswith("Prompt Template  Create a prompt template")


def test_an_empty_result_is_noted_on_standard_error(wirewright: Wirewright) -> None:
    done = wirewright("components", "search", "xyzzy-qwrt")
    assert (done.code, done.out) == (0, "")
    assert "No component matches" in done.err


def test_the_nearest_are_offered_when_nothing_is_found(wirewright: Wirewright) -> None:
    assert "The nearest: ChatInput, ChatOutput" in wirewright("components", "search", "chatoinutx").err
    found = wirewright("components", "search", "chatoinutx", "--json").json
    assert found["matches"] == []
    assert found["nearest"][:2] == ["ChatInput", "ChatOutput"]


def test_describe_prints_ports_and_fields(wirewright: Wirewright) -> None:
    done = wirewright("components", "describe", "ChatInput")
    assert done.code == 0
    assert "message: Message" in done.out


def test_describe_gives_the_facts_as_json(wirewright: Wirewright) -> None:
    found = wirewright("components", "describe", "Prompt Template", "--json").json
    assert (found["ok"], found["type"], found["display_name"]) == (True, "Prompt Template", "Prompt Template")
    assert {"name": "prompt", "display_name": "Prompt", "types": ["Message"]} in found["outputs"]
    assert "template" in [field["name"] for field in found["inputs"]]
    assert found["text"]


def test_an_unknown_type_names_the_nearest(wirewright: Wirewright) -> None:
    done = wirewright("components", "describe", "ChatInptu", "--json")
    assert done.code == 1
    assert done.json["ok"] is False
    assert done.json["error"]["code"] == "unknown_component"
    assert "ChatInput" in done.json["error"]["fix"]
    assert "ChatInput" in wirewright("components", "describe", "ChatInptu").err


def test_a_missing_catalogue_that_cannot_be_made_is_a_clear_failure(
    wirewright: Wirewright, excerpt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (excerpt / "catalogue.json").unlink()
    monkeypatch.setattr("runtime.install.shipped.shipped_catalogue", lambda _: None)
    _no_installation(monkeypatch)
    done = wirewright("components", "search", "x", "--json")
    assert done.code == 1
    assert done.json["error"] == snapshot(
        {
            "code": "engine_unavailable",
            "message": "The disk is full.",
            "fix": "Free some space.",
            "where": None,
        }
    )


def _no_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    from runtime.install.environment import RunnerEnvironment
    from runtime.install.errors import InstallError

    async def refused(*_: object, **__: object) -> None:
        raise InstallError("The disk is full.", "Free some space.")

    monkeypatch.setattr(RunnerEnvironment, "install", refused)


@pytest.mark.parametrize("name", ["ChatInput", "chatinput", "CHAT INPUT", "chat-input", "Chat Input"])
def test_a_component_is_described_whatever_the_case_of_its_name(
    wirewright: Wirewright, excerpt: Path, name: str
) -> None:
    assert wirewright("components", "describe", name, "--json").json["type"] == "ChatInput"


@pytest.mark.parametrize(
    ("option", "name", "code", "near"),
    [
        ("--category", "procesing", "unknown_category", "'processing'"),
        ("--accepts", "Mesage", "unknown_type", "'Message'"),
        ("--produces", "Tabel", "unknown_type", "'Table'"),
    ],
)
def test_a_filter_that_nothing_can_pass_is_refused_with_what_is_near(
    wirewright: Wirewright, excerpt: Path, option: str, name: str, code: str, near: str
) -> None:
    done = wirewright("components", "search", "text", option, name, "--json")
    assert (done.code, done.json["error"]["code"], done.json["error"]["where"]) == (2, code, option)
    assert near in done.json["error"]["fix"]
    written = near.strip("'")
    assert wirewright("components", "search", "text", option, written.upper(), "--json").code == 0
