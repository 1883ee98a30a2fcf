from lfx.custom import Component
from lfx.io import MessageTextInput, Output
from lfx.schema.message import Message


class X9_Mixed_case(Component):
    display_name = "Größer ⇄ kleiner"
    description = "Vertauscht Groß- und Kleinschreibung."
    inputs = [MessageTextInput(name="text", display_name="Text", tool_mode=True)]
    outputs = [Output(name="result", display_name="Result", method="swap_case")]

    def swap_case(self) -> Message:
        return Message(text=(self.text or '').swapcase())
