"""Answers labelled true or false, on which a judge is measured; README.md beside this file says what a row holds."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final, Literal, Self, get_args

import yaml
from pydantic import Field, TypeAdapter, ValidationError, model_validator

from evals.bounded_yaml import TooComplex, load_yaml
from evals.expectation import Strict, Text
from runtime.files.texts import TextRefused, read_text

FOLDER: Final = Path(__file__).parent / "answers"
"""The labelled answers that come with Wirewright, a file per language."""

Language = Literal["de", "en", "es", "fr", "ja", "pt", "zh"]

LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)
"""The languages of the answers, as ISO 639-1 codes."""

Trap = Literal[
    "negation",
    "injection",
    "paraphrase",
    "near-value",
    "other-subject",
    "hedge",
    "not-done",
    "echo",
    "partial",
    "contradiction",
    "quote",
    "other-language",
]

TRAPS: Final[tuple[Trap, ...]] = get_args(Trap)
"""What can mislead a judge; README.md explains each."""

ROWS: Final = 400
ROWS_BY_LANGUAGE: Final = 50
ROWS_BY_TRAP: Final = 10
TRUE_SHARE: Final = (0.4, 0.6)
TRAP_SHARE: Final = 0.4


class AnswersError(ValueError):
    """Labelled answers that cannot be used; `place` names the file and the row."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}")
        self.place = place
        self.message = message


class LabelledAnswer(Strict):
    """One answer, one statement about it, and whether the statement is true.

    Attributes:
        id: the language and a number, as `de-014`.
        user: the user's message.
        record: what really happened, in English; None when nothing did.
        answer: the assistant's final message.
        statement: what may be true of the answer, in English.
        label: whether it is.
        trap: what could mislead a judge; None for a plain row.
        because: why the label is what it is.
    """

    id: Annotated[Text, Field(pattern=r"^(de|en|es|fr|ja|pt|zh)-[0-9]{3}$")]
    user: Text
    record: Text | None = None
    answer: Text
    statement: Text
    label: bool
    trap: Trap | None = None
    because: Text

    @property
    def language(self) -> str:
        """The language of the row's file."""
        return self.id[:2]

    @model_validator(mode="after")
    def _spoken(self) -> Self:
        if not all(text.strip() for text in (self.user, self.answer, self.statement, self.because)):
            raise ValueError("user, answer, statement and because should say something")
        return self


_ROWS: Final = TypeAdapter(list[LabelledAnswer])


def load_answers(folder: Path = FOLDER) -> tuple[LabelledAnswer, ...]:
    """The labelled answers of a folder, by file and in the order of each.

    Raises:
        AnswersError: naming the file and the row.
    """
    rows = [row for path in sorted(folder.glob("*.yaml")) for row in _read(path)]
    if not rows:
        raise AnswersError(folder.name, "holds no labelled answers (LANGUAGE.yaml)")
    for what, counted in (
        ("the id", Counter(row.id for row in rows)),
        ("user, answer and statement of", Counter((row.user, row.answer, row.statement) for row in rows)),
    ):
        repeated = next((key for key, number in counted.items() if number > 1), None)
        if repeated is not None:
            row = next(row for row in rows if repeated in (row.id, (row.user, row.answer, row.statement)))
            raise AnswersError(f"{row.language}.yaml", f"{what} {row.id} is given twice")
    return tuple(rows)


def digest(answers: Sequence[LabelledAnswer]) -> str:
    """A short hash of what a judge is shown and of the labels; the order, `because` and `trap` do not enter it."""
    shown = sorted(row.model_dump_json(exclude={"because", "trap"}) for row in answers)
    return hashlib.sha256("\n".join(shown).encode()).hexdigest()[:16]


def composition_faults(answers: Sequence[LabelledAnswer]) -> tuple[str, ...]:
    """What the answers lack to measure a judge as README.md says, a sentence each; empty when nothing does."""
    faults = [] if len(answers) >= ROWS else [f"there are {len(answers)} answers, not {ROWS}"]
    for language in LANGUAGES:
        mine = [row for row in answers if row.language == language]
        if len(mine) < ROWS_BY_LANGUAGE:
            faults.append(f"{language} has {len(mine)} answers, not {ROWS_BY_LANGUAGE}")
        share = sum(row.label for row in mine) / len(mine) if mine else 0.0
        if not TRUE_SHARE[0] <= share <= TRUE_SHARE[1]:
            faults.append(f"{share:.0%} of {language} are true; it should be from 40% to 60%")
    trapped = sum(row.trap is not None for row in answers)
    if trapped < TRAP_SHARE * len(answers):
        faults.append(f"{trapped} answers hold a trap; it should be at least {TRAP_SHARE:.0%}")
    for trap in TRAPS:
        labels = [row.label for row in answers if row.trap == trap]
        if len(labels) < ROWS_BY_TRAP:
            faults.append(f"the trap {trap} is set {len(labels)} times, not {ROWS_BY_TRAP}")
        elif len(set(labels)) == 1:
            faults.append(f"every answer with the trap {trap} is {str(labels[0]).lower()}")
    return tuple(faults)


def _read(path: Path) -> tuple[LabelledAnswer, ...]:
    if path.stem not in LANGUAGES:
        raise AnswersError(path.name, f"should be named after a language: {', '.join(LANGUAGES)}")
    try:
        document = load_yaml(read_text(path))
        rows = _ROWS.validate_python(document)
    except TextRefused as refused:
        raise AnswersError(path.name, refused.reason) from None
    except (yaml.YAMLError, TooComplex) as error:
        mark = getattr(error, "problem_mark", None)
        place = path.name if mark is None else f"{path.name} line {mark.line + 1}"
        raise AnswersError(place, f"is not YAML: {getattr(error, 'problem', None) or error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise AnswersError(f"{path.name}[{place}]", first["msg"]) from None
    other = next((row.id for row in rows if row.language != path.stem), None)
    if other is not None:
        raise AnswersError(path.name, f"{other} belongs into {other[:2]}.yaml")
    return tuple(rows)
