"""Installing, finding and repairing an environment, with a tiny lock of one local package in place of the engine's."""

import asyncio
import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import uv

from runtime.install import environment as provision
from runtime.install.environment import RunnerEnvironment, runner_source
from runtime.install.errors import InstallError
from runtime.install.progress import ProgressMessage, SyncProgress
from tests.processes.ends import alive

pytestmark = pytest.mark.anyio

EXPORTER = """
import json, sys
from pathlib import Path
_, command, target, identity = sys.argv
import thing
with open(Path(__file__).parent / "exports", "a") as log: log.write("x")
components = {"A": {"display_name": "A", "template": {}, "outputs": []}}
document = {"format": 1, "lfx": "1", "runner": identity, "components": components}
Path(target).write_text(json.dumps(document, separators=(",", ":")))
"""


TELLER = """
import os, time
from pathlib import Path
place = Path(__file__).parent / "pid"
place.with_suffix(".new").write_text(str(os.getpid()))
place.with_suffix(".new").rename(place)
time.sleep(600)
"""


def wheel(folder: Path) -> Path:
    file = folder / "thing-1.0-py3-none-any.whl"
    record = "thing-1.0.dist-info"
    parts = {
        "thing.py": "value = 1\n",
        f"{record}/METADATA": "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n",
        f"{record}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
        listed = "".join(f"{name},,\n" for name in (*parts, f"{record}/RECORD"))
        archive.writestr(f"{record}/RECORD", listed)
    return file


@pytest.fixture(scope="session")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A runner's source with a lock, made once."""
    source = tmp_path_factory.mktemp("source")
    pyproject = f"""[project]
name = "tiny"
version = "0"
requires-python = ">=3.11"
dependencies = ["thing"]
[tool.uv]
package = false
[tool.uv.sources]
thing = {{ path = "{wheel(source).as_posix()}" }}
"""
    (source / "pyproject.toml").write_text(pyproject)
    (source / "main.py").write_text(EXPORTER)
    (source / "introspect").mkdir()
    (source / "introspect" / "catalogue.py").write_text("# what would be exported\n")
    command = [uv.find_uv_bin(), "lock", "--offline", "--no-config", "--project", str(source)]
    subprocess.run([*command, "--python", sys.executable], check=True, capture_output=True)
    return source


@pytest.fixture
def environment(locked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunnerEnvironment:
    monkeypatch.setenv("UV_OFFLINE", "1")
    source = tmp_path / "source"
    shutil.copytree(locked, source)
    return RunnerEnvironment.locate(tmp_path / "cache", source=source)


def exports(environment: RunnerEnvironment) -> int:
    log = environment.source / "exports"
    return len(log.read_text()) if log.exists() else 0


def module(environment: RunnerEnvironment) -> Path:
    return next(environment.folder.glob("env/lib/*/site-packages/thing.py"))


async def test_nothing_is_there_and_nothing_is_made_when_an_environment_is_only_located(
    environment: RunnerEnvironment,
) -> None:
    assert not environment.installed
    status = environment.status()
    assert (status.installed, status.packages, status.catalogue, status.lfx) == (False, 0, False, None)
    assert not environment.cache.exists()


async def test_installing_makes_the_environment_and_the_catalogue_and_says_how_far_it_is(
    environment: RunnerEnvironment,
) -> None:
    said: list[str] = []
    await environment.install(said.append)
    assert environment.installed
    assert environment.catalogue_current
    status = environment.status()
    assert (status.packages, status.component_types) == (1, 1)
    assert any("1 package" in words for words in said)
    assert said[-1] == "The flow engine is installed"
    assert not any(str(environment.cache) in words for words in said)


async def test_installing_again_does_nothing_when_all_is_there(environment: RunnerEnvironment) -> None:
    await environment.install()
    said: list[str] = []
    await environment.install(said.append)
    assert said == []
    assert exports(environment) == 1


@pytest.mark.parametrize(
    "damage", ["stamp", "half a stamp", "interpreter", "package record", "everything but the stamp"]
)
async def test_the_next_installation_repairs_it_when_one_was_interrupted_or_damaged(
    environment: RunnerEnvironment, damage: str
) -> None:
    await environment.install()
    stamp = environment.folder / provision.STAMP
    match damage:
        case "stamp":
            stamp.unlink()
            module(environment).unlink()
        case "half a stamp":
            stamp.write_text(stamp.read_text()[:20])
        case "interpreter":
            environment.python.unlink()
        case "package record":
            shutil.rmtree(module(environment).parent / "thing-1.0.dist-info")
        case _:
            shutil.rmtree(environment.folder / "env")
    assert not environment.installed
    await environment.install()
    assert environment.installed
    assert module(environment).read_text() == "value = 1\n"


async def test_a_repair_puts_back_a_file_that_was_broken(environment: RunnerEnvironment) -> None:
    await environment.install()
    module(environment).write_text("broken(")
    await environment.install()
    assert module(environment).read_text() == "broken("  # not noticed until the engine does not start
    await environment.install(repair=True)
    assert module(environment).read_text() == "value = 1\n"


@pytest.mark.parametrize("damage", ["gone", "another engine's", "cut off", "another exporter"])
async def test_the_catalogue_is_exported_again_when_it_is_not_this_engines(
    environment: RunnerEnvironment, damage: str
) -> None:
    await environment.install()
    match damage:
        case "gone":
            environment.catalogue.unlink()
        case "another engine's":
            environment.catalogue.write_text('{"format":1,"lfx":"1","runner":"other","components":{}}')
        case "cut off":
            environment.catalogue.write_text('{"format":1,"lf')
        case _:
            (environment.source / "introspect" / "catalogue.py").write_text("# changed\n")
    assert not environment.catalogue_current
    assert environment.installed
    await environment.install()
    assert environment.catalogue_current
    assert exports(environment) == 2


async def test_the_digest_changes_with_the_lock(environment: RunnerEnvironment) -> None:
    with (environment.source / "uv.lock").open("a") as lock:
        lock.write("# changed\n")
    assert RunnerEnvironment.locate(environment.cache, source=environment.source).digest != environment.digest


async def test_the_failure_says_what_to_do_and_no_path_when_the_lock_is_broken(environment: RunnerEnvironment) -> None:
    (environment.source / "uv.lock").write_text("not a lock")
    with pytest.raises(InstallError) as caught:
        await environment.install()
    assert caught.value.fix
    assert str(environment.cache) not in str(caught.value)
    assert not environment.installed


async def test_the_failure_is_reported_and_no_catalogue_is_left_when_it_cannot_be_exported(
    environment: RunnerEnvironment,
) -> None:
    environment.main.write_text("import sys; open(sys.argv[2], 'w').write('{'); sys.exit(0)")
    with pytest.raises(InstallError):
        await environment.install()
    assert not environment.catalogue.exists()
    assert sorted(path.name for path in environment.cache.iterdir()) == ["runner"]


async def test_the_failure_is_reported_when_the_cache_cannot_be_written(environment: RunnerEnvironment) -> None:
    environment.cache.write_text("a file where a folder must be")
    with pytest.raises(InstallError) as caught:
        await environment.install()
    assert "WIREWRIGHT_CACHE" in caught.value.fix


async def test_only_one_installs_when_two_begin_at_once(environment: RunnerEnvironment) -> None:
    said: list[str] = []
    await asyncio.gather(environment.install(said.append), environment.install(said.append))
    assert environment.installed
    assert exports(environment) == 1
    assert said.count("Installing the flow engine") == 1
    assert "Waiting for another installation to finish" in said


async def test_a_cancelled_installation_leaves_nothing_that_counts_as_installed(environment: RunnerEnvironment) -> None:
    begun = asyncio.Event()
    task = asyncio.create_task(environment.install(lambda _: begun.set()))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not environment.installed
    await environment.install()
    assert environment.installed


async def test_no_program_of_a_cancelled_installation_goes_on(environment: RunnerEnvironment) -> None:
    place = environment.source / "pid"
    (environment.source / "main.py").write_text(TELLER)
    task = asyncio.create_task(environment.install())
    while not place.exists():
        assert not task.done()
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not alive(int(place.read_text()))


async def test_the_servers_own_python_settings_do_not_reach_the_installer(
    environment: RunnerEnvironment, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("UV_PROJECT_ENVIRONMENT", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "elsewhere"))
    await environment.install()
    assert environment.installed
    assert not (tmp_path / "elsewhere").exists()


def test_the_runners_source_is_found_in_a_checkout() -> None:
    assert {"main.py", "uv.lock", "pyproject.toml", "introspect"} <= {path.name for path in runner_source().iterdir()}
    assert (runner_source() / "introspect" / "catalogue.py").is_file()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Prepared 5 packages in 179ms", "Installing the flow engine: 5 packages downloaded"),
        ("Installed 133 packages in 261ms", "Installing the flow engine: 133 packages installed"),
        (" + a2wsgi==1.10.10", None),
        ("Using CPython 3.11.7 interpreter at: /home/x", None),
    ],
)
def test_the_installers_output_becomes_words_for_the_one_who_waits(line: str, words: str | None) -> None:
    assert SyncProgress().message(line) == words


