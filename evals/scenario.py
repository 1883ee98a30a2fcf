"""A scenario: a user's request in natural words, and the criteria by which the result is judged."""

import hashlib
import operator
import re
from typing import Annotated, Literal

from pydantic import Field, JsonValue, StringConstraints, model_validator

from evals.behaviours.families import Inputs
from evals.expectation import Expect, Expectation, Probe, RequestedRun, Slug, Strict, Text
from evals.replies.facts import StatedFact
from evals.service import Service

Should = Literal["act", "answer", "ask", "refuse"]
Split = Literal["dev", "test"]


class ScriptStep(Strict):
    """One answer of a scripted model: a tool call, or its final message.

    Attributes:
        tool: the tool to call.
        arguments: its arguments. A text `$name` stands for a node: the one called `name` in the starting canvas or in
            the spec of an earlier `build_flow` step, or the one that an earlier step added under this `name`.
        name: the name by which later steps refer to the component that this step adds.
        say: the final message, instead of a call.
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
        should: the right reaction: act on the flow, answer, ask back, or refuse.
        run: the run that the message asks for.
        answer: what is expected of the answer's text.
        facts: the facts that the answer must state; values decide, and not words.
        points: the words, any of them, for what a question must ask about, or a refusal must name; without any, a word
            of the message or a name on the canvas.
        flow: the expected flow after this turn, as text; for the last turn that acts, it is `reference`.
        reply: a right final message, if none can be derived from `answer`.
        edit: the canvas as the user edits it before this message, as text; it must be preserved like the starting one.
        statements: what must be true of the answer and only words show, a sentence in English each: a judge that was
            measured decides it. Without one, an attempt that fails nowhere else is undecided.
        script: the answers of the `script` player.
    """

    say: Text
    should: Should = "act"
    run: RequestedRun | None = None
    answer: tuple[Expectation, ...] = ()
    facts: Annotated[tuple[StatedFact, ...], Field(exclude_if=operator.not_)] = ()
    points: Annotated[tuple[Text, ...], Field(exclude_if=operator.not_)] = ()
    flow: Text | None = None
    reply: Text | None = None
    edit: Annotated[Text | None, Field(exclude_if=operator.not_)] = None
    statements: Annotated[tuple[Text, ...], Field(exclude_if=operator.not_)] = ()
    script: tuple[ScriptStep, ...] | None = None

    @model_validator(mode="after")
    def _consistent(self) -> "Turn":
        if self.should != "act" and (self.run or self.flow):
            raise ValueError(f"a turn that should {self.should} has neither run nor flow")
        if self.should == "answer" and not (self.answer or self.facts or self.statements):
            raise ValueError("say what is expected of the answer (facts, answer or statements)")
        if self.points and self.should not in ("ask", "refuse"):
            raise ValueError("points says what a question or a refusal names: leave it out")
        if self.reply is not None and not all(rule.met_by(self.reply) for rule in self.answer):
            raise ValueError("reply does not meet answer")
        if self.reply is not None and (fault := self.fact_fault(self.reply)):
            raise ValueError(f"reply does not meet facts: {fault}")
        if self.reply is None and any(rule.regex for rule in self.answer):
            raise ValueError("give a right final message (reply): none can be derived from a regex")
        return self

    def fact_fault(self, said: str) -> str:
        """The first fact that an answer does not state as it must; empty if there is none."""
        return next((fault for fact in self.facts if (fault := fact.fault(said, self.say))), "")

    @property
    def wanted(self) -> tuple[str, ...]:
        """The values that its answer must state, in every way in which they may be written."""
        stated = [name for fact in self.facts for name in (fact.value, *fact.also) if name]
        return (*stated, *(text for rule in self.answer for text in (rule.contains, rule.equals) if text))

    @property
    def by_structure(self) -> bool:
        """Whether values, acts and named points decide about its answer, and not words that must occur in it."""
        return not self.statements and not any(rule.regex for rule in self.answer)


