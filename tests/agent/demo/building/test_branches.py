"""Routers that look for a quoted text, and what a router leaves out, in every language."""

import pytest

from agent.assistant import Assistant
from agent.settings import AssistantSettings
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded, TurnResult
from flows.catalogue import Catalogue
from tests.stand_ins import StandInRunner


async def ask(catalogue: Catalogue, text: str) -> TurnResult:
    who = Assistant(AssistantSettings(model="demo"), StandInRunner(), catalogue=catalogue)
    async with who.turn(TurnRequest(text=text)) as stream:
        events = [event async for event in stream]
    await who.aclose()
    assert isinstance(events[-1], TurnEnded)
    return events[-1].result


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("message", "looks_for", "then", "otherwise"),
    [
        ("Ein Flow, der bei 'Hallo' mit 'Guten Tag' antwortet und sonst mit 'Ade'", "Hallo", "Guten Tag", "Ade"),
        ("Un flux qui répond 'Bonjour' si on dit 'salut', sinon 'au revoir'", "salut", "Bonjour", "au revoir"),
        ("Bot que responde 'Buenas' cuando alguien dice 'hola' y si no 'Adiós'", "hola", "Buenas", "Adiós"),
        ("Um bot que responde 'Olá' quando alguém diz 'oi', senão 'tchau'", "oi", "Olá", "tchau"),
        ("Un bot che risponde 'Salve' quando uno dice 'ciao', altrimenti 'Addio'", "ciao", "Salve", "Addio"),
        (
            "「こんにちは」と言われたら「やあ」、それ以外は「さようなら」と返すボット",
            "こんにちは",
            "やあ",
            "さようなら",
        ),
        ("如果用户说“你好”就回答“您好”，否则回答“再见”", "你好", "您好", "再见"),
        ("Build a bot that answers 'Hello' when somebody says 'hi' and 'Bye' otherwise", "hi", "Hello", "Bye"),
        ("It should answer 'Hi there' to 'hello' and 'What?' to anything else", "hello", "Hi there", "What?"),
        ("Build a flow that replies 'Hi there' to 'hello', otherwise 'What?'", "hello", "Hi there", "What?"),
        ("Ein Flow, der auf 'hallo' mit 'Tag' antwortet und auf alles andere mit 'Wie?'", "hallo", "Tag", "Wie?"),
        ("Crée un flux qui répond 'Salut' à 'bonjour' et 'Quoi ?' à tout le reste", "bonjour", "Salut", "Quoi ?"),
        ("Crea un flujo que responda 'Hola' a 'buenas' y '¿Qué?' a todo lo demás", "buenas", "Hola", "¿Qué?"),
        ("Crie um fluxo que responda 'Oi' a 'olá' e 'O quê?' a todo o resto", "olá", "Oi", "O quê?"),
        ("Crea un flusso che risponde 'Salve' a 'ciao' e 'Cosa?' a tutto il resto", "ciao", "Salve", "Cosa?"),
        ("「こんにちは」には「やあ」、それ以外には「何？」と答えるフローを作って", "こんにちは", "やあ", "何？"),
        ("做一个流程：对“你好”回答“嗨”，其他回答“什么？”", "你好", "嗨", "什么？"),
    ],
)
async def test_a_quoted_condition_is_looked_for_and_never_a_meaning(
    catalogue: Catalogue, message: str, looks_for: str, then: str, otherwise: str
) -> None:
    result = await ask(catalogue, message)
    assert result.proposal is not None
    assert "SmartRouter" not in {node.type for node in result.proposal.nodes}
    (router,) = (node for node in result.proposal.nodes if node.type == "ConditionalRouter")
    assert str(router.value("match_text")).strip() == looks_for
    assert str(router.value("true_case_message")).strip() == then
    assert str(router.value("false_case_message")).strip() == otherwise


@pytest.mark.anyio
@pytest.mark.parametrize(
    "message",
    [
        "When somebody complains answer 'Sorry', for praise 'Thanks', otherwise 'Hi'",
        "Ein Router: bei Beschwerden 'Tut uns leid', bei Lob 'Danke', sonst 'Hallo'",
    ],
)
async def test_branches_by_meaning_stay_branches_by_meaning(catalogue: Catalogue, message: str) -> None:
    result = await ask(catalogue, message)
    assert result.proposal is not None
    assert "SmartRouter" in {node.type for node in result.proposal.nodes}


@pytest.mark.anyio
async def test_a_router_says_what_else_it_was_asked_for_and_leaves_out(catalogue: Catalogue) -> None:
    result = await ask(
        catalogue, "Build a chatbot with a database; when somebody complains answer 'Sorry', otherwise 'Hi'"
    )
    assert "left this out" in result.text
    assert "database" in result.text
