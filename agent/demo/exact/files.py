"""The user's files, as the demo planner understands requests about them."""

import re

from agent.demo.exact.language import Request
from agent.demo.plan import Step

_NAME = r"(?P<path>⟦\d+⟧|[\w./-]+\.\w{1,8})"
_WRITE = re.compile(
    rf"^(?:save|write|store|put|create)\b.*?(?P<content>⟦\d+⟧)?\s*(?:in|to|into|as|named|called|file)\s+"
    rf"(?:a\s+|the\s+)?(?:new\s+)?(?:file\s+)?(?:named\s+|called\s+)?{_NAME}"
    r"(?:\s*(?:with|containing|that\s+says)\s+(?:the\s+)?(?:text\s+|content\s+)?(?P<after>⟦\d+⟧))?\s*$",
    re.IGNORECASE,
)
_EDIT = re.compile(
    rf"^(?:in\s+(?:the\s+)?(?:file\s+)?{_NAME}\s*,?\s*)?(?:replace|change)\s+(?P<old>⟦\d+⟧)\s+(?:with|by|to)\s+(?P<new>⟦\d+⟧)"
    r"(?:\s+in\s+(?:the\s+)?(?:file\s+)?(?P<there>⟦\d+⟧|[\w./-]+\.\w{1,8}))?\s*$",
    re.IGNORECASE,
)
_READ = re.compile(rf"^(?:read|open|show|print|display)\s+(?:me\s+)?(?:the\s+)?(?:file\s+)?{_NAME}\s*$", re.IGNORECASE)
_LIST = re.compile(
    r"^(?:list|show|what\s+are)\s+(?:me\s+)?(?:all\s+)?(?:of\s+)?(?:my|the)\s+files\s*\??$", re.IGNORECASE
)
_FIND = re.compile(
    r"^(?:find|search(?:\s+for)?|grep(?:\s+for)?)\s+(?P<pattern>⟦\d+⟧)\s+in\s+(?:all\s+)?(?:my|the)\s+files\s*$",
    re.IGNORECASE,
)


_ASKED = re.compile(
    r"\b(?:my|the)\s+files?\s+(?:(?:called|named)\s+)?(?P<path>⟦\d+⟧|[\w./-]+\.\w{1,8})(?=[\s?.,!]|$)", re.IGNORECASE
)


def asked_file(request: Request) -> str | None:
    """The file that a question is about, or None.

    Args:
        request: the message taken apart.
    """
    said = _ASKED.search(request.text)
    asks = re.match(r"\s*(?:what|when|where|who|which|how|is|are|does|do)\b", request.text, re.IGNORECASE)
    return request.unmask(said["path"]) if said is not None and asks is not None else None


def file_steps(request: Request) -> list[Step] | None:
    """The steps of a request about files, or None when it is about something else.

    Args:
        request: the message taken apart.
    """
    text = request.text.strip(" .!")
    if said := _LIST.match(text):
        return [("glob_search", lambda: {"pattern": "**"})]
    if said := _FIND.match(text):
        pattern = re.escape(request.unmask(said["pattern"]))
        return [("grep_search", lambda: {"pattern": pattern})]
    if said := _READ.match(text):
        path = request.unmask(said["path"])
        return [("read_file", lambda: {"path": path})]
    if (said := _EDIT.match(text)) and (said["path"] or said["there"]):
        path = request.unmask(said["path"] or said["there"])
        old, new = request.unmask(said["old"]), request.unmask(said["new"])
        return [("edit_file", lambda: {"path": path, "old_string": old, "new_string": new})]
    if (said := _WRITE.match(text)) and (said["content"] or said["after"]):
        path, content = request.unmask(said["path"]), request.unmask(said["content"] or said["after"])
        return [("write_file", lambda: {"path": path, "content": content})] if "." in path else None
    return None