def test_the_share_of_the_downloads_grows_to_the_whole_when_they_end() -> None:
    progress = SyncProgress()
    lines = (
        "Downloading onnxruntime (30.0MiB)",
        "Downloading numpy (10.0MiB)",
        " Downloaded numpy",
        " Downloaded onnxruntime",
    )
    said = [progress.message(line) for line in lines]
    assert [one.share for one in said if isinstance(one, ProgressMessage)] == [0.0, 0.0, 0.25, 1.0]
    assert said[-1] == "Installing the flow engine: 42 of 42 MB downloaded"
    assert progress.message(" Downloaded something-small") is None


@pytest.mark.engine
def test_the_real_environment_is_whole_and_says_what_protects_runs(runner_environment: RunnerEnvironment) -> None:
    status = runner_environment.status()
    assert status.installed
    assert status.catalogue
    assert status.lfx == "1.13.0"
    assert status.packages > 100
    assert status.size_mb > 100
    assert status.component_types > 130
    active = {each.name: each.active for each in status.protections}
    assert active["own process"]
    assert not active["these ports elsewhere"]
    head = json.loads(runner_environment.catalogue.read_text(encoding="utf-8"))
    folders = [runner_environment.source / name for name in ("introspect", "components")]
    program = b"".join(path.read_bytes() for folder in folders for path in sorted(folder.glob("*.py")))
    digest = hashlib.sha256(program).hexdigest()[:8]
    assert head["runner"] == f"{runner_environment.digest}-{digest}"
    assert os.access(runner_environment.python, os.X_OK)
