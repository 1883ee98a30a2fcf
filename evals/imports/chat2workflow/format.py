"""Reading Chat2Workflow's files: queries by task and round, and the checks of each round."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from runtime.files.texts import TextRefused, read_text

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

TRUTH = "ground_truth"
"""The key of a test's expected result."""


class ImportFormatError(ValueError):
    """A file that cannot be imported; `place` names the file and the spot in it."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}")
        self.place = place
        self.message = message


class FileValue(BaseModel):
    """A file that a test uploads.

    Attributes:
        mime_type: its type, such as `document/pdf`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    mime_type: str
    value: str


Value: TypeAlias = str | tuple[FileValue, ...]
"""The value of a variable in a test: text, or files."""


@dataclass(frozen=True, kw_only=True)
class BenchmarkCase:
    """One test of a round.

    Attributes:
        inputs: the value of each variable.
        truth: the expected result; None if the test does not say.
    """

    name: str
    inputs: Mapping[str, Value]
    truth: str | None = None


@dataclass(frozen=True, kw_only=True)
class BenchmarkCheck:
    """The checks of one round.

    Attributes:
        outputs: names of output variables; several lists if the branches of a flow give different ones.
        kinds: the kinds of nodes that the flow must have.
        others: keys without a meaning here.
        endings: by output variable, the expected file ending.
    """

    inputs: tuple[str, ...]
    outputs: tuple[tuple[str, ...], ...]
    kinds: tuple[str, ...]
    cases: tuple[BenchmarkCase, ...]
    others: tuple[str, ...] = ()
    endings: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, kw_only=True)
class Task:
    """One task."""

    name: str
    category: str
    rounds: tuple[str, ...]


def read_queries(path: Path) -> tuple[Task, ...]:
    """The tasks of a query file.

    Raises:
        ImportFormatError: naming the place.
    """
    document = _loaded(path)
    if not isinstance(document, list):
        raise ImportFormatError(path.name, "should be a list of tasks")
    tasks = [_task(item, f"{path.name}[{number}]") for number, item in enumerate(document)]
    names = [task.name for task in tasks]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise ImportFormatError(path.name, f"the task {repeated!r} is given twice")
    return tuple(tasks)


def read_checks(path: Path, endings: Path | None = None) -> dict[str, BenchmarkCheck]:
    """The checks of every round, by `Task_N`.

    Args:
        path: the checks of the pass environment.
        endings: the file endings of the resolve environment.

    Raises:
        ImportFormatError: naming the place.
    """
    wanted = {} if endings is None else _endings(endings)
    document = _loaded(path)
    if not isinstance(document, dict):
        raise ImportFormatError(path.name, "should be an object of checks by round")
    found = {key: _check(value, f"{path.name}.{key}", wanted.get(key, {})) for key, value in document.items()}
    unknown = sorted(wanted.keys() - found.keys())
    if unknown and endings is not None:
        raise ImportFormatError(f"{endings.name}.{unknown[0]}", f"{path.name} has no such round")
    return found


def _task(item: Json, place: str) -> Task:
    if not isinstance(item, dict):
        raise ImportFormatError(place, "should be an object")
    name, category = _text(item.get("task"), f"{place}.task"), _text(item.get("category"), f"{place}.category")
    numbers = sorted(int(found.group(1)) for key in item if (found := re.fullmatch(r"query([1-9][0-9]*)", key)))
    if numbers != list(range(1, len(numbers) + 1)) or not numbers:
        raise ImportFormatError(place, "the rounds should be query1, query2 and so on, without a gap")
    unknown = sorted(
        key for key in item if key not in {"id", "task", "category"} and not re.fullmatch(r"query[1-9][0-9]*", key)
    )
    if unknown:
        raise ImportFormatError(f"{place}.{unknown[0]}", "is unknown")
    rounds = tuple(_text(item[f"query{number}"], f"{place}.query{number}") for number in numbers)
    return Task(name=name, category=category, rounds=rounds)


