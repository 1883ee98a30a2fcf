"""`flow pull`, `flow push` and `flow run --langflow`: one update, with what others changed kept."""

import json
from typing import Any

import pytest

from tests.cli.langflow.conftest import Beside
from tests.runtime.langflow.stand_in import PROJECT

SECRET = "sk-proj-Ab3dEf6hIj9kLm2nOp5qRs8t"


def prompt(flow: dict[str, Any]) -> dict[str, Any]:
    nodes = flow["data"]["nodes"]
    return next(node for node in nodes if node["data"]["type"] == "Prompt Template")["data"]["node"]["template"]


def test_a_flow_is_added_and_then_updated_by_one_request_each(beside: Beside) -> None:
    first = beside.pushed()
    assert (first.code, first.json["sent"], first.json["missing"]) == (0, True, [])
    assert beside.there.changes() == ["POST /flows/"]
    beside.edit("Say it louder", "Whisper")
    beside.there.requests.clear()
    second = beside.pushed()
    assert (second.code, second.json["id"], second.json["moved"]) == (0, first.json["id"], "no")
    assert beside.there.changes() == [f"PATCH /flows/{first.json['id']}"]
    assert "Whisper" in prompt(beside.theirs())["template"]["value"]
    assert beside.pushed().json["sent"] is False
    assert len(beside.there.changes()) == 1


def test_what_others_changed_elsewhere_is_kept(beside: Beside) -> None:
    beside.pushed()
    data = json.loads(json.dumps(beside.theirs()["data"]))
    data["nodes"][0]["position"] = {"x": 777, "y": 7}
    data["nodes"][0]["data"]["node"]["template"]["sender_name"]["value"] = "A colleague"
    beside.there.touch(beside.theirs(), data=data)
    beside.edit("Say it louder", "Whisper")
    done = beside.pushed()
    assert (done.code, done.json["moved"]) == (0, "content")
    sent = beside.theirs()
    assert "Whisper" in prompt(sent)["template"]["value"]
    assert sent["data"]["nodes"][0]["position"] == {"x": 777, "y": 7}
    assert "A colleague" in beside.file.read_text()


def test_what_others_changed_in_the_same_place_is_never_overwritten_unasked(beside: Beside) -> None:
    beside.pushed()
    data = json.loads(json.dumps(beside.theirs()["data"]).replace("Say it louder", "Sing"))
    beside.there.touch(beside.theirs(), data=data)
    beside.edit("Say it louder", "Whisper")
    beside.there.requests.clear()
    done = beside.pushed()
    assert (done.code, done.json["error"]["code"]) == (1, "flow_moved_on")
    assert beside.there.changes() == []
    assert beside.run("flow", "push", beside.file, "--overwrite", "--json").code == 0
    assert "Whisper" in prompt(beside.theirs())["template"]["value"]


def test_a_flow_whose_earlier_state_is_not_known_is_not_overwritten(beside: Beside) -> None:
    made = beside.there.add("Louder", {"nodes": [], "edges": []})
    done = beside.run("flow", "push", beside.file, "--to", "Louder", "--json")
    assert (done.code, done.json["error"]["code"]) == (1, "flow_moved_on")
    assert made["data"] == {"nodes": [], "edges": []}
    clash = beside.pushed()
    assert (clash.code, clash.json["error"]["code"]) == (1, "name_taken")
    assert beside.run("flow", "push", beside.file, "--name", "Louder 2", "--json").code == 0


def test_a_change_between_reading_and_sending_is_refused_by_the_server(
    beside: Beside, monkeypatch: pytest.MonkeyPatch
) -> None:
    import cli.langflow.push as pushing

    beside.pushed()
    beside.edit("Say it louder", "Whisper")
    show = pushing.show_update

    def meanwhile(update: Any) -> None:
        show(update)
        beside.there.touch(beside.theirs(), data={"nodes": [], "edges": []})

    monkeypatch.setattr(pushing, "show_update", meanwhile)
    done = beside.run("flow", "push", beside.file)
    assert (done.code, "changed" in done.err) == (1, True)
    assert beside.theirs()["data"] == {"nodes": [], "edges": []}


def test_a_flow_that_was_deleted_there_is_said_to_be_and_can_be_added_again(beside: Beside) -> None:
    beside.pushed()
    beside.there.flows.clear()
    done = beside.pushed()
    assert (done.code, done.json["error"]["code"]) == (1, "flow_not_there")
    assert "--new" in done.json["error"]["fix"]
    assert beside.run("flow", "push", beside.file, "--new", "--json").code == 0


def test_a_locked_flow_is_not_changed(beside: Beside) -> None:
    beside.pushed()
    beside.there.touch(beside.theirs(), locked=True)
    beside.edit("Say it louder", "Whisper")
    beside.there.requests.clear()
    done = beside.pushed()
    assert (done.code, done.json["error"]["code"], beside.there.changes()) == (1, "flow_locked", [])


def test_secrets_travel_in_neither_direction_and_what_is_there_stays(beside: Beside) -> None:
    beside.pushed()
    data = json.loads(json.dumps(beside.theirs()["data"]))
    field = {"name": "api_key", "type": "str", "_input_type": "SecretStrInput", "password": True, "value": SECRET}
    data["nodes"][0]["data"]["node"]["template"]["api_key"] = field
    beside.there.touch(beside.theirs(), data=data)
    assert beside.run("flow", "pull", "Louder", "--out", beside.file).code == 0
    assert SECRET not in beside.file.read_text()
    beside.edit("Say it louder", "Whisper")
    assert beside.pushed().code == 0
    assert SECRET in json.dumps(beside.theirs())
    assert beside.run("flow", "pull", "Louder", "--out", beside.file, "--with-secrets").code == 0
    assert SECRET in beside.file.read_text()


