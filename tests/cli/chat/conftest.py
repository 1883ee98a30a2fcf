"""What the tests of `chat` at a terminal share."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.chat.terminal import Terminal

Chat = Callable[..., Terminal]


@pytest.fixture
def silent_provider() -> Iterator[str]:
    """The address of a model provider that takes requests and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken: list[socket.socket] = []

        def take() -> None:
            try:
                while True:
                    taken.append(server.accept()[0])
            except OSError:
                return  # the test has ended

        threading.Thread(target=take, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        server.shutdown(socket.SHUT_RDWR)
        for connection in taken:
            connection.close()


@pytest.fixture
def chat(tmp_path: Path, warm_engine: None, wirewright_command: Path) -> Chat:
    """Starts `wirewright chat` with the demo planner in a terminal, in an empty folder: options, and variables."""

    def start(*options: str | Path, columns: int = 80, rows: int = 40, **variables: str) -> Terminal:
        folder = tmp_path / "here"
        folder.mkdir(exist_ok=True)
        environment = {
            **{name: os.environ[name] for name in ("WIREWRIGHT_CACHE", "WIREWRIGHT_DATA")},
            "WIREWRIGHT_MODEL": "demo",
            **variables,
        }
        command = (wirewright_command, "chat", *options)
        return Terminal(*command, columns=columns, rows=rows, environment=environment, folder=folder)

    return start
