"""The model chain: which failures move on, and that a turn stays with who answered."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai import Agent, ModelMessage, ModelResponse, RunContext, TextPart
from pydantic_ai.exceptions import (
    FallbackExceptionGroup,
    ModelAuthenticationError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelRateLimitError,
)
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from agent.errors import explain
from agent.models.chain import chain
from agent.models.scripted import scripted
from runtime.gateway.provider_bodies import innermost_cause
from runtime.gateway.provider_errors import MARKERS, is_model_unavailable


def http(status: int, message: str) -> ModelHTTPError:
    return ModelHTTPError(status_code=status, model_name="m", body={"error": {"message": message}})


class Counting:
    """A model that fails, counting how often it is asked."""

    def __init__(self, failure: Exception) -> None:
        self.asked = 0
        self.failure = failure

    def model(self, name: str) -> FunctionModel:
        def plan(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            self.asked += 1
            raise self.failure

        return scripted(plan, name)


def answers(name: str) -> FunctionModel:
    return scripted(lambda *_: ModelResponse(parts=[TextPart(f"from {name}")]), name)


@pytest.mark.parametrize("marker", MARKERS)
@pytest.mark.parametrize("status", [400, 403, 404])
@pytest.mark.parity("base-term-model-unavailable-marker")
def test_every_sign_of_an_unavailable_model_makes_the_chain_fall_back(marker: str, status: int) -> None:
    assert is_model_unavailable(http(status, f"Sorry: {marker.upper()}."))


@pytest.mark.parametrize(
    "failure",
    [
        http(401, "model_not_found"),
        http(429, "no access to model"),
        http(500, "model not available"),
        http(400, "context length exceeded"),
        RuntimeError("model_not_found"),
    ],
)
@pytest.mark.parity("base-scenario-other-failures-stay")
def test_other_failures_do_not_make_the_chain_fall_back(failure: Exception) -> None:
    assert not is_model_unavailable(failure)


@pytest.mark.anyio
@pytest.mark.parity("ADR-024", "base-term-model-fallback-chain", "term-model-fallback-chain")
async def test_the_rest_of_a_turn_stays_with_the_model_that_answered() -> None:
    missing = Counting(http(404, "model_not_found"))
    model = chain([missing.model("gone"), answers("second")])
    agent = Agent(model)
    assert (await agent.run("one")).output == "from second"
    async with agent.run_stream("two") as streamed:
        assert await streamed.get_output() == "from second"
    assert missing.asked == 1


class Watched(WrapperModel):
    """A model that counts how often a request is prepared by who asks it, and may fail when its answer is read."""

    prepared = 0
    failure: Exception | None = None

    def prepare_request(
        self, model_settings: ModelSettings | None, model_request_parameters: ModelRequestParameters
    ) -> tuple[ModelSettings | None, ModelRequestParameters]:
        self.prepared += 1
        return super().prepare_request(model_settings, model_request_parameters)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        async with super().request_stream(messages, model_settings, model_request_parameters, run_context) as response:
            if self.failure is not None:
                response._event_iterator = self._failing(self.failure)  # pyright: ignore[reportPrivateUsage]
            yield response

    async def _failing(self, failure: Exception) -> AsyncGenerator[Any]:
        raise failure
        yield


@pytest.mark.anyio
async def test_the_first_model_of_a_chain_is_asked_without_preparing_a_request_twice() -> None:
    first = Watched(answers("first"))
    agent = Agent(chain([first, answers("second")]))
    assert (await agent.run("one")).output == "from first"
    async with agent.run_stream("two") as streamed:
        assert await streamed.get_output() == "from first"
    assert first.prepared == 0, "the model prepares its requests itself"


@pytest.mark.anyio
async def test_a_stream_that_fails_before_its_first_event_falls_back() -> None:
    first = Watched(answers("first"))
    first.failure = http(404, "model_not_found")
    agent = Agent(chain([first, answers("second")]))
    async with agent.run_stream("one") as streamed:
        assert await streamed.get_output() == "from second"
        attempts = streamed.all_messages()[-1]
    assert isinstance(attempts, ModelResponse)
    assert attempts.failed_attempts is not None
    assert len(attempts.failed_attempts) == 1


@pytest.mark.anyio
async def test_a_failure_of_another_kind_is_reported_as_itself() -> None:
    limited = Counting(http(429, "slow down"))
    with pytest.raises(ModelHTTPError):
        await Agent(chain([limited.model("busy"), answers("second")])).run("one")


@pytest.mark.anyio
@pytest.mark.parity("base-term-models-exhausted", "base-scenario-models-exhausted", "base-smoke-exhausted")
async def test_an_exhausted_chain_names_what_was_tried() -> None:
    gone = [Counting(http(404, "model_not_found")).model(name) for name in ("a", "b")]
    with pytest.raises(FallbackExceptionGroup) as exhausted:
        await Agent(chain(gone)).run("one")
    error = explain(exhausted.value, "openai", ["a", "b"])
    assert error.code == "models_exhausted"
    assert error.message.startswith("No accessible model on openai. Tried: a, b. Configure access to one of these")


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (ModelAuthenticationError("m", "key sk-secret refused"), "auth"),
        (ModelRateLimitError("m", "slow down"), "rate_limit"),
        (ModelNotFoundError("m", "gone"), "model_not_found"),
        (ValueError("/home/someone/secret"), "internal"),
    ],
)
def test_an_exception_s_own_text_never_reaches_the_user(failure: Exception, code: str) -> None:
    error = explain(failure, "openai", [])
    assert error.code == code
    assert str(failure) not in f"{error.message}{error.fix}"


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (
            {"error": {"message": "Wrapped", "metadata": {"raw": '{"error": {"message": "The inner one"}}'}}},
            "The inner one",
        ),
        ({"message": 'Upstream said: {"error": {"message": "Deep"}} (sorry)'}, "Deep"),
        ({"errors": [{"message": "First"}, {"message": "Second"}]}, "First"),
        ({"error": {"message": "Bad key sk-proj-abcdefghijklmnop1234 in /home/me/.env"}}, "Bad key *** in .env"),
        ({"error": {"message": "a\n\nb " + "x" * 900}}, "a b xx"),
        ({"detail": [{"msg": "Extra inputs"}]}, "Extra inputs"),
        ('model "x" not found, try pulling it first', 'model "x" not found'),
        ("<html>Bad gateway</html>", ""),
        (None, ""),
    ],
)
def test_the_innermost_cause_is_shown_without_secrets(body: object, shown: str) -> None:
    failure = ModelHTTPError(status_code=400, model_name="m", body=body)
    cause = innermost_cause(failure)
    assert cause.startswith(shown) if shown else cause == ""
    assert "sk-proj" not in cause
    assert "/home" not in cause
    assert len(cause) <= 301


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["error", "message", "detail", "code", "raw", "errors", "x"]), inner, max_size=4
        )
    ),
    max_leaves=25,
)


@given(body=JSON, status=st.sampled_from([400, 401, 403, 404, 410, 413, 422, 429, 500, 503]))
def test_every_body_is_explained(body: object, status: int) -> None:
    error = explain(ModelHTTPError(status_code=status, model_name="m", body=body), "openai", ["m"])
    assert error.code
    assert error.fix
    assert len(error.message) < 700
