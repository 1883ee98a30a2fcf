"""The server's settings from the environment, in addition to the assistant's."""

from ipaddress import ip_address
from typing import Literal

from pydantic import AliasChoices, Field, field_validator
from pydantic_settings import SettingsConfigDict

from agent.settings import AssistantSettings


class ServerSettings(AssistantSettings):
    """Settings of the server, from `WIREWRIGHT_*` variables; a plain `PORT` is honoured."""

    model_config = SettingsConfigDict(
        env_prefix="WIREWRIGHT_", env_ignore_empty=True, extra="ignore", frozen=True, populate_by_name=True
    )

    host: str = "127.0.0.1"
    """The address to listen on. Loopback only, because requests and their token are not encrypted on the way."""

    port: int = Field(
        default=7878, ge=0, le=65535, validation_alias=AliasChoices("WIREWRIGHT_PORT", "wirewright_port", "PORT")
    )
    """The port to listen on; 0 takes any free one."""

    log: Literal["auto", "text", "json"] = "auto"
    """How the log is written: lines for people, lines of JSON, or by whether standard output is a terminal."""

    body_limit: int = Field(default=1_000_000, ge=1_024)
    """How many bytes a request's body may have."""

    @field_validator("host")
    @classmethod
    def _loopback(cls, host: str) -> str:
        if is_loopback(host):
            return host
        raise ValueError(
            "The server speaks plain HTTP, so it listens on this machine only. "
            "Set WIREWRIGHT_HOST to 127.0.0.1, ::1 or localhost."
        )


def is_loopback(host: str) -> bool:
    """Whether a host name or address can only mean this machine.

    Args:
        host: a name, or an address without brackets and port.
    """
    name = host.lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
