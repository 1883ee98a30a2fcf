"""Finds the files that the nodes of a flow name, and settles which of the user's files its run may read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from flows.document import Json, JsonObject
from flows.json_values import as_list, as_object, as_text, object_at, texts
from runtime.files.names import FileRefused
from runtime.files.samples import sample, sample_kind
from runtime.files.store import UserFiles
from runtime.node_json import definition_of, group_data, kind_of, nodes_in, with_definition, with_group_nodes
from runtime.results import RunError, RunFailed

_NAMED: Mapping[str, str] = MappingProxyType({"CSVtoData": "csv_path", "JSONtoData": "json_path"})
"""Fields that hold the name of a file as plain text, by component type."""
_FOLDERS: Mapping[str, str] = MappingProxyType({"Directory": "path"})
"""Fields that name a folder, whose files are all readable."""
_READERS: Mapping[str, str] = MappingProxyType({"File": "file_path"})
"""Types that read a file and do nothing without one, with the field through which they may get its name instead."""
_APPENDS: Final = "SaveToFile"
_KEEPS: Final = "FileVectorStore"
"""Its file is readable once a run has made it."""
_CHAT: Final = "ChatInput"
"""Its field takes one name as plain text."""
_IMAGES: Final = frozenset({"bmp", "jpg", "jpeg", "png", "tiff", "webp"})
_OFFICE: Final = frozenset({"docx", "dotx", "dotm", "docm", "potx", "ppsx", "pptm", "potm", "ppsm", "pptx", "xls"})
_NEEDS_DOCLING: Final = _IMAGES | _OFFICE | {"adoc", "asciidoc", "asc", "xhtml"}
"""Endings of files that the file reader reads only with Docling, or with a package that the engine does not have."""
LISTED: Final = 20
"""How many of the user's files an error lists."""


@dataclass(frozen=True)
class GivenFiles:
    """The nodes and edges of a run with the files that it may read.

    Attributes:
        data: the nodes and edges; each file field holds the paths of files inside the user's folder.
        fields: those fields: the node's id and the field's name.
        paths: the user's files that the run may read.
        samples: contents of files that stand in for missing ones, by path.
    """

    data: JsonObject
    fields: tuple[tuple[str, str], ...] = ()
    paths: frozenset[str] = frozenset()
    samples: Mapping[str, bytes] = field(default_factory=dict[str, bytes])


NO_FILES: Final = GivenFiles({})
"""What a run without files is given."""


def give_files(data: JsonObject, files: UserFiles | None, *, samples: bool = False) -> GivenFiles:
    """Settle which files the run of these nodes and edges may read.

    Args:
        data: nodes and edges.
        files: the user's files; None for none.
        samples: whether a node that names no file gets a small sample; otherwise the run is refused.

    Raises:
        RunFailed: a node names something that is not one of the user's files, or reads a file and names none.
    """
    if not reads_files(data):
        return GivenFiles(data)
    giver = _Giver(_listed(files), _connected(data), samples)
    nodes: list[Json] = [giver.give(node) for node in nodes_in(data)]
    return GivenFiles({**data, "nodes": nodes}, tuple(giver.fields), frozenset(giver.paths), giver.samples)


def reads_files(data: JsonObject) -> bool:
    """Whether a node names a file or a folder, needs one, or may go on with one: whether files matter to a run.

    Args:
        data: nodes and edges.
    """
    connected = _connected(data)
    return any(
        kind_of(node) in (_APPENDS, _KEEPS)
        or any(
            kind_of(node) in _FOLDERS or _needs_file(node, connected) or _value(node, name) for name in _fields_of(node)
        )
        for node in _every(data)
    )


def without_file(data: JsonObject) -> list[str]:
    """The names of the nodes that read a file and name none, so that `give_files` gives them a sample."""
    connected = _connected(data)
    return [
        as_text(definition_of(node).get("display_name")) or kind_of(node)
        for node in _every(data)
        if _needs_file(node, connected) and not any(_value(node, name) for name in _fields_of(node))
    ]


@dataclass(frozen=True)
class MissingFile:
    """A file that a run lacks.

    Attributes:
        node: the id of the node that reads it, or of the group that the node is inside of.
        field: the field that names it.
        path: what the field names; empty if it names nothing.
    """

    node: str
    field: str
    path: str


