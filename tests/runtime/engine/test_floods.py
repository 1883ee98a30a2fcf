"""Runs that log, print or return without end: what is too much is cut or refused, and costs the runner little."""

import pytest

from flows.document import Flow
from runtime.engine.protocol import MAX_RESULT
from runtime.options import Network
from runtime.results import RunResult
from runtime.runner import Runner
from tests.runtime.unguarded import run_unguarded
from tests.shared.attempts import MakeCode

pytestmark = [pytest.mark.anyio, pytest.mark.engine]

LINES = 200_000
LOG = "for n in range({lines}): self.log(f'line {{n}}')\nreturn Data(data={{'ok': True, 'kept': len(self._logs)}})"


async def run(runner: Runner, make_code: MakeCode, body: str, seconds: float = 30) -> RunResult:
    """The result of a component with this body."""
    network: Network = "gateway-only"
    return await run_unguarded(runner, make_code(body), timeout=seconds, network=network, want_nodes=True)


async def test_a_flood_of_log_lines_is_cut_and_the_result_says_so(runner: Runner, make_code: MakeCode) -> None:
    result = await run(runner, make_code, LOG.format(lines=LINES))
    assert result.error is None
    assert list(result.outputs.values()) == [{"ok": True, "kept": 1_000}]
    assert result.dropped_log_lines == LINES - 1_000
    assert result.to_json()["dropped_log_lines"] == LINES - 1_000
    assert RunResult.from_json(result.to_json()) == result


async def test_a_run_that_logs_as_components_do_keeps_every_line(
    runner: Runner, make_code: MakeCode, echo: Flow
) -> None:
    result = await run(runner, make_code, LOG.format(lines=1_000))
    assert list(result.outputs.values()) == [{"ok": True, "kept": 1_000}]
    assert "dropped_log_lines" not in result.to_json()
    assert "dropped_log_lines" not in (await runner.run(echo, "hi")).to_json()


@pytest.mark.parametrize(
    "line",
    [
        "print('line', n)",
        "sys.stdout.buffer.write(b'line')",
        "sys.stderr.write(f'line {n}')",
        "logging.getLogger('x').error('line %s', n)",
        "logger.error('line', n=n)",
        "warnings.warn(f'line {n}')",
        "self.status = f'line {n}'",
    ],
)
async def test_a_flood_elsewhere_does_not_use_up_the_runs_time(line: str, runner: Runner, make_code: MakeCode) -> None:
    body = f"import logging, warnings\nfrom lfx.log.logger import logger\nfor n in range({LINES}): {line}"
    result = await run(runner, make_code, f"{body}\nreturn Data(data={{'ok': True}})")
    assert result.error is None
    assert list(result.outputs.values()) == [{"ok": True}]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (f"return Data(data={{'text': 'x' * {MAX_RESULT + 1}}})", "more than 32 MB"),
        ("return Data(data={'texts': ['x' * 10**6] * 40})", "more than 32 MB"),
        ("return Data(data={'text': '\u20ac' * (12 * 10**6)})", "at most 32 MB"),
        ("return Data(data={'lists': [[] for _ in range(250_000)]})", "250,000 lists and objects"),
        ("return Data(data={'numbers': [1] * 1_100_000})", "more than 1,000,000 values"),
    ],
)
async def test_a_result_that_is_too_large_is_a_typed_error_that_says_the_limit(
    body: str, message: str, runner: Runner, make_code: MakeCode, echo: Flow
) -> None:
    result = await run(runner, make_code, body)
    assert result.error is not None
    assert (result.error.code, message in result.error.message) == ("limit", True), result.error
    assert result.error.fix == "Let the flow return less: fewer rows, or a shorter text."
    assert result.output is None
    assert not result.outputs
    assert (await runner.run(echo, "next")).output == "next"


async def test_a_list_without_an_end_ends_the_run_as_a_typed_error(
    runner: Runner, make_code: MakeCode, echo: Flow
) -> None:
    classes = "class Forever(list):\n    def __iter__(self):\n        while True: time.sleep(0.001); yield 1\n"
    result = await run(runner, make_code, f"{classes}return Data(data={{'endless': Forever()}})", seconds=3)
    assert result.error is not None
    assert result.error.code in {"timeout", "limit"}
    assert (await runner.run(echo, "next")).output == "next"


@pytest.mark.parametrize(
    "depth_of",
    ["for _ in range(100_000): nested = [nested]", "for _ in range(100_000): nested = {'in': nested}"],
)
async def test_a_deeply_nested_result_ends_at_a_depth_or_as_an_error(
    depth_of: str, runner: Runner, make_code: MakeCode, echo: Flow
) -> None:
    engine = runner.engine_pid
    result = await run(runner, make_code, f"nested = None\n{depth_of}\nreturn Data(data={{'nested': nested}})")
    assert len(str(result.to_json())) < 10_000
    assert result.error is None or result.error.code in {"code", "limit", "crash"}
    assert (await runner.run(echo, "next")).output == "next"
    assert runner.engine_pid == engine
