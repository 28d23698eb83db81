"""Text by one way after the other, until the field holds it: on phones whose ways fail.

What the phone prints is of real shape: `am broadcast` (AOSP `ActivityManagerShellCommand`), the
refusal of WRITE_SECURE_SETTINGS of ColorOS (zai-org/Open-AutoGLM #106), that of INJECT_EVENTS
(kkevsekk1/AutoX #1216). Pinyin keyboards put apostrophes between syllables while they compose.
"""

import asyncio
import base64
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.devices.adb.client import AdbClient
from agent.devices.input import text_channel, typing_ways
from agent.devices.input.input_methods import ADB_KEYBOARD, UIAUTOMATOR_KEYBOARD
from agent.devices.input.text_channel import TextChannel
from agent.devices.protocols import TextWay, Typed, UiTree
from agent.devices.shell.phone_shell import PhoneShell
from agent.devices.trees.uiautomator_service import NoServiceError, UiautomatorService
from agent.errors import DeviceError, InputRefusedError, TextEntryError
from agent.records import Bounds, UiNode
from tests.devices.conftest import ScriptedPhone, scripted_server

OWN = "com.sohu.inputmethod.sogou/.SogouIME"
REFUSED = """
Exception occurred while executing 'text':
java.lang.SecurityException: Injecting input events requires the caller (or the source of the \
instrumentation, if any) to have the INJECT_EVENTS permission.
\tat com.android.server.input.InputShellCommand.sendText(InputShellCommand.java:343)
"""
NOT_CHOSEN = """
Exception occurred while executing 'set':
java.lang.SecurityException: uid 2000 does not have android.permission.WRITE_SECURE_SETTINGS.
\tat android.app.ContextImpl.enforce(ContextImpl.java:2187)
\tat com.android.server.inputmethod.InputMethodManagerService$ShellCommandImpl.onCommand
"""

Fate = Callable[[str], str | None]
"""What a way makes of a text; None where it does nothing."""


def exact(text: str) -> str | None:
    return text


def nothing(text: str) -> str | None:
    return None


def marks(text: str) -> str | None:
    return "'".join(text)


def capital(text: str) -> str | None:
    return text[:1].upper() + text[1:] + "."


@dataclass
class FieldPhone(ScriptedPhone):
    """A phone with one field, whose ways to type each have a fate."""

    answers: dict[str, tuple[bytes, int]] = field(default_factory=dict)
    held: str = ""
    limit: int = 10_000
    keys: Fate | None = exact
    method: Fate | None = exact
    method_id: str = ADB_KEYBOARD.id
    may_choose: bool = True
    service: Fate | None = exact
    pastes: Fate | None = None
    kind: str = "android.widget.EditText"
    parent: str = "android.widget.FrameLayout"
    shows: Callable[[str], str] = str
    password: bool = False
    leaves_after: str = ""
    """Another field has the focus once this one was given that way's text."""
    current: str = OWN
    sent: list[str] = field(default_factory=list)
    before: str = ""

    def __post_init__(self) -> None:
        self.before = self.held

    def put(self, way: str, fate: Fate | None, text: str) -> None:
        """Have a way do to the field what its fate says."""
        self.sent.append(way)
        made = None if fate is None else fate(text)
        if made is not None:
            self.held = (self.held + made)[: self.limit]

    # --- the shell ----------

    def _answer(self, command: str) -> tuple[bytes, int]:
        if "; getprop " in command:
            return self._profile(command), 0
        self.commands.append(command)
        if command.startswith("input "):
            return self._input(command)
        if command.startswith("am broadcast"):
            return self._broadcast(shlex.split(command))
        if command.startswith("settings get"):
            return self.current.encode() + b"\n", 0
        if command.startswith("ime list"):
            there = [OWN, *([self.method_id] if self.method is not None else [])]
            return "\n".join(there).encode() + b"\n", 0
        if "ime set" in command:
            return self._choose(command)
        if command.startswith("dumpsys input_method"):
            return f"  mCurId={self.current} mHaveConnection=true\n".encode(), 0
        return b"", 0

    def _input(self, command: str) -> tuple[bytes, int]:
        if self.keys is None:
            return REFUSED.encode(), 255
        for step in command.split(" && "):
            words = shlex.split(step)
            if words[1] == "text":
                self.put("keys", self.keys, words[2].replace("%s", " "))
            elif words[1] == "keycombination":
                self.held = ""
            else:
                self.held = self.held[: len(self.held) - words[2:].count("67")]
                self.held += "\n" * words[2:].count("66")
        return b"", 0

    def _choose(self, command: str) -> tuple[bytes, int]:
        wanted = command.rpartition("ime set ")[2].split(" ")[0].strip("'")
        if not self.may_choose and wanted != OWN:
            return NOT_CHOSEN.encode(), 255
        self.current = wanted
        return f"Input method {wanted} selected for user #0\n".encode(), 0

    def _broadcast(self, words: list[str]) -> tuple[bytes, int]:
        said = f"Broadcasting: Intent {{ act={words[3]} flg=0x400000 (has extras) }}\n"
        done = 0
        if self.current == self.method_id:
            self.put("method", self.method, base64.b64decode(words[-1]).decode())
            done = -1 if self.method_id == UIAUTOMATOR_KEYBOARD.id else 0
        return f"{said}Broadcast completed: result={done}\n".encode(), 0

    # --- the other ways, and the tree ----------

    async def set_text(self, shell: object, method: str, *parameters: object, **_: object) -> bool:
        """Answer the service's `setText`."""
        assert self.service is not None and method == "setText"
        content = str(parameters[-1])
        if content == self.before:
            self.held = content  # Putting back what stood there.
            return True
        # What a field hides is lost, for the whole of its text is set.
        old = self.before if content.startswith(self.before) else ""
        if self.service(content[len(old) :]) is not None:
            self.held = old
        self.put("service", self.service, content[len(old) :])
        return True

    async def can_paste(self, timeout_s: float) -> None:
        if self.pastes is None:
            raise DeviceError("There is no scrcpy server on this machine.", "")

    async def paste(self, text: str, timeout_s: float) -> None:
        self.put("clipboard", self.pastes, text)

    async def tree(self, *, timeout_s: float = 15.0) -> UiTree:
        moved = bool(self.leaves_after) and self.leaves_after in self.sent
        box = Bounds(left=0, top=0, right=1, bottom=1)
        text = "" if moved else self.shows(self.held)
        nodes = (
            UiNode(class_name=self.parent, bounds=box),
            UiNode(
                text=text,
                class_name=self.kind,
                resource_id="a:id/other" if moved else "a:id/field",
                bounds=box,
                parent=0,
                depth=1,
                focused=True,
                password=self.password,
            ),
        )
        return UiTree(nodes=nodes, xml=b"", started_ms=1, ended_ms=1)

    def forget(self) -> None: ...

    async def close(self) -> None: ...


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_channel, "_SETTLE_S", 0.0)
    monkeypatch.setattr(text_channel, "_CLEARED_S", 0.0)


