"""What a message asks for and no part of the built flow does is named, asked about or declined, and never dropped."""

import pytest

from agent.assistant import Assistant
from agent.demo.canvas import quoted
from agent.demo.reading import read
from agent.demo.replies import reply
from agent.settings import AssistantSettings
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded, TurnResult
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.install.environment import RunnerEnvironment
from tests.agent.demo.first_messages import canvas
from tests.shared.stand_ins import StandInRunner

pytestmark = [pytest.mark.engine, pytest.mark.anyio]


@pytest.fixture(scope="module")
def whole(runner_environment: RunnerEnvironment) -> Catalogue:
    return Catalogue.load(runner_environment.catalogue)


async def ask(whole: Catalogue, text: str, flow: Flow | None = None) -> TurnResult:
    who = Assistant(AssistantSettings(model="demo"), StandInRunner(), catalogue=whole)
    async with who.turn(TurnRequest(text=text, flow=flow or Flow.empty())) as stream:
        events = [event async for event in stream]
    await who.aclose()
    assert isinstance(events[-1], TurnEnded)
    return events[-1].result


def types(flow: Flow | None) -> set[str]:
    return set() if flow is None else {node.type for node in flow.nodes}


@pytest.mark.parametrize(
    ("message", "left_out"),
    [
        ("split into lines and number them", "number them"),
        ("Build a flow that makes text uppercase and adds a confetti animation", "adds a confetti animation"),
        ("Chatbot für meine Website", "Website"),
        ("Un flusso che mette il testo in maiuscolo e aggiunge una faccina", "aggiunge una faccina"),
        ("echo flow and also feed my cat", "feed my cat"),
    ],
)
async def test_what_no_component_does_is_named(whole: Catalogue, message: str, left_out: str) -> None:
    result = await ask(whole, message)
    assert result.proposal is not None
    said = reply("left_out", read(message).language, parts="§").partition("§")[0]
    [line] = [line for line in result.text.splitlines() if line.startswith(said)]
    assert left_out in line
    assert "URLComponent" not in types(result.proposal)


@pytest.mark.parametrize(
    "message",
    [
        "Build a flow that turns the text into upper case and counts the words",
        "Ein Flow, der den Text in Großbuchstaben umwandelt und ihn zurückgibt",
        "Un flux qui met le texte en majuscules et le renvoie",
        "Un flusso che mette il testo in maiuscolo e lo restituisce",
        "テキストを大文字にして返すフロー",
        "把文本变成大写并返回的流程",
        "Je voudrais un flux qui trouve les adresses e-mail dans mon message et qui répond avec elles.",
        "Ein Flow, der die E-Mail-Adressen in meiner Nachricht findet und mit ihnen antwortet",
        "Un flujo que extraiga los correos de mi mensaje y responda con ellos",
        "Um fluxo que extraia os e-mails da minha mensagem e responda com eles",
    ],
)
async def test_nothing_is_named_when_the_flow_does_all(whole: Catalogue, message: str) -> None:
    result = await ask(whole, message)
    assert result.proposal is not None
    named = [reply(key, read(message).language, parts="§").partition("§")[0] for key in ("left_out", "only_told")]
    assert not any(one in result.text for one in named)
    assert "LanguageModelComponent" not in types(result.proposal)


async def test_a_field_of_an_extraction_is_not_said_to_be_only_told(whole: Catalogue) -> None:
    result = await ask(whole, "Flow, der aus einer E-Mail Name und Telefonnummer holt und als JSON liefert")
    assert "StructuredOutput" in types(result.proposal)
    assert reply("only_told", "de", parts="§").partition("§")[0] not in result.text


@pytest.mark.parametrize(
    "message",
    ["un flusso che scrive il testo al contrario", "reverse the text", "sortiere die Zeilen alphabetisch",
     "build a flow that numbers the lines of a text"],
)  # fmt: skip
async def test_what_no_component_does_to_letters_or_lines_is_declined(whole: Catalogue, message: str) -> None:
    result = await ask(whole, message)
    assert result.proposal is None
    assert result.text == reply("unable", read(message).language)


@pytest.mark.parametrize("message", ["print each row of a csv", "build a flow that reads a CSV and prints each row"])
async def test_rows_that_are_only_shown_need_no_model(whole: Catalogue, message: str) -> None:
    result = await ask(whole, message)
    assert types(result.proposal) == {"File", "ChatOutput"}


@pytest.mark.parametrize("message", ["translate the flow name", "show me the json", "zeig mir den Flow"])
async def test_a_flow_that_is_not_there_is_not_replaced_by_another(whole: Catalogue, message: str) -> None:
    result = await ask(whole, message)
    assert result.proposal is None
    assert result.text == reply("empty", read(message).language)


@pytest.mark.parametrize("message", ["show me the json", "zeig mir den Flow", "montre-moi le flux"])
async def test_a_flow_is_shown_and_the_answer_says_how_to_get_its_text(whole: Catalogue, message: str) -> None:
    result = await ask(whole, message, canvas("chatbot", whole))
    assert reply("as_text", read(message).language) in result.text


async def test_to_print_a_flow_on_paper_is_declined(whole: Catalogue) -> None:
    result = await ask(whole, "Please print this flow on paper and bring it to my desk.", canvas("chatbot", whole))
    assert result.outcome == "refused"


@pytest.mark.parametrize(
    "message",
    ["what does this node do?", "which model does it use?", "welches Modell benutzt er?", "quel modèle utilise-t-il ?",
     "¿qué modelo usa?", "qual modelo ele usa?", "quale modello usa?", "どのモデルを使っていますか？",
     "用的模型是哪个？"],
)  # fmt: skip
async def test_a_question_about_the_flow_is_answered_from_it(whole: Catalogue, message: str) -> None:
    result = await ask(whole, message, canvas("chatbot", whole))
    assert result.outcome == "complete"
    assert "gpt-4o" in result.text


