"""Phones that take no touches from adb: heard in the server's log, remembered, never called done.

The server's lines are those that `wrappers/InputManager.java` and `util/Ln.java` of scrcpy v3.3.4
and v4.1 print to stderr, and for servers before 3.3 the stack of the public report
Genymobile/scrcpy #4352 (2.1.1, MIUI 14); `input` prints what kkevsekk1/AutoX #1216 shows (Android
14).
"""

import asyncio
import struct
from collections.abc import Sequence

import pytest

from agent.devices.gestures import Pinch
from agent.devices.health.scrcpy_checks import examine_touch
from agent.devices.input.input_channel import ShellInput
from agent.devices.protocols import TextWay
from agent.devices.scrcpy import control, server_file
from agent.devices.scrcpy import link as links
from agent.devices.scrcpy.dialect import dialect
from agent.devices.scrcpy.link import ScrcpyLink, ScrcpySettings
from agent.devices.scrcpy.server_file import PhoneServer
from agent.devices.shell.injection import refusal_in, remedy
from agent.errors import InputRefusedError
from agent.records import Point
from tests.devices.scrcpy.conftest import Bench
from virtual_phone.scrcpy.server import CLASS
from virtual_phone.server.pipes import Socket
from virtual_phone.shell.call import Call

MIDDLE = Point(x=0.5, y=0.5)
SINCE_13 = (
    "Injecting input events requires the caller (or the source of the instrumentation, if any) to "
    "have the INJECT_EVENTS permission."
)
BEFORE_13 = "Injecting to another application requires INJECT_EVENTS permission"
SHORT = (
    f"[server] ERROR: {SINCE_13}",
    '[server] ERROR: Make sure you have enabled "USB debugging (Security Settings)" and then '
    "rebooted your device.",
)
STACK = (
    "[server] ERROR: Could not invoke method",
    "java.lang.reflect.InvocationTargetException",
    "        at java.lang.reflect.Method.invoke(Native Method)",
    "        at com.genymobile.scrcpy.wrappers.InputManager.injectInputEvent(InputManager.java:37)",
    "        at com.genymobile.scrcpy.Device.injectEvent(Device.java:225)",
    "        at com.genymobile.scrcpy.Controller.injectTouch(Controller.java:324)",
    "        at java.lang.Thread.run(Thread.java:1012)",
    f"Caused by: java.lang.SecurityException: {SINCE_13}",
    "        at android.os.Parcel.createExceptionOrNull(Parcel.java:3011)",
    "        ... 10 more",
)
OLD_STACK = (*STACK[:7], f"Caused by: java.lang.SecurityException: {BEFORE_13}", *STACK[8:])
HELD = """
Exception occurred while executing 'tap':
java.lang.SecurityException: Injecting input events requires the caller (or the source of the \
instrumentation, if any) to have the INJECT_EVENTS permission.
\tat com.android.server.input.InputManagerService.injectInputEventToTarget\
(InputManagerService.java:1060)
\tat com.android.server.input.InputShellCommand.sendTap(InputShellCommand.java:383)
"""


class RefusingServer:
    """A server of one version as scrcpy's sources have it log, on a phone that refuses events."""

    def __init__(self, lines: Sequence[str], *, knows_uhid: bool = True) -> None:
        self.lines = lines
        self.knows_uhid = knows_uhid
        self.events = 0
        self.begun = 0

    def begin(self, bench: Bench, version: str) -> None:
        """Have it be what the phone starts, and what the device knows of it."""
        phone = bench.host.served(bench.device.serial)
        phone.userland.app_processes[CLASS] = self.run
        link = bench.device._scrcpy
        assert link is not None
        link._server = PhoneServer(dialect(version), "/dev/null")

    async def run(self, call: Call, arguments: list[str]) -> int:
        self.begun += 1
        scid = next(word for word in arguments if word.startswith("scid="))[5:]
        over = asyncio.Event()

        async def answer(socket: Socket) -> None:
            await socket.write(b"\0" + b"phone".ljust(64, b"\0"))
            try:
                while True:
                    await self.read(call, socket)
            except EOFError:
                over.set()

        sockets = call.userland.sockets
        sockets.listen(f"localabstract:scrcpy_{scid}", answer)
        try:
            await over.wait()
        finally:
            sockets.close(f"localabstract:scrcpy_{scid}", answer)
        return 0

    async def read(self, call: Call, socket: Socket) -> None:
        """Read one message; log as the server does."""
        (kind,) = await socket.read_exactly(1)
        if kind == 14:
            (device,) = struct.unpack(">H", await socket.read_exactly(2))
            if self.knows_uhid:
                await call.err(f"[server] WARN: Closing unknown UHID device: {device}")
            return
        await socket.read_exactly({0: 13, 2: 31, 3: 20}[kind])
        self.events += 1
        if self.events == 1:
            for line in self.lines:
                await call.err(line)


