"""From source to component type, on the real engine: what it becomes, and why not, in words a model can mend it by."""

from pathlib import Path

import pytest

from flows.catalogue import Catalogue
from flows.document import Json
from flows.spec import build
from runtime.components.inspection import Inspection, inspect
from runtime.engine.component_results import ComponentDescription, ComponentFailure
from runtime.runner import Runner
from tests.runtime.components.test_rules import GOOD
from tests.shared.yaml_files import read_yaml

pytestmark = [pytest.mark.engine, pytest.mark.anyio]
WRITTEN: list[dict[str, str | bool]] = read_yaml(Path(__file__).parent / "written_components.yaml")


def in_class(line: str) -> str:
    return GOOD.replace("    display_name =", f"    {line}\n    display_name =")


async def test_a_component_has_the_fields_outputs_and_source_that_its_class_says(runner: Runner) -> None:
    source = GOOD.replace(
        "    outputs", "    inputs = [MessageTextInput(name='who', display_name='Who', tool_mode=True)]\n    outputs"
    ).replace("import Output", "import MessageTextInput, Output")
    found = await inspect(source, runner)
    assert [fault.code for fault in found.faults] == ["no_description"]
    part = found.component
    assert part is not None
    assert (part.type, part.display_name, part.code) == ("Greeter", "Greeter", source)
    assert [(output["name"], output["types"]) for output in part.outputs] == [("greeting", ["Message"])]
    assert part.template["who"]["input_types"] == ["Message"]
    assert part.can_be_tool


async def test_a_component_is_searched_described_built_and_run_like_any_other(
    runner: Runner, installed_catalogue: Catalogue
) -> None:
    found = await inspect(GOOD, runner)
    assert found.component is not None
    view = installed_catalogue.with_components([found.component])
    assert "Greeter" in [match.type for match in view.search("greeter")]
    assert "greeting" in view.describe("Greeter")
    built = build("nodes:\n  G: Greeter\n  O: ChatOutput\nedges:\n  G.greeting -> O.input_value\n", view)
    assert built.flow is not None
    ran = await runner.run(built.flow)
    assert (ran.output, ran.error) == ("hi", None)


@pytest.mark.parametrize("row", WRITTEN, ids=lambda row: row["id"])
async def test_a_component_as_models_write_them_is_made_and_runs(
    runner: Runner, installed_catalogue: Catalogue, row: dict[str, str | bool]
) -> None:
    found = await inspect(str(row["code"]), runner)
    assert found.faults == ()
    assert found.component is not None
    if row.get("runs", True):
        view = installed_catalogue.with_components([found.component])
        port = found.component.outputs[0]["name"]
        built = build(
            f"nodes:\n  W: {found.component.type}\n  O: ChatOutput\nedges:\n  W.{port} -> O.input_value\n", view
        )
        assert built.flow is not None, built.faults
        ran = await runner.run(built.flow)
        assert ran.error is None
        assert ran.output


async def test_what_its_options_change_is_known_like_that_of_the_built_in_ones(runner: Runner) -> None:
    source = next(str(row["code"]) for row in WRITTEN if row["id"] == "dropdown_refresh")
    found = await inspect(source, runner)
    assert found.component is not None
    assert found.component.choices is not None
    assert "operation" in found.component.choices


