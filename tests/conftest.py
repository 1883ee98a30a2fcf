"""What every test shares: no network to models, folders of its own, and the engine installed once."""

import asyncio
import gc
import logging
import os
import signal
import ssl
import tempfile
from collections.abc import AsyncIterator, Generator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
os.environ["LOGFIRE_IGNORE_NO_CONFIG"] = "1"
os.environ.setdefault("WIREWRIGHT_CACHE", str(ROOT / ".cache" / "wirewright"))
_DATA = tempfile.TemporaryDirectory(prefix="wirewright-tests-", ignore_cleanup_errors=True)
os.environ["WIREWRIGHT_DATA"] = _DATA.name  # until a test has its own: never the user's
FOREIGN = (  # what the machine's environment may hold, and no test may depend on
    *("WIREWRIGHT_MODEL", "WIREWRIGHT_TOKEN", "WIREWRIGHT_SECRET_KEY", "WIREWRIGHT_SECRET_STORE"),
    *("WIREWRIGHT_DATABASE", "DATABASE_URL", "WIREWRIGHT_RUN_CONFINEMENT"),
    *("LOGFIRE_TOKEN", "PORT", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"),
)
for variable in list(os.environ):
    if variable.endswith(("_API_KEY", "_BASE_URL")) or variable in FOREIGN:
        del os.environ[variable]

from hypothesis import HealthCheck, settings  # noqa: E402  (after the environment is clean)
from pydantic_ai import models  # noqa: E402  (likewise)

from flows.catalogue import Catalogue  # noqa: E402  (likewise)
from runtime.install.environment import RunnerEnvironment  # noqa: E402  (likewise)
from runtime.runner import Runner  # noqa: E402  (likewise)
from tests.shared import kernel  # noqa: E402  (likewise)

models.ALLOW_MODEL_REQUESTS = False
if not kernel.confines():  # flows are tested all the same, and what needs the real confinement is skipped
    os.environ["WIREWRIGHT_RUN_CONFINEMENT"] = "available"
settings.register_profile(
    "random",  # `--hypothesis-profile=random` looks for new counterexamples
    deadline=None,  # the machine may be busy: no test is about a time
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("deterministic", settings.get_profile("random"), derandomize=True)
settings.load_profile("deterministic")

_CERTIFICATES: dict[object, ssl.SSLContext] = {}
_make_context = ssl.create_default_context


def _shared_context(*arguments: Any, **options: Any) -> ssl.SSLContext:
    """One context for all clients that are made alike: reading the certificates takes longer than most tests."""
    named = [os.environ.get(variable) for variable in ("SSL_CERT_FILE", "SSL_CERT_DIR")]
    key = repr((arguments, options, named))
    if key not in _CERTIFICATES:
        _CERTIFICATES[key] = _make_context(*arguments, **options)
    return _CERTIFICATES[key]


ssl.create_default_context = _shared_context

pytest_plugins = [
    "tests.processes.installation",
    "tests.processes.forked",
    "tests.processes.forked_workers",
    "tests.databases.postgres",
    "tests.tries.part",
    "tests.tries.second_try",
    "tests.processes.warm_engines",
    "tests.commands.forked",
    "tests.conformance.clients",
    "tests.recordings.notice",
]


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell leaves it for what it starts in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of `tests/surfaces`."""
    parser.addoption("--subject-python", metavar="PATH", help="capture surfaces of the installation of this Python")
    parser.addoption("--update-surfaces", action="store_true", help="refresh the snapshots of public surfaces")


ENGINE_FIXTURES = {"runner_environment", "warm_environment", "engine", "started_engine", "nursery"}
SHARED_PROCESSES = ("started_engine", "nursery", "nurseries", "command_forks", "forks", "engine_environment", "engine")
"""Fixtures that a worker starts once, for all its tests, and that take seconds."""
LONGEST = ("test_plain_user.py", "test_truth.py", "test_wheel.py")
"""Files with a single test that takes longer than ten seconds."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that uses the engine's environment, so that `-m "not engine"` selects those that run anywhere.

    Tests that share a process come first and together, in the order that they have: few workers start that process.
    Before them come those that take longest, so that none of these is left over for a single worker at the end.
    """
    for item in items:
        if ENGINE_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker("engine")
    items.sort(key=_shared_process)


def _shared_process(item: pytest.Item) -> int:
    """Where a test's place is: before all others, or among those that share a process."""
    if item.path.name in LONGEST:
        return -1
    names: set[str] = set(getattr(item, "fixturenames", ()))
    return next((place for place, name in enumerate(SHARED_PROCESSES) if name in names), len(SHARED_PROCESSES))


_numbers = count(1)

COLLECTIONS = (50_000, 20, 50)
"""After how many new objects garbage is collected: as often as Python does takes a twelfth of the time of tests."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without garbage collection: nearly all that importing makes stays, and is not looked at again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(*COLLECTIONS)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Asynchronous tests run on asyncio, a loop each, or one for all that share an engine."""
    return "asyncio"


@pytest.fixture(autouse=True)
def data_folder(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A data folder of the test's own; the cache is shared. It is in the test's folder, if that needs one anyway."""
    needed = "tmp_path" in request.fixturenames  # to make one looks through those of all earlier tests
    parent: Path = request.getfixturevalue("tmp_path") if needed else tmp_path_factory.getbasetemp()
    folder = parent / ("data" if needed else f"data-{next(_numbers)}")
    monkeypatch.setenv("WIREWRIGHT_DATA", str(folder))
    return folder


@pytest.fixture(autouse=True)
def server_log_level() -> None:
    """A server that an earlier test ran in this process has silenced the log of every later one."""
    logging.getLogger("uvicorn.error").setLevel(logging.NOTSET)


@pytest.fixture(scope="session")
def catalogue() -> Generator[Catalogue]:
    """An excerpt of the real catalogue: enough component types for most tests, without the engine."""
    path = ROOT / "tests" / "flows" / "data" / "catalogue.json"
    shared = Catalogue.load(path)
    yield shared
    assert list(shared) == list(Catalogue.load(path)), (
        "a test has changed what all tests share: a flow shares its fields"
    )


@pytest.fixture(scope="session")
def runner_environment() -> RunnerEnvironment:
    """The runner's environment, installed on first use into the shared cache."""
    environment = RunnerEnvironment.locate()
    asyncio.run(environment.install())
    return environment


@pytest.fixture(scope="session")
async def engine(warm_environment: RunnerEnvironment) -> AsyncIterator[Runner]:
    """One engine, ready, for all tests that need none of their own; forked from the warm one."""
    async with Runner(warm_environment) as made:
        assert await made.ready(180)
        yield made


@pytest.fixture(scope="session")
async def started_engine(runner_environment: RunnerEnvironment) -> AsyncIterator[Runner]:
    """One engine that was started as users start it, for tests of what runs may reach."""
    async with Runner(runner_environment) as made:
        assert await made.ready(180)
        yield made
