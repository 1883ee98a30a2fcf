"""`ask --langflow FLOW`: a turn edits a flow there, and sends one update once nothing waits any more."""

import json
from typing import Any

import pytest

from tests.cli.langflow.conftest import Beside
from tests.shared.stand_ins import StandInRunner

ASK = ("ask", "--langflow", "Louder", "--model", "demo", "--json")
CHANGE = "Set the template of the prompt to Whisper {text}"


@pytest.fixture
def there(beside: Beside, runner: StandInRunner) -> Beside:
    assert beside.pushed().code == 0
    beside.there.requests.clear()
    return beside


def session_of(lines: list[Any]) -> str:
    return lines[-1]["data"]["session_id"]


def test_nothing_is_sent_before_the_approval_and_one_update_after_it(there: Beside) -> None:
    waits = there.run(*ASK, CHANGE, "--session", "s")
    assert (waits.code, waits.lines[-1]["event"], there.there.changes()) == (3, "complete", [])
    done = there.run(*ASK, "yes", "--session", "s")
    assert done.code == 0, done.err
    assert there.there.changes() == [f"PATCH /flows/{there.theirs()['id']}"]
    assert "Whisper" in json.dumps(there.theirs())
    assert "was updated" in done.err


def test_a_change_that_is_turned_down_is_not_sent(there: Beside) -> None:
    assert there.run(*ASK, CHANGE, "--session", "s").code == 3
    assert there.run(*ASK, "no", "--session", "s").code == 0
    assert there.there.changes() == []


def test_what_others_changed_while_a_question_waited_is_kept(there: Beside) -> None:
    assert there.run(*ASK, CHANGE, "--session", "s").code == 3
    data = json.loads(json.dumps(there.theirs()["data"]))
    data["nodes"][0]["data"]["node"]["template"]["sender_name"]["value"] = "A colleague"
    there.there.touch(there.theirs(), data=data)
    there.there.requests.clear()
    assert there.run(*ASK, "yes", "--session", "s").code == 0
    assert "Whisper" in json.dumps(there.theirs())
    assert "A colleague" in json.dumps(there.theirs())
    assert len(there.there.changes()) == 1


def test_a_change_of_the_same_place_is_kept_in_a_file_instead(there: Beside) -> None:
    assert there.run(*ASK, CHANGE, "--session", "s").code == 3
    data = json.loads(json.dumps(there.theirs()["data"]).replace("Say it louder", "Sing it"))
    there.there.touch(there.theirs(), data=data)
    there.there.requests.clear()
    done = there.run(*ASK, "yes", "--session", "s")
    assert (done.code, there.there.changes()) == (1, [])
    assert "flow push Louder.unsent.json" in done.err
    assert "Whisper" in (there.folder / "Louder.unsent.json").read_text()
    sent = there.run("flow", "push", there.folder / "Louder.unsent.json", "--overwrite", "--json")
    assert sent.code == 0
    assert "Whisper" in json.dumps(there.theirs())


def test_a_locked_flow_is_refused_before_the_turn_begins(there: Beside) -> None:
    there.there.touch(there.theirs(), locked=True)
    done = there.run(*ASK, CHANGE)
    assert (done.code, done.lines[-1]["error"]["code"]) == (1, "flow_locked")


def test_a_question_sends_nothing(there: Beside) -> None:
    assert there.run(*ASK, "What does this flow do?").code == 0
    assert there.there.changes() == []


def test_it_excludes_a_file_and_a_server(there: Beside) -> None:
    for other in (("--flow", str(there.file)), ("--server", "http://127.0.0.1:1")):
        done = there.run(*ASK, CHANGE, *other)
        assert (done.code, done.json["error"]["code"]) == (2, "usage")
