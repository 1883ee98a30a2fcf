"""What every command reads and writes, and how it must answer when that is bad.

In an argument `{}` stands for the bad file; the other names are of good files in the working folder.
"""

from dataclasses import dataclass, field

MISSING, FOLDER, BINARY, NUL, HUGE, DEEP, FORBIDDEN = "missing", "folder", "binary", "nul", "huge", "deep", "forbidden"

Codes = dict[str, str]


def kind(code: str = "unreadable", **other: str) -> Codes:
    """The error code of each case: one for all, and others for some."""
    return {**dict.fromkeys((MISSING, FOLDER, BINARY, NUL, HUGE, DEEP, FORBIDDEN), code), **other}


FLOW = kind(huge="too_large", deep="invalid_json")
SPEC = kind(huge="too_large", deep="invalid_flow")
ANY = dict.fromkeys((MISSING, FOLDER, FORBIDDEN), "unreadable") | {HUGE: "file_refused"}
LINES = kind("bad_journal", missing="unreadable", folder="unreadable", forbidden="unreadable")
GATE = kind("bad_gate")
ARCHIVE = kind("bad_archive", missing="unreadable", folder="unreadable", forbidden="unreadable")
BATCH = kind(
    "bad_input", missing="unreadable", folder="unreadable", binary="unreadable", nul="unreadable", forbidden=""
)
"""Inputs of a batch. A user who may read nothing cannot import what reading them needs."""
SCENARIOS = kind("bad_scenario", missing="no_folder")
"""A folder of scenarios, or in it a file that is not good."""


@dataclass(frozen=True)
class Reads:
    """An argument that names a file which is read.

    Attributes:
        command: the command.
        arguments: what follows `wirewright`.
        codes: the error code of each case.
        code: the exit code.
        ending: of the bad file's name.
        inside: the file is read from the folder that the argument names.
        stdin: it is typed instead.
    """

    command: str
    arguments: str
    codes: Codes = field(default_factory=lambda: FLOW)
    code: int = 2
    ending: str = ".json"
    inside: bool = False
    stdin: bool = False


EVAL = "eval --scenarios scenarios"
IMPORT = f"{EVAL} import chat2workflow --out imported"
ASK = "ask hello"
LOCAL = "http://127.0.0.1:1"
ON = f"--server {LOCAL}"

