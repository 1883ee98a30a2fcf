"""Notifies an address of the user's that a run has failed, within the rules for what runs may reach."""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit

import h11

from flows.document import JsonObject
from runtime.egress.addresses import Address, read_address
from runtime.egress.connecting import Streams, checked_target, open_connection
from runtime.egress.hosts import read_hosts
from runtime.egress.policy import EgressPolicy, HostRefused
from server.settings import ServerSettings

log = logging.getLogger(__name__)

SECONDS: Final = 15.0
"""How long an address may take to answer."""

TRIES: Final = 3
"""How often a notice is sent at most."""

PORTS: Final = {"http": 80, "https": 443}

_LOCAL_NAME: Final = "localhost"
"""The name that is this machine's own everywhere (RFC 6761)."""


class BadAddress(ValueError):
    """Notices cannot be sent to this address; the message is for the user."""


def checked_address(address: str) -> str:
    """An address to which failures are reported.

    Args:
        address: what the user gave.

    Raises:
        BadAddress: it is not one.
    """
    try:
        parts = urlsplit(address)
        port = parts.port or PORTS.get(parts.scheme)
        checked_target(parts.hostname or "", port)
    except (ValueError, HostRefused):
        raise BadAddress("This is not an address with http or https, and a host.") from None
    odd = " " in address or not address.isprintable() or not address.isascii() or len(address) > 2_000
    if parts.scheme not in PORTS or parts.username is not None or odd:
        raise BadAddress("An address has http or https, a host, and neither a user nor a password.")
    return address


def notice_policy(settings: ServerSettings) -> EgressPolicy:
    """What notices may reach: what the runs of users may."""
    return EgressPolicy(rule=settings.run_network, named=read_hosts(settings.run_hosts))


def check_reachable(address: str, policy: EgressPolicy) -> None:
    """Check an address for notices by how it is written; nothing is looked up.

    Args:
        address: the address.
        policy: says what the user's runs may reach.

    Raises:
        HostRefused: no notice could reach it, wherever its name leads.
    """
    host, port = _target(address)
    _approved(policy, host).check_name(host, port)
    is_here = host == _LOCAL_NAME or host.endswith(f".{_LOCAL_NAME}")
    literal = read_address("127.0.0.1" if is_here else host)
    if literal is not None:
        policy.allowed_addresses(host, port, [literal])


def _target(address: str) -> tuple[str, int]:
    """The host of an address, and its port."""
    parts = urlsplit(address)
    return checked_target(parts.hostname or "", parts.port or PORTS[parts.scheme])


def _approved(policy: EgressPolicy, host: str) -> EgressPolicy:
    """A policy with the host approved, which who gives its address does."""
    return replace(policy, approved=read_hosts([f"[{host}]" if ":" in host else host]))


async def tell(address: str, notice: JsonObject, policy: EgressPolicy, pause: float = 1.0) -> bool:
    """Post a notice to an address; redirections are not followed.

    Args:
        address: the address.
        notice: what is posted.
        policy: says what the user's runs may reach; giving the address has approved its host.
        pause: seconds before it is tried again.

    Returns:
        Whether the address has taken it.
    """
    for attempt in range(TRIES):
        try:
            async with asyncio.timeout(SECONDS):
                status = await _post(address, json.dumps(notice, ensure_ascii=False).encode(), policy)
        except HostRefused as refused:
            log.warning("notice.refused: %s", refused.error.message)
            if refused.status == 403:
                return False
        except (OSError, TimeoutError, h11.ProtocolError) as failure:
            log.warning("notice.failed: %s", type(failure).__name__)
        else:
            if status < 500:
                return status < 300
        await asyncio.sleep(pause * 2**attempt)
    return False


async def _post(address: str, body: bytes, policy: EgressPolicy) -> int:
    """Send a request; returns the status of its answer.

    Raises:
        HostRefused: the address may not be reached, or cannot be.
        OSError, h11.ProtocolError: it does not answer as it should.
    """
    parts = urlsplit(address)
    host, port = _target(address)
    secure = ssl.create_default_context() if parts.scheme == "https" else None

    async def connect(found: Address, at: int) -> Streams:
        return await asyncio.open_connection(
            str(found), at, ssl=secure, server_hostname=host if secure is not None else None
        )

    reader, writer = await open_connection(_approved(policy, host), host, port, connect=connect)
    client = h11.Connection(h11.CLIENT)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = [
        ("Host", parts.netloc),
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(body))),
        ("Connection", "close"),
    ]
    try:
        writer.write(client.send(h11.Request(method="POST", target=path, headers=headers)) or b"")
        writer.write((client.send(h11.Data(data=body)) or b"") + (client.send(h11.EndOfMessage()) or b""))
        await writer.drain()
        while True:
            event = client.next_event()
            if event is h11.NEED_DATA:
                client.receive_data(await reader.read(4_096))
            elif isinstance(event, h11.Response):
                return event.status_code
            elif not isinstance(event, h11.InformationalResponse):
                raise h11.RemoteProtocolError("no answer")
    finally:
        writer.close()
