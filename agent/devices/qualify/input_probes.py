"""Probe touches and keys, each verified by what it changes in a harmless place.

Invariants: an act counts when its effect was seen in the tree, never because it was sent; a list
that cannot scroll says nothing about swipes.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial

from agent.devices.gestures import Gesture, Swipe, Tap
from agent.devices.input import field_verify
from agent.devices.input.input_channel import InputChannel
from agent.devices.input.keycodes import key_code
from agent.devices.passport.choosing import input_row
from agent.devices.passport.passport import Area, InputWay, Row
from agent.devices.qualify.harmless_place import HarmlessPlace, Nodes, plain_row, search_bar
from agent.devices.qualify.phone_parts import PhoneParts
from agent.devices.qualify.probe import Probe, absent, fails, unknown, works
from agent.devices.scrcpy.server_file import NoServerError
from agent.errors import DeviceError, DeviceLostError
from agent.records import Point, UiNode

_ACT_TIMEOUT_S = 5.0
_PROBE_TIMEOUT_S = 45.0
"""Each act is looked at twice, and a dump takes a phone two to four seconds."""
_PAUSE_S = 0.1
_KEY_S = 2.0
_UP, _DOWN = Point(x=0.5, y=0.4), Point(x=0.5, y=0.75)
_SWIPE_MS = 400
_INJECTION = (
    'Switch on "USB debugging (Security settings)" in the developer options, where this phone has '
    "it: without it some makers drop touches by adb."
)


class InputProbes:
    """The probes of one phone's touches and keys; they are asked in turn."""

    def __init__(self, parts: PhoneParts, place: HarmlessPlace) -> None:
        self._parts = parts
        self._place = place

    def probes(self) -> tuple[Probe, ...]:
        acts = (("swipe", self._swipe), ("tap", self._tap), ("key", self._key))
        return tuple(
            Probe(
                Area.INPUT,
                input_row(way, act),
                _PROBE_TIMEOUT_S,
                partial(self._by, way, input_row(way, act), ask),
            )
            for way in (InputWay.SHELL, InputWay.CONTROL)
            for act, ask in acts
        )

    async def _by(
        self, way: InputWay, name: str, ask: Callable[[str, InputChannel], Awaitable[Row]]
    ) -> list[Row]:
        if way is InputWay.SHELL:
            return [await ask(name, self._parts.cold_input)]
        control = self._parts.control_input
        try:
            channel = await control.channel(timeout_s=_ACT_TIMEOUT_S * 2)
        except NoServerError as error:
            why = error.message.rstrip(".")
            return [absent(Area.INPUT, name, f"touches go by `input`: {why}", error.remedy)]
        try:
            row = await ask(name, control)
        except DeviceError as error:
            refusal = self._parts.link.input_refusal
            if refusal is None or isinstance(error, DeviceLostError):
                raise
            # The server's words say more than that nothing took the touch.
            return [fails(Area.INPUT, name, refusal.message.rstrip("."), refusal.remedy)]
        if not channel.is_open:
            return [fails(Area.INPUT, name, "the control socket closed during the act")]
        return [row]

    async def _swipe(self, name: str, channel: InputChannel) -> Row:
        nodes = await self._place.open_list()
        if not any(node.scrollable for node in nodes):
            return unknown(Area.INPUT, name, "nothing on the first page of the settings scrolls")
        took_ms, now = await self._act(channel, Swipe(_DOWN, _UP, _SWIPE_MS), nodes)
        if now is None:
            return fails(Area.INPUT, name, "the list did not move", _INJECTION)
        await self._act(channel, Swipe(_UP, _DOWN, _SWIPE_MS), await self._place.settled())
        return works(Area.INPUT, name, "a list moved", took_ms=took_ms)

    async def _tap(self, name: str, channel: InputChannel) -> Row:
        nodes = await self._place.open_list()
        target = search_bar(nodes) or plain_row(nodes)
        if target is None:
            return unknown(Area.INPUT, name, "the settings show nothing that is safe to touch")
        took_ms, now = await self._act(channel, Tap(target.bounds.center), nodes)
        if now is None:
            return fails(Area.INPUT, name, "nothing changed on the screen", _INJECTION)
        return works(Area.INPUT, name, "a page opened", took_ms=took_ms)

    async def _key(self, name: str, channel: InputChannel) -> Row:
        """Write a letter in the search field and delete it; without a field, go back."""
        try:
            field = await self._place.open_field()
        except DeviceError:
            return await self._back(name, channel)
        held = field_verify.content(field)
        began_s = time.monotonic()
        await channel.key(key_code("KEYCODE_A"), timeout_s=_ACT_TIMEOUT_S)
        now = await self._held(lambda text: text.casefold() == f"{held}a".casefold())
        took_ms = max(1, round((time.monotonic() - began_s) * 1000))
        if now is None:
            return fails(Area.INPUT, name, "the letter did not come into the field", _INJECTION)
        await channel.key(key_code("KEYCODE_DEL"), timeout_s=_ACT_TIMEOUT_S)
        if await self._held(lambda text: text == held) is None:
            return fails(Area.INPUT, name, "a letter came, and could not be deleted")
        return works(Area.INPUT, name, "a letter was written and deleted", took_ms=took_ms)

    async def _back(self, name: str, channel: InputChannel) -> Row:
        nodes = await self._place.open_list()
        row = plain_row(nodes)
        if row is None:
            return unknown(Area.INPUT, name, "the settings have no search field and no plain row")
        _, page = await self._act(self._parts.cold_input, Tap(row.bounds.center), nodes)
        if page is None:
            return unknown(Area.INPUT, name, "no page opened that Back could leave")
        began_s = time.monotonic()
        await channel.key(key_code("KEYCODE_BACK"), timeout_s=_ACT_TIMEOUT_S)
        if await self._place.changed_from(page) is None:
            return fails(Area.INPUT, name, "Back changed nothing", _INJECTION)
        took_ms = max(1, round((time.monotonic() - began_s) * 1000))
        return works(Area.INPUT, name, "Back left a page", took_ms=took_ms)

    async def _act(
        self, channel: InputChannel, gesture: Gesture, before: Nodes
    ) -> tuple[int, Nodes | None]:
        """Do a gesture; return how long the call took, and what is shown once that changed."""
        began_s = time.monotonic()
        await channel.perform(gesture, timeout_s=_ACT_TIMEOUT_S)
        took_ms = max(1, round((time.monotonic() - began_s) * 1000))
        return took_ms, await self._place.changed_from(before)

    async def _held(self, wanted: Callable[[str], bool]) -> UiNode | None:
        """Return the field once it holds what is wanted; None when it never does."""
        deadline_s = time.monotonic() + _KEY_S
        while True:
            field = field_verify.focused_field(await self._place.nodes())
            if field is not None and wanted(field_verify.content(field)):
                return field
            if time.monotonic() > deadline_s:
                return None
            await asyncio.sleep(_PAUSE_S)
