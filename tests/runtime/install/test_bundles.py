"""Bundles: their names, what brings a missing module, and an environment made beside the old one."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import uv
from hypothesis import given
from hypothesis import strategies as st

from runtime.install.bundles import (
    MAX_BUNDLES,
    BundleNameError,
    bundle_of,
    bundles_file,
    choose_bundles,
    chosen_bundles,
    install_hint,
    package_for,
    package_name,
    requirement,
    with_bundles,
)
from runtime.install.environment import RunnerEnvironment
from runtime.install.errors import InstallError

EXPORTER = """
import json, sys
from pathlib import Path
_, command, target, identity = sys.argv
import thing
names = ["A"]
try: import lfx_extra; names.append("B")
except ImportError: pass
try: import lfx_broken
except ImportError: pass
else: sys.exit("it breaks the engine")
components = {name: {"display_name": name, "template": {}, "outputs": []} for name in names}
document = {"format": 1, "lfx": "1", "runner": identity, "components": components}
Path(target).write_text(json.dumps(document, separators=(",", ":")))
"""


def wheel(folder: Path, name: str, needs: str = "") -> Path:
    file = folder / f"{name}-1.0-py3-none-any.whl"
    record = f"{name}-1.0.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 1.0\n"
    parts = {
        f"{name}.py": "value = 1\n",
        f"{record}/METADATA": metadata + (f"Requires-Dist: {needs}\n" if needs else ""),
        f"{record}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(file, "w") as archive:
        for path, text in parts.items():
            archive.writestr(path, text)
        archive.writestr(f"{record}/RECORD", "".join(f"{path},,\n" for path in (*parts, f"{record}/RECORD")))
    return file


@pytest.fixture(scope="session")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A runner's source with a lock, and packages beside it that can be added."""
    source = tmp_path_factory.mktemp("source")
    shelf = tmp_path_factory.mktemp("shelf")
    wheel(shelf, "lfx_extra")
    wheel(shelf, "lfx_broken")
    wheel(shelf, "lfx_clash", "thing>=2")
    (source / "shelf").write_text(str(shelf))
    (source / "pyproject.toml").write_text(
        f"""[project]
name = "tiny"
version = "0"
requires-python = ">=3.11"
dependencies = ["thing"]
[tool.uv]
package = false
[tool.uv.sources]
thing = {{ path = "{wheel(source, "thing").as_posix()}" }}
"""
    )
    (source / "main.py").write_text(EXPORTER)
    command = [uv.find_uv_bin(), "lock", "--offline", "--no-config", "--project", str(source)]
    subprocess.run([*command, "--python", sys.executable], check=True, capture_output=True)
    return source


@pytest.fixture
async def environment(locked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunnerEnvironment:
    """An installed environment without bundles; packages come from a folder."""
    for variable in [name for name in os.environ if name.startswith(("PIP_", "UV_"))]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_FIND_LINKS", (locked / "shelf").read_text())
    source = tmp_path / "source"
    shutil.copytree(locked, source)
    made = RunnerEnvironment.locate(tmp_path / "cache", source=source)
    await made.install()
    return made


def state(environment: RunnerEnvironment) -> tuple[bool, bytes, tuple[str, ...], str]:
    """What a failed change must leave as it is."""
    now = environment.current()
    return environment.installed, environment.catalogue.read_bytes(), chosen_bundles(environment.cache), now.digest


@pytest.mark.anyio
async def test_bundles_are_installed_beside_the_old_environment_and_used_from_then_on(
    environment: RunnerEnvironment,
) -> None:
    said: list[str] = []
    before = environment.inputs()
    other = await environment.change_bundles(["lfx_Extra"], progress=said.append)
    assert other.digest != environment.digest
    assert other.installed
    assert environment.installed
    assert environment.inputs() != before
    assert environment.current().digest == other.digest == RunnerEnvironment.locate(
        environment.cache, source=environment.source
    ).digest  # fmt: skip
    assert other.catalogue_current
    assert not environment.catalogue_current
    assert other.status().component_types == 2
    assert other.status().bundles == ("lfx-extra 1.0",)
    assert said[-1] == "The flow engine is installed"


@pytest.mark.anyio
async def test_asking_for_what_is_there_changes_nothing_and_a_bundle_can_be_left_out_again(
    environment: RunnerEnvironment,
) -> None:
    other = await environment.change_bundles(["lfx-extra"])
    assert (await other.change_bundles(["lfx-extra"])).digest == other.digest
    back = await other.change_bundles(removed=["lfx-extra"])
    assert back.digest == environment.digest
    assert back.catalogue_current
    assert back.status().component_types == 1


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("bundle", "words"),
    [
        ("lfx-nowhere", "no such package"),
        ("lfx-extra==9", ""),
        ("lfx-clash", "do not fit"),
        ("lfx-broken", "cannot be read"),
    ],
)
async def test_the_old_environment_goes_on_working_when_bundles_are_unavailable(
    environment: RunnerEnvironment, bundle: str, words: str
) -> None:
    before = state(environment)
    with pytest.raises(InstallError) as caught:
        await environment.change_bundles([bundle])
    assert words in caught.value.message
    assert caught.value.fix
    assert str(environment.cache) not in str(caught.value)
    assert state(environment) == before
    assert [path.name for path in (environment.cache / "runner").iterdir() if path.is_dir()] == [environment.digest]


