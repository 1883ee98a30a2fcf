"""`wirewright ask`: one turn, as JSON lines in the stream's shape or as text for a person."""

import json
import shlex
import signal
import subprocess
from pathlib import Path

import pytest

from agent.assistant import Assistant
from runtime.results import RunError
from tests.cli.conftest import Done, Wirewright
from tests.shared.stand_ins import StandInRunner, ran

LOUD = (
    "Build a flow that puts the chat input into the prompt 'Say it louder: {text}' and answers with it, "
    "then run it with hello"
)
BUILD = "Build an echo flow"


@pytest.mark.engine
def test_one_sentence_in_a_running_flow_out(wirewright: Wirewright, warm_engine: None, tmp_path: Path) -> None:
    target = tmp_path / "f.json"
    done = wirewright("ask", LOUD, "--out", target, "--json")
    assert done.code == 0
    *_, last = done.lines
    assert last["event"] == "complete"
    assert last["data"]["run"]["output"] == "Say it louder: hello"
    assert last["data"]["run_metrics"]["duration_seconds"] > 0
    assert json.loads(target.read_text(encoding="utf-8")) == last["data"]["flow"]
    assert wirewright("flow", "check", target, "--json").json == {"ok": True, "faults": []}
    assert wirewright("flow", "run", target, "--input", "bye").out == "Say it louder: bye\n"


