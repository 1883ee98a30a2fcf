"""Settings from the environment, with faults that name the variable."""

from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_settings import BaseSettings

from cli.errors import BadUsage

Settings = TypeVar("Settings", bound=BaseSettings)


def settings_of(kind: type[Settings], **given: object) -> Settings:
    """Settings of a kind, from the environment and what the command line says.

    Args:
        kind: which settings.
        given: values from the command line, by field; None leaves what the environment says.

    Raises:
        BadUsage: naming the first value that cannot be used.
    """
    values: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    try:
        return kind(**values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = str(first["loc"][0]) if first["loc"] else ""
        where = f"--{field}" if field in values else variable(kind, field)
        reason = str(first["msg"]).removeprefix("Value error, ").rstrip(".")
        message = f"{where} cannot be used: {reason}."
        raise BadUsage("bad_setting", message, fix="Correct the value, or leave it out.", where=where) from None


def variable(kind: type[BaseSettings], field: str) -> str:
    """The environment variable that sets a field."""
    prefix, name = kind.model_config.get("env_prefix", "").upper(), field.upper()
    return name if name.startswith(prefix) or name == "PORT" else prefix + name
