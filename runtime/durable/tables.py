"""The table of what durable turns have done to what is stored."""

from sqlalchemy.orm import Mapped, mapped_column

from runtime.database.tables import Base


class TurnEffectRow(Base):
    """An effect of a durable turn's step on what is stored, which must not be repeated.

    Attributes:
        owner: the user.
        turn: the turn's id.
        step: the number of the step within the turn.
    """

    __tablename__ = "turn_effects"

    owner: Mapped[str] = mapped_column(primary_key=True)
    turn: Mapped[str] = mapped_column(primary_key=True)
    step: Mapped[int] = mapped_column(primary_key=True)
