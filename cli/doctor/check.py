"""One part of an installation, and whether it works."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

Status = Literal["works", "missing", "optional"]


class Check(BaseModel):
    """One part of this installation.

    Attributes:
        name: the part.
        status: whether it works; `optional` is missing and not needed.
        detail: what was found.
        fix: how to get what is missing; empty when it works.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    status: Status
    detail: str
    fix: str = ""
