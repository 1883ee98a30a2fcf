"""What the demo planner builds from a sentence does what the sentence says, on the real engine."""

import re

import pytest

from agent.demo.building.builds import Build, flow_for, with_file
from agent.demo.exact.language import take_apart
from agent.demo.reading import read
from flows.catalogue import Catalogue
from flows.checks import check
from flows.document import Flow
from flows.spec import build
from flows.templates import template
from runtime.install.environment import RunnerEnvironment
from runtime.runner import Runner

WORK = [
    ("Build a flow that echoes what I say", [("hello", "hello")]),
    ("Build a flow that converts my text to uppercase", [("hello You", "HELLO YOU")]),
    ("make a flow that takes the text, makes it lowercase and replaces 'cat' with 'dog'", [("A CAT", "a dog")]),
    ("Build a flow that answers 'Meow' if the message contains 'cat' and 'Woof' otherwise",
     [("a cat", "Meow"), ("a dog", "Woof")]),
    ("Build a router: if it starts with 'hello' say 'Hi there', if it contains 'bye' say 'See you', else say 'What?'",
     [("hello you", "Hi there"), ("ok, bye", "See you"), ("hm", "What?")]),
    ("Build a flow: if the number is greater than 10 say 'big' else 'small'", [("11", "big"), ("9", "small")]),
    ("Create a bot that says 'You said {text}' when the input starts with 'a', else 'no'",
     [("ab", "You said ab"), ("b", "no")]),
    ("build me a calculator flow", [("2+3*4", "14")]),
    ("I need a flow that splits a comma separated list into lines", [("a,b,c", "- a\n- b\n- c")]),
    ("make a pipeline that extracts all emails and joins them with 'Found:' in front",
     [("x a@b.org y", "Found: a@b.org")]),
    ("Build a flow that prefixes the text with 'Dear customer,' and ends it with 'Bye.'",
     [("hi", "Dear customer, hi Bye.")]),
    ("Build a flow that takes JSON and says '{name} is {age}'", [('{"name": "Ada", "age": 36}', "Ada is 36")]),
    ("Build a flow that counts the words", [("one two three", "3 words")]),
    ("Build a flow that counts characters", [("four", "4 characters")]),
    ("Build a flow that trims the text and keeps the first 3 characters", [("  abcdef ", "abc")]),
    ("Can you make me an app that finds hashtags in a post?", [("I like #cats", "#cats")]),
    ("Crie um fluxo que converte o texto para maiúsculas", [("olá", "OLÁ")]),
    ("Crea un flujo que responda 'Miau' si el mensaje contiene 'gato' y 'Guau' en caso contrario",
     [("un gato", "Miau"), ("un perro", "Guau")]),
    ("Baue einen Flow, der den Text in Großbuchstaben umwandelt", [("hallo", "HALLO")]),
    ("Baue einen Flow, der 'Miau' antwortet, wenn die Nachricht 'Katze' enthält, sonst 'Wuff'",
     [("eine Katze", "Miau"), ("ein Hund", "Wuff")]),
    ("Crée un flux qui répond 'Miaou' si le message contient 'chat', sinon 'Ouaf'",
     [("un chat", "Miaou"), ("un chien", "Ouaf")]),
    ("Crée un flux qui compte les mots", [("un deux", "2 words")]),
]  # fmt: skip

MODELS = [
    ("Build a flow that summarizes text with gpt-4o", {"LanguageModelComponent", "Prompt Template"}, "openai:gpt-4o"),
    ("Build something that translates text to French with claude-3-5-sonnet", {"LanguageModelComponent"}, "anthropic"),
    ("Build an agent with a calculator and web tools", {"Agent", "CalculatorComponent", "URLComponent"}, "openai:"),
    ("Build a chatbot with memory", {"Memory", "LanguageModelComponent", "Prompt Template"}, "openai:"),
    ("Crie um fluxo que resume o texto com gpt-4o", {"LanguageModelComponent"}, "openai:gpt-4o"),
    ("Build a flow that reads a web page", {"URLComponent"}, ""),
    ("Build a flow that reads a PDF file", {"File", "ChatOutput"}, ""),
    (
        "Make a flow that calls the API 'https://example.com/x' and shows the answer",
        {"APIRequest"},
        "https://example.com/x",
    ),
]


