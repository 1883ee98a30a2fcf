"""The command lines that are captured, in groups that share a folder."""

import json

from tests.shared.flow_texts import ECHO, WORD_COUNT, WORD_COUNTER
from tests.surfaces.captures.cli_capture import Case

LOUDER = """name: Louder
description: Says it louder.
nodes:
  chat: ChatInput
  prompt: Prompt Template
  answer: ChatOutput
edges:
  chat.message -> prompt.text
  prompt.prompt -> answer.input_value
config:
  prompt.template: |
    Say it louder: {text}
"""
FAULTY = """name: Faulty
nodes:
  chat: ChatInput
  odd: NoSuchThing
  prompt: Prompt Template
  answer: ChatOutput
edges:
  chat.message -> answer.no_such_port
  chat.nothing -> prompt.text
config:
  answer.no_such_field: 3
"""
ORPHANED = (
    "name: Orphaned\nnodes:\n  a: ChatInput\n  b: ChatOutput\n  c: TextInput\nedges:\n  a.message -> b.input_value\n"
)
FAILING = WORD_COUNTER.replace("WordCounter", "Breaker").replace("str(len(self.text.split()))", "str(1 // 0)")
HARMFUL = "import os\nos.system('id')\n"
SCANNED = "".join(
    json.dumps(line) + "\n" for line in ({"id": "a", "code": HARMFUL}, {"id": 2, "code": "x = 1"}, {"id": 3}, [1])
)

FILES = {
    "echo.flow": ECHO,
    "louder.flow": LOUDER,
    "softer.flow": LOUDER.replace("louder", "softer"),
    "faulty.flow": FAULTY,
    "orphaned.flow": ORPHANED,
    "own.flow": WORD_COUNT,
    "own/words.py": WORD_COUNTER,
    "failing.flow": WORD_COUNT.replace("WordCounter", "Breaker"),
    "failing/breaker.py": FAILING,
    "harmful.py": HARMFUL,
    "harmless.py": "x = 1\n",
    "broken.json": '{"data": {"nodes": [3]}}',
    "broken.flow": "name: [",
}
"""What is in the working folder at first."""


def both(name: str, *arguments: str, stdin: str = "", **extra: str) -> list[Case]:
    """A command as people and as programs call it."""
    return [
        Case(name, arguments, stdin=stdin, extra=extra),
        Case(f"{name}-json", [*arguments, "--json"], stdin=stdin, extra=extra),
    ]