VERSIONS = [
    ("2.1.1", OLD_STACK),
    ("2.7", STACK),
    ("3.3.4", SHORT),
    ("4.1", SHORT),
    ("5.0.1", SHORT),
    ("4.1-ez2.2.2", SHORT),
]


@pytest.mark.parametrize(("version", "lines"), VERSIONS)
async def test_a_refused_tap_is_never_done(
    bench: Bench, version: str, lines: Sequence[str]
) -> None:
    server = RefusingServer(lines)
    server.begin(bench, version)
    bench.phone.properties._base["ro.product.manufacturer"] = "Xiaomi"
    await bench.device.control()
    bench.phone.refuses_injection = True  # So is `input`, as on a phone of this maker.
    with pytest.raises(InputRefusedError, match="INJECT_EVENTS permission") as caught:
        await bench.device.tap(MIDDLE)
    assert "USB debugging (Security settings)" in caught.value.remedy
    assert "SIM card" in caught.value.remedy
    assert server.events == 2, "a finger went down and up, and was refused"
    assert not bench.touches
    with pytest.raises(InputRefusedError):
        await bench.device.tap(MIDDLE)
    with pytest.raises(InputRefusedError):
        await bench.device.perform(Pinch(MIDDLE, 2.0))
    assert server.events == 2, "what is known to be refused is not sent again"


async def test_a_fork_that_logs_no_echo_is_heard_as_well(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control, "ECHO_TIMEOUT_S", 0.2)
    RefusingServer(SHORT, knows_uhid=False).begin(bench, "4.1-ez2.2.2")
    await bench.device.control()
    bench.phone.refuses_injection = True
    with pytest.raises(InputRefusedError):
        await bench.device.tap(MIDDLE)


async def test_where_input_is_taken_the_refused_tap_is_done_by_it_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    taps: list[tuple[float, ...]] = []
    tap = bench.phone.gestures.tap

    async def noted(x: float, y: float, display: int = 0) -> None:
        taps.append((x, y))
        await tap(x, y, display)

    monkeypatch.setattr(bench.phone.gestures, "tap", noted)
    server = RefusingServer(SHORT)
    server.begin(bench, "5.0.1")
    await bench.device.control()
    await bench.device.tap(MIDDLE)
    assert len(taps) == 1
    await bench.device.key("KEYCODE_WAKEUP")
    await bench.device.tap(MIDDLE)
    assert len(taps) == 2 and server.events == 2


async def test_the_refusal_lasts_as_long_as_the_connection(bench: Bench) -> None:
    bench.phone.refuses_injection = True
    await bench.device.control()
    with pytest.raises(InputRefusedError):
        await bench.device.tap(MIDDLE)
    bench.phone.refuses_injection = False
    await bench.device.release_input()
    bench.device.forget()
    await bench.device.control()
    await bench.device.perform(Pinch(MIDDLE, 2.0))
    assert bench.touches


