"""The documents of what is kept: conversations, files, runs and variables."""

from typing_extensions import TypedDict

from agent.conversation.transcript.parts import TranscriptEntry, TranscriptMessage
from agent.turn.answers.waiting import WaitingConversation
from runtime.sessions.run_entry import RunEntry
from server.store.flows import FlowEntry


class ApprovalList(TypedDict):
    """The conversations that wait for the user's answer, the longest first."""

    conversations: list[WaitingConversation]


class ApprovalsWithdrawn(TypedDict):
    """A conversation whose questions were taken back, and how many there were."""

    session_id: str
    withdrawn: int


class FileAdded(TypedDict):
    """A file that was copied into the user's; `new` says whether there was none of its name."""

    path: str
    size: int
    new: bool


class FilesAdded(TypedDict):
    """The files that were copied."""

    files: list[FileAdded]


class FileObject(TypedDict):
    """One of the user's files, with its size in bytes."""

    path: str
    size: int


class FileList(TypedDict):
    """The user's files."""

    files: list[FileObject]


class FileWritten(TypedDict):
    """A file whose content was written to `out`."""

    path: str
    size: int
    out: str


class FilesRemoved(TypedDict):
    """The files that were deleted."""

    removed: list[FileObject]


class RunList(TypedDict):
    """The last runs, latest first, and how many there are in all."""

    runs: list[RunEntry]
    total: int


class VariableObject(TypedDict):
    """A variable; its value is never shown."""

    name: str


class VariableList(TypedDict):
    """The variables that are kept."""

    variables: list[VariableObject]


class VariableRemoved(TypedDict):
    """The variable that was removed."""

    removed: str


class ConversationList(TypedDict):
    """Conversations, last used first, and how many there are in all."""

    conversations: list[TranscriptEntry]
    total: int


class ConversationShown(TypedDict):
    """A conversation with its messages, oldest first."""

    conversation: TranscriptEntry
    messages: list[TranscriptMessage]


class ConversationRewound(TypedDict):
    """What was taken back: how many messages, the first of them, and the stored flow if it was put back."""

    conversation: TranscriptEntry
    removed: int
    message: TranscriptMessage
    flow: FlowEntry | None
