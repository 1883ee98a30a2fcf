"""A user's own components: kept under their class's name, there beside the built-ins, and for nobody else."""

from pathlib import Path

import pytest

from flows.catalogue import Catalogue
from runtime.components.store import FOLDER, UserComponentError, clear, load, save
from runtime.files.folders import user_folder
from runtime.files.names import FileRefused
from runtime.files.store import UserFiles
from tests.shared.stand_ins import SUM, ComponentRunner


def kept(data: Path, user: str) -> Path:
    """The folder of a user's components."""
    return user_folder(data, user) / FOLDER


def saved(data: Path, user: str | None, name: str, source: str | None = None) -> Path:
    """Keep a component."""
    return save(data, user, name, SUM.replace("SumComponent", name) if source is None else source)


async def names(data: Path, user: str | None) -> list[str]:
    """The component types that a user has."""
    return [component.type for component in (await load(data, user, ComponentRunner())).components]


@pytest.mark.parity("ADR-MCP-024", "term-register-user-component")
def test_a_component_is_kept_under_its_class_where_the_file_tools_do_not_reach(tmp_path: Path) -> None:
    path = saved(tmp_path, "alice", "SumComponent")
    assert path == kept(tmp_path, "alice") / "SumComponent.py"
    assert path.read_text(encoding="utf-8") == SUM
    saved(tmp_path, "alice", "SumComponent", "# second é")
    assert path.read_text(encoding="utf-8") == "# second é"
    with pytest.raises(FileRefused, match="reserved"):
        UserFiles(tmp_path, "alice").read(f"{FOLDER}/SumComponent.py")


@pytest.mark.anyio
@pytest.mark.parity(
    "ADR-MCP-025",
    "term-user-component-registry",
    "term-registry-overlay",
    "term-registry-current-user",
    "term-current-user-var",
)
async def test_a_users_components_lie_beside_the_built_ins(tmp_path: Path, catalogue: Catalogue) -> None:
    saved(tmp_path, "alice", "SumComponent")
    own = catalogue.with_components((await load(tmp_path, "alice", ComponentRunner())).components)
    assert "SumComponent" in own
    assert "ChatInput" in own
    assert "SumComponent" not in catalogue
    assert "SumComponent" in [match.type for match in own.search("adds two numbers", 3)]
    assert "total" in own.describe("SumComponent")


@pytest.mark.anyio
@pytest.mark.parity("scenario-component-per-user", "smoke-component-users")
async def test_another_user_has_none_of_them(tmp_path: Path) -> None:
    saved(tmp_path, "alice", "SumComponent")
    saved(tmp_path, "bob", "BobSum")
    assert (await names(tmp_path, "alice"), await names(tmp_path, "bob")) == (["SumComponent"], ["BobSum"])
    assert kept(tmp_path, "alice") != kept(tmp_path, "bob")
    assert "alice" not in str(kept(tmp_path, "alice").relative_to(tmp_path))


@pytest.mark.anyio
@pytest.mark.parity("scenario-component-collision")
async def test_a_built_in_goes_before_a_users_component_of_its_name(tmp_path: Path, catalogue: Catalogue) -> None:
    path = saved(tmp_path, "alice", "ChatInput")
    own = catalogue.with_components((await load(tmp_path, "alice", ComponentRunner())).components)
    assert own.get("ChatInput") == catalogue.get("ChatInput")
    assert list(own.shadowed) == ["ChatInput"]
    assert path.exists()


@pytest.mark.anyio
@pytest.mark.parity("scenario-component-anonymous")
@pytest.mark.parametrize("user", [None, "", "  "])
async def test_nobody_in_particular_keeps_nothing(user: str | None, tmp_path: Path) -> None:
    with pytest.raises(UserComponentError) as refused:
        saved(tmp_path, user, "SumComponent")
    assert refused.value.reason == "anonymous_user"
    assert await names(tmp_path, user) == []
    assert not any(tmp_path.iterdir())  # noqa: ASYNC240  (an empty folder of a test)


@pytest.mark.parity("scenario-component-traversal", "term-user-component-error")
@pytest.mark.parametrize(
    "name",
    ["", "../escape", "subdir/Nested", "Sum/Component", "Sum\\Component", "\x00null", "Sum:Colon", "lower", ".Sum"],
)
def test_a_name_that_is_not_a_class_is_refused_before_anything_is_written(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserComponentError) as refused:
        saved(tmp_path, "alice", name, "x = 1")
    assert refused.value.message
    assert refused.value.fix
    assert str(tmp_path) not in str(refused.value)
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.parity("scenario-component-windows-devices", "smoke-component-devices", "smoke-component-systems")
@pytest.mark.parametrize("name", ["CON", "NUL", "Prn", "AUX", "COM1", "LPT9"])
def test_a_device_of_windows_is_not_a_name(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserComponentError, match="Windows"):
        saved(tmp_path, "alice", name, "x = 1")
    assert list(tmp_path.rglob("*.py")) == []


@pytest.mark.parity("scenario-component-name-length", "ADR-MCP-028", "term-max-class-name-length")
def test_a_name_has_at_most_64_characters(tmp_path: Path) -> None:
    assert saved(tmp_path, "alice", "A" + "a" * 63).exists()
    with pytest.raises(UserComponentError, match="length 65 exceeds max 64") as refused:
        saved(tmp_path, "alice", "A" + "a" * 64)
    assert refused.value.reason == "length_exceeded"


@pytest.mark.parity("scenario-component-atomic")
def test_a_write_that_fails_leaves_the_old_component_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path, "alice", "SumComponent", "old = 1")

    def broken(*_: object, **__: object) -> None:
        raise OSError("no space left on sda1")

    with monkeypatch.context() as patched:
        patched.setattr("os.replace", broken)
        with pytest.raises(UserComponentError) as refused:
            saved(tmp_path, "alice", "SumComponent", "new = 1")
    assert "sda1" not in str(refused.value)
    assert [file.name for file in path.parent.iterdir()] == ["SumComponent.py"]
    assert path.read_text() == "old = 1"


@pytest.mark.anyio
@pytest.mark.parity("scenario-component-broken-file")
async def test_a_broken_file_is_left_out_and_the_others_are_there(tmp_path: Path) -> None:
    saved(tmp_path, "alice", "SumComponent")
    (kept(tmp_path, "alice") / "BrokenComponent.py").write_bytes(b"class Broken(Component):\n    def (\xff")
    loaded = await load(tmp_path, "alice", ComponentRunner())
    assert [component.type for component in loaded.components] == ["SumComponent"]
    assert [file for file, _ in loaded.broken] == ["BrokenComponent.py"]


@pytest.mark.anyio
@pytest.mark.parity("term-clear-user-components")
async def test_clearing_removes_a_users_components_and_nothing_else(tmp_path: Path) -> None:
    for name in ("SumComponent", "MultiplyComponent"):
        saved(tmp_path, "alice", name)
    saved(tmp_path, "bob", "BobSum")
    (kept(tmp_path, "alice") / "notes.txt").write_text("mine")
    assert (clear(tmp_path, "alice"), clear(tmp_path, "alice")) == (2, 0)
    assert [file.name for file in kept(tmp_path, "alice").iterdir()] == ["notes.txt"]
    assert await names(tmp_path, "bob") == ["BobSum"]
