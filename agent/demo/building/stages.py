"""Stages: pieces of a flow with one way in and one way out, and the spec text of a chain of them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A piece of a flow that takes a message and gives one.

    Its texts may say `@` for its own name, which `chain` makes unique: `nodes` such as `("@", "CombineText")`.

    Attributes:
        name: what its nodes are called in the spec.
        nodes: node names with their component types.
        into: the port that takes the message, as `@.port`; None when it takes none, such as a file.
        out: the port that gives it.
        edges: connections within the stage.
        config: lines of the spec's configuration.
        title: what a flow that has only this stage is called.
    """

    name: str
    nodes: tuple[tuple[str, str], ...]
    into: str | None
    out: str
    edges: tuple[str, ...] = ()
    config: tuple[str, ...] = ()
    title: str

    def named(self, name: str) -> "Stage":
        """This stage under another name."""
        return replace(
            self,
            name=name,
            nodes=tuple((node.replace("@", name), kind) for node, kind in self.nodes),
            into=None if self.into is None else self.into.replace("@", name),
            out=self.out.replace("@", name),
            edges=tuple(_renamed(edge, name) for edge in self.edges),
            config=tuple(_renamed(line, name, at_start=True) for line in self.config),
        )


def chain(stages: Sequence[Stage]) -> str:
    """The spec text of a chat whose messages go through the stages in order.

    A later stage that takes no message starts anew: what came before it is not connected to it.
    """
    placed = _unique(stages)
    nodes = [("chat", "ChatInput"), *(node for stage in placed for node in stage.nodes), ("answer", "ChatOutput")]
    edges: list[str] = []
    given = "chat.message"
    for stage in placed:
        if stage.into is not None:
            edges.append(f"{given} -> {stage.into}")
        edges.extend(stage.edges)
        given = stage.out
    edges.append(f"{given} -> answer.input_value")
    if placed and placed[0].into is None:
        nodes = nodes[1:]
    title = placed[0].title if len(placed) == 1 else " then ".join(stage.title.lower() for stage in placed).capitalize()
    config = [line for stage in placed for line in stage.config]
    return spec(title or "Echo", nodes, edges, config)


def spec(name: str, nodes: Sequence[tuple[str, str]], edges: Sequence[str], config: Sequence[str]) -> str:
    """Spec text from its parts.

    Args:
        name: the flow's name.
        nodes: spec ids with component types.
        edges: lines such as `a.message -> b.input_value`.
        config: entries such as those of `entry`.
    """
    lines = [f"name: {name}", "nodes:", *(f"  {node}: {kind}" for node, kind in nodes)]
    lines += ["edges:", *(f"  {edge}" for edge in edges)]
    return "\n".join([*lines, "config:", *config] if config else lines)


def entry(key: str, value: str) -> str:
    """A configuration entry that keeps a text to the letter."""
    if value and value == value.strip() and "\n" not in value:
        return "\n".join([f"  {key}: |", f"    {value}"])
    return f"  {key}: {json.dumps(value, ensure_ascii=False)}"


def _unique(stages: Sequence[Stage]) -> list[Stage]:
    seen: dict[str, int] = {}
    placed: list[Stage] = []
    for stage in stages:
        count = seen[stage.name] = seen.get(stage.name, 0) + 1
        placed.append(stage.named(stage.name if count == 1 else f"{stage.name}{count}"))
    return placed


def _renamed(text: str, name: str, *, at_start: bool = False) -> str:
    """`@` at the beginning of a node's name replaced; a value may hold any `@`."""
    if at_start:
        key, colon, value = text.partition(":")
        return key.replace("@", name) + colon + value
    return text.replace("@", name)
