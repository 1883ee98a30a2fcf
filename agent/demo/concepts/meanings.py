"""What a component is, for somebody who does not know it: a few sentences, and where to go on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from agent.language.shipped_yaml import load_shipped
from flows.catalogue import Catalogue
from flows.component_type import ComponentType
from flows.json_values import as_text
from flows.templates import Template, templates

_WHAT_IS = re.compile(
    r"^\s*(?:what(?:'s|’s|\s+is|\s+are|\s+does)|explain(?:\s+what)?|define)\s+(?:an?\s+)?(?P<name>[\w -]+?)"
    r"(?:\s+mean|\s+is)?\s*[?.!]*\s*$",
    re.IGNORECASE,
)
_NAMED = 4
"""How many fields and outputs a sentence names."""
_FIELDS = re.compile(
    r"\b(?:fields?|settings?|options?|parameters?|inputs?|outputs?|ports?|configur\w+|details?|everything)\b",
    re.IGNORECASE,
)


def asks_for_fields(message: str, component: ComponentType) -> bool:
    """Whether a message asks for the fields or ports of a component, and not only speaks of them in its name."""
    for name in (component.display_name, component.type):
        message = re.sub(re.escape(name), " ", message, flags=re.IGNORECASE)
    return _FIELDS.search(message) is not None


def meaning(component: ComponentType) -> str:
    """What a component is, what it takes and gives, and how to see it at work."""
    name = component.display_name
    said = [_meanings()["components"].get(component.type, ""), _sentence(component.description)]
    about = " ".join(filter(None, said)) or f"{name} is a component."
    example = _examples().get(component.type)
    more = [f'Ask "Which fields does {name} have?" for all of them.']
    if example is not None:
        more.insert(0, f'To see one at work, say "use the template {example.name}" ({example.title}).')
    return "\n\n".join([f"{name} (`{component.type}`): {about}", _ports(component), " ".join(more)])


def _ports(component: ComponentType) -> str:
    shown = [
        (as_text(field.get("display_name")) or key, field.get("required") is True)
        for key, field in component.template.items()
        if key != "code" and field.get("show") is not False and field.get("advanced") is not True
    ]
    shown.sort(key=lambda one: not one[1])
    takes = _listed([f"{label} (required)" if required else label for label, required in shown])
    gives = _listed(
        [as_text(output.get("display_name")) or as_text(output.get("name")) for output in component.outputs]
    )
    takes = f"You set or connect {takes}" if takes else "There is nothing to set"
    return f"{takes}; it gives {gives}." if gives else f"{takes}."


def _listed(names: Sequence[str]) -> str:
    """Names in a sentence; of many the first."""
    if len(names) > _NAMED:
        return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _sentence(text: str) -> str:
    text = text.strip()
    return text if not text or text[-1] in ".!?" else f"{text}."


@cache
def _examples() -> Mapping[str, Template]:
    """The smallest starter flow with each type of component."""
    found: dict[str, Template] = {}
    for one in sorted(templates(), key=lambda template: len(template.nodes)):
        for _, kind in one.nodes:
            found.setdefault(kind, one)
    return found


@cache
def _meanings() -> Mapping[str, Any]:
    return load_shipped(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))


def concept_meaning(message: str, catalogue: Catalogue) -> str | None:
    """What something is that is no single component, and components to go on with; None for another message.

    Args:
        message: what the user wrote.
        catalogue: the component types.
    """
    found = _concept(message)
    if found is None:
        return None
    named = [component for kind in found["components"] if (component := catalogue.get(kind)) is not None]
    listed = "\n".join(f"- {one.display_name} (`{one.type}`): {_sentence(one.description)}" for one in named)
    return "\n\n".join(filter(None, [found["text"], f"Components for it:\n{listed}" if named else ""]))


def asks_for_concept(message: str) -> bool:
    """Whether a message asks what something is that is no single component."""
    return _concept(message) is not None


def _concept(message: str) -> Mapping[str, Any] | None:
    asked = _WHAT_IS.match(message)
    if asked is None:
        return None
    name = " ".join(asked["name"].lower().replace("-", " ").split())
    wanted = {name, name.removesuffix("s")}
    return next((one for one in _meanings()["concepts"] if wanted & set(one["names"])), None)
