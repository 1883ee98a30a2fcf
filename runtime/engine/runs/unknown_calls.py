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

MAX_QUESTIONS = 32
"""How many are answered; then the descriptor is closed, and the kernel answers the same by itself, at no cost here."""
RECEIVE, SEND = 0xC0502100, 0xC0182101
_QUESTION = struct.Struct("=QIIiIQ6Q")
_ANSWER = struct.Struct("=Qqii")


class UnknownCalls:
    """The unknown calls of one run, by number."""

    def __init__(self, listener: int | None) -> None:
        """Answer on a descriptor, which is closed here; None where the kernel does not ask."""
        self._numbers: dict[int, None] = {}
        self._left = MAX_QUESTIONS
        self._listener = listener
        if listener is not None:
            asyncio.get_running_loop().add_reader(listener, self._answer)

    def names(self, numbers: Mapping[str, object]) -> tuple[str, ...]:
        """The names of those that were tried, in their order.

        Args:
            numbers: the numbers of the machine's calls, by name.
        """
        known = {number: name for name, number in numbers.items()}
        return tuple(known.get(number, f"number {number}") for number in self._numbers)

    def close(self) -> None:
        """Close the descriptor."""
        if self._listener is not None:
            asyncio.get_running_loop().remove_reader(self._listener)
            os.close(self._listener)
            self._listener = None

    def _answer(self) -> None:
        """Answer one question, if there is one: asking for one when there is none would wait."""
        import fcntl  # not on Windows, where nothing listens

        if self._listener is None:
            return
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        if not any(event & select.POLLIN for _, event in poll.poll(0)):
            self.close()  # the run has ended
            return
        with contextlib.suppress(OSError):  # the thread that asked was killed
            question = bytearray(_QUESTION.size)
            fcntl.ioctl(self._listener, RECEIVE, question)
            identity, _, _, number, *_ = _QUESTION.unpack(question)
            self._numbers[number] = None
            fcntl.ioctl(self._listener, SEND, bytearray(_ANSWER.pack(identity, 0, -errno.ENOSYS, 0)))
        self._left -= 1
        if not self._left:
            self.close()