@pytest.fixture(scope="module")
def whole(runner_environment: RunnerEnvironment) -> Catalogue:
    return Catalogue.load(runner_environment.catalogue)


def planned(message: str) -> Build:
    found = flow_for(take_apart(message), read(message))
    assert found is not None
    return found


def built(message: str, catalogue: Catalogue) -> Flow:
    result = build(planned(message).spec, catalogue)
    assert result.flow is not None, result.faults
    assert [fault for fault in check(result.flow, catalogue) if fault.is_error] == []
    return result.flow


@pytest.mark.table
@pytest.mark.engine
@pytest.mark.anyio
@pytest.mark.parametrize(("message", "examples"), WORK, ids=[message[:60] for message, _ in WORK])
async def test_a_sentence_becomes_a_flow_that_does_it(
    message: str, examples: list[tuple[str, str]], whole: Catalogue, engine: Runner
) -> None:
    flow = built(message, whole)
    for text, output in examples:
        result = await engine.run(flow, text)
        assert (result.output, result.error) == (output, None)


@pytest.mark.engine
@pytest.mark.parametrize(("message", "types", "named"), MODELS, ids=[message[:60] for message, _, _ in MODELS])
def test_a_flow_that_needs_more_than_the_engine_is_built_whole(
    message: str, types: set[str], named: str, whole: Catalogue
) -> None:
    flow = built(message, whole)
    assert types <= {node.type for node in flow.nodes}
    assert named in (planned(message).spec)


def test_a_part_that_no_rule_covers_is_named_and_not_dropped_in_silence() -> None:
    message = "Build a flow that makes the text uppercase, then sends the orbit to Jupiter"
    assert [*planned(message).missing, *read(message).unrecognised_parts]


@pytest.mark.parametrize(
    "message", ["Build a flow that launches rockets into orbit", "make something that dances", "make me a website"]
)
def test_nothing_is_invented_when_no_rule_covers_a_request(message: str) -> None:
    assert flow_for(take_apart(message), read(message)) is None


@pytest.mark.engine
@pytest.mark.parametrize(
    "message",
    [
        "Build a router: praise -> 'Thank you!', complaints -> 'We are sorry', questions -> answer with AI",
        "Build a router: questions -> answer with AI, praise -> 'Thank you!', complaints -> 'We are sorry'",
        "用户说想退款就回“请提供订单号”，说要投诉就回“已转接专员”，其他的正常聊天",
    ],
)
def test_a_branch_without_a_text_of_its_own_leads_to_a_model(
    message: str, runner_environment: RunnerEnvironment
) -> None:
    catalogue = Catalogue.load(runner_environment.catalogue)
    found = flow_for(take_apart(message), read(message))
    assert found is not None
    flow = build(found.spec, catalogue).flow
    assert flow is not None
    types = [node.type for node in flow.nodes]
    assert (types.count("ChatOutput"), types.count("LanguageModelComponent")) == (3, 1)
    assert [fault for fault in check(flow, catalogue, has_model=True) if fault.is_error] == []


@pytest.mark.parametrize(
    ("message", "named"),
    [
        ("Build a bot that transcribes voice messages and summarises them", "transcribes"),
        ("generame un dibujo de un gato y un poema sobre el", "dibujo"),
        ("做一个把语音消息总结成文字的流程", "语音"),
    ],
)
def test_images_and_voice_are_named_as_left_out(message: str, named: str) -> None:
    assert any(named in part for part in read(message).impossible_parts)


def test_a_quoted_text_is_kept_to_the_letter() -> None:
    spec = planned("Build a flow that puts 'a: b # {c} \"d\"' in front of the text, template 'x {text}'").spec
    assert "{c}" in spec
    assert "a: b #" in spec


