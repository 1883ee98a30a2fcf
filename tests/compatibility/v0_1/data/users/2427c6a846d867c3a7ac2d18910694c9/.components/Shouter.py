from lfx.custom import Component
from lfx.io import MessageTextInput, Output
from lfx.schema.message import Message


class Shouter(Component):
    display_name = "Shouter"
    description = "Says it in capitals."
    inputs = [MessageTextInput(name=