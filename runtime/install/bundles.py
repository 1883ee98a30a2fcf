"""Bundles: packages that add component types to the flow engine; which are chosen, and which brings what is missing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from flows.document import Json
from flows.json_values import as_list, as_object, texts
from runtime.files.atomic import write_atomically

_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?P<extras>\[[A-Za-z0-9._,\s-]+\])?"
    r"\s*(?P<version>(?:(?:===|==|~=|!=|<=|>=|<|>)\s*[A-Za-z0-9.*+!_-]+\s*,?\s*)*)"
)
MAX_BUNDLES = 50

# Modules whose distribution has another name than the module, and that some component type imports.
_DISTRIBUTIONS = {
    "PIL": "pillow",
    "apify_client": "apify-client",
    "astrapy": "lfx-datastax",
    "bs4": "beautifulsoup4",
    "cassio": "lfx-datastax",
    "cohere": "lfx-cohere",
    "cv2": "opencv-python-headless",
    "docling": "lfx-docling",
    "docling_core": "lfx-docling",
    "duckduckgo_search": "lfx-duckduckgo",
    "ddgs": "lfx-duckduckgo",
    "exa_py": "lfx-exa",
    "firecrawl": "lfx-firecrawl",
    "fitz": "pymupdf",
    "git": "gitpython",
    "google": "lfx-google",
    "googleapiclient": "lfx-google",
    "ibm_watsonx_ai": "lfx-ibm",
    "langchain_anthropic": "lfx-anthropic",
    "langchain_astradb": "lfx-datastax",
    "langchain_aws": "lfx-amazon",
    "langchain_azure_ai": "lfx-azure",
    "langchain_cohere": "lfx-cohere",
    "langchain_google_community": "lfx-google",
    "langchain_google_genai": "lfx-google",
    "langchain_google_vertexai": "lfx-google",
    "langchain_ibm": "lfx-ibm",
    "langchain_ollama": "lfx-ollama",
    "langchain_openai": "lfx-openai",
    "anthropic": "lfx-anthropic",
    "arxiv": "lfx-arxiv",
    "boto3": "lfx-amazon",
    "botocore": "lfx-amazon",
    "oracledb": "lfx-oracle",
    "paddleocr": "lfx-paddle",
    "sklearn": "scikit-learn",
    "slack_sdk": "lfx-slack",
    "valkey": "lfx-valkey",
    "yaml": "pyyaml",
}

# Bundles of the `ext:<bundle>:<Class>@<slot>` types that have a distribution of their own.
_OWN = re.compile(
    "amazon|anthropic|arxiv|azure|cohere|confluent|datastax|docling|duckduckgo|empiriolabs|exa|firecrawl|github|google|"
    "ibm|microsoft|nextplaid|ollama|openai|openai-compatible|oracle|paddle|slack|toolguard|valkey|vllm"
)
_EVERYTHING_ELSE = "lfx-bundles"
"""The distribution that brings the component types of every other provider."""

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
_NO_PACKAGE = frozenset({"it", "package", "module", "library", "python", "the", "this", "dependency", "and"})


class BundleNameError(ValueError):
    """A text does not name a package; `fix` says how to write one."""

    def __init__(self, text: str) -> None:
        super().__init__(f"{text[:80]!r} does not name a package.")
        self.fix = "Write the package's name, such as lfx-anthropic, with a version if need be: lfx-anthropic==0.2.1."


def requirement(text: str) -> str:
    """The requirement that `text` names, in one form: a name, extras and versions, and no address or path.

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


def with_bundles(current: Iterable[str], added: Iterable[str], removed: Iterable[str]) -> tuple[str, ...]:
    """The bundles that are chosen after a change; an added one takes the place of its other versions.

    Raises:
        BundleNameError: one of the texts names no package.
    """
    kept = {package_name(each): each for each in current}
    for each in map(requirement, removed):
        kept.pop(package_name(each), None)
    for each in map(requirement, added):
        kept[package_name(each)] = each
    return tuple(kept[name] for name in sorted(kept))[:MAX_BUNDLES]


def bundles_file(cache: Path) -> Path:
    """Where the chosen bundles are written down."""
    return cache / "runner" / "bundles.json"


def chosen_bundles(cache: Path) -> tuple[str, ...]:
    """The bundles that were chosen; none when there is no such file, or it is damaged."""
    try:
        found: Json = json.loads(bundles_file(cache).read_text(encoding="utf-8"))
        return with_bundles((), texts(as_list(as_object(found).get("bundles"))), ())
    except (OSError, ValueError):
        return ()


def choose_bundles(cache: Path, bundles: Iterable[str]) -> None:
    """Write down which bundles are chosen, in one step.

    Raises:
        OSError: it cannot be written.
    """
    file = bundles_file(cache)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, json.dumps({"bundles": list(bundles)}).encode())


def package_for(message: str) -> str | None:
    """The package to install when an import failed with `message`, or None when it does not say which."""
    if found := _INSTALL_IT.search(message):
        named = found["name"].rstrip(".,;")
        return _DISTRIBUTIONS.get(named.replace("-", "_"), named.lower())
    if found := _NO_MODULE.search(message):
        return distribution_of(found["module"])
    if found := _CANNOT_IMPORT.search(message):
        named = (found["name"] or found["other"]).rstrip(".")
        if named.lower() not in _NO_PACKAGE:
            return distribution_of(named.partition(".")[0])
    return None


def distribution_of(module: str) -> str:
    """The distribution that brings a top-level module, the engine's bundle for it first."""
    if module in _DISTRIBUTIONS:
        return _DISTRIBUTIONS[module]
    if module.startswith("lfx_"):
        return module.replace("_", "-")
    return module.replace("_", "-").lower()


def bundle_of(kind: str) -> str | None:
    """The distribution that brings the component type `ext:<bundle>:…`, or None for a type of another form."""
    parts = kind.split(":")
    if len(parts) < 3 or parts[0] != "ext" or not re.fullmatch(r"[A-Za-z0-9_-]+", parts[1]):
        return None
    bundle = parts[1].replace("_", "-").lower()
    return f"lfx-{bundle}" if _OWN.fullmatch(bundle) else _EVERYTHING_ELSE


def install_hint(package: str) -> str:
    """What to do about a package that is missing."""
    return f"Install it: wirewright runner install --with {package}"
