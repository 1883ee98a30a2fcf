"""The environment variables of a flow engine process: an allow list and private folders."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

PASSED = (
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "SYSTEMROOT",
)
"""Variables that are passed on; none of them can hold a key."""
ALLOWED_HOSTS = "LANGFLOW_SSRF_ALLOWED_HOSTS"
"""Langflow's variable with the private hosts that flows may call; the engine reads it when it starts."""
FIXED: Mapping[str, str] = {
    "DO_NOT_TRACK": "1",
    "LANGFLOW_DO_NOT_TRACK": "true",
    "LANGFLOW_LOG_LEVEL": "CRITICAL",
    "LANGFLOW_PRETTY_LOGS": "false",
}


def operator_hosts() -> tuple[str, ...]:
    """The private hosts that Langflow's own variable names."""
    return tuple(host.strip() for host in os.environ.get(ALLOWED_HOSTS, "").split(",") if host.strip())


def engine_environment(folder: Path, private_hosts: Collection[str] = ()) -> dict[str, str]:
    """The whole environment of an engine process.

    Args:
        folder: its home and temporary folder.
        private_hosts: private hosts that flows may call.
    """
    kept = {name: os.environ[name] for name in PASSED if name in os.environ}
    allowed = {ALLOWED_HOSTS: ",".join(private_hosts)} if private_hosts else {}
    return {**kept, **allowed, **FIXED, "HOME": str(folder), "TMPDIR": str(folder), "LANGFLOW_CONFIG_DIR": str(folder)}