READS = [
    *(Reads(f"flow {name}", f"flow {name} {{}}") for name in ("build", "check", "run", "spec")),
    *(Reads(f"flow {name}", f"flow {name} -", stdin=True) for name in ("build", "check", "run", "spec")),
    # A user who may read nothing cannot import what this needs.
    Reads(
        "flow run",
        "flow run echo.flow --batch {} --out results.jsonl",
        kind(
            "bad_input", **dict.fromkeys((MISSING, FOLDER, BINARY, NUL), "unreadable"), huge="too_large", forbidden=""
        ),
        ending=".jsonl",
    ),
    Reads("flow test", "flow test {} --tests echo.tests.yaml"),
    Reads("flow test", "flow test - --tests echo.tests.yaml", stdin=True),
    Reads("flow test", "flow test echo.flow --tests {}", kind("invalid_tests", missing="unreadable"), ending=".yaml"),
    Reads("flow diff", "flow diff {} echo.flow"),
    Reads("flow diff", "flow diff echo.flow {}"),
    Reads("flow merge", "flow merge {} echo.flow --out merged.json"),
    Reads("flow merge", "flow merge echo.flow {} --out merged.json"),
    Reads("flow sessions list", "flow sessions list {}"),
    Reads("flow sessions show", "flow sessions show {} monday"),
    Reads("flow sessions remove", "flow sessions remove {} --all"),
    Reads("login", "login http://127.0.0.1:1", kind(huge="too_large", deep="too_large"), stdin=True),
    Reads("flow push", "flow push {}"),
    Reads("flow push", "flow push -", stdin=True),
    Reads("langflow connect", f"langflow connect {LOCAL}", kind(huge="too_large", deep="too_large"), stdin=True),
    # A user who may read nothing cannot import what these need, which reads as the other commands do.
    Reads("flow import", f"flow import {{}} {ON}", dict.fromkeys((MISSING, FOLDER), "unreadable")),
    Reads("flow import", f"flow import {{}} --replace Echo {ON}", {**Reads("", "").codes, FORBIDDEN: ""}),
    Reads("ask", f"{ASK} --flow {{}}"),
    Reads("ask", f"{ASK} --file {{}}", ANY, ending=".bin"),
    Reads("ask", "ask -", kind(huge="too_large", deep=""), stdin=True),
    Reads("chat", "chat --flow {}"),
    Reads("files add", "files add {}", ANY, ending=".bin"),
    Reads(
        "models set-key",
        f"models set-key openai {ON}",
        kind(huge="too_large", deep="too_large"),
        stdin=True,
    ),
    Reads("variables set", "variables set A_KEY", kind(huge="too_large", deep="too_large"), stdin=True),
    Reads("restore", "restore {} --overwrite", ARCHIVE, ending=".zip"),
    Reads("users import", "users import {}", ARCHIVE, ending=".zip"),
    Reads("components scan", "components scan {}", kind(huge="too_large", deep=""), ending=".py"),
    Reads("components trust", "components trust {}", kind(huge="too_large", deep=""), ending=".py"),
    Reads("eval list", "eval --scenarios {} list", SCENARIOS, ending=".yaml", inside=True),
    Reads("eval list", "eval --scenarios {} list --check", SCENARIOS, ending=".yaml", inside=True),
    Reads("eval show", "eval --scenarios {} show small-echo", SCENARIOS, ending=".yaml", inside=True),
    Reads("eval show", f"{EVAL} show small-echo --in {{}}", LINES),
    Reads("eval run", "eval --scenarios {} run", SCENARIOS, ending=".yaml", inside=True),
    Reads("eval run", f"{EVAL} run --gate {{}}", GATE, ending=".yaml"),
    Reads("eval score", f"{EVAL} score {{}}", LINES),
    Reads("eval score", f"{EVAL} score journal.jsonl --gate {{}}", GATE, ending=".yaml"),
    Reads("eval check", f"{EVAL} check small-echo {{}}"),
    Reads("eval check", f"{EVAL} check small-echo -", stdin=True),
    Reads("eval compare", f"{EVAL} compare {{}} journal.jsonl", LINES),
    Reads("eval compare", f"{EVAL} compare journal.jsonl {{}}", LINES),
    Reads("eval report", f"{EVAL} report {{}}", LINES),
    Reads("eval report", f"{EVAL} report journal.jsonl --baseline {{}}", LINES),
    Reads(
        "eval report",
        f"{EVAL} report journal.jsonl --fixes {{}}",
        kind("bad_fixes", missing="unreadable", folder="unreadable", forbidden="unreadable"),
    ),
    Reads("eval report", f"{EVAL} report journal.jsonl --gate {{}}", GATE, ending=".yaml"),
    Reads("eval mutate", f"{EVAL} mutate {{}}", LINES),
    Reads("eval mutate", f"{EVAL} mutate journal.jsonl --accept {{}}", kind("bad_list"), ending=".yaml"),
    Reads("eval judge", f"{EVAL} judge {{}} --model ollama:judge", LINES),
    Reads(
        "eval judge", f"{EVAL} judge journal.jsonl --model ollama:judge --rubric {{}}", kind("bad_rubric"), ending=".md"
    ),
    Reads("eval export", f"{EVAL} export {{}}", LINES),
    Reads("eval export", f"{EVAL} export journal.jsonl --to junit --out new.xml --baseline {{}}", LINES),
    Reads("eval export", f"{EVAL} export journal.jsonl --to junit --out new.xml --gate {{}}", GATE, ending=".yaml"),
    Reads(
        "eval pack create",
        "eval pack create {} --name mine --pack-version 1 --out made",
        SCENARIOS,
        ending=".yaml",
        inside=True,
    ),
    Reads("eval fix", f"{EVAL} fix {{}}", LINES),
    Reads(
        "eval judge",
        f"{EVAL} judge journal.jsonl --model ollama:judge --calibration {{}}",
        kind("bad_calibration"),
    ),
    Reads(
        "eval calibrate",
        "eval calibrate ollama:judge --answers {}",
        kind("bad_answers"),
        ending=".yaml",
        inside=True,
    ),
    Reads("eval import chat2workflow", f"{IMPORT} --queries {{}} --checks checks.json", kind("bad_import")),
    Reads("eval import chat2workflow", f"{IMPORT} --queries query.json --checks {{}}", kind("bad_import")),
    Reads(
        "eval import chat2workflow",
        f"{IMPORT} --queries query.json --checks checks.json --resolve {{}}",
        kind("bad_import"),
    ),
    Reads(
        "eval conversations",
        "eval conversations --in {}",
        kind("invalid_conversation", missing="no_folder"),
        ending=".yaml",
        inside=True,
    ),
]
"""One row for each argument that names a file or a text."""

