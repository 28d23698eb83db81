"""Trees from the service that stays up, the dump behind it, and why there is none."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient, ShellResult
from agent.devices.frames.display_size import DisplaySize
from agent.devices.shell.missing_tree import why_no_tree
from agent.devices.shell.phone_shell import PhoneShell
from agent.devices.trees import uiautomator_rpc as rpc
from agent.devices.trees.tree_provider import DisplayInfo, WarmTrees
from agent.devices.trees.tree_source import DumpTrees
from agent.devices.trees.uiautomator_jar import place_jar
from agent.devices.trees.uiautomator_service import (
    AutomationTakenError,
    NoServiceError,
    UiautomatorService,
)
from agent.errors import DeviceError, TreeUnavailableError
from tests.devices.conftest import ScriptedPhone, scripted_server
from virtual_phone.server.faults import FaultKind
from virtual_phone.server.serve import PhoneHost

BOUND_S = 30.0


@dataclass
class Trees:
    """A virtual phone with both sources of trees."""

    host: PhoneHost
    shell: PhoneShell
    service: UiautomatorService
    cold: DumpTrees
    warm: WarmTrees

    def fault(self, kind: FaultKind) -> None:
        self.host.fault(self.shell.serial, kind)

    def mend(self) -> None:
        self.host.served(self.shell.serial).userland.faults.clear()

    @property
    def automation(self) -> object | None:
        """Who holds the phone's UiAutomation."""
        return self.host.served(self.shell.serial).userland.automation

    async def until_free(self) -> None:
        """Wait until nobody holds the phone's UiAutomation."""
        async with asyncio.timeout(BOUND_S):
            while self.automation is not None:
                await asyncio.sleep(0.01)


@pytest.fixture
async def trees(adb_address: ServerAddress, tmp_path: Path) -> AsyncIterator[Trees]:
    async with PhoneHost(tmp_path / "phones") as host:
        client = AdbClient(adb_address)
        (serial,) = host.serials
        await client.connect(serial)
        shell = PhoneShell(client, serial)
        display = DisplaySize(shell)
        service = UiautomatorService(shell)
        cold = DumpTrees(shell, display)
        yield Trees(
            host, shell, service, cold, WarmTrees(shell, display, service=service, cold=cold)
        )
        await service.stop()
        await client.disconnect(serial)


async def run(trees: Trees, command: str) -> ShellResult:
    return await trees.shell.run(command, BOUND_S)


async def test_both_ways_give_the_same_nodes(trees: Trees) -> None:
    warm = await trees.warm.tree(timeout_s=BOUND_S)
    assert trees.service.is_ours
    await trees.warm.close()
    cold = await trees.cold.tree(timeout_s=BOUND_S)
    assert warm.nodes == cold.nodes
    assert warm.started_ms <= warm.ended_ms


async def test_a_tree_of_a_turned_phone_has_the_bounds_of_the_dump(trees: Trees) -> None:
    await run(trees, "settings put system user_rotation 1")
    warm = await trees.warm.tree(timeout_s=BOUND_S)
    await trees.warm.close()
    assert warm.nodes == (await trees.cold.tree(timeout_s=BOUND_S)).nodes


async def test_a_display_that_is_given_another_size_meanwhile_is_measured_anew(
    trees: Trees,
) -> None:
    await trees.warm.tree(timeout_s=BOUND_S)
    await run(trees, "wm size 720x1280")
    warm = await trees.warm.tree(timeout_s=BOUND_S)
    await trees.warm.close()
    assert warm.nodes == (await trees.cold.tree(timeout_s=BOUND_S)).nodes


@pytest.mark.parametrize(
    ("natural", "width", "height", "rotation", "fits"),
    [
        ((1080, 2400), 1080, 2400, 0, True),
        ((1080, 2400), 1080, 2274, 0, True),
        ((1080, 2400), 2274, 1080, 1, True),
        ((1080, 2400), 2400, 1080, 3, True),
        ((1080, 2400), 720, 1280, 0, False),
        ((1080, 2400), 1280, 720, 1, False),
    ],
)
def test_a_navigation_bar_is_no_other_display(
    natural: tuple[int, int], width: int, height: int, rotation: int, fits: bool
) -> None:
    info = DisplayInfo(display_width=width, display_height=height, display_rotation=rotation)
    assert info.fits(natural) is fits


