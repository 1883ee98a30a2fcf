"""A server with a scripted assistant in another thread, and the command with data of its own."""

import asyncio
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.assistant import Assistant
from flows.catalogue import Catalogue
from flows.document import JsonObject
from flows.spec import build
from runtime.keychain.access_token import access_token
from server.settings import ServerSettings
from tests.cli.conftest import Done, Wirewright
from tests.server.live import Live, serving
from tests.shared.flow_texts import ECHO
from tests.shared.scripted_assistant import ScriptedModel, Step, assistant
from tests.shared.stand_ins import StandInRunner, ran


@dataclass
class Remote:
    """A server, and the command beside it.

    Attributes:
        url: the server's address.
        token: that of its first user.
        run: runs a command with `--server`.
        alone: runs a command without it.
        data: the folder of the command.
        runner: runs flows on the server.
        model: answers on the server.
    """

    url: str
    token: str
    run: Callable[..., Done]
    alone: Wirewright
    data: Path
    runner: StandInRunner
    model: ScriptedModel


@contextmanager
def server_of(make: Callable[[], Assistant]) -> Generator[Live]:
    """Serve an assistant in a thread until the block is left."""
    started, ended = Future[Live](), threading.Event()

    async def serve() -> None:
        try:
            async with serving(make()) as live:
                started.set_result(live)
                await asyncio.to_thread(ended.wait)
        except BaseException as failure:
            if not started.done():
                started.set_exception(failure)
            raise

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        yield started.result(60)
    finally:
        ended.set()
        thread.join()


Serve = Callable[..., Remote]


@pytest.fixture
def serve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, catalogue: Catalogue, wirewright: Wirewright
) -> Generator[Serve]:
    """Starts a server whose assistant follows a script, and signs the command in."""
    from contextlib import ExitStack

    with ExitStack() as servers:

        def start(
            *replies: Step,
            signed_in: bool = True,
            blocks_at: int | None = None,
            who: Callable[[], Assistant] | None = None,
        ) -> Remote:
            theirs, ours = tmp_path / "theirs", tmp_path / "ours"
            monkeypatch.setenv("WIREWRIGHT_DATA", str(theirs))
            runner = StandInRunner(results=[ran("hello")])
            model = ScriptedModel(*replies, blocks_at=blocks_at)
            live = servers.enter_context(server_of(who or (lambda: assistant(catalogue, model, runner))))
            token = access_token(ServerSettings().data)
            monkeypatch.setenv("WIREWRIGHT_DATA", str(ours))
            url = str(live.client.base_url).rstrip("/")
            if signed_in:
                assert wirewright("login", url, stdin=token.encode()).code == 0
            return Remote(
                url,
                token,
                lambda *given, **more: wirewright(*given, "--server", url, **more),
                wirewright,
                ours,
                runner,
                model,
            )

        yield start


@pytest.fixture
def echo(catalogue: Catalogue) -> JsonObject:
    """A small flow as Langflow JSON."""
    flow = build(ECHO, catalogue).flow
    assert flow is not None
    return flow.to_json()
