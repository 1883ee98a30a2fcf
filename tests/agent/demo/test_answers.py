"""What the demo planner makes of a message that is typed at a question of its own."""

import pytest

from agent.assistant import Assistant
from agent.demo.answers import asks_why, demo_meaning, revised
from agent.demo.replies import reply
from agent.demo.words import LANGUAGES
from flows.catalogue import Catalogue
from flows.document import Flow
from tests.shared.flow_texts import LOUDER, flow_of, node_id
from tests.shared.scripted_assistant import assistant, play
from tests.shared.stand_ins import StandInRunner

pytestmark = pytest.mark.anyio
WHISPER = "Change the prompt to 'Whisper it: {text}'"
ASKED = {
    "en": WHISPER,
    "de": "Ändere den Prompt zu 'Whisper it: {text}'",
}
WHY = {
    "en": "why?",
    "de": "warum?",
    "fr": "pourquoi ?",
    "es": "¿por qué?",
    "pt": "por quê?",
    "it": "perché?",
    "ja": "なぜですか？",
    "zh": "为什么？",
}
ANOTHER = {
    "en": "actually, build a translator",
    "de": "eigentlich, baue einen Übersetzer",
    "fr": "en fait, construis un traducteur",
    "es": "mejor construye un traductor",
    "pt": "na verdade, crie um tradutor",
    "it": "anzi, crea un traduttore",
    "ja": "やっぱり翻訳のフローを作って",
    "zh": "还是帮我做一个翻译流程",
}
SHORTER = {
    "en": "no, shorter please",
    "de": "nein, kürzer bitte",
    "fr": "non, plus court s'il te plaît",
    "es": "no, más corto por favor",
    "pt": "não, mais curto por favor",
    "it": "no, più corto per favore",
    "ja": "いいえ、もっと短くしてください",
    "zh": "不，请简短一点",
}
CONTINUE = {
    "en": "go on",
    "de": "weiter",
    "fr": "continuez",
    "es": "sigue",
    "pt": "prossiga",
    "it": "vai avanti",
    "ja": "続けて",
    "zh": "继续",
}


@pytest.fixture
def canvas(catalogue: Catalogue) -> Flow:
    return flow_of(LOUDER, catalogue)


def prompt_of(flow: Flow) -> object:
    node = flow.node(node_id(flow, "Prompt Template"))
    assert node is not None
    return node.value("template")


async def waiting(catalogue: Catalogue, canvas: Flow, asked: str = WHISPER) -> Assistant:
    """An assistant that waits for whether to change the prompt."""
    who = assistant(catalogue, runner=StandInRunner())
    assert (await play(who, asked, canvas)).outcome == "pending"
    return who


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_why_is_answered_and_the_question_goes_on_waiting(
    catalogue: Catalogue, canvas: Flow, language: str
) -> None:
    who = await waiting(catalogue, canvas)
    why = await play(who, WHY[language], canvas, replying=True)
    assert (why.outcome, len(why.approvals), why.after) == ("pending", 1, canvas)
    assert why.text.startswith(reply("why_edit", language))
    assert prompt_of((await play(who, "y", canvas)).after) == "Whisper it: {text}"


@pytest.mark.parametrize("language", LANGUAGES)
async def test_another_request_is_carried_out_and_the_question_is_put_aside(
    catalogue: Catalogue, canvas: Flow, language: str
) -> None:
    who = await waiting(catalogue, canvas)
    result = await play(who, ANOTHER[language], canvas, replying=True)
    assert [one.kind for one in result.withdrawn.values()] == ["edit"]
    assert result.proposal is not None, result.text
    assert result.after == canvas


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_wish_that_cannot_be_met_is_said_to_be_so(catalogue: Catalogue, canvas: Flow, language: str) -> None:
    who = await waiting(catalogue, canvas)
    result = await play(who, SHORTER[language], canvas, replying=True)
    assert (result.outcome, result.approvals, result.after) == ("refused", {}, canvas)
    assert result.text == reply("cannot_wish", "en", said=SHORTER[language])