async def typed_on(phone: FieldPhone, text: str) -> Typed:
    """Type a text on a phone."""
    async with scripted_server(phone.handle) as address:
        shell = PhoneShell(AdbClient(address), "phone")
        service = UiautomatorService(shell, jar=lambda: None)

        async def ensure(**_: object) -> None:
            if phone.service is None:
                raise NoServiceError("There is no service for this phone.", "")

        patched = pytest.MonkeyPatch()
        patched.setattr(service, "ensure", ensure)
        patched.setattr(typing_ways.rpc, "call", phone.set_text)
        try:
            channel = TextChannel(shell, trees=phone, service=service, clipboard=phone)
            return await channel.type_text(text, timeout_s=30)
        finally:
            patched.undo()


async def test_what_a_pinyin_keyboard_marks_goes_by_an_input_method() -> None:
    phone = FieldPhone(keys=marks)
    typed = await typed_on(phone, "nihao")
    assert typed.is_read_back and typed.way is TextWay.INPUT_METHOD
    assert typed.note == "It went by an input method: keys had not typed it."
    assert phone.held == "nihao" and phone.current == OWN


async def test_a_broadcast_that_completed_and_typed_nothing_is_followed_by_another_way() -> None:
    """The receiver of ADBKeyBoard before 2.4 is not exported on Android 13 and newer."""
    phone = FieldPhone(method=nothing, held="old ")
    typed = await typed_on(phone, "世界")
    assert typed.is_read_back and typed.way is TextWay.ACCESSIBILITY
    assert phone.sent == ["method", "service"]
    assert phone.held == "old 世界"


async def test_where_keys_are_refused_text_goes_another_way_and_says_so() -> None:
    phone = FieldPhone(keys=None)
    typed = await typed_on(phone, "hello")
    assert typed.is_read_back and typed.way is TextWay.INPUT_METHOD
    assert "keys had not typed it" in typed.note


async def test_where_every_way_is_refused_the_makers_switch_is_named() -> None:
    phone = FieldPhone(keys=None, method=exact, may_choose=False, service=None)
    with pytest.raises(InputRefusedError, match="INJECT_EVENTS") as caught:
        await typed_on(phone, "hello")
    assert "developer options" in caught.value.remedy
    assert phone.held == ""


