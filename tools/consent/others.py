"""Others' text on a canvas: all that is neither the catalogue's own nor typed into the message by this user."""

import re

from flows.catalogue import Catalogue
from flows.describe.texts import set_texts
from flows.document import Flow, Node

_SUFFIX = re.compile(r"-[A-Za-z0-9]{1,12}")
_UNNAMED = frozenset({"", "Untitled", "Untitled Flow", "New Flow"})


def holds_others_text(flow: Flow, catalogue: Catalogue) -> bool:
    """Whether a prompt that shows a canvas shows text which others may have written.

    That is a name that the flow was given, a note, and a component whose type, id, name, texts or choices are not those
    of the catalogue.

    Args:
        flow: the canvas.
        catalogue: the component types of the installation, without those that users wrote.
    """
    if flow.is_empty:
        return False
    if flow.name.strip() not in _UNNAMED or any(node.is_note for node in flow.nodes):
        return True
    return bool(set_texts(flow, catalogue)) or any(_is_named(node, catalogue) for node in flow.components)


def _is_named(node: Node, catalogue: Catalogue) -> bool:
    known = catalogue.get(node.type)
    if known is None or node.display_name not in {known.display_name, node.type}:
        return True
    stems = (node.type, known.display_name)
    return not any(node.id.startswith(stem) and _SUFFIX.fullmatch(node.id[len(stem) :] or "-0") for stem in stems)
