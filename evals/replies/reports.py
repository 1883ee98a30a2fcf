"""Whether an answer reports what its turn did, by claiming it or by naming what was changed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

from agent.turn.result import TurnResult
from evals.oracles.claims import claims
from flows.actions import AddComponent, Configure, FlowAction, NodeAction, RemoveComponent, SetDetail, node_changes
from flows.document import Flow, Node

_DONE: Final = re.compile(
    r"(?<!\w)(?:done|here(?:['’]s| is| are| you)|ready|finished|all set|completed?|in place|undone|undid|took"
    r"|saved|wrote"
    r"|ran|runs|now (?:\w+ )?(?:says|has|gives|answers|uses|goes|takes)"
    r"|fertig|erledigt|bereit|gespeichert|voilà|c['’]est fait|terminé|prête?|enregistré|listo|hecho|guardado|pronto"
    r"|feito|salvo"
    r"|concluído|fatto|salvato|modificato|cambiato|aggiunto|inserito|collegato|sostituito|rinominato|rimosso|eliminato"
    r"|spostato|impostato|provato|creato|costruito|eseguito|gedaan|klaar|gotowe)(?!\w)"
    r"|完了|しました|できました|完成|好了|ました|已|了。|了$",
    re.IGNORECASE,
)
_UNREAD: Final = re.compile(r"[\uac00-\ud7af\u0400-\u04ff\u0600-\u06ff]")
"""Letters of languages whose claims are not read."""
_READ: Final = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
"""Letters of languages whose claims are read, and which do not separate words."""
_KNOWN: Final = re.compile(
    r"(?<!\w)(?:the|is|it|you|what|and|of|to|das|ist|und|der|die|le|la|les|est|et|el|los|es|y|o|os|e|é|il|non|che)(?!\w)",
    re.IGNORECASE,
)
"""Small words of the languages whose claims are read."""
_WORDS: Final = 3
"""So many words in a language that is not read count as a report."""


def reports(text: str, turns: Sequence[TurnResult]) -> bool:
    """Whether an answer reports what turns did.

    It claims something, says that it is done, or names a component, a value, an output or a file of what was done. An
    answer in a language whose claims are not read counts as a report if it has a few words.
    """
    if any(claims(text)) or _DONE.search(text):
        return True
    folded = text.casefold()
    if any(name in folded for turn in turns for name in _names(turn)):
        return True
    if _UNREAD.search(text):
        return len(_UNREAD.findall(text)) > _WORDS
    if _READ.search(text):
        return False
    return _KNOWN.search(text) is None and len(re.findall(r"\w{2,}", text)) > _WORDS


def _names(turn: TurnResult) -> Iterator[str]:
    """What the changes, runs and files of a turn are called, in small letters."""
    found = [name for action in turn.actions for name in _of_action(action, turn.flow)]
    if turn.proposal is not None:
        found += [name for node in turn.proposal.components for name in _of_node(node)]
    found += [run.output for run in turn.runs if run.output]
    found += [change.path for change in turn.files]
    yield from (name.casefold() for name in found if len(name.strip()) > 1)


def _of_action(action: FlowAction, flow: Flow) -> Iterator[str]:
    match action:
        case AddComponent(node=raw) | RemoveComponent(node=raw):
            yield from _of_node(Node(raw))
        case SetDetail(new=new):
            yield from [new] if isinstance(new, str) else []
        case _ if isinstance(action, NodeAction):
            node = flow.node(action.node)
            yield from () if node is None else _of_node(node)
            if isinstance(action, Configure):
                yield action.field
            for change in node_changes(action):
                yield from [change.new] if isinstance(change.new, str) else _numbers(change.new)
        case _:
            for node in flow.components:
                yield from _of_node(node)


def _of_node(node: Node) -> Iterator[str]:
    yield from (node.display_name, node.type, node.id)


def _numbers(value: object) -> Iterator[str]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield json.dumps(value)
