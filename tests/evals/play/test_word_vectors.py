"""Embeddings of scenarios: texts with words in common are alike."""

from math import fsum

import pytest

from evals.play.word_vectors import WordVectors, vector


def likeness(left: str, right: str) -> float:
    return fsum(a * b for a, b in zip(vector(left), vector(right), strict=True))


def test_texts_with_words_in_common_are_more_alike() -> None:
    question = "When does the office open?"
    assert likeness(question, "The office opens at nine.") > likeness(question, "Lost cards are replaced.")
    assert any(vector(""))


@pytest.mark.anyio
async def test_every_text_gets_a_vector_of_the_same_length() -> None:
    result = await WordVectors().embed(["nine", "ten o'clock"], input_type="document")
    assert [len(each) for each in result.embeddings] == [256, 256]
