"""Virtual phones in this process, for episodes: no adb server, no socket, no waiting.

The one module that imports the virtual phone (`virtual_phone.embedded`), which knows nothing of
Switchboard. Invariants: a phone is with one episode at a time; a step takes at least `STEP_S` on
the phone's own clock and ends when nothing moves on its screen, so the same acts show the same.
"""

import asyncio
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from agent.devices.gestures import (
    DoubleTap,
    FingerAction,
    Gesture,
    LongPress,
    Swipe,
    events,
    strokes,
)
from agent.devices.input import input_text
from agent.devices.input.keycodes import button_code
from agent.devices.protocols import Button
from agent.episodes.actions import Given, carry_out
from agent.episodes.observation import EpisodeObservation
from agent.episodes.phone import EpisodePhone, Look
from agent.episodes.scratch import make_folder, remove_abandoned
from agent.errors import DeviceError, TextEntryError, TreeUnavailableError, UsageError
from agent.exercises.exercise import Exercise, State
from agent.records import Bounds, Point, UiNode
from virtual_phone.embedded import EmbeddedHost, EmbeddedPhone, FingerStep, PhoneError, TreeRow

STEP_S = 1.0  # What a step takes on the phone's clock: who acts looks and thinks meanwhile.
_ACTIONS = {FingerAction.DOWN: "down", FingerAction.MOVE: "move", FingerAction.UP: "up"}
_KEPT_TREES = 256
_Nodes = tuple[UiNode, ...]


class InProcessStats(NamedTuple):
    """How many phones are free, and how many are with episodes."""

    free: int
    taken: int


