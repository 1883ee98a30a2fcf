"""Users' own components: kept atomically under safe names, loaded without the broken ones, nobody else's business."""

import os
from pathlib import Path

import pytest

from flows.catalogue import Catalogue
from flows.component_type import ComponentType
from flows.document import Json
from runtime.components.rules import MAX_SOURCE, read_outline
from runtime.components.store import FOLDER, MAX_COMPONENTS, UserComponentError, UserComponents, clear, load, save
from runtime.engine.component_results import ComponentDescription, ComponentFailure
from runtime.files.folders import user_folder
from tests.runtime.components.test_rules import GOOD

pytestmark = pytest.mark.anyio


class Maker:
    """Makes every source that the rules let pass."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def describe_component(self, source: str, name: str) -> ComponentDescription | ComponentFailure:
        self.asked.append(name)
        outputs: list[Json] = [{"name": "greeting", "types": ["Message"], "method": "greet"}]
        return ComponentDescription(
            {"template": {}, "outputs": outputs, "display_name": name, "description": f"It is {name}."}
        )


def named(name: str, note: str = "") -> str:
    return GOOD.replace("Greeter", name) + note


def folder_of(data: Path, user: str) -> Path:
    return user_folder(data, user) / FOLDER


async def test_a_component_is_kept_as_one_file_named_by_its_class_and_loaded_again(tmp_path: Path) -> None:
    path = save(tmp_path, "user-alice", "SumComponent", named("SumComponent", "# é\n"))
    assert path == folder_of(tmp_path, "user-alice") / "SumComponent.py"
    assert path.read_text(encoding="utf-8") == named("SumComponent", "# é\n")
    assert path.stat().st_mode & 0o777 == 0o600
    loaded = await load(tmp_path, "user-alice", Maker())
    assert [part.type for part in loaded.components] == ["SumComponent"]
    assert loaded.components[0].code == named("SumComponent", "# é\n")


async def test_one_users_components_are_not_another_users(tmp_path: Path) -> None:
    save(tmp_path, "alice", "SumComponent", named("SumComponent"))
    save(tmp_path, "bob", "BobSum", named("BobSum"))
    assert [part.type for part in (await load(tmp_path, "alice", Maker())).components] == ["SumComponent"]
    assert clear(tmp_path, "alice") == 1
    assert [part.type for part in (await load(tmp_path, "bob", Maker())).components] == ["BobSum"]


@pytest.mark.parametrize("user", [None, "", " "])
async def test_anonymous_requests_keep_and_have_nothing(tmp_path: Path, user: str | None) -> None:
    with pytest.raises(UserComponentError) as refusal:
        save(tmp_path, user, "SumComponent", named("SumComponent"))
    assert refusal.value.reason == "anonymous_user"
    assert (await load(tmp_path, user, Maker())).components == ()
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - a listing that does not wait


def test_the_local_user_is_not_anonymous(tmp_path: Path) -> None:
    assert save(tmp_path, "local", "SumComponent", named("SumComponent")).exists()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "empty_class_name"),
        ("A" + "a" * 64, "length_exceeded"),
        ("../escape", "unsafe_class_name"),
        ("Sum\\Component", "unsafe_class_name"),
        ("Nul", "unsafe_class_name"),
    ],
)
def test_a_name_is_refused_before_anything_is_written(tmp_path: Path, name: str, reason: str) -> None:
    with pytest.raises(UserComponentError) as refusal:
        save(tmp_path, "alice", name, GOOD)
    assert refusal.value.reason == reason
    assert list(tmp_path.iterdir()) == []


def test_a_name_of_exactly_64_characters_is_kept(tmp_path: Path) -> None:
    assert save(tmp_path, "alice", "A" + "a" * 63, GOOD).exists()


def test_a_source_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserComponentError) as refusal:
        save(tmp_path, "alice", "Huge", "#" * (MAX_SOURCE + 1))
    assert refusal.value.reason == "oversize_code"


def test_too_many_components_are_refused_but_one_that_is_there_can_be_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.components.store.MAX_COMPONENTS", 2)
    assert MAX_COMPONENTS > 2
    for name in ("One", "Two", "One"):
        save(tmp_path, "alice", name, named(name))
    with pytest.raises(UserComponentError) as refusal:
        save(tmp_path, "alice", "Three", named("Three"))
    assert refusal.value.reason == "too_many"
    assert "Reset the conversation" in refusal.value.fix
    clear(tmp_path, "alice")  # what a reset does
    save(tmp_path, "alice", "Three", named("Three"))


def test_a_crash_while_writing_leaves_the_earlier_source_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(tmp_path, "alice", "SumComponent", "# first\n")

    def crash(*_: object, **__: object) -> None:
        raise OSError("disk")

    monkeypatch.setattr("os.replace", crash)
    with pytest.raises(UserComponentError) as failure:
        save(tmp_path, "alice", "SumComponent", "# second\n")
    assert failure.value.reason == "not_written"
    assert str(tmp_path) not in str(failure.value)
    assert [(file.name, file.read_text()) for file in path.parent.iterdir()] == [("SumComponent.py", "# first\n")]


async def test_broken_files_are_left_out_and_reported_and_the_others_work(tmp_path: Path) -> None:
    save(tmp_path, "alice", "SumComponent", named("SumComponent"))
    folder = folder_of(tmp_path, "alice")
    (folder / "Broken.py").write_text("class Broken(Comp", encoding="utf-8")
    (folder / "Binary.py").write_bytes(b"\xff\xfe\x00")
    (folder / "Hostile.py").write_text(named("Hostile") + "import os\nos.abort()\n", encoding="utf-8")
    (folder / "Renamed.py").write_text(named("Original"), encoding="utf-8")
    (folder / "Half.py.tmp").write_text("x", encoding="utf-8")
    (folder / "notes.txt").write_text("x", encoding="utf-8")
    maker = Maker()
    loaded = await load(tmp_path, "alice", maker)
    assert [part.type for part in loaded.components] == ["SumComponent"]
    assert {name for name, _ in loaded.broken} == {"Binary.py", "Broken.py", "Hostile.py", "Renamed.py"}
    assert "Hostile" not in maker.asked


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="links")
async def test_links_are_not_followed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    secret = tmp_path / "SumComponent.py"
    secret.write_text(named("SumComponent"), encoding="utf-8")
    save(data, "alice", "Other", named("Other"))
    folder = folder_of(data, "alice")
    (folder / "SumComponent.py").symlink_to(secret)
    assert [part.type for part in (await load(data, "alice", Maker())).components] == ["Other"]
    save(data, "alice", "SumComponent", named("SumComponent", "# new\n"))
    assert secret.read_text(encoding="utf-8") == named("SumComponent")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    user_folder(data, "bob")
    folder_of(data, "bob").symlink_to(elsewhere)
    with pytest.raises(UserComponentError):
        save(data, "bob", "SumComponent", GOOD)
    assert list(elsewhere.iterdir()) == []


def test_clearing_removes_components_alone_and_may_be_done_again(tmp_path: Path) -> None:
    assert clear(tmp_path, "alice") == 0
    save(tmp_path, "alice", "SumComponent", GOOD)
    other = user_folder(tmp_path, "alice") / "notes.md"
    other.write_text("kept", encoding="utf-8")
    assert [clear(tmp_path, "alice"), clear(tmp_path, "alice")] == [1, 0]
    assert other.exists()


async def test_a_built_in_component_goes_before_the_users_of_the_same_name(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    save(tmp_path, "alice", "ChatInput", named("ChatInput"))
    save(tmp_path, "alice", "SumComponent", named("SumComponent"))
    view, faults = await UserComponents(tmp_path, "alice", Maker()).catalogue(catalogue)
    assert faults == ()
    assert view.get("ChatInput") is catalogue.get("ChatInput")
    assert view.shadowed == ("ChatInput",)
    assert "SumComponent" in [match.type for match in view.search("sum component")]


async def test_loading_makes_each_source_once(tmp_path: Path) -> None:
    source = named("OnlyOnce", "# loading\n")
    save(tmp_path, "alice", "OnlyOnce", source)
    maker = Maker()
    for _ in range(3):
        assert len((await load(tmp_path, "alice", maker)).components) == 1
    assert maker.asked == ["OnlyOnce"]


async def test_a_refused_component_is_reported_and_raises_when_the_disk_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = ComponentType("SumComponent", {"template": {"code": {"value": named("SumComponent")}}})
    refusal = await UserComponents(tmp_path, None, Maker()).keep(part)
    assert refusal is not None
    assert refusal.reason == "anonymous_user"
    assert await UserComponents(tmp_path, "alice", Maker()).keep(part) is None

    def full(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(UserComponentError):
        await UserComponents(tmp_path, "alice", Maker()).keep(part)


def test_the_samples_of_these_tests_pass_the_rules() -> None:
    assert read_outline(GOOD)[1] == []
