"""The canvas in a prompt: texts and models that someone set, cut alike, without secrets."""

from hypothesis import given
from hypothesis import strategies as st

from agent.prompts.framing import CANVAS_LIMIT, truncated_summary
from flows.catalogue import Catalogue
from flows.describe.texts import set_texts, shortened
from tests.shared.flow_texts import LOUDER, TOOLS, flow_of, node_id
from tests.tools.toolsets.test_toolsets import SECRET

FOUR = """nodes:
  chat: ChatInput
  a: Prompt Template
  b: Prompt Template
  answer: ChatOutput
edges:
  chat.message -> a.text
  a.prompt -> b.text
  b.prompt -> answer.input_value
config:
  a.template: {long} text
  b.template: "Short: {text}"
"""


def test_texts_and_models_are_shown_and_defaults_are_not(catalogue: Catalogue) -> None:
    shown = truncated_summary(flow_of(LOUDER, catalogue), catalogue)
    assert '    template: "Say it louder: {text}"' in shown
    assert "sender_name" not in shown
    assert '    model: "OpenAI:gpt-4o-mini"' in truncated_summary(flow_of(TOOLS, catalogue), catalogue)


def test_a_long_text_is_cut_and_short_ones_and_connections_stay(catalogue: Catalogue) -> None:
    flow = flow_of(FOUR.replace("{long}", "word " * 2_000 + "{text}"), catalogue)
    shown = truncated_summary(flow, catalogue)
    assert len(shown) <= CANVAS_LIMIT
    assert '    template: "Short: {text}"' in shown
    assert '…"' in shown
    assert f"{node_id(flow, 'ChatInput')}.message -> " in shown
    assert "[truncated]" not in shown


def test_no_secret_is_shown(catalogue: Catalogue) -> None:
    assert "verysecret" not in truncated_summary(flow_of(SECRET, catalogue), catalogue)


def test_nothing_was_set_on_an_untouched_component(catalogue: Catalogue) -> None:
    flow = flow_of("nodes:\n  a: ChatInput\n  b: ChatOutput\nedges:\n  a.message -> b.input_value", catalogue)
    assert set_texts(flow, catalogue) == {}


@given(texts=st.lists(st.text(max_size=300), min_size=1, max_size=8), room=st.integers(0, 1_500))
def test_cut_texts_fit_into_the_room_and_none_is_cut_shorter_than_another(texts: list[str], room: int) -> None:
    values = {f"n{at}": {"text": text} for at, text in enumerate(texts)}
    found = shortened(values, room)
    assert sum(len(f"    {name}: {text}\n") for of in found.values() for name, text in of.items()) <= room or not found
    cut = {len(text) for of in found.values() for text in of.values() if text.endswith('…"')}
    assert len(cut) <= 1


SET = """nodes:
  chat: ChatInput
  file: File
  router: SmartRouter
  join: CombineText
  convert: TypeConverterComponent
  filter: Operations
  last: ChatOutput
  answer: ChatOutput
edges:
  chat.message -> router.input_text
  router.category_1_result -> answer.input_value
  file.message -> join.text2
  chat.message -> join.text1
  convert.dataframe_output -> filter.df
  filter.dataframe_output -> last.input_value
  join.combined_text -> convert.input_data
config:
  convert.output_type: Table
  file.path: handbook.pdf
  router.routes:
    - route_category: Praise
      route_description: The user is happy.
  filter.input_type: Table
  filter.operation: Filter
"""


def test_tables_choices_and_files_are_shown(catalogue: Catalogue) -> None:
    shown = set_texts(flow_of(SET, catalogue), catalogue)
    by_type = {node.partition("-")[0]: values for node, values in shown.items()}
    assert by_type["File"] == {"path": "handbook.pdf"}
    assert '"route_category": "Praise"' in by_type["SmartRouter"]["routes"]
    assert by_type["Operations"] == {"input_type": "Table", "operation": "Filter"}