@pytest.mark.engine
@pytest.mark.parametrize(("how", "ignored"), [(signal.SIGINT, False), (signal.SIGTERM, False), (signal.SIGTERM, True)])
def test_an_interrupted_turn_ends_with_cancelled(
    how: signal.Signals, ignored: bool, warm_engine: None, wirewright_command: Path, tmp_path: Path
) -> None:
    target = tmp_path / "f.json"
    # a shell starts what a script runs in the background with interrupts ignored
    shell = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"] if ignored else []
    process = subprocess.Popen(
        [*shell, wirewright_command, "ask", LOUD, "--out", target, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    process.send_signal(how)
    rest, errors = process.communicate(timeout=60)
    lines = [json.loads(line) for line in [first, *rest.splitlines()]]
    assert process.returncode == 130
    assert [line["event"] for line in lines].count("cancelled") == 1
    assert lines[-1]["event"] == "cancelled"
    assert "Traceback" not in errors
    assert not target.exists()


def test_every_event_is_a_line_and_the_last_is_complete(wirewright: Wirewright, runner: StandInRunner) -> None:
    done = wirewright("ask", LOUD, "--json")
    assert done.code == 0
    assert all("event" in line for line in done.lines)
    assert done.lines[0]["event"] == "progress"
    assert [line["event"] for line in done.lines].count("complete") == 1
    assert done.lines[-1]["data"]["run"]["output"] == "done"


def test_a_person_reads_the_answer_on_standard_output_and_progress_beside_it(
    wirewright: Wirewright, runner: StandInRunner
) -> None:
    done = wirewright("ask", LOUD)
    assert done.code == 0
    assert done.out == "I built 'Prompt template': Chat → Prompt → Answer.\nI ran it; it answered: done\n"
    assert "Building the flow..." in done.err
    assert "[ChatInput]" in done.err


def test_a_question_streams_its_answer(wirewright: Wirewright, runner: StandInRunner) -> None:
    done = wirewright("ask", "What does the Prompt Template component do?")
    assert done.code == 0
    assert done.out.startswith("Prompt Template (`Prompt Template`): ")
    assert done.out.endswith("\n")
    tokens = [line for line in wirewright("ask", "What is a Chat Input?", "--json").lines if line["event"] == "token"]
    assert tokens


def test_a_proposal_is_written_and_called_one(wirewright: Wirewright, runner: StandInRunner, tmp_path: Path) -> None:
    target = tmp_path / "echo.json"
    done = wirewright("ask", BUILD, "--out", target)
    assert done.code == 0
    assert "Proposed, not on the canvas yet" in done.err
    assert "proposed flow is in" in done.err
    assert wirewright("flow", "check", target).code == 0


def test_a_flow_is_the_canvas_whatever_its_form(
    wirewright: Wirewright, runner: StandInRunner, louder: Path, tmp_path: Path
) -> None:
    target = tmp_path / "out.json"
    change = "Change the prompt to 'Whisper: {text}'"
    assert wirewright("ask", change, "--flow", louder, "--out", target, "--yes").code == 0
    assert "Whisper: {text}" in wirewright("flow", "spec", target).out
    again = "Change the prompt to 'Shout: {text}'"
    done = wirewright("ask", again, "--flow", "-", "--out", target, "--json", "--yes", stdin=target.read_bytes())
    assert [line["action"] for line in done.lines if line["event"] == "flow_update"] == ["configure"]
    assert "Shout: {text}" in wirewright("flow", "spec", target).out


def test_a_turn_that_waits_for_an_approval_says_what_it_asks_and_exits_with_3(
    wirewright: Wirewright, runner: StandInRunner, louder: Path
) -> None:
    change = "Change the prompt to 'Whisper: {text}'"
    done = wirewright("ask", change, "--flow", louder)
    assert done.code == 3
    assert "- Say it louder: {text}\n+ Whisper: {text}" in done.err
    assert "Answer with: wirewright ask yes --session ask-" in done.err
    lines = wirewright("ask", change, "--flow", louder, "--json")
    assert lines.code == 3
    [approval] = lines.lines[-1]["data"]["approvals"]
    assert lines.lines[-1]["event"] == "complete"
    assert (approval["kind"], approval["new_value"]) == ("edit", "Whisper: {text}")
    assert [line["action"] for line in lines.lines if line["event"] == "flow_update"] == ["edit_field"]


def test_the_command_that_is_shown_answers_a_question(
    wirewright: Wirewright, runner: StandInRunner, louder: Path, tmp_path: Path
) -> None:
    target = tmp_path / "a file.json"
    change = "Change the prompt to 'Whisper: {text}'"
    done = wirewright("ask", change, "--flow", louder, "--out", target, "--model", "demo")
    assert "not kept" not in done.err
    [command] = [line.removeprefix("Answer with: ") for line in done.err.splitlines() if line.startswith("Answer with")]
    program, *arguments = shlex.split(command)
    assert (program, arguments[:3]) == ("wirewright", ["ask", "yes", "--session"])
    assert wirewright(*arguments).code == 0
    assert "Whisper: {text}" in wirewright("flow", "spec", target).out


def test_a_question_in_json_is_answered_in_the_session_that_it_names(
    wirewright: Wirewright, runner: StandInRunner, louder: Path
) -> None:
    asked = wirewright("ask", "Change the prompt to 'Whisper: {text}'", "--flow", louder, "--json")
    session = asked.lines[-1]["data"]["session_id"]
    done = wirewright("ask", "yes", "--session", session, "--json")
    assert "Whisper: {text}" in json.dumps(done.lines[-1]["data"]["flow"])


def test_a_turn_that_waits_for_nothing_is_not_kept(wirewright: Wirewright, runner: StandInRunner) -> None:
    assert wirewright("ask", "What is a Chat Input?").code == 0
    assert wirewright("chat", "--list", "--json").json == {"conversations": []}


def test_nothing_is_kept_when_conversations_are_to_stay_in_the_process(
    wirewright: Wirewright, runner: StandInRunner, louder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIREWRIGHT_MEMORY", "process")
    done = wirewright("ask", "Change the prompt to 'Whisper: {text}'", "--flow", louder)
    assert (done.code, "--yes" in done.err, "--session ask-" in done.err) == (3, True, False)
    assert wirewright("chat", "--list", "--json").json == {"conversations": []}


def test_notes_are_in_the_language_of_the_answer(wirewright: Wirewright, runner: StandInRunner, louder: Path) -> None:
    done = wirewright("ask", "Ändere den Prompt zu 'Flüstere: {text}'", "--flow", louder)
    assert done.code == 3
    assert "Der Assistent fragt, ob er Prompt Template-" in done.err
    assert "Antworte mit: wirewright ask yes --session ask-" in done.err
    assert "Answer with" not in done.err
    built = wirewright("ask", "Baue einen Übersetzer")
    assert "Der Flow wird nicht aufbewahrt." in built.err


def test_a_question_is_answered_in_words_in_the_same_session(
    wirewright: Wirewright, runner: StandInRunner, louder: Path, tmp_path: Path
) -> None:
    target = tmp_path / "out.json"
    first = wirewright("ask", "Change the prompt to 'Whisper: {text}'", "--flow", louder, "--session", "s1")
    assert first.code == 3
    assert "--session s1" in first.err
    other = wirewright("ask", "sí, adelante", "--session", "s2")
    assert other.code != 3, "nothing waits in another conversation"
    done = wirewright("ask", "sí, adelante", "--session", "s1", "--out", target)
    assert done.code == 0
    assert "Whisper: {text}" in wirewright("flow", "spec", target).out


def test_a_conversation_keeps_its_canvas_when_no_flow_is_named(
    wirewright: Wirewright, runner: StandInRunner, louder: Path, tmp_path: Path
) -> None:
    target = tmp_path / "out.json"
    assert wirewright("ask", "Build an echo flow and run it with hi", "--session", "s1").code == 0
    assert wirewright("ask", "What is a Chat Input?", "--session", "s1", "--out", target).code == 0
    echo = wirewright("flow", "spec", target).out
    assert "ChatInput" in echo
    wirewright("ask", "What is a Chat Input?", "--session", "s2", "--out", tmp_path / "none.json")
    assert not (tmp_path / "none.json").exists(), "another conversation has another canvas"
    undone = wirewright("ask", "undo", "--session", "s1", "--out", target)
    assert "took back" in undone.out
    assert "error" not in undone.err, "an empty canvas is what was asked for"
    assert "ChatInput" not in wirewright("flow", "spec", target).out
    wirewright("ask", "What is a Chat Input?", "--session", "s1", "--flow", louder, "--out", target)
    assert "Say it louder" in wirewright("flow", "spec", target).out, "a flow that is named comes first"


def test_each_change_is_shown_to_a_person(wirewright: Wirewright, runner: StandInRunner, louder: Path) -> None:
    done = wirewright("ask", "Remove the prompt template and connect chat input to chat output", "--flow", louder)
    assert done.code == 0
    assert "- Prompt Template-" in done.err
    assert ".message -> ChatOutput-" in done.err


def test_no_file_is_written_when_there_is_no_flow(
    wirewright: Wirewright, runner: StandInRunner, tmp_path: Path
) -> None:
    target = tmp_path / "none.json"
    done = wirewright("ask", "What is a Chat Input?", "--out", target)
    assert done.code == 0
    assert not target.exists()
    assert "There is no flow to write" in done.err


def test_a_failed_run_is_noted_when_the_answer_omits_it(wirewright: Wirewright, runner: StandInRunner) -> None:
    runner.results = [ran(), ran(error=RunError(code="timeout", message="It took too long.", fix="Give it time."))]
    done = wirewright("ask", LOUD)
    assert done.code == 1
    assert "It took too long." in done.out + done.err


@pytest.mark.parametrize(
    "text",
    [
        "What is the weather in Oslo?",
        "What is 12*7?",
        "Explain the flow",
        "Go on",
        "yes",
        "Build me a quantum spaceship simulator",
        "Run it",
    ],
)
def test_what_was_asked_and_not_done_fails(wirewright: Wirewright, runner: StandInRunner, text: str) -> None:
    assert wirewright("ask", text).code == 1
    assert wirewright("ask", text, "--json").code == 1


def test_a_flow_that_is_kept_nowhere_says_so(wirewright: Wirewright, runner: StandInRunner, tmp_path: Path) -> None:
    runner.results = [ran() for _ in range(3)]
    assert "--out FILE" in wirewright("ask", BUILD).err
    assert "--out FILE" not in wirewright("ask", BUILD, "--out", tmp_path / "f.json").err
    assert "--out FILE" not in wirewright("ask", BUILD, "--session", "s").err


def test_a_turn_that_fails_ends_with_error_and_writes_nothing(
    wirewright: Wirewright, runner: StandInRunner, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("/secret/path")

    monkeypatch.setattr(Assistant, "workbench", broken)
    target = tmp_path / "f.json"
    done = wirewright("ask", LOUD, "--out", target, "--json")
    assert done.code == 1
    assert done.lines[-1]["event"] == "error"
    assert "secret" not in done.out + done.err
    assert not target.exists()
    shown = wirewright("ask", LOUD)
    assert (shown.code, shown.out) == (1, "")
    assert shown.err.splitlines()[-1].startswith("Error: ")


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "where"),
    [
        (["hi", "--model", "nope:x"], b"", "unknown_provider", "--model"),
        (["hi", "--model", "anthropic"], b"", "provider_not_configured", "--model"),
        (["  "], b"", "usage", "TEXT"),
        (["-"], b"", "usage", "TEXT"),
        (["-", "--flow", "-"], b"", "usage", "--flow"),
        (["hi", "--flow", "-"], b"{}", "invalid_flow", "standard input: $"),
        (["hi", "--flow", "-"], b"nodes:\n  a: Nope\n", "invalid_flow", "standard input: line 2"),
        (["hi", "--flow", "missing.json"], b"", "unreadable", "missing.json"),
        (["hi", "--out", "missing/f.json"], b"", "unwritable", "--out"),
    ],
)
def test_bad_usage_is_found_before_the_turn(
    arguments: list[str], stdin: bytes, code: str, where: str, wirewright: Wirewright, runner: StandInRunner
) -> None:
    done = wirewright("ask", *arguments, "--json", stdin=stdin)
    assert done.code == 2
    assert (done.json["error"]["code"], done.json["error"]["where"]) == (code, where)
    assert runner.asked == []


def test_a_setting_that_cannot_be_used_names_its_variable(
    wirewright: Wirewright, monkeypatch: pytest.MonkeyPatch, runner: StandInRunner
) -> None:
    monkeypatch.setenv("WIREWRIGHT_CONCURRENCY", "lots")
    done = wirewright("ask", "hi", "--json")
    assert done.code == 2
    assert done.json["error"]["where"] == "WIREWRIGHT_CONCURRENCY"
    monkeypatch.delenv("WIREWRIGHT_CONCURRENCY")
    monkeypatch.setenv("WIREWRIGHT_MODEL", "nope:x")
    assert wirewright("ask", "hi", "--json").json["error"]["where"] == "WIREWRIGHT_MODEL"


def test_the_text_may_come_from_standard_input(wirewright: Wirewright, runner: StandInRunner) -> None:
    done = wirewright("ask", "-", "--yes", stdin=BUILD.encode())
    assert done.code == 0
    assert done.out.startswith("I built 'Echo'")


def test_the_canvas_stays_when_a_question_is_asked_about_it(
    wirewright: Wirewright, runner: StandInRunner, louder_json: Path, tmp_path: Path
) -> None:
    target = tmp_path / "same.json"
    done = wirewright("ask", "What is a Chat Input?", "--flow", louder_json, "--out", target)
    assert done.code == 0
    assert json.loads(target.read_bytes()) == json.loads(louder_json.read_bytes())


def test_a_file_enters_the_users_files(wirewright: Wirewright, runner: StandInRunner, tmp_path: Path) -> None:
    (tmp_path / "hours.txt").write_text("Open from nine")
    missing = wirewright("ask", "Hello", "--file", tmp_path / "nope.txt", "--json")
    assert (missing.code, missing.json["error"]["where"]) == (2, "--file")
    assert wirewright("ask", BUILD, "--file", tmp_path / "hours.txt", "--json").code == 0
    assert wirewright("files", "list", "--json").json == {"files": [{"path": "hours.txt", "size": 14}]}


def closing(done: Done) -> list[str]:
    """The last lines that a person reads, after the last empty one."""
    return done.err.rpartition("\n\n")[2].splitlines()


def test_the_record_closes_what_a_person_reads(wirewright: Wirewright, runner: StandInRunner, louder: Path) -> None:
    runner.results = [ran("hello"), ran("hi")]
    built = wirewright("ask", f"{BUILD} and run it with hi")
    assert closing(built) == [
        "On the canvas now: the flow “Echo”.",
        "Run (“hi”): it gave “hi”",
        "Nothing else was changed, run or written.",
    ]
    edited = wirewright("ask", "Change the prompt to 'Whisper: {text}'", "--flow", louder, "--yes")
    assert closing(edited) == ["Changed: Prompt Template.template.", "Nothing else was changed, run or written."]
    assert f"{louder} is as it was" in edited.err
    german = wirewright("ask", "Ändere den Prompt zu 'Flüstern: {text}'", "--flow", louder, "--yes")
    assert closing(german)[-1].startswith("Sonst wurde nichts")


def test_the_record_says_what_was_not_done_and_repeats_nothing(
    wirewright: Wirewright, runner: StandInRunner, louder: Path
) -> None:
    nothing = wirewright("ask", "Run it")
    assert closing(nothing) == ["Nothing was changed. Nothing was run."]
    waiting = wirewright("ask", "Change the prompt to 'Whisper: {text}'", "--flow", louder)
    assert waiting.code == 3
    assert closing(waiting) == ["Nothing was changed. Nothing was run."]
    assert (waiting.out + waiting.err).count("waiting for your answer") == 1


def test_a_failed_run_closes_with_its_reason(wirewright: Wirewright, runner: StandInRunner) -> None:
    runner.results = [ran(), ran(error=RunError(code="timeout", message="It took too long.", fix="Give it time."))]
    done = wirewright("ask", LOUD)
    assert done.code == 1
    assert "--out FILE" in done.err
    assert "It took too long." in "\n".join(closing(done))


def test_a_question_has_no_record(wirewright: Wirewright, runner: StandInRunner, louder: Path) -> None:
    done = wirewright("ask", "What is a Chat Input?", "--flow", louder)
    assert (done.code, done.err) == (0, "Reading your request...\n")


def test_the_command_that_sets_a_missing_key_is_said_when_a_run_fails_for_it(
    wirewright: Wirewright, runner: StandInRunner, louder: Path
) -> None:
    fix = "Set OPENAI_API_KEY (export OPENAI_API_KEY=..., or the same without export in a file .env)."
    runner.results = [ran(error=RunError(code="missing_key", message="No key is set.", fix=fix)) for _ in range(2)]
    assert fix in wirewright("ask", "run it with hi", "--flow", louder).out
    assert fix in wirewright("ask", "führe ihn aus", "--flow", louder).out
