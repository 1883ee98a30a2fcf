"""A tool that asks for consent of any kind, for turns whose real tools would need a package index or a network."""

import pytest
from pydantic_ai import RunContext

from agent.toolsets.cached import Toolset
from tools.approvals import (
    Consent,
    InstallApproval,
    OutboundApproval,
    RemovalApproval,
    SecretApproval,
)
from tools.consent.ask import ask
from tools.workbench import Workbench

CONSENTS: dict[str, Consent] = {
    "install": InstallApproval(
        title="Install Chroma", detail="The component Chroma DB needs it.", bundle="chroma", packages=["lfx-chroma"],
        size_mb=212.4,
    ),
    "removal": RemovalApproval(title="Overwrite notes.md", detail="It has 12 lines.", targets=["notes.md"]),
    "outbound": OutboundApproval(title="Send to a new host", hosts=["api.example.com"]),
    "secret": SecretApproval(title="Keep the key", detail="It begins with sk-12.", variable="OPENAI_API_KEY"),
}  # fmt: skip
"""One of each kind."""


def offer_consents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every turn the tool `do_with_consent(kind, name)`."""

    async def do_with_consent(ctx: RunContext[Workbench], kind: str, name: str = "it") -> str:
        """Do something after the user has consented.

        Args:
            kind: the kind of consent.
            name: what to call it.
        """
        ask(ctx, CONSENTS[kind])
        return f"Done: {kind} {name}."

    tools = Toolset([do_with_consent], sequential=True, id="consents")
    from agent.turn import act

    chosen = act.tools_for
    monkeypatch.setattr(act, "tools_for", lambda *args: [*chosen(*args), tools])
