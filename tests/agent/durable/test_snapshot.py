"""What a turn changes on its workbench, as another process is given it."""

from dataclasses import fields

from agent.durable.snapshot import MADE_ANEW, BenchState, Snapshots
from flows.catalogue import Catalogue
from flows.component_type import ComponentType
from flows.document import Flow
from flows.spec.parse import parse
from tests.shared.flow_texts import ECHO, LOUDER, flow_of
from tests.shared.stand_ins import StandInRunner, ran
from tools.effects import InstallEffect, PlanEffect
from tools.events import FileChange, Todo
from tools.mandate import Mandate
from tools.workbench import Workbench


def bench_of(catalogue: Catalogue, flow: Flow) -> Workbench:
    return Workbench(user="u", session="s", catalogue=catalogue, runner=StandInRunner(), flow=flow)


def used(catalogue: Catalogue) -> Workbench:
    """A workbench on which a turn has changed as much as it can."""
    bench = bench_of(catalogue, flow_of(ECHO, catalogue))
    bench.proposal = flow_of(LOUDER, catalogue)
    bench.proposed = bench.tainted = bench.waits = bench.accepted = True
    bench.accept(flow_of(LOUDER, catalogue))
    bench.count(ran(), "hello")
    bench.files.append(FileChange(path="a.md", size=2, change="created"))
    bench.todos.append(Todo(content="Do"))
    bench.attached = (("a.md", 2),)
    bench.components = [ComponentType("Own", {"display_name": "Own", "template": {}}, None, {"always": ["x"]})]
    bench.draft = (parse(ECHO)[0], frozenset({1}))
    bench.wanted = {("node", "field"): "Louder"}
    bench.names, bench.offers = {"a": "b"}, {"offer": flow_of(ECHO, catalogue)}
    bench.plans, bench.installs = [PlanEffect.of("# P", "approved")], [InstallEffect(bundle="b", status="denied")]
    bench.mandate, bench.foreign_hosts = Mandate.model_validate({"effects": {"run": []}}), frozenset({"example.org"})
    return bench


def test_every_field_of_a_workbench_is_in_its_snapshot_or_made_anew() -> None:
    known = {field.name for field in fields(Workbench)}
    kept = set(BenchState.model_fields)
    assert kept & MADE_ANEW == set()
    assert kept | MADE_ANEW == known, "add a new field to BenchState, or to MADE_ANEW if no turn changes it"


def test_a_workbench_is_given_back_what_a_turn_changed(catalogue: Catalogue) -> None:
    bench, other = used(catalogue), bench_of(catalogue, flow_of(ECHO, catalogue))
    Snapshots().put(other, Snapshots().changes(bench))
    assert {name: getattr(other, name) for name in BenchState.model_fields} == {
        name: getattr(bench, name) for name in BenchState.model_fields
    }
    assert other.catalogue.get("Own") == bench.components[0]


def test_a_snapshot_holds_what_differs_from_the_one_before(catalogue: Catalogue) -> None:
    bench, other = used(catalogue), bench_of(catalogue, flow_of(ECHO, catalogue))
    written, read = Snapshots(), Snapshots()
    read.put(other, written.changes(bench))
    assert written.changes(bench) == {}
    bench.caveats.append("It was not run.")
    changes = written.changes(bench)
    assert changes == {"caveats": ["It was not run."]}
    read.put(other, changes)
    assert (other.caveats, other.flow) == (bench.caveats, bench.flow)
