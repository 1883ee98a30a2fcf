"""The tests of a stored flow among the user's files, as JSON that `wirewright flow test --tests` reads as well."""

from __future__ import annotations

import json
from typing import Final

from flows.document import Json, JsonObject
from flows.json_values import as_object
from runtime.files.names import FileMissing
from runtime.files.store import UserFiles

FOLDER: Final = "flow-tests"
"""The user's folder that has them."""


def file_of(flow_id: str) -> str:
    """The path of the file that has a flow's tests."""
    return f"{FOLDER}/{flow_id}.json"


def read_tests(files: UserFiles, flow_id: str) -> JsonObject:
    """The tests of a flow; none if there is no file of them, or if it has something else.

    Raises:
        FileRefused: it cannot be read.
    """
    try:
        found: Json = json.loads(files.read(file_of(flow_id)))
    except (FileMissing, ValueError):
        return {"tests": []}
    return {"tests": [], **as_object(found)}


def keep_tests(files: UserFiles, flow_id: str, tests: JsonObject) -> None:
    """Keep the tests of a flow in place of those before; without any, nothing is kept.

    Raises:
        FileRefused: they cannot be written.
    """
    if tests.get("tests"):
        files.write(file_of(flow_id), json.dumps(tests, ensure_ascii=False, indent=2) + "\n")
        return
    try:
        files.remove(file_of(flow_id))
    except FileMissing:
        return
