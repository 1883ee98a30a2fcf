"""The server's settings from the environment, in addition to the assistant's."""

import re
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import AliasChoices, Field, ValidationInfo, field_validator
from pydantic_settings import NoDecode, SettingsConfigDict

from runtime.database.backends.urls import is_sqlite
from server.durable.installed import is_installed
from server.limits.settings import LimitSettings

NAME: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*\.?")
"""The name of a host."""


class ServerSettings(LimitSettings):
    """Settings of the server, from `WIREWRIGHT_*` variables; a plain `PORT` is honoured."""

    model_config = SettingsConfigDict(
        env_prefix="WIREWRIGHT_", env_ignore_empty=True, extra="ignore", frozen=True, populate_by_name=True
    )

    tls_certificate: Path | None = None
    """A file with the server's certificate and those that it rests on, in PEM form; needs `tls_key`."""

    tls_key: Path | None = Field(default=None, validate_default=True)
    """A file with the certificate's private key, in PEM form."""

    proxy_headers: Annotated[tuple[str, ...], NoDecode] = ()
    """Addresses or networks, separated by commas, of proxies in front of the server: what their headers
    `X-Forwarded-For` and `X-Forwarded-Proto` say of a request is believed."""

    names: Annotated[tuple[str, ...], NoDecode] = ()
    """The names and addresses, separated by commas, under which clients reach the server, beside those of this
    machine."""

    origins: Annotated[tuple[str, ...], NoDecode] = ()
    """The origins, separated by commas, whose pages may use the server with a token, such as
    `https://flows.example.org`."""

    host: str = "127.0.0.1"
    """The address to listen on. Beyond loopback, requests and their tokens need to be encrypted on the way: by
    `tls_certificate`, or by a proxy that `proxy_headers` names."""

    port: int = Field(
        default=7878, ge=0, le=65535, validation_alias=AliasChoices("WIREWRIGHT_PORT", "wirewright_port", "PORT")
    )
    """The port to listen on; 0 takes any free one."""

    log: Literal["auto", "text", "json"] = "auto"
    """How the log is written: lines for people, lines of JSON, or by whether standard output is a terminal."""

    drain_seconds: float = Field(default=20.0, ge=0, le=3_600)
    """How many seconds turns and runs that are under way may take to end once SIGTERM stops the server; what has not
    ended then is interrupted."""

    metrics_port: int | None = Field(default=None, ge=0, le=65535)
    """A port of its own for `/metrics`, which needs no token there; None serves the metrics with the token alone."""

    metrics_host: str = "127.0.0.1"
    """The address of `metrics_port`: one that only the collector reaches."""

    turn_grace: float = Field(default=60.0, ge=0.0, le=3_600.0)
    """How many seconds a resumable turn goes on without a client that follows it."""

    turn_events_kept: float = Field(default=3_600.0, ge=60.0, le=2_592_000.0)
    """How many seconds the events of a turn can be read after its end."""

    durable: bool | None = None
    """Whether turns survive the death of the server's process; unset: with Postgres. Conversations are then stored in
    the database."""

    evaluations: Path | None = None
    """A folder with journals and reports of evaluations, which every user of the server may read; unset for none."""

    @field_validator("proxy_headers", "names", "origins", mode="before")
    @classmethod
    def _separated(cls, given: object) -> object:
        return [name.strip() for name in given.split(",") if name.strip()] if isinstance(given, str) else given

    @field_validator("proxy_headers")
    @classmethod
    def _networks(cls, proxies: tuple[str, ...]) -> tuple[str, ...]:
        for proxy in proxies:
            try:
                network = ip_network(proxy)
            except ValueError:
                raise ValueError(f"{proxy[:60]!r} is neither an address nor a network, such as 10.0.0.0/8.") from None
            if not network.prefixlen:
                raise ValueError("Every address would be believed. Name the proxies alone.")
        return proxies

    @field_validator("names")
    @classmethod
    def _bare_names(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if NAME.fullmatch(name) is None and not _is_address(name):
                raise ValueError(f"{name[:60]!r} is not the name of a host. Leave out scheme, port and path.")
        return tuple(name.lower().rstrip(".") for name in names)

    @field_validator("origins")
    @classmethod
    def _are_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            parts = urlsplit(origin)
            if (
                parts.scheme not in ("http", "https")
                or not parts.hostname
                or f"{parts.scheme}://{parts.netloc}" != origin
            ):
                raise ValueError(f"{origin[:60]!r} is not an origin, such as https://flows.example.org.")
        return tuple(origin.lower() for origin in origins)

    @field_validator("tls_key")
    @classmethod
    def _both(cls, key: Path | None, info: ValidationInfo) -> Path | None:
        if (key is None) != (info.data.get("tls_certificate") is None):
            raise ValueError("A certificate and its key are needed together: WIREWRIGHT_TLS_CERTIFICATE and _TLS_KEY.")
        return key

    @field_validator("host")
    @classmethod
    def _encrypted(cls, host: str, info: ValidationInfo) -> str:
        if is_loopback(host):
            return host
        if not _is_address(host):
            raise ValueError("It is not an address of this machine, such as 0.0.0.0.")
        if info.data.get("tls_key") is None and not info.data.get("proxy_headers"):
            raise ValueError(
                "Beyond this machine, plain HTTP shows tokens to everybody on the way. "
                "Set WIREWRIGHT_TLS_CERTIFICATE and WIREWRIGHT_TLS_KEY, or WIREWRIGHT_PROXY_HEADERS, "
                "or listen on 127.0.0.1, ::1 or localhost."
            )
        if not info.data.get("names"):
            raise ValueError("Set WIREWRIGHT_NAMES to the names under which clients reach the server.")
        return host

    @property
    def is_durable(self) -> bool:
        """Whether turns survive the death of the server's process."""
        if self.durable is None:
            return not is_sqlite(self.database_url) and is_installed()
        return self.durable

    @property
    def queues_turns(self) -> bool:
        """Whether workers take the turns that this server is asked for."""
        return self.is_durable and not self.work_here and not is_sqlite(self.database_url)

    @property
    def leaves_work(self) -> bool:
        """Whether workers do all that waits in queues."""
        return not self.work_here and not is_sqlite(self.database_url)

    @property
    def is_encrypted(self) -> bool:
        """Whether the server itself speaks TLS."""
        return self.tls_key is not None


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


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
