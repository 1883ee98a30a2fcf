"""Values of rows in archives: every one comes back, encrypted or not."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.archive.sealed_values import closed, opened
from runtime.archive.values import from_json, to_json
from runtime.keychain.documents import DocumentSealing

texts = st.text(max_size=30)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=10,
)
stored = json_values | st.binary(max_size=30) | st.datetimes(timezones=st.just(UTC)) | st.dates()


@given(value=stored)
def test_a_value_comes_back(value: Any) -> None:
    assert from_json(json.loads(json.dumps(to_json(value)))) == value


@pytest.fixture(scope="module")
def installations(tmp_path_factory: pytest.TempPathFactory) -> tuple[DocumentSealing, DocumentSealing]:
    """Two installations, each with a key of its own."""
    folders: list[Path] = [tmp_path_factory.mktemp(name) for name in ("here", "there")]
    here, there = (DocumentSealing(folder) for folder in folders)
    return here, there


@given(document=st.dictionaries(texts, json_values, max_size=4), key=st.text(min_size=1, max_size=30))
def test_what_is_encrypted_here_is_encrypted_there(
    installations: tuple[DocumentSealing, DocumentSealing], document: dict[str, Any], key: str
) -> None:
    here, there = installations
    whole = {**document, "api_key": key}
    text = json.dumps(whole)
    for secrets in (True, False):
        exported = json.loads(json.dumps(opened("document", here.seal_text(text), here, secrets=secrets)))
        moved = json.loads(there.unseal_text(closed(exported, there)))
        assert moved["api_key"] == (key if secrets else "")
        exported = json.loads(json.dumps(opened("document", json.dumps(here.seal_keys(whole)), here, secrets=secrets)))
        moved = there.unseal_keys(json.loads(closed(exported, there)))
        assert moved["api_key"] == (key if secrets else "")
        if secrets:
            assert moved == whole


@pytest.mark.parametrize("text", ['{"$sealed": "no such thing"}', 'a "$sealed" text', "", "sealed"])
def test_a_text_that_looks_encrypted_is_a_text(
    installations: tuple[DocumentSealing, DocumentSealing], text: str
) -> None:
    here, there = installations
    assert closed(opened("text", text, here, secrets=False), there) == text


def test_a_moment_keeps_its_zone() -> None:
    now = datetime.now(UTC)
    assert from_json(to_json(now)) == now
