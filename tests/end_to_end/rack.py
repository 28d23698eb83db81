"""Hosts of one fleet as real processes, with a phone each, and a desk without."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.end_to_end.harness import Line, Running, Workshop, end_all_of, wait_until
from tests.store.postgres_server import PostgresServer, binaries, running_server

HOSTS = ("first", "second")


@contextmanager
def server_of_a_test() -> Iterator[PostgresServer]:
    if binaries() is None and "SWITCHBOARD_NEEDS_ALL" not in os.environ:
        pytest.skip("PostgreSQL is not installed")
    with running_server(is_durable=True) as one:
        yield one


class Rack:
    """Two hosts with a phone each, and a desk without."""

    def __init__(self, shop: Workshop, stack: ExitStack) -> None:
        self._shop = shop
        self._stack = stack
        self.processes: dict[str, Running] = {}

    def at(self, host: str) -> dict[str, str]:
        return {"SWITCHBOARD_DATA_DIR": str(self.directory(host)), "SWITCHBOARD_STORE_HOST": host}

    def directory(self, host: str) -> Path:
        return Path(f"{self._shop.data}-{host}")

    def start(self, host: str) -> None:
        serve = ("host", "serve", "--virtual-only", "--phones", "1")
        self.processes[host] = self._stack.enter_context(
            self._shop.running(*serve, **self.at(host))
        )
        wait_until(lambda: self.phone(host) != "", f"host {host} and its phone")

    def hosts(self) -> dict[str, Line]:
        listed = self._shop.call("fleet", "hosts", "--json")
        return {one["name"]: one for one in listed.json["hosts"]} if listed.code == 0 else {}

    def phone(self, host: str) -> str:
        """Return the name of a host's phone, once it is online."""
        one = self.hosts().get(host, {"state": "", "phones": []})
        online = [info["serial"] for info in one["phones"] if info["state"] == "device"]
        return f"{host}/{online[0]}" if online and one["state"] == "here" else ""

    def session(self, session_id: str) -> Line:
        found: Line = self._shop.call("sessions", "show", session_id, "--json").json
        return found


@contextmanager
def rack_of_two(shop: Workshop, server: PostgresServer) -> Iterator[Rack]:
    """Run both hosts for the length of a `with` block."""
    shop.environment["SWITCHBOARD_STORE_DSN"] = server.new_database()
    shop.environment["SWITCHBOARD_STORE_HOST"] = "desk"
    with ExitStack() as stack:
        one = Rack(shop, stack)
        try:
            for host in HOSTS:
                one.start(host)
            yield one
        finally:
            for host in HOSTS:
                end_all_of(one.directory(host))
