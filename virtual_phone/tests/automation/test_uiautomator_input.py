"""What the on-device service does with what is not a request, or a hostile one."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from virtual_phone.phone import Phone
from virtual_phone.server.pipes import BytesSource
from virtual_phone.uiautomator.device_methods import DeviceMethods
from virtual_phone.uiautomator.object_methods import ObjectMethods
from virtual_phone.uiautomator.rpc import MethodTable, answer
from virtual_phone.uiautomator.service import HANDLES_LIMIT, Service
from virtual_phone.uiautomator.web import (
    BODY_LIMIT_BYTES,
    HEAD_LIMIT_BYTES,
    Request,
    RequestError,
    RequestReader,
)
from virtual_phone.userland.userland import Userland

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
SAFE_TO_GUESS = ("objInfo", "count", "exist", "click", "getText", "setText", "childByText")


def methods(home: Path) -> tuple[MethodTable, Service]:
    service = Service(Userland(Phone(home), home, "virtual-1"))
    table = MethodTable()
    DeviceMethods(service).register(table)
    ObjectMethods(service).register(table)
    return table, service


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[MethodTable]:
    made, service = methods(tmp_path)
    yield made
    service.phone.close()


async def reply(table: MethodTable, request: object) -> dict[str, object]:
    """Send a request as JSON and return the decoded answer."""
    answered = json.loads(await answer(table, json.dumps(request).encode()))
    assert isinstance(answered, dict)
    return answered


def request(method: object, params: object = None) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def code_of(answered: dict[str, object]) -> int:
    error = answered["error"]
    assert isinstance(error, dict)
    return int(error["code"])


async def test_each_kind_of_bad_request_has_its_own_code(table: MethodTable) -> None:
    for body in (b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"id": 1e999}'):
        assert code_of(json.loads(await answer(table, body))) == -32700, body[:20]
    for bad in (1, "x", None, {"id": 1}, {"id": 1, "method": 2}, {"id": [], "method": "ping"}):
        assert code_of(await reply(table, bad)) == -32600, bad
    assert code_of(await reply(table, request("no such"))) == -32601
    for params in ([1], {"x": 1}, "text", [None, None, None, None, None]):
        assert code_of(await reply(table, request("click", params))) == -32602, params
    assert code_of(await reply(table, request("__init__"))) == -32601


async def test_batches_are_answered_one_by_one_and_bounded(table: MethodTable) -> None:
    batch = [request("ping"), {"method": "ping"}, request("no such"), 5]
    answers = json.loads(await answer(table, json.dumps(batch).encode()))
    assert [one.get("result", "error") for one in answers] == ["pong", "error", "error"]
    assert await answer(table, b'{"jsonrpc": "2.0", "method": "ping"}') == b"", "a notification"
    too_many = json.dumps([request("ping")] * 1000).encode()
    assert code_of(json.loads(await answer(table, too_many))) == -32600
    assert code_of(json.loads(await answer(table, b"[]"))) == -32600


async def test_numbers_that_no_screen_has_are_refused(table: MethodTable) -> None:
    for point in ([1e300, 5], [-1e9, 0], [5, 1e6]):
        assert code_of(await reply(table, request("click", point))) == -32602, point
    for method, params in (
        ("swipe", [1, 1, 9, 9, 10**9]),
        ("swipePoints", [[1, 2, 3], 5]),
        ("swipePoints", [[1] * 100_000, 5]),
        ("takeScreenshot", [50.0, 80]),
        ("takeScreenshot", [0, 80]),
    ):
        assert code_of(await reply(table, request(method, params))) == -32602, method


@pytest.mark.parametrize(
    "pattern",
    [
        "(",
        "a" * 5000,
        "((a{100}){100}){100}",
        "(?:(?:x{9999}){9999}){9999}",
        "(a{,300})*",
        "((?:b{9,20}){20}){2,}?",
        "\\",
    ],
)
async def test_a_bad_expression_is_an_error_of_the_call(table: MethodTable, pattern: str) -> None:
    answered = await reply(table, request("exist", [{"mask": 4, "textMatches": pattern}]))
    error = answered["error"]
    assert isinstance(error, dict)
    assert "PatternSyntaxException" in error["message"]


async def test_an_expression_cannot_hold_the_phone(tmp_path: Path) -> None:
    table, service = methods(tmp_path)
    service.phone.clipboard.set("")
    service.phone.activities.launch("com.android.notes")
    began = time.monotonic()
    selector = {"mask": 4 | 0x10, "textMatches": r"(\w|\w\w|\w+|[^x]+)*!", "className": "x"}
    await reply(table, request("exist", [{**selector, "mask": 4}]))
    assert time.monotonic() - began < 30
    service.phone.close()


async def test_selectors_with_endless_steps_are_refused(table: MethodTable) -> None:
    step: dict[str, object] = {"mask": 0}
    many = {"mask": 0, "childOrSibling": ["child"] * 99, "childOrSiblingSelector": [step] * 99}
    assert code_of(await reply(table, request("exist", [many]))) == -32602
    nested: dict[str, object] = {"mask": 0}
    for _ in range(300):
        nested = {"mask": 0, "childOrSibling": ["child"], "childOrSiblingSelector": [nested]}
    assert code_of(await reply(table, request("exist", [nested]))) == -32602


async def test_names_of_objects_are_forgotten_in_time(tmp_path: Path) -> None:
    table, service = methods(tmp_path)
    names = [
        (await reply(table, request("getUiObject", [{"mask": 0}])))["result"]
        for _ in range(HANDLES_LIMIT + 1)
    ]
    assert (await reply(table, request("exist", [names[-1]])))["result"] is True
    assert code_of(await reply(table, request("objInfo", [names[0]]))) == -32002
    service.phone.close()


@given(body=st.binary(max_size=200))
def test_any_bytes_get_json_or_nothing(body: bytes) -> None:
    async def send() -> None:
        table = MethodTable()
        answered = await answer(table, body)
        assert not answered or isinstance(json.loads(answered), dict | list)

    asyncio.run(send())


async def test_any_parameters_get_a_result_or_an_error(table: MethodTable) -> None:
    @given(method=st.sampled_from(SAFE_TO_GUESS), params=st.lists(JSON, max_size=3))
    def send(method: str, params: list[object]) -> None:
        body = json.dumps(request(method, params)).encode()
        coroutine = answer(table, body)
        # None of these waits once its parameters are refused, so one step ends it.
        try:
            coroutine.send(None)
        except StopIteration as done:
            answered = json.loads(done.value)
            assert ("error" in answered) != ("result" in answered)
        finally:
            coroutine.close()

    send()


async def read(data: bytes) -> Request | None:
    """Read one request from bytes."""
    return await RequestReader(BytesSource(data)).next()


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"GET / SPDY/3\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (b"\xff\xff\r\n\r\n", 400),
        (b"GET //[ HTTP/1.1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (BODY_LIMIT_BYTES + 1), 413),
        (b"A" * (HEAD_LIMIT_BYTES + 100_000), 431),
    ],
)
async def test_what_is_not_http_is_refused(data: bytes, status: int) -> None:
    with pytest.raises(RequestError) as raised:
        await read(data)
    assert raised.value.status == status


async def test_a_request_cut_short_is_no_request() -> None:
    assert await read(b"GET / HT") is None
    assert await read(b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nabc") is None
    assert await read(b"") is None


@given(data=st.binary(max_size=400))
def test_any_bytes_are_a_request_an_error_or_nothing(data: bytes) -> None:
    async def send() -> None:
        try:
            found = await read(data)
        except RequestError:
            return
        assert found is None or found.path is not None

    asyncio.run(send())


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("click", [10, 10]),
        ("swipe", [10, 10, 50, 50, 2]),
        ("pressKey", ["home"]),
        ("pressKeyCode", [4]),
        ("injectInputEvent", [0, 10, 10, 0]),
        ("click", [{"mask": 1, "text": "Settings"}]),
    ],
)
async def test_a_phone_that_refuses_injection_refuses_the_service_too(
    tmp_path: Path, method: str, params: list[object]
) -> None:
    """As openatx/uiautomator2 issue 520 shows it, on MIUI 11."""
    table, service = methods(tmp_path)
    service.phone.refuses_injection = True
    refused = await reply(table, request(method, params))
    error = refused["error"]
    assert isinstance(error, dict) and error["code"] == -32001
    assert "java.lang.SecurityException: Injecting input events" in str(error["message"])
    service.phone.close()
