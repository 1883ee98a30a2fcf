"""`chat --langflow FLOW`: each turn's changes are sent when nothing waits any more, merged with what others changed."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Done
from tests.cli.langflow.conftest import Beside
from tests.shared.stand_ins import StandInRunner

CHANGE = "Set the template of the prompt to Whisper {text}"
AGAIN = "Set the template of the prompt to Sing {text}"


@pytest.fixture
def there(beside: Beside, runner: StandInRunner) -> Beside:
    assert beside.pushed().code == 0
    beside.there.requests.clear()
    return beside


def chat(there: Beside, *lines: str, options: tuple[str, ...] = ()) -> Done:
    """A conversation about the flow there."""
    typed = "".join(f"{line}\n" for line in lines).encode()
    return there.run("chat", "--langflow", "Louder", "--model", "demo", *options, stdin=typed)


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_each_approved_change_is_one_update(there: Beside, options: tuple[str, ...]) -> None:
    done = chat(there, CHANGE, "y", "What does this flow do?", AGAIN, "y", options=options)
    assert done.code == 0, done.err
    assert there.there.changes() == [f"PATCH /flows/{there.theirs()['id']}"] * 2
    assert "Sing" in json.dumps(there.theirs())
    assert done.err.count("was updated") == 2


def test_a_no_and_a_question_send_nothing(there: Beside) -> None:
    done = chat(there, CHANGE, "n", "What does this flow do?")
    assert (done.code, there.there.changes()) == (0, [])


def test_what_waits_is_sent_after_the_answer_in_another_process(there: Beside) -> None:
    first = chat(there, CHANGE)
    assert (first.code, there.there.changes()) == (3, [])
    data = json.loads(json.dumps(there.theirs()["data"]))
    data["nodes"][0]["data"]["node"]["template"]["sender_name"]["value"] = "A colleague"
    there.there.touch(there.theirs(), data=data)
    there.there.requests.clear()
    second = chat(there, "y", options=("--resume",))
    assert second.code == 0, second.err
    assert len(there.there.changes()) == 1
    assert "Whisper" in json.dumps(there.theirs())
    assert "A colleague" in json.dumps(there.theirs())


def test_a_clash_leaves_the_flow_in_one_file(there: Beside) -> None:
    first = chat(there, CHANGE)
    assert first.code == 3
    data = json.loads(json.dumps(there.theirs()["data"]).replace("Say it louder", "Sing it"))
    there.there.touch(there.theirs(), data=data)
    there.there.requests.clear()
    done = chat(there, "y", "Rename the prompt to Voice", options=("--resume",))
    assert (done.code, there.there.changes()) == (1, [])
    assert "flow push Louder.unsent.json" in done.err
    assert sorted(path.name for path in Path(there.folder).glob("*.unsent*.json")) == ["Louder.unsent.json"]


def test_no_other_flow_takes_its_place(there: Beside) -> None:
    done = chat(there, f"/flow {there.file}", CHANGE, "y")
    assert "no other flow can be loaded" in done.err
    assert "Whisper" in json.dumps(there.theirs())


def test_it_excludes_a_file_and_a_server(there: Beside) -> None:
    for other in (("--flow", str(there.file)), ("--server", "http://127.0.0.1:1")):
        done = chat(there, options=(*other, "--json"))
        assert (done.code, done.json["error"]["code"]) == (2, "usage")
