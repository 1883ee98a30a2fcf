"""Calls of web APIs, which a message names by an address or as an API."""

import re

from agent.demo.building.stages import Stage, entry
from agent.demo.exact.language import Request

_NAMED = re.compile(
    r"\b(?:apis?|http|endpoint|webservice|webhook|rest\s+(?:api|call|service))\b|\bREST\b", re.IGNORECASE
)
_TYPED = re.compile(r"\b(?:addresse?s?|urls?|links?)\b", re.IGNORECASE)
"""What the chat's message is, when a call is asked for and no address is given."""
_METHOD = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE)\b")
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})


def service_stage(part: str, request: Request, *, sends: bool = False) -> Stage | None:
    """The call that a part of a request asks for: of a given address, or of the one that is typed; None for no call.

    Args:
        part: a piece of the masked message.
        request: the whole message taken apart.
        sends: whether the message of the chat is to be sent there.
    """
    address = _address(part, request)
    if address is None and not (_NAMED.search(part) and _TYPED.search(part)):
        return None
    method = _METHOD.search(part)
    chosen = method.group(1) if method else "POST" if sends and address else "GET"
    if address is not None and sends and chosen in _WITH_BODY:
        return _posting(address, chosen)
    return Stage(
        name="call",
        nodes=(("@", "APIRequest"), ("@_text", "ParserComponent")),
        into=None if address else "@.url_input",
        out="@_text.parsed_text",
        edges=("@.data -> @_text.input_data",),
        config=(
            *(() if address is None else (entry("@.url_input", address),)),
            f"  @.method: {chosen}",
            "  @_text.mode: Stringify",
        ),
        title="API call",
    )


def _posting(address: str, method: str) -> Stage:
    """A call whose body is the message."""
    return Stage(
        name="call",
        nodes=(("@_body", "TypeConverterComponent"), ("@", "APIRequest"), ("@_text", "ParserComponent")),
        into="@_body.input_data",
        out="@_text.parsed_text",
        edges=("@_body.data_output -> @.body", "@.data -> @_text.input_data"),
        config=(
            entry("@.url_input", address),
            f"  @.method: {method}",
            "  @_body.output_type: JSON",
            "  @_text.mode: Stringify",
        ),
        title="API call",
    )


def _address(part: str, request: Request) -> str | None:
    """The web address that a part names, quoted or not."""
    values = [request.quoted[int(number)] for number in re.findall(r"⟦(\d+)⟧", part)]
    quoted = next((value for value in values if re.match(r"https?://\S+$", value)), None)
    return quoted or next(iter(re.findall(r"https?://\S*[\w/]", part)), None)
