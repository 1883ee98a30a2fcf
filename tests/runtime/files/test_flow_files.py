"""Which of the user's files a flow may read: settled from its nodes alone, before anything runs."""

from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.document import Json, JsonObject
from runtime.files.flow_files import GivenFiles, give_files, without_file
from runtime.files.store import UserFiles
from runtime.results import RunFailed


def node(name: str, kind: str = "File", **fields: Json) -> JsonObject:
    template: JsonObject = {"path": {"type": "file", "list": True, "value": [], "file_path": []}}
    template |= {field: {"type": "str", "value": value} for field, value in fields.items() if field != "path"}
    if "path" in fields:
        template["path"] = {"type": "file", "list": True, "value": fields["path"]}
    return {"id": name, "data": {"id": name, "type": kind, "node": {"display_name": "Read File", "template": template}}}


def data(*nodes: JsonObject, edges: tuple[JsonObject, ...] = ()) -> JsonObject:
    return {"nodes": list(nodes), "edges": list(edges)}


@pytest.fixture
def files(tmp_path: Path) -> UserFiles:
    made = UserFiles(tmp_path, "ada")
    made.write("a.txt", "a")
    made.write("docs/b.txt", "b")
    return made


def test_only_what_is_named_is_given(files: UserFiles) -> None:
    given_files = give_files(data(node("F", path=["docs/b.txt"])), files)
    assert given_files.paths == {"docs/b.txt"}
    assert given_files.fields == (("F", "path"),)


def test_the_users_files_are_listed_only_for_a_node_that_names_or_reads_one(
    files: UserFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    times: list[str] = []
    listing = UserFiles.listing

    def counted(given: UserFiles, path: str = "") -> list[tuple[str, int]]:
        times.append(path)
        return listing(given, path)

    monkeypatch.setattr(UserFiles, "listing", counted)
    assert give_files(data(node("C", "ChatInput")), files) == GivenFiles(data(node("C", "ChatInput")))
    assert times == []
    assert give_files(data(node("C", "ChatInput", path=["a.txt"])), files).paths == {"a.txt"}
    assert len(times) == 1


def test_a_name_that_langflow_stored_with_its_own_id_is_the_users_file(files: UserFiles) -> None:
    assert give_files(data(node("F", path=[f"{uuid4()}/a.txt"])), files).paths == {"a.txt"}


def test_a_node_inside_a_group_is_given_its_file_and_its_fault_names_the_group(files: UserFiles) -> None:
    def group(path: str) -> JsonObject:
        inner: JsonObject = {"flow": {"data": data(node("F", path=[path]))}}
        return data({"id": "G", "data": {"id": "G", "type": "Group", "node": inner}})

    assert give_files(group("a.txt"), files).paths == {"a.txt"}
    with pytest.raises(RunFailed) as refused:
        give_files(group("nope.txt"), files)
    assert refused.value.error.node == "G"


def test_a_node_that_gets_its_file_through_an_edge_needs_no_name(files: UserFiles) -> None:
    edge: JsonObject = {"source": "A", "target": "F", "data": {"targetHandle": {"fieldName": "file_path"}}}
    wired = data(node("F"), edges=(edge,))
    assert give_files(wired, files).paths == frozenset()
    assert without_file(wired) == []
    assert without_file(data(node("F"))) == ["Read File"]


def test_appending_gives_the_file_that_is_there(files: UserFiles) -> None:
    saving = node("S", "SaveToFile", file_name="a", append_mode=True)
    assert give_files(data(saving), files).paths == {"a.txt"}
    assert give_files(data(node("S", "SaveToFile", file_name="a", append_mode=False)), files).paths == frozenset()


@settings(max_examples=200)
@given(
    name=st.text(min_size=1, max_size=40) | st.sampled_from(["..", "/", "docs", "docs/", "docs/../a.txt", "./a.txt"])
)
def test_whatever_a_node_names_only_listed_files_are_given(files: UserFiles, name: str) -> None:
    listed = {path for path, _ in files.listing()}
    if name in listed or name.removeprefix("./") in listed:
        assert give_files(data(node("F", path=[name])), files).paths <= listed
        return
    with pytest.raises(RunFailed) as refused:
        give_files(data(node("F", path=[name])), files)
    assert (refused.value.error.code, refused.value.error.node) == ("missing_input", "F")