async def test_only_the_first_action_of_a_socket_asks_the_server(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    handled, probe = control.ControlChannel.handled, ScrcpyLink.probe

    async def counted(self: control.ControlChannel) -> bool:
        asked.append("server")
        return await handled(self)

    async def probed(self: ScrcpyLink, timeout_s: float) -> None:
        asked.append("adbd")
        await probe(self, timeout_s)

    monkeypatch.setattr(control.ControlChannel, "handled", counted)
    monkeypatch.setattr(ScrcpyLink, "probe", probed)
    await bench.device.control()
    for _ in range(3):
        await bench.device.tap(MIDDLE)
    assert asked == ["server", "adbd", "adbd"]


async def test_a_socket_that_is_refused_later_says_so_and_repeats_nothing(bench: Bench) -> None:
    await bench.device.control()
    await bench.device.tap(MIDDLE)
    await bench.until(lambda: len(bench.touches) == 2)
    link, warm = bench.device._scrcpy, bench.device._warm
    assert link is not None and warm is not None and warm._channel is not None
    warm._channel.session._note(SHORT[0])
    with pytest.raises(InputRefusedError):
        await bench.device.tap(MIDDLE)
    await bench.until(lambda: len(bench.touches) == 4)


async def test_a_paste_that_is_refused_is_not_done(bench: Bench) -> None:
    bench.phone.refuses_injection = True
    with pytest.raises(InputRefusedError):
        await bench.device.set_clipboard("milk", paste=True)
    # Setting alone presses nothing.
    await bench.device.set_clipboard("milk")
    assert await bench.device.clipboard() == "milk"


async def test_a_touch_on_an_extra_display_is_refused_in_words(bench: Bench) -> None:
    display = await bench.device.displays.open(width_px=720, height_px=1280, dpi=200)
    bench.phone.refuses_injection = True
    with pytest.raises(InputRefusedError):
        await display.device.tap(MIDDLE)


async def test_an_empty_clipboard_is_read_as_empty(bench: Bench) -> None:
    assert bench.phone.clipboard.text == ""
    assert await bench.device.clipboard() == ""
    await bench.device.set_clipboard("milk")
    assert await bench.device.clipboard() == "milk"
    bench.phone.clipboard.set("")
    assert await bench.device.clipboard() == ""


async def test_text_goes_where_no_event_has_to_be_injected(bench: Bench) -> None:
    await bench.device._shell.checked("am start -W -n com.android.notes/.NoteEditActivity", 30)
    nodes = (await bench.device.tree()).nodes
    await bench.device.tap(next(n for n in nodes if n.resource_id.endswith("/body")).bounds.center)
    bench.phone.refuses_injection = True
    typed = await bench.device.type_text("hello", timeout_s=30)
    assert typed.is_read_back and typed.way is TextWay.INPUT_METHOD
    assert "keys had not typed it" in typed.note


# --- doctor ----------


async def touch_finding(bench: Bench) -> tuple[bool, str, str]:
    link = ScrcpyLink(bench.device._shell, ScrcpySettings())
    found = await examine_touch(link)
    return found.ok, found.detail, found.remedy


async def test_doctor_sends_a_key_that_changes_nothing(bench: Bench) -> None:
    await bench.device.launch("com.android.settings")
    await bench.phone.animations.wait_idle()
    before = bench.phone.windows.dump()
    ok, detail, _ = await touch_finding(bench)
    assert ok and "a key was taken by scrcpy 3.3.4" in detail
    assert bench.phone.windows.dump() == before
    assert not bench.touches


async def test_doctor_finds_that_touches_are_refused_and_says_what_to_switch_on(
    bench: Bench,
) -> None:
    bench.phone.properties._base["ro.product.manufacturer"] = "Xiaomi"
    bench.phone.properties._base["ro.product.brand"] = "POCO"
    bench.phone.refuses_injection = True
    ok, detail, what = await touch_finding(bench)
    assert not ok and "INJECT_EVENTS" in detail and "Security settings" in what


@pytest.mark.parametrize("refuses", [True, False])
async def test_doctor_asks_input_where_there_is_no_server(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, refuses: bool
) -> None:
    async def nothing(*_: object, **__: object) -> PhoneServer:
        raise server_file.NoServerError("There is none.", "Get one.")

    monkeypatch.setattr(links, "prepare_server", nothing)
    bench.phone.refuses_injection = refuses
    ok, detail, _ = await touch_finding(bench)
    assert ok is not refuses
    assert ("INJECT_EVENTS" if refuses else "a key was taken by `input`") in detail


# --- the words ----------


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(SHORT),
        "\n".join(STACK),
        "\r\n".join(OLD_STACK),
        HELD,
        f"java.lang.SecurityException: {BEFORE_13}\n\tat android.os.Parcel.readException",
        f"Error: {BEFORE_13}",
        f"WARNING: linker: something of the vendor's\n{HELD}",
    ],
)
def test_every_way_to_say_it_is_heard(text: str) -> None:
    said = refusal_in(text)
    assert said.startswith("Injecting") and "INJECT_EVENTS" in said and "\n" not in said


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[server] INFO: Device: [Xiaomi] Redmi 23090RA98G (Android 14)",
        "[server] WARN: Could not inject char u+4e16",
        "java.lang.SecurityException: uid 2000 does not have WRITE_SECURE_SETTINGS.",
        "Error: Invalid arguments for command: tap",
    ],
)
def test_other_complaints_are_no_refusal_of_input(text: str) -> None:
    assert refusal_in(text) == ""


@pytest.mark.parametrize(
    ("code", "after"), [(0, ""), (255, ""), (1, "\n\tat a.b.C(D.java:1)" * 90)]
)
async def test_input_that_prints_it_has_failed_whatever_its_exit_code(
    bench: Bench, code: int, after: str
) -> None:
    shell, device = bench.device._shell, bench.device
    cold = ShellInput(shell, device._display)
    quoted = (HELD + after).replace("'", "'\\''")
    cold._input = (
        f"printf %s '{quoted}' >&2; (exit {code}); :"
        if code == 0
        else (f"printf %s '{quoted}' >&2; exit {code};")
    )
    with pytest.raises(InputRefusedError):
        await cold.key(4, timeout_s=30)


@pytest.mark.parametrize(
    ("maker", "word"),
    [
        ("Xiaomi", "SIM card"),
        ("Xiaomi Redmi", "Security settings"),
        ("POCO", "restart"),
        ("OPPO", "Disable permission monitoring"),
        ("realme", "Disable permission monitoring"),
        ("OnePlus", "Disable system optimization"),
        ("vivo iQOO", "USB simulated click"),
        ("meizu", "payment protection"),
        ("Acme", "developer options"),
        ("", "developer options"),
    ],
)
def test_the_remedy_is_the_makers(maker: str, word: str) -> None:
    assert word in remedy(maker)
