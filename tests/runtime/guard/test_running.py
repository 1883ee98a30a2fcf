"""What the engine hands to a running component: its own part of the run is open, other nodes' values are not."""

import textwrap

import pytest

from runtime.guard import scan

_HEAD = """\
{imports}
from lfx.custom import Component
from lfx.schema.message import Message


class Sample(Component):
    async def build_result(self) -> Message:
"""


def rules(body: str, imports: str = "") -> set[str]:
    return {found.rule for found in scan(_HEAD.format(imports=imports) + textwrap.indent(body, " " * 8))}


@pytest.mark.parametrize(
    "body",
    [
        "graph = self.graph\nreturn [vertex.params for vertex in graph.vertices]",
        "return getattr(self, 'graph').vertices[0].raw_params",
        "return self._vertex.graph.vertex_map",
        "return self.get_vertex().graph.get_vertex('a')",
        "return [one.params for one in self._vertex.predecessors]",
        "return attrgetter('_vertex.graph.vertices')(self)",
        "return '{0.graph.vertices}'.format(self)",
        "return vars(self)['_vertex'].graph.vertices",
        "def inner(component):\n    return component.graph.vertices\nreturn inner(self)",
        "match self:\n    case object(graph=graph):\n        return graph.vertices",
        "match self.graph:\n    case object(vertices=found):\n        return found",
    ],
)
def test_other_nodes_are_kept_from_a_component(body: str) -> None:
    assert rules(body, "from operator import attrgetter") & {"secrets", "escape"}


@pytest.mark.parametrize(
    "body",
    [
        "return await self.get_variable('KEY', 'text', None)",
        "take = self.get_variable\nreturn await take('KEY', 'text', None)",
        "return await getattr(self, 'get_variable')('KEY', 'text', None)",
        "return await super().get_variable('KEY', 'text', None)",
        "return await Component.get_variable(self, 'KEY', 'text', None)",
    ],
)
def test_stored_variables_are_kept_from_a_component(body: str) -> None:
    assert rules(body) == {"secrets"}


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("return get_settings_service().settings.database_url", "secrets"),
        ("return get_settings_service().settings.model_dump()", "secrets"),
        ("get_settings_service().settings.config_dir = '/x'", "tampering"),
        ("settings = get_settings_service().settings\nsetattr(settings, 'config_dir', '/x')", "tampering"),
    ],
)
def test_settings_are_neither_read_for_keys_nor_changed(body: str, rule: str) -> None:
    assert rule in rules(body, "from lfx.services.deps import get_settings_service")


@pytest.mark.parametrize(
    "body",
    [
        "return Message(text='x', session_id=self.graph.session_id, flow_id=self.graph.flow_id)",
        "graph = self.graph\nreturn str(graph.session_id)",
        "return getattr(getattr(self, 'graph', None), 'session_id', 'none')",
        "vertex = self._vertex\nreturn vertex.id if vertex else None",
        "self.graph.context['count'] = 1",
        "return get_settings_service().settings.max_file_size_upload",
        "return '{0.text} {1[a]}'.format(self, {})",
        "return Table().get_variable('a')",
    ],
)
def test_a_component_may_look_at_its_own_part_of_the_run(body: str) -> None:
    own = "class Table:\n    def get_variable(self, name):\n        ..."
    assert rules(body, f"from lfx.services.deps import get_settings_service\n\n\n{own}") == set()


@pytest.mark.parametrize(
    ("imports", "body", "rule"),
    [
        ("import ssl", "return ssl.create_default_context(cafile=self.text)", "files"),
        ("import ssl", "ssl.SSLContext().load_verify_locations('/etc/passwd')", "files"),
        ("import httpx", "return httpx.Client(cert=('/etc/a.pem', '/etc/b.pem'))", "files"),
        ("import jinja2", "return jinja2.Environment().overlay().from_string(self.text)", "dynamic_code"),
        ("import jinja2", "return jinja2.Environment().compile_expression(self.text)()", "dynamic_code"),
        ("import socket", "take = socket\nreturn take.socket()", "sockets"),
        ("import json", "super(type(json), json).__setattr__('loads', 1)", "tampering"),
        ("from markitdown import MarkItDown", "return MarkItDown().convert(self.text)", "files"),
        ("import duckdb", "return duckdb.sql(\"select * from '/srv/a.csv'\")", "files"),
        ("from transformers import AutoModel", "return AutoModel.load('a', trust_remote_code=True)", "deserialiser"),
    ],
)
def test_what_a_library_is_asked_for_decides(imports: str, body: str, rule: str) -> None:
    assert rule in rules(body, imports)
