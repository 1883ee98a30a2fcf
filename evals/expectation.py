"""The expectations of a scenario: of an output, an answer, the resulting flow."""

import json
import operator
import re
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, model_validator

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
Text = Annotated[str, StringConstraints(min_length=1)]
Wire = Annotated[str, StringConstraints(pattern=r"^[^.]+\.\S+ -> [^.]+\.\S+$")]
ErrorCode = Annotated[str, StringConstraints(pattern=r"^[a-z_]+$")]
ToolName = Annotated[str, StringConstraints(pattern=r"^[a-z_]+$")]
Place = Annotated[str, StringConstraints(pattern=r"^[^.]+\.\w+$")]


class Strict(BaseModel):
    """The base of all models of a scenario file: frozen, without unknown keys, without type coercion."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Expectation(Strict):
    """An expectation of a text; exactly one of the four.

    Attributes:
        equals: the whole text.
        contains: a part of it, ignoring case.
        regex: a pattern that is found in it.
        lacks: a part that it must not contain, ignoring case.
    """

    equals: str | None = None
    contains: Text | None = None
    regex: Text | None = None
    lacks: Text | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._check_rules()
        if self.regex is not None:
            try:
                re.compile(self.regex)
            except re.error as error:
                raise ValueError(f"regex is not a regular expression: {error}") from None
        return self

    def _check_rules(self) -> None:
        if len(self._rules()) != 1:
            raise ValueError("give exactly one of equals, contains, regex and lacks")

    def met_by(self, output: str | None) -> bool:
        """Whether a text is as expected; None never is."""
        if output is None:
            return False
        if self.equals is not None:
            return output == self.equals
        if self.contains is not None:
            return self.contains.casefold() in output.casefold()
        if self.lacks is not None:
            return self.lacks.casefold() not in output.casefold()
        return self.regex is None or re.search(self.regex, output) is not None

    @property
    def has_rule(self) -> bool:
        """Whether it expects anything of the text."""
        return bool(self._rules())

    def _rules(self) -> dict[str, str]:
        rules = {"equals": self.equals, "contains": self.contains, "regex": self.regex, "lacks": self.lacks}
        return {name: value for name, value in rules.items() if value is not None}

    def __str__(self) -> str:
        return " and ".join(f"{name} {value!r}" for name, value in self._rules().items()) or "any output"


class RequestedRun(Expectation):
    """A run that the user asked for, and its expected result.

    Attributes:
        input: the input that the user wants; None runs the flow with its own values.
        error: the code of the error that it must end in, as with a service that is down.
    """

    input: str | None = None
    error: ErrorCode | None = None

    def _check_rules(self) -> None:
        if len(self._rules()) + (self.error is not None) != 1:
            raise ValueError("give exactly one of equals, contains, regex, lacks and error")

    def __str__(self) -> str:
        return super().__str__() if self.error is None else f"the error {self.error!r}"


class Probe(RequestedRun):
    """One run of the resulting flow: the chat's input, and the expected result.

    Attributes:
        unlike: a counterfactual: this other input must give a different output.
        also: further expectations of the output, all of which must hold.
        files: the user's files in this run beside the scenario's, content by path.
        writes: the files that the run must write, as patterns of paths (`report.*`), with what is expected of each.
    """

    unlike: str | None = None
    also: Annotated[tuple[Expectation, ...], Field(exclude_if=operator.not_)] = ()
    files: Annotated[dict[Text, str], Field(exclude_if=operator.not_)] = Field(default_factory=dict[str, str])
    writes: Annotated[dict[Text, Expectation], Field(exclude_if=operator.not_)] = Field(
        default_factory=dict[str, Expectation]
    )

    def _check_rules(self) -> None:
        if self.error is not None and (self.also or self.writes):
            raise ValueError("a probe that must fail gives and writes nothing: leave out also and writes")
        rules = len(self._rules()) + (self.error is not None)
        if not rules and self.writes:
            return
        if rules > 1 or (not rules and self.unlike is None):
            raise ValueError(
                "give exactly one of equals, contains, regex, lacks and error, or unlike, or one and unlike"
            )
        if self.error is not None and self.unlike is not None:
            raise ValueError("a probe that must fail has no counterfactual")

    @property
    def inputs(self) -> tuple[str | None, ...]:
        """The inputs that the flow is run with, in order."""
        return (self.input,) if self.unlike is None else (self.input, self.unlike)

    def __str__(self) -> str:
        other = "" if self.unlike is None else f"another output than for {self.unlike!r}"
        rules = super().__str__() if self._rules() or self.error is not None else ""
        files = (f"a file {pattern} with {rule}" for pattern, rule in self.writes.items())
        return " and ".join(part for part in (rules, other, *map(str, self.also), *files) if part)


class ToolUse(Strict):
    """A tool that must be used.

    Attributes:
        tool: its name.
        arguments: arguments that it must be called with; others may be anything.
    """

    tool: ToolName
    arguments: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])

    def __str__(self) -> str:
        given = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in self.arguments.items())
        return f"{self.tool}({given})"


class Expect(Strict):
    """What must be true of the resulting flow, and of the attempt.

    Attributes:
        types: component types that it must have, as often as they are listed.
        one_of: lists of component types: it must have at least one of each list.
        absent: component types that it must not have.
        edges: connections that it must have, by type: `ChatInput.message -> ChatOutput.input_value`.
        fields: values that it must have, by `Type.field`; one component of the type is enough.
        kept: components of the starting canvas, by their ids in its text, that must stay as they are.
        may_change: what may change in the document beside what the reference changes, as patterns with `*`: `name`,
            `answer.position` (a component by its id in the canvas' text), `*.description`, `notes`.
        no_tools: tools that must not be called.
        tools: tools that must be called successfully.
        files: the expected content of the user's files at the end, by path.
    """

    types: tuple[Text, ...] = ()
    one_of: Annotated[
        tuple[Annotated[tuple[Text, ...], Field(min_length=1)], ...], Field(exclude_if=operator.not_)
    ] = ()
    absent: tuple[Text, ...] = ()
    edges: tuple[Wire, ...] = ()
    fields: dict[Place, Expectation] = Field(default_factory=dict[str, Expectation])
    kept: tuple[Text, ...] = ()
    may_change: Annotated[tuple[Text, ...], Field(exclude_if=operator.not_)] = ()
    no_tools: tuple[Text, ...] = ()
    tools: Annotated[tuple[ToolUse, ...], Field(exclude_if=operator.not_)] = ()
    files: Annotated[dict[Text, Expectation], Field(exclude_if=operator.not_)] = Field(
        default_factory=dict[str, Expectation]
    )
