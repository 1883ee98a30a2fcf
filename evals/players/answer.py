"""What a function that plays returns: a mapping of optional keys, read into the result of a turn."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Final, TypeAlias, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_ai.usage import RunUsage

from agent.turn.request import TurnRequest
from agent.turn.result import TurnResult
from evals.players.player import AgentFailed
from flows.diff import diff
from flows.document import Flow, FlowFormatError
from runtime.results import RunResult

Answer: TypeAlias = TurnResult | Mapping[str, Any]
"""A result, or a mapping of the keys of `FunctionAnswer`."""


class TokenFigures(BaseModel):
    """Tokens of the models that answered."""

    model_config = ConfigDict(extra="forbid")

    input: Annotated[int, Field(ge=0)] = 0
    output: Annotated[int, Field(ge=0)] = 0


_SUMS: Final = frozenset({"total_tokens", "ok"})


def _whole_run(run: object) -> object:
    """A run with what may be left out of it: only its `output`, or its `error`, must be there.

    `flow run --json` prints sums as well, which are figured out anew.
    """
    if not isinstance(run, Mapping):
        return run
    given = cast("Mapping[str, object]", run)
    rest = {"output": None} if given.get("error") is not None else {}
    figures = given.get("metrics", {"seconds": 0.0})
    if isinstance(figures, Mapping):
        figures = {name: value for name, value in cast("Mapping[str, object]", figures).items() if name not in _SUMS}
    kept = {name: value for name, value in given.items() if name not in _SUMS}
    return {"run_id": "", "outputs": {}, **rest, **kept, "metrics": figures}


class FunctionAnswer(BaseModel):
    """The keys of a function's answer; each may be left out, or be None.

    Attributes:
        flow: the canvas as it is left, as Langflow JSON; without it nothing has changed.
        text: what the agent says.
        run: the run that was made, as `flow run --json` prints it, or `{"output": text}`.
        tokens: of the models that answered; without them, none were counted.
        cost: of these models, in US dollars.
        seconds: how long the agent took by its own account; measured if it does not say.
        model: the model that answered.
    """

    model_config = ConfigDict(extra="forbid")

    flow: Any = None
    text: Annotated[str, BeforeValidator(lambda text: "" if text is None else text)] = ""
    run: Annotated[RunResult | None, BeforeValidator(_whole_run)] = None
    tokens: TokenFigures | None = None
    cost: Annotated[Decimal | None, Field(ge=0, allow_inf_nan=False)] = None
    seconds: Annotated[float | None, Field(ge=0, allow_inf_nan=False)] = None
    model: str | None = None


def read_answer(request: TurnRequest, answer: object, seconds: float) -> TurnResult:
    """The result of a turn, from what a function returned.

    Args:
        request: what it was asked.
        answer: what it returned.
        seconds: how long it took.

    Raises:
        AgentFailed: it cannot be read; the message names the key.
    """
    if isinstance(answer, TurnResult):
        return answer
    if not isinstance(answer, Mapping):
        raise AgentFailed(f"the player returned neither a TurnResult nor a mapping, but {type(answer).__name__}")
    try:
        given = FunctionAnswer.model_validate(dict(cast("Mapping[str, object]", answer)))
    except ValidationError as error:
        raise AgentFailed(_fault(error)) from None
    before = request.flow or Flow.empty()
    try:
        after = before if given.flow is None else Flow.from_json(given.flow)
    except (FlowFormatError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise AgentFailed(f"the player returned an unreadable `flow`: {_words(error)}") from None
    return TurnResult(
        outcome="complete",
        intent="build_flow",
        text=given.text,
        before=before,
        after=after,
        actions=list(diff(before, after)),
        runs=[] if given.run is None else [given.run],
        usage=_usage(given),
        seconds=seconds if given.seconds is None else given.seconds,
        models=[] if given.model is None else [given.model],
    )


def _usage(given: FunctionAnswer) -> dict[str, RunUsage]:
    if given.tokens is None and given.cost is None:
        return {}
    tokens = given.tokens or TokenFigures()
    return {"main": RunUsage(input_tokens=tokens.input, output_tokens=tokens.output, cost=given.cost)}


def _fault(error: ValidationError) -> str:
    """The first fault, by its key."""
    first = error.errors(include_url=False, include_context=False)[0]
    key = ".".join(str(part) for part in first["loc"] if part != "function-before[_whole_run(), nullable[RunResult]]")
    if first["type"] == "missing":
        return f"the player returned a `{key.rpartition('.')[0]}` without `{key}`"
    if first["type"] == "extra_forbidden":
        known = ", ".join(FunctionAnswer.model_fields)
        return f"the player returned `{key}`, which is not known; the keys are {known}"
    return f"the player returned an unreadable `{key}`: {first['msg'][:1].lower()}{first['msg'][1:]}"


def _words(error: Exception) -> str:
    return f"{error} is missing" if isinstance(error, KeyError) else str(error)
