"""A vector store in a JSON file, for flows that answer from documents. Made by Wirewright; it needs nothing but lfx."""

import base64
import hashlib
import json
from array import array
from pathlib import Path, PurePosixPath

from langchain_core.vectorstores import InMemoryVectorStore
from lfx.base.vectorstores.model import LCVectorStoreComponent, check_cached_vector_store
from lfx.io import BoolInput, HandleInput, IntInput, StrInput
from lfx.schema.data import Data

FORMAT = "vectors-1"
BATCH = 200


class FileVectorStore(LCVectorStoreComponent):
    """A vector store in a JSON file: langchain_core's in-memory store, filled from the file and written back.

    Texts keep their vectors: a run embeds only what is new, or everything after the embedding model has changed.
    """

    display_name = "File Vector Store"
    description = (
        "Vector store for retrieval (RAG): keeps texts with their embeddings in one of your files, "
        "and finds the texts that are most like a query. Works without any bundle, database or account."
    )
    icon = "database"
    name = "FileVectorStore"

    inputs = [  # noqa: RUF012 - as lfx's components declare them
        StrInput(
            name="file_name",
            display_name="File Name",
            info="The JSON file with the texts and their vectors. The first run that ingests something makes it.",
            value="vectors.json",
            required=True,
        ),
        *LCVectorStoreComponent.inputs,
        HandleInput(name="embedding", display_name="Embedding", input_types=["Embeddings"], required=True),
        IntInput(
            name="number_of_results",
            display_name="Number of Results",
            info="How many texts are found at most.",
            value=4,
            advanced=True,
        ),
        BoolInput(
            name="replace",
            display_name="Replace",
            info="Keep only what this run ingests, so that texts of an earlier version of a file are forgotten.",
            value=False,
            advanced=True,
        ),
    ]

    @check_cached_vector_store
    def build_vector_store(self) -> InMemoryVectorStore:
        """The store with everything that it keeps and what this run ingests."""
        path = self._path()
        model, before = self._kept(path)
        ingested = self._ingested()
        entries = dict(ingested) if ingested and self.replace else {**before, **ingested}
        if model != self._model():
            before = {}
        vectors = {key: before[key]["vector"] for key in entries if key in before}
        self._embed(entries, vectors)
        if vectors and self._lengths_differ(vectors):
            vectors = {}
            self._embed(entries, vectors)
        store = InMemoryVectorStore(self.embedding)
        for key, entry in entries.items():
            store.store[key] = {"id": key, "text": entry["text"], "metadata": entry["metadata"]}
            store.store[key]["vector"] = vectors[key]
        if ingested:
            self._write(path, store)
        self.status = f"{len(store.store)} texts, {len(ingested)} of them ingested now"
        return store

    def search_documents(self) -> list[Data]:
        """The texts that are most like the query, best first, each with its score."""
        store = self.build_vector_store()
        query = (self.search_query or "").strip()
        if not query or not store.store:
            return []
        vector = self.embedding.embed_query(query)
        kept = len(next(iter(store.store.values()))["vector"])
        if len(vector) != kept:
            msg = (
                f"The embedding model gives vectors of {len(vector)} numbers, but {self._path().name} has vectors of "
                f"{kept}. Ingest the texts again, or choose the embedding model that they were ingested with."
            )
            raise ValueError(msg)
        found = store.similarity_search_with_score_by_vector(vector, k=max(1, self.number_of_results))
        return [
            Data(text=document.page_content, data={**document.metadata, "score": score}) for document, score in found
        ]

    def _path(self) -> Path:
        name = (self.file_name or "").strip() or "vectors.json"
        name = name if name.lower().endswith(".json") else f"{name}.json"
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            msg = f"{name!r} is not the name of a file: write a name such as vectors.json."
            raise ValueError(msg)
        return Path(name)

    def _kept(self, path: Path) -> tuple[str, dict]:
        """The embedding model and the texts that the file keeps; none if there is no file yet."""
        if not path.exists():
            return self._model(), {}
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
            if kept["format"] != FORMAT:
                raise KeyError("format")
            return kept["model"], {
                entry["id"]: {**entry, "vector": _numbers(entry["vector"])} for entry in kept["texts"]
            }
        except (ValueError, KeyError, TypeError):
            msg = f"{path.name} is not a file of this vector store. Choose another file name, or remove that file."
            raise ValueError(msg) from None

    def _ingested(self) -> dict:
        entries = {}
        for data in self._prepare_ingest_data():
            text = (data.get_text() if hasattr(data, "get_text") else str(data)).strip()
            if text:
                others = data.data.items() if isinstance(getattr(data, "data", None), dict) else ()
                metadata = {
                    name: value
                    for name, value in others
                    if name != getattr(data, "text_key", "text") and isinstance(value, str | int | float | bool)
                }
                key = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
                entries[key] = {"text": text, "metadata": metadata}
        return entries

    def _embed(self, entries: dict, vectors: dict) -> None:
        """Add the vectors of those entries that have none."""
        missing = [key for key in entries if key not in vectors]
        for start in range(0, len(missing), BATCH):
            keys = missing[start : start + BATCH]
            made = self.embedding.embed_documents([entries[key]["text"] for key in keys])
            vectors.update(zip(keys, made, strict=True))

    def _lengths_differ(self, vectors: dict) -> bool:
        return len({len(vector) for vector in vectors.values()}) > 1

    def _model(self) -> str:
        for one in (getattr(self.embedding, "embeddings", None), self.embedding):
            for name in ("model", "model_name"):
                if isinstance(value := getattr(one, name, None), str):
                    return value
        return ""

    def _write(self, path: Path, store: InMemoryVectorStore) -> None:
        texts = [{**entry, "vector": _text(entry["vector"])} for entry in store.store.values()]
        content = json.dumps({"format": FORMAT, "model": self._model(), "texts": texts}, ensure_ascii=False)
        if path.exists() and path.read_text(encoding="utf-8") == content:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


def _text(vector: list[float]) -> str:
    return base64.b64encode(array("f", vector).tobytes()).decode("ascii")


def _numbers(text: str) -> list[float]:
    numbers = array("f")
    numbers.frombytes(base64.b64decode(text, validate=True))
    return list(numbers)
