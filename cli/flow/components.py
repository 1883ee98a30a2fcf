"""A flow's own components: a folder of sources, one a file, each read by the guard and made in a process of its own."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from cli.errors import BadUsage

if TYPE_CHECKING:
    from flows.catalogue import Catalogue
    from flows.component_type import ComponentType
    from flows.faults import Fault
    from runtime.components.inspection import DescribesComponents, Inspection

ComponentsFolder: TypeAlias = Annotated[
    str | None,
    typer.Option("--components", metavar="DIR", help="A folder with the flow's own components: one source a .py file."),
]
Inspect: TypeAlias = "Callable[[list[str]], list[Inspection]]"

MAX_FILES = 100
MAX_BYTES = 1024 * 1024


@dataclass(frozen=True)
class FlowComponents:
    """What a folder of components holds.

    Attributes:
        components: the component types that can be used.
        sources: their sources.
        faults: what is wrong with the files; each message names its file, and `line` is a line of it.
    """

    components: "tuple[ComponentType, ...]" = ()
    sources: tuple[str, ...] = ()
    faults: "tuple[Fault, ...]" = field(default=())

    def beside(self, catalogue: "Catalogue") -> "Catalogue":
        """The catalogue with these components beside its own."""
        return catalogue.with_components(self.components) if self.components else catalogue


def read_components(folder: str | None, catalogue: "Catalogue", inspect: "Inspect") -> FlowComponents:
    """Return the components of a folder, and a fault for each file that holds none that can be used.

    Args:
        folder: its name as the user gave it; None has no components.
        catalogue: the built-in ones, whose names are taken.
        inspect: makes components from sources.

    Raises:
        BadUsage: the folder does not exist, cannot be read or holds too many files.
    """
    files = [] if folder is None else _files(folder)
    if not files:
        return FlowComponents()
    faults: list[Fault] = []
    texts: dict[str, str] = {}
    for path in files:
        try:
            texts[path.name] = _text(path)
        except (OSError, ValueError):
            faults.append(_unreadable(path.name))
    components: dict[str, ComponentType] = {}
    for (name, _), found in zip(texts.items(), inspect(list(texts.values())), strict=True):
        faults += [_in_file(name, fault) for fault in found.faults]
        if found.component is not None:
            clash = _clash(found.component, components, catalogue)
            if clash is None:
                components[found.component.type] = found.component
            else:
                faults.append(_in_file(name, clash))
    return FlowComponents(tuple(components.values()), tuple(part.code for part in components.values()), tuple(faults))


def inspect_with(runner: "DescribesComponents", loop: asyncio.Runner) -> "Inspect":
    """Makes components with a runner that belongs to a loop."""
    from runtime.components.inspection import inspect

    async def every(sources: list[str]) -> "list[Inspection]":
        return list(await asyncio.gather(*(inspect(source, runner) for source in sources)))

    return lambda sources: loop.run(every(sources))


def inspect_in_new_engine(sources: list[str]) -> "list[Inspection]":
    """Make components with an engine that is started for them alone."""
    from cli.output.streams import progress
    from runtime.components.inspection import inspect
    from runtime.runner import Runner

    async def every() -> "list[Inspection]":
        runner = Runner(concurrency=2)
        runner.on_progress = progress()
        try:
            return list(await asyncio.gather(*(inspect(source, runner) for source in sources)))
        finally:
            await runner.aclose()

    return asyncio.run(every())


def _files(folder: str) -> list[Path]:
    path = Path(folder)
    try:
        files = sorted(
            file for file in path.iterdir() if file.suffix == ".py" and not file.name.startswith((".", "__"))
        )
    except FileNotFoundError:
        raise _bad(folder, "does not exist") from None
    except NotADirectoryError:
        raise _bad(folder, "is no folder") from None
    except OSError:
        raise _bad(folder, "cannot be read") from None
    if len(files) > MAX_FILES:
        raise _bad(folder, f"holds more than {MAX_FILES} .py files")
    return files


def _bad(folder: str, reason: str) -> BadUsage:
    fix = "Name a folder that holds component sources, one a .py file."
    return BadUsage("unreadable", f"{folder} {reason}.", fix=fix, where="--components")


def _text(path: Path) -> str:
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError("too large")
    return content.decode("utf-8-sig")


def _unreadable(name: str) -> "Fault":
    from flows.faults import Fault

    message = f"{name}: cannot be read as UTF-8 text of at most {MAX_BYTES // 1024:,} kB."
    return Fault(code="unreadable", message=message, fix="Save it as UTF-8, or take it out of the folder.", line=1)


def _in_file(name: str, fault: "Fault") -> "Fault":
    where = name if fault.line is None else f"{name} line {fault.line}"
    return replace(fault, message=f"{where}: {fault.message}")


def _clash(part: "ComponentType", others: "dict[str, ComponentType]", catalogue: "Catalogue") -> "Fault | None":
    from flows.faults import Fault
    from runtime.components.inspection import is_taken, name_taken

    if is_taken(catalogue, part.type):
        return replace(name_taken(part.type), line=1)
    if part.type in others:
        message = f"Another file holds the component {part.type!r}, too."
        return Fault(code="duplicate_component", message=message, fix="Keep one of them, or rename a class.", line=1)
    return None
