"""What each command does on a server: the routes that it calls, or why it works on this machine alone.

`test_parity.py` compares it with the tree of commands and with the table of routes, and plays the lines.
"""

from dataclasses import dataclass

FLOW = "/api/v1/flows/{flow_id}"
TURN = "/api/v1/agentic/turns/{turn_id}"
CONVERSATION = "/api/v1/conversations/{session:path}"


@dataclass(frozen=True)
class OnServer:
    """A command that works on a server, too.

    Attributes:
        line: an ordinary call of it, without `--server`.
        routes: what it asks the server for then, methods and paths of the table of routes.
        alone: whether it works on a server alone.
        code: its exit code.
        stdin: what is typed.
    """

    line: str
    routes: tuple[str, ...]
    alone: bool = False
    code: int = 0
    stdin: str = ""


@dataclass(frozen=True)
class Here:
    """A command that works on this machine alone.

    Attributes:
        reason: why.
    """

    reason: str


@dataclass(frozen=True)
class Carries:
    """A command that speaks another protocol, and carries it to a server with `--server`.

    Attributes:
        reason: what it carries, and which test shows it.
    """

    reason: str


FIND = f"GET {FLOW}"
JOB = ("GET /api/v1/jobs", "GET /api/v1/batches", "GET /api/v1/batches/{batch_id}", "GET /api/v1/jobs/{job_id}")
EVALUATED = Here(
    "an evaluation plays on the machine that has its scenarios and journals; `eval results` reads a server's"
)
FILES_HERE = Here("it reads files alone; `flow export FLOW` prints what it reads of a stored flow")
OPERATOR = Here("it is the operator's work on the machine of the data, also while no server runs")

LANGFLOW = Here(
    "it works with a Langflow server by this machine's connections; a server's links have routes of their own"
)

