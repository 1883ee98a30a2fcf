"""The runner's program on kernels that lack what confines runs: the real one, told that the kernel has less."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from runtime.install.environment import RunnerEnvironment

PROGRAM = """import importlib.util, sys
spec = importlib.util.spec_from_file_location("main", {main!r})
main = importlib.util.module_from_spec(spec)
spec.loader.exec_module(main)
main.become_package()
from lfx_runner.confine import landlock, policy, root, seccomp
landlock.abi = lambda: {landlock}
if not {seccomp}:
    seccomp.available = lambda: False
if {boasts}:
    policy.supported = lambda: {{"held": ["files", "privileges", "system calls", "ports"], "landlock": 9}}
root.sys = type("another", (), {{"platform": "darwin"}})
main.become_package = lambda: None
sys.exit(main.main(sys.argv[1:]))
"""


def lacking(folder: Path, source: Path, *, landlock: int = 0, seccomp: bool = False, boasts: bool = False) -> Path:
    """A folder with the runner's source as it behaves on a kernel without mounts of its own for runs.

    Args:
        folder: where it is made.
        source: the real source.
        landlock: the version of Landlock that the kernel has.
        seccomp: whether it has seccomp.
        boasts: whether it claims to have everything, so that only a run finds out.
    """
    folder.mkdir(exist_ok=True)
    program = PROGRAM.format(main=str(source / "main.py"), landlock=landlock, seccomp=seccomp, boasts=boasts)
    (folder / "main.py").write_text(program)
    for name in ("uv.lock", "pyproject.toml", "introspect", "components"):
        (folder / name).symlink_to(source / name)
    return folder


@dataclass(frozen=True)
class Installed(RunnerEnvironment):
    """The installed environment with another program."""

    async def install(self, progress: Callable[[str], None] | None = None, *, repair: bool = False) -> None:
        """Nothing is missing."""


@dataclass(frozen=True)
class Uninstalled(RunnerEnvironment):
    """An environment that must not be installed."""

    async def install(self, progress: Callable[[str], None] | None = None, *, repair: bool = False) -> None:
        """Fail the test."""
        raise AssertionError("packages that nothing can use are downloaded")