def _check(item: Json, place: str, endings: Mapping[str, str]) -> BenchmarkCheck:
    if not isinstance(item, dict):
        raise ImportFormatError(place, "should be an object")
    tests = sorted((key for key in item if re.fullmatch(r"test[0-9]+", key)), key=lambda key: int(key[4:]))
    check = BenchmarkCheck(
        inputs=_names(item.get("input_var"), f"{place}.input_var"),
        outputs=_outputs(item.get("output_var"), f"{place}.output_var"),
        kinds=_names(item.get("related_nodes"), f"{place}.related_nodes"),
        cases=tuple(_case(key, item[key], f"{place}.{key}") for key in tests),
        others=tuple(sorted(item.keys() - {"input_var", "output_var", "related_nodes", *tests})),
        endings=endings,
    )
    for case in check.cases:
        stray = sorted(case.inputs.keys() - set(check.inputs))
        if stray:
            raise ImportFormatError(f"{place}.{case.name}.{stray[0]}", "is not among input_var")
    return check


def _case(name: str, item: Json, place: str) -> BenchmarkCase:
    if not isinstance(item, dict):
        raise ImportFormatError(place, "should be an object")
    truth = item.get(TRUTH)
    inputs = {key: _value(value, f"{place}.{key}") for key, value in item.items() if key != TRUTH}
    return BenchmarkCase(name=name, inputs=inputs, truth=None if truth is None else _scalar(truth, f"{place}.{TRUTH}"))


def _value(value: Json, place: str) -> Value:
    match value:
        case str() | bool() | int() | float():
            return _scalar(value, place)
        case dict():
            return (_file(value, place),)
        case list() if value:
            return tuple(_file(item, f"{place}[{number}]") for number, item in enumerate(value))
        case _:
            raise ImportFormatError(place, "should be a text, a file or a list of files")


def _scalar(value: Json, place: str) -> str:
    match value:
        case str():
            return value
        case bool() | int() | float():
            return json.dumps(value)
        case _:
            raise ImportFormatError(place, "should be a text")


def _file(value: Json, place: str) -> FileValue:
    try:
        found = FileValue.model_validate(value)
    except ValidationError:
        raise ImportFormatError(place, "should be a file: mime_type and value, both texts") from None
    if not found.value or found.value in {".", ".."} or re.search(r"[/\\\x00-\x1f]", found.value):
        raise ImportFormatError(f"{place}.value", "should be the plain name of a file")
    return found


def _endings(path: Path) -> dict[str, dict[str, str]]:
    try:
        return TypeAdapter(dict[str, dict[str, str]]).validate_python(_loaded(path))
    except ValidationError as error:
        spot = "".join(f".{part}" for part in error.errors()[0]["loc"])
        raise ImportFormatError(f"{path.name}{spot}", "should give file endings by output variable") from None


def _outputs(value: Json, place: str) -> tuple[tuple[str, ...], ...]:
    """A list of names, or a list of such lists, one for each branch."""
    if isinstance(value, list) and any(isinstance(item, list) for item in value):
        return tuple(_names(item, f"{place}[{number}]") for number, item in enumerate(value))
    return (_names(value, place),)


def _names(value: Json, place: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ImportFormatError(place, "should be a list of names")
    return tuple(_text(item, f"{place}[{number}]") for number, item in enumerate(value))


def _text(value: Json, place: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ImportFormatError(place, "should be a text that is not empty")
    return value


def _loaded(path: Path) -> Json:
    try:
        return json.loads(read_text(path), object_pairs_hook=lambda pairs: _once(pairs, path))
    except TextRefused as refused:
        raise ImportFormatError(path.name, refused.reason) from None
    except json.JSONDecodeError as error:
        raise ImportFormatError(f"{path.name} line {error.lineno}", f"is not JSON: {error.msg}") from None
    except RecursionError:
        raise ImportFormatError(path.name, "is nested too deeply") from None


def _once(pairs: list[tuple[str, Json]], path: Path) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for key, value in pairs:
        if key in found:
            raise ImportFormatError(path.name, f"{key!r} is given twice in one object")
        found[key] = value
    return found
