"""Files outside of a run cannot even be seen: tried by unguarded code inside real runs."""

import os
import sys
from pathlib import Path

import pytest

from runtime.runner import Runner
from tests.shared.attempts import MakeCode, needs, outcome

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.engine,
    pytest.mark.skipif(sys.platform != "linux", reason="mounts of Linux"),
]


@pytest.fixture(autouse=True)
def holds(active: frozenset[str]) -> None:
    """Nothing to try where the status says that it does not hold."""
    needs(active, "names of files")


@pytest.mark.parametrize(
    "attempt",
    [
        "return os.stat('{canary}').st_size",
        "return os.lstat('{canary}').st_mtime",
        "return os.stat('/proc/self/root{canary}').st_size",
        "return os.stat('../../../../../../../..{canary}').st_size",
        "os.symlink('{canary}', 'link')\nreturn os.stat('link').st_size",
        "os.stat(os.path.dirname('{canary}'))\nreturn os.stat('.', dir_fd=os.open('{canary}/..', os.O_PATH))",
        "return os.open('{canary}', os.O_PATH)",
        "return os.statvfs('{canary}').f_bsize",
        "return os.readlink('/proc/{server}/cwd')",
        "assert os.access('{canary}', os.F_OK)\nreturn 'exists'",
        "assert os.path.exists('{data}')\nreturn 'exists'",
        "return os.stat('/proc/{server}').st_uid",
        "return os.stat('/dev/shm').st_mode",
        "return os.listdir(os.path.dirname('{canary}'))",
        "return os.scandir('/')",
    ],
)
async def test_files_of_others_have_no_name_in_a_run(
    attempt: str, runner: Runner, make_code: MakeCode, tmp_path: Path, data_folder: Path
) -> None:
    data_folder.mkdir(parents=True, exist_ok=True)  # noqa: ASYNC240 - takes no time
    canary = tmp_path / "canary.txt"
    canary.write_text("the canary")
    for name, place in {"canary": canary, "server": os.getpid(), "data": data_folder}.items():
        attempt = attempt.replace(f"{{{name}}}", str(place))
    assert "stopped" in await outcome(runner, make_code, attempt)


async def test_what_a_run_needs_keeps_its_name(runner: Runner, make_code: MakeCode) -> None:
    attempt = """import ssl, zoneinfo, certifi
assert os.path.exists(os.__file__) and os.path.exists('/dev/null') and os.path.exists(os.environ['TMPDIR'])
assert zoneinfo.ZoneInfo('Europe/Berlin') and ssl.create_default_context(cafile=certifi.where())
import sqlite3.dbapi2, xml.dom.minidom, wsgiref.handlers
return sorted(os.listdir(os.path.dirname(os.getcwd())))"""
    assert "escaped" in await outcome(runner, make_code, attempt)
