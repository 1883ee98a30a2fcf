"""A provider's form of the tools' schemas, made once for each tool and not for every request.

Each provider's schemas differ a little, and PydanticAI rewrites those of all tools before it sends them: twice for
every request of a chain. The tools are the same ones over and over.
"""

import json
from functools import cache, lru_cache
from typing import Any, cast

from pydantic_ai import ModelProfile
from pydantic_ai.profiles import JsonSchemaTransformer, merge_profile
from pydantic_ai.providers import Provider

SCHEMAS = 512
"""Rewritten schemas of a provider that are kept; the one unused for longest goes first."""


def rewrite_once(provider: Provider[Any]) -> Provider[Any]:
    """Make the models of a provider remember the schemas that they rewrote.

    Args:
        provider: what they speak through.

    Returns:
        The same provider.
    """
    profile_of = provider.model_profile

    def model_profile(model_name: str) -> ModelProfile | None:
        profile = profile_of(model_name)
        transformer = None if profile is None else profile.get("json_schema_transformer")
        if transformer is None:
            return profile
        return merge_profile(profile, ModelProfile(json_schema_transformer=remembering(transformer)))

    vars(provider)["model_profile"] = model_profile
    return provider


@cache
def remembering(transformer: type[JsonSchemaTransformer]) -> type[JsonSchemaTransformer]:
    """A transformer that does what another one does, once for each schema.

    Args:
        transformer: rewrites schemas; what it makes of one depends on that schema and on `strict` alone.
    """

    @lru_cache(SCHEMAS)
    def rewritten(schema: str, strict: bool | None) -> tuple[dict[str, Any], bool]:  # noqa: FBT001  (a cache's key)
        first = cast("Any", transformer)(json.loads(schema), strict=strict)
        return first.walk(), first.is_strict_compatible

    class Remembering(transformer):
        def __init__(self, schema: dict[str, Any], *, strict: bool | None = None) -> None:
            self.schema = schema
            self.strict = strict
            self.is_strict_compatible = True

        def walk(self) -> dict[str, Any]:
            """The schema in the provider's form; shared, never to be changed."""
            found, self.is_strict_compatible = rewritten(json.dumps(self.schema), self.strict)
            return found

    return Remembering
