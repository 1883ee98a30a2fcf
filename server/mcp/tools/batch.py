"""Several tools in one call, the later ones with what the earlier ones gave."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias, cast

from pydantic import Field

from agent.prompts.frames import unframed
from flows.document import JsonObject
from flows.json_values import Json
from server.mcp.answers import BatchAnswer, BatchStep
from server.mcp.call import Call, Suspended, fail
from server.mcp.tools.tool import Arguments, Tool, own_tool

ACTIONS: Final = 50
"""How many actions a batch has at most."""

Step: TypeAlias = Callable[[str, Call, Mapping[str, Any]], Awaitable[BatchStep]]
"""Calls one tool by its name, as a client would: with its scope, its approvals and its telemetry."""

_REFERENCE = re.compile(r"\$(\d{1,2})\.([A-Za-z_][\w.\-]*)")


class Action(Arguments):
    """One action of a batch."""

    tool: str = Field(max_length=100, description="The tool.")
    args: dict[str, Any] = Field(default_factory=dict[str, Any], description="Its arguments.")


class Batch(Arguments):
    """The actions of a batch."""

    actions: list[Action] = Field(
        min_length=1,
        max_length=ACTIONS,
        description="In order. `$N.field` stands for a field of the N-th result, counted from 0, such as `$0.flow.id`.",
    )


def batch_tool(step: Step) -> Tool:
    """The tool.

    Args:
        step: calls one of the other tools.
    """

    async def batch(call: Call, asked: Batch) -> BatchAnswer:
        """Call several tools in order, and stop at the first that fails. What was done before it stays done."""
        done = [BatchStep.model_validate(one) for one in call.done]
        for index in range(len(done), len(asked.actions)):
            action = asked.actions[index]
            if action.tool == "batch":
                fail("A batch cannot hold a batch; nothing was done.", "invalid_arguments")
            # What was approved is for the action that waited, which is the first that is left.
            inner = replace(call, given=call.given if index == len(call.done) else (), done=(), id=f"{call.id}-{index}")
            try:
                arguments = cast("dict[str, Any]", resolved(cast("Json", action.args), [one.result for one in done]))
                result = await step(action.tool, inner, arguments)
            except UnknownReference as unknown:
                result = BatchStep(tool=action.tool, ok=False, result={"text": str(unknown)})
            except Suspended as suspended:
                suspended.done = [one.model_dump(mode="json") for one in done]
                raise
            done.append(result)
            if not result.ok:
                break
        return _answer(done, len(asked.actions))

    return own_tool(batch, Batch, BatchAnswer, group=("canvas", "system"), touch="changes", runs=False, outbound=True)


def _answer(done: Sequence[BatchStep], wanted: int) -> BatchAnswer:
    lines = [f"{index}. {one.tool}: {'done' if one.ok else 'failed'}" for index, one in enumerate(done)]
    ok = len(done) == wanted and all(one.ok for one in done)
    rest = "" if len(done) == wanted else f"\n{wanted - len(done)} action(s) after it were not tried."
    texts = "\n\n".join(f"{index}. {unframed(str(one.result.get('text', '')))}" for index, one in enumerate(done))
    return BatchAnswer(text="\n".join(lines) + rest + f"\n\n{texts}", ok=ok, results=list(done))


class UnknownReference(LookupError):
    """A reference to what no earlier action gave."""

    def __str__(self) -> str:
        return str(self.args[0])


def resolved(value: Json, results: Sequence[JsonObject]) -> Json:
    """A value with each `$N.field` in it replaced by that field of the N-th result.

    A string that is a reference becomes the field's value, of whatever type; a longer string stays as it is.

    Args:
        value: the arguments of an action.
        results: what the actions before it gave.

    Raises:
        UnknownReference: there is no such result, or no such field in it.
    """
    match value:
        case str():
            found = _REFERENCE.fullmatch(value)
            return value if found is None else _field(value, int(found[1]), found[2].split("."), results)
        case list():
            return [resolved(one, results) for one in value]
        case dict():
            return {name: resolved(one, results) for name, one in value.items()}
        case _:
            return value


def _field(reference: str, index: int, path: Sequence[str], results: Sequence[JsonObject]) -> Json:
    if index >= len(results):
        count = len(results)
        raise UnknownReference(f"Nothing was done: {reference} names a result that there is not; there are {count}.")
    at: Json = results[index]
    for name in path:
        if isinstance(at, dict) and name in at:
            at = at[name]
        elif isinstance(at, list) and name.isdecimal() and int(name) < len(at):
            at = at[int(name)]
        else:
            known = ", ".join(at) if isinstance(at, dict) else f"{len(at)} items" if isinstance(at, list) else "nothing"
            raise UnknownReference(f"Nothing was done: {reference} has no {name!r}. It has: {known}.")
    return at
