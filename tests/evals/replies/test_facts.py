"""Facts that an answer must state: values of one kind agree, and words around them are free."""

import pytest

from evals.replies.facts import StatedFact

TEMPLATES = StatedFact(number=2, of=("prompt template", "template", "Vorlage", "modèles"))
PATTERN = StatedFact(value=r"[A-Z]{2}-\d{4}", rivals=("[a-z]+",))
WORD = StatedFact(value="moving", also=("relocation",), rivals=("broken", "invoice"))
PASSAGES = StatedFact(number=2, of=("段", "つの段落", "个"))
OFFICE = StatedFact(value="税務課", rivals=("動物課",))
NO_SLACK = StatedFact(value="Slack", denied=True)


@pytest.mark.parametrize(
    ("fact", "answer"),
    [
        (TEMPLATES, "It has two prompt templates."),
        (TEMPLATES, "There are 2."),
        (TEMPLATES, "2 prompt templates: one for greetings and one for farewells."),
        (TEMPLATES, "Your flow has 1 chat input, 2 different prompt templates and 3 outputs."),
        (TEMPLATES, "Not three but two templates."),
        (TEMPLATES, "1. The flow has two templates.\n2. Both are connected."),
        (TEMPLATES, "Der Flow hat zwei Vorlagen, eine davon ist leer."),
        (TEMPLATES, "Il y a deux modèles."),
        (TEMPLATES, "Two: 'Prompt Template' and 'Prompt Template (3)'."),
        (PASSAGES, "每次找出两段文字。"),
        (PASSAGES, "一次会找出2段。"),
        (PASSAGES, "毎回、二つの段落を探します。"),
        (OFFICE, "税務課に行きます。"),
        (OFFICE, "動物課ではなく、税務課です。"),
        (PATTERN, r"The pattern is `[A-Z]{2}-\d{4}`."),
        (WORD, "It is the word 'moving'; capitals do not matter."),
        (WORD, "Not 'broken', but 'moving'."),
        (WORD, "The relocation desk."),
        (NO_SLACK, "There is no Slack node in your flow."),
        (NO_SLACK, "A Slack node? I cannot find one."),
        (NO_SLACK, "Your flow has an input and an output. None of them is a Slack node."),
    ],
)
def test_a_fact_is_stated_in_any_words(fact: StatedFact, answer: str) -> None:
    assert fact.fault(answer) == ""


@pytest.mark.parametrize(
    ("fact", "answer"),
    [
        (TEMPLATES, "4? 1, 2, 3 prompt templates"),
        (TEMPLATES, "It has three."),
        (TEMPLATES, "2 or 3 templates."),
        (TEMPLATES, "There are not two templates."),
        (TEMPLATES, "Two templates. No, 3 templates."),
        (TEMPLATES, "It has 2 inputs."),
        (TEMPLATES, "I am not sure."),
        (PATTERN, r"It is [a-z]{2}-\d{4}."),
        (PATTERN, r"It is [A-Z]{2}-\d{4} or [a-z]+."),
        (WORD, "moving, broken, invoice"),
        (WORD, "It is not 'moving'."),
        (WORD, "It is 'removing'."),
        (NO_SLACK, "I removed the Slack node."),
        (NO_SLACK, "No."),
        (PASSAGES, "每次四段。"),
        (PASSAGES, "两段或三段。"),
        (PASSAGES, "统一处理。"),
        (OFFICE, "動物課に行きます。"),
        (OFFICE, "税務課と動物課に行きます。"),
    ],
)
def test_a_fact_is_not_stated_by_a_contradiction_a_denial_or_a_list(fact: StatedFact, answer: str) -> None:
    assert fact.fault(answer) != ""


def test_repeating_the_message_states_nothing() -> None:
    message = "Which word in a message brings people to the moving desk in my call centre?"
    assert WORD.fault(f"Not clear: {message}", message) != ""
    assert WORD.fault("It is the word moving.", message) == ""


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({}, "either number or value"),
        ({"number": 1, "value": "x"}, "either number or value"),
        ({"value": "x", "of": ("y",)}, "what a number counts"),
        ({"number": 1, "rivals": ("y",)}, "neither also, rivals nor denied"),
        ({"value": "x", "rivals": ("y",), "denied": True}, "has no rivals"),
    ],
)
def test_a_declaration_that_says_nothing_is_refused(declared: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        StatedFact.model_validate(declared)


def test_a_fact_gives_an_example_of_itself() -> None:
    for fact in (TEMPLATES, PATTERN, WORD, NO_SLACK):
        assert fact.fault(fact.example) == ""