ANSWERED_BY_LINE = {
    "components search": ("components search -", "components search"),
    "components scan": ("components scan -", "components scan"),
}
"""Commands that answer each typed line with one."""


@dataclass(frozen=True)
class Writes:
    """An option that names a file which is written.

    Attributes:
        command: the command.
        arguments: what follows `wirewright`; `{}` stands for the file.
        codes: the error code when it cannot be written, and when it must not exist.
        where: the option.
    """

    command: str
    arguments: str
    codes: tuple[str, ...] = ("unwritable",)
    where: str = "--out"


SERVER_WRITES = [
    Writes("flow export", f"flow export Echo --out {{}} {ON}"),
    Writes("flow pull", "flow pull Echo --out {}"),
    Writes("eval results get", f"eval results get report.html --out {{}} {ON}"),
]
"""What a server is asked for before it is written: `tests/cli/remote` and `tests/cli/langflow` try it."""

WRITES = [
    Writes("flow build", "flow build echo.flow --out {}"),
    Writes("flow merge", "flow merge echo.flow louder.flow --out {}"),
    Writes("backup", "backup {}", where="FILE"),
    Writes("users export", "users export local --out {}"),
    Writes("files get", "files get kept.txt --out {}"),
    Writes("doctor", "doctor --bundle {}", ("not_written", "file_exists"), "--bundle"),
    Writes("eval score", f"{EVAL} score journal.jsonl --out {{}}"),
    Writes("eval score", f"{EVAL} score journal.jsonl --junit {{}}", where="--junit"),
    Writes("eval report", f"{EVAL} report journal.jsonl --out {{}}"),
    Writes("eval export", f"{EVAL} export journal.jsonl --to junit --out {{}}"),
]
"""One row for each option that names a file and that needs no flow engine; `ENGINE_WRITES` has the others."""

ENGINE_WRITES = [
    Writes("ask", "ask 'Build an echo flow' --out {}"),
    Writes("flow test", "flow test echo.flow --junit {}", where="--junit"),
    Writes("flow test", "flow test echo.flow --save hi --tests {}", where="--tests"),
    Writes("chat", "chat --out {}"),
    Writes("eval run", f"{EVAL} run --player null --out {{}}"),
    Writes("eval run", f"{EVAL} run --player null --scores {{}}", where="--scores"),
    Writes("eval run", f"{EVAL} run --player null --junit {{}}", where="--junit"),
    Writes("eval fix", f"{EVAL} fix journal.jsonl --out {{}}"),
    Writes("eval judge", f"{EVAL} judge journal.jsonl --model ollama:judge --out {{}}"),
    Writes("eval judge", f"{EVAL} judge journal.jsonl --model ollama:judge --scores {{}}", where="--scores"),
    Writes("eval calibrate", "eval calibrate ollama:judge --answers answers --out {}"),
]
"""Those that start an engine or ask a model before they write: whether they can is checked before."""


@dataclass(frozen=True)
class Works:
    """An ordinary call, which prints something.

    Attributes:
        arguments: what follows `wirewright`.
        at: in the path of a file that is opened while it works; empty for a command that opens none.
        code: its exit code.
        stdin: what is typed.
    """

    arguments: str
    at: str
    code: int = 0
    stdin: str = ""


