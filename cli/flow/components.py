"""A flow's own components: a folder of sources, one per file, scanned by the guard and made in a confined process."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from cli.errors import BadUsage
from cli.output.streams import progress

if TYPE_CHECKING:
    from flows.catalogue import Catalogue
    from flows.component_type import ComponentType
    from flows.faults import Fault
    from runtime.components.inspection import DescribesComponents, Inspection

ComponentsFolder: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--components", metavar="DIR", help="A folder with the flow's own components: one source per .py file."
    ),
]
Inspect: TypeAlias = "Callable[[Iterable[str]], list[Inspection]]"

MAX_FILES = 100
MAX_BYTES = 1024 * 1024


@dataclass(frozen=True)
class FlowComponents:
    """A flow's own components.

    Attributes:
        components: the component types that can be used.
        faults: what is wrong with the files; each message names its file, and `line` is a line of it.
    """

    components: "tuple[ComponentType, ...]" = ()
    faults: "tuple[Fault, ...]" = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources of the components."""
        return tuple(component.code for component in self.components)

    def added_to(self, catalogue: "Catalogue") -> "Catalogue":
        """The catalogue with these components beside its own."""
        return catalogue.with_components(self.components) if self.components else catalogue


@dataclass(frozen=True)
class ComponentSources:
    """The files in a folder of components.

    Attributes:
        texts: the sources by file name.
        faults: one for each file that cannot be read.
    """

    texts: Mapping[str, str]
    faults: "tuple[Fault, ...]" = ()

    def components(self, inspections: "Sequence[Inspection]", catalogue: "Catalogue | None") -> FlowComponents:
        """The components that the sources make, and a fault for each that makes none.

        Args:
            inspections: what each source makes, in order.
            catalogue: the built-in component types, whose names are taken.
        """
        faults = list(self.faults)
        components: dict[str, ComponentType] = {}
        for name, found in zip(self.texts, inspections, strict=True):
            faults += [_in_file(name, fault) for fault in found.faults]
            if found.component is not None:
                clash = _clash(found.component, components, catalogue)
                if clash is None:
                    components[found.component.type] = found.component
                else:
                    faults.append(_in_file(name, clash))
        return FlowComponents(tuple(components.values()), tuple(faults))


def read_sources(folder: str | None) -> ComponentSources:
    """Read the files of a folder of components.

    Args:
        folder: its name as the user gave it; None has no files.

    Raises:
        BadUsage: the folder does not exist, cannot be read or holds too many files.
    """
    from runtime.files.texts import TextRefused, read_text

    faults: list[Fault] = []
    texts: dict[str, str] = {}
    for path in [] if folder is None else _files(folder):
        try:
            texts[path.name] = read_text(path, MAX_BYTES)
        except TextRefused:
            faults.append(_unreadable(path.name))
    return ComponentSources(texts, tuple(faults))


def with_user_components(given: ComponentSources, spec: str, catalogue: "Catalogue") -> ComponentSources:
    """The sources, with those of the user's own components that spec text names and that come from nowhere else.

    Args:
        given: the sources of the folder that the user has named.
        spec: the spec text.
        catalogue: the built-in component types.
    """
    from flows.spec.parse import parse

    held = {Path(name).stem for name in given.texts}
    wanted = {node.type for node in parse(spec)[0].nodes if node.type not in catalogue} - held
    if not wanted:
        return given
    from agent.settings import AssistantSettings
    from cli.settings import settings_of
    from runtime.components.store import sources
    from runtime.files.folders import LOCAL_USER

    stored = sources(settings_of(AssistantSettings).data, LOCAL_USER, sorted(wanted))
    return replace(given, texts={**given.texts, **{f"{name}.py": text for name, text in stored.items()}})


async def inspect_all(sources: Iterable[str], runner: "DescribesComponents") -> "list[Inspection]":
    """What each source makes, with a runner's engine."""
    from runtime.components.inspection import inspect

    return list(await asyncio.gather(*(inspect(source, runner) for source in sources)))


def inspect_in_new_engine(sources: Iterable[str]) -> "list[Inspection]":
    """What each source makes, with an engine that is started for this alone."""
    from runtime.runner import Runner

    async def inspected() -> "list[Inspection]":
        runner = Runner(concurrency=2)
        runner.on_progress = progress()
        try:
            return await inspect_all(sources, runner)
        finally:
            await runner.aclose()

    return asyncio.run(inspected())


def _files(folder: str) -> list[Path]:
    path = Path(folder)
    try:
        files = sorted(
            file for file in path.iterdir() if file.suffix == ".py" and not file.name.startswith((".", "__"))
        )
    except FileNotFoundError:
        raise _bad(folder, "does not exist") from None
    except NotADirectoryError:
        raise _bad(folder, "is not a directory") from None
    except OSError:
        raise _bad(folder, "cannot be read") from None
    if len(files) > MAX_FILES:
        raise _bad(folder, f"holds more than {MAX_FILES} .py files")
    return files


def _bad(folder: str, reason: str) -> BadUsage:
    fix = "Name a folder that holds component sources, one per .py file."
    return BadUsage("unreadable", f"{folder} {reason}.", fix=fix, where="--components")


def _unreadable(name: str) -> "Fault":
    from flows.faults import Fault

    message = f"{name}: cannot be read as UTF-8 text of at most {MAX_BYTES // 1024:,} kB."
    return Fault(code="unreadable", message=message, fix="Save it as UTF-8, or remove it from the folder.", line=1)


def _in_file(name: str, fault: "Fault") -> "Fault":
    where = name if fault.line is None else f"{name} line {fault.line}"
    return replace(fault, message=f"{where}: {fault.message}")


def _clash(part: "ComponentType", others: "dict[str, ComponentType]", catalogue: "Catalogue | None") -> "Fault | None":
    from flows.faults import Fault
    from runtime.components.inspection import is_taken, name_taken

    if catalogue is not None and is_taken(catalogue, part.type):
        return replace(name_taken(part.type), line=1)
    if part.type in others:
        message = f"Another file also holds the component {part.type!r}."
        return Fault(code="duplicate_component", message=message, fix="Keep one of them, or rename a class.", line=1)
    return None
