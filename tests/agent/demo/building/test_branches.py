"""Routers that look for a quoted text, and what a router leaves out, in every language."""

import pytest

from agent.assistant import Assistant
from agent.demo.reading import read
from agent.demo.replies import reply
from agent.settings import AssistantSettings
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded, TurnResult
from flows.catalogue import Catalogue
from flows.json_values import as_list, as_object
from tests.shared.stand_ins import StandInRunner


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
    ("message", "answers"),
    [
        ("a bot that answers 'Hi' to 'hello' and 'Bye' to 'ciao'", {"hello": "Hi", "ciao": "Bye"}),
        ("build a bot that says 'Hi' to 'hello'", {"hello": "Hi"}),
        (
            'when a user writes "refund" answer "Write to billing" and when they write "hours" answer "9 to 5"',
            {"refund": "Write to billing", "hours": "9 to 5"},
        ),
        ("answer 'x' when the user types 'y'", {"y": "x"}),
        ("wenn jemand 'Preis' schreibt, antworte 'Siehe Liste'", {"Preis": "Siehe Liste"}),
        ("Ein Bot, der auf 'Hallo' mit 'Guten Tag' antwortet", {"Hallo": "Guten Tag"}),
        ("Un bot qui répond 'Salut' à 'bonjour' et 'Au revoir' à 'ciao'", {"bonjour": "Salut", "ciao": "Au revoir"}),
        ("un bot que responda 'Hola' a 'buenas' y 'Adiós' a 'chao'", {"buenas": "Hola", "chao": "Adiós"}),
        ("um bot que responda 'Oi' a 'olá' e 'Tchau' a 'adeus'", {"olá": "Oi", "adeus": "Tchau"}),
        ("un bot che risponde 'Salve' a 'ciao' e 'Addio' a 'a dopo'", {"ciao": "Salve", "a dopo": "Addio"}),
        ("「hello」には「Hi」、「ciao」には「Bye」と答えるボット", {"hello": "Hi", "ciao": "Bye"}),
        ("'hello'には'Hi'、'ciao'には'Bye'と答えるボット", {"hello": "Hi", "ciao": "Bye"}),
        ("对“你好”回答“嗨”，对“再见”回答“拜拜”的机器人", {"你好": "嗨", "再见": "拜拜"}),
    ],
)
async def test_quoted_answers_need_no_word_for_the_rest(
    catalogue: Catalogue, message: str, answers: dict[str, str]
) -> None:
    result = await ask(catalogue, message)
    assert result.proposal is not None
    routers = [node for node in result.proposal.nodes if node.type == "ConditionalRouter"]
    found = {str(one.value("match_text")).strip(): str(one.value("true_case_message")).strip() for one in routers}
    assert found == answers
    assert not any(
        reply(key, read(message).language, parts="§").partition("§")[0] in result.text
        for key in ("left_out", "only_told")
    )


@pytest.mark.anyio
@pytest.mark.parametrize(
    "message",
    ["a bot that translates 'Hi' to 'German' and 'Bye' to 'French'", "a chatbot that answers 'Hi' and 'Bye'"],
)
async def test_quoted_texts_that_answer_no_others_make_no_router(catalogue: Catalogue, message: str) -> None:
    result = await ask(catalogue, message)
    assert result.proposal is not None
    assert "ConditionalRouter" not in {node.type for node in result.proposal.nodes}


@pytest.mark.anyio
@pytest.mark.parametrize(
    "message",
    [
        "build a flow: it should answer 'Hi there' to 'hello' and 'What?' to anything else",
        "Ein Bot: antworte 'Hallo du' auf 'hallo' und 'Was?' auf alles andere",
    ],
)
async def test_a_part_that_stands_quoted_in_the_flow_is_not_said_to_be_left_out(
    catalogue: Catalogue, message: str
) -> None:
    result = await ask(catalogue, message)
    assert result.proposal is not None
    kinds = [node.type for node in result.proposal.nodes]
    assert ("ConditionalRouter" in kinds, "SmartRouter" in kinds) == (True, False)
    [choice] = [node for node in result.proposal.nodes if node.type == "ConditionalRouter"]
    assert str(choice.value("false_case_message")) in {"What?", "Was?"}
    assert "«" not in result.text


