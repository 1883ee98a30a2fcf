"""Why something could not be done: no English sentence is in an answer that is not English."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.assistant import Assistant
from agent.demo import reasons
from agent.demo.reading import read
from agent.demo.reasons import reason
from agent.demo.replies import reply
from agent.demo.words import LANGUAGES
from agent.errors import ModelChoiceError
from agent.models.flow_models import flow_models
from agent.models.providers import DEMO, choose
from agent.settings import AssistantSettings
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded, TurnResult
from flows.catalogue import Catalogue
from flows.checks import check
from flows.document import Flow
from flows.spec import build
from runtime.engine.confinement import CANNOT_FORK, Confinement
from runtime.engine.run_results import ended_without_result
from runtime.failures import error_from_chain
from runtime.gateway.models import ASSISTANT, ModelUnavailable
from runtime.install.bundles import install_hint
from runtime.results import BUSY, ENGINE_CLOSED, RunError
from tests.agent.demo.first_messages import canvas
from tests.shared.stand_ins import StandInRunner, ran
from tests.shared.yaml_files import read_yaml

OTHERS = [language for language in LANGUAGES if language != "en"]
TEMPLATES: list[dict[str, str]] = read_yaml(Path(reasons.__file__).with_suffix(".yaml"))
ENGLISH = re.compile(r"\b(?:the|there|is|are|have|needs|which|not|you|your|its|it|of|with|Install|Choose)\b")
"""Words that an English sentence has and no other language's sentence; quoted names and commands are taken out."""
NAMES = re.compile(r"`[^`]*`|'[^']*'|“[^”]*”|„[^“]*“|«[^»]*»|「[^」]*」|wirewright [\w -]+|\b[A-Z]\w+(?: [A-Z]\w+)*")
RUN = {
    "de": "führe ihn mit hallo aus",
    "fr": "lance-le avec bonjour",
    "es": "ejecútalo con hola",
    "pt": "execute-o com olá",
    "it": "eseguilo con ciao",
    "ja": "こんにちは で実行して",
    "zh": "用 你好 运行",
}
WHY = {
    "de": "warum geht es nicht?",
    "fr": "pourquoi ça ne marche pas ?",
    "es": "¿por qué no funciona?",
    "pt": "por que não funciona?",
    "it": "perché non funziona?",
    "ja": "なぜ動かないのですか？",
    "zh": "为什么不工作？",
}
REMOVE = {
    "de": "entferne 'Frobnicator'",
    "fr": "supprime 'Frobnicator'",
    "es": "elimina 'Frobnicator'",
    "pt": "remova 'Frobnicator'",
}
BUILD = {
    "de": "Baue bitte diesen Flow für mich",
    "fr": "Construis ce flux pour moi, s'il te plaît",
    "es": "Crea este flujo para mí, por favor",
    "pt": "Crie este fluxo para mim, por favor",
    "it": "Costruisci questo flusso per me, per favore",
    "ja": "このフローを作ってください",
    "zh": "请创建这个流程",
}


def assert_whole(text: str, language: str) -> None:
    """Assert that a text has no English sentence, marked or not."""
    assert reply("in_english", language, text="§").partition("§")[0] not in text
    assert ENGLISH.search(NAMES.sub(" ", text)) is None, text


async def ask(
    catalogue: Catalogue, text: str, flow: Flow | None = None, runner: StandInRunner | None = None
) -> TurnResult:
    who = Assistant(AssistantSettings(model="demo"), runner or StandInRunner(), catalogue=catalogue)
    async with who.turn(TurnRequest(text=text, flow=flow or Flow.empty(), apply="always")) as stream:
        events = [event async for event in stream]
    await who.aclose()
    assert isinstance(events[-1], TurnEnded)
    return events[-1].result