WORKS = {
    "completion": Works("completion bash", ""),
    "token": Works("token --json", "token"),
    "login": Works("login --list --json", ""),
    "logout": Works("logout http://127.0.0.1:1 --json", "", code=1),
    "flow list": Works(f"flow list --json {ON}", "", code=1),
    "flow show": Works(f"flow show Echo --json {ON}", "", code=1),
    "flow export": Works(f"flow export Echo --json {ON}", "", code=1),
    "flow import": Works(f"flow import echo.flow --json {ON}", "", code=1),
    "flow remove": Works(f"flow remove Echo --json {ON}", "", code=1),
    "flow revisions": Works(f"flow revisions Echo --json {ON}", "", code=1),
    "flow start": Works(f"flow start echo --json {ON}", "", code=1),
    "flow duplicate": Works(f"flow duplicate Echo --json {ON}", "", code=1),
    "flow update-components": Works(f"flow update-components Echo --json {ON}", "", code=1),
    "flow restore": Works(f"flow restore Echo 1 --json {ON}", "", code=1),
    "flow pull": Works("flow pull Echo --json", "", code=1),
    "flow push": Works("flow push echo.flow --json", "echo.flow", code=1),
    "langflow connect": Works("langflow connect http://127.0.0.1:1 --json", "", code=1, stdin="sk-a-key-of-it"),
    "langflow list": Works("langflow list --json", "wirewright.db"),
    "langflow disconnect": Works("langflow disconnect none --json", "wirewright.db", code=1),
    "langflow flows": Works("langflow flows --json", "", code=1),
    "langflow folders": Works("langflow folders --json", "", code=1),
    "doctor": Works("doctor", "catalogue.json", code=1),
    "migrate": Works("migrate --json", "wirewright.db"),
    "backup": Works("backup kept.zip --json", ".wirewright-"),
    "restore": Works("restore nothing.zip --json", "", code=2),
    "flow build": Works("flow build echo.flow", "echo.flow"),
    "flow check": Works("flow check echo.flow", "catalogue.json"),
    "flow spec": Works("flow spec echo.flow", "echo.flow"),
    "flow diff": Works("flow diff echo.flow louder.flow", "louder.flow"),
    "flow merge": Works("flow merge echo.flow louder.flow --out merged.json", ".wirewright-"),
    "flow templates": Works("flow templates", "templates"),
    "flow sessions list": Works("flow sessions list echo.flow --json", "wirewright.db"),
    "flow sessions show": Works("flow sessions show echo.flow monday --json", "wirewright.db", code=1),
    "flow sessions remove": Works("flow sessions remove echo.flow --all --json", "wirewright.db"),
    "components search": Works("components search chat", "catalogue.json"),
    "components describe": Works("components describe ChatInput", "catalogue.json"),
    "components scan": Works("components scan harmless.py --json", "harmless.py"),
    "components trust": Works("components trust harmless.py --json", "harmless.py"),
    "files add": Works("files add echo.flow --json", "echo.flow"),
    "files list": Works("files list", "users"),
    "files get": Works("files get kept.txt", "kept.txt"),
    "files remove": Works("files remove kept.txt --json", "users"),
    "models list": Works("models list", ""),
    "models set-key": Works(f"models set-key openai --json {ON}", "", code=1, stdin="secret"),
    "models remove-key": Works(f"models remove-key openai --json {ON}", "", code=1),
    "bundles list": Works(f"bundles list --json {ON}", "", code=1),
    "bundles install": Works(f"bundles install lfx-slack --json {ON}", "", code=1),
    "approvals list": Works("approvals list --json", "wirewright.db"),
    "approvals withdraw": Works("approvals withdraw none --json", "wirewright.db", code=1),
    "conversations list": Works("conversations list --json", "wirewright.db"),
    "conversations show": Works("conversations show none --json", "wirewright.db", code=1),
    "conversations rename": Works("conversations rename none Echo --json", "wirewright.db", code=1),
    "conversations remove": Works("conversations remove none --json", "wirewright.db", code=1),
    "conversations rewind": Works("conversations rewind none 1 --json", "wirewright.db", code=1),
    "models test": Works("models test --json", "", code=1),
    "runner status": Works("runner status", "catalogue.json"),
    "runs list": Works("runs list --json", "wirewright.db"),
    "runs show": Works("runs show none --json", "wirewright.db", code=1),
    "runs cancel": Works(f"runs cancel none --json {ON}", "", code=1),
    "runs remove": Works("runs remove --all --json", "wirewright.db"),
    "worker": Works("worker --json", "", code=1),
    "flow schedule add": Works(f"flow schedule add Echo --cron '0 7 * * *' --json {ON}", "", code=1),
    "flow schedule list": Works(f"flow schedule list --json {ON}", "", code=1),
    "flow schedule switch": Works(f"flow schedule switch none off --json {ON}", "", code=1),
    "flow schedule edit": Works(f"flow schedule edit none --zone UTC --json {ON}", "", code=1),
    "flow schedule remove": Works(f"flow schedule remove none --json {ON}", "", code=1),
    "jobs list": Works("jobs list --json", "wirewright.db"),
    "jobs show": Works("jobs show none --json", "wirewright.db", code=1),
    "jobs cancel": Works("jobs cancel none --json", "wirewright.db", code=1),
    "jobs retry": Works("jobs retry none --json", "wirewright.db", code=1),
    "usage": Works("usage --json", "wirewright.db"),
    "users add": Works("users add ada --json", "wirewright.db"),
    "users list": Works("users list --json", "wirewright.db"),
    "users revoke": Works("users revoke ada --json", "wirewright.db", code=1),
    "users rotate": Works("users rotate ada --json", "wirewright.db", code=1),
    "users export": Works("users export local --out local.zip --json", "wirewright.db"),
    "users import": Works("users import nothing.zip --json", "", code=2),
    "users delete": Works("users delete local --yes --json", "users"),
    "variables list": Works("variables list --json", "wirewright.db"),
    "variables set": Works("variables set A_KEY --json", "wirewright.db", stdin="secret"),
    "variables remove": Works("variables remove A_KEY --json", "wirewright.db", code=1),
    "eval list": Works(f"{EVAL} list", "small-echo.yaml"),
    "eval show": Works(f"{EVAL} show small-echo", "small-echo.yaml"),
    "eval score": Works(f"{EVAL} score journal.jsonl", "journal.jsonl"),
    "eval compare": Works(f"{EVAL} compare journal.jsonl journal.jsonl", "journal.jsonl"),
    "eval report": Works(f"{EVAL} report journal.jsonl", "journal.jsonl"),
    "eval results list": Works(f"eval results list --json {ON}", "", code=1),
    "eval results show": Works(f"eval results show demo.jsonl --json {ON}", "", code=1),
    "eval results get": Works(f"eval results get report.html --out got.html --json {ON}", "", code=1),
    "eval export": Works(f"{EVAL} export journal.jsonl --scenario none --json", "journal.jsonl", code=2),
    "eval pack create": Works(
        "eval pack create scenarios --name mine --pack-version 1 --out made.zip", "small-echo.yaml"
    ),
    "eval pack check": Works("eval pack check nothing.zip --json", "", code=2),
    "eval judge": Works(f"{EVAL} judge journal.jsonl --model ollama:judge", "journal.jsonl"),
    "eval calibrate": Works("eval calibrate ollama:judge --answers answers", "en.yaml"),
    "eval import chat2workflow": Works(f"{IMPORT} --queries query.json --checks checks.json", "checks.json"),
}
"""An ordinary call of each command that needs no flow engine."""

ENGINE = "env/bin/python"
"""In the path of the program that the engine is started with."""

ENGINE_WORKS = {
    "ask": Works("ask 'Build an echo flow and run it with hi'", ENGINE),
    "chat": Works("chat", ENGINE, stdin="Build an echo flow\ny\n"),
    "flow run": Works("flow run echo.flow --input hi", ENGINE),
    "flow test": Works("flow test echo.flow", ENGINE),
    "serve": Works("serve --port 0 --json", ENGINE),
    "mcp": Works("mcp", ENGINE, stdin='{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'),
    "runner install": Works("runner install --json", "runner"),
    "eval run": Works(f"{EVAL} run --player oracle", ENGINE),
    "eval check": Works(f"{EVAL} check small-echo echo.flow", ENGINE),
    "eval mutate": Works(f"{EVAL} mutate journal.jsonl", ENGINE, code=1),
    "eval fix": Works(f"{EVAL} fix journal.jsonl", ENGINE),
    "eval conversations": Works("eval conversations build-run-then-undo", ENGINE),
}
"""An ordinary call of each command that starts the engine."""

NO_FILES = {"serve", "mcp", "runner install"}
"""Commands of the engine that read and write no file which their arguments name."""
