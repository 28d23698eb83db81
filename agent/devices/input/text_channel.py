"""Type text into the focused field of one phone, by whichever way it arrives exactly.

Not the quoting (`input_text`), the borrowing of an input method (`borrowed_keyboard`) or the
comparison (`field_verify`). Invariants: the field is read before and after; text that did not
arrive as it is raises TextEntryError, and a field that cannot be read back is reported as unread.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

from agent.devices.input import field_clear, field_verify, input_text
from agent.devices.input.borrowed_keyboard import Keyboard
from agent.devices.input.input_methods import ADB_KEYBOARD, InputMethod
from agent.devices.protocols import TextWay, Typed
from agent.devices.shell.phone_shell import PhoneShell
from agent.devices.shell.profile import Profile
from agent.devices.trees import uiautomator_rpc as rpc
from agent.devices.trees.tree_source import TreeSource
from agent.devices.trees.uiautomator_service import UiautomatorService
from agent.errors import (
    DeviceError,
    DeviceLostError,
    DeviceTimeoutError,
    TextEntryError,
    TreeUnavailableError,
)
from agent.records import UiNode
from agent.text import one_line

Paste = Callable[[str, float], Awaitable[None]]
"""Puts text on the phone's clipboard and pastes it, within a time-out in seconds."""

_READ_TIMEOUT_S = 8.0
_SETTLE_S = 2.0
_LOOK_S = 0.05
_CLEARED_S = 0.6
_FOCUSED = {"mask": 0x20000, "childOrSibling": [], "childOrSiblingSelector": [], "focused": True}
"""The one selector that is sent to uiautomator2 (`MASK_FOCUSED` of its `_selector.py`)."""
_S_PER_CHARACTER = 0.005


