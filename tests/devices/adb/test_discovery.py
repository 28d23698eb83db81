"""Pairing and mDNS, against what adb's server answers; no phone here has wireless debugging."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.devices.adb import discovery
from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.adb.discovery import QrOffer, Service, parse_services
from agent.errors import DeviceError, UsageError
from tests.devices.conftest import block, scripted_server

LISTING = (
    "adb-R5CT1234-AbCdEf\t_adb-tls-connect._tcp.\t192.168.1.7:41234\n"
    "studio-abc123\t_adb-tls-pairing._tcp\t192.168.1.7:37123\n"
    "not a service\n"
)


def answering(answers: dict[str, bytes]) -> object:
    async def handle(
        request: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        for beginning, answer in answers.items():
            if request.startswith(beginning):
                writer.write(answer)
                return
        writer.write(b"FAIL" + block("unknown host service"))

    return handle


def test_services_are_read_with_their_kind() -> None:
    assert parse_services(LISTING) == (
        Service("adb-R5CT1234-AbCdEf", "_adb-tls-connect._tcp", "192.168.1.7:41234"),
        Service("studio-abc123", "_adb-tls-pairing._tcp", "192.168.1.7:37123"),
    )


@given(st.text())
@settings(max_examples=100, deadline=None)
def test_any_listing_of_services_parses(text: str) -> None:
    for service in parse_services(text):
        assert service.target.rpartition(":")[2].isdecimal()
        assert "\n" not in service.name


def test_a_qr_offer_says_what_a_phone_expects() -> None:
    first, second = QrOffer.new(), QrOffer.new()
    assert first.payload == f"WIFI:T:ADB;S:{first.name};P:{first.code};;"
    assert first.name.startswith("studio-") and first.code != second.code


async def test_a_lost_wireless_phone_is_found_by_its_own_serial() -> None:
    answers = {"host:mdns:services": b"OKAY" + block(LISTING)}
    async with scripted_server(answering(answers)) as address:  # type: ignore[arg-type]
        client = AdbClient(address)
        assert await discovery.find_again(client, "R5CT1234") == "192.168.1.7:41234"
        assert await discovery.find_again(client, "OTHER123") == ""
        assert await discovery.find_again(client, "") == ""


async def test_pairing_says_what_adb_said() -> None:
    good = b"OKAY" + block("Successfully paired to 192.168.1.7:37123 [guid=adb-x]")
    bad = b"OKAY" + block("Failed: Wrong password or connection was dropped.")
    answers = {"host:pair:123456:": good, "host:pair:": bad}
    async with scripted_server(answering(answers)) as address:  # type: ignore[arg-type]
        client = AdbClient(address)
        assert "guid" in await discovery.pair(client, "192.168.1.7:37123", "123456")
        with pytest.raises(DeviceError, match="Wrong password"):
            await discovery.pair(client, "192.168.1.7:37123", "654321")
        for target, code in (("nowhere", "123456"), ("192.168.1.7:1", "12")):
            with pytest.raises(UsageError):
                await discovery.pair(client, target, code)


async def test_the_real_server_of_adb_refuses_a_pairing_that_nobody_waits_for(
    bare_adb: AdbClient, nowhere: ServerAddress
) -> None:
    with pytest.raises(DeviceError, match=r"was not paired|is too old"):
        await discovery.pair(bare_adb, str(nowhere), "123456")
