"""`wirewright eval conversations`: play scripted conversations, and their wrong courses, which must fail."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import FAILED, BadUsage
from cli.options import Json
from cli.output.streams import print_json, print_message, print_result

if TYPE_CHECKING:
    from cli.documents.evals import ConversationPlayed
    from evals.conversations.course import ConversationCase
    from evals.play.environment import PlayEnvironment


@dataclass(kw_only=True)
class _Outcome:
    """How one conversation went.

    Attributes:
        id: the conversation's.
        faults: what was not as expected on its right course.
        passed_wrongly: why the courses are wrong that did not fail.
        seconds: how long all of it took.
    """

    id: str
    faults: list[str] = field(default_factory=list[str])
    passed_wrongly: list[str] = field(default_factory=list[str])
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether the right course held and every wrong one failed."""
        return not self.faults and not self.passed_wrongly

    def document(self) -> "ConversationPlayed":
        """The outcome as it is printed."""
        from cli.documents.evals import ConversationPlayed

        return ConversationPlayed(
            id=self.id,
            passed=self.passed,
            faults=self.faults,
            passed_wrongly=self.passed_wrongly,
            seconds=round(self.seconds, 2),
        )

    def show(self) -> None:
        """Print a row, and below it what was wrong."""
        print_result(f"{'passed' if self.passed else 'failed'}  {self.seconds:6.1f} s  {self.id}")
        for fault in self.faults:
            print_result(f"    {fault}")
        for reason in self.passed_wrongly:
            print_result(f"    a wrong course did not fail: {reason}")


def conversations(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help="Only these conversations; none plays all.")
    ] = None,
    folder: Annotated[
        str | None,
        typer.Option("--in", metavar="DIR", help="Your own conversations (*.yaml), instead of the built-in ones."),
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(metavar="T", help="Only conversations with one of these tags.")
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    """Play scripted conversations of several turns with the assistant; no model is needed.

    Each wrong course of a conversation is played too, and must fail.
    """
    from cli.documents.evals import ConversationsPlayed

    chosen = _chosen(_loaded(folder), ids or [], tag or [])
    outcomes = asyncio.run(_played(chosen, as_json=as_json))
    failed = sum(not outcome.passed for outcome in outcomes)
    if as_json:
        rows = [outcome.document() for outcome in outcomes]
        passed = len(rows) - failed
        print_json(ConversationsPlayed(ok=not failed, passed=passed, failed=failed, conversations=rows))
    else:
        print_result(f"{len(outcomes) - failed} of {len(outcomes)} conversations passed")
    if failed:
        raise typer.Exit(FAILED)


def _loaded(folder: str | None) -> "tuple[ConversationCase, ...]":
    from evals.conversations.loader import FOLDER, load_conversations
    from evals.scenarios.loader import ScenarioError

    if folder is not None and not Path(folder).is_dir():
        raise BadUsage(
            "no_folder", f"{folder} is not a directory.", fix="Name a directory of conversations.", where="--in"
        )
    try:
        return load_conversations(FOLDER if folder is None else Path(folder))
    except ScenarioError as error:
        raise BadUsage(
            "invalid_conversation", f"{error}.", fix="docs/evaluations.md explains the files.", where="--in"
        ) from None


def _chosen(known: "tuple[ConversationCase, ...]", ids: list[str], tags: list[str]) -> "list[ConversationCase]":
    from flows.faults import suggest

    names = {one.id for one in known}
    unknown = next((name for name in ids if name not in names), None)
    if unknown is not None:
        near = [name for name in sorted(names) if unknown in name or name in unknown]
        fix = suggest(near) or "Leave the ids out to play all."
        raise BadUsage("unknown_conversation", f"There is no conversation {unknown!r}.", fix=fix, where="ID")
    found = [one for one in known if (not ids or one.id in ids) and (not tags or set(tags) & set(one.tags))]
    if not found:
        raise BadUsage("no_conversations", "No conversation has these tags.", fix="Choose another tag.", where="--tag")
    return found


async def _played(chosen: "list[ConversationCase]", *, as_json: bool) -> list[_Outcome]:
    from cli.eval.play.environment import play_environment

    found: list[_Outcome] = []
    async with play_environment(concurrency=1) as environment:
        for number, conversation in enumerate(chosen, start=1):
            found.append(await _outcome(conversation, environment))
            if as_json:
                print_message(f"{number} of {len(chosen)}: {conversation.id}")
            else:
                found[-1].show()
    return found


async def _outcome(conversation: "ConversationCase", environment: "PlayEnvironment") -> _Outcome:
    from evals.conversations.play import CourseError, play_conversation
    from evals.scenarios.flows import BadFlow

    outcome = _Outcome(id=conversation.id)
    try:
        right = await play_conversation(conversation, environment)
        outcome.faults = right.faults + right.misfits
        outcome.seconds = right.seconds
        for course in conversation.wrong:
            wrong = await play_conversation(conversation, environment, course=course)
            outcome.seconds += wrong.seconds
            if not wrong.faults:
                outcome.passed_wrongly.append(course.because)
    except (CourseError, BadFlow, ValueError) as error:
        outcome.faults.append(f"it cannot be played: {error}")
    except TimeoutError:
        outcome.faults.append("it cannot be played: a step took too long")
    return outcome
