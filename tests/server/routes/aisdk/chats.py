"""A chat as an AI SDK client has it: messages of parts, made from the chunks of streams."""

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

import httpx

CHAT = "/api/chat"
DONE = "[DONE]"
Chunk = dict[str, Any]


async def chunks(response: httpx.Response) -> AsyncGenerator[Chunk]:
    """The chunks of a stream as they come, without what ends it."""
    assert response.headers["x-vercel-ai-ui-message-stream"] == "v1"
    ended = False
    async for line in response.aiter_lines():
        if line.startswith("data: "):
            sent = line.removeprefix("data: ")
            assert not ended, "nothing comes after the end"
            ended = sent == DONE
            if not ended:
                yield json.loads(sent)
    assert ended, "every stream has an end"


def user(text: str, *files: Chunk, name: str = "u1") -> Chunk:
    """A message of the user."""
    return {"id": name, "role": "user", "parts": [*files, {"type": "text", "text": text}]}


@dataclass
class Chat:
    """A chat with a server.

    Attributes:
        client: sends its requests.
        id: the chat.
        body: fields of every request.
        messages: its messages.
        seen: the chunks of the last answer.
    """

    client: httpx.AsyncClient
    id: str = "chat-1"
    body: Chunk = field(default_factory=dict[str, Any])
    messages: list[Chunk] = field(default_factory=list[Chunk])
    seen: list[Chunk] = field(default_factory=list[Chunk])

    async def say(self, text: str, *files: Chunk, **body: object) -> list[Chunk]:
        """Send a message of the user; returns the chunks of the answer."""
        self.messages.append(user(text, *files, name=f"u{len(self.messages)}"))
        return await self.send(**body)

    async def answer(self, **body: object) -> list[Chunk]:
        """Send the chat, whose last message is the assistant's."""
        return await self.send(messageId=self.messages[-1]["id"], **body)

    def decide(self, call: str, approved: bool, reason: str | None = None) -> None:
        """Answer what waits, as `addToolApprovalResponse` does."""
        for part in self.messages[-1]["parts"]:
            if part.get("approval", {}).get("id") == call:
                part["state"] = "approval-responded"
                part["approval"] = {"id": call, "approved": approved} | ({} if reason is None else {"reason": reason})

    async def send(self, **body: object) -> list[Chunk]:
        """Send the chat as it is."""
        async with self.client.stream("POST", CHAT, json=self.request(**body)) as response:
            assert response.status_code == 200, await response.aread()
            self.seen = [chunk async for chunk in chunks(response)]
        self.take(self.seen)
        return self.seen

    async def refused(self, **body: object) -> tuple[int, str]:
        """Send the chat as it is; returns the status and the code with which it is refused."""
        response = await self.client.post(CHAT, json=self.request(**body))
        assert response.status_code != 200, response.text
        return response.status_code, response.json()["error"]["code"]

    def request(self, **body: object) -> Chunk:
        """The request that sends the chat as it is."""
        return {"id": self.id, "messages": self.messages, "trigger": "submit-message", **self.body, **body}

    def take(self, seen: list[Chunk]) -> None:
        """Build the assistant's message from chunks, as clients do, and as strictly."""
        begun = seen[0]
        assert begun["type"] == "start", begun
        if self.messages[-1]["role"] != "assistant" or self.messages[-1]["id"] != begun["messageId"]:
            self.messages.append({"id": begun["messageId"], "role": "assistant", "parts": []})
        parts: list[Chunk] = self.messages[-1]["parts"]
        texts: dict[str, Chunk] = {}
        for chunk in seen[1:]:
            kind = chunk["type"]
            if kind in ("text-start", "reasoning-start"):
                texts[chunk["id"]] = {"type": kind.removesuffix("-start"), "text": ""}
                parts.append(texts[chunk["id"]])
            elif kind in ("text-delta", "reasoning-delta"):
                texts[chunk["id"]]["text"] += chunk["delta"]
            elif kind in ("text-end", "reasoning-end"):
                del texts[chunk["id"]]
            elif kind == "start-step":
                parts.append({"type": "step-start"})
            elif kind == "tool-input-available":
                kept = {name: chunk[name] for name in ("toolCallId", "toolName", "input")}
                known = [one for one in parts if one.get("toolCallId") == chunk["toolCallId"]]
                if known:
                    known[0] |= kept
                else:
                    parts.append({"type": "dynamic-tool", "state": "input-available", **kept})
            elif kind.startswith("tool-"):
                [part] = [one for one in parts if one.get("toolCallId") == chunk["toolCallId"]]
                if kind == "tool-approval-request":
                    part |= {"state": "approval-requested", "approval": {"id": chunk["approvalId"]}}
                else:
                    part |= {"state": kind.removeprefix("tool-"), "output": chunk.get("output")}
            elif kind == "data-approval":
                parts.append(chunk)
        assert not texts, "every text and thought has an end"

    @property
    def text(self) -> str:
        """The text of the last message."""
        return "\n\n".join(part["text"] for part in self.messages[-1]["parts"] if part["type"] == "text")

    @property
    def waiting(self) -> list[str]:
        """The ids of the calls of the last message that wait for the user."""
        parts = self.messages[-1]["parts"]
        return [part["approval"]["id"] for part in parts if part.get("state") == "approval-requested"]

    @property
    def states(self) -> dict[str, str]:
        """The states of the calls of the last message."""
        return {part["toolCallId"]: part["state"] for part in self.messages[-1]["parts"] if "toolCallId" in part}


def types(seen: list[Chunk]) -> list[str]:
    """The types of chunks, those that come again and again once; what only says how far a turn is, not."""
    found = [one["type"] for one in seen if one["type"] != "data-progress" and not one.get("preliminary")]
    return [one for at, one in enumerate(found) if at == 0 or one != found[at - 1] or not one.endswith("-delta")]
