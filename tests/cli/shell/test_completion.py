"""Shells complete commands and options: asked as shells ask, and once in a real bash."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from cli.shell.completion import VARIABLE
from tests.cli.conftest import Wirewright

ROOT = Path(__file__).parent.parent.parent.parent


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script(shell: str, wirewright: Wirewright) -> None:
    done = wirewright("completion", shell)
    assert done.code == 0
    assert VARIABLE in done.out
    assert wirewright("completion", shell, "--json").json == {"shell": shell, "script": done.out.removesuffix("\n")}


def test_another_shell_is_refused(wirewright: Wirewright) -> None:
    done = wirewright("completion", "tcsh")
    assert done.code == 2
    assert "'SHELL': 'tcsh' is not one of 'bash', 'zsh', 'fish'" in done.err


@pytest.mark.parametrize(
    ("words", "offered"),
    [("wirewright fl", {"flow"}), ("wirewright flow me", {"merge"}), ("wirewright ask --mo", {"--model"})],
)
def test_a_shell_that_asks_is_told_what_may_follow(words: str, offered: set[str], wirewright_command: Path) -> None:
    asked = {VARIABLE: "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    done = subprocess.run(
        wirewright_command,
        cwd=ROOT,
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, set(done.stdout.split()), done.stderr) == (0, offered, "")


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_a_command(wirewright_command: Path) -> None:
    script = (
        'eval "$(wirewright completion bash)"; COMP_WORDS=(wirewright comp); COMP_CWORD=1; '
        '_wirewright_completion wirewright; echo "${COMPREPLY[@]}"'
    )
    environment = {**os.environ, "PATH": f"{wirewright_command.parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", script], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert sorted(done.stdout.split()) == ["completion", "components"]
