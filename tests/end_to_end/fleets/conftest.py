"""Shared by the tests of fleets: a PostgreSQL server, and two hosts with a phone each."""

from collections.abc import Iterator

import pytest

from tests.end_to_end.harness import Workshop
from tests.end_to_end.rack import Rack, rack_of_two, server_of_a_test
from tests.store.postgres_server import PostgresServer


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with server_of_a_test() as one:
        yield one


@pytest.fixture
def rack(workshop: Workshop, server: PostgresServer) -> Iterator[Rack]:
    with rack_of_two(workshop, server) as one:
        yield one
