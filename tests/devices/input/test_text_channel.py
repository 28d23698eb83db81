"""Text in a real field of a virtual phone, by each way there is, and the reading back of it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.adb_device import AdbDevice
from agent.devices.input import field_clear
from agent.devices.input.borrowed_keyboard import NOTE, Keyboard
from agent.devices.input.field_verify import content, focused_field
from agent.devices.input.input_methods import ADB_KEYBOARD
from agent.devices.input.text_channel import TextChannel
from agent.devices.protocols import TextWay, Typed, UiTree
from agent.devices.shell.phone_shell import PhoneShell
from agent.devices.trees.uiautomator_service import UiautomatorService
from agent.errors import TextEntryError
from agent.records import Bounds, UiNode
from tests.devices.conftest import ScriptedPhone, scripted_server
from virtual_phone.server.serve import PhoneHost

BOUND_S = 30.0
OWN = "com.android.inputmethod.latin/.LatinIME"


class Note:
    """The body of a new note on a virtual phone: a field of many lines, empty and focused."""

    def __init__(self, device: AdbDevice, shell: PhoneShell) -> None:
        self.device = device
        self.shell = shell
        self.service = UiautomatorService(shell)

    async def begin(self) -> None:
        """Open a new note and touch its body."""
        await self.shell.checked(
            "am force-stop com.android.notes; am start -W -n com.android.notes/.NoteEditActivity",
            BOUND_S,
        )
        body = next(n for n in (await self.device.tree()).nodes if n.resource_id.endswith("/body"))
        await self.device.tap(body.bounds.center)

    async def holds(self) -> str:
        """Return what the field holds, as the dump says it."""
        field = focused_field((await self.device.tree()).nodes)
        assert field is not None
        return content(field)

    async def without_input_methods(self, text: str) -> Typed:
        nothing = Keyboard(self.shell.serial, self.shell.run, known=())
        channel = TextChannel(self.shell, trees=self.device, service=self.service, keyboard=nothing)
        return await channel.type_text(text, timeout_s=BOUND_S)


@pytest.fixture(scope="module")
def text_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("text")


@pytest.fixture
async def note(adb_address: ServerAddress, text_home: Path) -> AsyncIterator[Note]:
    async with PhoneHost(text_home) as host:
        client = AdbClient(adb_address)
        (serial,) = host.serials
        await client.connect(serial)
        note = Note(AdbDevice(client, serial), PhoneShell(client, serial))
        await note.begin()
        yield note
        note.device.forget()
        await note.service.stop()
        await client.disconnect(serial)


VECTORS = {
    "words": "a b",
    "double_quotes": '"q"',
    "single_quotes": "it's 'q'",
    "backslash": "\\",
    "variable": "$HOME",
    "backticks": "`id`",
    "semicolon": ";rm",
    "pipe": "a|b",
    "percent_s": "100%s",
    "cjk": "世界",
    "emoji": "🌍",
    "zwj_sequence": "👩🏽‍💻🏴󠁧󠁢󠁳󠁣󠁴󠁿👨‍👩‍👧",
    "right_to_left": "مرحبا שלום",
    "combining_marks": "e\u0301 a\u0308\u0323 1\u20e3",
    "line_breaks": "one\ntwo\n\nfour",
    "tab": "a\tb",
    "spaces": "  two  spaces  ",
    "private_use": " a\ue000b \U000f5df6",
}


@pytest.mark.parametrize("name", VECTORS)
async def test_contracts_7_text(note: Note, name: str) -> None:
    typed = await note.device.type_text(VECTORS[name])
    assert typed.is_read_back
    assert await note.holds() == VECTORS[name]
    method = await note.shell.run("settings get secure default_input_method", BOUND_S)
    assert method.text.strip() == OWN


async def test_contracts_7_text_empty(note: Note) -> None:
    assert (await note.device.type_text("")).note == "There was nothing to type."
    assert await note.holds() == ""


@pytest.mark.parametrize("sdk", [22, 30, 36])
async def test_a_field_is_emptied_whatever_it_holds_and_however_old_the_phone(
    note: Note, sdk: int
) -> None:
    await note.device.type_text("one\ntwo 世界\nthree")
    await note.shell.checked("input keyevent 19", BOUND_S)
    field = focused_field((await note.device.tree()).nodes)
    assert field is not None
    for line in field_clear.commands(field, sdk=sdk):
        await note.shell.checked(line, BOUND_S)
    assert await note.holds() == ""


async def test_clear_field_empties_and_refuses_where_no_field_is(note: Note) -> None:
    await note.device.type_text("a" * 900)
    await note.device.clear_field(timeout_s=BOUND_S)
    assert await note.holds() == ""
    await note.device.clear_field(timeout_s=BOUND_S)
    await note.device.launch("com.android.calculator2")
    with pytest.raises(TextEntryError, match="could not be emptied"):
        await note.device.clear_field(timeout_s=BOUND_S)


@pytest.mark.slow
@pytest.mark.parametrize("line", ["It's 100%s of $HOME;\n", "naïve 世界 🌍 `x`\n"])
async def test_contracts_7_text_of_10_000_characters(note: Note, line: str) -> None:
    text = (line * (10_000 // len(line) + 1))[:10_000]
    assert (await note.device.type_text(text, timeout_s=BOUND_S)).is_read_back
    assert await note.holds() == text


ANY = st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn")), min_size=1, max_size=30)


async def test_whatever_the_text_it_arrives_in_a_field_that_holds_some_already(note: Note) -> None:
    examples: list[str] = []

    @settings(
        max_examples=12, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(ANY)
    def collect(text: str) -> None:
        examples.append(text)

    collect()
    for text in examples:
        before = await note.holds()
        assert (await note.device.type_text(text)).is_read_back
        assert await note.holds() == before + text


async def test_where_no_input_method_can_be_borrowed_the_fields_text_is_set(note: Note) -> None:
    await note.device.type_text("before ")
    typed = await note.without_input_methods("世界 🌍")
    assert typed == Typed(way=TextWay.ACCESSIBILITY, is_read_back=True)
    assert await note.holds() == "before 世界 🌍"


async def test_keys_are_used_for_what_keys_write_and_a_method_is_borrowed_for_the_rest(
    note: Note,
) -> None:
    assert (await note.device.type_text("plain")).way is TextWay.KEYS
    assert (await note.device.type_text("é")).way is TextWay.INPUT_METHOD


async def test_a_keyboard_left_long_ago_is_given_back_when_the_phone_is_met_again(
    note: Note,
) -> None:
    borrow = f"ime enable {ADB_KEYBOARD.id}; ime set {ADB_KEYBOARD.id}"
    await note.shell.run(f"echo {OWN} $(($(date +%s) - 10)) > {NOTE}; {borrow}", BOUND_S)
    await note.device.info()
    now = await note.shell.run("settings get secure default_input_method", BOUND_S)
    # Ten seconds ago may be somebody who is typing at this moment.
    assert now.text.strip() == ADB_KEYBOARD.id
    await note.shell.run(f"echo {OWN} $(($(date +%s) - 500)) > {NOTE}", BOUND_S)
    await note.device.info()
    now = await note.shell.run("settings get secure default_input_method", BOUND_S)
    assert now.text.strip() == OWN


class Field:
    """Trees with one field, whose content a test decides."""

    def __init__(self, *contents: str, password: bool = False, resource_id: str = "a:id/f") -> None:
        self.contents = list(contents)
        self.password = password
        self.resource_ids = [resource_id]

    async def tree(self, *, timeout_s: float = 15.0) -> UiTree:
        text = self.contents.pop(0) if len(self.contents) > 1 else self.contents[0]
        name = self.resource_ids.pop(0) if len(self.resource_ids) > 1 else self.resource_ids[0]
        field = UiNode(
            text=text,
            class_name="android.widget.EditText",
            resource_id=name,
            bounds=Bounds(left=0, top=0, right=1, bottom=1),
            focused=True,
            password=self.password,
        )
        return UiTree(nodes=(field,), xml=b"", started_ms=1, ended_ms=1)

    def forget(self) -> None: ...

    async def close(self) -> None: ...


async def typed_into(field: Field, text: str) -> Typed:
    phone = ScriptedPhone({"settings get": (OWN.encode(), 0), "ime list": (OWN.encode(), 0)})
    async with scripted_server(phone.handle) as address:
        shell = PhoneShell(AdbClient(address), "phone")
        service = UiautomatorService(shell, jar=lambda: None)
        channel = TextChannel(shell, trees=field, service=service)
        return await channel.type_text(text, timeout_s=BOUND_S)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.devices.input.text_channel._SETTLE_S", 0.0)


@pytest.mark.usefixtures("impatient")
async def test_text_that_a_field_limits_is_an_error_that_quotes_nothing() -> None:
    with pytest.raises(TextEntryError, match="4 characters of 6, and the first 4") as caught:
        await typed_into(Field("", "secr"), "secret")
    assert "secr" not in caught.value.message


@pytest.mark.usefixtures("impatient")
async def test_text_that_went_nowhere_is_an_error() -> None:
    with pytest.raises(TextEntryError, match="holds what it held before"):
        await typed_into(Field("old"), "new")


async def test_text_that_shows_a_moment_later_has_arrived() -> None:
    assert (await typed_into(Field("", "", "t", "text"), "text")).is_read_back


async def test_a_password_cannot_be_read_back_and_that_is_said() -> None:
    typed = await typed_into(Field("", "••••", password=True), "hunter2")
    assert not typed.is_read_back
    assert "password" in typed.unread


async def test_enter_that_leads_away_is_not_taken_for_a_loss() -> None:
    field = Field("", "other")
    field.resource_ids = ["a:id/f", "a:id/g"]
    typed = await typed_into(field, "search me\n")
    assert not typed.is_read_back
    assert "Enter led away" in typed.note


async def test_without_any_way_the_error_names_the_character_and_what_to_install() -> None:
    with pytest.raises(TextEntryError, match="ASCII") as caught:
        await typed_into(Field(""), "naïve")
    assert "U+00EF" in caught.value.message
    assert "ADBKeyBoard" in caught.value.remedy