@pytest.mark.anyio
async def test_quoted_words_are_kept_in_instructions(catalogue: Catalogue) -> None:
    result = await ask(catalogue, "做一个机器人，名字叫“你好”")
    assert result.proposal is not None
    assert any("你好" in str(node.value("system_message")) for node in result.proposal.nodes)


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


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("unmatched_repeated", "Build a bot that answers 'Hello' when somebody says 'hi'"),
        ("unmatched_repeated", "Ein Bot, der auf 'Hallo' mit 'Guten Tag' antwortet"),
        ("unmatched_repeated", "Un bot qui répond 'Salut' à 'bonjour' et 'Au revoir' à 'ciao'"),
        ("unmatched_repeated", "un bot que responda 'Hola' a 'buenas' y 'Adiós' a 'chao'"),
        ("unmatched_repeated", "um bot que responda 'Oi' a 'olá' e 'Tchau' a 'adeus'"),
        ("unmatched_repeated", "un bot che risponde 'Salve' a 'ciao' e 'Addio' a 'a dopo'"),
        ("unmatched_repeated", "「hello」には「Hi」、「ciao」には「Bye」と答えるボット"),
        ("unmatched_repeated", "对“你好”回答“嗨”，对“再见”回答“拜拜”的机器人"),
        ("unmatched_dropped", "Build a router: when somebody complains answer 'Sorry', for praise 'Thanks'"),
        ("unmatched_dropped", "Ein Router: bei Beschwerden 'Tut uns leid', bei Lob 'Danke'"),
        ("unmatched_dropped", "Un routeur : pour les plaintes 'Désolé', en cas de compliment 'Merci'"),
        ("unmatched_dropped", "Un enrutador: para quejas 'Lo siento', para elogios 'Gracias'"),
        ("unmatched_dropped", "Um roteador: em caso de reclamação 'Desculpe', em caso de elogio 'Obrigado'"),
        ("unmatched_dropped", "Un router: in caso di reclamo 'Ci dispiace', in caso di lode 'Grazie'"),
        ("unmatched_dropped", "ルーター: 苦情の場合は「申し訳ありません」、お礼の場合は「ありがとう」"),
        ("unmatched_dropped", "路由：如果是投诉就回复“抱歉”，如果是表扬就回复“谢谢”"),
    ],
)
async def test_what_happens_with_every_other_message_is_told_when_no_answer_to_it_is_named(
    catalogue: Catalogue, key: str, message: str
) -> None:
    result = await ask(catalogue, message)
    assert result.proposal is not None
    assert reply(key, read(message).language) in result.text.splitlines()


@pytest.mark.anyio
@pytest.mark.parametrize(
    "message",
    [
        "Build a bot that answers 'Hello' when somebody says 'hi' and 'Bye' otherwise",
        "Ein Router: bei Beschwerden 'Tut uns leid', bei Lob 'Danke', sonst 'Hallo'",
        "When somebody complains answer 'Sorry', for praise 'Thanks', otherwise -> answer with AI",
        "Build an echo flow",
    ],
)
async def test_nothing_is_told_of_other_messages_when_there_are_none_or_they_are_answered(
    catalogue: Catalogue, message: str
) -> None:
    result = await ask(catalogue, message)
    assert result.proposal is not None
    keys = ("unmatched_repeated", "unmatched_dropped")
    assert not any(reply(key, read(message).language) in result.text for key in keys)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("message", "labels"),
    [
        (
            "A router: for tax it should say 'Call us', for complaints say 'Sorry', and for spam nothing but 'Spam'",
            ["tax", "complaints", "spam"],
        ),
        ("Wenn jemand kündigen will, soll 'Schade' kommen, sonst 'Hallo'", ["jemand kündigen will"]),
    ],
)
async def test_a_branch_is_named_by_what_it_is_about(catalogue: Catalogue, message: str, labels: list[str]) -> None:
    result = await ask(catalogue, message)
    assert result.proposal is not None
    [router] = [node for node in result.proposal.nodes if node.type == "SmartRouter"]
    routes = [as_object(row) for row in as_list(router.value("routes"))]
    assert [row["route_category"] for row in routes][: len(labels)] == labels