async def test_a_keyboard_that_adb_may_not_choose_is_not_waited_for() -> None:
    phone = FieldPhone(may_choose=False)
    typed = await typed_on(phone, "世界")
    assert typed.way is TextWay.ACCESSIBILITY and typed.is_read_back
    assert not any(line.startswith("dumpsys input_method") for line in phone.commands)


async def test_a_field_that_limits_keeps_what_it_took_and_is_not_tried_for_ever() -> None:
    phone = FieldPhone(limit=4, pastes=exact)
    with pytest.raises(TextEntryError, match="4 characters of 6, and the first 4") as caught:
        await typed_on(phone, "secret")
    assert phone.held == "secr" and phone.sent == ["keys", "method"]
    assert "secr" not in str(caught.value)


async def test_a_correction_that_nothing_else_could_avoid_stays_in_the_field() -> None:
    phone = FieldPhone(keys=capital, method=None, service=None)
    with pytest.raises(TextEntryError, match="the first 0 are right"):
        await typed_on(phone, "hello")
    assert phone.held == "Hello."


@pytest.mark.parametrize("parent", ["android.webkit.WebView", "android.widget.FrameLayout"])
async def test_a_field_that_gives_nothing_of_what_it_holds_is_typed_into_once(parent: str) -> None:
    phone = FieldPhone(parent=parent, shows=lambda held: "", service=exact, pastes=exact)
    if parent.endswith("FrameLayout"):
        phone.kind = "android.view.View$TextField"
    typed = await typed_on(phone, "hello")
    assert not typed.is_read_back and typed.unread == "the field gives nothing of what it holds."
    assert phone.held == "hello" and phone.sent == ["keys"]


async def test_a_password_is_typed_once_unless_its_dots_say_that_nothing_came() -> None:
    phone = FieldPhone(password=True, shows=lambda held: "•" * len(held))
    assert "password" in (await typed_on(phone, "hunter2")).unread
    assert phone.held == "hunter2" and phone.sent == ["keys"]
    phone = FieldPhone(password=True, keys=nothing, held="ab", shows=lambda held: "•" * len(held))
    typed = await typed_on(phone, "hunter2")
    assert typed.way is TextWay.INPUT_METHOD and not typed.is_read_back
    assert phone.held == "abhunter2"


@pytest.mark.parametrize("fate", [nothing, marks, exact])
async def test_no_way_is_tried_after_the_focus_has_moved(fate: Fate) -> None:
    phone = FieldPhone(keys=fate, leaves_after="keys")
    typed = await typed_on(phone, "nihao")
    assert phone.sent == ["keys"] and "another field" in typed.unread


async def test_a_text_with_an_enter_is_typed_once() -> None:
    phone = FieldPhone(keys=marks)
    with pytest.raises(TextEntryError):
        await typed_on(phone, "ab\ncd")
    assert set(phone.sent) == {"keys"}


async def test_old_content_that_cannot_be_put_back_is_not_deleted() -> None:
    phone = FieldPhone(keys=marks, service=None, held="old ")
    with pytest.raises(TextEntryError, match="could not be put back"):
        await typed_on(phone, "abc")
    assert phone.held == "old a'b'c"


FATES = st.sampled_from([exact, nothing, marks, capital, None])


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    before=st.sampled_from(["", "old "]),
    text=st.sampled_from(["nihao", "a b", "世界", "é"]),
    fates=st.tuples(FATES, FATES, st.sampled_from([exact, nothing, None]), FATES),
    shown=st.sampled_from(["plain", "web", "password", "dots"]),
)
def test_whatever_the_ways_do_nothing_is_doubled_lost_or_taken_for_done(
    before: str, text: str, fates: tuple[Fate | None, ...], shown: str
) -> None:
    keys, method, service, pastes = fates
    shows: dict[str, Callable[[str], str]] = {
        "plain": str,
        "web": lambda held: "",
        "password": lambda held: "",
        "dots": lambda held: "•" * len(held),
    }
    phone = FieldPhone(
        held=before,
        keys=keys,
        method=method,
        service=service,
        pastes=pastes,
        shows=shows[shown],
        parent="android.webkit.WebView" if shown == "web" else "android.view.ViewGroup",
        password=shown in ("password", "dots"),
    )
    made = {before, *(before + (fate(text) or "") for fate in fates if fate is not None)}
    try:
        typed = asyncio.run(typed_on(phone, text))
    except (TextEntryError, InputRefusedError):
        assert phone.held in made, "the field holds what one way made of it, or what it held"
        if shown == "plain":
            assert phone.held != before + text
        return
    if typed.is_read_back:
        assert shown == "plain" and phone.held == before + text
        return
    assert typed.unread
    # The service sets the whole of a text: of one that is hidden, what stood there is replaced.
    assert phone.held in made or (shown in ("web", "password") and phone.held == text)
    assert len(phone.sent) == 1 or (shown == "dots" and before)
