"""Virtual phones inside a program of yours: no server, no socket, no thread, no time that is waited
for.

```python
with EmbeddedHost(folder) as host:
    phone = host.new_phone()
    phone.reset(scenario="many-notes")
    phone.gestures.tap(540, 1200)
    nodes = phone.tree()
    phone.draw(buffer, 256, 512)
```

A gesture takes its time on the phone's own clock, which passes at once; each begins at the same
moment. Invariants: the same starting state and acts lead to the same trees, pixels and truth,
whichever phone of a host it is and however busy the machine; a phone is used by one thread at a
time.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self, TypeVar

from virtual_phone.display.paint import draw_scene, stretched
from virtual_phone.display.png import encode
from virtual_phone.errors import PhoneError
from virtual_phone.phone import Phone
from virtual_phone.state import checkpoint, scenarios
from virtual_phone.state.first_files import first_files
from virtual_phone.state.records import NullRootError
from virtual_phone.state.shared_files import CopiedOnWrite, FirstFiles
from virtual_phone.state.truth import Truth
from virtual_phone.timing import SimulatedTiming, finish
from virtual_phone.ui.rows import TreeRow, rows

__all__ = ["BEGAN_S", "EmbeddedHost", "EmbeddedPhone", "FingerStep", "PhoneError", "TreeRow"]

if TYPE_CHECKING:
    from PIL import Image

    from virtual_phone.display.scene import Scene
    from virtual_phone.userland.userland import Userland

BEGAN_S = 1_767_607_260.0
"""When every episode begins, unless told otherwise: 2026-01-05 10:01 UTC, a Monday."""
NAME = "virtual-1"
SETTLE_S = 10.0
_COMPONENT = re.compile(r"[A-Za-z]\w*(?:\.\w+)*/[\w.$]+")
_SYSTEM = ("com.android.systemui", "com.android.keyguard", "com.android.inputmethod")
_T = TypeVar("_T")


class FingerStep(NamedTuple):
    """One step of a finger: when, in milliseconds after the first, and where, in display pixels."""

    at_ms: float
    finger: int
    action: str  # `down`, `move` or `up`.
    x: float
    y: float


class EmbeddedHost:
    """Phones of one kind in this process; what they look like after a reset is made once for all.

    Args:
        folder: for files that phones write; nobody else's.
        seed: chooses names, notes, messages, pictures.
        began_s: the phones' time at a reset, seconds since the epoch.
        profile: what kind of phone (`virtual_phone.state.profiles`).
        android: which version; its kind's by default.
    """

    def __init__(
        self,
        folder: Path,
        *,
        seed: int = 0,
        began_s: float = BEGAN_S,
        profile: str | None = None,
        android: int | None = None,
    ) -> None:
        self.folder = Path(folder)
        self.seed = seed
        self.began_s = began_s
        self.profile = profile
        self.android = android
        self.first_files = FirstFiles(self.folder, lambda: first_files(seed, began_s))
        self.starts: dict[str, dict[object, object]] = {}
        """By scenario: what was looked at in that starting state."""
        self._made = 0

    def new_phone(self) -> EmbeddedPhone:
        """Return one more phone, as it left the factory."""
        self._made += 1
        return EmbeddedPhone(self, self.folder / f"phone-{self._made}")

    def close(self) -> None:
        """Remove what the phones wrote; may be repeated."""
        for place in (*self.folder.glob("phone-*"), self.first_files.root):
            shutil.rmtree(place, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()


class EmbeddedPhone:
    """One phone; `EmbeddedHost.new_phone` makes it. Places are display pixels."""

    def __init__(self, host: EmbeddedHost, home: Path) -> None:
        self._host = host
        self._timing = SimulatedTiming()
        self._files = CopiedOnWrite(
            home / "files" / "sdcard", host.first_files, lambda: self._phone.invalidate()
        )
        self._phone = Phone(
            home,
            name=NAME,
            seed=host.seed,
            clock=lambda: host.began_s + self._timing.monotonic(),
            profile=host.profile,
            android=host.android,
            timing=self._timing,
            storage=self._files,
        )
        self._userland: Userland | None = None
        self._start: dict[object, object] | None = None
        """What was looked at in this starting state; None once something was done since."""
        self._kept: dict[object, tuple[Scene, object]] = {}
        """What was looked at last, by how, and of which scene."""

    # -- starting states

    def reset(self, *, scenario: str = "") -> None:
        """Go to a starting state: as it left the factory, or a named one on top of that.

        Raises:
            PhoneError: there is no such scenario, or files cannot be removed.
        """
        self._rewind()
        self._phone.reset()
        if scenario:
            scenarios.begin(self._phone, scenario)
        self.settle()
        self._start = self._host.starts.setdefault(scenario, {})

    def snapshot(self) -> bytes:
        """Return all that the phone holds, as `virtual-phone snapshot` writes it."""
        return checkpoint.packed(checkpoint.take(self._phone))

    def restore(self, snapshot: bytes) -> None:
        """Go to what `snapshot` returned, here or on a phone that is served.

        Raises:
            PhoneError: it is no snapshot of this version.
        """
        kept = checkpoint.unpacked(BytesIO(snapshot), "The snapshot")
        self._rewind()
        checkpoint.go_back(self._phone, kept)
        if kept.files:
            self._files.take_own()
        self.settle()

    def _rewind(self) -> None:
        self._start = None
        self._timing.restart()
        self._userland = None
        self._phone.processes.listener = None
        self._phone.processes.end_all()
        try:
            self._files.rewind()
        except OSError as error:
            raise PhoneError(
                f"The files of a phone in {self._host.folder} cannot be removed: {error.strerror}.",
                "Check who owns that directory.",
            ) from error

    # -- time

    def now(self) -> float:
        """Return the phone's time, seconds since the epoch."""
        return self._phone.now()

    def wait(self, seconds: float) -> None:
        """Let time pass on the phone."""
        self._start = None
        self._timing.advance(seconds)

    def settle(self) -> None:
        """Let time pass until nothing moves on the screen, at most ten seconds."""
        self._timing.advance(0.0)
        finish(self._phone.animations.wait_idle(SETTLE_S))

    # -- acting

    def tap(self, x: float, y: float) -> None:
        """Touch a place briefly."""
        self._start = None
        finish(self._phone.gestures.tap(x, y))

    def swipe(self, x1: float, y1: float, x2: float, y2: float, duration_ms: int) -> None:
        """Move a finger in a straight line; where both ends are one, it stays."""
        self._start = None
        finish(self._phone.gestures.swipe(x1, y1, x2, y2, duration_ms))

    def fingers(self, steps: Iterable[FingerStep]) -> None:
        """Move several fingers, in the order of time.

        Raises:
            PhoneError: an action is not down, move or up.
        """
        self._start = None
        at_ms = 0.0
        for step in steps:
            self._timing.advance((step.at_ms - at_ms) / 1000)
            at_ms = max(at_ms, step.at_ms)
            self._phone.gestures.finger(step.action, step.finger, step.x, step.y)

    def key(self, code: int) -> bool:
        """Press a key by its Android code; return whether it did anything."""
        self._start = None
        return self._phone.keys.press(code)

    def type_text(self, text: str) -> bool:
        """Type into the focused field; return whether there was one."""
        self._start = None
        return self._phone.keys.type_text(text)

    def turn(self, quarters: int) -> None:
        """Turn the phone as a hand does. Raises PhoneError: that is no quarter turn."""
        self._start = None
        self._phone.rotation.turn(quarters)

    async def shell(self, line: str) -> tuple[int, str]:
        """Run a line of the phone's shell; return its status and what it wrote.

        The commands themselves run on the caller's event loop, and `sleep` takes its real time.
        """
        from virtual_phone.server.pipes import CollectingSink, EmptySource
        from virtual_phone.shell.interpreter import Shell
        from virtual_phone.userland.userland import Userland

        self._start = None
        self._files.take_own()
        if self._userland is None:
            self._userland = Userland(self._phone, self._phone.home, NAME)
        out = CollectingSink()
        shell = Shell(self._userland, terminal=False)
        status = await shell.run_text(line, {0: EmptySource(), 1: out, 2: out})
        await shell.wait_jobs()
        return status, out.data.decode("utf-8", "replace")

    # -- looking

    @property
    def size_px(self) -> tuple[int, int]:
        """Width and height of the display as it is held."""
        return self._phone.displays.size(0)[:2]

    @property
    def rotation(self) -> int:
        """How the display is turned, in quarter turns."""
        return self._phone.rotation.quarters

    @property
    def keyboard_shown(self) -> bool:
        return self._phone.focus.keyboard_shown

    def front(self) -> tuple[str, str]:
        """Return package and full name of the activity in front; empty where there is none."""
        made = None if self._start is None else self._start.get("front")
        if made is None:
            made = self._front()
            if self._start is not None:
                self._start["front"] = made
        return made  # type: ignore[return-value]

    def _front(self) -> tuple[str, str]:
        focused = self._phone.windows.focused
        if focused is not None and _COMPONENT.fullmatch(focused.title):
            package, _, activity = focused.title.partition("/")
            if package not in _SYSTEM:
                return package, _full(package, activity)
        if self._phone.power.locked:
            # Behind the lock screen no app is in front.
            return "", ""
        top = self._phone.tasks.top()
        return ("", "") if top is None else (top[0].package, _full(top[0].package, top[1].activity))

    def tree(self) -> tuple[TreeRow, ...]:
        """Return the nodes of the window in front, as `uiautomator dump` has them.

        Raises:
            PhoneError: no window has a tree, as when the screen is off.
        """
        if self._start is None:
            return self._now("tree", self._rows)
        made = self._start.get("tree")
        if made is None:
            made = self._start["tree"] = self._rows(self._phone.compositor.scene())
        return made  # type: ignore[return-value]

    def _rows(self, scene: Scene) -> tuple[TreeRow, ...]:
        surface = scene.focused()
        if surface is None:
            raise NullRootError("No window has a tree.", "Wake the screen or start an activity.")
        return rows(surface.root, surface.package)

    def xml(self) -> str:
        """Return the same as `uiautomator dump` writes it. Raises PhoneError as `tree`."""
        return self._phone.windows.dump()

    def draw(self, buffer: memoryview | bytearray, width: int, height: int) -> None:
        """Draw the screen, RGB row by row, into the first width × height × 3 bytes of a buffer.

        At the display's size it is what `screencap` shows; at a smaller width it is drawn at that
        width, which costs as much less, and then made as high as was asked.

        Raises:
            PhoneError: the size is none, or the buffer too small.
        """
        if width < 1 or height < 1 or len(buffer) < width * height * 3:
            raise PhoneError(
                f"A picture of {width}x{height} does not fit into {len(buffer)} bytes.",
                "Give a buffer of width times height times 3 bytes.",
            )
        buffer[: width * height * 3] = self.pixels(width, height)

    def pixels(self, width: int, height: int) -> bytes:
        """Return what `draw` writes."""
        key = (width, height)
        if self._start is None:
            return self._now(key, lambda scene: self._drawn(scene, width, height).tobytes())
        made = self._start.get(key)
        if made is None:
            made = self._start[key] = self._drawn(
                self._phone.compositor.scene(), width, height
            ).tobytes()
        return made  # type: ignore[return-value]

    def png(self) -> bytes:
        """Return the screen at full size as a PNG."""
        return self._now("png", lambda scene: encode(self._drawn(scene, *self.size_px)))

    def _drawn(self, scene: Scene, width: int, height: int) -> Image.Image:
        picture = draw_scene(scene, self._phone.seed, min(width, scene.width))
        return stretched(picture, width, height)

    def _now(self, key: object, make: Callable[[Scene], _T]) -> _T:
        """Return what a look makes of the scene, made once for each."""
        scene = self._phone.compositor.scene()
        kept = self._kept.get(key)
        if kept is not None and kept[0] is scene:
            return kept[1]  # type: ignore[return-value]
        made = make(scene)
        self._kept[key] = (scene, made)
        return made

    def truth(self) -> Mapping[str, object]:
        """Return what is true now, by name, made when looked up; it changes with the phone."""
        return Truth(self._phone)

    def state(self) -> Mapping[str, object]:
        """Return what is true now, as `virtual-phone state` shows it; it must not be changed."""
        if self._start is None:
            return self._phone.state()
        made = self._start.get("state")
        if made is None:
            made = self._start["state"] = self._phone.state()
        return made  # type: ignore[return-value]


def _full(package: str, activity: str) -> str:
    return package + activity if activity.startswith(".") else activity
