"""Reading YAML that tests hold their cases in."""

from pathlib import Path
from typing import Any

import yaml

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Five times faster in C, where PyYAML was built with it."""


def read_yaml(path: Path) -> Any:
    """What a YAML file holds."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)  # noqa: S506  (a safe loader)