def missing_files(data: JsonObject, listed: Sequence[str]) -> list[MissingFile]:
    """The files for which `give_files` would refuse a run, in the order of the nodes.

    Args:
        data: nodes and edges.
        listed: the paths of the user's files.
    """
    return list(_missing(data, listed, _connected(data), None))


def _missing(
    data: JsonObject, listed: Sequence[str], connected: frozenset[tuple[str, str]], outer: str | None
) -> Iterator[MissingFile]:
    for node in nodes_in(data):
        shown = outer or as_text(node.get("id"))
        if group := group_data(definition_of(node)):
            yield from _missing(group, listed, connected | _connected(group), shown)
            continue
        for name in _fields_of(node):
            named = _value(node, name)
            if kind_of(node) in _FOLDERS:
                continue
            if not named and _needs_file(node, connected):
                yield MissingFile(shown, name, "")
            yield from (MissingFile(shown, name, one) for one in named if _path_of(one, listed) is None)


def _path_of(named: str, listed: Sequence[str]) -> str | None:
    """The path of a user's file by the name in a flow; Langflow puts the id of a flow or a user before a name."""
    path = named.removeprefix("./")
    if path not in listed and len(path.partition("/")[0]) == _UUID_LENGTH:
        path = path.partition("/")[2]
    return path if path in listed else None


@dataclass
class _Giver:
    listed: Sequence[str]
    connected: frozenset[tuple[str, str]]
    may_sample: bool
    fields: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    paths: set[str] = field(default_factory=set[str])
    samples: dict[str, bytes] = field(default_factory=dict[str, bytes])

    def give(self, node: JsonObject, outer: str | None = None) -> JsonObject:
        """The node with its file fields settled; `outer` is the group that it is inside of."""
        node_id, definition = as_text(node.get("id")), definition_of(node)
        shown = outer or node_id
        if group := group_data(definition):
            inner: list[Json] = [self.give(each, shown) for each in nodes_in(group)]
            return with_definition(node, with_group_nodes(definition, inner))
        values: dict[str, Json] = {}
        for name in _fields_of(node):
            named = _value(node, name)
            if kind_of(node) in _FOLDERS:
                values[name] = self._folder(shown, named[0] if named else "")
            elif named:
                found: list[Json] = [self._file(shown, each) for each in named]
                self._refuse_unreadable(node, shown, found)
                listed = isinstance(_field(node, name).get("value"), list) and kind_of(node) != _CHAT
                values[name] = found if listed or len(found) > 1 else found[0]
            elif _needs_file(node, self.connected):
                values[name] = self._sample(node, shown, name)
        self._append(node)
        self.fields.extend((node_id, name) for name in values)
        return with_definition(node, _with_files(definition, values)) if values else node

    def _file(self, node: str, named: str) -> str:
        """The path of the file that a node names."""
        path = _path_of(named, self.listed)
        if path is None:
            raise RunFailed(self._no_file(node, f"You have no file {named[:200]!r}."))
        self.paths.add(path)
        return path

    def _refuse_unreadable(self, node: JsonObject, shown: str, paths: Sequence[Json]) -> None:
        """Refuse what the file reader could only read with Docling, which a run cannot start."""
        if kind_of(node) not in _READERS:
            return
        called = as_text(definition_of(node).get("display_name")) or kind_of(node)
        if _field(node, "advanced_mode").get("value") is True:
            message = f"The Advanced Parser of {called} needs Docling, which the engine does not have."
            fix = "Turn the Advanced Parser off; PDF, text, CSV, JSON and XLSX files are read without it."
            raise RunFailed(RunError(code="missing_package", message=message, fix=fix, node=shown))
        for path in texts(list(paths)):
            ending = path.rpartition(".")[2].lower()
            if ending in _NEEDS_DOCLING:
                message = f"{called} cannot read {path!r}: the engine has no parser for .{ending} files (Docling)."
                fix = "Save it as PDF, text, CSV or XLSX."
                if ending in _IMAGES:
                    fix = "Name the image in the chat input's files, so that a model sees it."
                raise RunFailed(RunError(code="missing_package", message=message, fix=fix, node=shown))

    def _folder(self, node: str, named: str) -> str:
        folder = named.removeprefix("./").strip("/") if named not in (".", "./") else ""
        inside = [path for path in self.listed if not folder or path.startswith(f"{folder}/")]
        if not inside:
            if self.may_sample and not folder:
                self.samples["sample.txt"] = sample("txt")
                return ""
            raise RunFailed(self._no_file(node, f"You have no files in {folder[:200]!r}." if folder else _NO_FILES))
        self.paths.update(inside)
        return folder

    def _sample(self, node: JsonObject, shown: str, name: str) -> Json:
        if not self.may_sample:
            called = as_text(definition_of(node).get("display_name")) or kind_of(node)
            raise RunFailed(self._no_file(shown, f"{called} has no file to read."))
        kind = sample_kind(texts(_field(node, name).get("fileTypes")), _output(node))
        self.samples[f"sample.{kind}"] = sample(kind)
        return [f"sample.{kind}"] if _field(node, name).get("list") else f"sample.{kind}"

    def _append(self, node: JsonObject) -> None:
        """Give a node that adds to a file the file that is there."""
        stem = _value(node, "file_name")
        appends = kind_of(node) == _APPENDS and _field(node, "append_mode").get("value") is True
        if stem and (appends or kind_of(node) == _KEEPS):
            self.paths.update(path for path in self.listed if stem[0] in (path, path.rpartition(".")[0]))

    def _no_file(self, node: str, problem: str) -> RunError:
        shown = ", ".join(self.listed[:LISTED]) + (", …" if len(self.listed) > LISTED else "")
        listing = f" Your files: {shown}." if self.listed else " You have no files yet." if problem != _NO_FILES else ""
        fix = "Name one of them in this node" if self.listed else "Add one, then name it in this node"
        fix = f"{fix}; files are added with `wirewright files add`, `ask --file` or POST /api/v1/files."
        return RunError(code="missing_input", message=f"{problem}{listing}", fix=fix, node=node)


