"""A place on a phone where touches and typed text change nothing: its settings, and their search.

Every Android has settings; their pages list things, and their search field looks through those
lists on the phone itself and submits nothing. Not the probes. Invariants: nothing but a list's row,
its search and Back is ever touched; what was in front is in front again at the end, and a screen
that was off is off; a phone whose lock shows, or may show, is left alone.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agent.devices.gestures import Tap
from agent.devices.input.field_verify import focused_field
from agent.devices.input.keycodes import key_code
from agent.devices.passport.passport import Area, Row
from agent.devices.qualify.phone_parts import PhoneParts
from agent.devices.qualify.probe import works
from agent.errors import DeviceError, DeviceLostError, InputRefusedError, TreeUnavailableError
from agent.records import UiNode

ROOT_ACTION = "android.settings.SETTINGS"
SEARCH_ACTION = "android.settings.APP_SEARCH_SETTINGS"
"""Since Android 10 (android.provider.Settings); elsewhere the search is opened by its bar."""
TREE_TIMEOUT_S = 8.0
_NEW_TASK = "0x18000000"
"""FLAG_ACTIVITY_NEW_TASK and MULTIPLE_TASK: settings that are open already keep their page."""
_HOME = "am start -a android.intent.action.MAIN -c android.intent.category.HOME"
_CALL_TIMEOUT_S = 5.0
EFFECT_S = 2.5
"""How long a touch has to show in the tree: an animation, and a page that is made."""
_PAUSE_S = 0.1
_MOST_BACKS = 5
_SYSTEM = frozenset({"com.android.systemui", "android"})
_SEARCH = "search"

Nodes = tuple[UiNode, ...]
Launch = Callable[[str], Awaitable[None]]
"""Brings an app to the front as its icon does."""


@dataclass(frozen=True, slots=True)
class Before:
    """How the phone was found.

    Attributes:
        package: the app in front; empty: the home screen, or none.
    """

    package: str
    awake: bool


class HarmlessPlace:
    """The settings of one phone, and the way back from them.

    Args:
        before: how the phone was found; what `leave` goes back to.
        launch: brings the app that was in front there again.
    """

    def __init__(self, parts: PhoneParts, before: Before, launch: Launch) -> None:
        self._parts = parts
        self._before = before
        self._launch = launch
        self._places: set[str] = set()
        """The packages that this opened, which Back leads out of."""
        self._found: tuple[object, ...] | None = None
        """What was shown before; None until something is opened."""
        self._woken = False

    @property
    def is_changed(self) -> bool:
        """Whether the phone shows something else than before, so that it has to be left."""
        return self._woken or self._found is not None

    async def wake(self) -> list[Row]:
        """Switch the screen on if it is off; no row where it is on. Raises DeviceError."""
        if self._before.awake:
            return []
        self._woken = True
        await self._key("KEYCODE_WAKEUP")
        await self._until_shown()
        return [works(Area.INPUT, "wake", "the screen was off, and is on until the end")]

    async def open_list(self) -> Nodes:
        """Show the first page of the settings, and return its nodes.

        Raises DeviceError when no page of the settings comes.
        """
        return await self._start(ROOT_ACTION)

    async def open_field(self) -> UiNode:
        """Show the search field of the settings with the focus in it, and return it.

        Raises DeviceError when this phone's settings have none that takes the focus.
        """
        try:
            nodes = await self._start(SEARCH_ACTION)
        except DeviceLostError:
            raise
        except DeviceError:
            nodes = await self.open_list()
        field = focused_field(nodes)
        if field is None and (bar := search_bar(nodes)) is not None:
            await self._touch(bar)
            field = await self._until_focused()
        if field is None:
            raise DeviceError(
                f"The settings of {self._parts.serial} show no search field with the focus.",
                "Text is typed and read back in each session anyway.",
            )
        return field

    async def nodes(self) -> Nodes:
        """Return what the app in front shows, without the system's bars."""
        tree = await self._parts.trees.tree(timeout_s=TREE_TIMEOUT_S)
        return tuple(node for node in tree.nodes if node.package not in _SYSTEM)

    async def changed_from(self, before: Nodes) -> Nodes | None:
        """Return what is shown once it is something else; None when that never comes."""
        deadline_s = time.monotonic() + EFFECT_S
        while True:
            now = await self.nodes()
            if shown(now) != shown(before):
                return now
            if time.monotonic() > deadline_s:
                return None
            await asyncio.sleep(_PAUSE_S)

    async def settled(self) -> Nodes:
        """Return what is shown once two looks agree, or the last look."""
        deadline_s = time.monotonic() + EFFECT_S
        nodes = await self.nodes()
        while True:
            again = await self.nodes()
            if shown(again) == shown(nodes) or time.monotonic() > deadline_s:
                return again
            nodes = again

    async def back(self) -> None:
        """Go back one page."""
        await self._key("KEYCODE_BACK")

    async def leave(self) -> list[Row]:
        """Put back what was in front, and the screen off if it was; return how the phone is now.

        Raises DeviceError when it shows something else than before.
        """
        try:
            how = await self._go_back() if self._found is not None else "nothing was opened"
        finally:
            if self._woken:
                await self._key("KEYCODE_SLEEP")
        return [works(Area.INPUT, "left as found", how)]

    async def _go_back(self) -> str:
        for _ in range(_MOST_BACKS):
            nodes = await self.settled()
            if shown(nodes) == self._found or front_of(nodes) not in self._places:
                break
            try:
                await self.back()
            except InputRefusedError:
                # Where keys are refused, what was in front is still opened by its name.
                break
        if self._before.package and front_of(await self.nodes()) != self._before.package:
            await self._launch(self._before.package)
        elif not self._before.package:
            await self._parts.shell.run(_HOME, _CALL_TIMEOUT_S)
        nodes = await self.settled()
        front = front_of(nodes)
        if self._before.package and front != self._before.package:
            raise DeviceError(
                f"{self._parts.serial} shows {front or 'no app'}, and showed "
                f"{self._before.package} before.",
                "Open it by hand.",
            )
        if front in self._places and shown(nodes) != self._found:
            raise DeviceError(
                f"{self._parts.serial} shows another page of its settings than before.",
                "Go back to it by hand.",
            )
        return f"{front or 'the home screen'} is in front, as before"

    async def _start(self, action: str) -> Nodes:
        if self._found is None:
            self._found = shown(await self._nodes_if_any())
        shell = self._parts.shell
        result = await shell.run(f"am start -a {action} -f {_NEW_TASK}", _CALL_TIMEOUT_S)
        if result.exit_code != 0 or "Error" in result.text or "unable to resolve" in result.text:
            raise shell.failure(f"am start -a {action}", result)
        nodes = await self._until_settings()
        self._places.add(front_of(nodes))
        return nodes

    async def _until_shown(self) -> None:
        """Wait until a screen that was switched on shows something, at most a while."""
        deadline_s = time.monotonic() + EFFECT_S
        while True:
            if await self._nodes_if_any() or time.monotonic() > deadline_s:
                return
            await asyncio.sleep(_PAUSE_S)

    async def _nodes_if_any(self) -> Nodes:
        try:
            return await self.nodes()
        except TreeUnavailableError:
            # A game or a film has no tree; its app is opened again by its name.
            return ()

    async def _until_settings(self) -> Nodes:
        """Wait until an app shows nodes that stay, other than the one that was in front."""
        deadline_s = time.monotonic() + EFFECT_S
        while True:
            try:
                nodes = await self.settled()
            except TreeUnavailableError:
                # A page that still moves has no tree yet.
                nodes = ()
            front = front_of(nodes)
            if front and (front != self._before.package or "settings" in front):
                return nodes
            if time.monotonic() > deadline_s:
                raise DeviceError(
                    f"The settings of {self._parts.serial} did not come to the front.",
                    "Open them once by hand, and try again.",
                )
            await asyncio.sleep(_PAUSE_S)

    async def _until_focused(self) -> UiNode | None:
        deadline_s = time.monotonic() + EFFECT_S
        while True:
            field = focused_field(await self.nodes())
            if field is not None or time.monotonic() > deadline_s:
                return field
            await asyncio.sleep(_PAUSE_S)

    async def _touch(self, node: UiNode) -> None:
        await self._parts.cold_input.perform(Tap(node.bounds.center), timeout_s=_CALL_TIMEOUT_S)

    async def _key(self, name: str) -> None:
        await self._parts.cold_input.key(key_code(name), timeout_s=_CALL_TIMEOUT_S)


