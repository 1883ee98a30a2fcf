"""A conversation: what stands at the start, its steps with what must be true after each, and its wrong courses."""

from collections.abc import Mapping
from typing import Annotated, Literal, cast

from pydantic import Field, JsonValue, StringConstraints, TypeAdapter, ValidationError, model_validator

from agent.turn.result import Intent, Outcome
from evals.expectation import Expectation, Slug, Strict, Text, ToolName
from evals.scenario import Decision, ModelRule, ScriptStep
from evals.service import Service

Decided = Literal["approve", "deny"] | Decision
"""A decision, with a reason or without."""

EMPTY = "empty"
"""The name of the empty canvas among flows."""


class CourseReading(Strict):
    """What the scripted classifier says of a message; it gives `reply` only when it is asked for it.

    Without a mandate it reads one that covers what the script does.
    """

    intent: Intent = "build_flow"
    english: str = ""
    language: str = "en"
    reply: Literal["approve", "deny", "change", "unclear", "other"] | None = None
    reason: str = ""
    mandate: dict[str, tuple[str, ...]] | None = None


class After(Strict):
    """What must be true after a step; what is not given is not looked at.

    Attributes:
        outcome: how the turn ended.
        flow: the canvas, as text or `empty`; ids, names and places do not count.
        proposal: the flow offered, as text; `empty` for none.
        waiting: the kinds of the approvals that wait, in order.
        runs: what the user's runs gave, in order.
        files: the content of the user's files.
        record: a part of the turn's record: of objects the given keys, of lists every item.
        answer: of the answer's text.
        told: of all that the models were sent in this step.
        error: the code of the error.
    """

    outcome: Outcome | None = None
    flow: Text | None = None
    proposal: Text | None = None
    waiting: tuple[str, ...] | None = None
    runs: tuple[Expectation, ...] | None = None
    files: dict[Text, Expectation] = Field(default_factory=dict[str, Expectation])
    record: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    answer: tuple[Expectation, ...] = ()
    told: tuple[Expectation, ...] = ()
    error: Text | None = None


class CourseMessage(Strict):
    """A message, how the scripted models take it, and what must be true afterwards.

    Attributes:
        say: the message; empty for answers by id alone.
        attach: the user's files that it is about.
        answers: decisions by id, for all approvals of a kind, `proposal` for the one that waits, or the id itself.
        reading: what the scripted classifier says.
        script: what the scripted model answers, in order; a list is one answer with several calls.
        expect: what must be true afterwards.
    """

    say: str = ""
    attach: tuple[Text, ...] = ()
    answers: dict[Text, Decided] = Field(default_factory=dict[str, Decided])
    reading: CourseReading = CourseReading()
    script: tuple[ScriptStep | tuple[ScriptStep, ...], ...] = ()
    expect: After = After()

    @model_validator(mode="after")
    def _says_something(self) -> "CourseMessage":
        if not self.say and not self.answers:
            raise ValueError("give say or answers")
        return self


class CourseStep(CourseMessage):
    """A step of the conversation.

    Attributes:
        canvas: the canvas as the user edits it before the message, as text or `empty`.
        interrupt: the user stops the turn as soon as this tool has answered.
        meanwhile: a second message, sent while the model works on this one.
    """

    canvas: Text | None = None
    interrupt: ToolName | None = None
    meanwhile: CourseMessage | None = None

    @property
    def messages(self) -> tuple[CourseMessage, ...]:
        """The step's messages, in the order in which they are answered."""
        return (self,) if self.meanwhile is None else (self, self.meanwhile)


class WrongCourse(Strict):
    """A course that must fail.

    Attributes:
        because: what is wrong with it.
        step: the step that is another, from 1.
        change: what is another in it; null leaves the step out.
    """

    because: Text
    step: Annotated[int, Field(ge=1)]
    change: dict[Annotated[str, StringConstraints(pattern=r"^[a-z]+$")], JsonValue] | None


class ConversationCase(Strict):
    """A conversation. Flows are spec text or Langflow JSON.

    Attributes:
        id: the file's name without its ending.
        about: what it tests, in one sentence.
        tags: for selecting conversations.
        canvas: the flow at the start; None is an empty canvas.
        files: the user's files, content by path.
        bundles: component types of the engine that are not installed at first, by the bundle that has them.
        services: HTTP services on loopback that flows may call; `{{service:NAME}}` in any text is its address.
        models: the answers of the models inside the flows; without any, the scripted model answers.
        steps: what happens, in order.
        wrong: courses that must fail.
    """

    id: Slug
    about: Text
    tags: tuple[Slug, ...] = ()
    canvas: Text | None = None
    files: dict[Text, str] = Field(default_factory=dict[str, str])
    bundles: dict[Slug, tuple[Text, ...]] = Field(default_factory=dict[str, tuple[str, ...]])
    services: tuple[Service, ...] = ()
    models: tuple[ModelRule, ...] = ()
    steps: Annotated[tuple[CourseStep, ...], Field(min_length=2)]
    wrong: Annotated[tuple[WrongCourse, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _wrong_courses_differ(self) -> "ConversationCase":
        for course in self.wrong:
            if course.step > len(self.steps):
                raise ValueError(f"there is no step {course.step}")
            if course.change is not None and "expect" in course.change:
                raise ValueError("a wrong course changes what happens, never what is expected")
            before, after = self.steps[course.step - 1].meanwhile, self.along(course)[course.step - 1 :][:1]
            other = after[0].meanwhile if after and course.change and "meanwhile" in course.change else None
            if other is not None and (before is None or other.expect != before.expect):
                raise ValueError("a wrong course changes what happens meanwhile, never what is expected of it")
        return self

    def along(self, course: WrongCourse) -> tuple[CourseStep, ...]:
        """The steps of a wrong course.

        Raises:
            ValueError: the changed step cannot be read.
        """
        index = course.step - 1
        if course.change is None:
            return (*self.steps[:index], *self.steps[index + 1 :])
        given = cast("Mapping[str, JsonValue]", self.steps[index].model_dump(mode="json"))
        try:
            changed = _STEP.validate_json(_JSON.dump_json({**given, **course.change}))
        except ValidationError as error:
            raise ValueError(f"the changed step {course.step} cannot be read: {error}") from None
        return (*self.steps[:index], changed, *self.steps[index + 1 :])


_STEP = TypeAdapter(CourseStep)
_JSON: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])
