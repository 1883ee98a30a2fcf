"""The demo planner's rules give a mandate too: what the words ask for, in each language, and nothing else."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.demo.mandate import demo_mandate
from agent.turn.result import Intent
from tools.mandate import Effect

CHANGES: set[Effect] = {"edit", "replace_text", "undo"}
SAID: dict[str, tuple[str, ...]] = {
    "en": ("What does this flow do?", "Run the flow", "Remove the prompt", "Write the file notes.md with 'milk'"),
    "de": ("Was macht dieser Flow?", "Starte den Flow", "Entferne den Prompt", "Schreibe die Datei notes.md"),
    "pt": ("O que faz este fluxo?", "Execute o fluxo", "Remova o prompt", "Escreva o arquivo notes.md"),
    "zh": ("这个流程是做什么的？", "运行这个流程", "删除提示", "写一个文件 notes.md"),
    "ar": ("ماذا يفعل هذا التدفق؟", "شغّل التدفق", "أزل الموجه", "اكتب الملف notes.md"),
}
INTENTS: tuple[Intent, ...] = ("question", "run_flow", "build_flow", "manage_files")
ASKED: tuple[set[Effect], ...] = (set(), {"run"}, CHANGES, {"write_files"})
MAY: dict[Intent, set[Effect]] = {
    "question": {"run"},
    "off_topic": {"run"},
    "run_flow": {"run"},
    "build_flow": {*CHANGES, "run", "remove"},
    "generate_component": {"run", "write_components"},
    "component_then_flow": {"run", "write_components", "edit"},
    "manage_files": {"run", "write_files", "overwrite_files"},
}


@pytest.mark.parametrize("language", SAID)
def test_the_words_of_each_language_ask_for_the_same(language: str) -> None:
    for text, intent, asked in zip(SAID[language], INTENTS, ASKED, strict=True):
        found = set(demo_mandate(text, intent).effects)
        assert found - {"remove", "overwrite_files"} == asked, text


def test_a_file_is_overwritten_only_when_the_message_names_it() -> None:
    named = demo_mandate("Write the file notes.md with 'milk'", "manage_files")
    assert named.effects["overwrite_files"] == ("notes.md",)
    assert "overwrite_files" not in demo_mandate("Write that down somewhere", "manage_files").effects


@given(st.text(max_size=200), st.sampled_from(get_args(Intent)))
def test_no_words_ask_for_more_than_their_intent_may(message: str, intent: Intent) -> None:
    assert demo_mandate(message, intent).effects.keys() <= MAY[intent]
