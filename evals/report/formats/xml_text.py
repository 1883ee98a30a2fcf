"""Text for XML documents, which cannot hold every character."""

import re

_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str) -> str:
    """A text in which every character that XML 1.0 does not allow is replaced."""
    return _NO_XML.sub("\ufffd", text)
