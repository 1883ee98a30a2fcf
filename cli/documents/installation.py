"""The documents of the installation: shells, the flow engine and the server."""

from dataclasses import dataclass, fields
from typing import Literal

from typing_extensions import TypedDict

from cli.documents.errors import ErrorObject
from runtime.install.environment import RunnerStatus


class CompletionScript(TypedDict):
    """The script that completes commands in a shell."""

    shell: str
    script: str


class Installed(TypedDict):
    """The flow engine after an installation."""

    ok: bool
    status: RunnerStatus
    error: ErrorObject | None


class Token(TypedDict):
    """What requests to the server of this installation carry."""

    token: str


class SignInLink(TypedDict):
    """A link that signs a browser in, once."""

    link: str


class Serving(TypedDict):
    """The server listens."""

    event: Literal["serving"]
    url: str


@dataclass(frozen=True, kw_only=True)
class StatusDocument(RunnerStatus):
    """What is installed, what protects this machine from a running flow, and where the key of keys at rest is."""

    secret_key: str


def printed_status(status: RunnerStatus, secret_key: str) -> StatusDocument:
    """A status as it is printed.

    Args:
        status: of the engine.
        secret_key: where the key is that encrypts keys at rest.
    """
    return StatusDocument(**{one.name: getattr(status, one.name) for one in fields(status)}, secret_key=secret_key)
