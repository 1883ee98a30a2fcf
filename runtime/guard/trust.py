"""Sources that the operator trusts by their digest, whatever the guard says about them; kept in the data folder."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from flows.json_values import Json, as_list, as_object, as_text
from flows.paths import data_folder
from runtime.files.atomic import write_atomically
from runtime.files.private import OthersMayWriteError, private_data_folder, read_unshared

FILE_NAME: Final = "trusted-components.json"


class TrustError(ValueError):
    """The list of trusted sources cannot be used; `message` and `fix` may be shown to anyone."""

    def __init__(self, message: str, fix: str) -> None:
        self.message = message
        self.fix = fix
        super().__init__(f"{message} {fix}")


@dataclass(frozen=True)
class TrustedSource:
    """A source that is trusted.

    Attributes:
        digest: the SHA-256 digest of its settled text.
        name: what it was called when it was trusted.
        since: when that was, in ISO 8601.
    """

    digest: str
    name: str
    since: str

    def to_json(self) -> dict[str, Json]:
        """The entry as a JSON object."""
        return {"digest": self.digest, "name": self.name, "since": self.since}


def settled(code: str) -> str:
    """A source without blanks at line ends and empty lines around it, which change nothing."""
    return "\n".join(line.rstrip(" \t\r") for line in code.split("\n")).strip("\n")


def digest_of(code: str) -> str:
    """The digest by which a source is trusted."""
    return hashlib.sha256(settled(code).encode("utf-8", "surrogatepass")).hexdigest()


def is_trusted(code: str) -> bool:
    """Whether the operator trusts this very source; no source is trusted while the list cannot be used."""
    try:
        found = trusted()
    except TrustError:
        return False
    return bool(found) and digest_of(code) in {one.digest for one in found}


def problem() -> TrustError | None:
    """Why nothing is trusted although there is a list; None when the list can be used."""
    try:
        trusted()
    except TrustError as error:
        return error
    return None


def trusted() -> list[TrustedSource]:
    """Every trusted source, oldest first.

    Raises:
        TrustError: the list cannot be read, or others may have written it.
    """
    try:
        text = _read()
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError):
        raise _broken() from None
    try:
        rows = as_list(as_object(json.loads(text)).get("trusted"))
    except (ValueError, RecursionError):
        raise _broken() from None
    fields = [as_object(row) for row in rows]
    return [TrustedSource(*(as_text(row.get(name)) for name in ("digest", "name", "since"))) for row in fields]


def trust(code: str, name: str) -> TrustedSource:
    """Trust a source from now on; once more changes nothing.

    Raises:
        TrustError: the list cannot be read or written.
    """
    digest, found = digest_of(code), trusted()
    known = next((one for one in found if one.digest == digest), None)
    if known is not None:
        return known
    added = TrustedSource(digest, name, datetime.now(UTC).isoformat(timespec="seconds"))
    _write([*found, added])
    return added


def revoke(digest: str) -> TrustedSource:
    """Trust a source no longer; the beginning of its digest is enough.

    Raises:
        TrustError: no trusted source has this digest, or several begin with it, or the list cannot be used.
    """
    found = trusted()
    meant = [one for one in found if digest and one.digest.startswith(digest.lower())]
    if len(meant) != 1:
        many = "Several trusted sources begin" if meant else "No trusted source begins"
        raise TrustError(f"{many} with {digest!r}.", "List them with: wirewright components trust --list")
    _write([one for one in found if one is not meant[0]])
    return meant[0]


def _place() -> Path:
    return data_folder() / FILE_NAME


def _read() -> str:
    """The text of the list, which must be a file of this user that nobody else may write: it lets code run.

    Raises:
        TrustError: it is not.
        OSError: it cannot be read.
    """
    try:
        return read_unshared(_place())
    except OthersMayWriteError as error:
        more = ", and trust the components again" if error.remedy == "remove it" else ""
        raise _untrustworthy(error.why, f"{error.remedy}{more}") from None


def _untrustworthy(why: str, remedy: str) -> TrustError:
    return TrustError(
        f"The list of trusted components ({FILE_NAME}) is not used: {why}.",
        f"Look at its entries in the data folder, then: {remedy}",
    )


def _broken() -> TrustError:
    return TrustError(f"The list of trusted components ({FILE_NAME}) cannot be used.", "Mend or remove it.")


def _write(found: list[TrustedSource]) -> None:
    place = _place()
    text = json.dumps({"trusted": [one.to_json() for one in found]}, indent=2) + "\n"
    try:
        private_data_folder(place.parent)
        write_atomically(place, text.encode())
    except OSError:
        raise TrustError(f"{FILE_NAME} cannot be written to the data folder.", "Check WIREWRIGHT_DATA.") from None
