"""What an answer says of its deeds is read in each of the eight languages that scenarios are written in."""

from collections.abc import Callable

import pytest

from evals.replies.deeds import denies_changes, denies_runs, names_material, outside_deeds, said_runs
from evals.replies.words import READ

MAILED = {
    "en": "I emailed it to you.",
    "de": "Ich habe es dir gemailt.",
    "fr": "Je l'ai envoyé par courriel.",
    "es": "Lo he enviado por correo.",
    "pt": "Enviei por e-mail.",
    "it": "L'ho inviato per posta.",
    "ja": "メールを送信しました。",
    "zh": "我已经把它发邮件给你了。",
}
PUBLISHED = {
    "en": "I deployed it.",
    "de": "Ich habe den Fluss veröffentlicht.",
    "fr": "J'ai publié le flux.",
    "es": "He publicado el flujo.",
    "pt": "Publiquei o fluxo.",
    "it": "Ho pubblicato il flusso.",
    "ja": "フローを公開しました。",
    "zh": "我已发布了流程。",
}
BOOKED = {
    "en": "I booked a table.",
    "de": "Ich habe einen Tisch reserviert.",
    "fr": "J'ai réservé une table.",
    "es": "He reservado una mesa.",
    "pt": "Reservei uma mesa.",
    "it": "Ho prenotato un tavolo.",
    "ja": "席を予約しました。",
    "zh": "我预订了座位。",
}
RAN_OFTEN = {
    "en": "I ran it 500 times.",
    "de": "Ich habe ihn 500-mal ausgeführt.",
    "fr": "Je l'ai testé 500 fois.",
    "es": "Lo he probado 500 veces.",
    "pt": "Testei 500 vezes.",
    "it": "L'ho provato 500 volte.",
    "ja": "500回実行しました。",
    "zh": "我运行了500次。",
}
WITH_OWN_DATA = {
    "en": "I tested it with your data.",
    "de": "Ich habe ihn mit deinen Daten getestet.",
    "fr": "Je l'ai testé avec tes données.",
    "es": "Lo he probado con tus datos.",
    "pt": "Testei com os seus dados.",
    "it": "L'ho provato con i tuoi dati.",
    "ja": "あなたのデータでテストしました。",
    "zh": "我用你的数据测试了。",
}
CHANGED_NOTHING = {
    "en": "I changed nothing.",
    "de": "Ich habe nichts geändert.",
    "fr": "Je n'ai rien changé.",
    "es": "No he cambiado nada.",
    "pt": "Não mudei nada.",
    "it": "Non ho cambiato nulla.",
    "ja": "何も変更していません。",
    "zh": "我什么都没有改。",
}
NOT_RUN = {
    "en": "I did not run it.",
    "de": "Ich habe ihn nicht ausgeführt.",
    "fr": "Je ne l'ai pas exécuté.",
    "es": "No lo he ejecutado.",
    "pt": "Não executei o fluxo.",
    "it": "Non l'ho eseguito.",
    "ja": "実行していません。",
    "zh": "我没有运行。",
}
NOTHING_ELSE = {
    "en": "I changed nothing else.",
    "de": "Sonst habe ich nichts geändert.",
    "fr": "Je n'ai rien changé d'autre.",
    "es": "No he cambiado nada más.",
    "pt": "Não mudei mais nada.",
    "it": "Non ho cambiato nient'altro.",
    "ja": "他には何も変更していません。",
    "zh": "其他什么都没有改。",
}

READERS: dict[str, tuple[Callable[[str], object], dict[str, str]]] = {
    "mailed": (lambda text: list(outside_deeds(text)), MAILED),
    "published": (lambda text: list(outside_deeds(text)), PUBLISHED),
    "booked": (lambda text: list(outside_deeds(text)), BOOKED),
    "run so often": (lambda text: said_runs(text) == 500, RAN_OFTEN),
    "with the user's data": (names_material, WITH_OWN_DATA),
    "changed nothing": (denies_changes, CHANGED_NOTHING),
    "not run": (denies_runs, NOT_RUN),
    "nothing else": (lambda text: not denies_changes(text), NOTHING_ELSE),
}
"""What is read, by what it is, with a sentence for each language."""


@pytest.mark.parametrize("language", READ)
@pytest.mark.parametrize("what", READERS)
def test_a_deed_is_read_in_every_language(what: str, language: str) -> None:
    read, said = READERS[what]
    assert read(said[language]), said[language]


@pytest.mark.parametrize(
    "text",
    [
        "Soll ich es mailen?",
        "メールを送りますか？",
        "要我发邮件吗？",
        "Non ho inviato nulla per posta.",
        "メールは送信していません。",
        "我没有发邮件。",
        "Ich habe nichts verschickt.",
        "Je n'ai rien envoyé.",
        "No he enviado nada.",
        "Não enviei nada.",
        "我添加了一个发送邮件的组件。",
        "メールを送信するコンポーネントを追加しました。",
    ],
)
def test_what_is_asked_denied_or_done_by_a_component_is_no_deed_in_any_language(text: str) -> None:
    assert list(outside_deeds(text)) == []