def test_a_flow_names_the_file_that_is_attached(catalogue: Catalogue):
    flow = build(with_file(template("file-reading").spec, "plans/Übersicht 1.pdf"), catalogue).flow
    assert flow is not None
    [reads] = [node for node in flow.nodes if node.type == "File"]
    assert "plans/Übersicht 1.pdf" in str(reads.template["path"])
    assert '\nconfig:\n  document.path: "a.pdf"\n  pieces.' in with_file(template("rag").spec, "a.pdf")
    assert with_file(template("echo").spec, "a.pdf") == template("echo").spec


@pytest.mark.parametrize(
    ("message", "method"),
    [
        ("a flow that sends the chat message to the webhook https://example.com/hook as POST", "POST"),
        ("Ein Flow, der die Nachricht an https://example.com/hook schickt", "POST"),
        ("Crea un flujo que envía el mensaje a https://example.com/hook con PUT", "PUT"),
        ("メッセージを https://example.com/hook に送信するフローを作って", "POST"),
    ],
)
def test_what_is_sent_to_an_address_is_the_message(message: str, method: str) -> None:
    spec = planned(message).spec
    assert "https://example.com/hook" in spec
    assert f"call.method: {method}" in spec
    assert "chat.message -> call_body.input_data" in spec
    assert "call_body.data_output -> call.body" in spec


def test_an_address_that_is_only_read_takes_no_message() -> None:
    spec = planned("a flow that fetches https://example.com/data.json and shows it").spec
    assert "call.method: GET" in spec
    assert "call_body" not in spec


def test_an_api_without_an_address_is_a_tool_and_its_address_is_asked_for() -> None:
    found = planned("a weather bot that uses the OpenWeather API")
    assert "agent_api.component_as_tool -> agent.tools" in found.spec
    assert "address of the API" in " ".join(found.needs)


@pytest.mark.parametrize(
    ("message", "address"),
    [
        ("Chatbot that answers questions about my database sqlite:///shop.db", "sqlite:///shop.db"),
        ("Stelle Fragen an meine Datenbank postgresql://db.example.com/shop.", "postgresql://db.example.com/shop"),
    ],
)
def test_the_address_of_a_database_is_set_and_not_asked_for(message: str, address: str) -> None:
    found = planned(message)
    assert f"sql_database.database_url: |\n    {address}\n" in found.spec
    assert found.needs
    assert not any("address" in need or "Adresse" in need for need in found.needs)


def test_an_address_with_a_password_is_not_written_into_the_flow() -> None:
    found = planned("Chatbot about my database postgresql://me:secret@db.example.com/shop")
    assert "database_url" not in found.spec
    assert any("address" in need for need in found.needs)


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("Extract the customer's name, the due date and the amount from emails as JSON",
         ["customer_name", "due_date", "amount"]),
        ("Extrahiere Name und Rechnungsbetrag als JSON", ["name", "rechnungsbetrag"]),
        ("Baue einen Flow, der aus E-Mails Name, Straße und Größe als JSON extrahiert", ["name", "strasse", "groesse"]),
        ("Extrais le nom, la date d'échéance et le montant total au format JSON",
         ["nom", "date_echeance", "montant_total"]),
        ("Extrae nombre, año y dirección como JSON", ["nombre", "anio", "direccion"]),
        ("Extraia o nome e o endereço em JSON", ["nome", "endereco"]),
        ("Estrai la città e l'importo come JSON", ["citta", "importo"]),
        ("名前と請求金額をJSONで抽出して", ["名前", "請求金額"]),
        ("请提取姓名和发票金额，输出JSON", ["姓名", "发票金额"]),
    ],
)  # fmt: skip
def test_fields_of_an_extraction_are_named_by_the_users_own_words(message: str, names: list[str]) -> None:
    built = flow_for(take_apart(message), read(message))
    assert built is not None
    assert re.findall(r'"name": "([^"]+)"', built.spec.replace('\\"', '"')) == names
