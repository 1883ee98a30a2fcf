"""Questions of a turn as text for a person, with what would change as a difference."""

import sys
from collections.abc import Iterator
from difflib import SequenceMatcher

from agent.language.phrases import phrase
from cli.output.streams import print_message, terminal_width
from flows.catalogue import Catalogue
from flows.describe.texts import set_texts
from flows.document import Flow
from tools.approvals import Approval, approval_text

CONTEXT = 2
"""How many unchanged lines are shown before and after changed ones."""

SHOWN_LINES = 12
"""How many lines of a text in an offered flow are shown after its first."""


def format_question(approval: Approval, language: str = "en") -> str:
    """A question of a turn, as text for a person.

    Args:
        approval: what is asked.
        language: the language of the conversation.
    """
    if approval.kind == "plan":
        return f"{phrase('shell_asks_plan', language)}\n{approval.markdown}"
    if approval.kind == "tool":
        return f"The assistant calls a tool of another client: {approval_text(approval)}"
    if approval.kind != "edit":
        return f"The assistant asks ({approval.kind}): {approval_text(approval)}"
    along = [phrase("shell_along", language, "; ".join(approval.along))] if approval.along else []
    edits = [
        f"{phrase('shell_asks_edit', language, f'{edit.node}.{edit.field}')}\n"
        f"{text_difference(str(edit.old), str(edit.new))}"
        for edit in (approval.edit, *approval.also)
    ]
    return "\n".join((*edits, *along))


def format_removals(approval: Approval, canvas: Flow | None) -> str:
    """What a removal would take away, a line each, components by their names too; empty for other questions."""
    if approval.kind != "removal":
        return ""
    nodes = {target: None if canvas is None else canvas.node(target) for target in approval.targets}
    names = [
        target if node is None or node.display_name == node.type else f"{target} ({node.display_name})"
        for target, node in nodes.items()
    ]
    return "\n".join(f"- {name}" for name in names)


def offered_changes(proposal: Flow, catalogue: Catalogue) -> str:
    """What accepting a proposal would add: its components, with the texts and choices that were set.

    Args:
        proposal: the offered flow.
        catalogue: knows the defaults, which are left out.
    """
    texts = set_texts(proposal, catalogue)
    lines: list[str] = []
    for node in proposal.components:
        lines.append(f"+ {node.id}")
        for name, text in texts.get(node.id, {}).items():
            first, *rest = text.rstrip("\n").split("\n")
            more = [f"+     {line}" for line in rest[:SHOWN_LINES]]
            lines += [f"+   {name}: {first}", *more, *(["+     …"] if len(rest) > SHOWN_LINES else [])]
    return "\n".join(lines)


def print_difference(text: str) -> None:
    """Write a question on standard error; at a terminal, what goes is red and what comes is green.

    Args:
        text: lines of which those that begin with `-` or `+` are a difference.
    """
    width = terminal_width(sys.stderr)
    if width is None:
        print_message(text)
        return
    from rich.console import Console
    from rich.text import Text

    from cli.output.wrapping import wrapped

    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    for line in text.split("\n"):
        style = {"- ": "red", "+ ": "green"}.get(line[:2], "")
        console.print(Text(wrapped(line, width), style=style), soft_wrap=True)


def text_difference(old: str, new: str) -> str:
    """What leads from one text to another: lines that go begin with `-`, new ones with `+`, others with a space.

    Args:
        old: the text that is there.
        new: the text in its place.
    """
    lines = list(_changed_lines(old.splitlines() or [""], new.splitlines() or [""]))
    return "\n".join(lines or [f"- {old!r}", f"+ {new!r}"])  # they may differ in line ends alone


def _changed_lines(old: list[str], new: list[str]) -> Iterator[str]:
    groups = SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT)
    for group in groups:
        if group[0][1] > 0:
            yield "  …"
        for tag, start, end, new_start, new_end in group:
            if tag == "equal":
                yield from (f"  {line}" for line in old[start:end])
            else:
                yield from (f"- {line}" for line in old[start:end])
                yield from (f"+ {line}" for line in new[new_start:new_end])
        if group[-1][2] < len(old):
            yield "  …"
