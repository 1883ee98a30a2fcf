"""Plain replies: which messages are yes or no without a model, and which are left to the classifier."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import agent.language
from agent.language.replies import asks_to_continue, is_too_short_for_language, plain_reply, reply_language
from tests.shared.yaml_files import read_yaml

DATA = Path(__file__).with_name("data")
TABLE: dict[str, dict[str, list[str]]] = read_yaml(Path(agent.language.__file__).parent / "replies.yaml")
MEANS = {"approve": "approve", "continue": "approve", "deny": "deny", "polite": "polite"}
PHRASES = [(text, MEANS[kind]) for kinds in TABLE.values() for kind, texts in kinds.items() for text in texts]
DECIDING = [(text, kind) for text, kind in PHRASES if kind != "polite"]


def figures(name: str) -> dict[str, Any]:
    """How the rows of a table are decided: of the plain ones how many rightly, of the others how many wrongly."""
    rows: list[dict[str, Any]] = read_yaml(DATA / name)
    plain = [row for row in rows if row["plain"]]
    others = [row for row in rows if not row["plain"]]
    wrong = [row["id"] for row in rows if plain_reply(row["reply"]) not in {None, row["meaning"]}]
    return {
        "rows": len(rows),
        "languages": len({row["language"] for row in rows}),
        "plain": len(plain),
        "decided": sum(plain_reply(row["reply"]) == row["meaning"] for row in plain),
        "left to the classifier": sum(plain_reply(row["reply"]) is None for row in others),
        "wrong": wrong,
    }


@pytest.mark.parametrize(
    ("name", "plain", "decided", "left", "wrong"),
    [
        ("replies_tuning.yaml", 45, 45, 53, []),
        ("replies_unseen.yaml", 44, 40, 53, ["en-08"]),  # measured once after the table was written, and left so
    ],
)
def test_the_figures_of_the_measured_replies_stand(
    name: str, plain: int, decided: int, left: int, wrong: list[str]
) -> None:
    assert figures(name) == {
        "rows": 100,
        "languages": 8,
        "plain": plain,
        "decided": decided,
        "left to the classifier": left,
        "wrong": wrong,
    }


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("Yes!", "approve"),
        ("YESSS, please", "approve"),
        ("ja, mach", "approve"),
        ("sí, adelante", "approve"),
        ("Si claro", "approve"),
        ("D’accord !", "approve"),
        ("はい", "approve"),
        ("はーい、お願いします。", "approve"),
        ("ＯＫです", "approve"),
        ("好的,谢谢", "approve"),
        ("👍🏽", "approve"),
        ("No, thanks.", "deny"),
        ("Don’t!", "deny"),
        ("nein danke 🙏", "deny"),
        ("Não", "deny"),
        ("不用了", "deny"),
        ("いいえ", "deny"),
    ],
)
def test_a_plain_yes_or_no_is_decided_in_any_form(text: str, meaning: str) -> None:
    assert plain_reply(text) == meaning


@pytest.mark.parametrize(
    "text",
    [
        *("", "  ", "please", "谢谢", "ok?", "ok...", "好吗？", "好不好", "是不是", "yes no", "ja nee", "👍👎"),
        *("yes, and add a node", "no, shorter please", "ok but call it Bob", "no problem", "okapi", "yes " * 30),
        *("OK Google integration please", "nothing", "know", "noyes", "行李", "大丈夫です", "結構です", "pois não"),
        *("> yes", "  > ja, mach", ">yes", "| yes", "＞ はい", "no\n> yes", "> shall I?\n> yes"),
    ],
)
def test_anything_else_is_left_to_the_classifier(text: str) -> None:
    assert plain_reply(text) is None


@given(st.sampled_from(PHRASES), st.text(max_size=20))
def test_a_phrase_inside_a_longer_message_never_decides(phrase: tuple[str, str], added: str) -> None:
    assume(any(char.isalnum() for char in added))
    for text in (f"{phrase[0]} qx{added}", f"{added}qx {phrase[0]}", f"{phrase[0]}qx"):
        assert plain_reply(text) is None


@given(st.sampled_from(DECIDING), st.sampled_from(DECIDING))
def test_a_yes_and_a_no_together_never_decide_wrongly(one: tuple[str, str], other: tuple[str, str]) -> None:
    known = {tuple(sorted(text.split())) for text, _ in PHRASES}
    together = f"{one[0]} {other[0]}"
    assume(one[1] != other[1] and tuple(sorted(together.split())) not in known)
    assert plain_reply(together) is None or any(
        together.replace(" ", "") == text.replace(" ", "") for text, _ in PHRASES
    )


@pytest.mark.parametrize("language", TABLE)
def test_every_phrase_of_the_table_means_what_it_says(language: str) -> None:
    for kind, texts in TABLE[language].items():
        for text in texts:
            assert plain_reply(text) == (None if kind == "polite" else MEANS[kind]), text
            assert asks_to_continue(text) == (kind == "continue"), text


@given(st.text(max_size=100))
def test_any_message_is_read(text: str) -> None:
    assert plain_reply(text) in {None, "approve", "deny"}


@pytest.mark.parametrize("language", sorted({"en", "de", "fr", "es", "pt", "it", "ja", "zh"}))
def test_every_language_of_the_planner_can_say_to_go_on(language: str) -> None:
    assert TABLE[language]["continue"]


@pytest.mark.parametrize("text", ["y", "hm", "ok", "oui", "nein danke", "?", "はい"])
def test_a_bare_yes_or_two_letters_are_in_no_language_of_their_own(text: str) -> None:
    assert is_too_short_for_language(text)


@pytest.mark.parametrize("text", ["why?", "build it", "何ですか"])
def test_a_longer_message_is_in_a_language_of_its_own(text: str) -> None:
    assert not is_too_short_for_language(text)


@pytest.mark.parametrize(
    ("text", "language"), [("weiter", "de"), ("oui", "fr"), ("継続", None), ("ok", None), ("y", None)]
)
def test_the_language_of_a_reply_is_known_when_only_one_has_its_words(text: str, language: str | None) -> None:
    assert reply_language(text) == language
