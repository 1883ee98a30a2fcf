"""Who answers a flow's models: the model of that name behind its chain, the assistant's own, or the run's script."""

import pytest
from pydantic_ai import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo

from agent.assistant import Assistant
from agent.models.flow_models import flow_models
from agent.models.providers import PROVIDERS
from agent.models.scripted import call, scripted
from agent.settings import AssistantSettings
from agent.turn.request import TurnRequest
from agent.turn.result import TurnEnded
from flows.catalogue import Catalogue
from flows.document import Flow
from runtime.runner import Runner
from scripts.scripted_provider import Reply, ScriptedProvider
from tests.shared.flow_texts import MODEL, flow_of

pytestmark = [pytest.mark.anyio, pytest.mark.engine]

SPEC = MODEL + "config:\n  m.system_message: You are inside the flow.\n"


def made(catalogue: Catalogue, model: str) -> Flow:
    return flow_of(f"{SPEC}  m.model: {model}\n", catalogue)


@pytest.fixture
def real_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    """Real clients may be made here; what they ask is a provider of our own on loopback."""
    monkeypatch.setattr("pydantic_ai.models.ALLOW_MODEL_REQUESTS", True)


@pytest.mark.usefixtures("real_clients")
async def test_the_model_of_that_name_answers_behind_the_chain_of_its_provider(
    runner: Runner, installed_catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def script(body: dict[str, object]) -> Reply:
        asked.append(str(body["model"]))
        if asked[-1] == "not-there":
            return Reply(status=404, error={"message": "The model does not exist", "code": "model_not_found"})
        return Reply(text="from the chain")

    async with ScriptedProvider(script).serve() as url:
        monkeypatch.setenv("OLLAMA_BASE_URL", url)
        models = flow_models("ollama:something-else")
        direct = await runner.run(made(installed_catalogue, "ollama:llama3.2"), "hi", models=models)
        assert (direct.output, asked) == ("from the chain", ["llama3.2"])
        asked.clear()
        moved_on = await runner.run(made(installed_catalogue, "ollama:not-there"), "hi", models=models)
    assert (moved_on.output, asked) == ("from the chain", ["not-there", PROVIDERS["ollama"].models[0]])


@pytest.mark.usefixtures("real_clients")
async def test_a_node_may_ask_for_the_assistants_own_model(
    runner: Runner, installed_catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def script(body: dict[str, object]) -> Reply:
        asked.append(str(body["model"]))
        return Reply(text="from the assistant's")

    async with ScriptedProvider(script).serve() as url:
        monkeypatch.setenv("OLLAMA_BASE_URL", url)
        models = flow_models("ollama:llama3.2")
        result = await runner.run(made(installed_catalogue, "wirewright:assistant"), "hi", models=models)
    assert (result.error, result.output, asked) == (None, "from the assistant's", ["llama3.2"])


async def test_the_runs_own_script_answers_and_its_usage_is_the_nodes_the_runs_and_the_turns(
    runner: Runner, installed_catalogue: Catalogue
) -> None:
    spec = SPEC + "  m.model: openai:gpt-x\n"
    steps = iter([call("build_flow", 1, spec=spec), call("run_flow", 2, input="hi")])

    def plan(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if "You are inside the flow." in str(messages[0].parts):
            return ModelResponse(parts=[TextPart("pong")])
        if not info.function_tools:
            return ModelResponse(parts=[TextPart("build_flow")])
        return ModelResponse(parts=[next(steps, TextPart("Done."))])

    script = scripted(plan, "script")
    assistant = Assistant(AssistantSettings(), runner, catalogue=installed_catalogue, model=script)
    async with assistant.turn(TurnRequest(text="Build and run it.", session="usage")) as events:
        [result] = [event.result async for event in events if isinstance(event, TurnEnded)]
    assert result.outcome == "complete", result.error
    assert [run.output for run in result.runs] == ["pong"]
    [run] = result.runs
    [(node, spent)] = run.usage.items()
    assert node.startswith("LanguageModelComponent")
    assert (spent.calls, spent.total_tokens) == (run.metrics.model_calls, run.metrics.total_tokens)
    assert spent.calls == 1
    # the turn counts its run, and the verification before it
    assert result.usage["flow"].requests == 2
    assert result.usage["flow"].input_tokens == 2 * spent.input_tokens
    assert result.usage["flow"].output_tokens == 2 * spent.output_tokens
    assert result.usage["main"].requests == 3
