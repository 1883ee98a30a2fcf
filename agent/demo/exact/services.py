"""Calls of web APIs, which a message names by an address or as an API."""

import re

from agent.demo.exact.language import Request
from agent.demo.stages import Stage, entry


def service_stage(part: str, request: Request) -> Stage | None:
    """The call that a part of a request asks for, or None.

    Args:
        part: a piece of the masked message.
        request: the whole message taken apart.
    """
    return _api(part, request)


def _api(part: str, request: Request) -> Stage | None:
    named = re.search(r"\b(?i:apis?|http|endpoint|webservice|rest\s+(?:api|call|service))\b|\bREST\b", part)
    if not named and _address(part, request) is None:
        return None
    bare = _address(part, request)
    method = re.search(r"\b(GET|POST|PUT|PATCH|DELETE)\b", part)
    return Stage(
        name="call",
        nodes=(("@", "APIRequest"), ("@_text", "ParserComponent")),
        into=None if bare else "@.url_input",
        out="@_text.parsed_text",
        edges=("@.data -> @_text.input_data",),
        config=(
            *(() if bare is None else (entry("@.url_input", bare),)),
            f"  @.method: {method.group(1) if method else 'GET'}",
            "  @_text.mode: Stringify",
        ),
        title="API call",
    )


def _address(part: str, request: Request) -> str | None:
    """The web address that a part names, quoted or not."""
    values = [request.quoted[int(number)] for number in re.findall(r"⟦(\d+)⟧", part)]
    quoted = next((value for value in values if re.match(r"https?://\S+$", value)), None)
    return quoted or next(iter(re.findall(r"https?://\S*[\w/]", part)), None)