class InProcessPhones:
    """Some phones, from `__aenter__` to `__aexit__`; a `PhoneSource`.

    Args:
        count: how many episodes there are at once.
        folder: for files that phones write; nobody else's; a temporary one by default.
        seed: chooses names, notes, messages, pictures.
    """

    def __init__(self, count: int, folder: Path | None = None, *, seed: int = 0) -> None:
        self._count = count
        self._folder = folder
        self._seed = seed
        self._host: EmbeddedHost | None = None
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._free: asyncio.Queue[InProcessPhone] = asyncio.Queue()
        self._taken: set[InProcessPhone] = set()
        self._trees: dict[int, tuple[tuple[TreeRow, ...], _Nodes]] = {}

    @property
    def source(self) -> Self:
        return self

    async def __aenter__(self) -> Self:
        folder = self._folder
        if folder is None:
            await remove_abandoned()
            self._scratch = make_folder()
            folder = Path(self._scratch.name)
        self._host = EmbeddedHost(folder, seed=self._seed)
        for number in range(1, self._count + 1):
            phone = self._host.new_phone()
            self._free.put_nowait(InProcessPhone(phone, f"in-process-{number}", self._trees))
        return self

    async def __aexit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Let go of them and of their files."""
        host, self._host = self._host, None
        scratch, self._scratch = self._scratch, None
        if host is not None:
            host.close()
        if scratch is not None:
            scratch.cleanup()

    async def take(self, wait_s: float) -> "InProcessPhone":
        """Return a free phone; see `PhoneSource`."""
        try:
            async with asyncio.timeout(wait_s):
                phone = await self._free.get()
        except TimeoutError:
            raise DeviceError(
                f"No phone came free within {wait_s:g} s.",
                "End another episode, or start more phones.",
            ) from None
        self._taken.add(phone)
        return phone

    async def put(self, phone: EpisodePhone) -> None:
        """Put a phone back. Raises UsageError: it is not with anybody."""
        if phone not in self._taken:
            raise UsageError(f"{phone.serial} is not taken.", "Return each phone once.")
        assert isinstance(phone, InProcessPhone)
        self._taken.discard(phone)
        self._free.put_nowait(phone)

    def stats(self) -> InProcessStats:
        """Return how many phones are free, and how many are taken."""
        return InProcessStats(self._free.qsize(), len(self._taken))


class InProcessPhone:
    """One phone of this process.

    Args:
        phone: the phone itself.
        serial: how it is called.
        trees: nodes that were made of rows, shared by the phones, which begin alike.
    """

    def __init__(
        self,
        phone: EmbeddedPhone,
        serial: str,
        trees: dict[int, tuple[tuple[TreeRow, ...], _Nodes]],
    ) -> None:
        self.phone = phone
        self._serial = serial
        self._trees = trees

    @property
    def serial(self) -> str:
        return self._serial

    @property
    def server(self) -> str:
        return ""

    async def begin(self, task: Exercise | None, snapshot: bytes) -> None:
        """Go to a starting state; see `EpisodePhone`."""
        if snapshot:
            try:
                self.phone.restore(snapshot)
            except PhoneError as error:
                raise UsageError(
                    f"`snapshot` cannot be restored: {error.message}",
                    "Give the bytes that `save` returned on a phone of this version.",
                ) from error
            return
        try:
            self.phone.reset(scenario=task.scenario if task else "")
        except PhoneError as error:
            raise DeviceError(
                f"{self._serial} cannot be prepared: {error.message}", error.remedy
            ) from error
        if task is not None and task.shell:
            for line in task.shell:
                await self.phone.shell(line)
            self.phone.settle()

    async def save(self) -> bytes:
        """Return all that it holds; see `EpisodePhone`."""
        return self.phone.snapshot()

    async def state(self, *, keep: bool) -> State:
        """Return what is true of it; see `EpisodePhone`."""
        return self.phone.state() if keep else self.phone.truth()

    async def act(self, tool: str, given: Given) -> None:
        """Carry an action out, and let the phone come to rest; see `EpisodePhone`."""
        phone = self.phone
        began_s = phone.now()
        try:
            await carry_out(self, tool, given)
        finally:
            phone.settle()
            left_s = STEP_S - (phone.now() - began_s)
            if left_s > 0:
                phone.wait(left_s)
                phone.settle()

    async def look(self, wanted: Look) -> EpisodeObservation:
        """Look at it; see `EpisodePhone`."""
        phone = self.phone
        error, nodes, xml = "", tuple[UiNode, ...](), b""
        size = phone.size_px
        if wanted.tree:
            try:
                nodes = self._nodes(phone.tree(), size)
                xml = phone.xml().encode() if wanted.xml else b""
            except PhoneError as failed:
                missing = TreeUnavailableError(
                    f"{self._serial} gave no UI tree: {failed.message}",
                    "Look again in a moment, or work from the picture.",
                )
                error = str(missing)
        package, activity = phone.front()
        return EpisodeObservation(
            png=phone.png() if wanted.picture else b"",
            rgb=b"" if wanted.size_px is None else phone.pixels(*wanted.size_px),
            width_px=size[0],
            height_px=size[1],
            orientation=phone.rotation * 90,
            at_ms=time.time_ns() // 1_000_000,
            nodes=nodes,
            xml=xml,
            package=package,
            activity=activity,
            keyboard_shown=phone.keyboard_shown,
            error=error,
        )

    async def run(self, line: str) -> tuple[int, str]:
        """Run a line of the phone's shell; see `EpisodePhone`."""
        status, said = await self.phone.shell(line)
        self.phone.settle()
        return status, said

    async def front(self) -> tuple[str, str]:
        """Return what is in front; see `EpisodePhone`."""
        return self.phone.front()

    async def pause(self, seconds: float) -> None:
        """Let time pass on the phone, at once; see `EpisodePhone`."""
        self.phone.wait(seconds)
        self.phone.settle()

    def now_s(self) -> float:
        """Return the phone's time."""
        return self.phone.now()

    async def close(self) -> None:
        """Nothing is held."""

    # --- acting ----------

    async def perform(self, gesture: Gesture) -> None:
        """Do a gesture. Raises UsageError for one that no hand can do."""
        width, height = self.phone.size_px
        fingers = strokes(gesture, aspect=height / width)
        match gesture:
            case DoubleTap(at, gap_ms):
                self.phone.tap(*self._pixel(at))
                self.phone.wait(gap_ms / 1000)
                self.phone.tap(*self._pixel(at))
            case LongPress(at, lasting_ms):
                self.phone.swipe(*self._pixel(at), *self._pixel(at), lasting_ms)
            case Swipe(start, end, lasting_ms):
                self.phone.swipe(*self._pixel(start), *self._pixel(end), lasting_ms)
            case _:
                self.phone.fingers(
                    FingerStep(one.at_ms, one.finger, _ACTIONS[one.action], *self._pixel(one.point))
                    for one in events(fingers)
                )

    async def type_text(self, text: str) -> None:
        """Type into the focused field.

        Raises:
            TextEntryError: no field has the focus, or the text cannot be typed.
        """
        input_text.check(self._serial, text)
        if text and not self.phone.type_text(text):
            raise TextEntryError(
                f"No field of {self._serial} has the focus.", "Tap the field first."
            )

    async def press(self, button: Button) -> None:
        """Press a button once."""
        self.phone.key(button_code(button))

    def _pixel(self, at: Point) -> tuple[int, int]:
        width, height = self.phone.size_px
        return min(int(at.x * width), width - 1), min(int(at.y * height), height - 1)

    def _nodes(self, rows: tuple[TreeRow, ...], size: tuple[int, int]) -> _Nodes:
        kept = self._trees.get(id(rows))
        if kept is not None and kept[0] is rows:
            return kept[1]
        nodes = tuple(_node(row, *size) for row in rows)
        if len(self._trees) >= _KEPT_TREES:
            del self._trees[next(iter(self._trees))]
        self._trees[id(rows)] = (rows, nodes)
        return nodes


def _node(row: TreeRow, width: int, height: int) -> UiNode:
    left, top, right, bottom = row.bounds
    return UiNode(
        text=row.text,
        description=row.description,
        hint=row.hint,
        resource_id=row.resource_id,
        class_name=row.class_name,
        package=row.package,
        bounds=Bounds(
            left=min(max(left / width, 0.0), 1.0),
            top=min(max(top / height, 0.0), 1.0),
            right=min(max(right / width, 0.0), 1.0),
            bottom=min(max(bottom / height, 0.0), 1.0),
        ),
        depth=row.depth,
        parent=row.parent,
        checkable=row.checkable,
        checked=row.checked,
        clickable=row.clickable,
        enabled=row.enabled,
        focusable=row.focusable,
        focused=row.focused,
        scrollable=row.scrollable,
        long_clickable=row.long_clickable,
        password=row.password,
        selected=row.selected,
    )