def usual_failures() -> Iterator[RunError]:
    """Errors of runs as people get them: no key, a refused key, no file, no bundle, no time, no confinement."""
    yield CANNOT_FORK
    for landlock in (0, 3):
        refusal = Confinement(landlock=landlock).refusal("required")
        assert refusal is not None
        yield refusal
    with pytest.raises(ModelChoiceError) as refused:
        choose("openai:gpt-4o", None, {})
    yield RunError(code="missing_key", message=refused.value.error.message, fix=refused.value.error.fix)
    with pytest.raises(ModelUnavailable) as missing:
        flow_models(DEMO, environment=dict[str, str]).resolve(ASSISTANT)
    yield RunError(code="missing_model", message=missing.value.message, fix=missing.value.fix)
    yield RunError(code="missing_key", message="OpenAI refused the key.", fix="Check the provider's API key.")
    files = "files are added with `wirewright files add`, `ask --file` or POST /api/v1/files."
    yield RunError(
        code="missing_input",
        message="You have no file 'a.pdf'. You have no files yet.",
        fix=f"Add one, then name it in this node; {files}",
    )
    yield RunError(
        code="missing_input",
        message="Read File has no file to read. Your files: a.txt, b.txt.",
        fix=f"Name one of them in this node; {files}",
    )
    yield RunError(
        code="missing_package",
        message="Anthropic comes with lfx-anthropic, which is not installed.",
        fix=f"{install_hint('lfx-anthropic')}.",
    )
    yield RunError(
        code="timeout",
        message="The run took longer than 30 s and was stopped.",
        fix="Give it more time, or less to do.",
    )


@pytest.mark.parametrize("number", range(len(TEMPLATES)))
def test_a_reason_is_there_in_every_language_with_no_hole_that_english_lacks(number: int) -> None:
    written = TEMPLATES[number]
    assert set(written) == set(LANGUAGES)
    holes = {language: set(re.findall(r"\{(\w+)\}", text)) for language, text in written.items()}
    assert all(own <= holes["en"] for own in holes.values())


@pytest.mark.parametrize("language", OTHERS)
def test_every_reason_that_the_rules_give_is_known(language: str) -> None:
    folder = Path(reasons.__file__).parent
    calls = [
        node.exc.args[0]
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args
        if isinstance(node.exc.func, ast.Name) and node.exc.func.id == "CannotPlan"
    ]
    texts = [text for call in calls for text in _texts(call)]
    assert len(texts) > 12
    for text in texts:
        assert_whole(reason(text, language), language)


def _texts(said: ast.expr) -> list[str]:
    """The texts that an expression may give, with `'X'` for what it fills in; none of a text that is a reply."""
    match said:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr():
            return ["".join(str(one.value) if isinstance(one, ast.Constant) else "'X'" for one in said.values)]
        case ast.IfExp():
            return [*_texts(said.body), *_texts(said.orelse)]
        case _:
            return []


@pytest.mark.anyio
@pytest.mark.parametrize("language", OTHERS)
async def test_a_failed_run_is_explained_in_the_users_language(catalogue: Catalogue, language: str) -> None:
    flow = canvas("chatbot", catalogue)
    for error in usual_failures():
        result = await ask(catalogue, RUN[language], flow, StandInRunner(results=[ran(error=error)]))
        assert reply("run_failed", language, error="§").partition("§")[0] in result.text
        assert_whole(result.text, language)


@pytest.mark.anyio
@pytest.mark.parametrize("language", OTHERS)
async def test_a_trial_run_that_failed_is_explained_in_the_users_language(catalogue: Catalogue, language: str) -> None:
    bundle = RunError(
        code="missing_package",
        message="Anthropic comes with lfx-anthropic, which is not installed.",
        fix=f"{install_hint('lfx-anthropic')}.",
    )
    spec = "nodes:\n  chat: ChatInput\n  answer: ChatOutput\nedges:\n  chat.message -> answer.input_value\n"
    runner = StandInRunner(results=[ran(error=bundle)])
    result = await ask(catalogue, f"{BUILD[language]}\n\nname: Echo\n{spec}", runner=runner)
    assert result.proposal is not None
    assert "lfx-anthropic" in result.text
    assert_whole(result.text, language)


@pytest.mark.anyio
@pytest.mark.parametrize("language", list(REMOVE))
async def test_a_component_that_is_not_there_is_named_in_the_users_language(
    catalogue: Catalogue, language: str
) -> None:
    result = await ask(catalogue, REMOVE[language], canvas("chatbot", catalogue))
    assert "Frobnicator" in result.text
    assert_whole(result.text, language)


