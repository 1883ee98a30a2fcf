"""What every test shares: no network to models, folders of its own, and the engine installed once."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
os.environ["LOGFIRE_IGNORE_NO_CONFIG"] = "1"
os.environ.setdefault("WIREWRIGHT_CACHE", str(ROOT / ".cache" / "wirewright"))
for variable in list(os.environ):
    if variable.endswith(("_API_KEY", "_BASE_URL")) or variable in ("WIREWRIGHT_MODEL", "LOGFIRE_TOKEN", "PORT"):
        del os.environ[variable]

from pydantic_ai import models  # noqa: E402  (after the environment is clean)

from flows.catalogue import Catalogue  # noqa: E402  (likewise)
from runtime.install.environment import RunnerEnvironment  # noqa: E402  (likewise)
from runtime.runner import Runner  # noqa: E402  (likewise)
from tests.sharing import Share  # noqa: E402  (likewise)

models.ALLOW_MODEL_REQUESTS = False


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--tables K/N`: of the rows of tables, only a share, another for every K."""
    parser.addoption("--tables", metavar="K/N", help="play only a share of the tests that are marked as tables")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the rows that are not in the share that was asked for."""
    asked: str | None = config.getoption("tables")
    if asked is None:
        return
    try:
        share = Share.read(asked)
    except ValueError as error:
        raise pytest.UsageError(f"--tables: {error}") from None
    left = [item for item in items if item.get_closest_marker("table") and not share.has(item.nodeid)]
    config.hook.pytest_deselected(items=left)
    out = set(left)
    items[:] = [item for item in items if item not in out]


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Asynchronous tests run on asyncio, a loop each, or one for all that share an engine."""
    return "asyncio"


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of the test's own; the cache is shared."""
    folder = tmp_path / "data"
    monkeypatch.setenv("WIREWRIGHT_DATA", str(folder))
    return folder


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    """An excerpt of the real catalogue: enough component types for most tests, without the engine."""
    return Catalogue.load(ROOT / "tests" / "flows" / "data" / "catalogue.json")


@pytest.fixture(scope="session")
def runner_environment() -> RunnerEnvironment:
    """The runner's environment, installed on first use into the shared cache."""
    environment = RunnerEnvironment.locate()
    asyncio.run(environment.install())
    return environment


@pytest.fixture(scope="session")
async def engine(runner_environment: RunnerEnvironment) -> AsyncIterator[Runner]:
    """One engine, ready, for all tests that need none of their own: starting one takes seconds."""
    async with Runner(runner_environment) as made:
        assert await made.ready(180)
        yield made
