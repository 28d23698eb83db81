"""Probe every way of typing with every script, read back exactly, in the settings' search field.

Invariants: each sample begins in an empty field and counts only when the field holds it character
by character; Enter is never pressed; the field is empty at the end, the phone has its own keyboard,
and its clipboard what it held, where that can be read.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial

from agent.devices.input import field_clear, field_verify, input_text
from agent.devices.passport.choosing import text_row
from agent.devices.passport.passport import Area, Outcome, Row
from agent.devices.passport.scripts import SAMPLES
from agent.devices.protocols import TextWay
from agent.devices.qualify.harmless_place import HarmlessPlace
from agent.devices.qualify.phone_parts import PhoneParts
from agent.devices.qualify.probe import Examination, Probe, absent, fails, unknown, works
from agent.devices.trees import uiautomator_rpc as rpc
from agent.devices.trees.uiautomator_service import NoServiceError
from agent.errors import DeviceError, DeviceLostError, DeviceTimeoutError

_CALL_TIMEOUT_S = 8.0
_TOGETHER_S, _ALONE_S = 40.0, 20.0
_ARRIVES_S = 2.0
_PAUSE_S = 0.05
_TOGETHER = " · ".join(SAMPLES.values())
_FOCUSED = {"mask": 0x20000, "childOrSibling": [], "childOrSiblingSelector": [], "focused": True}
"""The selector of the focused node; see `agent.devices.input.text_channel`."""

Send = Callable[[str], Awaitable[None]]
Opened = Callable[[], AbstractAsyncContextManager[Send]]


class NoWayError(DeviceError):
    """The phone, or this computer, does not have what this way of typing takes."""


class TextProbes:
    """The probes of one phone's typing."""

    def __init__(self, parts: PhoneParts, place: HarmlessPlace) -> None:
        self._parts = parts
        self._place = place

    async def run(self, examination: Examination) -> None:
        """Try every way: all samples in one go, and one by one where that did not arrive."""
        (field,) = await examination.one(Probe(Area.TEXT, "field", _TOGETHER_S, self._field))
        if field.outcome is not Outcome.WORKS:
            examination.tell(*self.untried("there is no field whose text is submitted nowhere"))
            return
        for way, opened in self._ways():
            together = partial(self._together, way, opened)
            if await examination.one(Probe(Area.TEXT, way.value, _TOGETHER_S, together)):
                continue
            for script, sample in SAMPLES.items():
                name = text_row(way, script)
                alone = partial(self._try_sample, name, sample, opened)
                await examination.one(Probe(Area.TEXT, name, _ALONE_S, alone))

    def untried(self, why: str) -> tuple[Row, ...]:
        """Return the rows of ways that were not tried."""
        return tuple(unknown(Area.TEXT, way.value, f"not tried: {why}") for way, _ in self._ways())

    def _ways(self) -> "tuple[tuple[TextWay, Opened], ...]":
        return (
            (TextWay.KEYS, self._keys),
            (TextWay.INPUT_METHOD, self._input_method),
            (TextWay.ACCESSIBILITY, self._accessibility),
            (TextWay.CLIPBOARD, self._clipboard),
        )

    # --- ways ----------

    @asynccontextmanager
    async def _keys(self) -> AsyncIterator[Send]:
        sdk = (await self._parts.shell.profile()).sdk

        async def send(text: str) -> None:
            for line in input_text.commands(text, sdk=sdk):
                await self._parts.shell.checked(line, _CALL_TIMEOUT_S)

        yield send

    @asynccontextmanager
    async def _input_method(self) -> AsyncIterator[Send]:
        async with self._parts.keyboard.borrowed(_CALL_TIMEOUT_S) as method:
            if method is None:
                raise NoWayError(
                    "no keyboard that takes text by adb is installed",
                    "Install ADBKeyBoard where other scripts than ASCII are typed.",
                )
            borrowed = method

            async def send(text: str) -> None:
                for line in borrowed.commands(text):
                    result = await self._parts.shell.checked(line, _CALL_TIMEOUT_S)
                    if borrowed.accepted not in result.text:
                        raise self._parts.shell.failure("am broadcast", result)

            yield send

    @asynccontextmanager
    async def _accessibility(self) -> AsyncIterator[Send]:
        try:
            await self._parts.service.ensure()
        except NoServiceError as error:
            raise NoWayError(error.message.rstrip("."), error.remedy) from error

        async def send(text: str) -> None:
            shell = self._parts.shell
            await rpc.call(shell, "setText", _FOCUSED, text, wanted=bool, timeout_s=_CALL_TIMEOUT_S)

        yield send

    @asynccontextmanager
    async def _clipboard(self) -> AsyncIterator[Send]:
        try:
            channel = await self._parts.control_input.channel(timeout_s=_CALL_TIMEOUT_S)
        except DeviceTimeoutError:
            raise
        except DeviceError as error:
            raise NoWayError(error.message.rstrip("."), error.remedy) from error
        try:
            held = await channel.clipboard()
        except DeviceTimeoutError:
            # Servers say nothing where the clipboard holds no text (scrcpy, `Controller.java`).
            held = ""

        async def send(text: str) -> None:
            await channel.set_clipboard(text, paste=True)

        try:
            yield send
        finally:
            await channel.set_clipboard(held)

    # --- trying ----------

    async def _field(self) -> list[Row]:
        field = await self._place.open_field()
        return [works(Area.TEXT, "field", f"the search of {field.package or 'the settings'}")]

    async def _together(self, way: TextWay, opened: Opened) -> list[Row]:
        """Type all samples at once; no row where they did not arrive, so that each is tried."""
        await self._place.open_field()
        try:
            async with opened() as send:
                try:
                    arrived = await self._arrives(_TOGETHER, send)
                except (DeviceLostError, DeviceTimeoutError):
                    raise
                except DeviceError:
                    # Which of them it refuses is found out one by one.
                    arrived = False
        except NoWayError as error:
            return [absent(Area.TEXT, way, error.message, error.remedy)]
        finally:
            await self._clear()
        detail = "read back exactly, together with the others"
        return [works(Area.TEXT, text_row(way, one), detail) for one in SAMPLES if arrived]

    async def _try_sample(self, name: str, sample: str, opened: Opened) -> list[Row]:
        began_s = time.monotonic()
        try:
            async with opened() as send:
                arrived = await self._arrives(sample, send)
                took_ms = max(1, round((time.monotonic() - began_s) * 1000))
            held = await self._content()
        except (DeviceLostError, DeviceTimeoutError):
            raise
        except DeviceError as error:
            return [fails(Area.TEXT, name, f"refused: {error.message.rstrip('.')}")]
        finally:
            await self._clear()
        if arrived:
            return [works(Area.TEXT, name, "read back exactly", took_ms=took_ms)]
        detail = "no field has the focus" if held is None else _difference(sample, held)
        return [fails(Area.TEXT, name, detail, took_ms=took_ms)]

    async def _arrives(self, text: str, send: Send) -> bool:
        """Type into the empty field, and return whether it then holds exactly the text."""
        await self._clear()
        await send(text)
        deadline_s = time.monotonic() + _ARRIVES_S
        while await self._content() != text:
            if time.monotonic() > deadline_s:
                return False
            await asyncio.sleep(_PAUSE_S)
        return True

    async def _content(self) -> str | None:
        field = field_verify.focused_field(await self._place.nodes())
        return None if field is None else field_verify.content(field)

    async def _clear(self) -> None:
        """Empty the field. Raises DeviceError when it stays filled."""
        shell = self._parts.shell
        sdk = (await shell.profile()).sdk
        field = field_verify.focused_field(await self._place.nodes())
        if field is None:
            field = await self._place.open_field()
        if not field_verify.content(field):
            return
        for line in field_clear.commands(field, sdk=sdk):
            await shell.run(line, _CALL_TIMEOUT_S)
            deadline_s = time.monotonic() + _ARRIVES_S
            while time.monotonic() < deadline_s:
                if not await self._content():
                    return
                await asyncio.sleep(_PAUSE_S)
        raise field_clear.cannot(shell.serial, "it still holds what was typed for the test")


def _difference(sample: str, held: str) -> str:
    same = sum(a == b for a, b in zip(sample, held, strict=False))
    return f"the field holds {len(held)} characters of {len(sample)}, of which {same} are right"