async def test_a_screen_that_never_rests_has_a_warm_tree_and_no_dump(trees: Trees) -> None:
    trees.fault(FaultKind.DUMP_NOT_IDLE)
    with pytest.raises(TreeUnavailableError, match="never came to rest"):
        await trees.cold.tree(timeout_s=BOUND_S)
    assert (await trees.warm.tree(timeout_s=BOUND_S)).nodes


async def test_a_service_that_hangs_is_ended_and_the_dump_takes_over(
    trees: Trees, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.devices.trees.circuit_breaker.FIRST_REST_S", 600.0)
    await trees.warm.tree(timeout_s=BOUND_S)
    trees.fault(FaultKind.HUNG_DUMP)
    with pytest.raises(TreeUnavailableError, match="did not finish"):
        await trees.warm.tree(timeout_s=1.0)
    assert not trees.service.is_up
    assert "within" in trees.warm.why_cold
    trees.mend()
    await trees.until_free()
    assert (await trees.warm.tree(timeout_s=BOUND_S)).nodes
    assert not trees.service.is_up
    trees.warm.forget()
    assert (await trees.warm.tree(timeout_s=BOUND_S)).nodes
    assert trees.service.is_ours


async def test_a_service_that_somebody_else_runs_is_used_and_left_running(trees: Trees) -> None:
    other = UiautomatorService(trees.shell)
    await other.ensure()
    assert (await trees.warm.tree(timeout_s=BOUND_S)).nodes
    assert trees.service.is_up
    assert not trees.service.is_ours
    await trees.warm.close()
    assert await rpc.ping(trees.shell, timeout_s=BOUND_S)
    await other.stop()
    await trees.until_free()


async def test_another_reader_of_the_screen_is_named_as_the_reason(trees: Trees) -> None:
    other = await trees.shell.client.hold(
        trees.shell.serial, "shell:app_process / com.wetest.uia2.Main -p 9999", timeout_s=BOUND_S
    )
    async with asyncio.timeout(BOUND_S):
        while trees.automation is None:
            await asyncio.sleep(0.01)
    with pytest.raises(AutomationTakenError):
        await trees.service.ensure()
    with pytest.raises(TreeUnavailableError, match="another program reads the screen"):
        await trees.warm.tree(timeout_s=BOUND_S)
    other.close()
    await trees.until_free()
    assert (await trees.warm.tree(timeout_s=BOUND_S)).nodes


async def test_the_service_ends_when_nobody_asks(trees: Trees) -> None:
    service = UiautomatorService(trees.shell, idle_stop_s=0.05)
    await service.ensure()
    await trees.until_free()
    assert (await trees.cold.tree(timeout_s=BOUND_S)).nodes


async def test_the_service_ends_with_the_connection_of_a_switchboard_that_was_killed(
    trees: Trees,
) -> None:
    await trees.service.ensure()
    # What the kernel does to the sockets of a process that dies: nobody says goodbye.
    trees.service.drop()
    await trees.until_free()


async def test_a_dark_screen_is_the_reason_for_an_empty_tree(trees: Trees) -> None:
    await run(trees, "input keyevent 223")
    trees.fault(FaultKind.NULL_ROOT)
    for source in (trees.warm, trees.cold):
        with pytest.raises(TreeUnavailableError, match="the screen is off"):
            await source.tree(timeout_s=BOUND_S)
        await trees.warm.close()


async def test_a_phone_of_flesh_without_the_server_file_says_how_to_get_it() -> None:
    phone = ScriptedPhone({})
    async with scripted_server(phone.handle) as address:
        service = UiautomatorService(PhoneShell(AdbClient(address), "phone"), jar=lambda: None)
        with pytest.raises(NoServiceError, match="not on this computer") as caught:
            await service.ensure()
    assert "pip install" in caught.value.remedy


async def test_an_android_that_is_too_old_is_told() -> None:
    phone = ScriptedPhone({"getprop": (b"Nexus\n4.4.2\n19\n1\n\n\n", 0)})
    async with scripted_server(phone.handle) as address:
        service = UiautomatorService(PhoneShell(AdbClient(address), "phone"))
        with pytest.raises(NoServiceError, match="is too old"):
            await service.ensure()


async def test_the_server_file_is_pushed_once_whole_and_by_its_checksum(
    trees: Trees, tmp_path: Path
) -> None:
    jar = tmp_path / "u2.jar"
    jar.write_bytes(b"PK" * 70_000)
    path = await place_jar(trees.shell, jar)
    first = (await run(trees, f"stat -c '%s %i' {path}; ls /data/local/tmp")).text
    assert first.startswith("140000 ")
    assert ".part" not in first
    assert await place_jar(trees.shell, jar) == path
    assert (await run(trees, f"stat -c '%s %i' {path}; ls /data/local/tmp")).text == first
    jar.write_bytes(b"another")
    assert await place_jar(trees.shell, jar) != path


@pytest.mark.parametrize(
    ("flags", "secure"),
    [
        ("fl=LAYOUT_IN_SCREEN SECURE SPLIT_TOUCH", True),
        ("fl=LAYOUT_IN_SCREEN SPLIT_TOUCH", False),
        ("fl=#81812100", True),
        ("fl=#81810100", False),
    ],
)
def test_a_secure_window_is_known_by_its_flags(flags: str, secure: bool) -> None:
    said = (
        "  Window #0 Window{aa u0 StatusBar}:\n    mAttrs={fl=SECURE}\n"
        f"  Window #1 Window{{bb u0 com.bank/com.bank.Main}}:\n    mAttrs={{(0,0) {flags}}}\n"
        "  mCurrentFocus=Window{bb u0 com.bank/com.bank.Main}\n"
    )
    assert ("secure" in why_no_tree(said)) is secure


PHONE = PhoneShell(AdbClient(ServerAddress("127.0.0.1", 1)), "phone")
HEAD = b"HTTP/1.1 200 OK\r\n"


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(
        st.binary(max_size=300),
        st.binary(max_size=200).map(lambda rest: HEAD + rest),
        st.binary(max_size=80).map(
            lambda rest: HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + rest
        ),
    )
)
def test_whatever_answers_the_port_is_a_body_or_a_clear_error(answer: bytes) -> None:
    try:
        body = rpc.read_answer(PHONE, answer)
    except rpc.ServiceDownError as error:
        assert error.message.startswith("uiautomator2's service on phone")
    else:
        assert isinstance(body, bytes)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b'{"result": 5}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"error": {"message": 5}}',
        b'{"error": {"message": "java.lang.StackOverflowError"}}',
    ],
)
async def test_a_call_that_is_answered_with_nonsense_is_an_error(body: bytes) -> None:
    answer = HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body

    async def handle(
        _request: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writer.write(b"OKAY")
        await reader.readexactly(int(await reader.readexactly(4), 16))
        writer.write(b"OKAY")
        await reader.readuntil(b"}")
        writer.write(answer)

    async with scripted_server(handle) as address:
        shell = PhoneShell(AdbClient(address), "phone")
        with pytest.raises(DeviceError) as caught:
            await rpc.call(shell, "dumpWindowHierarchy", wanted=str, timeout_s=BOUND_S)
    assert isinstance(caught.value, rpc.ServiceDownError | rpc.CallFailedError)


async def test_each_toast_is_told_once(trees: Trees) -> None:
    phone = trees.host.served(trees.shell.serial).phone
    assert await trees.warm.toast(timeout_s=BOUND_S) == ""
    await trees.warm.tree(timeout_s=BOUND_S)
    phone.toasts.show("Added to your cart")
    assert await trees.warm.toast(timeout_s=BOUND_S) == "Added to your cart"
    assert await trees.warm.toast(timeout_s=BOUND_S) == ""
    phone.toasts.show("Added to your cart")
    assert await trees.warm.toast(timeout_s=BOUND_S) == "Added to your cart"
