"""Answers the kernel's questions about system calls of a run that its filter does not know: none of them is made.

The structures are those of `include/uapi/linux/seccomp.h`.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import select
import struct
from collections.abc import Mapping

BURST = 256
"""How many questions of a run are answered at once."""
PAUSE = 0.002
"""Seconds between two answers after that: a run that goes on asking waits, and costs next to nothing here."""
LAST_NUMBER = 1023
"""Greater numbers, which no kernel uses, are counted together, so that a run cannot fill memory with them."""
OTHERS = f"numbers above {LAST_NUMBER}"
RECEIVE, SEND = 0xC0502100, 0xC0182101
_QUESTION = struct.Struct("=QIIiIQ6Q")
_ANSWER = struct.Struct("=Qqii")


class UnknownCalls:
    """The unknown calls of one run, each with how often it was tried. All methods belong to one event loop."""

    def __init__(self, listener: int | None) -> None:
        """Answer on a descriptor, which is closed here; None where the kernel does not ask."""
        self._counts: dict[int, int] = {}
        self._left = BURST
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._resumption: asyncio.TimerHandle | None = None
        self._listen()

    def counts(self, numbers: Mapping[str, object]) -> dict[str, int]:
        """How often each was tried, by its name, in the order of the first try.

        Args:
            numbers: the numbers of the machine's calls, by name.
        """
        known = {LAST_NUMBER + 1: OTHERS, **{number: name for name, number in numbers.items()}}
        return {known.get(number, f"number {number}"): count for number, count in self._counts.items()}

    def close(self) -> None:
        """Count the questions that wait, and close the descriptor: the kernel answers by itself from now on."""
        if self._listener is None:
            return
        for _ in range(BURST):
            if not self._answer_one():
                break
        self._pause()
        os.close(self._listener)
        self._listener = None

    def _listen(self) -> None:
        if self._listener is not None:
            self._loop.add_reader(self._listener, self._answer)

    def _pause(self) -> None:
        """Let questions wait."""
        if self._listener is not None:
            self._loop.remove_reader(self._listener)
        if self._resumption is not None:
            self._resumption.cancel()

    def _answer(self) -> None:
        """Answer a question, then those that come at once or after a pause."""
        if not self._answer_one():
            self.close()  # the run has ended
            return
        self._left -= 1
        if self._left < 0:
            self._pause()
            self._resumption = self._loop.call_later(PAUSE, self._listen)

    def _answer_one(self) -> bool:
        """Answer one question; returns whether there was one: asking for one when there is none would wait."""
        import fcntl  # not on Windows, where nothing listens

        if self._listener is None:
            return False
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        if not any(event & select.POLLIN for _, event in poll.poll(0)):
            return False
        with contextlib.suppress(OSError):  # the thread that asked was killed
            question = bytearray(_QUESTION.size)
            fcntl.ioctl(self._listener, RECEIVE, question)
            identity, _, _, number, *_ = _QUESTION.unpack(question)
            number = min(number, LAST_NUMBER + 1) if number >= 0 else LAST_NUMBER + 1
            self._counts[number] = self._counts.get(number, 0) + 1
            fcntl.ioctl(self._listener, SEND, bytearray(_ANSWER.pack(identity, 0, -errno.ENOSYS, 0)))
        return True