@pytest.mark.anyio
@pytest.mark.parametrize("language", OTHERS)
async def test_an_unknown_component_is_refused_in_the_users_language(catalogue: Catalogue, language: str) -> None:
    spec = "nodes:\n  chat: ChatImput\n  answer: ChatOutput\nedges:\n  chat.message -> answer.input_value\n"
    result = await ask(catalogue, f"{BUILD[language]}\n\nname: Echo\n{spec}")
    assert result.proposal is None
    assert "ChatImput" in result.text
    assert_whole(result.text, language)


@pytest.mark.anyio
@pytest.mark.parametrize("language", OTHERS)
async def test_what_a_check_finds_is_told_in_the_users_language(catalogue: Catalogue, language: str) -> None:
    for flow in faulty(catalogue):
        faults = [fault for fault in check(flow, catalogue) if fault.is_error]
        assert faults
        result = await ask(catalogue, WHY[language], flow)
        assert_whole(result.text, language)
        assert reply("fault", language, message="§").partition("§")[0] in result.text


def faulty(catalogue: Catalogue) -> Iterator[Flow]:
    """Flows that a check refuses: an edge to nowhere, two edges into one input."""
    spec = "nodes:\n  chat: ChatInput\n  answer: ChatOutput\nedges:\n  chat.message -> answer.input_value\n"
    echo = build(spec, catalogue).flow
    assert echo is not None
    chat, answer = echo.nodes
    written = json.dumps(echo.to_json())
    for extra in (written.replace(answer.id, "Nowhere-1"), written.replace(chat.id, "ChatInput-2")):
        both, other = json.loads(written), json.loads(extra)
        both["data"]["edges"] += other["data"]["edges"]
        if "ChatInput-2" in extra:
            both["data"]["nodes"] += [one for one in other["data"]["nodes"] if one["id"] == "ChatInput-2"]
        yield Flow.from_json(both)


@pytest.mark.parametrize("language", OTHERS)
def test_what_has_no_translation_is_marked_as_english(language: str) -> None:
    said = reason("The moon is full. You have no files yet.", language)
    assert said.endswith(reply("in_english", language, text="The moon is full."))
    assert said.startswith(reason("You have no files yet.", language))


@given(st.text(max_size=300))
def test_an_english_reason_stays_as_it_is_and_any_other_text_is_kept(text: str) -> None:
    assert reason(text, "en") == text
    kept = reason(text, "de")
    assert not text.strip() or kept


def test_the_language_is_that_of_the_message() -> None:
    for table in (RUN, WHY, REMOVE):
        assert {language: read(message).language for language, message in table.items()} == {
            language: language for language in table
        }


FAILURES = {
    "busy": BUSY,
    "closed": ENGINE_CLOSED,
    "crash": ended_without_result("crash", 60),
    "timeout": ended_without_result("timeout", 60),
    "silent": error_from_chain([], None),
    "no host": error_from_chain(
        [{"type": "ConnectError", "message": "connect to host nope.example: Name or service not known"}], "A-1"
    ),
    "no network": error_from_chain(
        [{"type": "ConnectError", "message": "connect to host a.example: Temporary failure in name resolution"}], "A-1"
    ),
}
FIXES = {
    "FilesTooLarge": "too large",
    "ResultTooLarge": "too large",
    "IterationLimit": "too many",
    "MemoryError": "no memory",
    "AuthenticationError": "key",
    "ConnectError": "refused",
    "ValueError": "select a model",
    "KeyError": "'text'",
    "RuntimeError": "ssrf protection: 10.0.0.1 is blocked",
}


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("name", FAILURES)
def test_why_a_run_failed_is_said_whole_in_the_users_language(name: str, language: str) -> None:
    error = FAILURES[name]
    assert english_mark(language) not in reason(f"{error.message} {error.fix}", language)


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("kind", FIXES)
def test_the_remedy_of_a_failed_run_is_said_in_the_users_language(kind: str, language: str) -> None:
    error = error_from_chain([{"type": kind, "message": FIXES[kind]}], "A-1")
    assert english_mark(language) not in reason(error.fix, language)


def english_mark(language: str) -> str:
    """How a reply begins to tell that something is in English."""
    return reply("in_english", language, text="§").partition("§")[0]


@pytest.mark.parametrize("language", OTHERS)
def test_where_only_the_demo_is_available_no_english_says_so(language: str) -> None:
    said = reason("Provider 'openai' is not configured. Available providers: demo only.", language)
    assert "only" not in said
    assert "demo" in said
