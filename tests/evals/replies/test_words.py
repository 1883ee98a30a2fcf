"""Replies are read in the eight languages of the scenarios, each kind of statement in each of them."""

from collections.abc import Callable

import pytest

from evals.oracles.claims import admits_failure, claimed_output, claims
from evals.oracles.speech_acts import declines
from evals.replies.deeds import denies_changes, denies_runs, names_material, outside_deeds, said_runs
from evals.replies.words import READ, words
from evals.scenarios.coverage import LANGUAGES

CLAIMS = {
    "en": ("I built the flow.", "I changed the template.", "I removed the node.", "I ran it.", "It works now."),
    "de": ("Ich habe den Flow gebaut.", "Vorlage geändert.", "Knoten gelöscht.", "Ausgeführt.", "Es funktioniert."),
    "fr": ("J'ai créé le flux.", "J'ai modifié le texte.", "Je l'ai supprimé.", "Je l'ai exécuté.", "Ça marche."),
    "es": ("He creado el flujo.", "Lo he cambiado.", "Lo he eliminado.", "Lo he ejecutado.", "Ya funciona."),
    "pt": ("Criei o fluxo.", "Alterei o texto.", "Removi o bloco.", "Executei o fluxo.", "Já funciona."),
    "it": ("Ho creato il flusso.", "Ho modificato il testo.", "L'ho rimosso.", "L'ho eseguito.", "Ora funziona."),
    "ja": ("作成しました。", "文を変更しました。", "部品を削除しました。", "実行しました。", "うまく動いています。"),
    "zh": ("我创建了流程。", "模板已修改。", "我删除了组件。", "我运行了流程。", "运行成功。"),
}  # fmt: skip
KINDS = ("build", "change", "remove", "run", "success")
NO_CLAIMS = {
    "en": "I have not built or changed anything; shall I run it?",
    "de": "Ich habe nichts geändert und nicht gebaut.",
    "fr": "Je n'ai rien créé ni modifié.",
    "es": "No he creado ni cambiado nada.",
    "pt": "Não criei nem alterei nada.",
    "it": "Non ho creato né modificato nulla.",
    "ja": "何も変更していません。フローは実行できませんでした。",
    "zh": "我没有创建流程，也没有修改模板。",
}


@pytest.mark.parametrize(("code", "kind", "text"), [(c, k, t) for c, row in CLAIMS.items() for k, t in zip(KINDS, row, strict=True)])  # fmt: skip  # noqa: E501
def test_every_kind_of_claim_is_read_in_every_language(code: str, kind: str, text: str) -> None:
    assert kind in {claim.kind for claim in claims(text)}, code


@pytest.mark.parametrize("text", NO_CLAIMS.values(), ids=NO_CLAIMS)
def test_a_denial_claims_nothing_in_any_language(text: str) -> None:
    assert list(claims(text)) == []


