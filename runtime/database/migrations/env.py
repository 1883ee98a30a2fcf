"""What Alembic runs: the migrations on the connection of an opened database, or on one of the developer's choice.

`alembic -x url=sqlite:////tmp/draft.db upgrade head` and then `alembic -x … revision --autogenerate -m "…"` draft a
migration from `tables`.
"""

from alembic import context
from sqlalchemy import Connection, create_engine

from runtime.database.schema import TABLES


def _run(connection: Connection) -> None:
    context.configure(
        connection=connection, target_metadata=TABLES[0].metadata, render_as_batch=True, transactional_ddl=True
    )
    with context.begin_transaction():
        context.run_migrations()


given: Connection | None = context.config.attributes.get("connection")
if given is not None:
    _run(given)
else:
    with create_engine(context.get_x_argument(as_dictionary=True)["url"]).connect() as connection:
        _run(connection)
        connection.commit()
