"""Parsing spec text, a superset of Langflow's form; all faults of a text are found at once."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from flows.faults import Fault, did_you_mean

SECTIONS = ("nodes", "edges", "config")
_ID = r"[^\s.:>#\"'|\-][^.:>#\"'|]*+"
_NAME = re.compile(_ID)
_NODE = re.compile(rf"(?P<id>{_ID}):(?P<type>.++)")
_ARROW = re.compile(r"(?<!-)-++>|(?<!=)=++>|→")
_KEY = re.compile(rf"(?P<id>{_ID})\.(?=\s*+[^:\s])(?P<field>[^:]++):(?:\s++(?P<value>.*+))?")
_PLAIN_KEY = re.compile(r"(?P<id>[\w-]++)\.(?P<field>\w++):\s*+(?P<value>.*+)")
_COMMENT = re.compile(r"(?:^|(?<!\s)\s++)#.*+$")
_BLOCK = re.compile(r"\|[+-]?(?:\s++#.*+)?")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*+(?P<end>"?)')
_SINGLE_QUOTED = re.compile(r"'((?:[^']|'')*+)'")
_REST = re.compile(r"\s++#.*+")
PATTERNS = (_NAME, _NODE, _ARROW, _KEY, _PLAIN_KEY, _COMMENT, _BLOCK, _STRING, _SINGLE_QUOTED, _REST)
"""Every pattern that reads spec text. None gives back what it took, so that a long line takes no more than one pass."""


@dataclass(frozen=True)
class SpecNode:
    """A line of `nodes`: `id: type`."""

    id: str
    type: str
    line: int


@dataclass(frozen=True)
class SpecEdge:
    """A line of `edges`: `source.source_port -> target.target_port`; None stands for an omitted port."""

    source: str
    source_port: str | None
    target: str
    target_port: str | None
    line: int


@dataclass(frozen=True)
class SpecValue:
    """An entry of `config`; `literal` text was quoted or written as a block and is taken verbatim."""

    node: str
    field: str
    text: str
    line: int
    literal: bool = False


@dataclass(frozen=True, kw_only=True)
class Spec:
    """A parsed spec, not yet checked against the catalogue."""

    name: str = ""
    description: str = ""
    nodes: tuple[SpecNode, ...] = ()
    edges: tuple[SpecEdge, ...] = ()
    values: tuple[SpecValue, ...] = ()


def parse(text: str) -> tuple[Spec, tuple[Fault, ...]]:
    """Parse spec text.

    Args:
        text: the spec.

    Returns:
        What could be parsed, and every fault of the text with its line, counted from 1.
    """
    return _Reader(text).read()


@dataclass
class _Value:
    """The value that is being parsed."""

    key: tuple[str, str]
    line: int
    indent: int
    lines: list[str] = field(default_factory=list[str])
    block: bool = False
    flat: bool = False
    begun: bool = False
    bracketed: bool = False
    depth: int = 0

    def add(self, line: str) -> None:
        """Take one more line; how many brackets are open is counted on the way."""
        self.lines.append(line)
        if not self.begun and line.strip():
            self.begun, self.bracketed = True, not self.block and line.lstrip().startswith(("[", "{"))
        self.depth += _opened(line) if self.bracketed else 0

    @property
    def open_brackets(self) -> bool:
        """Whether it begins a JSON list or object without ending it."""
        return self.depth > 0


class _Reader:
    def __init__(self, text: str) -> None:
        self.lines = text.replace("\r\n", "\n").removeprefix("\ufeff").split("\n")
        self.section = ""
        self.header = {"name": "", "description": ""}
        self.nodes: dict[str, SpecNode] = {}
        self.edges: list[SpecEdge] = []
        self.values: dict[tuple[str, str], SpecValue] = {}
        self.faults: list[Fault] = []
        self.value: _Value | None = None

    def read(self) -> tuple[Spec, tuple[Fault, ...]]:
        for number, raw in enumerate(self.lines, start=1):
            self._line(number, raw)
        self._finish()
        if not self.nodes and not any(fault.code == "bad_line" for fault in self.faults):
            message, fix = "The spec has no nodes.", "Begin with `nodes:` and lines such as `A: ChatInput`."
            self.faults.append(Fault(code="empty_spec", message=message, fix=fix))
        spec = Spec(
            name=self.header["name"],
            description=self.header["description"],
            nodes=tuple(self.nodes.values()),
            edges=tuple(self.edges),
            values=tuple(self.values.values()),
        )
        return spec, tuple(self.faults)

    def _line(self, number: int, raw: str) -> None:
        line = raw.strip()
        indent = len(raw) - len(raw.lstrip())
        if line.startswith("#") and not (self.value is not None and self.value.block):
            return
        if self.value is not None and self._continues(self.value, line, indent):
            self.value.add(raw)
            return
        if not line or line.startswith(("#", "```")):
            return
        plain = _COMMENT.sub("", line) if "#" in line else line
        heading = plain[:-1].strip().lower() if plain.endswith(":") else ""
        if heading in SECTIONS:
            self._finish()
            self.section = heading
        elif self.section == "nodes":
            self._node(number, plain)
        elif self.section == "edges":
            self._edge(number, plain)
        elif self.section == "config":
            self._entry(number, line, indent)
        else:
            self._heading(number, line, indent)

    def _continues(self, value: _Value, line: str, indent: int) -> bool:
        """Say whether a line belongs to the value that is being parsed."""
        if not line:
            return True
        if value.block:
            if not value.begun:
                value.flat = indent <= value.indent
            if not value.flat:
                return indent > value.indent
        elif value.open_brackets:
            return not self._starts_entry(line) and not _is_section(line)
        if indent <= value.indent:
            if _is_section(line) or line.startswith(("#", "```")) or self._starts_entry(line):
                return False
            if self.section != "config":
                return value.block
            listed = line.startswith("- ") and (not value.lines or value.lines[0].lstrip().startswith("- "))
            return value.block or listed or not value.begun
        return value.block or not self._starts_entry(line)

    def _starts_entry(self, line: str) -> bool:
        match = _PLAIN_KEY.fullmatch(line) or _KEY.fullmatch(line)
        if match is None:
            return self.section == "" and line.split(":")[0].strip().lower() in self.header
        return not self.nodes or match["id"] in self.nodes

    def _heading(self, number: int, line: str, indent: int) -> None:
        key, colon, rest = line.partition(":")
        key = key.strip().lower()
        if colon and key in self.header:
            self._finish()
            self.value = _Value(("", key), number, indent, block=_BLOCK.fullmatch(rest.strip()) is not None)
            if rest.strip() and not self.value.block:
                self.value.add(rest.strip())
            return
        known = ["name", "description", *SECTIONS]
        fix = did_you_mean(key, known, otherwise="a spec begins with")
        self._fault("bad_line", f"This line is not understood: {_short(line)}.", fix, number)

    def _node(self, number: int, line: str) -> None:
        match = _NODE.fullmatch(line.removeprefix("- "))
        if match is None:
            fix = "Write `ID: Type`, such as `A: ChatInput`; the id has no dot or colon."
            self._fault("bad_node", f"This is not a node: {_short(line)}.", fix, number)
            return
        node_id, kind = match["id"].strip(), _unquote(match["type"].strip())
        if node_id in self.nodes:
            message = f"The id {node_id!r} is used twice (first in line {self.nodes[node_id].line})."
            self._fault("duplicate_id", message, "Give each node a different id.", number, node=node_id)
            return
        self.nodes[node_id] = SpecNode(node_id, kind, number)

    def _edge(self, number: int, line: str) -> None:
        line = line.removeprefix("- ")
        pieces = _ARROW.split(line)
        ends = list(pairwise(pieces)) if _is_chain(pieces) else [tuple(_ARROW.split(line, maxsplit=1))]
        for begin, *rest in ends:
            source, target = _end(begin), _end(rest[0]) if rest else None
            if source is None or target is None or ">" in (source[1] or "") or "->" in (target[1] or ""):
                fix = "Write `Node.output -> Node.input`, such as `A.message -> B.input_value`, or `A -> B`."
                self._fault("bad_edge", f"This is not an edge: {_short(line)}.", fix, number)
                return
            self.edges.append(SpecEdge(*source, *target, number))

    def _entry(self, number: int, line: str, indent: int) -> None:
        self._finish()
        match = _PLAIN_KEY.fullmatch(line) or _KEY.fullmatch(line)
        if match is None:
            fix = "Write `Node.field: value`; further lines of a value are indented under it."
            self._fault("bad_config", f"This is not a setting: {_short(line)}.", fix, number)
            return
        rest = (match["value"] or "").strip()
        self.value = _Value(
            (match["id"].strip(), _unquote(match["field"].rstrip())),
            number,
            indent,
            block=_BLOCK.fullmatch(rest) is not None,
        )
        if rest and not self.value.block:
            self.value.add(rest)

    def _finish(self) -> None:
        value, self.value = self.value, None
        if value is None:
            return
        text, literal = _block_text(value.lines) if value.block else _inline_text(value.lines), value.block
        if not value.block:
            plain = _quoted(text)
            text, literal = (text, False) if plain is None else (plain, True)
        node, key = value.key
        if not node:
            self.header[key] = text
            return
        before = self.values.get(value.key)
        if before is not None:
            message = f"{node}.{key} is set twice (first in line {before.line}); the last one counts."
            fix = "Remove one of them."
            warning = Fault(
                code="duplicate_value",
                message=message,
                fix=fix,
                severity="warning",
                node=node,
                field=key,
                line=value.line,
            )
            self.faults.append(warning)
        self.values[value.key] = SpecValue(node, key, text, value.line, literal)

    def _fault(self, code: str, message: str, fix: str, line: int, node: str | None = None) -> None:
        self.faults.append(Fault(code=code, message=message, fix=fix, node=node, line=line))


def without_comment(text: str) -> str:
    """Return a one-line value without a trailing comment."""
    return _COMMENT.sub("", text).rstrip()


def _is_section(line: str) -> bool:
    heading = _COMMENT.sub("", line).lower()
    return heading.endswith(":") and heading[:-1] in SECTIONS


def _block_text(lines: Sequence[str]) -> str:
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    least = min(indents, default=0)
    dedented = [line[least:] for line in lines]
    while dedented and not dedented[-1].strip():
        dedented.pop()
    while dedented and not dedented[0].strip():
        dedented.pop(0)
    return "\n".join(dedented).rstrip()


def _inline_text(lines: Sequence[str]) -> str:
    if not lines:
        return ""
    first, rest = lines[0].strip(), lines[1:]
    following = _block_text(rest)
    if not any(line.strip() for line in rest):
        return first
    return _block_text(lines) if lines[0] != first or not first else f"{first}\n{following}"


def _quoted(text: str) -> str | None:
    """Return the content of a quoted text, or None if it is not entirely quoted."""
    if text[:1] == '"':
        try:
            found, end = json.JSONDecoder(strict=False).raw_decode(text)
        except ValueError:
            return None
        return found if isinstance(found, str) and _is_rest(text[end:]) else None
    if text[:1] != "'":
        return None
    match = _SINGLE_QUOTED.match(text)
    if match and _is_rest(text[match.end() :]):
        return match[1].replace("''", "'")
    return None


def _is_rest(text: str) -> bool:
    return not text.strip() or _REST.fullmatch(text) is not None


def _unquote(text: str) -> str:
    plain = _quoted(text) if text[:1] in ('"', "'") else None
    return text if plain is None else plain


def _opened(line: str) -> int:
    """How many brackets a line of JSON opens without closing them; a text that does not end in its line is none."""
    outside = _STRING.sub(lambda found: "" if found["end"] else found[0], line)
    return outside.count("[") + outside.count("{") - outside.count("]") - outside.count("}")


def _is_chain(pieces: Sequence[str]) -> bool:
    """Whether what arrows separate is a chain of three nodes or more: only the first and the last may name a port."""
    between = pieces[1:-1]
    if not between or any(_NAME.fullmatch(piece.strip()) is None for piece in between):
        return False
    begin, end = _end(pieces[0]), _end(pieces[-1])
    return begin is not None and end is not None and "." not in (begin[1] or "") and ">" not in (end[1] or "")


def _end(text: str) -> tuple[str, str | None] | None:
    """One end of an edge: the node, and the port if it names one; None when it is no end."""
    node, dot, port = text.strip().partition(".")
    node, port = node.rstrip(), port.lstrip()
    if _NAME.fullmatch(node) is None or (dot and not port):
        return None
    return node, _unquote(port) if dot else None


def _short(line: str) -> str:
    return repr(line if len(line) <= 80 else line[:79] + "…")
