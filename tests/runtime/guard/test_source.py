"""What a scan tells: every violation with its line, rule and remedy, for any text at all."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot

from runtime.guard import Violation, scan
from runtime.guard.source import MAX_LENGTH

MESSY = """\
import os
from subprocess import run


class Component:
    secret = os.environ["KEY"]

    def build(self, path):
        run(["ls"])
        with open(path) as handle:
            return eval(handle.read())
"""


def rules(source: str) -> list[tuple[int, str]]:
    return [(found.line, found.rule) for found in scan(source)]


def test_all_violations_come_at_once_and_in_order() -> None:
    assert rules(MESSY) == snapshot(
        [
            (2, "process"),
            (6, "secrets"),
            (9, "process"),
            (10, "files"),
            (11, "dynamic_code"),
        ]
    )


def test_a_violation_names_what_it_found_and_what_to_do() -> None:
    assert scan("import os\nos.system('id')") == [
        Violation(
            line=2,
            rule="process",
            message="`os.system` starts or controls processes.",
            fix="Do the work in Python, or call a service over HTTP.",
        )
    ]
    assert scan("eval('1')")[0].to_json() == snapshot(
        {
            "rule": "dynamic_code",
            "line": 1,
            "message": "`eval` executes code that is made at run time.",
            "fix": "Write the code out; to read data use json.loads or ast.literal_eval.",
        }
    )


@pytest.mark.parametrize(
    "source",
    [
        "def (",
        "x = 'open",
        "a\x00b",
        "\ud800",
        "(" * 500,
        "-" * 100_000 + "1",
        "if 1:\nx",
        "x = 1\n  y = 2",
    ],
)
def test_source_that_does_not_parse_is_one_violation(source: str) -> None:
    found = scan(source)
    assert [violation.rule for violation in found] == ["syntax"]
    assert found[0].line >= 1


@pytest.mark.parametrize("coding", ["utf-7", "rot13", "unicode_escape", "utf_16", "latin-1"])
def test_an_encoding_that_hides_what_would_run_is_refused(coding: str) -> None:
    assert rules(f"# -*- coding: {coding} -*-\nx = 1") == [(1, "syntax")]
    assert rules("# -*- coding: utf-8 -*-\nx = 1") == []


@pytest.mark.parametrize(
    "source",
    [
        "x = 1\n" * MAX_LENGTH,
        "x = " + "f(" * 90 + "1" + ")" * 90,
        "x = " + "+".join(["'a'"] * 20_000),
        "x = " + "".join(f"a{n} if b else " for n in range(400)) + "1",
        "x = a" + ".b" * 900,
        "def f():\n    pass\n" * 9_000,
        "x = [" + "'abc', " * 40_000 + "]\nfor n in x:\n    getattr(self, n)\n",
        "x = 'a'\n" + "x = x + x\n" * 3_000,
        "x = []\n" + "x = [x, x]\n" * 2_000,
        "def f(a):\n    return f([a, f])\nf(f)\n" * 50,
        "y = 9 ** 9 ** 9\nx = 'a' * 10 ** 12\nz = 1 << 10 ** 10\nw = '%999999999d' % 1\nv = '{:>{}}'.format(1, 10**10)",
        "x = " + "[n for n in " * 60 + "'ab'" + "]" * 60,
    ],
    ids=range(12),
)
def test_huge_and_deep_sources_are_answered(source: str) -> None:
    assert {violation.rule for violation in scan(source)} <= {"syntax", "too_large", "escape"}


WORDS = st.sampled_from(
    [
        "import",
        "from",
        "os",
        "sys",
        "getattr",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ":",
        ",",
        ".",
        "=",
        "==",
        "'a'",
        '"b"',
        "def",
        "class",
        "return",
        "lambda",
        "self",
        "x",
        "y",
        "for",
        "in",
        "if",
        "else",
        "with",
        "as",
        "match",
        "case",
        "*",
        "**",
        "@",
        "eval",
        "open",
        "__class__",
        "__globals__",
        "f'{x}'",
        "1",
        "+",
        "%",
        "try",
        "except",
        "yield",
        "await",
        "async",
        ":=",
        "\n",
        "\n    ",
    ]
)


@settings(max_examples=300)
@given(st.lists(WORDS, max_size=40).map(" ".join) | st.text(max_size=200))
@example("x: x")
@example("match x:\n case {**rest}: pass")
@example("[*a, *b] = c")
@example("del x[0], y.z")
@example("async def f():\n async with a as b, c: pass\n async for x in y: yield x")
@example("try: pass\nexcept* ValueError as e: e.x")
@example("def f(a, /, b=1, *c, d=2, **e): return a\nf(*x, **y)")
@example("global x\nx += 1\nclass A:\n nonlocal_ = x")
@example("x = lambda *a, **k: (yield)")
@example("print(f'{x!r:>{y}}')")
def test_any_text_is_answered(source: str) -> None:
    found = scan(source)
    assert found == sorted(found)
    assert all(violation.line >= 1 and violation.message.endswith(".") and violation.fix for violation in found)
    assert found == scan(source)


FRAMES = [
    "{}",
    "def outer():\n    {}\n",
    "class A:\n    {}\n",
    "class A:\n    def m(self):\n        {}\n",
    "if x:\n    pass\nelse:\n    {}\n",
    "try:\n    pass\nfinally:\n    {}\n",
    "for i in y:\n    while i:\n        {}\n",
    "async def f():\n    async with a:\n        {}\n",
    "match x:\n    case 1:\n        {}\n",
    "with a as b:\n    {}\n",
]
HARMS = [
    "import subprocess",
    "eval('1')",
    "open('/etc/passwd')",
    "f = lambda: exec('1')",
    "v = [__import__(n) for n in z]",
    "u = {1: (x.__globals__,)}",
    "w = f'{x.__subclasses__()}'",
    "from os import system as harmless",
    "getattr(x, '__gl' + 'obals__')",
    "@eval\ndef g(): pass",
]


@given(st.sampled_from(FRAMES), st.sampled_from([harm for harm in HARMS if "\n" not in harm]))
def test_harm_is_found_wherever_it_stands(frame: str, harm: str) -> None:
    assert scan(frame.format("pass")) == []
    assert scan(frame.replace("{}", harm)) != []


@given(st.sampled_from(HARMS), st.sampled_from(["", "# a comment\n", "x = 'fine'\n", "import json\n"]))
def test_more_code_never_hides_harm(harm: str, more: str) -> None:
    alone = {violation.rule for violation in scan(harm)}
    assert alone <= {violation.rule for violation in scan(more + harm + "\n" + more)}


def test_modules_that_are_there_without_an_import_are_known() -> None:
    assert scan("os.system('x')") == []
    assert [found.rule for found in scan("os.system('x')", modules=["os"])] == ["process"]
    assert [found.rule for found in scan("x = 1", modules=["subprocess"])] == ["process"]
    assert scan("math.sqrt(4) + os.path.sep", modules=["math", "os.path"]) == []