PARITY: dict[str, OnServer | Here | Carries] = {
    "serve": Here("it is the server"),
    "ask": OnServer("ask 'What is a flow?'", ("POST /api/v1/agentic/assist/stream",)),
    "chat": OnServer(
        "chat --flow Echo",
        (FIND, "GET /api/v1/flows", "POST /api/v1/agentic/assist/stream", f"GET {CONVERSATION}/state"),
        stdin="What is a flow?\n",
    ),
    "mcp": Carries("what an MCP client says, to `/mcp`: tests/cli/mcp/test_command.py"),
    **{f"langflow {name}": LANGFLOW for name in ("connect", "list", "disconnect", "flows", "folders")},
    **{f"flow {name}": LANGFLOW for name in ("pull", "push")},
    "completion": Here("it completes commands for a shell"),
    "token": Here("the token of the installation is a file that only its owner reads"),
    "login": Here("it keeps the token of a server on this machine; it tries it at the server that it names"),
    "logout": Here("it forgets the token of a server on this machine"),
    "usage": OnServer("usage", ("GET /api/v1/usage",)),
    "doctor": OnServer("doctor", ("GET /healthz", "GET /readyz", "GET /api/v1/me", "GET /api/v1/models")),
    "migrate": OPERATOR,
    "backup": OPERATOR,
    "restore": OPERATOR,
    "flow build": FILES_HERE,
    "flow check": FILES_HERE,
    "flow spec": FILES_HERE,
    "flow test": Here("its tests lie beside the flow's file, and answer in place of models inside the engine"),
    "flow run": OnServer("flow run Echo --input hi", (FIND, "GET /api/v1/flows", f"POST {FLOW}/run")),
    "flow diff": OnServer("flow diff Echo Echo@1", (FIND, "GET /api/v1/flows", f"GET {FLOW}/revisions/{{version}}")),
    "flow merge": OnServer("flow merge Echo Echo --out merged.json", (FIND, "GET /api/v1/flows")),
    "flow templates": OnServer("flow templates router", ("GET /api/v1/templates/{name}",)),
    "flow list": OnServer("flow list", ("GET /api/v1/flows",), alone=True),
    "flow show": OnServer("flow show Echo", (FIND, "GET /api/v1/flows"), alone=True),
    "flow export": OnServer("flow export Echo", (FIND, "GET /api/v1/flows", f"GET {FLOW}/export"), alone=True),
    "flow import": OnServer("flow import echo.json", ("POST /api/v1/flows/import",), alone=True),
    "flow remove": OnServer("flow remove Echo", (FIND, "GET /api/v1/flows", f"DELETE {FLOW}"), alone=True),
    "flow revisions": OnServer("flow revisions Echo", (FIND, "GET /api/v1/flows", f"GET {FLOW}/revisions"), alone=True),
    "flow restore": OnServer(
        "flow restore Echo 1",
        (FIND, "GET /api/v1/flows", f"POST {FLOW}/revisions/{{version}}/restore"),
        alone=True,
    ),
    "flow start": OnServer("flow start echo", ("POST /api/v1/templates/{name}/flows",), alone=True),
    "flow duplicate": OnServer(
        "flow duplicate Echo", (FIND, "GET /api/v1/flows", f"POST {FLOW}/duplicate"), alone=True
    ),
    "flow update-components": OnServer(
        "flow update-components Echo",
        (FIND, "GET /api/v1/flows", f"POST {FLOW}/update-components"),
        alone=True,
    ),
    "flow sessions list": OnServer("flow sessions list Echo", (FIND, "GET /api/v1/flows", f"GET {FLOW}/sessions")),
    "flow sessions show": OnServer(
        "flow sessions show Echo monday",
        (FIND, "GET /api/v1/flows", f"GET {FLOW}/sessions/{{session:path}}"),
        code=1,
    ),
    "flow sessions remove": OnServer(
        "flow sessions remove Echo --all",
        (FIND, "GET /api/v1/flows", f"GET {FLOW}/sessions", f"DELETE {FLOW}/sessions"),
    ),
    "components search": OnServer("components search chat", ("GET /api/v1/components",)),
    "components describe": OnServer("components describe ChatInput", ("GET /api/v1/components/{type:path}",)),
    "components scan": Here("it reads source files, and exempts nothing that an installation trusts"),
    "components trust": Here("which code an installation trusts is decided on its machine"),
    "files add": OnServer("files add hours.txt", ("POST /api/v1/files",)),
    "files list": OnServer("files list", ("GET /api/v1/files",)),
    "files get": OnServer("files get kept.txt", ("GET /api/v1/files/{path:path}",)),
    "files remove": OnServer("files remove kept.txt", ("GET /api/v1/files", "DELETE /api/v1/files/{path:path}")),
    "models list": OnServer("models list", ("GET /api/v1/models",)),
    "models test": OnServer("models test demo", ("POST /api/v1/models/test",), code=1),
    "models set-key": OnServer(
        "models set-key openai", ("PUT /api/v1/providers/{name}",), alone=True, stdin="sk-a-key-of-this-test-1234"
    ),
    "models remove-key": OnServer(
        "models remove-key openai", ("DELETE /api/v1/providers/{name}",), alone=True, code=1
    ),
    "bundles list": OnServer("bundles list slack", ("GET /api/v1/bundles",), alone=True),
    "bundles install": OnServer(
        "bundles install lfx-nothing", ("POST /api/v1/bundles/{name}/install",), alone=True, code=1
    ),
    "approvals list": OnServer("approvals list", ("GET /api/v1/agentic/approvals",)),
    "approvals withdraw": OnServer(
        "approvals withdraw monday",
        ("GET /api/v1/agentic/approvals", "POST /api/v1/agentic/approvals/{session:path}/withdraw"),
        code=1,
    ),
    "conversations list": OnServer("conversations list", ("GET /api/v1/conversations",)),
    "conversations show": OnServer(
        "conversations show monday", ("GET /api/v1/conversations", f"GET {CONVERSATION}")
    ),
    "conversations rename": OnServer(
        "conversations rename monday Echo", ("GET /api/v1/conversations", f"PATCH {CONVERSATION}")
    ),
    "conversations remove": OnServer(
        "conversations remove monday", ("GET /api/v1/conversations", f"DELETE {CONVERSATION}")
    ),
    "conversations rewind": OnServer(
        "conversations rewind monday 1",
        ("GET /api/v1/conversations", f"GET {CONVERSATION}", f"POST {CONVERSATION}/rewind"),
    ),
    "runner install": Here("the engine is installed on the machine that runs it; `bundles install` adds to a server's"),
    "runner status": Here("what protects from runs is looked at on the machine itself; `doctor` looks at a server"),
    "runs list": OnServer("runs list", ("GET /api/v1/runs",)),
    "runs show": OnServer("runs show last", ("GET /api/v1/runs",)),
    "runs remove": OnServer("runs remove last", ("GET /api/v1/runs", "DELETE /api/v1/runs/{run_id}")),
    "runs cancel": OnServer(
        "runs cancel last", ("GET /api/v1/runs", "POST /api/v1/runs/{run_id}/cancel"), alone=True, code=1
    ),
    "worker": Here("it is a process that works beside the servers, on their database"),
    "jobs list": OnServer("jobs list", ("GET /api/v1/jobs", "GET /api/v1/batches")),
    "jobs show": OnServer("jobs show none", JOB, code=1),
    "jobs cancel": OnServer("jobs cancel none", JOB, code=1),
    "jobs retry": OnServer("jobs retry none", JOB, code=1),
    "flow schedule add": OnServer(
        "flow schedule add Echo --cron '0 7 * * *'", (FIND, "GET /api/v1/flows", f"POST {FLOW}/schedules"), alone=True
    ),
    "flow schedule list": OnServer("flow schedule list", ("GET /api/v1/schedules",), alone=True),
    "flow schedule switch": OnServer(
        "flow schedule switch none off", ("PATCH /api/v1/schedules/{schedule_id}",), alone=True, code=1
    ),
    "flow schedule edit": OnServer(
        "flow schedule edit none --zone UTC", ("PATCH /api/v1/schedules/{schedule_id}",), alone=True, code=1
    ),
    "flow schedule remove": OnServer(
        "flow schedule remove none", ("DELETE /api/v1/schedules/{schedule_id}",), alone=True, code=1
    ),
    "users add": OnServer("users add ada", ("POST /api/v1/users",)),
    "users list": OnServer("users list", ("GET /api/v1/users",)),
    "users revoke": OnServer("users revoke grace", ("POST /api/v1/users/{user}/revoke",)),
    "users rotate": OnServer("users rotate grace", ("POST /api/v1/users/{user}/rotate",)),
    "users export": Here("an archive of all that somebody has is made, and sealed, on the machine of the data"),
    "users import": Here("an archive is read on the machine of the data"),
    "users delete": Here("what somebody has is deleted for good on the machine of the data"),
    "variables list": OnServer("variables list", ("GET /api/v1/variables",)),
    "variables set": OnServer("variables set A_KEY", ("PUT /api/v1/variables/{name}",), stdin="secret"),
    "variables remove": OnServer("variables remove KEPT", ("DELETE /api/v1/variables/{name}",)),
    "eval results list": OnServer("eval results list", ("GET /api/v1/evaluations",), alone=True),
    "eval results show": OnServer(
        "eval results show none.jsonl", ("GET /api/v1/evaluations/{evaluation:path}/entries",), alone=True, code=1
    ),
    "eval results get": OnServer(
        "eval results get none.html --out got.html",
        ("GET /api/v1/evaluations/{evaluation:path}",),
        alone=True,
        code=1,
    ),
    **{
        f"eval {name}": EVALUATED
        for name in (
            "run", "score", "check", "compare", "list", "show", "report", "mutate", "judge", "calibrate", "export",
            "import chat2workflow", "pack create", "pack check", "fix", "conversations",
        )
    },
}  # fmt: skip
"""By command."""