@pytest.mark.parametrize(
    ("source", "line", "code", "told"),
    [
        (GOOD.replace("schema.message import Message", "schema.message import Massage"), 3, "unlisted", "Massage"),
        ("import yfinance\n" + GOOD, 1, "missing_package", "yfinance"),
        ("import nothing_like_it\n" + GOOD, 1, "unlisted", "nothing_like_it"),
        (in_class("x = 1 / 0"), 7, "code", "division by zero"),
        (in_class("x = unheard_of"), 7, "code", "unheard_of"),
        (in_class("inputs = ['text']"), 6, "code", "no attribute"),
        (in_class("inputs = [MessageTextInput(name='n', dispaly_name='N')]"), 7, "code", "dispaly_name"),
        (GOOD.replace('method="greet"', 'method="welcome"'), 8, "no_method", "welcome"),
        (GOOD.replace("    outputs = [", "    other = ["), 6, "no_outputs", "no outputs"),
        (in_class("text = 'x' * 10_000_000_000"), 7, "limit", "MemoryError"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 20 else None,
)
async def test_a_source_that_cannot_be_made_says_line_cause_and_remedy(
    runner: Runner, source: str, line: int, code: str, told: str
) -> None:
    found = await inspect(source, runner)
    assert found.component is None
    fault = found.errors[0]
    assert (fault.line, fault.code) == (line, code)
    assert told in fault.message
    assert fault.fix
    assert "/" not in fault.message.replace("1 / 0", "")


@pytest.mark.parametrize(
    ("source", "line", "code"),
    [
        (GOOD.replace("def greet(self) -> Message", "def greet(self)"), 10, "no_type"),
        (GOOD.replace('    display_name = "Greeter"\n', ""), 6, "no_display_name"),
    ],
)
async def test_what_makes_a_component_hard_to_use_is_a_warning(
    runner: Runner, source: str, line: int, code: str
) -> None:
    found = await inspect(source, runner)
    assert found.component is not None
    assert (line, code) in [(fault.line, fault.code) for fault in found.faults]


HOSTILE = {
    "endless": "while True: pass",
    "exit": "import sys; sys.exit(3)",
    "hard exit": "import os; os._exit(0)",
    "forks": "import os\n    while True: os.fork()",
    "signals its parent": "import os; os.kill(os.getppid(), 9)",
    "kills itself": "import os; os.kill(os.getpid(), 9)",
    "builtins": "import builtins; builtins.len = builtins.isinstance = None",
    "huge": "description = 'x' * 50_000_000",
    "many fields": "inputs = [StrInput(name=f'n{i}', display_name='N', value='x' * 1000) for i in range(3000)]",
    "network": "import socket; socket.create_connection(('127.0.0.1', 9), timeout=1)",
    "reads": "x = open('/etc/passwd').read()",
    "garbage": 'import os\n    for n in range(3, 40): os.write(n, b\'{"type": "result"}\\n\')',
    "no answer": "import os\n    for n in range(3, 40): os.close(n)",
    "recursion": "exec('def f(): return f()'); f()",
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE.keys())
async def test_whatever_a_class_does_while_it_is_defined_the_engine_answers_and_goes_on(
    runner: Runner, body: str
) -> None:
    source = in_class(body).replace("import Output", "import Output, StrInput")
    pid = runner.engine_pid
    timeout = 1 if body == HOSTILE["endless"] else 3
    made = await runner.describe_component(source, "Greeter", timeout=timeout)  # what the guard would have refused
    if isinstance(made, ComponentFailure):
        assert made.message
        assert made.fix
    else:
        assert len(str(made.node)) > 1_000_000  # too large, which `inspect` says
    assert isinstance(await runner.describe_component(GOOD, "Greeter"), ComponentDescription)
    assert runner.engine_pid == pid


async def test_the_guard_is_asked_before_anything_is_executed(runner: Runner) -> None:
    class Never:
        async def describe_component(self, source: str, name: str) -> ComponentDescription | ComponentFailure:
            raise AssertionError(f"{name} was made")

    found = await inspect(in_class("import os; os.abort()"), Never())
    assert [fault.code for fault in found.faults] == ["process"]
    assert found.component is None


async def test_what_the_process_says_is_not_believed_about_its_source() -> None:
    class Liar:
        async def describe_component(self, source: str, name: str) -> ComponentDescription | ComponentFailure:
            code: dict[str, Json] = {"type": "str", "value": "something else"}
            return ComponentDescription({"template": {"code": code}, "outputs": [{"name": "o", "types": ["Message"]}]})

    found = await inspect(GOOD + "# liar\n", Liar())
    assert found.component is not None
    assert found.component.code == GOOD + "# liar\n"
    assert found.component.type == "Greeter"


async def test_a_source_is_made_once_and_a_failure_that_may_pass_is_tried_again() -> None:
    class Counting:
        def __init__(self, answer: ComponentDescription | ComponentFailure) -> None:
            self.asked = 0
            self.answer = answer

        async def describe_component(self, source: str, name: str) -> ComponentDescription | ComponentFailure:
            self.asked += 1
            return self.answer

    good = Counting(ComponentDescription({"template": {}, "outputs": [{"name": "o", "types": ["Message"]}]}))
    first: Inspection = await inspect(GOOD + "# once\n", good)
    assert await inspect(GOOD + "# once\n", good) is first
    assert good.asked == 1
    busy = Counting(ComponentFailure("busy", "Busy.", "Wait."))
    for _ in range(2):
        assert (await inspect(GOOD + "# busy\n", busy)).component is None
    assert busy.asked == 2
