"""Ways around the allow list are refused, and ordinary source that looks like them passes."""

import pytest

from runtime.guard import scan
from tests.runtime.guard.sampling import HERE, ways_around
from tests.shared.yaml_files import read_yaml

WAYS = ways_around()
NEAR: dict[str, str] = read_yaml(HERE / "samples" / "near_misses.yaml")


@pytest.mark.table
@pytest.mark.parametrize("name", WAYS)
def test_a_way_around_the_list_is_refused(name: str) -> None:
    assert scan(WAYS[name]) != []


@pytest.mark.parametrize("name", NEAR)
def test_what_looks_like_a_way_around_passes_when_it_is_none(name: str) -> None:
    assert scan(NEAR[name]) == []


def test_what_is_not_listed_is_refused_with_what_to_do() -> None:
    (found,) = scan("import some_package\nsome_package.run('x')")
    assert (found.line, found.rule) == (1, "unlisted")
    assert "some_package" in found.message
    assert "operator" in found.fix


def test_a_name_of_a_listed_module_that_is_not_listed_is_refused_with_the_nearest_one() -> None:
    (found,) = scan("from json import JSONDecodeErro")
    assert found.rule == "unlisted"
    assert "`JSONDecodeError`" in found.fix


@pytest.mark.parametrize("alias", ["from json import *", "from os import *"])
def test_importing_everything_is_refused_because_it_hides_what_is_used(alias: str) -> None:
    assert scan(alias) != []
    assert scan("from lfx.io import *\nMessageTextInput(name='a')") == []
