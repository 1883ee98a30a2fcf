"""Forks the workers of a run from one process that has imported its tests, so that all is imported once.

Called as `python worker_server.py SOCKET COUNT ARGUMENT...`, where the arguments are those of pytest that say what to
collect. Prints `ready` when it has imported the files; when it cannot, it prints what pytest says of it, and ends. Then
it forks COUNT
workers, one for each connection, which brings standard input and output and is open until the worker ends. Ends early
when standard input does.
"""

import atexit
import gc
import os
import select
import signal
import socket
import sys
import tempfile
import threading
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

MANY = 40
"""Files of tests for which it pays to import what they import when they run, once for all workers."""
SDKS = ("anthropic", "bedrock", "google", "groq", "mistral", "openai")
"""Providers whose packages take half a second or more."""
BOOTSTRAP = "import sys;exec(eval(sys.stdin.readline()))"
"""What execnet has a worker's interpreter run."""


class ImportedFile(pytest.Module):
    """A file of tests that is only imported: which tests it has is for the workers to find out."""

    def collect(self) -> list[pytest.Item | pytest.Collector]:
        """Called by pytest."""
        assert self.obj
        return []


class Files:
    """Has files imported and counts them."""

    count = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makemodule(self, module_path: Path, parent: pytest.Collector) -> ImportedFile:
        """Called by pytest."""
        self.count += 1
        return ImportedFile.from_parent(parent, path=module_path)


def import_tests(arguments: list[str]) -> str:
    """Import the tests and all that they need; returns what pytest says when something is wrong with them, or ""."""
    shown = [os.dup(number) for number in (1, 2)]
    files = Files()
    with tempfile.TemporaryFile() as said:
        for number in (1, 2):
            os.dup2(said.fileno(), number)
        options = ["--collect-only", "-qq", "-p", "no:cacheprovider", "-p", "no:randomly"]
        named = dict.fromkeys(argument.partition("::")[0] for argument in arguments)
        code = pytest.main([*options, *named], plugins=[files])
        for number, saved in enumerate(shown, start=1):
            os.dup2(saved, number)
            os.close(saved)
        said.seek(0)
        imported = code in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}
        if files.count >= MANY and imported:
            warm()
        return "" if imported else said.read().decode(errors="replace")


def warm() -> None:
    """Import what many tests import when they run, and have done what hypothesis does once."""
    gc.disable()
    import_module("tests.commands.imports").warm()
    for sdk in SDKS:
        for part in ("providers", "models"):
            import_module(f"pydantic_ai.{part}.{sdk}")
    try_law()
    gc.freeze()
    gc.enable()


def try_law() -> None:
    """Have hypothesis read the constants of all modules, as it otherwise does in each worker before the first law."""
    from hypothesis import given, settings, strategies  # pytest has to import it first: its plugin is rewritten

    @settings(max_examples=10, database=None)
    @given(strategies.integers())
    def law(number: int) -> None:
        assert number == number + 0

    law()


def serve(listener: socket.socket, count: int) -> socket.socket | None:
    """Fork for each connection; returns it in a fork, and None when there were enough."""
    forked: list[int] = []
    while len(forked) < count:
        ready, _, _ = select.select([listener, 0], [], [])
        if listener not in ready:
            return None
        connection, _ = listener.accept()
        _, streams, _, _ = socket.recv_fds(connection, 1, 2)
        if (pid := os.fork()) == 0:
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
                os.close(stream)
            return connection
        forked.append(pid)
        for stream in streams:
            os.close(stream)
        connection.close()
    listener.close()  # whoever comes in place of a worker that crashed starts an interpreter
    for pid in forked:
        os.waitpid(pid, 0)
    return None


def end_with(connection: socket.socket) -> None:
    """End this worker when what stands for it has been killed, as execnet does when a worker takes too long to end."""
    connection.recv(1)
    os._exit(1)


def work(connection: socket.socket) -> None:
    """Be a worker: run what execnet sends, then end without freeing what is shared, which would copy it first."""
    threading.Thread(target=end_with, args=[connection], daemon=True).start()
    main = sys.modules["__main__"] = ModuleType("__main__")
    sys.stdin = open(0, closefd=False)  # noqa: SIM115  (open as long as the process lives)
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115  (likewise)
    code = 1
    try:
        exec(BOOTSTRAP, vars(main))  # noqa: S102  (as execnet would have it run)
        code = 0
    finally:
        threading._shutdown()  # type: ignore[attr-defined]  # waits for threads; there is no public way
        atexit._run_exitfuncs()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    if wrong := import_tests(sys.argv[3:]):
        sys.stdout.write(wrong)
        sys.exit(1)
    interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(sys.argv[1])
        listening.listen(16)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        connection = serve(listening, int(sys.argv[2]))
    if connection is not None:
        signal.signal(signal.SIGINT, interrupt)
        work(connection)
