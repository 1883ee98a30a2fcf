"""Settings from the environment, with errors that name the variable."""

from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_settings import BaseSettings

from agent.contract.problems import reason
from cli.errors import BadUsage

Settings = TypeVar("Settings", bound=BaseSettings)


def settings_of(kind: type[Settings], **given: object) -> Settings:
    """Settings from the environment and the command line.

    Args:
        kind: their class.
        given: values from the command line, by field; None leaves the value from the environment.

    Raises:
        BadUsage: naming the first invalid value.
    """
    values: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    try:
        return kind(**values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = str(first["loc"][0]) if first["loc"] else ""
        where = f"--{field.replace('_', '-')}" if field in values else variable(kind, field)
        message = f"{where} cannot be used: {reason(first).rstrip('.')}."
        raise BadUsage("bad_setting", message, fix="Correct the value, or leave it out.", where=where) from None


def variable(kind: type[BaseSettings], field: str) -> str:
    """The environment variable that sets a field."""
    prefix, name = kind.model_config.get("env_prefix", "").upper(), field.upper()
    return name if name.startswith(prefix) or name == "PORT" else prefix + name
