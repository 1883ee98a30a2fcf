"""The documents of `wirewright components`."""

from typing import Any, NotRequired

from typing_extensions import TypedDict

from cli.documents.errors import ErrorObject


class Found(TypedDict):
    """A component type that matches; scores compare only within one answer."""

    type: str
    display_name: str
    score: float


class BundleObject(TypedDict):
    """A package that adds component types, and the size of its download in MB where it is known."""

    name: str
    requirement: str
    size_mb: float | None


class Installable(TypedDict):
    """A component type of a bundle that is not installed."""

    type: str
    display_name: str
    bundle: BundleObject


class SearchRow(TypedDict):
    """The answer to one query, best match first; `query` is null and `error` there for a line that cannot be read.

    `nearest` has type names when nothing matches, `limits` what no component can do, `not_installed` what bundles add.
    """

    query: str | None
    matches: list[Found]
    nearest: NotRequired[list[str]]
    limits: NotRequired[list[str]]
    not_installed: NotRequired[list[Installable]]
    error: NotRequired[ErrorObject]


class InputObject(TypedDict):
    """A field of a component type, as its definition has it."""

    name: str
    display_name: Any
    type: Any
    required: Any
    advanced: Any
    show: Any
    input_types: Any
    options: Any
    value: Any


class OutputObject(TypedDict):
    """An output of a component type, as its definition has it."""

    name: Any
    display_name: Any
    types: Any


class Described(TypedDict):
    """A component type; `installed` (false) and `bundle` are there when a bundle adds it."""

    ok: bool
    type: str
    display_name: str
    category: str
    description: str
    legacy: bool
    beta: bool
    inputs: list[InputObject]
    outputs: list[OutputObject]
    text: str
    installed: NotRequired[bool]
    bundle: NotRequired[BundleObject]


class Unknown(TypedDict):
    """There is no such component type."""

    ok: bool
    type: str
    error: ErrorObject


class ViolationObject(TypedDict):
    """What no component may do, and where the source does it."""

    rule: str
    line: int
    message: str
    fix: str


class Scanned(TypedDict):
    """What was found in a file; `id` is its name."""

    ok: bool
    id: str
    violations: list[ViolationObject]


class ScannedLine(TypedDict):
    """What was found in one line's source; `id` is that of the line, `error` says why it could not be read."""

    id: Any
    violations: list[ViolationObject]
    error: NotRequired[ErrorObject]


class TrustedObject(TypedDict):
    """A source that may run whatever the guard says about it."""

    digest: str
    name: str
    since: str


class Trusted(TypedDict):
    """What is trusted, or with FILE what was trusted just now and what the guard says about it."""

    ok: bool
    trusted: list[TrustedObject]
    violations: NotRequired[list[ViolationObject]]


class Untrusted(TypedDict):
    """What is trusted no longer."""

    ok: bool
    revoked: list[TrustedObject]