@pytest.mark.anyio
async def test_the_old_environment_works_on_when_the_engine_does_not_start_with_the_bundles(
    environment: RunnerEnvironment,
) -> None:
    before = state(environment)

    async def broken(_: RunnerEnvironment) -> None:
        raise InstallError("It does not start.", "Leave it.")

    with pytest.raises(InstallError):
        await environment.change_bundles(["lfx-extra"], check=broken)
    assert state(environment) == before
    await environment.install()
    assert state(environment) == before


def test_choosing_is_read_back_and_damage_counts_as_no_choice(tmp_path: Path) -> None:
    assert chosen_bundles(tmp_path) == ()
    choose_bundles(tmp_path, ("a", "b==1"))
    assert chosen_bundles(tmp_path) == ("a", "b==1")
    for damage in ("", "[", "[]", '{"bundles": ["../x"]}', '{"bundles": 7}'):
        bundles_file(tmp_path).write_text(damage)
        assert chosen_bundles(tmp_path) == ()


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("lfx-anthropic", "lfx-anthropic"),
        (" LFX_Anthropic ", "lfx-anthropic"),
        ("lfx.anthropic == 0.2.1", "lfx-anthropic==0.2.1"),
        ("thing[b, a]>=1,<2", "thing[a,b]>=1,<2"),
    ],
)
def test_a_name_has_one_form(text: str, form: str) -> None:
    assert requirement(text) == form


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-e .",
        "./x",
        "/x",
        "x @ file:///x",
        "git+https://h/x",
        "https://h/x.whl",
        "a;b",
        "a b",
        "--index-url=x",
        "é",
    ],
)
def test_an_address_an_option_or_a_path_is_not_a_name(text: str) -> None:
    with pytest.raises(BundleNameError):
        requirement(text)


@given(st.text(max_size=40))
def test_whatever_is_a_requirement_stays_the_same_and_begins_with_its_name(text: str) -> None:
    try:
        form = requirement(text)
    except BundleNameError:
        return
    assert requirement(form) == form
    assert form.startswith(package_name(form))
    assert not form.startswith("-")


def test_an_added_bundle_takes_the_place_of_its_other_versions() -> None:
    assert with_bundles(("b", "a==1"), ["A==2"], ["b>=3"]) == ("a==2",)


def test_a_change_that_makes_too_many_bundles_is_refused_and_drops_none() -> None:
    full = tuple(f"bundle-{number:02}" for number in range(MAX_BUNDLES))
    assert with_bundles(full, ["bundle-00==2"], []) == ("bundle-00==2", *full[1:])
    assert with_bundles(full, ["another"], ["bundle-00"]) == ("another", *full[1:])
    with pytest.raises(InstallError, match=f"At most {MAX_BUNDLES} bundles"):
        with_bundles(full, ["another"], [])


@pytest.mark.anyio
async def test_environments_that_are_no_longer_chosen_are_deleted_but_for_the_previous_one(
    environment: RunnerEnvironment,
) -> None:
    first = await environment.change_bundles(["lfx_extra"])
    assert environment.installed
    second = await first.change_bundles([], ["lfx_extra"])
    assert second.digest == environment.digest
    third = await second.change_bundles(["thing>=1"])
    assert third.installed
    assert second.installed
    assert not first.folder.exists()


@pytest.mark.parametrize(
    ("message", "package"),
    [
        ("No module named 'langchain_anthropic'", "lfx-anthropic"),
        ("No module named 'google.cloud'", "lfx-google"),
        ("No module named 'sklearn'", "scikit-learn"),
        ("No module named 'lfx_arxiv.components'", "lfx-arxiv"),
        ("Missing optional dependency 'tabulate'. Use pip or conda to install tabulate.", "tabulate"),
        ("Could not import boto3 python package. Please install it with `pip install boto3`.", "lfx-amazon"),
        ("langchain-google-genai is not installed. Run: uv add langchain-google-genai", "lfx-google"),
        ("the thing is not there", None),
        ("please install it", None),
    ],
)
def test_a_failed_import_says_what_to_install(message: str, package: str | None) -> None:
    assert package_for(message) == package


@pytest.mark.parametrize(
    ("kind", "package"),
    [
        ("ext:anthropic:AnthropicModelComponent@official", "lfx-anthropic"),
        ("ext:openai_compatible:X@official", "lfx-openai-compatible"),
        ("ext:gassist:Nothing@official", "lfx-bundles"),
        ("ChatInput", None),
        ("ext:..:x", None),
    ],
)
def test_a_type_of_a_bundle_names_the_package_that_brings_it(kind: str, package: str | None) -> None:
    assert bundle_of(kind) == package


def test_the_extras_of_a_bundle_add_up() -> None:
    assert with_bundles(("a[x]==1",), ["a[y]==2"], []) == ("a[x,y]==2",)
    assert with_bundles(("a[x]",), ["a"], []) == ("a[x]",)
    assert with_bundles(("a[x]",), [], ["a"]) == ()


def test_a_hint_can_be_pasted_into_a_shell() -> None:
    assert install_hint("lfx-slack") == "Install it: wirewright runner install --with lfx-slack"
    assert install_hint("lfx-bundles[zep]", "lfx-exa").endswith(
        "them: wirewright runner install --with 'lfx-bundles[zep]' lfx-exa"
    )
