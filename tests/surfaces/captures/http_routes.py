"""The requests that are captured: every route, what it answers when all is well, and its usual errors."""

import json
import re
from typing import Any

from tests.surfaces.captures.http_capture import Conversation, talking
from tests.surfaces.subject import Workplace

API = "/api/v1"
JSON = {"Content-Type": "application/json"}


def capture_http(place: Workplace, louder: dict[str, Any]) -> dict[str, str]:
    """What every route answers, by the name of its snapshot.

    Args:
        place: where the server runs.
        louder: a flow that fills a prompt, as Langflow JSON.
    """
    with talking(place) as talk:
        _health(talk)
        _configuration(talk)
        _providers(talk)
        _components(talk)
        _flows(talk, louder)
        _runs(talk, louder)
        _turns(talk)
        _refusals(talk)
        _metrics(talk)
        return talk.captured


def _health(talk: Conversation) -> None:
    talk.ask("healthz", "GET", "/healthz")
    talk.ask("readyz", "GET", "/readyz")
    talk.ask("nothing-here", "GET", f"{API}/nothing")
    talk.ask("wrong-method", "DELETE", "/healthz")


def _configuration(talk: Conversation) -> None:
    talk.ask("check-config", "GET", f"{API}/agentic/check-config")


def _providers(talk: Conversation) -> None:
    one = f"{API}/providers/openai"
    talk.ask("providers", "GET", f"{API}/providers")
    talk.ask("provider-unknown", "GET", f"{API}/providers/nobody")
    talk.ask("provider-nothing-stored", "DELETE", one)
    talk.ask("provider-put-nothing", "PUT", one, body={})
    talk.ask("provider-put-unknown-key", "PUT", one, body={"key": "k"})
    talk.ask("provider-put-other-variable", "PUT", one, body={"values": {"GROQ_API_KEY": "k"}})
    talk.ask("provider-put-bad-key", "PUT", one, body={"api_key": "two\nlines"})
    talk.ask("provider-put", "PUT", one, body={"api_key": "sk-not-a-key"})
    talk.ask("provider-stored", "GET", one)
    talk.ask("check-config-stored", "GET", f"{API}/agentic/check-config")
    talk.ask("provider-delete", "DELETE", one)


def _components(talk: Conversation) -> None:
    talk.ask("components-page", "GET", f"{API}/components?limit=2&offset=1")
    talk.ask("components-search", "GET", f"{API}/components?q=split%20text&limit=2")
    talk.ask("components-category", "GET", f"{API}/components?category=nothing")
    talk.ask("components-bad-limit", "GET", f"{API}/components?limit=0")
    talk.ask("component", "GET", f"{API}/components/ChatInput", whole=True)
    talk.ask("component-unknown", "GET", f"{API}/components/ChatInpt")


def _flows(talk: Conversation, louder: dict[str, Any]) -> None:
    flows = f"{API}/flows"
    talk.ask("flows-empty", "GET", flows)
    talk.ask("flow-post-not-json", "POST", flows, content="{", headers=JSON)
    talk.ask("flow-post-no-object", "POST", flows, content="[1]", headers=JSON)
    talk.ask("flow-post-no-flow", "POST", flows, body={"flow": {"data": {"nodes": [3]}}})
    talk.ask("flow-post-other-type", "POST", flows, content="{}", headers={"Content-Type": "text/plain"})
    talk.ask("flow-post-too-large", "POST", flows, content="x" * 1_000_001, headers=JSON)
    identity = talk.ask("flow-post", "POST", flows, body=louder).json()["id"]
    talk.names[identity] = "<flow>"
    one = f"{flows}/{identity}"
    talk.ask("flow-get", "GET", one)
    talk.ask("flows-page", "GET", f"{flows}?limit=1")
    talk.ask("flows-bad-offset", "GET", f"{flows}?offset=-1")
    quiet = {**louder, "name": "Quiet"}
    talk.ask("flow-put-no-version", "PUT", one, body={"flow": quiet})
    talk.ask("flow-put-bad-version", "PUT", one, body={"flow": quiet, "version": "x"})
    talk.ask("flow-put", "PUT", one, body={"flow": quiet, "version": 1})
    talk.ask("flow-put-stale", "PUT", one, body={"flow": quiet, "version": 1})
    talk.ask("flow-put-if-match", "PUT", one, body=louder, headers={"If-Match": '"2"'})
    talk.ask("flow-get-unknown", "GET", f"{flows}/nothing")
    talk.ask("flow-put-unknown", "PUT", f"{flows}/nothing", body={"flow": quiet, "version": 1})
    talk.ask("flow-patch", "PATCH", one, body={})
    talk.ask("turn-on-stored-flow", "POST", f"{API}/agentic/assist", body=_turn("Add a Text Input", flow_id=identity))
    talk.ask("flow-get-after-turn", "GET", one)
    talk.ask("flow-delete", "DELETE", one)
    talk.ask("flow-delete-again", "DELETE", one)


def _turn(text: str, **more: Any) -> dict[str, Any]:
    return {"input_value": text, "session_id": "s-http", **more}