async def test_a_text_that_is_written_out_is_put_in_place_of_the_proposed_one(
    catalogue: Catalogue, canvas: Flow
) -> None:
    who = await waiting(catalogue, canvas)
    result = await play(who, "no, 'Shout it: {text}'", canvas, replying=True)
    assert (result.outcome, prompt_of(result.after)) == ("complete", "Shout it: {text}")


async def test_a_yes_that_asks_for_a_run_changes_and_runs(catalogue: Catalogue, canvas: Flow) -> None:
    who = await waiting(catalogue, canvas)
    result = await play(who, "yes, and run it with hello", canvas, replying=True)
    assert (prompt_of(result.after), len(result.runs)) == ("Whisper it: {text}", 1)


@pytest.mark.parametrize("text", ["hmm maybe", "yes, the second one", "the bot belongs to my colleague"])
async def test_what_decides_nothing_leaves_the_question_open(catalogue: Catalogue, canvas: Flow, text: str) -> None:
    who = await waiting(catalogue, canvas)
    result = await play(who, text, canvas, replying=True)
    assert (result.outcome, len(result.approvals), result.after) == ("pending", 1, canvas)
    assert "whether that is a yes or a no" in result.text


async def test_a_no_with_a_reason_is_a_no(catalogue: Catalogue, canvas: Flow) -> None:
    who = await waiting(catalogue, canvas)
    result = await play(who, "no, the bot belongs to my colleague", canvas, replying=True)
    assert (result.outcome, result.text, result.withdrawn) == ("complete", reply("denied", "en"), {})


@pytest.mark.parametrize("text", ["What is 12*7?", "tell me a joke", "what does the Prompt Template do?", "hello"])
async def test_what_is_beside_the_point_is_answered_and_the_question_goes_on_waiting(
    catalogue: Catalogue, canvas: Flow, text: str
) -> None:
    who = await waiting(catalogue, canvas)
    result = await play(who, text, canvas, replying=True)
    assert (result.outcome, len(result.approvals), result.withdrawn) == ("pending", 1, {})
    assert prompt_of((await play(who, "go on", canvas)).after) == "Whisper it: {text}"


@pytest.mark.parametrize("language", LANGUAGES)
async def test_to_go_on_is_a_yes_where_something_waits(catalogue: Catalogue, canvas: Flow, language: str) -> None:
    who = await waiting(catalogue, canvas)
    assert prompt_of((await play(who, CONTINUE[language], canvas)).after) == "Whisper it: {text}"


@pytest.mark.parametrize("language", LANGUAGES)
async def test_to_go_on_where_nothing_waits_says_so_in_its_language(catalogue: Catalogue, language: str) -> None:
    result = await play(assistant(catalogue), CONTINUE[language])
    assert (result.outcome, result.text) == ("refused", reply("nothing_to_continue", language))


async def test_a_bare_yes_keeps_the_language_of_the_conversation(catalogue: Catalogue, canvas: Flow) -> None:
    for language, asked in ASKED.items():
        who = await waiting(catalogue, canvas, asked)
        assert (await play(who, "n", canvas)).text == reply("denied", language)
        for text in ("y", "ok", "oui"):
            assert (await play(who, text, canvas)).text == reply("nothing_waits", language)


async def test_a_why_at_an_offer_is_answered_and_a_yes_still_places_it(catalogue: Catalogue) -> None:
    who = assistant(catalogue, runner=StandInRunner())
    assert (await play(who, "Build an echo flow")).proposal is not None
    assert (await play(who, "why?")).text == reply("why_proposal", "en")
    placed = await play(who, "y")
    assert sorted(node.type for node in placed.after.nodes) == ["ChatInput", "ChatOutput"]


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("could you make it shorter?", "change"),
        ("ok but friendlier", "change"),
        ("yes, and build a translator", "unclear"),
        ("run it with hello", "other"),
        ("undo", "other"),
        ("explain the flow", "other"),
    ],
)
def test_the_meaning_of_an_answer(catalogue: Catalogue, canvas: Flow, text: str, meaning: str) -> None:
    assert demo_meaning(text, canvas)[0] == meaning


