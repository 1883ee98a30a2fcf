"""The documents of the installation: shells, models, the flow engine and the server."""

from typing import Literal

from typing_extensions import TypedDict

from agent.models.overview import ModelTest
from cli.documents.errors import ErrorObject
from runtime.install.environment import RunnerStatus


class CompletionScript(TypedDict):
    """The script that completes commands in a shell."""

    shell: str
    script: str


class ModelsTested(TypedDict):
    """Which models answered; ok when at least one was tested and all did."""

    ok: bool
    models: list[ModelTest]


class Installed(TypedDict):
    """The flow engine after an installation."""

    ok: bool
    status: RunnerStatus
    error: ErrorObject | None


class Serving(TypedDict):
    """The server listens."""

    event: Literal["serving"]
    url: str
