"""Spec texts that several tests build: an echo, a prompt, a loop, an agent's tool, a prompt with everything in it."""

ECHO = "nodes:\n  A: ChatInput\n  B: ChatOutput\nedges:\n  A.message -> B.input_value\n"
LOUDER = """name: Louder
nodes:
  chat: ChatInput
  prompt: Prompt Template
  answer: ChatOutput
edges:
  chat.message -> prompt.text
  prompt.prompt -> answer.input_value
config:
  prompt.template: "Say it louder: {text}"
"""
LOOP = """\
nodes:
  A: ChatInput
  S: SplitText
  L: LoopComponent
  P: ParserComponent
  T: TypeConverterComponent
  D: ParserComponent
  B: ChatOutput
edges:
  A.message -> S.data_inputs
  S.dataframe -> L.data
  L.item -> P.input_data
  P.parsed_text -> T.input_data
  T.data_output -> L.item
  L.done -> D.input_data
  D.parsed_text -> B.input_value
"""
TOOLS = """\
nodes:
  A: ChatInput
  G: Agent
  C: CalculatorComponent
  B: ChatOutput
edges:
  A.message -> G.input_value
  C.component_as_tool -> G.tools
  G.response -> B.input_value
config:
  G.model: openai:gpt-4o-mini
"""
PROMPT = """\
name: "Quoted: name"
description: |
  two
  lines
nodes:
  A: ChatInput
  P: Prompt Template
  B: ChatOutput
edges:
  A.message -> P.text
  P.prompt -> B.input_value
config:
  P.template: |
    Say it: {text}
      {tone}
  P.tone: "- kind"
  B.data_template: "|"
"""
