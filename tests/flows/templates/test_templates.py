"""Every starter flow builds as it stands, and those that need nothing more give what they promise on the engine."""

import pytest

from flows.catalogue import Catalogue
from flows.checks import check
from flows.fingerprints import fingerprint
from flows.spec import build, to_spec
from flows.templates import Template, UnknownTemplate, template, templates
from runtime.install.environment import RunnerEnvironment
from runtime.runner import Runner

EXPECTED = {
    "calculator": [("6*7", "It is 42."), ("1/8", "It is 0.125.")],
    "change-case": [("hello", "HELLO")],
    "echo": [("hello", "hello"), ("¿qué?", "¿qué?")],
    "loop-over-rows": [("a\nb\nc", "- Item: a\n- Item: b\n- Item: c"), ("one", "- Item: one")],
    "prompt-fill": [("Ada", "Dear Ada,\nthank you for your message.")],
    "router": [("hello you", "Good day! You said: hello you"), ("why?", "Let me think about: why?")],
    "splitter": [("one two three four five six seven", "* one two three four\n* five six seven")],
    "structured-text": [('{"name": "Ada", "age": 36}', "Ada is 36 years old.")],
    "word-count": [("one two three", "3 words")],
}
WANTED = {"echo", "prompt-chain", "router", "loop-over-rows", "structured-text", "splitter", "calculator", "batch"}
WANTED |= {"file-reading", "web-page", "api-call", "memory-chat"}
WANTED |= {"agent-with-tools", "agent-chain", "agent-team", "extraction", "rag"}


@pytest.fixture(scope="module")
def whole(runner_environment: RunnerEnvironment) -> Catalogue:
    """The catalogue of the installed engine."""
    return Catalogue.load(runner_environment.catalogue)


@pytest.mark.engine
@pytest.mark.parametrize("one", templates(), ids=lambda one: one.name)
def test_a_template_builds_without_any_error_or_says_what_it_needs(one: Template, whole: Catalogue) -> None:
    result = build(one.spec, whole)
    if one.packages:  # tests/runtime/test_templates_with_models.py builds and runs it with them
        assert result.flow is not None or {fault.code for fault in result.faults} == {"unknown_type"}
        return
    assert result.flow is not None, result.faults
    assert (result.flow.name, result.flow.description) == (one.title, one.description)
    assert [fault for fault in check(result.flow, whole) if fault.is_error] == []
    again = build(to_spec(result.flow, whole), whole).flow
    assert again is not None
    assert fingerprint(again) == fingerprint(result.flow)


def test_what_a_template_promises_is_tested_for_each_that_can_run_alone() -> None:
    assert {one.name for one in templates() if not one.needs} == set(EXPECTED)
    assert {one.name for one in templates()} >= WANTED
    assert all(one.tags and one.description.endswith(".") for one in templates())


@pytest.mark.engine
@pytest.mark.anyio
async def test_templates_give_what_they_promise_on_the_engine(engine: Runner, whole: Catalogue) -> None:
    for name, examples in EXPECTED.items():
        flow = build(template(name).spec, whole).flow
        assert flow is not None
        for text, output in examples:
            result = await engine.run(flow, text)
            assert (name, result.output, result.error) == (name, output, None)


@pytest.mark.parametrize("name", ["loop-over-rows", "Loop over rows", "loopOverRows", "LOOP OVER ROWS"])
def test_a_template_is_found_by_name_or_title(name: str) -> None:
    assert template(name).name == "loop-over-rows"


def test_an_unknown_template_is_named_with_the_nearest() -> None:
    with pytest.raises(UnknownTemplate) as caught:
        template("roter")
    assert "router" in caught.value.fix
    assert "roter" in str(caught.value)
