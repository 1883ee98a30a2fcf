"""Turns the exceptions of a run into a `RunError`: the deepest meaningful cause, classified, without secrets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from flows.document import Json
from flows.json_values import as_object, as_text
from runtime.install.bundles import install_hint, package_for
from runtime.results import RunError, RunErrorCode

MAX_MESSAGE = 600
"""Characters of the longest message."""


@dataclass(frozen=True)
class Cause:
    """One exception of a chain: its qualified class name, its message, and its link to the exception before."""

    type: str
    message: str
    link: str
    wraps: bool = False
    """Whether it only says which component failed."""

    @property
    def name(self) -> str:
        """The class name alone."""
        return self.type.rpartition(".")[2]


_WRAPPERS = re.compile(
    r"^\s*(?:Error running graph:|Error running method \"[^\"\n]*\":|Error building Component [^:\n]*:"
    r"|Error executing Component [^:\n]*:"
    r"|Error while creating graph from payload:|An error occurred:|ComponentBuildError:)\s*"
)
_EMPTY_FILE = re.compile(
    r"^Error loading file (?P<file>[^\n]+?): (?:input is a zero-length, empty document|input data is empty"
    r"|cannot read an empty file|no columns to parse from file)\b",
    re.IGNORECASE,
)
"""How parsers say that a file has no content."""
_PROVIDER_MESSAGE = re.compile(r"""['"]message['"]:\s*(['"])(?P<text>.+?)(?<!\\)\1(?=\s*[,}])""", re.DOTALL)
_WRAPPER_TYPES = {"ComponentBuildError", "ExceptionWithMessageError", "StreamingError"}
# Causes that mean something only to the author of the code.
_INCIDENTAL = {
    "KeyError",
    "IndexError",
    "AttributeError",
    "StopIteration",
    "StopAsyncIteration",
    "CancelledError",
    "LookupError",
}
_BARE = _INCIDENTAL | {"ZeroDivisionError", "RecursionError", "MemoryError", "AssertionError", "NotImplementedError"}


@dataclass(frozen=True)
class _Rule:
    code: RunErrorCode
    types: frozenset[str]
    written: str
    fix: str

    @cached_property
    def text(self) -> re.Pattern[str] | None:
        """The pattern of its messages, compiled for the first run that fails."""
        return re.compile(self.written, re.IGNORECASE) if self.written else None


def _rule(code: RunErrorCode, types: str, text: str, fix: str) -> _Rule:
    return _Rule(code, frozenset(types.split()), text, fix)


# The first rule that matches any cause applies.
_RULES = (
    _rule("limit", "FilesTooLarge", "", "Let the flow write fewer files, or smaller ones."),
    _rule("limit", "ResultTooLarge", "", "Let the flow return less: fewer rows, or a shorter text."),
    _rule("limit", "IterationLimit", "", "Let the loop go over fewer rows, or end it sooner."),
    _rule("limit", "MemoryError", "", "Give the flow less data at once."),
    _rule(
        "limit",
        "",
        r"\[Errno (?:24|27|28|122)\]|too many open files|no space left on device|file too large",
        "Give the flow less to write, or fewer files at once.",
    ),
    _rule(
        "refused",
        "",
        r"a run looks up no names|\[Errno 13\] connect call failed"
        r"|(?:connect|server|host|port)[^\n]*(?:\[Errno 13\]|permission denied)"
        r"|^\[Errno 13\] Permission denied$",
        "A run reaches hosts by its proxy, for HTTP. For a client that cannot use it, such as a database driver, the "
        "operator names host and port: WIREWRIGHT_RUN_HOSTS=host:port",
    ),
    _rule(
        "refused",
        "",
        r"\[Errno 13\] Permission denied(?!.*connect)|\[Errno 1\] Operation not permitted: ['\"]",
        "A run reads and writes only its own files: give the node the content, or a file of the flow.",
    ),
    _rule(
        "refused",
        "",
        r"\[Errno 2\] No such file or directory: ['\"]/(?!.*/run-\d+/(?:home|tmp)/)",
        "A run sees only its own files: give the node the content, or a file of the flow.",
    ),
    _rule(
        "refused",
        "LocalFileAccessError",
        r"accesses the local filesystem and is not permitted",
        "A run reads files of the flow only: give the node an uploaded file, or its content.",
    ),
    _rule(
        "refused",
        "",
        r"ssrf protection: .*\bblocked\b",
        "A run cannot reach addresses of this machine or of a private network: use a public one.",
    ),
    _rule(
        "external",
        "",
        r"requires langflow's application services|user with id 0{8}-\S+ not found",
        "This component works only inside Langflow; use another one.",
    ),
    _rule(
        "missing_package",
        "ModuleNotFoundError ImportError",
        r"no module named|could not import|is not installed|pip install|uv add|missing optional dependency",
        "Use a component that comes with the flow engine.",
    ),
    _rule(
        "missing_key",
        "AuthenticationError",
        r"(?:\b|_)api[ _-]?key\b|\baccess token\b.*\b(missing|required)|unauthori[sz]ed|credentials"
        r"|(?:status|code|http|error)\W{0,3}(?:code\W{0,3})?401\b",
        "Give the node its key, or use a component that needs none.",
    ),
    _rule(
        "missing_model",
        "",
        r"(select|choose|provide|specify) a (language )?model|model (is|must be) (required|selected|provided)"
        r"|no (language )?model|requested model provider is not available|embedding model (is )?(required|missing)",
        "Choose a model in the node.",
    ),
    _rule(
        "wiring",
        "",
        r"^edge |\bedge (between|from|not found)|no matched type|\b(source|target) ?handle\b|has not been built yet"
        r"|result not found for|invalid payload|\bvertex\b.*\bnot found|cyclic|\bcycle\b",
        "Check how this node is connected.",
    ),
    _rule(
        "external",
        "ConnectError ConnectTimeout ReadTimeout ReadError HTTPStatusError HTTPError ConnectionError gaierror URLError "
        "ConnectionRefusedError ConnectionResetError APIConnectionError APITimeoutError APIStatusError RateLimitError "
        "NotFoundError InternalServerError SSLError ClientConnectorError TimeoutException TimeoutError "
        "SSRFProtectionError RemoteProtocolError ProxyError ClientHttpProxyError",
        r"no structured output returned"
        r"|all connection attempts failed|connection (refused|reset|error|timed out)|name or service not known"
        r"|temporary failure in name resolution|max retries exceeded|ssrf",
        "The flow needs an outside service that did not answer as expected: check the address, or try again.",
    ),
    _rule(
        "missing_input",
        "",
        r"\[Errno (?:2|20|21)\]|no such file|file (was )?not found|must be (provided|given|set)|\b(is|are) required\b"
        r"|\brequired (input|field|parameter)|\bmissing (input|value|required)"
        r"|no (input|text|data) (was )?(provided|given)|^no files to process"
        r"|(cannot|must not|can't) be empty|\bis empty\b"
        r"|please (provide|enter)|not provided",
        "Give the node the value that it needs, or connect something to it.",
    ),
)
_FIXES = {
    "JSONDecodeError": "Give the node text that is JSON.",
    "PatternError": "Correct the regular expression.",
    "error": "Correct the regular expression.",
    "ZeroDivisionError": "Check the divisor: it is zero.",
    "KeyError": "Check the names of keys and columns: the input has none of this name.",
    "TypeError": "Check that the values that come into this node are of the type that it expects.",
    "ValidationError": "Check that every value of this node is of the type that its field takes.",
}
"""Fixes by class name, for errors that no rule matches."""
_DOTLESS_FIX = (
    "This component takes only hosts with a dot in their name: write 127.0.0.1 in place of localhost, "
    "and have the operator name host and port: WIREWRIGHT_RUN_HOSTS=127.0.0.1:PORT"
)
_FIXES_BY_TEXT = (
    (re.compile(r"\binvalid json\b|^expecting value: line", re.IGNORECASE), _FIXES["JSONDecodeError"]),
    (re.compile(r"\bregex pattern\b|\bregular expression\b", re.IGNORECASE), _FIXES["PatternError"]),
    (
        re.compile(r"^invalid url provided: https?://[\w-]+(?:[:/?#]|$)", re.IGNORECASE),
        _DOTLESS_FIX,
    ),
)
"""Fixes by message, for errors whose class says too little."""
_DEFAULT_FIX = "Check the values and connections of this node."
_UNKNOWN_HOST_NAME = re.compile(
    r"name or service not known|nodename nor servname|no address associated with hostname|getaddrinfo failed"
    r"|name does not resolve|\[errno -(?:2|5)\]",
    re.IGNORECASE,
)
_NO_NAME_SERVER = re.compile(r"temporary failure in name resolution|\[errno -3\]", re.IGNORECASE)
_NOT_RESOLVED = re.compile(r"dns resolution failed|failed to resolve|nameresolutionerror", re.IGNORECASE)
_HOST_NAME = re.compile(
    r"resolution failed for '?(?P<failed>[\w.-]*\w)|failed to resolve '(?P<quoted>[^']+)'|\bhost='(?P<pool>[^']+)'"
    r"|connect to host (?P<client>[\w.-]*\w)|https?://(?:[^/\s@]*@)?(?P<url>[\w.-]*\w)",
    re.IGNORECASE,
)
_HOST_FIX = "Check the address for typing errors, and that this machine has a network, then try again."


def error_from_chain(chain: Sequence[Json], node: str | None) -> RunError:
    """The error for a chain of exceptions, outermost first, as the runner reports it (`type`, `message`, `link`)."""
    causes = [
        _cause(as_text(entry.get("type")), as_text(entry.get("message")), as_text(entry.get("link")))
        for entry in map(as_object, chain)
    ]
    chosen = deepest_meaningful(causes)
    if chosen is None:
        return RunError(code="code", message="The flow failed without a message.", fix=_DEFAULT_FIX, node=node)
    relevant = _relevant(causes, chosen)
    empty = next(filter(None, (_EMPTY_FILE.match(cause.message) for cause in relevant)), None)
    if empty is not None:
        message = scrub(f"The file {empty['file']} is empty.")
        return RunError(code="missing_input", message=message, fix="Give the node a file with content.", node=node)
    unknown = _unknown_host([cause.message for cause in relevant], node)
    if unknown is not None:
        return unknown
    for rule in _RULES:
        if any(_matches(rule, cause) for cause in relevant):
            fix = _package_fix(relevant) or rule.fix if rule.code == "missing_package" else rule.fix
            return RunError(code=rule.code, message=_readable(chosen), fix=fix, node=node)
    by_text = (fix for pattern, fix in _FIXES_BY_TEXT if pattern.search(chosen.message))
    fix = next(by_text, None) or _FIXES.get(chosen.name, _DEFAULT_FIX)
    return RunError(code="code", message=_readable(chosen), fix=fix, node=node)


def _unknown_host(messages: Sequence[str], node: str | None) -> RunError | None:
    """The error for a host whose address cannot be found; None when the messages tell of something else.

    Args:
        messages: those of the exceptions, outermost first.
        node: the node that failed.
    """
    text = "\n".join(messages)
    if _NO_NAME_SERVER.search(text):
        why = "its name cannot be resolved, as without a network"
    elif _UNKNOWN_HOST_NAME.search(text) or _NOT_RESOLVED.search(text):
        why = "there is no host of that name"
    else:
        return None
    found = _HOST_NAME.search(text)
    name = "" if found is None else next(filter(None, found.groups()), "")
    host = f"The host {name[:253]}" if name else "A host that the flow calls"
    return RunError(code="external", message=f"{host} could not be reached: {why}.", fix=_HOST_FIX, node=node)


def _relevant(causes: Sequence[Cause], chosen: Cause) -> list[Cause]:
    """The causes that tell the kind of error: not those that were only being handled when another was raised."""
    at = next(number for number, cause in enumerate(causes) if cause is chosen)
    relevant = list(causes[: at + 1])
    for cause in causes[at + 1 :]:
        if cause.link == "context":
            break
        relevant.append(cause)
    return relevant


def _package_fix(causes: Sequence[Cause]) -> str | None:
    packages = (package_for(cause.message) for cause in reversed(causes))
    package = next((package for package in packages if package is not None), None)
    return None if package is None else f"{install_hint(package)}."


def deepest_meaningful(causes: Sequence[Cause]) -> Cause | None:
    """The deepest cause that is neither a wrapper, nor empty, nor an incidental detail.

    A cause that was only being handled when the next was raised counts only below a wrapper.
    """
    chosen: Cause | None = None
    for cause in causes:
        if cause.wraps:
            continue
        if chosen is not None:
            if cause.link == "context" or cause.name in _INCIDENTAL or len(cause.message) < len("x y"):
                break
            if cause.message in chosen.message and cause.name not in _BARE:
                continue
        if cause.message or cause.name in _BARE:
            chosen = cause
    return chosen or next((cause for cause in reversed(causes) if cause.message), None)


def scrub(text: str) -> str:
    """`text` without stack traces, secrets, local folders and memory addresses, and of bounded length."""
    text = text.partition("Traceback (most recent call last)")[0]
    for pattern, replacement in _SCRUBS:
        text = pattern.sub(replacement, text)
    text = re.sub(r"\n{3,}", "\n\n", text).strip()
    return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 1].rstrip() + "…"


_SCRUBS = (
    (re.compile(r"(?i)\b(bearer|basic)\s+[a-z0-9._~+/=-]{8,}"), r"\1 ***"),
    (re.compile(r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{8,}"), "***"),
    (re.compile(r"\b(?:gh[pousr]_|github_pat_|xox[a-z]-|AKIA|ASIA|AIza|hf_|gsk_|glpat-)[A-Za-z0-9_-]{8,}"), "***"),
    (re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"), "***"),
    (re.compile(r"-----BEGIN [^-]*PRIVATE KEY-----.*?(?:-----END [^-]*-----|$)", re.DOTALL), "***"),
    (re.compile(r"(\w+://)[^/\s:@]+:[^/\s@]+@"), r"\1***@"),
    (
        re.compile(
            r"(?i)\b((?:[\w-]*(?:api[_-]?key|apikey|token|secret|password|passwd|access[_-]?key))['\"]?\s*[=:]\s*['\"]?)"
            r"(?!\*\*\*)[^\s'\",;&)]{6,}"
        ),
        r"\1***",
    ),
    (re.compile(r"(?<![\w:/.\\])(?:~|/[\w.@+-]+)(?:/[\w.@+-]+)*/([\w.@+-]+)"), r"\1"),
    (re.compile(r"(?<![\w\\])[A-Za-z]:\\(?:[^\\\s'\"]+\\)*([^\\\s'\"]+)"), r"\1"),
    (re.compile(r" at 0x[0-9a-fA-F]+"), ""),
    (re.compile(r"\s*For further information visit \S+"), ""),
    (re.compile(r"\s*\[type=\w+, input_value=.*?, input_type=\w+\]", re.DOTALL), ""),
    (re.compile(r"\s*\(LANGFLOW_\w+=\w+\)"), ""),
    (re.compile(r"\s*To allow this hostname, add it to LANGFLOW_\w+ environment variable\."), ""),
)


def _cause(kind: str, message: str, link: str) -> Cause:
    wraps = kind.rpartition(".")[2] in _WRAPPER_TYPES or _WRAPPERS.match(message) is not None
    return Cause(kind, _unwrapped(message), link, wraps)


def _unwrapped(message: str) -> str:
    while (shorter := _WRAPPERS.sub("", message, count=1)) != message:
        message = shorter
    if (found := _PROVIDER_MESSAGE.search(message)) is not None:
        return found["text"].replace("\\'", "'").replace('\\"', '"').replace("\\n", "\n").strip()
    return message.strip()


def _matches(rule: _Rule, cause: Cause) -> bool:
    if cause.name in rule.types:
        return True
    return rule.text is not None and rule.text.search(cause.message) is not None


def _readable(cause: Cause) -> str:
    message = scrub(cause.message)
    if not message:
        return f"{cause.name}."
    return f"{cause.name}: {message}" if cause.name in _BARE else message