FLOWS = [
    Case("flow-build-whole-json", ["flow", "build", "echo.flow", "--json"], whole=True),
    Case("flow-build-stdin-json", ["flow", "build", "-", "--json"], stdin=LOUDER),
    *both("flow-build", "flow", "build", "louder.flow", "--out", "louder.json"),
    *both("flow-build-faulty", "flow", "build", "faulty.flow", "--out", "never.json"),
    *both("flow-build-orphaned", "flow", "build", "orphaned.flow"),
    *both("flow-build-unreadable", "flow", "build", "none.flow"),
    *both("flow-build-broken", "flow", "build", "broken.flow"),
    *both("flow-check", "flow", "check", "louder.json"),
    *both("flow-check-faulty", "flow", "check", "faulty.flow"),
    *both("flow-check-broken", "flow", "check", "broken.json"),
    *both("flow-spec", "flow", "spec", "louder.json"),
    Case("flow-spec-unreadable-json", ["flow", "spec", "none.json", "--json"]),
    *both("flow-diff", "flow", "diff", "louder.json", "softer.flow"),
    Case("flow-diff-same-json", ["flow", "diff", "louder.json", "louder.flow", "--json"]),
    Case("flow-diff-other-json", ["flow", "diff", "echo.flow", "louder.flow", "--json"]),
    *both("flow-merge", "flow", "merge", "louder.json", "echo.flow", "--out", "both.json"),
    Case("flow-merge-check-json", ["flow", "check", "both.json", "--json"], writes=["both.json"]),
    *both("flow-templates", "flow", "templates"),
    *both("flow-template", "flow", "templates", "echo"),
    Case("flow-template-unknown-json", ["flow", "templates", "echoes", "--json"]),
    *both("components-search", "components", "search", "read a csv file", "--limit", "3"),
    Case(
        "components-search-narrowed-json",
        ["components", "search", "text", "--produces", "Table", "--limit", "2", "--json"],
    ),
    *both("components-search-lines", "components", "search", "-", "--limit", "1", stdin="web page\n\nchat\n"),
    Case("components-search-nothing-json", ["components", "search", "qqzzxx", "--json"]),
    *both("components-describe", "components", "describe", "Prompt Template"),
    *both("components-describe-unknown", "components", "describe", "ChatInpt"),
    *both("components-scan", "components", "scan", "harmful.py"),
    *both("components-scan-harmless", "components", "scan", "harmless.py"),
    *both("components-scan-lines", "components", "scan", "-", stdin=SCANNED),
    Case("components-scan-unreadable-json", ["components", "scan", "none.py", "--json"]),
    *both("usage-unknown-option", "flow", "build", "--nothing"),
    *both("usage-unknown-command", "flow", "nothing"),
    *both("usage-missing-argument", "flow", "diff", "echo.flow"),
    *both("usage-bad-number", "components", "search", "x", "--limit", "0"),
    *both("usage-bad-port", "serve", "--port", "70000"),
    *both("usage-bad-host", "serve", "--host", "0.0.0.0"),  # noqa: S104  (it must be refused)
    *both("usage-bad-variable", "serve", WIREWRIGHT_BODY_LIMIT="1"),
    Case("usage-nothing", []),
    Case("usage-group", ["flow"]),
]
"""Commands that need no engine."""

BUILD = "Build an echo flow"
BUILD_AND_RUN = (
    "Build a flow that puts the chat input into the prompt 'Say it louder: {text}' and answers with it, "
    "then run it with hello"
)
CHANGE = "Change the prompt to 'Whisper: {text}'"

ASKS = [
    *both("ask-question", "ask", "What does the Prompt Template component do?"),
    Case("ask-about-flow", ["ask", "What does this flow do?", "--flow", "louder.flow"]),
    Case("ask-off-topic-json", ["ask", "What is the weather in Paris?", "--json"]),
    Case("ask-build-json", ["ask", BUILD, "--out", "built.json", "--json"], writes=["built.json"]),
    Case("ask-build-and-run", ["ask", BUILD_AND_RUN]),
    *both("ask-waits", "ask", CHANGE, "--flow", "louder.flow", "--out", "waiting.json"),
    Case("ask-approved", ["ask", CHANGE, "--flow", "louder.flow", "--out", "approved.json", "--yes"]),
    Case("ask-plan-json", ["ask", "Build an echo flow, but show me your plan first", "--json"]),
    *both("ask-no-key", "ask", BUILD, "--model", "openai:gpt-6-luna"),
    Case("ask-unknown-provider-json", ["ask", BUILD, "--model", "nobody:nothing", "--json"]),
    Case("ask-unreadable-flow", ["ask", BUILD, "--flow", "none.json"]),
    *both("ask-nothing", "ask", " "),
    Case("ask-interrupted-json", ["ask", BUILD, "--model", "openai-compatible:slow", "--json"], interrupted=True),
]
"""One turn of the demo planner."""

TALK = f"What is a Chat Input?\n{CHANGE}\nn\n{CHANGE}\ny\nBuild an echo flow\ny\n"

RUNS = [
    Case("run-json", ["flow", "run", "louder.flow", "--input", "hello", "--json"]),
    Case("run-events-json", ["flow", "run", "louder.flow", "--input", "hello", "--events", "--json"]),
    Case("run-tweaked", ["flow", "run", "louder.flow", "--input", "x", "--tweak", "prompt.template=T: {text}"]),
    Case("run-fails-json", ["flow", "run", "failing.flow", "--components", "failing", "--input", "x", "--json"]),
    Case("run-faulty-json", ["flow", "run", "faulty.flow", "--input", "x", "--json"]),
    Case("run-unreadable", ["flow", "run", "none.flow"]),
    Case("run-bad-tweak", ["flow", "run", "echo.flow", "--tweak", "nothing"]),
    Case("run-own", ["flow", "run", "own.flow", "--components", "own", "--input", "a b c"]),
    Case("chat", ["chat", "--flow", "louder.flow", "--out", "talked.json"], stdin=TALK),
    Case("chat-json", ["chat", "--flow", "louder.flow", "--json"], stdin=TALK),
]
"""Flows that run, and conversations."""

