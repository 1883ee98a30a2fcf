from lfx.custom import Component
from lfx.io import MessageTextInput, Output
from lfx.schema.message import Message


class WordCounter(Component):
    display_name = "Word Counter"
    description = "Counts the words of a text."
    inputs = [MessageTextInput(name="text", display_name="Text", tool_mode=True)]
    outputs = [Output(name="result", display_name="Result", method="count_words")]

    def count_words(self) -> Message:
        return Message(text=str(len((self.text or '').split())))
