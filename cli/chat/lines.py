"""Lines that a person types, or that are piped in, read without blocking the event loop."""

import asyncio
import contextlib
import signal
import sys
import threading
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, TypeVar

from cli.errors import BadUsage
from cli.output.streams import print_message

T = TypeVar("T")

QUIET_SECONDS = 2.0
"""How long nothing may come from a pipe before it is said that it is read."""


class EndOfInput(Exception):
    """There are no more lines."""


class Unanswered(Exception):
    """The user turned away from a question."""


class Lines:
    """Reads lines one at a time; an interruption stops the current work instead of the program.

    Enter it in the main thread, while the event loop runs.

    Args:
        prompts: whether a person at a terminal is prompted, which writes on standard output.

    Attributes:
        interactive: whether a person types them.
        edits: whether they are typed in an editor.
        language: the code of the language of notes beside a question.
    """

    edits = False

    def __init__(self, *, prompts: bool = True) -> None:
        self.interactive = prompts and sys.stdin.isatty()
        self._line: asyncio.Future[str | None] | None = None
        self._work: asyncio.Task[Any] | None = None
        self._stopped = False
        self._ended = False
        self._tells = prompts and not self.interactive
        self._heard = False
        self.language = "en"

    def __enter__(self) -> "Lines":
        loop = asyncio.get_running_loop()
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):  # unavailable here
            loop.add_signal_handler(signal.SIGINT, self.interrupt)
            loop.add_signal_handler(signal.SIGTERM, self.end)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        loop = asyncio.get_running_loop()
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.remove_signal_handler(signal.SIGINT)
            loop.remove_signal_handler(signal.SIGTERM)

    async def next(self, prompt: str) -> str:
        """The next line without its end.

        Args:
            prompt: what a person sees before it.

        Raises:
            EndOfInput: there is none.
            BadUsage: standard input is not UTF-8 text.
        """
        if self._ended:
            raise EndOfInput
        loop = asyncio.get_running_loop()
        self._line = loop.create_future()
        arguments = (loop, prompt, self._line)
        threading.Thread(target=self._read, args=arguments, daemon=True, name="lines").start()
        try:
            if not self._heard and self._tells:
                await asyncio.wait([self._line], timeout=QUIET_SECONDS)
                if not self._line.done():
                    print_message("Reading messages from standard input, a line each, until it ends.")
            self._heard = True
            line = await self._line
        finally:
            self._line = None
        if line is None:
            self._ended = True
            raise EndOfInput
        return line.rstrip("\r\n")

    async def ask(self, prompt: str) -> str:
        """The answer to a question.

        Args:
            prompt: the question, as a person sees it.

        Raises:
            BadUsage: standard input is not UTF-8 text.
            EndOfInput: there is no answer, nor anything else.
            Unanswered: a person wants to do something else first.
        """
        return (await self.next(prompt)).strip()

    async def work(self, work: Coroutine[Any, Any, T]) -> T | None:
        """Await something that an interruption cancels; None when it was interrupted."""
        self._work, self._stopped = asyncio.ensure_future(work), False
        try:
            return await self._work
        except asyncio.CancelledError:
            if not self._stopped:
                raise
            return None
        finally:
            self._work = None

    def interrupt(self) -> None:
        """Stop the current work; while a line is awaited, print how to leave."""
        if self._work is not None:
            self._stopped = True
            self._work.cancel()
        else:
            print_message("\nCtrl-D leaves.")

    def end(self) -> None:
        """Stop the current work and end the input."""
        self._ended = True
        if self._work is not None:
            self.interrupt()
        if self._line is not None and not self._line.done():
            self._line.set_result(None)

    def _read(self, loop: asyncio.AbstractEventLoop, prompt: str, line: "asyncio.Future[str | None]") -> None:
        """Read one line, in a thread, which may block."""
        read: str | None = None
        failure: BadUsage | None = None
        try:
            read = input(prompt) if self.interactive else (sys.stdin.readline() or None)
        except EOFError:
            read = None
        except (OSError, ValueError):  # closed, or not UTF-8
            failure = BadUsage("unreadable", "Standard input is not UTF-8 text.", fix="Send text.", where="-")

        def settle() -> None:
            if line.done():
                return
            if failure is None:
                line.set_result(read)
            else:
                line.set_exception(failure)

        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle)