ECHO_SCENARIO = """id: small-echo
about: The smallest flow there is.
tags: [build, small]
turns:
- say: Build an echo flow and run it with good morning
  run: {input: good morning, equals: good morning}
reference: |
  name: Echo
  nodes:
    chat: ChatInput
    answer: ChatOutput
  edges:
    chat.message -> answer.input_value
wrong:
- because: it says that it did it and did nothing
  reply: I built it and ran it; it works.
probes:
- {input: hello there, equals: hello there}
- {input: one, unlike: two}
"""
RIDDLE_SCENARIO = """id: small-riddle
about: What no rule understands.
tags: [build, hard]
split: test
turns:
- say: Assemble whatever the third paragraph of my letter implies
reference: |
  name: Reverse
  nodes:
    chat: ChatInput
    prompt: Prompt Template
    answer: ChatOutput
  edges:
    chat.message -> prompt.text
    prompt.prompt -> answer.input_value
  config:
    prompt.template: "Riddle: {text}"
wrong:
- because: nothing was made
  reply: I could not.
probes:
- {input: hello, equals: 'Riddle: hello'}
"""
GATE = "mode: exact\nfloors: {passed: 1.0}\n"

EVAL_FILES = {
    "scenarios/small-echo.yaml": ECHO_SCENARIO,
    "scenarios/small-riddle.yaml": RIDDLE_SCENARIO,
    "gate.yaml": GATE,
    "broken.jsonl": "{\n",
}
"""Scenarios of the tests' own, so that those that come with the product may change."""

OURS = ("eval", "--scenarios", "scenarios")

EVALS = [
    *both("eval-list", *OURS, "list"),
    Case("eval-list-checked-json", [*OURS, "list", "--tag", "small", "--check", "--json"]),
    *both("eval-show", *OURS, "show", "small-echo"),
    Case("eval-run-json", [*OURS, "run", "--player", "oracle", "--out", "oracle.jsonl", "--json"]),
    Case(
        "eval-run-demo",
        [*OURS, "run", "--gate", "gate.yaml", "--out", "demo.jsonl", "--scores", "demo-scores.jsonl"],
        writes=["demo-scores.jsonl"],
    ),
    Case("eval-run-unknown-player-json", [*OURS, "run", "--player", "nobody", "--json"]),
    Case("eval-run-unknown-scenario-json", [*OURS, "run", "--scenario", "nothing", "--json"]),
    Case("eval-show-played-json", [*OURS, "show", "small-echo", "--in", "oracle.jsonl", "--json"]),
    *both("eval-score", *OURS, "score", "oracle.jsonl"),
    Case(
        "eval-score-gate-json",
        [*OURS, "score", "demo.jsonl", "--gate", "gate.yaml", "--baseline", "--out", "scored.jsonl", "--json"],
        writes=["scored.jsonl"],
    ),
    Case("eval-score-broken-json", [*OURS, "score", "broken.jsonl", "--json"]),
    *both("eval-compare", *OURS, "compare", "oracle.jsonl", "demo.jsonl"),
    *both("eval-report", *OURS, "report", "demo.jsonl", "--baseline", "oracle.jsonl"),
    Case("eval-judge-no-key-json", [*OURS, "judge", "demo.jsonl", "--model", "openai:gpt-6-luna", "--json"]),
    Case("eval-export-nowhere-json", [*OURS, "export", "demo.jsonl", "--json"]),
    Case("runner-install-json", ["runner", "install", "--json"]),
    *both("runner-status", "runner", "status"),
]
"""The harness, and the state of the engine."""