def _runs(talk: Conversation, louder: dict[str, Any]) -> None:
    flows = f"{API}/flows"
    identity = talk.ask("flow-post-to-run", "POST", flows, body={"flow": louder}).json()["id"]
    talk.names[identity] = "<flow>"
    run = f"{flows}/{identity}/run"
    prompt = next(node["id"] for node in louder["data"]["nodes"] if node["data"]["type"] == "Prompt Template")
    talk.ask("run", "POST", run, body={"input_value": "hello", "session_id": "s"})
    sessions = f"{flows}/{identity}/sessions"
    talk.ask("flow-sessions", "GET", sessions)
    talk.ask("flow-session", "GET", f"{sessions}/s")
    talk.ask("flow-session-delete", "DELETE", f"{sessions}/s")
    talk.ask("flow-session-delete-again", "DELETE", f"{sessions}/s")
    talk.ask("flow-sessions-unknown", "GET", f"{flows}/nothing/sessions")
    talk.ask("flow-sessions-delete", "DELETE", sessions)
    talk.ask("run-no-body", "POST", run)
    talk.ask(
        "run-tweaked-nodes",
        "POST",
        run,
        body={"input_value": "x", "nodes": True, "tweaks": {prompt: {"template": "T: {text}"}}},
    )
    talk.ask("run-stream", "POST", run, body={"input_value": "hello", "stream": True})
    talk.ask("run-stream-accept", "POST", run, body={"input_value": "a"}, headers={"Accept": "text/event-stream"})
    talk.ask("run-bad-timeout", "POST", run, body={"timeout": 0})
    talk.ask("run-unknown", "POST", f"{flows}/nothing/run", body={})
    loose = json.loads(json.dumps(louder))
    loose["data"]["edges"] = [{**edge, "targetHandle": "{œfieldNameœ:œnoneœ}"} for edge in louder["data"]["edges"]]
    broken = talk.ask("flow-post-broken", "POST", flows, body=loose).json()["id"]
    talk.names[broken] = "<broken flow>"
    talk.ask("run-broken", "POST", f"{flows}/{broken}/run", body={"input_value": "x"})
    talk.ask("run-broken-stream", "POST", f"{flows}/{broken}/run", body={"stream": True})


def _turns(talk: Conversation) -> None:
    assist, reset = f"{API}/agentic/assist", f"{API}/agentic/sessions/reset"
    talk.ask("turn-question", "POST", assist, body=_turn("What is a Chat Input?"))
    talk.ask("turn-session-made", "POST", assist, body={"input_value": "What is the weather in Paris?"})
    talk.ask("turn-no-text", "POST", assist, body={})
    talk.ask("turn-wrong-types", "POST", assist, body={"input_value": 3, "apply": "never", "max_retries": -1})
    talk.ask("turn-bad-flow", "POST", assist, body=_turn("x", flow={"data": []}))
    talk.ask("turn-unknown-flow", "POST", assist, body=_turn("x", flow_id="nothing"))
    talk.ask("turn-two-flows", "POST", assist, body=_turn("x", flow_id="nothing", flow={"nodes": [], "edges": []}))
    talk.ask("turn-unknown-provider", "POST", assist, body=_turn("x", provider="nobody"))
    talk.ask("turn-no-key", "POST", assist, body=_turn("x", provider="openai"))
    talk.ask("turn-unknown-model", "POST", assist, body=_turn("x", provider="demo", model_name="large"))
    talk.ask("turn-nothing-pending", "POST", assist, body={**_turn(""), "approvals": {"x": {"decision": "approve"}}})
    talk.ask("turn-bad-decision", "POST", assist, body={**_turn(""), "approvals": {"x": {"decision": "maybe"}}})
    talk.ask("turn-no-json", "POST", assist, content="x")
    talk.ask("turn-get", "GET", assist)
    talk.ask("reset", "POST", reset, body={"session_id": "s-http"})
    talk.ask("reset-plan", "POST", f"{reset}?session_id=s-http&what=plan")
    talk.ask("reset-no-body", "POST", reset)
    talk.ask("reset-wrong", "POST", reset, body={"what": "nothing"})


def _refusals(talk: Conversation) -> None:
    talk.ask("wrong-token", "GET", f"{API}/flows", headers={"Authorization": "Bearer wrong"}, all_headers=True)
    talk.ask("wrong-sign-in-code", "GET", "/sign-in?code=wrong")
    talk.ask("foreign-host", "GET", "/healthz", headers={"Host": "example.org"}, all_headers=True)
    talk.ask("foreign-origin", "POST", f"{API}/flows", body={}, headers={"Origin": "http://example.org"})
    talk.ask("foreign-site", "POST", f"{API}/flows", body={}, headers={"Sec-Fetch-Site": "cross-site"})
    talk.ask("foreign-read", "GET", "/healthz", headers={"Origin": "http://example.org"})


def _metrics(talk: Conversation) -> None:
    """Names, labels, types and help; the figures themselves are left out."""
    reply = talk.client.get("/metrics")
    lines = {_sample(line) for line in reply.text.splitlines()}
    kind = reply.headers["content-type"]
    talk.captured["metrics.txt"] = "\n".join([f"--- {reply.status_code} {kind}", *sorted(lines)]) + "\n"


def _sample(line: str) -> str:
    """A line of metrics without its figure, and a version of Python without its numbers."""
    if line.startswith("#"):
        return line
    return re.sub(
        r'(implementation|major|minor|patchlevel|version|lfx|release)="[^"]*"', r'\1="…"', line.rpartition(" ")[0]
    )
