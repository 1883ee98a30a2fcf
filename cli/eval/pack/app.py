"""`wirewright eval pack`: scenarios of your own as a pack, so that a private half stays outside the repository."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import BadUsage
from cli.help.group import CommandGroup
from cli.options import Json
from cli.output.files import writable
from cli.output.streams import print_json, print_result

if TYPE_CHECKING:
    from cli.documents.evals import PackShown
    from evals.packs.pack import Pack

commands = CommandGroup("Keep scenarios in packs, outside the repository if they are private.")


@commands.callback()
def group() -> None:
    """Keep scenarios in packs, outside the repository if they are private."""


@commands.add(
    "create",
    "wirewright eval pack create mine --name mine --pack-version 1.0 \\\n      --out pack.zip",
    "wirewright eval pack create mine --name mine --pack-version 1.0 \\\n      --dev dev --out private.zip",
)
def create(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="A folder of scenarios.")],
    name: Annotated[str, typer.Option(metavar="NAME", help="What the pack is called.")],
    version: Annotated[str, typer.Option("--pack-version", metavar="V", help="Its version.")],
    out: Annotated[
        str, typer.Option(metavar="DIR", help="Where it goes: a new folder, or a file that ends with .zip.")
    ],
    about: Annotated[str, typer.Option(metavar="TEXT", help="What it tests, in a sentence.")] = "",
    share: Annotated[
        float, typer.Option(min=0.0, max=1.0, metavar="SHARE", help="The share that is kept for the test split.")
    ] = 0.5,
    seed: Annotated[str, typer.Option(metavar="TEXT", help="Another text divides differently.")] = "",
    dev: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Write the dev split there; the pack then has the test split alone."),
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    """Divide scenarios into dev and test, and make a pack of them. What belongs together stays together."""
    from evals.packs.pack import PackError
    from evals.packs.writer import make_pack
    from evals.scenarios.loader import ScenarioError

    if not Path(folder).is_dir():
        raise BadUsage("no_folder", f"{folder} is not a directory.", fix="Name a folder of scenarios.", where="DIR")
    if not Path(out).is_dir():
        writable(out)
    try:
        made = make_pack(
            Path(folder),
            Path(out),
            name=name,
            version=version,
            about=about,
            share=share,
            seed=seed,
            dev=None if dev is None else Path(dev),
        )
    except PackError as error:
        raise BadUsage("bad_pack", error.message, fix=error.fix, where="--out") from None
    except ScenarioError as error:
        raise BadUsage("bad_scenario", f"{error}.", fix="Correct the file.", where=error.place) from None
    kept = len(made.splits) - len(made.apart)
    _show(_document(made.pack, out, kept, made.kinds, list(made.apart)), dev, as_json=as_json)


@commands.add("check", "wirewright eval pack check mine.zip")
def check(
    pack: Annotated[
        str, typer.Argument(metavar="PACK", help="A folder, a zip file, or the name of an installed pack.")
    ],
    *,
    as_json: Json = False,
) -> None:
    """Check a pack against its digest, and read all its scenarios."""
    from evals.packs.installed import find_pack
    from evals.packs.pack import PackError
    from evals.packs.writer import kinds_of
    from evals.scenarios.loader import ScenarioError, load_scenarios

    try:
        found = find_pack(pack)
        scenarios = load_scenarios(found.folder)
    except PackError as error:
        raise BadUsage("bad_pack", error.message, fix=error.fix, where="PACK") from None
    except ScenarioError as error:
        raise BadUsage("bad_scenario", f"{error}.", fix="Correct it and make the pack again.", where=pack) from None
    kinds = kinds_of(scenarios, {one.id: one.split for one in scenarios})
    _show(_document(found, pack, len(scenarios), kinds, []), None, as_json=as_json)


def _document(
    pack: "Pack", path: str, scenarios: int, kinds: Mapping[str, tuple[int, int]], apart: list[str]
) -> "PackShown":
    from cli.documents.evals import PackShown

    manifest = pack.manifest
    return PackShown(
        name=manifest.name,
        version=manifest.version,
        about=manifest.about,
        digest=manifest.digest,
        path=path,
        scenarios=scenarios,
        kinds=dict(kinds),
        apart=apart,
    )


def _show(shown: "PackShown", dev: str | None, *, as_json: bool) -> None:
    if as_json:
        print_json(shown)
        return
    print_result(f"{shown['name']} {shown['version']}: {_counted(shown['scenarios'])} in {shown['path']}")
    print_result(f"digest {shown['digest']}")
    for kind, (in_dev, in_test) in shown["kinds"].items():
        print_result(f"  {kind}: {in_dev} dev, {in_test} test")
    if dev is not None:
        apart = len(shown["apart"])
        print_result(f"{_counted(apart)} of the dev split {'is' if apart == 1 else 'are'} in {dev}, not in the pack.")


def _counted(scenarios: int) -> str:
    return "1 scenario" if scenarios == 1 else f"{scenarios} scenarios"
