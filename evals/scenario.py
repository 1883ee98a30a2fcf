"""A scenario: what someone asks for in their own words, and how to tell whether they got it."""

import hashlib
import operator
from typing import Annotated, Literal

from pydantic import Field, JsonValue, StringConstraints, model_validator

from evals.expectation import Expect, Expectation, Probe, RunAsked, Slug, Strict, Text
from evals.service import Service

Should = Literal["act", "answer", "ask", "refuse"]
Split = Literal["dev", "test"]


class ScriptStep(Strict):
    """One answer of a scripted model: a tool call, or the closing words.

    Attributes:
        tool: the tool to call.
        arguments: its arguments. A text `$name` stands for a node: the one that the starting canvas, or the spec of an
            earlier `build_flow` step, calls `name`, or that an earlier step added under this `name`.
        name: how later steps call the component that this step adds.
        say: closing words, in place of a call.
    """

    tool: Annotated[str, StringConstraints(pattern=r"^[a-z_]+$")] | None = None
    arguments: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z]\w*$")] | None = None
    say: str | None = None

    @model_validator(mode="after")
    def _call_or_words(self) -> "ScriptStep":
        if (self.tool is None) == (self.say is None):
            raise ValueError("give either tool or say")
        if self.say is not None and (self.arguments or self.name):
            raise ValueError("say takes neither arguments nor name")
        return self


class Turn(Strict):
    """One message of the user.

    Attributes:
        say: the message.
        should: what is right to do about it: act on the flow, answer, ask back, or refuse.
        run: the run that the message asks for.
        answer: what the answer's text must be.
        flow: what the flow must be after this turn, as text; for the last turn that acts, `reference` says it.
        reply: right closing words, where none can be derived from `answer`.
        edit: the flow that the user makes of the canvas before saying this, as text; it must survive like what was
            there at the start.
        script: for the `script` player, its answers.
    """

    say: Text
    should: Should = "act"
    run: RunAsked | None = None
    answer: tuple[Expectation, ...] = ()
    flow: Text | None = None
    reply: Text | None = None
    edit: Annotated[Text | None, Field(exclude_if=operator.not_)] = None
    script: tuple[ScriptStep, ...] | None = None

    @model_validator(mode="after")
    def _consistent(self) -> "Turn":
        if self.should != "act" and (self.run or self.flow):
            raise ValueError(f"a turn that should {self.should} neither runs nor leads to a flow")
        if self.should == "answer" and not self.answer:
            raise ValueError("say what the answer must be (answer)")
        if self.reply is not None and not all(rule.met_by(self.reply) for rule in self.answer):
            raise ValueError("reply does not meet answer")
        if self.reply is None and any(rule.regex for rule in self.answer):
            raise ValueError("give the right words (reply): none can be derived from a regex")
        return self


class Wrong(Strict):
    """A result that must fail.

    Attributes:
        because: what is wrong with it.
        flow: the flow, as text; None leaves the canvas as it was.
        reply: the last turn's closing words; None says what was done, and nothing that helps where nothing was.
        files: what it writes into the user's files, by path.
    """

    because: Text
    flow: Text | None = None
    reply: Text | None = None
    files: Annotated[dict[Text, str], Field(exclude_if=operator.not_)] = Field(default_factory=dict[str, str])


class Decision(Strict):
    """What the simulated user says to one approval.

    Attributes:
        decision: approve or deny.
        reason: why, for a denial.
    """

    decision: Literal["approve", "deny"]
    reason: str = ""


class ModelRule(Strict):
    """What the models inside a flow answer: the first rule whose pattern is found in what they are asked.

    Attributes:
        when: a pattern in the last message; None fits every one.
        say: the answer.
    """

    when: Text | None = None
    say: Text


class Budget(Strict):
    """What an attempt may take at most; None is without a limit.

    Attributes:
        tokens: input and output tokens of all models.
        calls: tool calls.
    """

    tokens: Annotated[int, Field(ge=1)] | None = None
    calls: Annotated[int, Field(ge=1)] | None = None