_UUID_LENGTH: Final = 36
_NO_FILES: Final = "You have no files yet."


def _listed(files: UserFiles | None) -> list[str]:
    if files is None:
        return []
    try:
        return [path for path, _ in files.listing()]
    except FileRefused:
        return []


def _fields_of(node: JsonObject) -> list[str]:
    """The names of a node's fields that name files or a folder."""
    template = object_at(definition_of(node), "template")
    names = [name for name, entry in template.items() if as_object(entry).get("type") == "file"]
    extra = _NAMED.get(kind_of(node)) or _FOLDERS.get(kind_of(node))
    return [*names, extra] if extra is not None and extra in template else names


def _field(node: JsonObject, name: str) -> JsonObject:
    return object_at(definition_of(node), "template", name)


def _value(node: JsonObject, name: str) -> list[str]:
    """The names that a field holds: those that the user sees, or else those that Langflow stored."""
    for key in ("value", "file_path"):
        held = _field(node, name).get(key)
        named = [each.strip() for each in ([held] if isinstance(held, str) else texts(as_list(held))) if each.strip()]
        if named:
            return named
    return []


def _with_files(definition: JsonObject, values: Mapping[str, Json]) -> JsonObject:
    template = dict(object_at(definition, "template"))
    for name, value in values.items():
        template[name] = {**as_object(template[name]), "value": value}
    return {**definition, "template": template}


def _needs_file(node: JsonObject, connected: frozenset[tuple[str, str]]) -> bool:
    kind = kind_of(node)
    node_id = as_text(node.get("id"))
    if kind not in _READERS or definition_of(node).get("tool_mode") is True:
        return False
    storage = as_list(_field(node, "storage_location").get("value"))
    elsewhere = any(as_object(each).get("name") not in (None, "Local") for each in storage)
    return not elsewhere and (node_id, _READERS[kind]) not in connected and (node_id, "path") not in connected


def _connected(data: JsonObject) -> frozenset[tuple[str, str]]:
    """The fields that edges lead into: the node's id and the field's name."""
    edges = [as_object(edge) for edge in as_list(data.get("edges"))]
    return frozenset(
        (as_text(edge.get("target")), as_text(object_at(edge, "data", "targetHandle").get("fieldName")))
        for edge in edges
    )


def _output(node: JsonObject) -> str:
    return as_text(object_at(node, "data").get("selected_output"))


def _every(data: JsonObject) -> Iterator[JsonObject]:
    for node in nodes_in(data):
        yield node
        yield from _every(group_data(definition_of(node)))
