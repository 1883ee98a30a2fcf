"""What a model says beside the calls of its tools, in a turn whose answer is held back until it has been checked."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from pydantic_ai import (
    AgentStreamEvent,
    CustomEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
)


@dataclass(kw_only=True)
class Remark(CustomEvent, name="remark"):
    """A piece of what the model says before it calls a tool; no part of its answer.

    Attributes:
        chunk: the piece.
        is_new: whether it begins a remark, rather than going on with the last one.
    """

    chunk: str
    is_new: bool = False


@dataclass
class Remarks:
    """Tells remarks from the answer: a response that calls a tool is none.

    The text of a response is kept until it calls a tool; what it says after that is passed on at once.
    """

    _kept: list[Remark] = field(default_factory=list[Remark])
    _calls: bool = False

    def of(self, event: AgentStreamEvent) -> Iterator[Remark]:
        """The remarks that an event of a response lets through."""
        if isinstance(event, PartStartEvent):
            if event.index == 0:
                self._kept, self._calls = [], False
            self._calls = self._calls or isinstance(event.part, ToolCallPart)
        match event:
            case PartStartEvent(part=TextPart(content=text)):
                self._kept.append(Remark(chunk=text, is_new=True))
            case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                self._kept.append(Remark(chunk=text))
            case _:
                pass
        if self._calls:
            kept, self._kept = self._kept, []
            if any(remark.chunk.strip() for remark in kept):
                yield from kept
