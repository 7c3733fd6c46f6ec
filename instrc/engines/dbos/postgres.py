"""Runs in a PostgreSQL database, `postgresql://USER:PASSWORD@HOST/NAME`, and an advisory lock of its server."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from instrc.engines.stores import USUAL_FOLDER, StoreLock

_LOCK_NUMBER = 0x696E73747263
"""`instrc` as a number."""


class PostgresStore:
    """A database of a server."""

    schema: str | None = "dbos"
    is_local: bool = False

    def __init__(self, place: str) -> None:
        self.folder: Path = Path(USUAL_FOLDER)
        scheme, _, rest = place.partition(":")
        driver = scheme if "+" in scheme else "postgresql+psycopg"
        self._url = sa.make_url(f"{driver}://{rest.lstrip('/')}")
        self.shown: str = self._url.render_as_string(hide_password=True)
        self.address: str = self._url.render_as_string(hide_password=False)

    def exists(self) -> bool:
        """Tell that its tables are to be looked for."""
        return True

    def open(self) -> sa.Engine:
        """Return an engine that notices connections which the server has ended."""
        said = {"client_encoding": "utf8"}  # a database made where the language is `C` has no encoding: texts would come as bytes
        return sa.create_engine(self._url, pool_size=20, pool_pre_ping=True, connect_args=said)

    def lock(self, engine: sa.Engine) -> StoreLock | None:
        """Return an advisory lock, which its connection holds; `None` if another process holds it."""
        connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        if connection.execute(sa.text(f"SELECT pg_try_advisory_lock({_LOCK_NUMBER})")).scalar():
            connection.detach()
            return AdvisoryLock(connection)
        connection.close()
        return None

    def watch(self, engine: sa.Engine) -> ServerWatch:  # noqa: ARG002  -- the server cannot say
        """Return what says that there may always be something new."""
        return ServerWatch()


class AdvisoryLock:
    """A lock that a connection holds."""

    def __init__(self, connection: sa.Connection) -> None:
        self.connection = connection

    def release(self) -> None:
        """End the connection."""
        self.connection.close()

    @property
    def is_locked(self) -> bool:
        """Whether the connection is there."""
        try:
            self.connection.execute(sa.text("SELECT 1"))
        except sa.exc.SQLAlchemyError:
            return False
        return True


class ServerWatch:
    """Says each time that something may have changed."""

    is_cheap: bool = False

    def changed(self) -> bool:
        """Tell that the store is to be asked."""
        return True

    def close(self) -> None:
        """Do nothing: no connection is held."""
