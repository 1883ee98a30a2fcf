"""Reading YAML that stands in texts of flows, whoever wrote it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast


def read_yaml(text: str, *, plain: bool = False) -> object:
    """Return what a text says as YAML; dates stay strings.

    Aliases are refused, because a short text with them stands for a value of any size.

    Args:
        text: the text.
        plain: whether all scalars stay strings.

    Raises:
        ValueError: it is not YAML, has an alias, or is nested too deeply to be read.
    """
    import yaml

    class _Loader(yaml.SafeLoader):
        """Loads YAML without converting strings that look like dates."""

    _Loader.yaml_implicit_resolvers = {
        sign: [(tag, rule) for tag, rule in rules if tag != "tag:yaml.org,2002:timestamp"]
        for sign, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    try:
        events = cast("Iterable[object]", yaml.parse(text))  # pyright: ignore[reportUnknownMemberType]  (untyped)
        if any(isinstance(event, yaml.AliasEvent) for event in events):
            raise ValueError("has an alias")
        return yaml.load(text, Loader=yaml.BaseLoader if plain else _Loader)  # noqa: S506  (both are safe)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError("is not YAML") from error
