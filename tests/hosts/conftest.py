"""A PostgreSQL server for the hosts of a fleet."""

from tests.store.conftest import postgres_server

__all__ = ["postgres_server"]
