"""Bundles: packages that add component types to the flow engine; which are chosen, and which one provides a module."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable
from pathlib import Path

from flows.bundles import bundle_index
from flows.document import Json
from flows.json_values import as_list, as_object, texts
from runtime.files.atomic import write_atomically
from runtime.install.errors import InstallError

_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?P<extras>\[[A-Za-z0-9._,\s-]+\])?"
    r"\s*(?P<version>(?:(?:===|==|~=|!=|<=|>=|<|>)\s*[A-Za-z0-9.*+!_-]+\s*,?\s*)*)"
)
MAX_BUNDLES = 50
"""How many bundles can be installed together."""

_MODULES_BY_DISTRIBUTION = {
    "apify-client": "apify_client",
    "beautifulsoup4": "bs4",
    "gitpython": "git",
    "lfx-amazon": "boto3 botocore langchain_aws",
    "lfx-anthropic": "anthropic langchain_anthropic",
    "lfx-arxiv": "arxiv",
    "lfx-azure": "langchain_azure_ai",
    "lfx-cohere": "cohere langchain_cohere",
    "lfx-datastax": "astrapy cassio langchain_astradb",
    "lfx-docling": "docling docling_core",
    "lfx-duckduckgo": "ddgs duckduckgo_search",
    "lfx-exa": "exa_py",
    "lfx-firecrawl": "firecrawl",
    "lfx-google": "google googleapiclient langchain_google_community langchain_google_genai langchain_google_vertexai",
    "lfx-ibm": "ibm_watsonx_ai langchain_ibm",
    "lfx-ollama": "langchain_ollama",
    "lfx-openai": "langchain_openai",
    "lfx-oracle": "oracledb",
    "lfx-paddle": "paddleocr",
    "lfx-slack": "slack_sdk",
    "lfx-valkey": "valkey",
    "opencv-python-headless": "cv2",
    "pillow": "PIL",
    "pymupdf": "fitz",
    "pyyaml": "yaml",
    "scikit-learn": "sklearn",
}
"""Modules that some component type imports and whose distribution has another name."""
_DISTRIBUTIONS = {
    module: distribution for distribution, modules in _MODULES_BY_DISTRIBUTION.items() for module in modules.split()
}

# Bundles of the types `ext:<bundle>:<Class>@<slot>` that have a separate distribution.
_SEPARATE = re.compile(
    "amazon|anthropic|arxiv|azure|cohere|confluent|datastax|docling|duckduckgo|empiriolabs|exa|firecrawl|github|google|"
    "ibm|microsoft|nextplaid|ollama|openai|openai-compatible|oracle|paddle|slack|toolguard|valkey|vllm"
)
_EVERYTHING_ELSE = "lfx-bundles"
"""The distribution with the component types of every other provider."""

_NO_MODULE = re.compile(r"No module named ['\"]?(?P<module>\w+)")
_INSTALL_IT = re.compile(
    r"(?:pip install|uv add|uv pip install)\s+(?:-\w+\s+|--[\w-]+\s+)*[`'\"]?(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)"
)
_CANNOT_IMPORT = re.compile(
    r"(?:missing optional dependency|could not import|cannot import|unable to import|please install)\s+(?:the\s+)?"
    r"[`'\"]?(?P<name>[A-Za-z][\w.-]+)"
    r"|[`'\"]?(?P<other>[A-Za-z][\w.-]+)[`'\"]?\s+(?:package\s+)?(?:is|was) not (?:installed|found)",
    re.IGNORECASE,
)
_NOT_PACKAGES = frozenset({"it", "package", "module", "library", "python", "the", "this", "dependency", "and"})


class BundleNameError(ValueError):
    """A text does not name a package; `text` is that text, and `fix` says how to write one."""

    def __init__(self, text: str) -> None:
        super().__init__(f"{text[:80]!r} does not name a package.")
        self.text = text
        self.fix = "Write the package's name, such as lfx-anthropic, with a version if need be: lfx-anthropic==0.2.1."


def requirement(text: str) -> str:
    """The requirement that `text` names, normalised: a name, extras and versions, but no address or path.

    Raises:
        BundleNameError: it is something else.
    """
    found = _REQUIREMENT.fullmatch(text.strip())
    if found is None or len(text) > 200:
        raise BundleNameError(text)
    name = re.sub(r"[-_.]+", "-", found["name"]).lower()
    extras = ",".join(sorted(part.strip() for part in (found["extras"] or "[]")[1:-1].split(",") if part.strip()))
    version = re.sub(r"\s+", "", found["version"]).strip(",")
    return f"{name}{f'[{extras}]' if extras else ''}{version}"


def package_name(required: str) -> str:
    """The package's name in a requirement that `requirement` gave."""
    return re.split(r"[\[=<>!~]", required, maxsplit=1)[0]


