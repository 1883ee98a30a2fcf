"""Documents at rest: no key of theirs can be read, and they come back as they were."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.keychain.documents import MARK, DocumentSealing
from runtime.keychain.master_key import FILE, SecretKeyUnavailable

SECRET = "correct horse battery"
SHAPED = "sk-proj-0123456789abcdefghij"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text() | st.sampled_from([MARK, "api_key", "value", "password", "type", "key"]), inner, max_size=5
        )
    ),
    max_leaves=20,
)


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> DocumentSealing:
    return DocumentSealing(tmp_path_factory.mktemp("data"))


def field(value: Any, **more: Any) -> dict[str, Any]:
    return {"name": "x", "type": "str", "value": value, **more}


@given(document=st.dictionaries(st.text(), JSON))
@settings(max_examples=200)
def test_every_document_comes_back_as_it_was(documents: DocumentSealing, document: dict[str, Any]) -> None:
    stored = json.loads(json.dumps(documents.seal_keys(document)))
    assert documents.unseal_keys(stored) == document
    assert documents.unseal_text(documents.seal_text(json.dumps(document))) == json.dumps(document)


@given(secret=st.text(min_size=8), at=st.sampled_from(["password", "named", "shape of input"]))
def test_no_value_of_a_secret_field_is_in_what_is_stored(documents: DocumentSealing, secret: str, at: str) -> None:
    fields = {
        "password": field(secret, password=True),
        "named": field(secret) | {"name": "api_key"},
        "shape of input": field(secret, _input_type="SecretStrInput"),
    }
    stored = json.dumps(documents.seal_keys({"data": {"nodes": [{"template": {"x": fields[at]}}]}}))
    assert json.dumps(secret)[1:-1] not in stored


@pytest.mark.parametrize(
    "document",
    [
        {"template": {"api_key": field(SECRET, password=True)}},
        {"template": {"headers": field([{"key": "Authorization", "value": SECRET}])}},
        {"template": {"body": field({"api_key": SECRET})}},
        {"template": {"body": field({"credentials": {"user": "u", "pass": SECRET}})}},
        {"template": {"tokens": field([SECRET], password=True)}},
        {"template": {"prompt": field(f"Use {SHAPED} for it")}},
        {"template": {"code": field(f"key = '{SHAPED}'", type="code")}},
        {"template": {"url": field("https://ada:correct horse battery@example.com".replace(" ", ""))}},
        {"description": f"api_key={SHAPED}"},
        {MARK: SECRET},
        {"deep": {MARK: SHAPED, "more": SECRET}},
    ],
)
def test_keys_are_found_wherever_they_stand(documents: DocumentSealing, document: dict[str, Any]) -> None:
    stored = json.dumps(documents.seal_keys(document))
    for secret in (SECRET, SHAPED, SECRET.replace(" ", "")):
        assert secret not in stored
    assert documents.unseal_keys(json.loads(stored)) == document


def test_the_rest_stays_readable(documents: DocumentSealing) -> None:
    node = {
        "id": "A-1",
        "template": {
            "api_key": field("OPENAI_API_KEY", password=True, load_from_db=True),
            "empty": field("", password=True),
            "text": field("Say it louder: {text}"),
            "password": field(True, type="bool"),
            "max_tokens": field(100, type="int"),
        },
    }
    assert documents.seal_keys(node) == node


def test_another_key_is_an_error_that_names_the_remedy_and_loses_nothing(tmp_path: Path) -> None:
    stored = DocumentSealing(tmp_path).seal_keys({"api_key": SECRET})
    key = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).unlink()
    for use in (
        lambda: DocumentSealing(tmp_path).unseal_keys(stored),
        lambda: DocumentSealing(tmp_path).seal_text("x"),
    ):
        with pytest.raises(SecretKeyUnavailable) as refused:
            use()
        assert FILE in refused.value.fix
        assert SECRET not in refused.value.message + refused.value.fix
    assert DocumentSealing(tmp_path).seal_keys({"a": 1}) == {"a": 1}, "what has no key is stored all the same"
    (tmp_path / FILE).write_bytes(key)
    assert DocumentSealing(tmp_path).unseal_keys(stored) == {"api_key": SECRET}
