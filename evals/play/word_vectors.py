"""Embeddings of the models inside a scenario's flows: texts with words in common are alike."""

import re
import zlib
from collections.abc import Sequence

from pydantic_ai.embeddings import EmbeddingModel, EmbeddingResult, EmbeddingSettings
from pydantic_ai.embeddings.result import EmbedInputType

DIMENSIONS = 256
"""The length of a vector."""

_WORD = re.compile(r"[^\W_]{3,}")


class WordVectors(EmbeddingModel):
    """Counts the words of a text, each in the place that its hash gives; the same in every process."""

    @property
    def model_name(self) -> str:
        """The model's name."""
        return "words"

    @property
    def system(self) -> str:
        """Who serves it."""
        return "scenario"

    async def embed(
        self, inputs: str | Sequence[str], *, input_type: EmbedInputType, settings: EmbeddingSettings | None = None
    ) -> EmbeddingResult:
        """The vectors of texts."""
        texts, _ = self.prepare_embed(inputs, settings)
        return EmbeddingResult(
            embeddings=[vector(text) for text in texts],
            inputs=texts,
            input_type=input_type,
            model_name=self.model_name,
            provider_name=self.system,
        )


def vector(text: str) -> list[float]:
    """The vector of a text, which is never zero."""
    counts = [0.01] * DIMENSIONS
    for word in _WORD.findall(text.casefold()):
        counts[zlib.crc32(word.encode()) % DIMENSIONS] += 1.0
    return counts