def _extras(required: str) -> set[str]:
    found = re.search(r"\[([^\]]*)\]", required)
    return set(found[1].split(",")) if found else set()


def _version(required: str) -> str:
    return re.sub(r"^[^\[=<>!~]*(?:\[[^\]]*\])?", "", required)


def with_bundles(current: Iterable[str], added: Iterable[str], removed: Iterable[str]) -> tuple[str, ...]:
    """The chosen bundles after a change; an added one replaces its other versions, and keeps their extras.

    Raises:
        BundleNameError: one of the texts does not name a package.
        InstallError: there are more than `MAX_BUNDLES`.
    """
    kept = {package_name(each): each for each in current}
    for each in map(requirement, removed):
        kept.pop(package_name(each), None)
    for each in map(requirement, added):
        name = package_name(each)
        extras = sorted(_extras(each) | _extras(kept.get(name, "")))
        kept[name] = requirement(f"{name}[{','.join(extras)}]{_version(each)}" if extras else each)
    if len(kept) > MAX_BUNDLES:
        message = f"At most {MAX_BUNDLES} bundles can be installed; this would make {len(kept)}."
        raise InstallError(message, "Add fewer bundles, or remove some in the same command.")
    return tuple(kept[name] for name in sorted(kept))


def bundles_file(cache: Path) -> Path:
    """The file with the chosen bundles."""
    return cache / "runner" / "bundles.json"


def chosen_bundles(cache: Path) -> tuple[str, ...]:
    """The chosen bundles; none if their file is missing or invalid."""
    try:
        found: Json = json.loads(bundles_file(cache).read_text(encoding="utf-8"))
        return with_bundles((), texts(as_list(as_object(found).get("bundles"))), ())
    except (OSError, ValueError, InstallError):
        return ()


def choose_bundles(cache: Path, bundles: Iterable[str]) -> None:
    """Save the chosen bundles in one step.

    Raises:
        OSError: it cannot be written.
    """
    file = bundles_file(cache)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, json.dumps({"bundles": list(bundles)}).encode())


def package_for(message: str) -> str | None:
    """The package to install after an import failed with `message`, or None if it does not say which."""
    if found := _INSTALL_IT.search(message):
        named = found["name"].rstrip(".,;")
        return _DISTRIBUTIONS.get(named.replace("-", "_"), named.lower())
    if found := _NO_MODULE.search(message):
        return distribution_of(found["module"])
    if found := _CANNOT_IMPORT.search(message):
        named = (found["name"] or found["other"]).rstrip(".")
        if named.lower() not in _NOT_PACKAGES:
            return distribution_of(named.partition(".")[0])
    return None


def distribution_of(module: str) -> str:
    """The distribution of a top-level module, preferably the engine's bundle for it."""
    if module in _DISTRIBUTIONS:
        return _DISTRIBUTIONS[module]
    if module.startswith("lfx_"):
        return module.replace("_", "-")
    return module.replace("_", "-").lower()


def bundle_of(kind: str) -> str | None:
    """What to install for the component type `ext:<bundle>:…`, or None for any other type."""
    parts = kind.split(":")
    if len(parts) < 3 or parts[0] != "ext" or not re.fullmatch(r"[A-Za-z0-9_-]+", parts[1]):
        return None
    if (known := bundle_index().bundle_of(kind)) is not None:
        return known.requirement
    bundle = parts[1].replace("_", "-").lower()
    return f"lfx-{bundle}" if _SEPARATE.fullmatch(bundle) else _EVERYTHING_ELSE


def install_hint(*packages: str) -> str:
    """How to install missing packages."""
    return f"Install {'it' if len(packages) == 1 else 'them'}: wirewright runner install --with {shlex.join(packages)}"
