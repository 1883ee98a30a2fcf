"""Transcripts in the database."""

from __future__ import annotations

import asyncio
import base64
import json
import zlib
from typing import TYPE_CHECKING

from pydantic import ValidationError

from agent.conversation.failures import store_failures
from agent.conversation.memory import ConversationState, title_of
from agent.conversation.transcript.parts import NewMessage, TranscriptEntry, TranscriptMessage
from agent.conversation.transcript.reading import messages_of, selected, state_before
from runtime.database.database import Database

if TYPE_CHECKING:
    from runtime.database.transcripts import MessageText, TranscriptRows, TranscriptText

_EARLIER = 10_000
"""How many messages are read at most to put together what a conversation was."""


class StoredTranscripts:
    """The transcripts in a database. Every method may raise `AssistantUnavailable`.

    Args:
        database: the database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._documents = database.documents
        self._complete: set[str] = set()
        """The users whose earlier conversations all have transcripts."""

    async def page(
        self, user: str, limit: int, offset: int, text: str = "", flow: str = ""
    ) -> tuple[list[TranscriptEntry], int]:
        """Conversations, last changed first, and how many there are in all."""
        with store_failures():
            rows = await (await self._rows(user)).entries(user, flow)
            if not text:
                shown = await asyncio.to_thread(self._entries, rows[offset : offset + limit])
                return shown, len(rows)
            found = selected(await asyncio.to_thread(self._entries, rows), text)
        return found[offset : offset + limit], len(found)

    async def entry(self, user: str, session: str) -> TranscriptEntry | None:
        """One conversation, if there is one."""
        with store_failures():
            row = await (await self._rows(user)).entry(user, session)
            return None if row is None else self._entry(row)

    async def messages(self, user: str, session: str, limit: int, offset: int) -> tuple[list[TranscriptMessage], int]:
        """The messages of a conversation, oldest first, and how many there are in all."""
        with store_failures():
            documents, total = await (await self._rows(user)).messages(user, session, limit, offset)
            return await asyncio.to_thread(lambda: [self._message(one) for one in documents]), total

    async def message(self, user: str, session: str, message: str) -> TranscriptMessage | None:
        """One message, if there is one."""
        with store_failures():
            found = await (await self._rows(user)).message(user, session, message)
            return None if found is None else await asyncio.to_thread(self._message, found[0])

    async def retitle(self, user: str, session: str, title: str) -> bool:
        """Give a conversation another title; returns whether there is one."""
        with store_failures():
            return await (await self._rows(user)).retitle(user, session, self._documents.seal_text(title))

    async def rewind(self, user: str, session: str, message: str) -> int:
        """Delete a message and those after it, and put the conversation back to how it was before them."""
        with store_failures():
            rows = await self._rows(user)
            found, entry = await rows.message(user, session, message), await rows.entry(user, session)
            if found is None or entry is None:
                return 0
            every, _ = await self.messages(user, session, _EARLIER, 0)
            place = next(index for index, one in enumerate(every) if one.id == message)
            title = self._documents.unseal_text(entry.title)
            before = None if found[1] is None else await asyncio.to_thread(self._unpacked, found[1])
            state = await asyncio.to_thread(state_before, before, title, every[:place])
            document = await asyncio.to_thread(lambda: self._documents.seal_text(state.to_json()))
            last = every[place - 1] if place else None
            preview = self._preview("" if last is None else last.preview, waiting=state.pending is not None)
            flow = "" if last is None else last.flow_id or ""
            return await rows.rewind(user, session, message, document, preview, flow)

    async def complete(self, user: str) -> None:
        """Give the conversations of earlier versions their transcripts, of what is still known of them."""
        if user in self._complete:
            return
        rows = await self._opened()
        for session, document in await rows.without_transcript(user):
            try:
                text = await asyncio.to_thread(self._documents.unseal_text, document)
                state = await asyncio.to_thread(ConversationState.from_json, text)
            except ValidationError:
                continue  # the next turn logs it and sets it aside
            title = state.title or title_of(state.turns[0].user if state.turns else "")
            await rows.add_all(user, session, await asyncio.to_thread(self._texts_of, state, title))
        self._complete.add(user)

    def text_of(self, new: NewMessage, *, keeps_state: bool = True) -> MessageText:
        """A message as it is stored. Takes a few milliseconds.

        Args:
            new: the message.
            keeps_state: whether the conversation before it is stored with it.
        """
        from runtime.database.transcripts import MessageText

        seal = self._documents.seal_text
        packed = base64.b64encode(zlib.compress(new.before.encode(), 1)).decode()
        return MessageText(
            id=new.message.id,
            at=new.message.at,
            flow=new.message.flow_id or "",
            version=new.message.version,
            document=seal(new.message.to_json()),
            title=seal(new.title),
            preview=self._preview(new.message.preview, waiting=new.waiting),
            before=seal(packed) if keeps_state else None,
        )

    def _texts_of(self, state: ConversationState, title: str) -> list[MessageText]:
        waiting = state.pending is not None
        new = [NewMessage(message=one, title=title, waiting=waiting, before="") for one in messages_of(state)]
        return [self.text_of(one, keeps_state=False) for one in new]

    def _unpacked(self, before: str) -> str:
        return zlib.decompress(base64.b64decode(self._documents.unseal_text(before))).decode()

    def _preview(self, text: str, *, waiting: bool) -> str:
        return self._documents.seal_text(json.dumps({"text": text, "waiting": waiting}))

    def _message(self, document: str) -> TranscriptMessage:
        return TranscriptMessage.from_json(self._documents.unseal_text(document))

    def _entries(self, rows: list[TranscriptText]) -> list[TranscriptEntry]:
        return [self._entry(row) for row in rows]

    def _entry(self, row: TranscriptText) -> TranscriptEntry:
        preview = json.loads(self._documents.unseal_text(row.preview))
        return TranscriptEntry(
            id=row.session,
            title=self._documents.unseal_text(row.title),
            preview=preview["text"],
            created_at=row.created_at,
            updated_at=row.updated_at,
            flow_id=row.flow or None,
            messages=row.messages,
            waiting=preview["waiting"],
        )

    async def _rows(self, user: str) -> TranscriptRows:
        await self.complete(user)
        return await self._opened()

    async def _opened(self) -> TranscriptRows:
        await self._database.open()
        from runtime.database.transcripts import TranscriptRows

        return TranscriptRows(self._database)
