"""The environment variables that a flow engine process is given: an allow list, and private folders."""

from __future__ import annotations

import os
from collections.abc import Mapping
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
OWN_HOSTS = "LANGFLOW_SSRF_ALLOWED_HOSTS"
"""The operator's variable that names private hosts which flows may call; the engine reads it once, when it starts."""
SET: Mapping[str, str] = {
    "DO_NOT_TRACK": "1",
    "LANGFLOW_DO_NOT_TRACK": "true",
    "LANGFLOW_LOG_LEVEL": "CRITICAL",
    "LANGFLOW_PRETTY_LOGS": "false",
}


def passed_environment(folder: Path) -> dict[str, str]:
    """The whole environment of an engine process whose home and temporary folder is `folder`."""
    kept = {name: os.environ[name] for name in (*PASSED, OWN_HOSTS) if name in os.environ}
    return {**kept, **SET, "HOME": str(folder), "TMPDIR": str(folder), "LANGFLOW_CONFIG_DIR": str(folder)}
