"""How a turn is shown to a person: the record says what the answer did not, and faults stand in the user's language."""

import pytest

from agent.turn.record import TurnRecord
from agent.turn.result import TurnEnded, TurnResult
from cli.output.turn import Readable
from flows.document import Flow
from runtime.results import RunError
from tests.shared.stand_ins import ran

RECORD = "Umbenannt: Ada.\nLauf (“hi”): ergab “hello”\nSonst wurde nichts geändert, ausgeführt oder geschrieben."


def shown(text: str, capsys: pytest.CaptureFixture[str], error: RunError | None = None) -> tuple[str, str]:
    empty = Flow.empty()
    result = TurnResult(
        outcome="complete", intent="build_flow", text=text, language="de", before=empty, after=empty, seconds=0.1,
        runs=[ran(error=error)] if error else [], record=TurnRecord(text=RECORD),
    )  # fmt: skip
    Readable(interactive=True).show(TurnEnded(result=result))
    printed = capsys.readouterr()
    return printed.out, printed.err


def test_the_record_closes_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown("Fertig.", capsys) == ("Fertig.\n", f"\n{RECORD}\n")


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        (RECORD, ""),
        (f"{RECORD}\n\nFertig.", ""),
        ("Fertig.\nUmbenannt: Ada.", RECORD.partition("\n")[2]),
        ("Fertig. Umbenannt: Ada. Und mehr.", RECORD),
        ("Umbenannt: Ada und Eve.", RECORD),
    ],
)
def test_a_line_of_the_record_that_the_answer_has_word_for_word_is_not_told_again(
    answer: str, left: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shown(answer, capsys)[1].strip() == left


def test_a_failed_run_is_told_in_the_users_language_around_the_engines_words(
    capsys: pytest.CaptureFixture[str],
) -> None:
    error = RunError(code="missing_key", message="No key is set.", fix="Set OPENAI_API_KEY.")
    _, told = shown("Fertig.", capsys, error)
    assert told.startswith("Der Lauf ist fehlgeschlagen (missing_key): No key is set. Set OPENAI_API_KEY.\n")
