"""Whatever a server or a phone answers, the client ends in time with a value or a clear error."""

import asyncio
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.devices.adb import sync
from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient, ShellResult
from agent.devices.adb.device_list import parse_rows
from agent.devices.facts.foreground import read_window_look
from agent.devices.facts.sizes import read_natural_size, read_viewport_size
from agent.devices.facts.snapshot import read_snapshot
from agent.devices.recordings.questions import QUESTIONS
from agent.devices.shell.missing_tree import why_no_tree
from agent.devices.shell.profile import read_profile
from agent.devices.trees.dump import read_dump
from agent.devices.trees.tree_parser import parse_tree
from agent.errors import DeviceError, SwitchboardError, TreeUnavailableError
from agent.records import UiNode
from tests.devices.conftest import block

BOUND_S = 30.0
RECORDED = sorted((Path(__file__).parents[2] / "data").rglob("*.xml"))
FEW = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))

# What a protocol's answers are made of, right and wrong, in any order.
PIECES = st.one_of(
    st.binary(max_size=40),
    st.sampled_from([b"OKAY", b"FAIL", b"DATA", b"DONE", b"STAT", b"DENT", b"0000", b"ffff"]),
    st.text(max_size=20).map(block),
    st.builds(
        lambda kind, length, data: struct.pack("<BI", kind, length) + data,
        st.integers(0, 255),
        st.one_of(st.integers(0, 30), st.integers(0, 2**32 - 1)),
        st.binary(max_size=30),
    ),
)
ANSWERS = st.lists(PIECES, max_size=6).map(b"".join)

Call = Callable[[AdbClient], Awaitable[object]]
V2, OLD = frozenset({"shell_v2"}), frozenset[str]()
CALLS: dict[str, Call] = {
    "version": lambda client: client.version(),
    "devices": lambda client: client.devices(),
    "connect": lambda client: client.connect("phone:5555"),
    "disconnect": lambda client: client.disconnect("phone:5555"),
    "features": lambda client: client.features("phone"),
    "shell": lambda client: client.shell("phone", "id", features=V2, timeout_s=BOUND_S),
    "old shell": lambda client: client.shell("phone", "id", features=OLD, timeout_s=BOUND_S),
    "exec": lambda client: client.exec("phone", "id", timeout_s=BOUND_S),
    "profile": lambda client: read_profile(client, "phone", timeout_s=BOUND_S),
    "pull": lambda client: sync.pull(client, "phone", "/sdcard/x", timeout_s=BOUND_S),
    "push": lambda client: sync.push(client, "phone", b"x", "/sdcard/x", timeout_s=BOUND_S),
    "stat": lambda client: sync.stat(client, "phone", "/sdcard/x", timeout_s=BOUND_S),
    "track": lambda client: anext(aiter(client.track_devices())),
}


class Liar:
    """A server that says the same bytes to whatever it is asked, and closes."""

    def __init__(self) -> None:
        self.answer = b""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            writer.write(self.answer)
            await writer.drain()
            writer.write_eof()
            while await reader.read(65536):
                pass
        except ConnectionError:
            return
        finally:
            writer.close()


@pytest.mark.parametrize("name", CALLS)
def test_no_answer_of_a_server_does_more_than_raise(name: str) -> None:
    async def ask(answers: list[bytes]) -> None:
        liar = Liar()
        server = await asyncio.start_server(liar.serve, "127.0.0.1", 0)
        client = AdbClient(ServerAddress("127.0.0.1", server.sockets[0].getsockname()[1]))
        async with server:
            for answer in answers:
                liar.answer = answer
                async with asyncio.timeout(BOUND_S):
                    try:
                        await CALLS[name](client)
                    except SwitchboardError as error:
                        assert isinstance(error, DeviceError)
                        assert error.message
                        assert error.remedy

    @settings(max_examples=8, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.one_of(ANSWERS, ANSWERS.map(lambda it: b"OKAYOKAY" + it)), max_size=12))
    def lie(answers: list[bytes]) -> None:
        asyncio.run(ask(answers))

    lie()


@FEW
@given(st.text(max_size=300))
def test_no_text_of_a_phone_breaks_a_reader_of_text(said: str) -> None:
    parse_rows(said)
    read_window_look(said)
    read_natural_size(said)
    read_viewport_size(said)
    read_snapshot(dict.fromkeys(QUESTIONS, said))
    why_no_tree(said)


@FEW
@given(st.binary(max_size=300), st.integers(0, 255))
def test_whatever_uiautomator_writes_is_a_dump_or_a_reason(output: bytes, code: int) -> None:
    try:
        read_dump("phone", ShellResult(output, b"", code), (1080, 2400))
    except TreeUnavailableError as error:
        assert error.message.startswith("phone gave no UI tree")


def well_formed(nodes: tuple[UiNode, ...]) -> None:
    """Hold a tree to what every reader of it relies on."""
    for number, node in enumerate(nodes):
        assert -1 <= node.parent < number
        assert node.depth == (0 if node.parent < 0 else nodes[node.parent].depth + 1)
        for edge in (node.bounds.left, node.bounds.top, node.bounds.right, node.bounds.bottom):
            assert 0.0 <= edge <= 1.0
        assert node.bounds.left <= node.bounds.right
        assert node.bounds.top <= node.bounds.bottom


NAMES = st.sampled_from(["node", "hierarchy", "android.widget.Button", "x"])
ATTRIBUTES = st.dictionaries(
    st.sampled_from(["text", "bounds", "class", "rotation", "checked", "password", "hint"]),
    st.one_of(
        st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=12),
        st.sampled_from(["[0,0][9,9]", "[9,9][0,0]", "[-5,1][99999,2]", "[1,2][3,999999999999]"]),
    ),
    max_size=4,
)


def element(name: str, attributes: dict[str, str], inside: list[str]) -> str:
    given_ = "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
    return f"<{name}{given_}>{''.join(inside)}</{name}>"


TREES = st.recursive(
    st.builds(element, NAMES, ATTRIBUTES, st.just([])),
    lambda inner: st.builds(element, NAMES, ATTRIBUTES, st.lists(inner, max_size=4)),
    max_leaves=25,
)


@settings(max_examples=150, deadline=None)
@given(TREES, st.integers(1, 5000), st.integers(1, 5000))
def test_any_tree_a_phone_may_send_is_well_formed_or_refused(
    xml: str, width: int, height: int
) -> None:
    try:
        well_formed(parse_tree(f"<hierarchy>{xml}</hierarchy>".encode(), (width, height)))
    except TreeUnavailableError as error:
        assert error.message.startswith("The UI tree cannot be used")


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_recorded_tree_that_was_damaged_on_the_way_is_well_formed_or_refused(
    data: st.DataObject,
) -> None:
    xml = bytearray(data.draw(st.sampled_from(RECORDED)).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(xml)))
        end = min(start + data.draw(st.integers(0, 40)), len(xml))
        xml[start:end] = data.draw(st.binary(max_size=20))
    try:
        well_formed(parse_tree(bytes(xml), (1080, 2400)))
    except TreeUnavailableError as error:
        assert error.message.startswith("The UI tree cannot be used")