class Scenario(Strict):
    """One scenario. Flows are spec text or Langflow JSON; `{file: NAME}` in a text's place reads it from `files/`.

    Attributes:
        id: the file's name without its ending.
        about: what it is there to find out, in one sentence.
        tags: for choosing scenarios.
        split: `dev` to look at while working on prompts, `test` to keep unseen.
        canvas: the flow at the start; None is an empty canvas.
        components: the user's component types, as source. One that cannot be built is left out, as the assistant
            does.
        files: the user's files, path to content.
        services: HTTP services on loopback that flows may call; `{{service:NAME}}` in any text is its address.
        models: what the models inside the flows answer; without any, whatever is configured answers.
        turns: the user's messages.
        approvals: what the user says when asked for approval: always the same, or one decision after the other.
        open: whether no right flow is known: then expectations and probes decide, and what would be compared with a
            right flow is not scored.
        reference: a right flow at the end; None when the canvas must stay as it is.
        alternatives: flows that are equally right.
        wrong: results that must fail.
        expect: what must be true of the resulting flow.
        probes: runs of the resulting flow.
        criteria: what an LLM judge is asked to look for; no evaluator reads it.
        budget: what an attempt may take.
    """

    id: Slug
    about: Text
    tags: tuple[Slug, ...] = ()
    split: Split = "dev"
    canvas: Text | None = None
    components: tuple[Text, ...] = ()
    files: dict[Text, str] = Field(default_factory=dict[str, str])
    services: tuple[Service, ...] = ()
    models: tuple[ModelRule, ...] = ()
    turns: Annotated[tuple[Turn, ...], Field(min_length=1)]
    approvals: Literal["approve", "deny"] | tuple[Decision, ...] = "approve"
    open: Annotated[bool, Field(exclude_if=operator.not_)] = False
    reference: Text | None = None
    alternatives: tuple[Text, ...] = ()
    wrong: tuple[Wrong, ...] = ()
    expect: Expect = Expect()
    probes: tuple[Probe, ...] = ()
    criteria: Annotated[tuple[Text, ...], Field(exclude_if=operator.not_)] = ()
    budget: Budget = Budget()

    @model_validator(mode="after")
    def _complete(self) -> "Scenario":
        if self.open:
            return self._without_right_flow()
        if self.reference is None and self.acts and not self.expect.files:
            raise ValueError("a turn acts: give the right flow (reference), or what it must write (expect.files)")
        if self.reference is None and (self.alternatives or self.probes):
            raise ValueError("alternatives and probes need a reference")
        if self.reference is not None and not self.acts:
            raise ValueError("reference is given, and no turn acts")
        early = [number for number in self.acts[:-1] if self.turns[number].flow is None and self.reference]
        if early:
            raise ValueError(f"turn {early[0] + 1} acts and is not the last to: give its flow")
        if self.acts and self.turns[self.acts[-1]].flow is not None:
            raise ValueError("the last turn that acts leads to reference; leave its flow out")
        if self.acts and any(turn.edit for turn in self.turns[self.acts[-1] + 1 :]):
            raise ValueError(
                "the user edits the canvas after the last turn that acts: nothing tells the right flow then"
            )
        return self

    def _without_right_flow(self) -> "Scenario":
        if not self.acts:
            raise ValueError("an open scenario needs a turn that acts")
        if self.reference is not None or self.alternatives or any(turn.flow for turn in self.turns):
            raise ValueError("an open scenario knows no right flow: leave reference, alternatives and flow out")
        return self

    @property
    def acts(self) -> tuple[int, ...]:
        """The turns that act, by number from 0."""
        return tuple(number for number, turn in enumerate(self.turns) if turn.should == "act")

    @property
    def right(self) -> tuple[tuple[str, str], ...]:
        """The texts of the flows that are right, each with what it is called."""
        reference = () if self.reference is None else (("the reference", self.reference),)
        return (*reference, *((f"alternative {n}", text) for n, text in enumerate(self.alternatives, start=1)))

    @property
    def flows(self) -> tuple[tuple[str, str], ...]:
        """Every text that must be a flow, with what it is called."""
        canvas = () if self.canvas is None else (("the canvas", self.canvas),)
        turns = [
            (name, text)
            for number, turn in enumerate(self.turns, start=1)
            for name, text in (
                (f"the edit before message {number}", turn.edit),
                (f"the flow of message {number}", turn.flow),
            )
            if text is not None
        ]
        wrong = [(f"wrong {n}", one.flow) for n, one in enumerate(self.wrong, start=1) if one.flow is not None]
        return (*canvas, *turns, *self.right, *wrong)

    @property
    def prompts(self) -> tuple[str, ...]:
        """The user's messages."""
        return tuple(turn.say for turn in self.turns)

    @property
    def digest(self) -> str:
        """A short hash of everything that the scenario says."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]
