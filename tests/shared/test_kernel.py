"""What must hold on a kernel is asked of the kernel, and the product holds all of it."""

import ast
import sys
from pathlib import Path

import pytest

from runtime.install.environment import RunnerEnvironment
from tests.shared import kernel


def test_what_must_hold_is_decided_without_the_product() -> None:
    tree = ast.parse(Path(kernel.__file__).read_text(encoding="utf-8"))
    imported = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported <= sys.stdlib_module_names


@pytest.mark.skipif(sys.platform != "linux", reason="Linux")
def test_the_kernel_has_the_landlock_of_its_version() -> None:
    modules = kernel.security_modules()
    assert kernel.landlock() <= kernel.newest_landlock() or kernel.version() >= (6, 16)
    if modules is not None and "landlock" not in modules:
        assert kernel.landlock() == 0
    if kernel.landlock() >= 4:
        assert {"file system", "network of other runs"} <= kernel.must_hold()


@pytest.mark.engine
def test_the_product_holds_all_that_the_kernel_can(runner_environment: RunnerEnvironment) -> None:
    held = {each.name for each in runner_environment.status().protections if each.active}
    assert kernel.must_hold() - held == set()