class TextChannel:
    """Type on one phone.

    Args:
        trees: reads the field before and after.
        service: sets a field's text where no input method can be borrowed.
        paste: pastes through the phone's clipboard; None where there is no such channel.
    """

    def __init__(
        self,
        shell: PhoneShell,
        *,
        trees: TreeSource,
        service: UiautomatorService,
        keyboard: Keyboard | None = None,
        paste: Paste | None = None,
    ) -> None:
        self._shell = shell
        self._trees = trees
        self._service = service
        self._keyboard = keyboard or self._new_keyboard()
        self._paste = paste

    def forget(self) -> None:
        """Begin anew: the phone came back and may hold another input method."""
        self._keyboard = self._new_keyboard()

    def _new_keyboard(self) -> Keyboard:
        shell = self._shell
        return Keyboard(shell.serial, shell.run, resources=shell.resources)

    async def repair(self, *, timeout_s: float) -> None:
        """Give the phone back the input method that a process which died had borrowed."""
        await self._keyboard.repair_abandoned(timeout_s)

    async def type_text(self, text: str, *, timeout_s: float) -> Typed:
        """Type into the focused field and read it back.

        Raises:
            TextEntryError: it cannot arrive exactly, or did not.
            DeviceTimeoutError: what has arrived is unknown.
        """
        input_text.check(self._shell.serial, text)
        timeout_s += len(text) * _S_PER_CHARACTER
        async with self._shell.bounded("typing", timeout_s):
            profile = await self._shell.profile(timeout_s=timeout_s)
            await self._keyboard.repair(timeout_s)
            field, note = await self._field()
            way = await self._send(text, profile, field, timeout_s)
            return await self._read_back(text, way, field, note)

    async def clear(self, *, timeout_s: float) -> None:
        """Empty the focused field and read it back; a password field cannot be read.

        Raises:
            TextEntryError: no field has the focus, or it still holds something.
            DeviceTimeoutError: what was deleted is unknown.
        """
        async with self._shell.bounded("deleting", timeout_s):
            sdk = (await self._shell.profile(timeout_s=timeout_s)).sdk
            field, note = await self._field()
            if field is None:
                raise field_clear.cannot(self._shell.serial, note)
            held = field_verify.content(field)
            for line in field_clear.commands(field, sdk=sdk):
                await self._shell.checked(line, timeout_s)
                now = await self._after_deleting(field)
                if not now and not field.password:
                    return
                if now == held and 0 < sdk < field_clear.FIRST_HINT_SDK and not field.password:
                    return
                held = now
            if not field.password:
                raise field_clear.cannot(self._shell.serial, "it still holds something")

    async def _after_deleting(self, field: UiNode) -> str:
        """Return what a field holds once it is empty, or once deleting would have shown."""
        deadline = time.monotonic() + _CLEARED_S
        while True:
            now, note = await self._field()
            if now is None or _is_another(field, now):
                reason = note or "another field has the focus now"
                raise field_clear.cannot(self._shell.serial, reason)
            held = field_verify.content(now)
            if not held or field.password or time.monotonic() > deadline:
                return held
            await asyncio.sleep(_LOOK_S)

    # --- ways ----------

    async def _send(
        self, text: str, profile: Profile, field: UiNode | None, timeout_s: float
    ) -> TextWay:
        if input_text.has_keys(text, unicode_input=profile.unicode_input):
            for line in input_text.commands(text, sdk=profile.sdk):
                await self._shell.checked(line, timeout_s)
            return TextWay.KEYS
        async with self._keyboard.borrowed(timeout_s) as method:
            if method is not None:
                for line in method.commands(text):
                    await self._broadcast(method, line, timeout_s)
                return TextWay.INPUT_METHOD
        if field is not None and await self._set_text(text, field, timeout_s):
            return TextWay.ACCESSIBILITY
        if await self._pasted(text, timeout_s):
            return TextWay.CLIPBOARD
        raise self._no_way(text)

    async def _broadcast(self, method: InputMethod, command: str, timeout_s: float) -> None:
        result = await self._shell.checked(command, timeout_s)
        if method.accepted not in result.text:
            raise TextEntryError(
                f"{method.name} of {self._shell.serial} did not take the text: "
                f"{one_line(result.text, 120)}.",
                "Touch the field first, or type the text by hand.",
            )

    async def _set_text(self, text: str, field: UiNode, timeout_s: float) -> bool:
        """Set the field to its content and the text; say whether the service could."""
        before = field_verify.content(field)
        if field.password and before:
            # What it holds is hidden, so nothing can be put behind it.
            return False
        try:
            await self._service.ensure()
            return await rpc.call(
                self._shell, "setText", _FOCUSED, before + text, wanted=bool, timeout_s=timeout_s
            )
        except (DeviceLostError, DeviceTimeoutError):
            raise
        except DeviceError:
            # No service on this phone: the next way is tried, and the last one says what to do.
            return False

    async def _pasted(self, text: str, timeout_s: float) -> bool:
        if self._paste is None:
            return False
        try:
            await self._paste(text, timeout_s)
        except (DeviceLostError, DeviceTimeoutError):
            raise
        except DeviceError:
            # Without a scrcpy server there is no way to the clipboard.
            return False
        return True

    def _no_way(self, text: str) -> TextEntryError:
        character = next(c for c in text if not input_text.has_keys(c, unicode_input=False))
        return TextEntryError(
            f"{self._shell.serial} can type only ASCII by adb, but the text contains {character!r} "
            f"(U+{ord(character):04X}).",
            "Install ADBKeyBoard on the phone and make it the current keyboard with "
            f"`adb shell ime set {ADB_KEYBOARD.id}`, or take the wheel and type it there.",
        )

    # --- reading back ----------

    async def _field(self) -> tuple[UiNode | None, str]:
        """Return the focused field, or the reason that there is none."""
        try:
            nodes = (await self._trees.tree(timeout_s=_READ_TIMEOUT_S)).nodes
        except (TreeUnavailableError, DeviceTimeoutError) as error:
            return None, error.message
        field = field_verify.focused_field(nodes)
        return field, "" if field is not None else "no field says that it has the focus"

    async def _read_back(self, text: str, way: TextWay, field: UiNode | None, note: str) -> Typed:
        if field is None:
            return Typed(way=way, unread=f"{note.rstrip('.')}.")
        if field.password:
            return Typed(way=way, unread="a password field cannot be read back.")
        before, deadline = field_verify.content(field), time.monotonic() + _SETTLE_S
        while True:
            after, note = await self._field()
            if after is None or _is_another(field, after):
                if "\n" in text:
                    return Typed(way=way, note="Enter led away from the field.")
                note = note or "another field has the focus now"
                return Typed(way=way, unread=f"{note.rstrip('.')}.")
            held = field_verify.content(after)
            if field_verify.has_arrived(before, text, held):
                return Typed(way=way, is_read_back=True)
            if text.endswith("\n") and field_verify.has_arrived(before, text.rstrip("\n"), held):
                return Typed(way=way, is_read_back=True, note="Enter added no line to the field.")
            if time.monotonic() > deadline:
                break
            # What keys write shows a moment after they were sent.
            await asyncio.sleep(_LOOK_S)
        if text.endswith("\n") and not held:
            return Typed(way=way, note="Enter emptied the field.")
        raise TextEntryError(
            f"The text did not arrive on {self._shell.serial} as it is: "
            f"{field_verify.difference(before, text, held)}.",
            "Look at the field: it may limit, format or correct what is typed.",
        )


def _is_another(before: UiNode, after: UiNode) -> bool:
    return (before.resource_id, before.class_name, before.package) != (
        after.resource_id,
        after.class_name,
        after.package,
    )