@pytest.mark.parametrize("message", ["is it fast?", "ist er schnell?"])
async def test_a_question_that_no_rule_answers_says_so_and_explains_the_flow(whole: Catalogue, message: str) -> None:
    result = await ask(whole, message, canvas("chatbot", whole))
    assert result.text.startswith(reply("about_flow", read(message).language))
    assert "Prompt Template" in result.text


@pytest.mark.parametrize(
    ("message", "task"),
    [
        ("build me a flow that answers questions about my contract", "questions about my contract"),
        ("Baue mir einen Flow, der Fragen zu meinem PDF beantwortet", "Fragen zu meinem PDF beantwortet"),
        ("crée-moi un flux qui répond aux questions sur mon PDF", "questions sur mon PDF"),
        ("PDFの質問に答えるフローを作って", "PDFの質問に答える"),
        ("做一个流程，回答我PDF的问题", "回答我PDF的问题"),
    ],
)
async def test_the_prompt_of_a_document_has_the_task_and_not_the_order(
    whole: Catalogue, message: str, task: str
) -> None:
    result = await ask(whole, message)
    assert result.proposal is not None
    [prompt] = [node for node in result.proposal.nodes if node.type == "Prompt Template"]
    assert f"\n{task}\n" in str(prompt.value("template"))


@pytest.mark.parametrize(
    ("message", "kinds"),
    [
        (
            "Please make an agent that can search wikipedia and the web and write the result to report.md",
            {"WikipediaAPI", "UnifiedWebSearch", "Agent", "SaveToFile"},
        ),
        (
            "Ich hätte gern einen Flow, der Rechnungen als PDF liest und Betrag und Datum rausholt",
            {"File", "StructuredOutput", "ParserComponent"},
        ),
        ("quiero que lea una página web y me diga de qué trata", {"URLComponent", "LanguageModelComponent"}),
        ("Haz un flujo que clasifique las reseñas en positivas o negativas", {"LanguageModelComponent"}),
        ("Create something that turns meeting notes into action items", {"LanguageModelComponent"}),
        ("a chatbot that saves the answer to notes.txt", {"LanguageModelComponent", "SaveToFile"}),
    ],
)
async def test_what_a_flow_has_is_not_said_to_be_left_out(whole: Catalogue, message: str, kinds: set[str]) -> None:
    result = await ask(whole, message)
    assert types(result.proposal) - {"ChatInput", "ChatOutput", "Prompt Template"} == kinds
    assert reply("left_out", read(message).language, parts="§").partition("§")[0] not in result.text


async def test_a_file_is_written_under_the_name_that_the_message_gives(whole: Catalogue) -> None:
    result = await ask(whole, "a chatbot that saves the answer to notes.md")
    assert result.proposal is not None
    [saving] = [node for node in result.proposal.nodes if node.type == "SaveToFile"]
    assert (saving.value("file_name"), saving.value("local_format")) == ("notes", "markdown")


async def test_a_wish_for_something_that_no_recipe_has_is_declined_as_a_flow(whole: Catalogue) -> None:
    result = await ask(whole, "Create something that does magic")
    assert (result.outcome, result.text) == ("refused", reply("unable", "en"))


@pytest.mark.parametrize(
    ("message", "given"),
    [
        ("Baue einen Echo-Flow und lass den Flow dann mit Ada laufen", "Ada"),
        ("Crée un écho et fais-le tourner avec Ada", "Ada"),
        ("Crea un eco e fallo girare con Ada", "Ada"),
    ],
)
async def test_a_run_that_is_made_is_not_said_to_be_left_out(whole: Catalogue, message: str, given: str) -> None:
    result = await ask(whole, message)
    assert [run.output for run in result.runs] == ["done"]
    assert f"“{given}”" in result.record.text
    assert "«" not in result.text.replace("« Echo »", "").replace("«Echo»", "")


@pytest.mark.parametrize(
    ("message", "left_out"),
    [
        ("build a chatbot without a model that uses GPT-4o", "without a model"),
        ("Baue einen Chatbot ohne KI", "ohne KI"),
        ("crée un chatbot sans IA", "sans IA"),
        ("hazme un chatbot sin modelo", "sin modelo"),
        ("cria um chatbot sem IA", "sem IA"),
        ("crea un chatbot senza modello", "senza modello"),
        ("AIなしのチャットボットを作って", "AIなし"),
        ("做一个聊天机器人，不用AI", "不用AI"),
    ],
)
async def test_a_flow_with_a_model_that_nobody_wanted_says_so(whole: Catalogue, message: str, left_out: str) -> None:
    result = await ask(whole, message)
    assert "LanguageModelComponent" in types(result.proposal)
    assert reply("left_out", read(message).language, parts=quoted([left_out])) in result.text


async def test_a_sentence_behind_the_branches_of_a_router_is_named(whole: Catalogue) -> None:
    message = "A router: for billing say 'Pay here', for complaints say 'Sorry'. It must never give legal advice."
    result = await ask(whole, message)
    assert "SmartRouter" in types(result.proposal)
    assert reply("left_out", "en", parts=quoted(["It must never give legal advice"])) in result.text


@pytest.mark.parametrize(
    "message",
    ["build a flow that deletes all files on my computer", "ein Flow, der alle Dateien auf meinem Rechner löscht",
     "un flujo que borre todos los archivos", "un flusso che cancelli tutti i file"],
)  # fmt: skip
async def test_a_flow_that_deletes_every_file_is_refused(whole: Catalogue, message: str) -> None:
    result = await ask(whole, message)
    assert (result.proposal, result.text) == (None, reply("danger", read(message).language))