def shown(nodes: Nodes) -> tuple[object, ...]:
    """Return what has to differ for a touch to have had an effect: texts, places, the focus."""
    return tuple((n.text, n.resource_id, n.bounds, n.focused, n.package) for n in nodes)


def front_of(nodes: Nodes) -> str:
    """Return the package that most of what is shown belongs to; empty where nothing is."""
    counts: dict[str, int] = {}
    for node in nodes:
        if node.package:
            counts[node.package] = counts.get(node.package, 0) + 1
    return max(counts, key=lambda package: counts[package]) if counts else ""


def search_bar(nodes: Nodes) -> UiNode | None:
    """Return what opens the search: its id says so in every language, its words in English."""
    for node in nodes:
        words = f"{node.resource_id} {node.description} {node.text}".casefold()
        if node.clickable and node.enabled and _SEARCH in words:
            return node
    return None


def plain_row(nodes: Nodes) -> UiNode | None:
    """Return a row that opens a page: it can be touched, and neither it nor a part is a switch."""
    switches = {node.parent for node in nodes if node.checkable}
    for index, node in enumerate(nodes):
        height = node.bounds.bottom - node.bounds.top
        width = node.bounds.right - node.bounds.left
        is_row = width > 0.5 and 0.02 < height < 0.2 and 0.25 < node.bounds.center_y < 0.8
        if node.clickable and not node.checkable and index not in switches and is_row:
            return node
    return None
