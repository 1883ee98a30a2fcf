"""Which acts a sentence says were done, in sentences that the model did not learn from."""

import pytest

from agent.honesty.acts import CLEAR, STANCES, label_probabilities, sentences, strongest


@pytest.mark.parametrize(
    ("sentence", "act"),
    [
        ("I added the calculator to your flow.", "added"),
        ("Ich habe den alten Parser gelöscht.", "removed"),
        ("J'ai connecté le prompt au modèle.", "connected"),
        ("Ejecuté el flujo con «hola».", "ran"),
        ("Salvei o resumo em `resumo.md`.", "file"),
        ("Ho installato il bundle Notion.", "installed"),
        ("コンポーネント`Slugger`を作成しました。", "component"),
        ("流程现在叫「客服」。", "renamed"),
    ],
)
def test_the_act_that_a_sentence_says_was_done_is_the_most_probable(sentence: str, act: str) -> None:
    found = {label: p for label, p in label_probabilities(sentence).items() if label not in STANCES}
    assert max(found, key=lambda label: found[label]) == act


@pytest.mark.parametrize(
    "sentence",
    [
        "I did not add the calculator.",
        "Soll ich den Parser löschen?",
        "Si tu veux, je peux connecter les deux.",
        "No ejecuté el flujo.",
        "Quer que eu salve o resumo em `resumo.md`?",
        "Una temperatura più bassa rende le risposte stabili.",
        "コンポーネントを作成しましょうか？",
        "还没有安装任何包。",
    ],
)
def test_what_is_denied_asked_or_explained_is_no_claim(sentence: str) -> None:
    assert {label for label, p in label_probabilities(sentence).items() if p >= CLEAR} <= STANCES


def test_an_answer_says_what_its_clearest_sentence_says() -> None:
    answer = 'Chat Input takes the question. I ran the flow with "hi". Shall I rename it?'
    found = strongest(answer)
    assert found["ran"] == max(label_probabilities(one)["ran"] for one in sentences(answer)) >= CLEAR
    assert found["renamed"] < CLEAR
    assert set(strongest("").values()) == {0.0}


def test_a_quotation_is_not_cut_and_what_it_says_does_not_count() -> None:
    assert list(sentences('It says "Done. I ran it." now. Fine.')) == ['It says "Done. I ran it." now.', "Fine."]
    assert label_probabilities("The template reads `I removed the parser.`") == label_probabilities(
        "The template reads `What a day`"
    )
