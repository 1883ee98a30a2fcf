"""The documents of migrations, backups, and what one user has."""

from typing import Literal

from typing_extensions import TypedDict


class MigrationStep(TypedDict):
    """One migration."""

    revision: str
    title: str


class Migrated(TypedDict):
    """The schema of the database: what it was, what this version needs, and the migrations between."""

    ok: bool
    revision: str | None
    current: str
    steps: list[MigrationStep]


class Archived(TypedDict):
    """A backup that was written or restored; `secret_key` says where the key of what is encrypted in it comes from."""

    path: str
    revision: str
    rows: dict[str, int]
    files: int
    secret_key: Literal["environment", "keyring", "file"]


class UserExported(TypedDict):
    """An archive of a user."""

    path: str
    user: str
    rows: dict[str, int]
    files: int
    secrets: bool


class UserImported(TypedDict):
    """What was imported; the token is there when the user was added for it, and is not shown again."""

    user: str
    rows: dict[str, int]
    files: int
    secrets: bool
    token: str | None


class UserDeleted(TypedDict):
    """What was deleted of a user."""

    id: str
    user: str
    rows: dict[str, int]
    files: int
