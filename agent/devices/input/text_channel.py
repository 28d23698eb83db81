"""Type text into the focused field of one phone, by one way after the other until it holds it.

Not the ways (`typing_ways`), the comparison (`field_verify`) or what is told (`tried_ways`).
Invariants: the field is read before and after; no way follows one that may have taken effect unless
the field holds again what it held before; text that did not arrive as it is raises TextEntryError,
and a field that cannot be read back is reported as unread.
"""

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from agent.devices.input import field_clear, field_verify, input_text
from agent.devices.input.borrowed_keyboard import Keyboard
from agent.devices.input.tried_ways import NOT_PUT_BACK, TriedWays
from agent.devices.input.typing_ways import (
    BorrowedKeyboard,
    Clipboard,
    Keys,
    NotTypedError,
    PartlyTypedError,
    Pasting,
    SetText,
    Way,
)
from agent.devices.passport.scripts import scripts_of
from agent.devices.protocols import TextWay, Typed
from agent.devices.shell.phone_shell import PhoneShell
from agent.devices.shell.profile import Profile
from agent.devices.trees.tree_source import TreeSource
from agent.devices.trees.uiautomator_service import UiautomatorService
from agent.errors import DeviceTimeoutError, InputRefusedError, TextEntryError, TreeUnavailableError
from agent.records import UiNode

_READ_TIMEOUT_S = 8.0
_SETTLE_S = 2.0
_LOOK_S = 0.05
_CLEARED_S = 0.6
_S_PER_CHARACTER = 0.005


@dataclass(frozen=True, slots=True)
class SeenField:
    """The focused field, or why there is none."""

    field: UiNode | None
    note: str
    is_plain: bool
    """Whether it is empty when it reads back empty."""


