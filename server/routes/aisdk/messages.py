"""What an AI SDK client sends: its request, and of its messages the little that counts.

Clients send the whole chat with every request. The server has the history, so what is said there is not read: only the
last message of the user, and what the user decided about calls of the last message of the assistant.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from pydantic import ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel

from agent.contract.model import ContractModel
from agent.toolsets.client import CLIENT_TOOLS, ClientTool
from server.errors import ApiError
from server.requests.body import validated

Part: TypeAlias = dict[str, Any]


class ClientMessage(ContractModel):
    """A message of a chat.

    Attributes:
        id: its id.
        role: whose it is.
        parts: what it has, in order.
    """

    id: str = Field(default="", max_length=200)
    role: Literal["system", "user", "assistant"]
    parts: list[dict[str, JsonValue]] = Field(max_length=10_000)


class ChatRequest(ContractModel):
    """Asks for a turn, as `DefaultChatTransport` does; all but the first five are fields of its `body`.

    Attributes:
        id: the chat, which is the conversation's id.
        messages: the chat's messages. Of these only the last is read, or the last two when that is the user's.
        message: the last message, for clients that send it alone.
        trigger: whether a message is sent, or an answer is made again.
        message_id: the message that is made again, edited or continued.
        flow_id: the stored flow that the turn works on.
        provider: a provider listed by `check-config`, or `demo`.
        model: one model of that provider, or of the default one.
        apply: whether plans and replaced texts on the canvas need approval (`ask`) or not (`always`).
        max_retries: how many attempts the assistant has to build something that passes its checks.
        resumable: whether the turn goes on for a while when its client is gone, so that the chat can be resumed.
        tools: tools that the client carries out; what a call of one gives is sent with the chat.
        tool_arguments: arguments that the user changed of calls that are approved, by the ids of the calls.
    """

    model_config = ConfigDict(alias_generator=to_camel)

    id: str = Field(min_length=1, max_length=200)
    messages: list[dict[str, Any]] | None = Field(default=None, max_length=10_000)
    message: dict[str, Any] | None = None
    trigger: Literal["submit-message", "regenerate-message"] = "submit-message"
    message_id: str | None = Field(default=None, max_length=200)
    flow_id: str | None = None
    provider: str | None = None
    model: str | None = None
    apply: Literal["ask", "always"] = "ask"
    max_retries: int | None = None
    resumable: bool = False
    tools: list[ClientTool] = Field(default_factory=list[ClientTool], max_length=CLIENT_TOOLS)
    tool_arguments: dict[str, dict[str, JsonValue]] = Field(
        default_factory=dict[str, dict[str, JsonValue]], max_length=100
    )

    @property
    def history(self) -> list[dict[str, Any]]:
        """The messages that were sent."""
        return self.messages if self.messages is not None else [] if self.message is None else [self.message]


@dataclass(frozen=True, kw_only=True)
class Sent:
    """What counts of a request.

    Attributes:
        user: the user's message; None when the assistant's is continued.
        assistant: the message of the assistant whose calls are answered; None when there is none.
        before: the id of the last message of the assistant before the user's; None when there is none.
        place: where the last message stands in the request.
    """

    user: ClientMessage | None
    assistant: ClientMessage | None
    before: str | None
    place: str

    @classmethod
    def of(cls, request: ChatRequest) -> Sent:
        """Read a request.

        Raises:
            ApiError: 422, there is no message, or the last one is malformed.
        """
        sent = request.history
        if not sent:
            raise ApiError(422, "invalid_request", "There is no message.", "Send the chat's messages.", "$.messages")
        place = "$.message" if request.messages is None else f"$.messages[{len(sent) - 1}]"
        last = validated(ClientMessage, sent[-1])
        if last.role == "system":
            raise ApiError(422, "invalid_request", "The last message is of the system.", "Send the user's.", place)
        if last.role == "assistant":
            named = [one for one in sent if one.get("id") == request.message_id and one.get("role") == "assistant"]
            continued = validated(ClientMessage, named[-1]) if request.message_id and named else last
            return cls(user=None, assistant=continued, before=None, place=place)
        earlier = next((one for one in reversed(sent[:-1]) if one.get("role") == "assistant"), None)
        assistant = None if earlier is None else validated(ClientMessage, earlier)
        before = None if assistant is None else assistant.id
        found = cls(user=last, assistant=assistant, before=before, place=place)
        if not found.text.strip():
            fix = "Say what is to be done, also with a file."
            raise ApiError(422, "empty_message", "The message has no text.", fix, f"{place}.parts")
        return found

    @property
    def continued(self) -> str:
        """The id of the message that is continued."""
        return "" if self.assistant is None else self.assistant.id

    @property
    def text(self) -> str:
        """What the user wrote."""
        parts = [] if self.user is None else self.user.parts
        texts = [part.get("text") for part in parts if part.get("type") == "text"]
        return "\n\n".join(text for text in texts if isinstance(text, str))

    @property
    def files(self) -> list[tuple[str, Part]]:
        """The files of the user's message, with their places in the request."""
        parts = [] if self.user is None else self.user.parts
        return [(f"{self.place}.parts[{at}]", part) for at, part in enumerate(parts) if part.get("type") == "file"]


@dataclass(frozen=True, kw_only=True)
class Outcomes:
    """What became of the calls of a message of the assistant, as its client says.

    Attributes:
        inputs: the inputs of all its calls, by their ids.
        decided: the decisions about calls that wait for approval.
        outputs: what calls have given that the client says have a result.
    """

    inputs: dict[str, object] = field(default_factory=dict[str, object])
    decided: dict[str, Part] = field(default_factory=dict[str, Part])
    outputs: dict[str, Part] = field(default_factory=dict[str, Part])

    @classmethod
    def of(cls, message: ClientMessage | None) -> Outcomes:
        """Read them from a message."""
        found = cls()
        for part in [] if message is None else message.parts:
            kind, call, state = part.get("type"), part.get("toolCallId"), part.get("state")
            if not isinstance(kind, str) or not isinstance(call, str):
                continue
            if kind != "dynamic-tool" and not kind.startswith("tool-"):
                continue
            found.inputs[call] = part.get("input")
            approval = part.get("approval")
            if state == "approval-responded" and isinstance(approval, dict):
                name = approval.get("id")
                found.decided[name if isinstance(name, str) else call] = approval
            elif state in ("output-available", "output-error"):
                found.outputs[call] = part
        return found
