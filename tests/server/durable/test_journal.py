"""What is recorded of a turn is read as it was written, by earlier versions too."""

import base64
import json
import zlib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from runtime.keychain.documents import DocumentSealing
from server.durable.journal import packed, unpacked

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(), each, max_size=3),
    max_leaves=8,
)


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    documents = DocumentSealing(tmp_path)

    @given(value=JSON)
    def check(value: object) -> None:
        assert unpacked(packed(value, documents), documents) == value  # pyright: ignore[reportArgumentType]

    check()


def test_a_record_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    documents = DocumentSealing(tmp_path)
    written = base64.b85encode(zlib.compress(json.dumps({"value": 1}).encode())).decode()
    assert unpacked(documents.seal_text(written), documents) == {"value": 1}
