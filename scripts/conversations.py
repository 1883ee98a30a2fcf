"""The scripted conversations behind the recorded wire cassettes."""

from scripts.scripted_provider import Reply

REQUEST = "Build a flow that says the chat input louder, then run it with hello."

SPEC = """name: Louder
nodes:
  chat: ChatInput
  prompt: Prompt Template
  answer: ChatOutput
edges:
  chat.message -> prompt.text
  prompt.prompt -> answer.input_value
config:
  prompt.template: "Say it louder: {text}"
"""

BUILD_AND_RUN = (
    Reply(text='{"intent": "build_flow"}'),
    Reply(calls=(("search_components", {"query": "prompt template"}),)),
    Reply(calls=(("describe_component", {"type": "Prompt Template"}), ("describe_component", {"type": "ChatOutput"}))),
    Reply(calls=(("build_flow", {"spec": SPEC}),)),
    Reply(calls=(("run_flow", {"input": "hello"}),)),
    Reply(text="I built the flow and ran it with hello; it answered: Say it louder: hello"),
)
"""One complete build-and-run turn: classify, search, describe twice, build, run, answer."""

APPROVAL_REQUEST = "Have the prompt whisper, please."
_WHISPER = {
    "component_id": "prompt-aaaaa",
    "values": {"template": "Whisper: {text}"},
    "reason": "It shall whisper",
}
APPROVAL = (
    Reply(text='{"intent": "build_flow"}'),
    Reply(text="I will reword the prompt.", calls=(("configure_component", _WHISPER),)),
    Reply(text="The prompt now whispers."),
)
"""A turn that waits for an approval, and its second half: classify, ask, answer."""


def _openai_error(status: int, code: str, message: str, kind: str = "invalid_request_error") -> Reply:
    return Reply(status=status, error={"message": message, "type": kind, "param": None, "code": code})


NOT_FOUND_404 = _openai_error(
    404, "model_not_found", "The model `gpt-6.1-sol` does not exist or you do not have access to it."
)
NOT_FOUND_403 = _openai_error(
    403, "model_not_found", "Project `proj_example` does not have access to model `gpt-6.1-sol`"
)
REFUSED_401 = _openai_error(401, "invalid_api_key", "Incorrect API key provided.")
LIMITED_429 = _openai_error(429, "rate_limit_exceeded", "Rate limit reached for requests", "requests")
OFF_TOPIC = Reply(text='{"intent": "off_topic"}')

ANTHROPIC_NOT_FOUND_404 = Reply(status=404, error={"type": "not_found_error", "message": "model: claude-opus-5-5"})
ANTHROPIC_REFUSED_401 = Reply(status=401, error={"type": "authentication_error", "message": "invalid x-api-key"})
_NO_MODEL = "models/gemini-4-argon is not found for API version v1beta."
GOOGLE_NOT_FOUND_404 = Reply(status=404, error={"code": 404, "message": _NO_MODEL, "status": "NOT_FOUND"})
GOOGLE_REFUSED_400 = Reply(
    status=400,
    error={
        "code": 400,
        "message": "API key not valid. Please pass a valid API key.",
        "status": "INVALID_ARGUMENT",
        "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}],
    },
)

CONVERSATIONS: dict[str, tuple[Reply, ...]] = {
    "openai_chat_build_and_run": BUILD_AND_RUN,
    "openai_chat_approval": APPROVAL,
    "openai_chat_model_not_found_404": (NOT_FOUND_404, OFF_TOPIC),
    "openai_chat_model_not_found_403": (NOT_FOUND_403, OFF_TOPIC),
    "openai_chat_refused_401": (REFUSED_401,),
    "openai_chat_limited_429": (LIMITED_429,),
    "openai_responses_build_and_run": BUILD_AND_RUN,
    "openai_responses_model_not_found_404": (NOT_FOUND_404, OFF_TOPIC),
    "openai_responses_refused_401": (REFUSED_401,),
    "anthropic_build_and_run": BUILD_AND_RUN,
    "anthropic_model_not_found_404": (ANTHROPIC_NOT_FOUND_404, OFF_TOPIC),
    "anthropic_refused_401": (ANTHROPIC_REFUSED_401,),
    "google_build_and_run": BUILD_AND_RUN,
    "google_model_not_found_404": (GOOGLE_NOT_FOUND_404, OFF_TOPIC),
    "google_refused_400": (GOOGLE_REFUSED_400,),
}
"""Cassette names, which begin with their wire, and the conversations recorded in them."""