def test_a_secret_that_was_typed_in_here_is_sent_only_when_asked(beside: Beside) -> None:
    document = beside.document()
    field = {"name": "api_key", "type": "str", "_input_type": "SecretStrInput", "password": True, "value": SECRET}
    document["data"]["nodes"][0]["data"]["node"]["template"]["api_key"] = field
    beside.file.write_text(json.dumps(document))
    waits = beside.pushed()
    assert (waits.code, [one["code"] for one in waits.json["missing"]]) == (3, ["secret_withheld"])
    assert beside.there.changes() == []
    assert beside.run("flow", "push", beside.file, "--yes").code == 0
    assert SECRET not in json.dumps(beside.theirs())
    beside.file.write_text(json.dumps(document))
    assert beside.run("flow", "push", beside.file, "--new", "--name", "Other", "--with-secrets").code == 0
    assert SECRET in json.dumps(list(beside.there.flows.values()))


def test_a_variable_is_found_by_name_and_a_missing_one_is_listed_before_anything_is_sent(beside: Beside) -> None:
    document = beside.document()
    field = {"name": "api_key", "type": "str", "password": True, "load_from_db": True, "value": "SERPER_API_KEY"}
    document["data"]["nodes"][0]["data"]["node"]["template"]["api_key"] = field
    beside.file.write_text(json.dumps(document))
    waits = beside.pushed()
    assert (waits.code, [one["code"] for one in waits.json["missing"]]) == (3, ["unmapped_variable"])
    assert (waits.json["sent"], beside.there.changes()) == (False, [])
    beside.there.variables["serper_api_key"] = "there"
    done = beside.pushed()
    assert (done.code, done.json["missing"], len(done.json["named"])) == (0, [], 1)
    assert "serper_api_key" in json.dumps(beside.theirs())


def test_a_variable_of_ours_is_sent_when_it_is_named(beside: Beside) -> None:
    assert beside.run("variables", "set", "SERPER_API_KEY", stdin=b"value-of-ours").code == 0
    document = beside.document()
    field = {"name": "api_key", "type": "str", "password": True, "load_from_db": True, "value": "SERPER_API_KEY"}
    document["data"]["nodes"][0]["data"]["node"]["template"]["api_key"] = field
    beside.file.write_text(json.dumps(document))
    done = beside.run("flow", "push", beside.file, "--send-variable", "SERPER_API_KEY", "--json")
    assert (done.code, beside.there.variables) == (0, {"SERPER_API_KEY": "value-of-ours"})


def test_nothing_is_sent_that_the_servers_version_cannot_run(beside: Beside) -> None:
    for types in beside.there.types.values():
        types.pop("Prompt Template", None)
    done = beside.run("flow", "push", beside.file, "--yes", "--json")
    assert (done.code, done.json["error"]["code"]) == (1, "cannot_run_there")
    assert "Prompt Template" in done.json["error"]["message"]
    assert beside.there.changes() == []


def test_components_get_the_code_that_the_server_has(beside: Beside) -> None:
    for types in beside.there.types.values():
        for raw in types.values():
            code = raw["template"]["code"]
            code["value"] = f"{code['value']}\n# of an earlier version\n"
    beside.there.version = "1.12.0"
    done = beside.run("flow", "push", beside.file, "--json")
    assert (done.code, any("1.12.0" in line for line in done.json["named"])) == (0, True)
    assert json.dumps(beside.theirs()).count("# of an earlier version") == 3


def test_a_version_without_tokens_is_compared_before_it_is_sent_to(beside: Beside) -> None:
    beside.there.tokens = False
    beside.pushed()
    beside.edit("Say it louder", "Whisper")
    assert beside.pushed().code == 0
    assert "Whisper" in prompt(beside.theirs())["template"]["value"]


def test_a_dry_run_sends_nothing(beside: Beside) -> None:
    done = beside.run("flow", "push", beside.file, "--dry-run", "--json")
    assert (done.code, done.json["sent"], beside.there.changes()) == (0, False, [])
    assert beside.run("flow", "push", beside.file, "--folder", "Other", "--json").code == 2
    assert beside.run("flow", "push", beside.file, "--folder", "Starter Project", "--json").code == 0
    assert beside.theirs()["folder_id"] == PROJECT


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_read(beside: Beside) -> None:
    beside.pushed()
    beside.there.requests.clear()
    done = beside.run("flow", "pull", "Louder", "--out", beside.folder / "none" / "flow.json", "--json")
    assert (done.code, done.json["error"]["code"], beside.there.requests) == (2, "unwritable", [])


def test_a_flow_runs_there(beside: Beside) -> None:
    beside.pushed()
    done = beside.run("flow", "run", "Louder", "--langflow", "--input", "hi", "--json")
    assert (done.code, done.json["output"], done.json["outputs"]) == (0, "hi!", {"ChatOutput-aaaaa": "hi!"})
    missing = beside.run("flow", "run", "None", "--langflow", "--json")
    assert (missing.code, missing.json["error"]["code"]) == (1, "flow_not_there")
    refused = beside.run("flow", "run", "Louder", "--langflow", "--events", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (2, "not_on_langflow")