class Wrong(Strict):
    """A result that must fail.

    Attributes:
        because: what is wrong with it.
        flow: the flow, as text; None leaves the canvas as it was.
        reply: the last turn's final message; None reports what was done, or says nothing useful if nothing was done.
        files: what it writes into the user's files, by path.
        alike: why the flow gives what the reference gives on every input, if it does.
    """

    because: Text
    flow: Text | None = None
    reply: Text | None = None
    files: Annotated[dict[Text, str], Field(exclude_if=operator.not_)] = Field(default_factory=dict[str, str])
    alike: Annotated[Text | None, Field(exclude_if=operator.not_)] = None

    @model_validator(mode="after")
    def _alike_flow(self) -> "Wrong":
        if self.alike is not None and self.flow is None:
            raise ValueError("alike says something of a flow: give one (flow)")
        return self


class Decision(Strict):
    """The simulated user's answer to one approval.

    Attributes:
        decision: approve or deny.
        reason: the reason of a denial.
    """

    decision: Literal["approve", "deny"]
    reason: str = ""


class ModelRule(Strict):
    """An answer of the models inside a flow, by the whole request: the first rule that fits gives it.

    What a pattern finds counts only where the request does not say the opposite of it: `never talk like a pirate` does
    not hold `pirate`.

    Attributes:
        when: a pattern that must be found in the request; None fits every request.
        system: a pattern that must be found in its instructions (system messages).
        lacks: a pattern that must not be found in it.
        tools: the names of the tools that it must offer, and no others; None for any.
        calls: tools that it calls before it answers: for a pattern of a tool's name or description, one of what its
            text arguments are, in the last message. A tool that is not on offer, or for which the message has nothing,
            is not called; what the tools gave is then part of the request.
        say: the answer; with `echo`, `{echo}` in it is what is echoed.
        echo: a pattern: the answer holds what the prompt has of it, between `‹` and `›` after a code of four digits
            that differs from one prompt to another. So an output shows what reached which call of a model. A form that
            must be filled in (structured output) is filled in with it.
        form: values of fields of such a form, by name.
        quote: a pattern with a group: the answer is what the group matches in the prompt, as when one of several
            categories must be named; `say` if it does not match. With `calls`, only in what the tools gave.
    """

    when: Text | None = None
    system: Annotated[Text | None, Field(exclude_if=operator.not_)] = None
    lacks: Annotated[Text | None, Field(exclude_if=operator.not_)] = None
    tools: Annotated[tuple[Text, ...] | None, Field(exclude_if=lambda tools: tools is None)] = None
    calls: Annotated[dict[Text, Text], Field(exclude_if=operator.not_)] = Field(default_factory=dict[str, str])
    say: Text
    echo: Annotated[Text | None, Field(exclude_if=operator.not_)] = None
    form: Annotated[dict[Text, JsonValue], Field(exclude_if=operator.not_)] = Field(
        default_factory=dict[str, JsonValue]
    )
    quote: Annotated[Text | None, Field(exclude_if=operator.not_)] = None

    @model_validator(mode="after")
    def _patterns(self) -> "ModelRule":
        calls = [("calls", pattern) for pair in self.calls.items() for pattern in pair]
        for name, pattern in (("when", self.when), ("echo", self.echo), ("quote", self.quote), *calls):
            try:
                groups = re.compile(pattern or "").groups
            except re.error as error:
                raise ValueError(f"{name} is not a regular expression: {error}") from None
            if name == "quote" and pattern is not None and groups != 1:
                raise ValueError("quote needs one group")
        return self


class Budget(Strict):
    """The most that an attempt may use; None is without a limit.

    Attributes:
        tokens: input and output tokens of all models.
        calls: tool calls.
    """

    tokens: Annotated[int, Field(ge=1)] | None = None
    calls: Annotated[int, Field(ge=1)] | None = None


