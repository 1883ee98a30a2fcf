"""`wirewright models`: the language models of this installation, and whether they answer."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import FAILED, CommandError
from cli.help.group import CommandGroup
from cli.options import Json
from cli.output.columns import print_rows
from cli.output.streams import print_json, print_message, print_result
from cli.remote.option import ServerAddress, needed_server, server_at

if TYPE_CHECKING:
    from agent.models.keys import KeptKeys
    from agent.models.overview import ModelTest, Overview
    from agent.settings import AssistantSettings

commands = CommandGroup("Show the language models, test them, and keep their providers' keys on a server.")

Provider = Annotated[str, typer.Argument(metavar="PROVIDER", help="The provider, as `models list` names it.")]
_KEPT = "Keys are kept by a server; on this machine they are variables of the environment"


@commands.add("list", "wirewright models list")
def list_models(server: ServerAddress = None, *, as_json: Json = False) -> None:
    """List every provider, whether it is configured and why, and the default model."""
    if (remote := server_at(server)) is not None:
        from cli.remote.stores.models import RemoteModels

        found = RemoteModels(remote).overview()
    else:
        found = _overview(*_configuration())
    if as_json:
        print_json(found)
        return
    if found.error is not None:
        print_result(f"Default: none. {found.error.message} {found.error.fix}")
    else:
        print_result(f"Default: {found.default}")
    rows: list[tuple[str, ...]] = []
    for one in found.providers:
        names = ", ".join(one.models[:3]) or "name a model of your account"
        offered = f"; models: {names}{', …' if len(one.models) > 3 else ''}" if one.configured else ""
        rows.append(("yes" if one.configured else "no", one.name, f"{one.why}{offered}"))
    print_rows(rows, indent="  ")


@commands.add("test", "wirewright models test openai:gpt-6-luna")
def probe(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MODEL", help="provider:name; none tests the default and one of each configured provider."
        ),
    ] = None,
    server: ServerAddress = None,
    *,
    as_json: Json = False,
) -> None:
    """Send each model one tiny real request, and say which answer. The providers may charge for it."""
    import asyncio

    from agent.models.overview import models_to_test

    if (remote := server_at(server)) is not None:
        from cli.remote.stores.models import RemoteModels

        _show(RemoteModels(remote).test(models or []).models, as_json=as_json)
        return
    settings, keys = _configuration()
    found = _overview(settings, keys)
    unusable = [settings.model] if settings.model and found.error is not None else []
    names = list(dict.fromkeys(models or [*unusable, *models_to_test(found)]))
    _show(asyncio.run(_tests(names, keys)), as_json=as_json)


@commands.add("set-key", "wirewright models set-key openai --server https://flows.example.org < key.txt")
def set_key(
    provider: Provider,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Its address, for a provider that has one.", show_default=False)
    ] = None,
    server: ServerAddress = None,
    *,
    as_json: Json = False,
) -> None:
    """Keep a provider's key on a server, for your turns alone; it is read from standard input, or typed unseen."""
    import sys

    from cli.input.texts import STANDARD_INPUT, read
    from cli.remote.stores.models import RemoteModels

    if sys.stdin.isatty():
        typed = typer.prompt(f"Key of {provider}", hide_input=True, default="", show_default=False, err=True)
    else:
        typed = read(STANDARD_INPUT, limit=_KEY_LIMIT).text
    remote = needed_server(server, _KEPT)
    given = {"api_key": typed.strip() or None, "base_url": base_url}
    kept = RemoteModels(remote).keep(provider, {name: value for name, value in given.items() if value is not None})
    if as_json:
        print_json(kept)
    else:
        print_message(f"Kept for {kept.display_name}, which is {'' if kept.available else 'not yet '}available.")


@commands.add("remove-key", "wirewright models remove-key openai --server https://flows.example.org")
def remove_key(provider: Provider, server: ServerAddress = None, *, as_json: Json = False) -> None:
    """Remove what a server keeps for a provider."""
    from cli.documents.models import KeyRemoved
    from cli.remote.stores.models import RemoteModels

    RemoteModels(needed_server(server, _KEPT)).forget(provider)
    if as_json:
        print_json(KeyRemoved(removed=provider))
    else:
        print_message(f"Nothing is kept for {provider} any more.")


_KEY_LIMIT = 64 * 1024
"""Bytes of a key."""


def _show(tests: "list[ModelTest]", *, as_json: bool) -> None:
    """Print which models answered; exit 1 when one did not, or none was tested."""
    from cli.documents.models import ModelsTested

    ok = bool(tests) and all(one.ok for one in tests)
    if as_json:
        print_json(ModelsTested(ok=ok, models=tests))
    else:
        print_rows(map(_row, tests))
        if not tests:
            print_message("No provider is configured, so there is nothing to test. See: wirewright models list")
    if not ok:
        raise typer.Exit(FAILED)


def _configuration() -> "tuple[AssistantSettings, KeptKeys]":
    from agent.errors import AssistantUnavailable
    from agent.settings import AssistantSettings
    from cli.files.local import local_keys
    from cli.settings import settings_of

    try:
        return settings_of(AssistantSettings), local_keys()
    except AssistantUnavailable as unavailable:
        error = unavailable.error
        raise CommandError(error.code, error.message, fix=error.fix) from None


def _overview(settings: "AssistantSettings", keys: "KeptKeys") -> "Overview":
    from agent.models.overview import overview
    from agent.models.providers import PROVIDERS

    return overview(settings.model, keys.environment(), {name: keys.stored(name) for name in PROVIDERS})


async def _tests(names: list[str], keys: "KeptKeys") -> "list[ModelTest]":
    from agent.models.clients import Clients
    from agent.models.overview import try_models

    clients = Clients(keys.environment)
    try:
        return await try_models(names, clients, keys.environment())
    finally:
        await clients.aclose()


def _row(one: "ModelTest") -> tuple[str, ...]:
    if one.error is None:
        return ("yes", one.model, f"answered in {one.seconds:.1f} s")
    return ("no", one.model, f"{one.error.message} {one.error.fix}".rstrip())