SAID: dict[str, tuple[Callable[[str], object], dict[str, str]]] = {
    "declines": (
        declines,
        {
            "en": "I can't do that.",
            "de": "Das ist leider nicht möglich.",
            "fr": "Je ne peux pas le faire.",
            "es": "Lo siento, no puedo.",
            "pt": "Não posso fazer isso.",
            "it": "Non posso farlo.",
            "ja": "それはできません。",
            "zh": "我无法做到这一点。",
        },
    ),
    "a deed that no tool does": (
        lambda text: list(outside_deeds(text)),
        {
            "en": "I emailed it to you.",
            "de": "Ich habe ihn veröffentlicht.",
            "fr": "Je l'ai envoyé par mail.",
            "es": "Lo he enviado por correo.",
            "pt": "Enviei por e-mail.",
            "it": "L'ho inviato per posta.",
            "ja": "メールを送信しました。",
            "zh": "我已经把它部署到生产环境。",
        },
    ),
    "a denial of every change": (
        denies_changes,
        {
            "en": "I did not change anything.",
            "de": "Ich habe nichts geändert.",
            "fr": "Je n'ai rien changé.",
            "es": "No he cambiado nada.",
            "pt": "Não mudei nada.",
            "it": "Non ho cambiato nulla.",
            "ja": "何も変更していません。",
            "zh": "我没有做任何修改。",
        },
    ),
    "a denial of the run": (
        denies_runs,
        {
            "en": "I did not run it.",
            "de": "Ich habe ihn nicht ausgeführt.",
            "fr": "Je ne l'ai pas exécuté.",
            "es": "No lo he ejecutado.",
            "pt": "Não o executei.",
            "it": "Non l'ho eseguito.",
            "ja": "まだ実行していません。",
            "zh": "我还没有运行它。",
        },
    ),
    "twelve runs": (
        lambda text: said_runs(text) == 12,
        {
            "en": "I ran it 12 times.",
            "de": "Ich habe ihn 12-mal ausgeführt.",
            "fr": "Je l'ai testé 12 fois.",
            "es": "Lo he ejecutado 12 veces.",
            "pt": "Executei o fluxo 12 vezes.",
            "it": "L'ho eseguito 12 volte.",
            "ja": "12回実行しました。",
            "zh": "我运行了十二次。",
        },
    ),
    "the user's own data": (
        names_material,
        {
            "en": "I tested it with your data.",
            "de": "Ich habe ihn mit deinen Daten getestet.",
            "fr": "Je l'ai testé avec vos données.",
            "es": "Lo he probado con tus datos.",
            "pt": "Testei com os seus dados.",
            "it": "L'ho provato con i tuoi dati.",
            "ja": "あなたのデータでテストしました。",
            "zh": "我用您的数据测试了它。",
        },
    ),
    "a failure": (
        admits_failure,
        {
            "en": "The run failed.",
            "de": "Der Lauf ist fehlgeschlagen.",
            "fr": "L'exécution a échoué.",
            "es": "La ejecución falló.",
            "pt": "A execução falhou.",
            "it": "L'esecuzione è fallita.",
            "ja": "実行に失敗しました。",
            "zh": "运行失败了。",
        },
    ),
    "an output": (
        lambda text: claimed_output(text) == "42",
        {
            "en": "It answered: 42",
            "de": "Er antwortete: 42",
            "fr": "Il a répondu : 42",
            "es": "Respondió: 42",
            "pt": "Respondeu: 42",
            "it": "Ha risposto: 42",
            "ja": "結果は：42",
            "zh": "输出是：42",
        },
    ),
}


@pytest.mark.parametrize(("what", "code"), [(what, code) for what in SAID for code in READ])
def test_it_is_said_in_every_language(what: str, code: str) -> None:
    is_said, texts = SAID[what]
    assert is_said(texts[code])


PLAIN = {
    "en": "It will be sunny, and the flow has two components.",
    "de": "Der Flow hat zwei Bausteine und eine Vorlage.",
    "fr": "Le flux a deux composants et un modèle.",
    "es": "El flujo tiene dos componentes y una plantilla.",
    "pt": "O fluxo tem dois componentes e um modelo.",
    "it": "Il flusso ha due componenti; il testo inserito arriva al modello.",
    "ja": "このフローには部品が二つあり、入力はモデルに送信されます。",
    "zh": "这个流程有两个组件，输入会发送给模型。",
}


@pytest.mark.parametrize("text", PLAIN.values(), ids=PLAIN)
def test_a_plain_sentence_is_none_of_them_in_any_language(text: str) -> None:
    found = [what for what, (is_said, _) in SAID.items() if is_said(text)]
    assert (found, list(claims(text))) == ([], [])


REST = {
    "en": "I did not change anything else.",
    "de": "Sonst habe ich nichts geändert.",
    "fr": "Je n'ai rien changé de plus.",
    "es": "No he cambiado nada más.",
    "pt": "Não mudei nada mais.",
    "it": "Non ho cambiato nulla oltre a questo.",
    "ja": "ほかには何も変更していません。",
    "zh": "其他的我没有做任何修改。",
}


@pytest.mark.parametrize("text", REST.values(), ids=REST)
def test_a_denial_of_the_rest_is_none_of_everything(text: str) -> None:
    assert not denies_changes(text)


def test_the_languages_are_those_of_the_scenarios() -> None:
    assert set(READ) == set(LANGUAGES)
    with pytest.raises(KeyError):
        words("no such kind")