def test_a_question_about_a_component_is_no_why() -> None:
    assert not asks_why("why does the Chat Input component not work?")


def test_a_wish_without_a_text_of_its_own_follows_the_request() -> None:
    assert revised(WHISPER, "in German") == f"{WHISPER}\nin German"


@pytest.mark.parametrize("text", ["no, lower case instead", "nein, lieber Kleinbuchstaben", "lower case instead"])
async def test_a_no_that_names_another_step_changes_the_proposal_and_loses_nothing(
    catalogue: Catalogue, text: str
) -> None:
    who = assistant(catalogue, runner=StandInRunner())
    assert (await play(who, "Build an echo flow")).proposal is not None
    result = await play(who, text)
    assert result.proposal is not None, result.text
    assert [node.value("case_type") for node in result.proposal.nodes if node.type == "Operations"] == ["lowercase"]


async def test_a_no_with_a_reason_that_names_a_step_sets_the_proposal_aside(catalogue: Catalogue) -> None:
    who = assistant(catalogue, runner=StandInRunner())
    await play(who, "Build a flow that makes the text lower case")
    result = await play(who, "no, I hate lower case")
    assert result.proposal is None


async def test_undo_is_answered_in_the_language_of_the_conversation(catalogue: Catalogue, canvas: Flow) -> None:
    who = assistant(catalogue, runner=StandInRunner())
    await play(who, "Erkläre mir bitte diesen Flow", canvas)
    assert (await play(who, "rückgängig", canvas)).text == "Es gibt nichts zurückzunehmen."


POLITE = {
    "en": "make it polite",
    "de": "mach ihn höflich",
    "fr": "rends-le poli",
    "es": "que sea más amable",
    "pt": "deixa mais educado",
    "it": "rendilo più gentile",
    "ja": "もっと丁寧に答えて",
    "zh": "回答要礼貌一点",
}
CHATBOT = {
    "en": "build a chatbot",
    "de": "erstelle einen Chatbot",
    "fr": "crée un chatbot",
    "es": "crea un chatbot",
    "pt": "crie um chatbot",
    "it": "crea un chatbot",
    "ja": "チャットボットを作って",
    "zh": "做一个聊天机器人",
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("question_between", [False, True])
async def test_a_wish_changes_the_proposal_that_waits_on_an_empty_canvas(
    catalogue: Catalogue, language: str, question_between: bool
) -> None:
    who = assistant(catalogue, runner=StandInRunner())
    offered = await play(who, CHATBOT[language])
    assert offered.proposal is not None
    if question_between:
        await play(who, WHY[language])
    changed = await play(who, POLITE[language])
    assert changed.proposal is not None, changed.text
    [model] = [node for node in changed.proposal.nodes if node.type == "LanguageModelComponent"]
    assert POLITE[language] in str(model.value("system_message"))
    assert changed.after.is_empty


INSTEAD = {
    "en": "no, a summary instead",
    "de": "nein, lieber eine Zusammenfassung",
    "fr": "non, plutôt un résumé",
    "es": "no, mejor un resumen",
    "pt": "não, melhor um resumo",
    "it": "no, piuttosto un riassunto",
    "ja": "いいえ、代わりに要約",
    "zh": "不，而是总结",
}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_another_flow_that_is_wanted_instead_is_not_dropped_in_silence(
    catalogue: Catalogue, language: str
) -> None:
    who = assistant(catalogue, runner=StandInRunner())
    await play(who, CHATBOT[language])
    answered = await play(who, INSTEAD[language])
    assert INSTEAD[language] in answered.text
    assert answered.outcome == "refused"
    assert len((await play(who, "yes")).after.nodes) == 3


async def test_the_words_of_a_message_say_its_language_and_what_a_flow_is_run_with_does_not(
    catalogue: Catalogue,
) -> None:
    who = assistant(catalogue)
    for text, language in (
        ("lance-le avec bonjour", "fr"),
        ("run it with hi", "en"),
        ("lance-le avec 'good morning to you'", "fr"),
        ("run it with 'bonjour à tous'", "en"),
    ):
        assert (await play(who, text)).text == reply("empty", language), text