class Scenario(Strict):
    """One scenario. Flows are spec text or Langflow JSON; `{file: NAME}` instead of a text reads it from `files/`.

    Attributes:
        id: the file's name without its ending.
        about: what it tests, in one sentence.
        tags: for selecting scenarios.
        split: `dev` to look at while working on prompts, `test` to keep unseen.
        canvas: the flow at the start; None is an empty canvas.
        components: the source of the user's component types. Those that cannot be built are left out, as the assistant
            does.
        files: the user's files, content by path.
        services: HTTP services on loopback that flows may call; `{{service:NAME}}` in any text is its address.
        models: the answers of the models inside the flows; without any, the configured models answer.
        keyless: whether the user has no key for these models yet: the player's own runs have none of them, and they
            answer in the harness's runs alone.
        turns: the user's messages.
        approvals: the user's answers to approvals: always the same, or one decision after the other.
        open: whether no reference flow is known: then expectations and probes decide, and scores that compare with a
            reference flow are not scored.
        reference: a reference flow at the end; None if the canvas must stay as it is.
        alternatives: flows that are equally right.
        few: why a flow that is to be built has fewer than three alternatives of different structures, if it has.
        wrong: results that must fail.
        expect: what must be true of the resulting flow.
        probes: runs of the resulting flow.
        inputs: further inputs, generated: the resulting flow must give on them what the reference gives.
        criteria: what an LLM judge should look for; no evaluator reads it.
        budget: the most that an attempt may use.
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
    keyless: Annotated[bool, Field(exclude_if=operator.not_)] = False
    turns: Annotated[tuple[Turn, ...], Field(min_length=1)]
    approvals: Literal["approve", "deny"] | tuple[Decision, ...] = "approve"
    open: Annotated[bool, Field(exclude_if=operator.not_)] = False
    reference: Text | None = None
    alternatives: tuple[Text, ...] = ()
    few: Annotated[Text | None, Field(exclude_if=operator.not_)] = None
    wrong: tuple[Wrong, ...] = ()
    expect: Expect = Expect()
    probes: tuple[Probe, ...] = ()
    inputs: Annotated[Inputs | None, Field(exclude_if=operator.not_)] = None
    criteria: Annotated[tuple[Text, ...], Field(exclude_if=operator.not_)] = ()
    budget: Budget = Budget()

    @model_validator(mode="after")
    def _complete(self) -> "Scenario":
        if self.open:
            return self._check_open()
        if self.reference is None and self.acts and not self.expect.files:
            raise ValueError("a turn acts: give the reference flow (reference), or the files to write (expect.files)")
        if self.reference is None and (self.alternatives or self.probes or self.inputs):
            raise ValueError("alternatives, probes and inputs need a reference")
        if self.reference is not None and not self.acts:
            raise ValueError("reference is given, and no turn acts")
        early = [number for number in self.acts[:-1] if self.turns[number].flow is None and self.reference]
        if early:
            raise ValueError(f"turn {early[0] + 1} acts and is not the last to: give its flow")
        if self.acts and self.turns[self.acts[-1]].flow is not None:
            raise ValueError("the last turn that acts leads to reference; leave out its flow")
        if self.acts and any(turn.edit for turn in self.turns[self.acts[-1] + 1 :]):
            raise ValueError(
                "the user edits the canvas after the last turn that acts: the reference flow is unknown then"
            )
        return self

    def _check_open(self) -> "Scenario":
        if not self.acts:
            raise ValueError("an open scenario needs a turn that acts")
        compared = self.reference is not None or self.alternatives or self.inputs
        if compared or any(turn.flow for turn in self.turns):
            raise ValueError("an open scenario has no reference flow: leave out reference, alternatives, flow, inputs")
        return self

    @property
    def acts(self) -> tuple[int, ...]:
        """The turns that act, by number from 0."""
        return tuple(number for number, turn in enumerate(self.turns) if turn.should == "act")

    @property
    def right(self) -> tuple[tuple[str, str], ...]:
        """The texts of the reference flows, each with its name."""
        reference = () if self.reference is None else (("the reference", self.reference),)
        return (*reference, *((f"alternative {n}", text) for n, text in enumerate(self.alternatives, start=1)))

    @property
    def expects_files(self) -> bool:
        """Whether runs of the resulting flow must write files."""
        return any(probe.writes for probe in self.probes)

    @property
    def flows(self) -> tuple[tuple[str, str], ...]:
        """Every text that must be a flow, with its name."""
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
        """A short hash of the scenario's content."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]