WITHOUT_COMMAND: dict[str, str] = {
    "POST /api/v1/agentic/assist": "the command line streams its turns",
    f"GET {TURN}/events": "`ask` and `chat` go on with it after a lost connection: test_ask.py, test_chat.py",
    f"POST {TURN}/cancel": "`ask` and `chat` stop a turn with it on Ctrl-C: test_ask.py",
    "POST /api/v1/agentic/sessions/reset": "`/reset` and `/forget` of `chat`: test_chat.py",
    "GET /api/v1/agentic/check-config": "`models list` says it, and more",
    "POST /api/v1/agentic/client-metrics": "a page reports what only it can measure",
    "POST /api/v1/components/configure": "an editor asks what values change; `ask` and `flow build` do it themselves",
    "POST /api/v1/flows": "`flow import` stores one flow as well",
    f"PUT {FLOW}": "`flow import --replace`: test_stored.py",
    f"PATCH {FLOW}": "an editor changes a flow by actions; `ask` and `chat` do it in words",
    f"GET {FLOW}/revisions/{{version}}/diff": "`flow diff FLOW@1 FLOW@2` compares any two",
    f"DELETE {FLOW}/sessions/{{session:path}}": "`flow sessions remove F SESSION`: test_stored.py",
    f"GET {FLOW}/needs": "the page's list of what to set up; `flow check` and a run say it of a file",
    **{
        f"{method} {FLOW}/tests{suffix}": "the page keeps and runs the tests of a stored flow; `flow test` has a file"
        for method, suffix in (("GET", ""), ("PUT", ""), ("POST", "/run"))
    },
    "GET /api/v1/templates": "`flow templates` without a name: test_installation.py",
    "DELETE /api/v1/runs": "`runs remove --all`: test_stored.py",
    "GET /api/v1/runs/{run_id}": "`runs show` finds a run by the beginning of its id in the list",
    "GET /api/v1/runs/{run_id}/events": "`flow run` follows its own run; a page follows others",
    "GET /api/v1/bundles/{name}": "`bundles install` waits with it: test_installation.py",
    "GET /api/v1/providers": "`models list` says it",
    "GET /api/v1/providers/{name}": "`models list` says it",
    "POST /api/v1/jobs/{job_id}/cancel": "`jobs cancel` of a job that is there: test_jobs.py",
    "POST /api/v1/jobs/{job_id}/retry": "`jobs retry` of a job that is there: test_jobs.py",
    f"GET {FLOW}/schedules": "`flow schedule list` lists those of all flows",
    "GET /api/v1/schedules/{schedule_id}": "`flow schedule list` says it",
    "POST /api/v1/hooks/{hook_id}": "programs call it, with the webhook's own token",
    f"POST {FLOW}/batch": "`flow run --batch`: test_jobs.py",
    "GET /api/v1/batches/{batch_id}/results": "`flow run --batch --out` writes them",
    "POST /api/v1/batches/{batch_id}/retry": "`flow run --batch --retry-failed`: test_jobs.py",
    "POST /api/v1/batches/{batch_id}/cancel": "`jobs cancel` of a batch that is there: test_jobs.py",
    "DELETE /api/v1/batches/{batch_id}": "front ends erase batches",
    "GET /metrics": "a monitoring system reads it",
    **{
        f"{method} /mcp{group}": "MCP clients speak with it; `mcp --server` carries them there"
        for method in ("GET", "POST", "DELETE")
        for group in ("", "/{group}")
    },
    "POST /ag-ui": "AG-UI front ends speak with it",
    "POST /api/chat": "AI SDK front ends speak with it",
    "GET /api/chat/{chat:path}/stream": "AI SDK front ends speak with it",
    **dict.fromkeys(
        (
            *("GET /api/v1/langflow", "PUT /api/v1/langflow/{name}", "DELETE /api/v1/langflow/{name}"),
            *("GET /api/v1/langflow/{name}/flows", f"GET {FLOW}/langflow", f"PUT {FLOW}/langflow"),
            *(f"DELETE {FLOW}/langflow", f"PUT {FLOW}/langflow/read", f"PUT {FLOW}/langflow/send"),
        ),
        "front ends link flows with a Langflow server; `flow pull` and `push` do it from this machine",
    ),
    "GET /assets/{name}": "a part of the page for people",
    "GET /icon.svg": "a part of the page for people",
    "GET /docs": "a page for people",
    "GET /openapi.json": "a description for programs",
    "GET /": "a page for people",
    "GET /sign-in": "it signs a browser in",
    "POST /sign-in": "it signs a browser in; a command sends its token with each request",
    "DELETE /sign-in": "it signs a browser out",
}
"""Why a route is called by no line of `PARITY`."""
