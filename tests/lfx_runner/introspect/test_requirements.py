"""What a component's source imports and the engine does not have is found out without executing it."""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.engine
SOURCES = {
    "whole": "import json\nfrom lfx.io import Output\n",
    "poor": "import json, no_such_package.part\n",
    "sometimes": "import json\n\nclass A:\n    def run(self):\n        from other_absent_package import x\n",
    "own": "from . import sibling\n",
    "broken": "def (",
}


def test_absent_packages_differ_by_when_they_are_imported(inside: Callable[..., Any]) -> None:
    assert inside("lacked", SOURCES) == {
        "poor": {"always": ["no_such_package"], "sometimes": []},
        "sometimes": {"always": [], "sometimes": ["other_absent_package"]},
    }
