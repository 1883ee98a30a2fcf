"""What components may use without a check neither starts programs nor takes paths or code, as audit hooks see it."""

import sys
from pathlib import Path

import pytest

from runtime.guard.ruleset import rules
from runtime.install.environment import RunnerEnvironment
from scripts.audit_admitted import LIBRARIES, LOCK, audit, audit_digest, listed_of, recorded_audit
from tests.runtime.guard.sampling import HERE
from tests.shared.yaml_files import read_yaml

KNOWN = {name: set(events.split()) for name, events in read_yaml(HERE / "admitted_events.yaml").items()}


def unknown(found: dict[str, list[str]]) -> dict[str, set[str]]:
    return {name: more for name, events in found.items() if (more := set(events) - KNOWN.get(name, set()))}


def test_nothing_in_the_standard_library_does_more_than_is_known() -> None:
    modules = [name for name in rules().modules if name.partition(".")[0] in sys.stdlib_module_names]
    found = audit(sys.executable, modules)
    assert "collections.namedtuple" in found  # so that a hook that hears nothing is noticed
    assert unknown(found) == {}


@pytest.mark.engine
@pytest.mark.parametrize("packages", LIBRARIES, ids=lambda packages: packages[0])
def test_nothing_in_libraries_of_the_engine_does_more_than_is_known(
    packages: tuple[str, ...], runner_environment: RunnerEnvironment
) -> None:
    modules = listed_of(packages)
    assert {name.partition(".")[0] for name in modules} == set(packages)
    found = recorded_audit(modules)
    assert unknown(audit(str(runner_environment.python), modules) if found is None else found) == {}


def test_what_was_recorded_is_not_taken_for_other_packages_or_rules(tmp_path: Path) -> None:
    modules, other = listed_of(("numpy",)), tmp_path / "uv.lock"
    other.write_bytes(LOCK.read_bytes())
    assert audit_digest(modules) == audit_digest(modules, other)
    other.write_bytes(LOCK.read_bytes() + b"\n")
    assert len({audit_digest(modules), audit_digest(modules[1:]), audit_digest(modules, other)}) == 3
    assert recorded_audit(modules[1:]) is None


def test_no_program_is_started_by_what_is_listed() -> None:
    assert not {event for events in KNOWN.values() for event in events if event.startswith(("subprocess.", "os.exec"))}
    assert all(not rules().check(name) for name in KNOWN)


def test_an_event_is_told_where_there_is_one() -> None:
    assert audit(sys.executable, ["ast"]) == {"ast.literal_eval": ["compile"], "ast.parse": ["compile"]}
