"""The addresses of services: `{{service:NAME}}` in the texts of a scenario or a conversation."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel

from flows.document import Flow

Addressed = TypeVar("Addressed", bound=BaseModel)


def with_addresses(given: Addressed, services: Mapping[str, str]) -> Addressed:
    """The scenario, or the part of a conversation, with the addresses of its services filled in.

    Args:
        given: the scenario, the conversation or one of its courses.
        services: addresses by name, such as `http://127.0.0.1:40123`.
    """
    if not services:
        return given
    return type(given).model_validate_json(text_with_addresses(given.model_dump_json(by_alias=True), services))


def text_with_addresses(text: str, services: Mapping[str, str]) -> str:
    """A text, which may be JSON, with the addresses of services filled in.

    Args:
        services: addresses by name.
    """
    for name, address in services.items():
        text = text.replace(placeholder(name), json.dumps(address)[1:-1])
    return text


def flow_with_addresses(flow: Flow, services: Mapping[str, str]) -> Flow:
    """A flow with the addresses of services filled in.

    Args:
        services: addresses by name.
    """
    if not services:
        return flow
    return Flow.from_json(json.loads(text_with_addresses(json.dumps(flow.to_json(), ensure_ascii=False), services)))


def placeholder(service: str) -> str:
    """What stands for the address of a service."""
    return f"{{{{service:{service}}}}}"


def with_other_addresses(text: str, before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """A text with the addresses of services replaced.

    Args:
        before: its addresses, by the service's name.
        after: the new addresses.
    """
    others = {address: after[name] for name, address in before.items() if name in after}
    if not others:
        return text
    pattern = re.compile("|".join(rf"{re.escape(address)}(?!\d)" for address in others))
    return pattern.sub(lambda found: others[found.group()], text)
