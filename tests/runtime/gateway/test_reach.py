"""What the process of a run with models reaches: the gateway, with its own key, and nothing else."""

import socket
from collections.abc import Iterator

import pytest

from flows.document import JsonObject
from runtime.install.environment import RunnerEnvironment
from runtime.runner import Runner
from tests.shared.attempts import MakeCode, needs, outcome

pytestmark = [pytest.mark.anyio, pytest.mark.engine]


@pytest.fixture
def runner(started_engine: Runner) -> Runner:
    """What runs flows: an engine that was started, not forked from a warm one."""
    return started_engine


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


async def attempted(runner: Runner, make_code: MakeCode, attempt: str) -> JsonObject:
    """What unguarded code achieves in a verification run that has a gateway."""
    gateway = await runner._gateway._started()
    return await outcome(
        runner, make_code, attempt.replace("{gateway}", str(gateway.port)), "gateway-only", gateway.url
    )


@pytest.mark.parametrize(
    "attempt",
    [
        "return socket.create_connection(('127.0.0.1', {port}), 3).getsockname()",
        "import httpx\nreturn httpx.get('http://127.0.0.1:{port}/', timeout=3).text",
        "return socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)",  # MPTCP, which Landlock does not watch
        "return socket.socket(socket.AF_INET6, socket.SOCK_STREAM)",
        "s = socket.socket()\nreturn s.sendto(b'x', 0x20000000, ('127.0.0.1', {port}))",  # TCP Fast Open
        "return socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'secret', ('127.0.0.1', {port}))",
        "return socket.getaddrinfo('example.invalid', 80)",
        "return socket.socket(socket.AF_UNIX).fileno()",
        "return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).fileno()",
        "return socket.create_server(('127.0.0.1', 0)).getsockname()",
    ],
)
async def test_a_verification_run_with_models_reaches_the_gateway_and_nothing_else(
    attempt: str,
    runner: Runner,
    make_code: MakeCode,
    listener: socket.socket,
    active: frozenset[str],
) -> None:
    needs(active, "network of verification runs", "network of verification runs with models")
    reached = await attempted(runner, make_code, "return socket.create_connection(('127.0.0.1', {gateway}), 3)")
    assert "escaped" in reached
    attempt = attempt.replace("{port}", str(listener.getsockname()[1]))
    assert "stopped" in await attempted(runner, make_code, attempt)


async def test_the_gateway_answers_nobody_without_a_key(runner: Runner, make_code: MakeCode) -> None:
    attempt = (
        "import httpx\nasked = {'model': 'openai:x', 'messages': [{'role': 'user', 'content': 'x'}]}\n"
        "return httpx.post('http://127.0.0.1:{gateway}/v1/chat/completions', json=asked, timeout=3).status_code"
    )
    assert await attempted(runner, make_code, attempt) == {"escaped": "401"}


async def test_no_key_of_the_server_is_in_the_process_of_a_run(
    make_code: MakeCode, runner_environment: RunnerEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GROQ_API_KEY", "WIREWRIGHT_SECRET")
    for name in names:
        monkeypatch.setenv(name, "sk-live-of-the-server")
    attempt = (
        "import gc\nheld = [value for value in os.environ.values() if 'sk-live' in value]\n"
        "try: held += [text for text in [open('/proc/self/environ').read()] if 'sk-live' in text]\n"
        "except (PermissionError, FileNotFoundError): pass\n"
        "return held or sorted(name for name in os.environ if 'KEY' in name)"
    )
    async with Runner(runner_environment) as own:
        assert await own.ready(180)
        assert await attempted(own, make_code, attempt) == {"escaped": "[]"}
