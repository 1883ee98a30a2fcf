"""Reading scenarios from their files, and the JSON schema of such a file."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import yaml
from pydantic import BaseModel, JsonValue, ValidationError

from evals.bounded_yaml import TooComplex, load_yaml
from evals.conversations.course import ConversationCase
from evals.scenario import Scenario
from runtime.files.texts import TextRefused, read_text

FOLDER = Path(__file__).parent
"""The folder of the scenarios that come with Wirewright."""

FILES = "files"
"""The folder beside scenarios that their `{file: NAME}` read from."""

SCHEMA = Path(__file__).parent.parent / "scenario.schema.json"
"""The committed JSON schema of a scenario file; editors use it."""

KEPT = 1000
"""Documents that are kept parsed: a command reads the scenarios several times."""

_DOCUMENTS: dict[tuple[type[BaseModel], str], BaseModel] = {}
_NAMES_A_FILE = re.compile(r"""\bfile['"]?\s*:""")
_Yaml: TypeAlias = "dict[Any, Any] | list[Any] | str | int | float | bool | None"
_Case = TypeVar("_Case", Scenario, ConversationCase)
_Document = TypeVar("_Document", bound=BaseModel)

if TYPE_CHECKING:
    _SafeLoader = yaml.SafeLoader
else:  # five times faster in C, where PyYAML was built with it
    _SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class ScenarioError(ValueError):
    """A scenario file that cannot be used; `place` names the file and the place in it."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}")
        self.place = place
        self.message = message


def load_scenario(path: Path) -> Scenario:
    """Read one scenario.

    Raises:
        ScenarioError: naming the place of every fault.
    """
    return load_case(path, Scenario)


def load_case(path: Path, kind: type[_Case]) -> _Case:
    """Read one case of the harness, such as a scenario.

    Raises:
        ScenarioError: naming the place of every fault.
    """
    case = load_document(path, kind)
    if case.id != path.stem:
        raise ScenarioError(path.name, f"id is {case.id!r}; it must be the file's name, {path.stem!r}")
    return case


def load_document(path: Path, kind: type[_Document]) -> _Document:
    """Read a YAML document as a model, whose content nobody may change: documents with one text share it.

    Raises:
        ScenarioError: naming the place of every fault.
    """
    text = _text(path)
    if _NAMES_A_FILE.search(text):
        return _validated(_with_files(_parsed(text, path), path), path, kind)
    key = (kind, text)
    kept = _DOCUMENTS.get(key)
    if kept is None:
        kept = _DOCUMENTS[key] = _validated(_parsed(text, path), path, kind)
        if len(_DOCUMENTS) > KEPT:
            del _DOCUMENTS[next(iter(_DOCUMENTS))]
    return cast("_Document", kept)


def _validated(whole: _Yaml, path: Path, kind: type[_Document]) -> _Document:
    try:
        return kind.model_validate_json(_as_json(whole, path))
    except ValidationError as error:
        raise ScenarioError(path.name, fault_words(error)) from None


def _text(path: Path) -> str:
    try:
        return read_text(path)
    except TextRefused as refused:
        raise ScenarioError(path.name, refused.reason) from None


def _parsed(text: str, path: Path) -> _Yaml:
    try:
        return load_yaml(text, _Loader)
    except TooComplex as failure:
        raise ScenarioError(path.name, str(failure)) from None
    except yaml.MarkedYAMLError as error:
        line = f" line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ScenarioError(f"{path.name}{line}", error.problem or "is not YAML") from None
    except yaml.YAMLError:
        raise ScenarioError(path.name, "is not YAML") from None


def load_scenarios(folder: Path = FOLDER) -> tuple[Scenario, ...]:
    """Read every scenario of a folder, by id.

    Raises:
        ScenarioError: one of them cannot be used, or none is found.
    """
    scenarios = tuple(load_scenario(path) for path in sorted(folder.glob("*.yaml"), key=lambda path: path.stem))
    if not scenarios:
        raise ScenarioError(folder.name, "holds no scenarios (*.yaml)")
    return scenarios


def named_files(path: Path) -> frozenset[str]:
    """The names that a scenario reads from `FILES` beside it, by `{file: NAME}`.

    Raises:
        ScenarioError: it cannot be read.
    """
    names: set[str] = set()

    def look(found: _Yaml) -> None:
        match found:
            case {"file": str(name), **rest} if not rest:
                names.add(name)
            case dict() | list():
                for value in found.values() if isinstance(found, dict) else found:
                    look(value)
            case _:
                pass

    text = _text(path)
    look(_parsed(text, path))
    return frozenset(names)


def schema_text() -> str:
    """The JSON schema of a scenario file, as it is committed."""
    schema = Scenario.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "Wirewright scenario"
    return json.dumps(_files_allowed(schema), indent=2, ensure_ascii=False) + "\n"


_FILE_SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"file": {"type": "string"}},
    "required": ["file"],
    "additionalProperties": False,
}
_TEXTS = {"canvas", "reference", "flow", "edit"}
_LISTS = {"components", "alternatives"}


def _files_allowed(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema, with `{file: NAME}` allowed instead of a flow, a source or a file's content."""
    properties = cast("dict[str, Any]", schema.get("properties", {}))
    for name, field in properties.items():
        if name in _TEXTS:
            properties[name] = {**field, "anyOf": [*field.get("anyOf", []), _FILE_SCHEMA]}
        elif name in _LISTS:
            properties[name] = {**field, "items": {"anyOf": [field["items"], _FILE_SCHEMA]}}
        elif name == "files" and field.get("additionalProperties") == {"type": "string"}:
            properties[name] = {**field, "additionalProperties": {"anyOf": [{"type": "string"}, _FILE_SCHEMA]}}
    for definition in cast("dict[str, dict[str, Any]]", schema.get("$defs", {})).values():
        _files_allowed(definition)
    return schema


class _Loader(_SafeLoader):
    """YAML without repeated keys, of which the last would win silently otherwise."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002  (PyYAML's signature)
        seen: set[str] = set()
        for key, _ in node.value:
            name = str(cast("yaml.Node", key).value)
            if name in seen:
                raise yaml.constructor.ConstructorError(None, None, f"{name!r} is given twice", key.start_mark)
            seen.add(name)
        return super().construct_mapping(node, deep=deep)


def _with_files(found: _Yaml, path: Path) -> _Yaml:
    match found:
        case {"file": str(name), **rest} if not rest:
            return _content(name, path)
        case dict():
            return {key: _with_files(value, path) for key, value in found.items()}
        case list():
            return [_with_files(value, path) for value in found]
        case _:
            return found


def _content(name: str, path: Path) -> str:
    folder = path.parent / FILES
    file = folder / name
    if not file.resolve().is_relative_to(folder.resolve()):
        raise ScenarioError(path.name, f"file {name!r} is outside {FILES}/")
    try:
        return read_text(file)
    except TextRefused as refused:
        raise ScenarioError(path.name, f"file {name!r} of {FILES}/ {refused.reason}") from None


def _as_json(found: _Yaml, path: Path) -> str:
    try:
        return json.dumps(found)
    except (TypeError, ValueError):
        raise ScenarioError(path.name, "has a value that JSON cannot express, such as a bare date; quote it") from None


def fault_words(error: ValidationError) -> str:
    """Every fault of a document with its place, on one line."""
    return "; ".join(_fault(item) for item in error.errors(include_url=False))


def _fault(item: Any) -> str:
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in item["loc"]).lstrip(".")
    return f"{place}: {item['msg']}" if place else str(item["msg"])
