"""`wirewright runs`: what ran, listed, shown and erased."""

import asyncio
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from agent.settings import AssistantSettings
from flows.fields.keys import REMOVED
from runtime.database.database import Database
from runtime.files.folders import LOCAL_USER
from runtime.sessions.run_entry import RunEntry
from runtime.sessions.runs import RunLog
from tests.cli.conftest import Wirewright


def record(*outputs: str) -> None:
    async def recording() -> None:
        settings = AssistantSettings()
        database = Database(settings.database_url, settings.data)
        runs = RunLog(database)
        for number, output in enumerate(outputs):
            failed = output.startswith("!")
            entry = RunEntry(
                id=f"r{number}", flow="f-1", name="Echo", source="assistant", input="hi",
                output=None if failed else output, error=output[1:] if failed else None,
                seconds=1.25, input_tokens=3, output_tokens=4, at="2026-11-23T20:00:00+00:00",
                state="failed" if failed else "succeeded",
            )  # fmt: skip
            runs.record(LOCAL_USER, entry)
        await runs.aclose()
        await database.aclose()

    asyncio.run(recording())


def test_runs_are_listed_latest_first_and_shown(wirewright: Wirewright) -> None:
    record("loud", "!No model is set.")
    listed = wirewright("runs", "list")
    assert listed.out.splitlines() == [
        "r1  2026-11-23T20:00:00  failed  Echo: No model is set.",
        "r0  2026-11-23T20:00:00  ok      Echo: loud",
    ]
    assert [run["id"] for run in wirewright("runs", "list", "--limit", "1", "--json").json["runs"]] == ["r1"]
    shown = wirewright("runs", "show", "r0")
    assert shown.out.splitlines() == snapshot(
        [
            "Echo (f-1)",
            "2026-11-23T20:00:00+00:00, by assistant, 1.2 s, 3 tokens read, 4 written",
            "Input: hi",
            "Output: loud",
        ]
    )
    assert wirewright("runs", "show", "r1", "--json").json["error"] == "No model is set."


def test_runs_are_erased(wirewright: Wirewright) -> None:
    record("a", "b", "c")
    assert wirewright("runs", "remove", "r1").err == "Erased: 1 run.\n"
    assert wirewright("runs", "remove", "--all").err == "Erased: 2 runs.\n"
    assert wirewright("runs", "list").err == "Nothing ran yet.\n"


def test_an_unknown_run_and_an_unclear_removal_are_refused(wirewright: Wirewright) -> None:
    missing = wirewright("runs", "show", "nope")
    assert (missing.code, "There is no run 'nope'." in missing.err) == (1, True)
    assert wirewright("runs", "remove").code == 2
    assert wirewright("runs", "remove", "r1", "--all").code == 2


@pytest.mark.engine
@pytest.mark.usefixtures("warm_engine")
def test_a_run_without_a_session_is_listed_without_the_keys_in_its_texts(wirewright: Wirewright, louder: Path) -> None:
    key = "sk-proj-Ab3dEf6hIj9kLm2nOp5qRs8t"
    assert wirewright("flow", "run", louder, "--input", f"hello {key}").code == 0
    [run] = wirewright("runs", "list", "--json").json["runs"]
    assert (run["source"], run["session"], run["input"]) == ("cli", "", f"hello {REMOVED}")
    assert key not in str(run)


def test_a_run_is_named_by_last_or_by_the_start_of_its_id(wirewright: Wirewright) -> None:
    record("loud", "soft")
    assert wirewright("runs", "show", "last", "--json").json["id"] == "r1"
    assert wirewright("runs", "show", "r0", "--json").json["id"] == "r0"
    several = wirewright("runs", "show", "r", "--json")
    assert (several.code, several.json["error"]["code"]) == (1, "run_ambiguous")
    assert wirewright("runs", "remove", "last", "--json").json == {"removed": 1}
    assert wirewright("runs", "show", "r1").code == 1
