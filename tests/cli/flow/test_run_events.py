"""`wirewright flow run` with events and tweaks on the real engine, and bundles of `wirewright runner install`."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from cli.flow.tweaks import read_tweaks
from runtime.install.environment import RunnerEnvironment
from runtime.install.errors import InstallError
from tests.cli.conftest import Wirewright


@pytest.mark.engine
@pytest.mark.usefixtures("warm_engine")
def test_events_are_lines_of_json_and_the_result_is_the_last(wirewright: Wirewright, louder: Path) -> None:
    done = wirewright("flow", "run", louder, "--input", "bye", "--events", "--json")
    assert done.code == 0
    *events, result = done.lines
    assert [(event["event"], event["node"]) for event in events] == [
        (kind, node) for node in ("chat", "prompt", "answer") for kind in ("node_started", "node_finished")
    ]
    assert "event" not in result
    assert (result["ok"], result["output"], result["types"]) == (True, "Say it louder: bye", {"answer": "Message"})


@pytest.mark.engine
@pytest.mark.usefixtures("warm_engine")
def test_people_see_events_beside_the_output_and_a_tweak_changes_one_run(wirewright: Wirewright, louder: Path) -> None:
    done = wirewright("flow", "run", louder, "--input", "x", "--events", "--tweak", "prompt.template=Whisper: {text}")
    assert (done.code, done.out) == (0, "Whisper: x\n")
    assert "prompt started\n" in done.err
    assert "prompt finished after" in done.err
    refused = wirewright("flow", "run", louder, "--tweak", "prompt.colour=red", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (2, "bad_tweak")


@pytest.mark.parametrize("tweak", ["", "prompt", "prompt=x", "prompt.=x", ".template=x"])
def test_a_tweak_without_its_parts_is_bad_usage(
    wirewright: Wirewright, louder: Path, excerpt: Path, tweak: str
) -> None:
    done = wirewright("flow", "run", louder, "--tweak", tweak, "--json")
    assert (done.code, done.json["error"]["where"]) == (2, "--tweak")


def test_values_of_tweaks_hold_lists_and_objects_and_stay_text_otherwise() -> None:
    given = ["my.prompt.template=a=b", 'my.prompt.rows=[1, {"a": 2}]', "other.text=007", "other.odd={broken"]
    assert [(one.node, one.field, one.value) for one in read_tweaks(given)] == [
        ("my.prompt", "template", "a=b"),
        ("my.prompt", "rows", [1, {"a": 2}]),
        ("other", "text", "007"),
        ("other", "odd", "{broken"),
    ]


def test_bundles_are_asked_for_by_name_and_a_failure_says_why(
    wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch, excerpt: Path
) -> None:
    asked: list[tuple[list[str], list[str]]] = []

    async def change(
        environment: RunnerEnvironment, added: Sequence[str] = (), removed: Sequence[str] = (), **_: object
    ) -> RunnerEnvironment:
        asked.append((list(added), list(removed)))
        if "lfx-nowhere" in added:
            raise InstallError("There is no such package: lfx-nowhere.", "Check its name and version.")
        return environment

    monkeypatch.setattr(RunnerEnvironment, "change_bundles", change)
    assert wirewright("runner", "install", "--with", "lfx-anthropic", "lfx-arxiv", "--without", "lfx-x").code == 0
    assert asked == [(["lfx-anthropic", "lfx-arxiv"], ["lfx-x"])]
    failed = wirewright("runner", "install", "--with", "lfx-nowhere", "--json")
    assert (failed.code, failed.json["ok"]) == (1, False)
    assert "no such package" in failed.json["error"]["message"]


def test_a_bundle_that_is_not_a_name_is_bad_usage(wirewright: Wirewright, excerpt: Path) -> None:
    done = wirewright("runner", "install", "--with", "https://example.com/x.whl", "--json")
    assert (done.code, done.json["error"]["where"]) == (2, "--with")
    done = wirewright("runner", "install", "--with", "lfx-arxiv", "--without", "./lfx-exa", "--json")
    assert (done.code, done.json["error"]["where"]) == (2, "--without")
    assert wirewright("runner", "install", "lfx-anthropic", "--json").code == 2
    assert not (excerpt / "runner" / "bundles.json").exists()
