"""The root folder of a run: which paths lead where, and what is left when a system allows no mounts."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lfx_runner.confine.root import RootPlan
from tests.shared import kernel

ROOT = Path(__file__).parents[3]
CONFINE = """
import json, os, sys, tempfile
from pathlib import Path
from lfx_runner.confine import policy, root
outside, how = Path(sys.argv[1]), sys.argv[2]
if how == "no mounts": root._own_mounts = lambda: False
private = Path(tempfile.mkdtemp())
held = policy.confine_process(private)
def tried(ask):
    try: return ask()
    except OSError as refused: return f"E{refused.errno}"
print(json.dumps({
    "held": held,
    "size": tried(lambda: os.stat(outside).st_size),
    "listed": tried(lambda: os.listdir(outside.parent)),
    "read": tried(lambda: outside.read_text()),
    "missing": tried(lambda: os.stat(outside.parent / "nothing").st_size),
    "own": tried(lambda: (private / "a").write_text("abc")),
    "parts": sorted(path.name for path in private.iterdir()),
    "clock": os.path.exists("/etc/localtime"),
}))
"""


def confined(outside: Path, how: str) -> dict[str, object]:
    """What a process finds after it has confined itself."""
    done = subprocess.run(
        [sys.executable, "-c", CONFINE, str(outside), how], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file of somebody else."""
    path = tmp_path / "secret.txt"
    path.write_text("secret")
    return path


def test_a_plan_makes_each_path_once_with_the_links_that_lead_to_it(tmp_path: Path) -> None:
    (tmp_path / "real" / "deep").mkdir(parents=True)
    (tmp_path / "real" / "deep" / "file").write_text("x")
    (tmp_path / "link").symlink_to("real/deep")
    (tmp_path / "far").symlink_to(tmp_path / "link" / ".." / "deep" / "file")
    plan = RootPlan.of([tmp_path / "real" / "deep", tmp_path / "link" / "file", tmp_path / "far"])
    inside = f"{tmp_path}/real/deep"
    assert plan.mounts == ((inside, True),)
    assert dict(plan.links) == {
        f"{tmp_path}/link": "real/deep",
        f"{tmp_path}/far": f"{tmp_path}/link/../deep/file",
    }
    assert plan.folders[-1] == inside
    assert list(plan.folders) == sorted(set(plan.folders))


def test_links_in_a_circle_do_not_keep_a_plan_from_being_made(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert RootPlan.of([tmp_path / "a"]).mounts


@pytest.mark.skipif(sys.platform != "linux", reason="mounts of Linux")
def test_a_process_with_its_own_root_sees_no_file_outside(outside: Path) -> None:
    if not kernel.own_root():
        pytest.skip("not on this system: mounts of its own")
    found = confined(outside, "as it is")
    assert "file names" in found["held"]  # type: ignore[operator]  # read from JSON
    assert (found["size"], found["listed"], found["read"], found["missing"]) == ("E2", "E2", "E2", "E2")
    assert found["own"] == 3
    assert found["parts"] == sorted(["a", "home", "tmp"])
    assert found["clock"] == Path("/etc/localtime").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="Landlock")
def test_without_mounts_a_process_can_ask_for_the_size_of_a_file_outside_and_for_nothing_else(outside: Path) -> None:
    """What `runner status` then says: it cannot be closed without root or user namespaces."""
    if not kernel.landlock():
        pytest.skip("not on this kernel: Landlock")
    found = confined(outside, "no mounts")
    assert "file names" not in found["held"]  # type: ignore[operator]  # read from JSON
    assert "files" in found["held"]  # type: ignore[operator]  # read from JSON
    assert (found["size"], found["missing"]) == (6, "E2")
    assert (found["listed"], found["read"]) == ("E13", "E13")
