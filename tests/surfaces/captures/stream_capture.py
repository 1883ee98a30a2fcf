"""The events of whole turns over the stream, in the order in which they come."""

import json
import signal
from dataclasses import dataclass
from typing import Any

from tests.surfaces.captures.http_capture import Conversation, events, shown_events, talking
from tests.surfaces.subject import Workplace, silent_provider

STREAM = "/api/v1/agentic/assist/stream"
BUILD = "Build an echo flow"
BUILD_AND_RUN = (
    "Build a flow that puts the chat input into the prompt 'Say it louder: {text}' and answers with it, "
    "then run it with hello"
)
CHANGE = "Change the prompt to 'Whisper: {text}'"
PLAN_APPROVED = "User approved the plan. Proceed with the build."
EDITS_APPROVED = (
    "The proposed canvas edits were applied. Continue with the remaining steps of my previous request "
    "(for example, running the flow). If editing was the entire request, just confirm briefly."
)


@dataclass(frozen=True)
class Turns:
    """Turns of one conversation after the other, each kept as a snapshot.

    Attributes:
        talk: the server.
        session: the conversation.
    """

    talk: Conversation
    session: str

    def say(self, name: str, text: str = "", **more: Any) -> dict[str, Any]:
        """Take a turn and keep its request and events.

        Args:
            name: of the snapshot.
            text: the user's message.
            more: other keys of the request.

        Returns:
            The `data` of its last event.
        """
        body = {"input_value": text, "session_id": self.session, **more}
        reply = self.talk.ask(name, "POST", STREAM, body=body)
        last = events(reply.text)[-1] if reply.status_code == 200 else {}
        return last.get("data") or {}


def capture_stream(place: Workplace, louder: dict[str, Any]) -> dict[str, str]:
    """The events of turns of every kind, by the name of their snapshot.

    Args:
        place: where the server runs.
        louder: a flow that fills a prompt, as Langflow JSON.
    """
    with silent_provider() as silent, talking(place, {"WIREWRIGHT_MODEL": "demo", **silent}) as talk:
        _answers(talk, louder)
        _builds(talk)
        _changes(talk, louder)
        _plans(talk)
        _failures(talk)
        _cancelled(talk)
        return talk.captured


def _answers(talk: Conversation, louder: dict[str, Any]) -> None:
    turns = Turns(talk, "s-answers")
    turns.say("question", "What does the Prompt Template component do?")
    turns.say("question-about-flow", "What does this flow do?", flow=louder)
    turns.say("off-topic", "What is the weather in Paris?")
    turns.say("unable", "Assemble whatever the third paragraph of my letter implies")
    turns.say("ignored-keys", "What is a Chat Input?", max_retries=2, unknown={"a": [1]}, field_name="x")


def _builds(talk: Conversation) -> None:
    Turns(talk, "s-build").say("build", BUILD)
    Turns(talk, "s-run").say("build-and-run", BUILD_AND_RUN)
    Turns(talk, "s-file").say("file", "Write 'hello' into the file greeting.txt")
    Turns(talk, "s-component").say("component", "Write a component that reverses a text")


def _changes(talk: Conversation, louder: dict[str, Any]) -> None:
    turns = Turns(talk, "s-edits")
    turns.say("edit", "Add a Text Input and connect it to the prompt", flow=louder)
    turns.say("edit-remove", "Remove the prompt template and connect chat input to chat output", flow=louder)
    turns.say("edit-always", CHANGE, flow=louder, apply="always")
    for decision in ({"decision": "approve"}, {"decision": "deny", "reason": "Too quiet."}):
        waits = Turns(talk, f"s-{decision['decision']}")
        pending = waits.say(f"edit-waits-{decision['decision']}", CHANGE, flow=louder)
        approvals = {approval["id"]: decision for approval in pending["approvals"]}
        waits.say(f"edit-{decision['decision']}", flow=louder, approvals=approvals)
    waits.say("already-answered", flow=louder, approvals=approvals)
    signals = Turns(talk, "s-signal")
    signals.say("edit-waits-signal", CHANGE, flow=louder)
    signals.say("edit-unknown-approval", flow=louder, approvals={"nothing": {"decision": "approve"}})
    signals.say("edit-signal", EDITS_APPROVED, flow=louder)


def _plans(talk: Conversation) -> None:
    turns = Turns(talk, "s-plan")
    turns.say("plan", f"{BUILD}, but show me your plan first")
    turns.say("plan-approved", PLAN_APPROVED)
    denied = Turns(talk, "s-no-plan")
    pending = denied.say("plan-again", f"{BUILD}, but show me your plan first")
    denial = {approval["id"]: {"decision": "deny", "reason": "Shorter."} for approval in pending["approvals"]}
    denied.say("plan-denied", approvals=denial)


def _failures(talk: Conversation) -> None:
    turns = Turns(talk, "s-failures")
    turns.say("no-key", BUILD, provider="openai")
    turns.say("nothing-pending", approvals={"x": {"decision": "approve"}})
    turns.say("signal-without-pending", PLAN_APPROVED)


def _cancelled(talk: Conversation) -> None:
    """A turn whose model does not answer, while the server is told to stop."""
    body = {"input_value": BUILD, "session_id": "s-stop", "provider": "openai-compatible", "model_name": "slow"}
    with talk.client.stream("POST", STREAM, json=body) as reply:
        text = ""
        for chunk in reply.iter_text():
            if not text:
                talk.served.process.send_signal(signal.SIGTERM)
            text += chunk
    shown = shown_events(events(text), talk.names)
    talk.captured["cancelled.txt"] = f"POST {STREAM}\n\n{json.dumps(body, indent=1)}\n\n(SIGTERM)\n\n{shown}\n"