class TextChannel:
    """Type on one phone.

    Args:
        trees: reads the field before and after.
        service: sets a field's text where no input method can be borrowed.
        clipboard: pastes; None where there is no way to it.
    """

    def __init__(
        self,
        shell: PhoneShell,
        *,
        trees: TreeSource,
        service: UiautomatorService,
        keyboard: Keyboard | None = None,
        clipboard: Clipboard | None = None,
    ) -> None:
        self._shell = shell
        self._trees = trees
        self._service = service
        self._keyboard = keyboard or self._new_keyboard()
        self._clipboard = clipboard
        self._proven: Mapping[str, tuple[TextWay, ...]] = {}

    def prefer(self, proven: Mapping[str, tuple[TextWay, ...]]) -> None:
        """Try first what was seen to type a text's scripts (`agent.devices.passport.scripts`).

        Args:
            proven: by script, the ways that were read back exactly when the phone was qualified.
        """
        self._proven = proven

    def forget(self) -> None:
        """Begin anew: the phone came back and may hold another input method."""
        self._proven = {}
        self._keyboard = self._new_keyboard()

    def _new_keyboard(self) -> Keyboard:
        shell = self._shell
        return Keyboard(shell.serial, shell.run, resources=shell.resources)

    async def repair(self, *, timeout_s: float) -> None:
        """Give the phone back the input method that a process which died had borrowed."""
        await self._keyboard.repair_abandoned(timeout_s)

    async def type_text(self, text: str, *, timeout_s: float) -> Typed:
        """Type into the focused field and read it back, by one way after the other.

        Another way follows only where the field is known not to hold the text, and after it holds
        again what it held before; never where it cannot be read or another one has the focus.

        Raises:
            TextEntryError: it cannot arrive exactly, or did not.
            InputRefusedError: the phone refuses keys by adb, and there is no other way.
            DeviceTimeoutError: what has arrived is unknown.
        """
        input_text.check(self._shell.serial, text)
        timeout_s += len(text) * _S_PER_CHARACTER
        async with self._shell.bounded("typing", timeout_s):
            profile = await self._shell.profile(timeout_s=timeout_s)
            await self._keyboard.repair(timeout_s)
            seen = await self._look()
            before = "" if seen.field is None else field_verify.content(seen.field)
            tried = TriedWays(self._shell.serial, text, before)
            for way in self._best_first(text, self._ways(text, profile, seen)):
                try:
                    await way.ready(timeout_s)
                    if tried.needs_undoing and not await self._put_back(seen, before, timeout_s):
                        raise tried.error(NOT_PUT_BACK)
                    await way.send(text, before, timeout_s)
                except NotTypedError as error:
                    tried.not_sent(way.kind, error)
                    continue
                except PartlyTypedError as error:
                    tried.complaint = error
                outcome = await self._read_back(text, way.kind, seen)
                if isinstance(outcome, Typed):
                    return tried.result(outcome)
                if not tried.arrived_wrong(way.kind, outcome):
                    break
            raise tried.error()

    def _ways(self, text: str, profile: Profile, seen: SeenField) -> Iterator[Way]:
        """Yield the ways that can carry the text, in their usual order."""
        if input_text.has_keys(text, unicode_input=profile.unicode_input):
            yield Keys(self._shell, profile)
        yield BorrowedKeyboard(self._shell, self._keyboard)
        if seen.field is not None:
            yield self._set_text(hides=seen.field.password)
        if self._clipboard is not None:
            yield Pasting(self._clipboard)

    def _best_first(self, text: str, ways: Iterable[Way]) -> list[Way]:
        """Put ways behind that did not type a script of the text when the phone was qualified."""
        told = [self._proven[script] for script in scripts_of(text) if script in self._proven]
        return sorted(ways, key=lambda way: any(way.kind not in proven for proven in told))

    def _set_text(self, *, hides: bool = False) -> SetText:
        return SetText(self._shell, self._service, hides=hides)

    async def _put_back(self, seen: SeenField, before: str, timeout_s: float) -> bool:
        """Have the field hold what it held before; return whether it does."""
        if seen.field is None:
            return False
        try:
            await self._set_text().set(before, timeout_s)
        except NotTypedError:
            # Without the service, what was typed cannot be told from what stood there before.
            return not before and await self._emptied(seen.field, timeout_s)
        return await self._after_deleting(seen.field, before) == before

    async def _emptied(self, field: UiNode, timeout_s: float) -> bool:
        try:
            await self.clear(timeout_s=timeout_s)
        except (TextEntryError, InputRefusedError):
            return False
        return not field.password

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
                now = await self._after_deleting(field, "")
                if not now and not field.password:
                    return
                if now == held and 0 < sdk < field_clear.FIRST_HINT_SDK and not field.password:
                    return
                held = now
            if not field.password:
                raise field_clear.cannot(self._shell.serial, "it still holds something")

    async def _after_deleting(self, field: UiNode, wanted: str) -> str:
        """Return what a field holds once that is what is wanted, or once it would have shown."""
        deadline = time.monotonic() + _CLEARED_S
        while True:
            now, note = await self._field()
            if now is None or _is_another(field, now):
                reason = note or "another field has the focus now"
                raise field_clear.cannot(self._shell.serial, reason)
            held = field_verify.content(now)
            if held == wanted or field.password or time.monotonic() > deadline:
                return held
            await asyncio.sleep(_LOOK_S)

    # --- reading back ----------

    async def _look(self) -> SeenField:
        """Return the focused field, or the reason that there is none."""
        try:
            nodes = (await self._trees.tree(timeout_s=_READ_TIMEOUT_S)).nodes
        except (TreeUnavailableError, DeviceTimeoutError) as error:
            return SeenField(None, error.message, is_plain=False)
        field = field_verify.focused_field(nodes)
        if field is None:
            return SeenField(None, "no field says that it has the focus", is_plain=False)
        return SeenField(field, "", is_plain=field_verify.shows_its_text(nodes, field))

    async def _field(self) -> tuple[UiNode | None, str]:
        seen = await self._look()
        return seen.field, seen.note

    async def _read_back(self, text: str, way: TextWay, seen: SeenField) -> Typed | str:
        """Return how it ended; as text what the field holds instead of it."""
        field = seen.field
        if field is None:
            return Typed(way=way, unread=f"{seen.note.rstrip('.')}.")
        before, deadline = field_verify.content(field), time.monotonic() + _SETTLE_S
        while True:
            now = await self._look()
            after = now.field
            if after is None or _is_another(field, after):
                if "\n" in text:
                    return Typed(way=way, note="Enter led away from the field.")
                why = now.note or "another field has the focus now"
                return Typed(way=way, unread=f"{why.rstrip('.')}.")
            held = field_verify.content(after)
            if field.password:
                # Its dots tell that nothing came, where they are shown; never what came.
                if not before or len(held) != len(before):
                    return Typed(way=way, unread="a password field cannot be read back.")
            elif field_verify.has_arrived(before, text, held):
                return Typed(way=way, is_read_back=True)
            elif text.endswith("\n") and field_verify.has_arrived(before, text.rstrip("\n"), held):
                return Typed(way=way, is_read_back=True, note="Enter added no line to the field.")
            if time.monotonic() > deadline:
                break
            # What keys write shows a moment after they were sent.
            await asyncio.sleep(_LOOK_S)
        if text.endswith("\n") and not held:
            return Typed(way=way, note="Enter emptied the field.")
        if not held and not before and not (seen.is_plain and now.is_plain):
            return Typed(way=way, unread="the field gives nothing of what it holds.")
        return held


def _is_another(before: UiNode, after: UiNode) -> bool:
    return (before.resource_id, before.class_name, before.package) != (
        after.resource_id,
        after.class_name,
        after.package,
    )
