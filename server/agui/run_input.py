"""What an AG-UI client sends to start a run."""

from __future__ import annotations

import hashlib
import re
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel

from agent.contract.requests import TURN_ID
from server.errors import ApiError

RESULT_ID: Final = "result-"
"""What the id of a message begins with that holds the result of a tool of the server."""


class _Sent(BaseModel):
    model_config = ConfigDict(extra="ignore", alias_generator=to_camel, populate_by_name=True, defer_build=True)


class ContentPart(_Sent):
    """A part of a message's content."""

    type: str
    text: str = ""


class ResentMessage(_Sent):
    """A message of the thread, as the client keeps it.

    Attributes:
        id: its id.
        role: who wrote it.
        content: a text, or parts.
        tool_call_id: the call that a tool's message answers.
        error: why the client's tool failed.
    """

    id: str = ""
    role: str
    content: str | list[ContentPart] | dict[str, JsonValue] | None = None
    tool_call_id: str | None = None
    error: str | None = None

    def text(self, where: str) -> str:
        """The message's text.

        Args:
            where: the message's place in the request.

        Raises:
            ApiError: 422, a part is not text.
        """
        if isinstance(self.content, list):
            odd = next((part.type for part in self.content if part.type != "text"), None)
            if odd is not None:
                fix = "Add it with POST /api/v1/files and name it in forwardedProps.files."
                raise ApiError(422, "unsupported_content", f"Content of the type {odd[:60]!r} is not read.", fix, where)
            return "\n".join(part.text for part in self.content)
        return self.content if isinstance(self.content, str) else ""


class Tool(_Sent):
    """A tool of the front end."""

    name: str
    description: str = ""
    parameters: dict[str, JsonValue] | None = None


class Context(_Sent):
    """Something that the application shows to the agent."""

    description: str = ""
    value: str = ""


class Resume(_Sent):
    """The answer to an interrupt.

    Attributes:
        interrupt_id: the interrupt.
        status: whether it was answered, or the user went on without an answer.
        payload: the answer.
    """

    interrupt_id: str
    status: Literal["resolved", "cancelled"] = "resolved"
    payload: JsonValue = None


class RunInput(_Sent):
    """Asks for a run.

    Attributes:
        thread_id: the conversation.
        run_id: the run; the same id again follows the run that has it, from its first event.
        protocol_version: the version of AG-UI that the client speaks; 0.x clients send none.
        parent_run_id: the run that this one branches from; it is named in `RUN_STARTED`.
        state: the state as the client has it; of it, `flow_id` alone is read.
        messages: the thread as the client has it; what comes after the assistant's last message is new.
        tools: tools of the front end.
        context: what the application shows to the agent.
        forwarded_props: options of a turn under the names that `AssistRequest` gives them.
        resume: answers to interrupts.
    """

    thread_id: str = Field(min_length=1, max_length=200)
    run_id: str = Field(min_length=1, max_length=200)
    protocol_version: str | None = Field(default=None, max_length=20)
    parent_run_id: str | None = Field(default=None, max_length=200)
    state: Any = None
    messages: list[ResentMessage] = Field(default_factory=list[ResentMessage], max_length=10_000)
    tools: list[Tool] = Field(default_factory=list[Tool], max_length=200)
    context: list[Context] = Field(default_factory=list[Context], max_length=50)
    forwarded_props: Any = None
    resume: list[Resume] | None = Field(default=None, max_length=100)

    @property
    def turn_id(self) -> str:
        """The id of the turn that the run is: the run's own, or one made of it where turns cannot have such ids."""
        fits = re.fullmatch(TURN_ID, self.run_id) is not None
        return self.run_id if fits else f"run-{hashlib.sha256(self.run_id.encode()).hexdigest()[:40]}"

    @property
    def new(self) -> list[tuple[int, ResentMessage]]:
        """The messages after the assistant's last one, with their places."""
        new: list[tuple[int, ResentMessage]] = []
        for at in range(len(self.messages) - 1, -1, -1):
            if self.messages[at].role == "assistant":
                break
            new.append((at, self.messages[at]))
        return new[::-1]
