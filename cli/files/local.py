"""The files of this machine's user."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runtime.files.store import UserFiles


def local_files() -> "UserFiles":
    """The files that flows and the assistant read and write when they are started from the command line."""
    from agent.settings import AssistantSettings
    from cli.settings import settings_of
    from runtime.files.folders import LOCAL_USER
    from runtime.files.store import UserFiles

    return UserFiles(settings_of(AssistantSettings).data, LOCAL_USER)
