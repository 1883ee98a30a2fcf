"""What the guard finds in a component's source, with the remedy for each rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

Rule: TypeAlias = Literal[
    "secrets",
    "process",
    "dynamic_code",
    "escape",
    "deserialiser",
    "files",
    "tampering",
    "sockets",
    "native",
    "unlisted",
    "reserved",
    "syntax",
    "too_large",
]

DOES: Mapping[Rule, str] = MappingProxyType(
    {
        "secrets": "reaches the environment or stored secrets",
        "process": "starts or controls processes",
        "dynamic_code": "executes code that is made at run time",
        "escape": "reaches into the interpreter behind the component",
        "deserialiser": "executes code found in the data that it reads",
        "files": "reaches files outside a private temporary folder",
        "tampering": "changes the engine or the standard library for everything else",
        "sockets": "opens a network connection below HTTP",
        "native": "runs native code",
        "unlisted": "is not among what components may use",
    }
)
"""What is wrong with a thing that a rule forbids."""

FIXES: Mapping[Rule, str] = MappingProxyType(
    {
        "secrets": "Declare an input for the value (SecretStrInput for a key) and read it from self.",
        "process": "Do the work in Python, or call a service over HTTP.",
        "dynamic_code": "Write the code out; to read data use json.loads or ast.literal_eval.",
        "escape": "Use the object's public attributes, written out by name.",
        "deserialiser": "Use json, or yaml.safe_load.",
        "files": "Take the content through an input, and keep files in tempfile.TemporaryDirectory(), named by the"
        " source or by os.path.basename(...), or in io.BytesIO.",
        "tampering": "Leave shared modules and classes as they are: subclass, or pass a parameter.",
        "sockets": "Use an HTTP client: requests, httpx, aiohttp or urllib with an http(s) address.",
        "native": "Use Python or an installed library instead.",
        "unlisted": "Use what docs/guard.md lists, such as the standard library, lfx, httpx or pandas; an operator can"
        " allow more.",
        "reserved": "Name it after the value that it gives, such as item, price or result.",
        "syntax": "Send Python source that parses.",
        "too_large": "Split the component into smaller, flatter parts.",
    }
)
"""The remedy of each rule."""


@dataclass(frozen=True, order=True)
class Violation:
    """One reason why a source is refused.

    Attributes:
        line: where it stands, from 1.
        rule: the stable name of the rule.
        message: what was found, in a sentence.
        fix: what to write instead.
    """

    line: int
    rule: Rule
    message: str
    fix: str

    def to_json(self) -> dict[str, str | int]:
        """The violation as a JSON object."""
        return {"rule": self.rule, "line": self.line, "message": self.message, "fix": self.fix}
