"""Names of users' files: what stays inside, what is reserved, and what every system can keep."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from runtime.files.names import DEPTH_LIMIT, PATH_LIMIT, FileRefused, segments

ANY = st.text(alphabet=st.characters(), max_size=60)


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("NOTES.md", ("NOTES.md",)),
        ("docs/a b.txt", ("docs", "a b.txt")),
        ("docs\\a.txt", ("docs", "a.txt")),
        ("./docs//a.txt", ("docs", "a.txt")),
        ("résumé/日本.md", ("résumé", "日本.md")),
        (".gitignore", (".gitignore",)),
        ("console.md", ("console.md",)),
        ("", ()),
        (".", ()),
    ],
)
def test_a_plain_path_is_taken_name_by_name(path: str, names: tuple[str, ...]) -> None:
    assert segments(path) == names


@pytest.mark.parametrize(
    "path",
    [
        "../escape.md",
        "a/../../b",
        "..",
        "/etc/passwd",
        "\\\\server\\share",
        "~/x",
        "~root/x",
        "C:/x",
        "C:\\x",
        "a\\..\\b",
    ],
)
def test_a_path_that_leaves_the_folder_is_refused(path: str) -> None:
    with pytest.raises(FileRefused):
        segments(path)


@pytest.mark.parametrize(
    "name",
    [
        ".components",
        ".COMPONENTS",
        ".Components",
        ".components.",
        ".components ",
        ".components::$DATA",
        ".component\u017f",
        ".comp\u200bonents",
        "\uff0ecomponents",
        ".co\u2060mponents. .",
        "COMPON~1",
        "CO12AB~1",
        ".lfsig",
        ".LFSIG",
        "lfsig~1",
    ],
)
@pytest.mark.parametrize("shape", ["{}/SumComponent.py", "docs/{}/x.py", "{}"])
def test_the_assistant_s_own_folders_are_reserved_however_they_are_written(name: str, shape: str) -> None:
    with pytest.raises(FileRefused, match="is reserved"):
        segments(shape.format(name))


def test_a_reserved_folder_is_named_in_the_refusal() -> None:
    with pytest.raises(FileRefused) as refused:
        segments(".components/SumComponent.py")
    assert refused.value.message == "Path component '.components' is reserved"


@pytest.mark.parametrize(
    "name",
    [
        *("CON", "con.txt", "NUL.tar.gz", "aux", "COM1", "lpt9.md", "COM¹", "CONIN$", "nul .txt"),
        *("a:b", "a<b", "a|b", 'a"b', "a?", "a*", "dot.", "space ", " space"),
        *("a\x00b", "a\nb", "a\x7fb", "a\u202eb"),
    ],
)
def test_a_name_that_some_system_cannot_keep_is_refused(name: str) -> None:
    with pytest.raises(FileRefused):
        segments(f"docs/{name}/x.md")


@pytest.mark.parametrize("path", ["a" * (PATH_LIMIT + 1), "/".join("a" * (DEPTH_LIMIT + 1)), "ä" * 120])
def test_a_path_that_is_too_long_is_refused(path: str) -> None:
    with pytest.raises(FileRefused):
        segments(path)


@given(st.one_of(ANY, st.lists(st.sampled_from(["..", ".", "a", "/", "\\", ".components", "~", ":"])).map("".join)))
@example("a/./../..")
@example(".\\.components")
def test_no_path_leads_outside_or_to_a_reserved_folder(path: str) -> None:
    try:
        names = segments(path)
    except FileRefused:
        return
    for name in names:
        assert name not in {"", ".", ".."}
        assert not set(name) & set("/\\\x00:")
        assert name.casefold() not in {".components", ".lfsig"}


@given(st.lists(st.text(alphabet="adXYZ019-_", min_size=1, max_size=8), min_size=1, max_size=6))
def test_the_names_of_a_path_come_back_as_they_were(names: list[str]) -> None:
    assert segments("/".join(names)) == tuple(names)


@given(st.text(min_size=1, max_size=20))
def test_both_unicode_forms_of_a_path_are_one_file(path: str) -> None:
    try:
        names = segments(unicodedata.normalize("NFC", path))
    except FileRefused:
        return
    assert segments(unicodedata.normalize("NFD", path)) == names


@pytest.mark.parametrize("name", ["👩\u200d👩\u200d👧.txt", "🏳\ufe0f\u200d🌈", "👍🏽\u200d🔧", "می\u200cخواهم", "שלום"])
def test_a_name_may_have_what_joins_its_letters(name: str) -> None:
    assert segments(name) == (unicodedata.normalize("NFC", name),)


@pytest.mark.parametrize(
    "name",
    [
        *("a\u200db", "a\u200c.txt", "\u200d👩", "👩\u200d", "👩\u200d.txt", "می\u200c.txt"),
        *(".wire\u200dwright", "a\u202eb", "\u2067x"),
    ],
)
def test_an_invisible_character_that_joins_nothing_is_refused(name: str) -> None:
    with pytest.raises(FileRefused):
        segments(name)
